// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The largest that a value inside of a kernel can be, as the host can compute it. Helper of the
// passes in this folder.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "arith/interval.h"
#include "ir/stmt_nodes.h"
#include "support/scope.h"

namespace calotype::internal {

/// What loops and lets between a place in a kernel and the host say of their variables. Ranges are
/// found when they are asked for: most never are.
class InnerRanges {
public:
    /// For the length of a C++ block, the variable of a loop or let is known.
    class Binding {
    public:
        Binding(InnerRanges &ranges, const For *op);
        Binding(InnerRanges &ranges, const LetStmt *op);
        /// `name` counts from 0 up to extent.
        Binding(InnerRanges &ranges, const std::string &name, const Expr &extent);
        ~Binding();
        Binding(const Binding &) = delete;
        Binding &operator=(const Binding &) = delete;

    private:
        InnerRanges &ranges_;
        const std::string name_;
        bool is_range_ = false, is_value_ = false;
    };

    /// The values of e, in terms of what is outside of the kernel.
    Interval of(const Expr &e) const;
    /// True of the variables of loops and lets that are bound here.
    bool knows(const std::string &name) const {
        return known_.contains(name);
    }

private:
    /// A variable is at least the least value of `first`, at most the largest of `last`.
    struct Known {
        Expr first, last;
        std::optional<Interval> range;
    };

    void bind(const std::string &name, const Expr &first, const Expr &last);
    Interval range_of(Known &known) const;

    Scope<std::shared_ptr<Known>> known_;
    Scope<Expr> values_;
};

}  // namespace calotype::internal
