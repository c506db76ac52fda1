// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/storage/hoist_storage.h"

#include <map>
#include <memory>
#include <vector>

#include "ir/constants.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/printer.h"
#include "ir/with.h"
#include "lower/known_here.h"
#include "support/error.h"

namespace calotype {

using namespace internal;

namespace {

/// A HoistedStorage that we are inside of.
struct Hoisting {
    KnownHere known;                ///< between it and the allocations, and of constants around it
    const Allocate *one = nullptr;  ///< of the allocations
    std::vector<Expr> extents;      ///< of the largest
};

class StorageHoister : public StmtMutator {
private:
    using Mutator::visit;

    Stmt visit(const HoistedStorage *op) override {
        Hoisting hoisting;
        std::vector<std::unique_ptr<KnownHere::Inside>> around;
        for (const LetStmt *let : constants_) {
            around.push_back(std::make_unique<KnownHere::Inside>(hoisting.known, let));
        }
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
            return body.same_as(op->body) ? Stmt(op) : with(op, &Allocate::body, body);
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
    static Expr largest_extent(const std::string &name, const Expr &extent,
                               const Hoisting &hoisting) {
        const Interval range = hoisting.known.interval(extent);
        user_assert(range.has_upper_bound())
            << "storage of " << name << " cannot be hoisted: its extent " << extent
            << " has no bound outside of the loops in between";
        return range.max;
    }

    /// Visits what is inside of a let or a loop.
    template<typename T>
    Stmt inside(const T *op) {
        std::vector<std::unique_ptr<KnownHere::Inside>> around;
        for (const auto &[name, hoisting] : hoistings_) {
            around.push_back(std::make_unique<KnownHere::Inside>(hoisting->known, op));
        }
        return StmtMutator::visit(op);
    }

    Stmt visit(const LetStmt *op) override {
        const bool is_constant = is_const(op->value);
        if (is_constant) {
            constants_.push_back(op);
        }
        const Stmt s = inside(op);
        constants_.resize(constants_.size() - is_constant);
        return s;
    }

    Stmt visit(const For *op) override {
        return inside(op);
    }

    std::map<std::string, Hoisting *> hoistings_;
    std::vector<const LetStmt *> constants_;  ///< lets around with constant values
};

}  // namespace

Stmt hoist_storage(const Stmt &s, LowerContext &) {
    return StorageHoister().mutate(s);
}

}  // namespace calotype
