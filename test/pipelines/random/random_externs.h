// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stages of random pipelines that are C functions, and Funcs on the way that are outputs, too.
#pragma once

#include <calotype/calotype.h>

#include <atomic>
#include <map>
#include <string>

#include "random_pipeline.h"

namespace calotype::test {

/// A full or windows pipeline of which some stages are external, and a Func that others use may be an output, too.
RandomPipeline extern_random_pipeline(uint64_t seed);

/// `sources`: of the stage's two taps. What it computes begins and ends at multiples of its rows.
void define_external(Func f, const StageSpec &s, const std::vector<ExternFuncArgument> &sources);

/// The functions that such stages call, for Pipeline::set_jit_externs.
std::map<std::string, JITExtern> external_functions();

/// How many elements they did not get of those that they had asked for.
extern std::atomic<int> external_misses;

}  // namespace calotype::test
