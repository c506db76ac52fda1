// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// All strided loads of a piece of code, and where they stand. Helper of load_densely.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "ir/stmt_nodes.h"

namespace calotype::internal {

/// A statement in its tree. Places are numbered in the order in which they are entered.
struct Place {
    const Place *parent = nullptr;
    int number = 0, last = 0;  ///< its own number, and that of the last place inside of it
    int depth = 0;
    const Place *condition = nullptr;  ///< the innermost around, or this, that may be left out
    const Place *region = nullptr;  ///< nothing moves out of it: the body of a parallel loop, say
    bool in_kernel = false;

    /// Whether this runs whenever `outer`, around it, does.
    bool runs_with(const Place *outer) const {
        return !condition || condition->depth <= outer->depth;
    }
};

/// The innermost place around both.
const Place *common_place(const Place *a, const Place *b);

struct StridedLoad {
    const Load *load;
    const Place *place;
    int64_t offset;
    bool is_sure;  ///< whenever its statement runs
};

/// Loads that differ by constants.
struct LoadGroup {
    std::string name;
    Type type;
    int64_t stride;
    Expr base;
    std::vector<int> binders;  ///< of the names in it: the same name may mean something else
    bool stays = false;        ///< in its expression, which binds a name in it
    bool operator<(const LoadGroup &o) const;
};

struct StridedLoads {
    std::deque<Place> places;
    std::map<LoadGroup, std::vector<StridedLoad>> groups;
    std::map<std::string, std::set<int>> stores;  ///< numbers of places, by buffer
    std::set<int> effects;                        ///< numbers of places that may store anywhere
    std::map<std::string, const Allocate *> allocations;  ///< those that all loads of a name mean

    /// Whether what the buffer holds may change inside of a place.
    bool may_store(const Place *within, const std::string &buffer) const;
};

/// Of strides up to the given one.
StridedLoads find_strided_loads(const Stmt &s, int64_t largest_stride);

}  // namespace calotype::internal
