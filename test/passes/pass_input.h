// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The input of a pass test: what lowering knows, then a statement.
//
//     target x86-64-linux-avx2
//     func f(x, y) int32, float32; storage y x; align x 16
//     realize f ...
//
// Lines that begin with `target`, `func` or `input` come first. After the types of a func, separated by
// semicolons:
//     storage y x         order in memory, innermost first (default: that of the arguments)
//     align x 16          align_storage
//     fold x 4 [backward] fold_storage
//     store f.y, compute f.y, hoist f.y   a loop level, or `root` (default: compute inline, the
//                         others as compute)
//     async, memoize, output, trace, extern, texture, with (in common loops with the Func before)
//     ring 2              ring_buffer
//     lanes register      lanes alone share its storage, which is to be in registers (or: auto)
//     debug "file"        debug_to_file
//     values 0 9          what its first value can be
// `input g float16 2; align 16; rows 8` is a buffer of two dimensions that begins at a multiple of 16
// bytes and whose rows begin at multiples of 8 elements.
// A For named f.s1.x is the loop over x of stage 1 of f.
//
// Or a whole pipeline (pipeline/text/pipeline_text.h), which begins with `pipeline {`: the passes
// before the one that is tested make the statement of it.
#pragma once

#include <memory>
#include <string>

#include "lower/context.h"

namespace calotype::test {

struct PassInput {
    std::unique_ptr<internal::LowerContext> ctx;
    internal::Stmt before;
};
/// For the pass of that name.
PassInput read_pass_input(const std::string &text, const std::string &pass);

}  // namespace calotype::test
