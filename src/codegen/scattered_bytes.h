// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops of which LLVM should not make vectors.
#pragma once

#include "ir/stmt_nodes.h"

namespace calotype::internal {

/// True if a loop, which has no other inside, touches elements of fewer than 32 bits one by one at places that do not
/// follow each other in constant steps, and does little else: no machine gathers them, so that vectors would be put
/// together and taken apart byte by byte. Where these are many, as their addresses are, that takes longer than to
/// compute with each.
///
///     for x in [0, 100) { f[x] = bytes[x/2 + a] + bytes[(x + 1)/2 + a] }
bool touches_scattered_bytes(const For *loop);

/// True if a loop, which has no other inside, loads wider elements from such places, and does so little else that vectors are
/// no gain on a machine without fast gathers: each index is taken out of one register, and each element put into another. In
/// vectors of up to 256 bits a single such load is still one.
///
///     for x in [0, 100) { f[x] = table[int32(bytes[x])] }
bool does_little_but_gather(const For *loop, int vector_bits);

/// True if a loop, which has no other inside, makes 64-bit integers of floats and does so little else that vectors are no gain on
/// a machine that converts these one by one.
///
///     for x in [0, 100) { f[x] = int64(floats[x]) }
bool does_little_but_convert_to_long(const For *loop);

/// True if a loop, which has no other inside, loads neighbours that lie together, goes on by as many of them, more than LLVM
/// loads together for several iterations, and makes a number of them, or stores as many neighbours: they are vectors within an
/// iteration, and over iterations would be put together one by one.
///
///     for x in [0, 100) { f[x] = bytes[x*16] + bytes[x*16 + 1] + ... + bytes[x*16 + 15] }
bool packs_neighbours_of_iteration(const For *loop);

}  // namespace calotype::internal
