// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Running a generator executable.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "generator/cli/parse.h"

namespace calotype::internal {

/// Carries out the command: writes all of its files or, where it throws, none.
void run_generator_command(const GeneratorCommand &command, std::ostream &out);

/// The whole of main(): 0, 1 for an error in the pipeline or its parameters, 2 for one in the
/// command line's form.
int generator_main(const std::vector<std::string> &args, std::ostream &out, std::ostream &err);

/// What --help prints: of one generator if it is named, of the executable otherwise.
std::string generator_help(const std::string &generator);

}  // namespace calotype::internal
