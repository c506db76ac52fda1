// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Extern stages that read or write folded storage. Helper of fold_storage.
#pragma once

#include "ir/stmt_nodes.h"
#include "lower/context.h"

namespace calotype::internal {

/// Extern stages are given the header of `func`, of which dimension d is stored modulo the factor.
/// They get one in which what they touch has its own coordinates:
///
///     copy(f.buffer, g.crop)      ->      assert [a, b] does not cross a multiple of 4
///                                         let f.part = header of f, its min a - a % 4
///                                         copy(f.part, g.crop)
///
/// and what they write is a crop of places, whose min is set after it is cropped. A CompileError
/// where the header is used in another way.
Stmt fold_headers(const Stmt &s, const Function &func, int d, const Expr &factor,
                  LowerContext &ctx);

}  // namespace calotype::internal
