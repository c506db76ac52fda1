// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Part of Halide.h: running a generator from a program, and what files it writes.
#pragma once

#include <iostream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "calotype.h"

namespace calotype {
namespace Internal {

struct OutputInfo {
    std::string name;       ///< on the command line: "static_library"
    std::string extension;  ///< ".a"
    bool is_multi;          ///< one file each where there are several targets
};
/// The kinds of file that can be written for the target.
std::map<OutputFileType, const OutputInfo> get_output_info(const Target &target);

/// What the command line of a generator says. Names that are empty: as there, by default.
struct ExecuteGeneratorArgs {
    std::string output_dir;
    std::set<OutputFileType> output_types;
    std::vector<Target> targets;  ///< several: one function that chooses as it runs
    std::string generator_name;
    std::string function_name;
    std::string file_base_name;
    std::map<std::string, std::string> generator_params;
};
/// Runs the registered generator of that name and writes its files.
void execute_generator(const ExecuteGeneratorArgs &args);

/// What main() of a program of generators does: it carries out the command line, and returns what
/// main() returns. Errors are written to `errors`.
int generate_filter_main(int argc, char **argv, std::ostream &errors = std::cerr);

}  // namespace Internal
}  // namespace calotype
