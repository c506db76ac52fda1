// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/storage/hoist_storage.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/printer.h"
#include "ir/queries.h"
#include "ir/with.h"
#include "lower/known_here.h"
#include "lower/names.h"
#include "support/error.h"

namespace calotype::internal {

namespace {

/// A HoistedStorage that we are inside of.
struct Hoisting {
    KnownHere known;                ///< between it and the allocations, and of constants around it
    std::set<std::string> made;     ///< by lets and loops between it and where we are
    const Allocate *one = nullptr;  ///< of the allocations
    std::vector<Expr> extents;      ///< of the largest
};

/// Gives a let another value, wherever it is made.
class ReplaceLet : public StmtMutator {
public:
    ReplaceLet(const std::string &name, const Expr &value) : name_(name), value_(value) {
    }

private:
    using Mutator::visit;
    Stmt visit(const LetStmt *op) override {
        return op->name == name_ ? LetStmt::make(op->name, value_, mutate(op->body))
                                 : StmtMutator::visit(op);
    }
    const std::string &name_;
    const Expr &value_;
};

class StorageHoister : public StmtMutator {
public:
    explicit StorageHoister(LowerContext &ctx) : ctx_(ctx) {
    }

private:
    using Mutator::visit;

    Stmt visit(const HoistedStorage *op) override {
        Hoisting hoisting;
        std::vector<std::unique_ptr<KnownHere::Inside>> around;
        for (const LetStmt *let : constants_) {
            around.push_back(std::make_unique<KnownHere::Inside>(hoisting.known, let));
        }
        Hoisting *const outer = std::exchange(hoistings_[op->name], &hoisting);
        const Stmt body = mutate(op->body);
        hoistings_[op->name] = outer;
        const Allocate *one = hoisting.one;
        return one ? Allocate::make(op->name, one->type, one->memory_type, hoisting.extents,
                                    const_true(), with_fixed_copies(op->name, hoisting, body))
                   : body;
    }

    /// The copies of a ring buffer begin where they would if all were as large as the largest: one
    /// is written while another, of an iteration with other extents, is still read.
    Stmt with_fixed_copies(const std::string &name, const Hoisting &hoisting, const Stmt &body) {
        const Function *f = ctx_.function_of_buffer(name);
        if (!f || !f->schedule().ring_buffer.defined() ||
            int(hoisting.extents.size()) != f->dimensions() + 1) {
            return body;
        }
        Expr size = 1;
        for (int d = 0; d < f->dimensions(); d++) {
            size = size * hoisting.extents[size_t(d)];
        }
        const std::string size_name = ctx_.names.unique(names::part(name, "copy_size"));
        return LetStmt::make(size_name, simplify(size),
                             ReplaceLet(names::buffer_stride(name, f->dimensions()),
                                        Variable::make(Int(32), size_name))
                                 .mutate(body));
    }

    Stmt visit(const Allocate *op) override {
        const auto it = hoistings_.find(op->name);
        const Stmt body = mutate(op->body);
        if (it == hoistings_.end() || !it->second || op->new_expr.defined()) {
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

    /// What a bounds query in between answers, say, is not known outside of it.
    static bool is_known_outside(const Expr &e, const Hoisting &hoisting) {
        const std::vector<std::string> used = free_variables(e);
        return std::none_of(used.begin(), used.end(),
                            [&](const std::string &name) { return hoisting.made.count(name) > 0; });
    }

    /// An end of the region may depend on a loop although the difference of both does not.
    static Expr largest_extent(const std::string &name, const Expr &extent,
                               const Hoisting &hoisting) {
        const Interval range = hoisting.known.interval(extent);
        user_assert(range.has_upper_bound() && is_known_outside(range.max, hoisting))
            << "storage of " << name << " cannot be hoisted: its extent " << extent
            << " has no bound outside of the loops in between";
        return range.max;
    }

    /// Visits what is inside of a let or a loop.
    template<typename T>
    Stmt inside(const T *op) {
        std::vector<std::unique_ptr<KnownHere::Inside>> around;
        for (const auto &[name, hoisting] : hoistings_) {
            if (hoisting) {
                around.push_back(std::make_unique<KnownHere::Inside>(hoisting->known, op));
                hoisting->made.insert(op->name);
            }
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

    LowerContext &ctx_;
    std::map<std::string, Hoisting *> hoistings_;  ///< null where there was one
    std::vector<const LetStmt *> constants_;       ///< lets around with constant values
};

}  // namespace

Stmt hoist_storage(const Stmt &s, LowerContext &ctx) {
    return StorageHoister(ctx).mutate(s);
}

}  // namespace calotype::internal
