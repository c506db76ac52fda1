// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of narrow numbers that have been made wider, as instructions for sums of products take
// them.
#pragma once

#include <optional>

#include "ir/stmt_nodes.h"

namespace calotype::internal {

struct Factors {
    Expr a, b;
};

/// The factors of a product, or of a widening one, in element types that hold them without loss:
///
///     i32(x.u8) * i32(y.i8)       with UInt(8), Int(8)  ->  x, y
///     i32(i16(x.i8) * i16(y.i8))  with Int(8), Int(8)   ->  x, y
///     (i32(x.u8) - 128) * i32(y.i16)  with Int(16), Int(16)  ->  i16(x) - 128, y
///
/// in whatever order they stand. Nothing if it is no product or they do not fit.
std::optional<Factors> factors_of(const Expr &product, const Type &a, const Type &b);
/// The same of two values; the first is to fit into `a`.
std::optional<Factors> narrowed(const Expr &x, const Expr &y, const Type &a, const Type &b);

}  // namespace calotype::internal
