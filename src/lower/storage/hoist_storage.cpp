// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/storage/hoist_storage.h"

#include <map>

#include "arith/bounds.h"
#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/printer.h"
#include "lower/expand_lets.h"
#include "support/error.h"
#include "support/scope.h"

namespace calotype {

using namespace internal;

namespace {

/// A HoistedStorage that we are inside of.
struct Hoisting {
    Scope<Interval> ranges;         ///< of loop variables and lets between it and the allocations
    const Allocate *one = nullptr;  ///< of the allocations
    std::vector<Expr> extents;      ///< of the largest
};

class StorageHoister : public StmtMutator {
private:
    using Mutator::visit;

    Stmt visit(const HoistedStorage *op) override {
        Hoisting hoisting;
        hoistings_[op->name] = &hoisting;
        const Stmt body = mutate(op->body);
        hoistings_.erase(op->name);
        const Allocate *one = hoisting.one;
        return one ? Allocate::make(op->name, one->type, one->memory_type, hoisting.extents,
                                    const_true(), body)
                   : body;
    }

    Stmt visit(const Allocate *op) override {
        const auto it = hoistings_.find(op->name);
        const Stmt body = mutate(op->body);
        if (it == hoistings_.end() || op->new_expr.defined()) {
            return body.same_as(op->body)
                       ? Stmt(op)
                       : Allocate::make(op->name, op->type, op->memory_type, op->extents,
                                        op->condition, body, op->new_expr, op->free_function,
                                        op->padding);
        }
        Hoisting &hoisting = *it->second;
        for (size_t d = 0; d < op->extents.size(); d++) {
            const Expr largest = largest_extent(op->name, op->extents[d], hoisting);
            if (!hoisting.one) {
                hoisting.extents.push_back(largest);
            } else {
                hoisting.extents[d] = max(hoisting.extents[d], largest);
            }
        }
        hoisting.one = op;
        return body;
    }

    /// An end of the region may depend on a loop although the difference of both does not.
    Expr largest_extent(const std::string &name, const Expr &extent,
                        const Hoisting &hoisting) const {
        const Expr expanded = simplify(expand_lets(extent, values_));
        const Interval exact = bounds_of_expr(expanded, hoisting.ranges);
        const Interval range =
            exact.has_upper_bound() ? exact : bounds_of_expr(extent, hoisting.ranges);
        user_assert(range.has_upper_bound())
            << "storage of " << name << " cannot be hoisted: its extent " << extent
            << " has no bound outside of the loops in between";
        return simplify(range.max);
    }

    /// Visits code in which the name is between first and last.
    template<typename Visit>
    Stmt with_range(const std::string &name, const Expr &first, const Expr &last, Visit &&visit) {
        const bool is_integer = first.type().is_int_or_uint() && first.type().is_scalar();
        for (auto &[hoisted, hoisting] : hoistings_) {
            const Scope<Interval> &known = hoisting->ranges;
            const Interval range =
                !is_integer ? Interval::single_point(first)
                : first.same_as(last)
                    ? bounds_of_expr(first, known)
                    : Interval(bounds_of_expr(first, known).min, bounds_of_expr(last, known).max);
            hoisting->ranges.push(name, range);
        }
        const Stmt result = visit();
        for (auto &[hoisted, hoisting] : hoistings_) {
            hoisting->ranges.pop(name);
        }
        return result;
    }

    Stmt visit(const LetStmt *op) override {
        // Constants around the hoisting count, too.
        const bool counts = !hoistings_.empty() || is_const(op->value);
        const ScopedBinding<Expr> bind(counts, values_, op->name, op->value);
        return with_range(op->name, op->value, op->value, [&] { return StmtMutator::visit(op); });
    }

    Stmt visit(const For *op) override {
        if (hoistings_.empty()) {
            return StmtMutator::visit(op);
        }
        return with_range(op->name, op->min, op->min + op->extent - 1,
                          [&] { return StmtMutator::visit(op); });
    }

    std::map<std::string, Hoisting *> hoistings_;
    Scope<Expr> values_;  ///< of lets in hoistings, and of constant ones around them
};

}  // namespace

Stmt hoist_storage(const Stmt &s, LowerContext &) {
    return StorageHoister().mutate(s);
}

}  // namespace calotype
