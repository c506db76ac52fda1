// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// create_callable_from_generator: a registered generator, compiled for this process.
#pragma once

#include <map>
#include <string>

#include "driver/callable.h"
#include "generator/context.h"

namespace calotype {

/// Values of generator parameters, in the form of the command line.
using GeneratorParamsMap = std::map<std::string, std::string>;

namespace internal {
/// The pipeline as a generator builds it, with handlers and extern functions where they are given.
Callable compile_built(Pipeline pipeline, const std::vector<Argument> &args, const Target &target,
                       const JITHandlers *handlers,
                       const std::map<std::string, JITExtern> *externs);
}  // namespace internal

/// The Callable takes the generator's inputs in order, then its outputs. A CompileError if there is
/// no generator of that name in the executable, or a parameter is wrong.
Callable create_callable_from_generator(const GeneratorContext &context, const std::string &name,
                                        const GeneratorParamsMap &params = {});
Callable create_callable_from_generator(const Target &target, const std::string &name,
                                        const GeneratorParamsMap &params = {});

}  // namespace calotype
