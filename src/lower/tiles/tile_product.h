// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Recognises the operation on a tile that a nest of vectorised loops performs. Helper of
// select_tile_instructions.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "arith/simplify.h"
#include "ir/stmt_nodes.h"

namespace calotype::internal {

/// A loop of a constant number of iterations, more than one, that counts from 0.
struct TileLoop {
    std::string name;
    int extent = 0;
};

/// One store in vectorised loops, with all lets within in place.
struct TileNest {
    std::vector<TileLoop> loops;                  ///< the outermost first
    std::vector<Expr> conditions;                 ///< of the store, in the loops' variables
    Stmt statement;                               ///< the store
    std::map<std::string, Alignment> alignments;  ///< of what is bound around the nest

    const Store *store() const {
        return statement.as<Store>();
    }
    /// What simplification may know of the loops' variables.
    SimplifyContext context() const;
};

/// The nests that a statement is the sequence of; empty if it is anything else.
std::vector<TileNest> read_tile_nests(const Stmt &s);

/// Rows of neighbouring elements.
struct TilePlace {
    std::string buffer;
    Type type;
    Expr first;  ///< index of the first element
    Expr step;   ///< from a row to the next, in elements
};

/// sums += a b: `a` has `rows` rows of `depth` elements; `b` has, in each row, for each column the
/// elements of 32 bits of a column of the matrix.
struct TileProduct {
    int rows = 1, columns = 1, depth = 0;
    TilePlace sums, a, b;

    /// Elements of an operand in 32 bits.
    int packed() const {
        return 32 / a.type.bits();
    }
};

/// What a nest says, or, where it is not a product, why.
struct TileProductMatch {
    std::optional<TileProduct> product;
    std::string why_not;
};

/// Of a nest that stores to `buffer`.
TileProductMatch match_tile_product(const TileNest &nest);

/// A nest that sets a tile to zero (no `from`), or copies one tile to another place (no arithmetic).
struct TileMove {
    int rows = 1, columns = 1;
    TilePlace to;
    std::optional<TilePlace> from;
};
std::optional<TileMove> match_tile_move(const TileNest &nest);

/// True if some loop adds up: the store goes to one place in all its iterations.
bool has_sum(const TileNest &nest);

}  // namespace calotype::internal
