// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Autoschedulers: functions that write the schedule of a pipeline, known by names. Mullapudi2016
// comes with the compiler; programs and plugins add theirs by Pipeline::add_autoscheduler.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "target/target.h"

namespace calotype {

class Pipeline;

/// The choice of an autoscheduler and its settings. No name: the pipeline has its own schedule.
struct AutoschedulerParams {
    std::string name;
    std::map<std::string, std::string> extra;

    AutoschedulerParams() = default;
    AutoschedulerParams(const std::string &name) : name(name) {
    }
    AutoschedulerParams(const std::string &name, const std::map<std::string, std::string> &extra)
        : name(name), extra(extra) {
    }
    /// "autoscheduler=NAME autoscheduler.KEY=VALUE ...".
    std::string to_string() const;
};

/// What an autoscheduler says of its work.
struct AutoSchedulerResults {
    Target target;
    AutoschedulerParams autoscheduler_params;
    std::string schedule_source;         ///< the schedule as C++, if it writes one
    std::vector<uint8_t> featurization;  ///< in a form of its own
};

/// Schedules the Funcs of the pipeline.
using AutoSchedulerFn = std::function<void(const Pipeline &, const Target &,
                                           const AutoschedulerParams &, AutoSchedulerResults *)>;

}  // namespace calotype
