// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The command line of a generator executable, as data.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "driver/module.h"

namespace calotype::internal {

struct GeneratorCommand {
    bool help = false;
    std::string generator;             ///< -g
    std::string function;              ///< -f, by default the generator's name
    std::string base_name;             ///< -n, by default the function's name without namespaces
    std::string output_dir;            ///< -o
    std::vector<OutputFileType> emit;  ///< -e
    std::string runtime;               ///< -r
    std::vector<std::string> plugins;  ///< -p
    bool gradient = false;             ///< -d
    int timeout_seconds = 0;           ///< -t; 0: none
    bool verbose = false;              ///< -v
    std::string print_after;           ///< --print-after=PASS
    bool time_passes = false;          ///< --time-passes
    std::vector<std::string> targets;  ///< as given
    std::map<std::string, std::string> params;  ///< NAME=VALUE, others than target
};

/// Arguments without the program's name. A CompileError says which argument is wrong and why.
GeneratorCommand parse_generator_command(const std::vector<std::string> &args);

}  // namespace calotype::internal
