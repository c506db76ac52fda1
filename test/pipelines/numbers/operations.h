// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tables of integer operations, each with its meaning in 128-bit arithmetic, and a check of a whole
// table at once.
#pragma once

#include <calotype/calotype.h>

#include <functional>
#include <string>
#include <vector>

namespace calotype::test {

// The widest arithmetic there is, and room for the product of any two 64-bit values.
__extension__ typedef __int128 Wide;

/// The value of the type that has the low bits of v.
Wide wrapped(const Type &t, Wide v);
/// The value of the type that is nearest to v.
Wide saturated(const Type &t, Wide v);
/// Rounded down; x / 0 == 0 and x % 0 == 0.
Wide euclidean_div(Wide a, Wide b);
Wide euclidean_mod(Wide a, Wide b);
/// v * 2^by, rounded down.
Wide shifted(Wide v, Wide by);

struct Operation {
    std::string name;
    std::function<Expr(Expr, Expr)> expr;
    /// The exact result, of any size.
    std::function<Wide(Wide, Wide)> meaning;
    /// What the result must be of an exact one: wrapped or saturated. Values that the type leaves
    /// undefined when they overflow are not compared.
    bool saturates = false;
};

/// Compute all operations for all pairs from two lists of values of types ta and tb on each target,
/// `lanes` at a time (1: not vectorized), and compare.
void check_operations(const Type &ta, const Type &tb, const std::vector<Wide> &a,
                      const std::vector<Wide> &b, const std::vector<Operation> &operations,
                      const std::vector<int> &lanes);

/// All values of a type of 8 bits; of a wider one the ends, powers of two, and those around them.
std::vector<Wide> values_of(const Type &t);
/// The values of `list` in [min, max].
std::vector<Wide> between(const std::vector<Wide> &list, Wide min, Wide max);

}  // namespace calotype::test
