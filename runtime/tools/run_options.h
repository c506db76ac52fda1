// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The command line.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace calotype {
namespace run {

struct Options {
    bool help = false;
    bool describe = false;
    bool verbose = false;
    bool quiet = false;
    bool parsable_output = false;
    bool track_memory = false;
    bool success = false;
    bool skip_bad_environment = false;
    bool benchmark = false;
    double benchmark_min_time = 0.1;
    /** Of the pipeline; empty: the only one. */
    std::string name;
    /** "[640,480]", "estimate" or "auto". */
    std::string output_extents = "auto";
    /** For inputs that are not given; empty: they must be. */
    std::string default_input_buffers, default_input_scalars;
    /** Name and value of each argument. */
    std::vector<std::pair<std::string, std::string>> arguments;
};

Options parse_options(int argc, char **argv);

void print_usage(const std::string &program);

}  // namespace run
}  // namespace calotype
