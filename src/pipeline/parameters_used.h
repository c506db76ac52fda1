// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which parameters and constant images a pipeline uses.
#pragma once

#include <map>
#include <string>

#include "pipeline/source.h"

namespace calotype {

struct UsedParameters {
    std::map<std::string, Parameter> parameters;  ///< scalars and buffers, by name
    std::map<std::string, Image> images;          ///< by name
};

/// Everything that definitions, schedules, extern arguments, requirements and constraints of
/// parameters refer to; the outputs' own buffers are not included. CompileError if two different
/// parameters share a name.
UsedParameters parameters_used(const Environment &env,
                               const std::vector<Requirement> &requirements);

}  // namespace calotype
