// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What stands between the runtime and the driver in a measurement: the driver itself with a clock
// at each function, or nothing at all that answers at once.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "runtime/cuda/driver.h"

namespace calotype_bench {

/** The functions of driver.def, from the driver of this machine, each with a clock. Null: there is
 * none that has what the runtime needs. The runtime's own calls on this thread are timed as well
 * from clock_runtime() on, which comes before its first call. */
const calotype::runtime::cuda::Driver *timed_driver();
void clock_runtime();

struct DriverTime {
    std::string name;
    double us;
    long calls;
};
/** Of functions that were called since the last time this was, the longest first. */
std::vector<DriverTime> take_times();

/** From now on the runtime has a driver that does nothing. Each launch of a kernel is told. */
using Told = std::function<void(const unsigned *grid, const unsigned *block, void **args)>;
void use_no_driver(Told told);

}  // namespace calotype_bench
