// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lanes taken apart, or put together, by their bits. Helper of flatten_ramps and load_densely.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/expr_nodes.h"

namespace calotype::internal {

/// All parts of each lane of a vector, taken out in turn, are the vector in narrower lanes:
///
///     extract_bits(shuffle(v, 0 0 1 1 ...), 0 16 0 16 ...):uint16      reinterpret<uint16>(v)
///
/// `begins` says where the bits of each lane begin. Undefined if it is anything else.
Expr bits_in_turn(const Call *extract_bits, const Expr &value, const std::vector<int64_t> &begins);

/// Neighbours that are put together are the vector in wider lanes:
///
///     concat_bits(slice(v, 0, 2, 8), slice(v, 1, 2, 8))      reinterpret<uint16x8>(v)
///
/// So are, on the host, scalars that are neighbours in memory:
///
///     concat_bits(f[x], f[x + 1])                            reinterpret<uint16>(f[ramp(x, 1, 2)])
///
/// Undefined if the parts are anything else.
Expr joined_neighbours(const Call *concat_bits, const std::vector<Expr> &parts, bool in_kernel);

}  // namespace calotype::internal
