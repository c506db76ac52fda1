// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a pipeline to the context that all passes share.
#pragma once

#include <memory>

#include "lower/context.h"

namespace calotype::internal {

/// Copies the pipeline (so that the source may be used by others meanwhile), checks that everything
/// it names is defined, applies the wrappers of `in`, and orders the Funcs. CompileError names the
/// Func and what is wrong.
std::unique_ptr<LowerContext> prepare(const PipelineSource &source, const Target &target);

}  // namespace calotype::internal
