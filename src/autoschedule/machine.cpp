// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "autoschedule/machine.h"

#include <cstdlib>

#include "support/error.h"
#include "support/text.h"

namespace calotype::internal {

namespace {

/// The number that the whole of the text is.
double number_of(const std::string &key, const std::string &text, double least, double most) {
    char *end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    user_assert(!text.empty() && *end == '\0' && value >= least && value <= most)
        << "autoscheduler." << key << " is '" << text << "', must be a number from "
        << int64_t(least) << " to " << int64_t(most);
    return value;
}

}  // namespace

Machine machine_of(const Target &target, const AutoschedulerParams &params) {
    Machine machine;
    machine.gpu = target.has_gpu_feature();
    machine.vector_bits = 8 * target.natural_lanes(8);
    for (const auto &[key, value] : params.extra) {
        if (key == "parallelism") {
            machine.parallelism = int(number_of(key, value, 1, 1 << 20));
        } else if (key == "last_level_cache_size") {
            machine.last_level_cache_size = int64_t(number_of(key, value, 1, 1e15));
        } else if (key == "balance") {
            machine.balance = number_of(key, value, 0, 1e6);
        } else if (key == "experimental_gpu_schedule") {
            machine.gpu = number_of(key, value, 0, 1) != 0;
        } else {
            user_error << "autoscheduler " << params.name << " has no parameter '" << key << "'"
                       << did_you_mean(key, {"parallelism", "last_level_cache_size", "balance",
                                             "experimental_gpu_schedule"});
        }
    }
    user_assert(!machine.gpu || target.has_gpu_feature())
        << "autoscheduler.experimental_gpu_schedule is on, and the target " << target.to_string()
        << " has no GPU";
    return machine;
}

}  // namespace calotype::internal
