// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Single elements that a statement loads at constant distances of each other. Helper of load_rows.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "ir/stmt_nodes.h"
#include "support/scope.h"

namespace calotype::internal {

/// A load of a single element.
struct Element {
    const Load *load;
    /// In terms of what is outside of the statement, and of the variable of the loop around.
    Expr index;

    int most_lanes() const;
};

/// Elements of one buffer at constant distances. Those of the next iteration lie `step` further, beyond all of these.
struct Row {
    std::vector<Element> elements;
    std::vector<int64_t> places;  ///< of each: how far it lies behind the first
    int64_t step = 1;

    const Element &first() const {
        return elements.front();
    }
    /// Whether the elements of one iteration and of the next follow one another.
    bool is_dense() const;
    /// The elements of one access if so many iterations are done at once.
    int lanes(int at_once) const;
    /// Parts whose elements lie closer together than those of two iterations that are so far apart.
    std::vector<Row> within_steps(int64_t step) const;
};

/// Statements that each iteration comes to, without effects but their stores.
bool is_straight(const Stmt &s);

/// What such a statement comes to, each load once and in one row. Not of what it stores to itself, nor of a thread's own
/// storage.
std::vector<Row> rows_of(const Stmt &straight, const Scope<> &own_storage);

}  // namespace calotype::internal
