// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The adjoint of one Func or input while its contributions are collected.
#pragma once

#include <string>
#include <vector>

#include "lang/derivative/placement.h"
#include "lang/func.h"

namespace calotype::internal {

/// Becomes a Func of the sum of all contributions: gathers are terms of its pure definition,
/// scatters update definitions.
class AdjointSum {
public:
    AdjointSum() = default;
    AdjointSum(std::vector<std::string> args, const std::vector<Type> &types);

    const std::vector<std::string> &args() const {
        return args_;
    }
    std::vector<Expr> vars() const;
    void add(int value_index, const Placement &p);
    /// The adjoint is that of `before`, but 0 at this place.
    void start_from(const Func &before, const Placement &p);
    /// The adjoint is that of `before`.
    void start_from(const Func &before);
    /// Nothing but 0 so far.
    bool is_empty() const {
        return !is_started_ && updates_.empty();
    }
    Func make(const std::string &name) const;

private:
    struct Update {
        int value_index;
        Placement placement;
        bool adds;
    };
    std::vector<std::string> args_;
    std::vector<Expr> terms_;
    std::vector<Update> updates_;
    bool is_started_ = false;
};

/// Types of the adjoints of values of these types: their own, or float32 for what has no
/// derivative.
std::vector<Type> adjoint_types(const std::vector<Type> &types);

}  // namespace calotype::internal
