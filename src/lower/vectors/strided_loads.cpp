// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/vectors/strided_loads.h"

#include <optional>
#include <tuple>
#include <utility>

#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/equality.h"
#include "ir/queries.h"
#include "ir/visitor.h"
#include "lower/effects.h"
#include "lower/let_scope.h"
#include "lower/vectors/strided_index.h"
#include "support/scope.h"

namespace calotype::internal {

namespace {

class Finder : public Visitor {
public:
    Finder(StridedLoads &found, int64_t largest_stride)
        : found_(found), largest_stride_(largest_stride) {
    }

    using Visitor::operator();
    void operator()(const Stmt &s) override {
        if (!s.defined()) {
            return;
        }
        found_.places.emplace_back();
        Place &place = found_.places.back();
        place.number = int(found_.places.size()) - 1;
        if (here_) {
            place = {
                here_,         place.number,    place.number, here_->depth + 1, here_->condition,
                here_->region, here_->in_kernel};
        }
        place.condition = std::exchange(may_not_run_, false) ? &place : place.condition;
        place.region = !here_ || std::exchange(is_closed_, false) ? &place : place.region;
        place.in_kernel = place.in_kernel || kernels_ > 0;
        const Place *outer = std::exchange(here_, &place);
        Visitor::operator()(s);
        here_ = outer;
        place.last = int(found_.places.size()) - 1;
    }

    /// Each node of an expression is looked at once for each place.
    void operator()(const Expr &e) override {
        if (!e.defined()) {
            return;
        }
        if (!in_expression_) {
            in_expression_ = true;
            seen_.clear();
            if (has_effects(e)) {
                found_.effects.insert(here_->number);
            }
            Visitor::operator()(e);
            in_expression_ = false;
        } else if (seen_.insert(e.get()).second) {
            Visitor::operator()(e);
        }
    }

private:
    using Visitor::visit;

    void conditionally(const Stmt &s) {
        may_not_run_ = s.defined();
        (*this)(s);
    }

    void visit(const Load *op) override {
        std::optional<StridedIndex> index =
            strided_index(op->index, op->predicate, largest_stride_);
        if (index) {
            // Copies of a loop's body, and Funcs computed in it, name the same thing by lets of
            // their own.
            const Expr outside = lets_in_loop_.expand_while_small(op->index);
            const auto expanded =
                outside.same_as(op->index)
                    ? index
                    : strided_index(simplify(outside), op->predicate, largest_stride_);
            index = expanded ? expanded : index;
            LoadGroup group{
                op->name, op->type, index->stride, index->base, {here_->region->number}};
            std::vector<std::string> names = free_variables(index->base);
            names.push_back(op->name);
            for (const std::string &name : names) {
                const int *binder = binders_.find(name);
                group.binders.push_back(binder ? *binder : 0);
                group.stays = group.stays || local_.contains(name);
            }
            found_.groups[group].push_back({op, here_, index->offset, unsure_ == 0});
        }
        Visitor::visit(op);
    }

    void visit(const Call *op) override {
        if (!op->is_intrinsic(Intrinsic::if_then_else)) {
            Visitor::visit(op);
            return;
        }
        (*this)(op->args[0]);
        unsure_++;
        for (size_t i = 1; i < op->args.size(); i++) {
            (*this)(op->args[i]);
        }
        unsure_--;
    }

    /// What an index may be expanded by.
    static Expr index_value(const Expr &value) {
        return value.type() == Int(32) && is_speculatable(value) ? value : Expr();
    }

    void visit(const Let *op) override {
        (*this)(op->value);
        const ScopedBinding<int> bind(binders_, op->name, --lets_);
        const LetScope::Inside inside(lets_in_loop_, op->name, index_value(op->value));
        const ScopedBinding<> local(local_, op->name);
        (*this)(op->body);
    }

    void visit(const LetStmt *op) override {
        (*this)(op->value);
        const ScopedBinding<int> bind(binders_, op->name, here_->number + 1);
        const LetScope::Inside inside(lets_in_loop_, op->name, index_value(op->value));
        (*this)(op->body);
    }

    void visit(const For *op) override {
        (*this)(op->min);
        (*this)(op->extent);
        const ScopedBinding<int> bind(binders_, op->name, here_->number + 1);
        const std::optional<int64_t> extent = as_const_int(op->extent);
        may_not_run_ = !extent || *extent < 1;
        is_closed_ = op->for_type != ForType::Serial;
        kernels_ += is_gpu(op->for_type);
        LetScope outer = std::exchange(lets_in_loop_, LetScope());
        (*this)(op->body);
        lets_in_loop_ = std::move(outer);
        kernels_ -= is_gpu(op->for_type);
    }

    void visit(const Allocate *op) override {
        for (const Expr &e : op->extents) {
            (*this)(e);
        }
        (*this)(op->condition);
        (*this)(op->new_expr);
        const ScopedBinding<int> bind(binders_, op->name, here_->number + 1);
        const auto [it, is_only] = found_.allocations.insert({op->name, op});
        it->second = is_only ? op : nullptr;
        (*this)(op->body);
    }

    void visit(const IfThenElse *op) override {
        (*this)(op->condition);
        conditionally(op->then_case);
        conditionally(op->else_case);
    }

    // What follows an assertion does not run if it fails.
    void visit(const Block *op) override {
        (*this)(op->first);
        may_not_run_ = op->first.as<AssertStmt>() != nullptr;
        (*this)(op->rest);
    }

    void visit(const Fork *op) override {
        is_closed_ = true;
        (*this)(op->first);
        is_closed_ = true;
        (*this)(op->rest);
    }

    void visit(const Acquire *op) override {
        (*this)(op->semaphore);
        (*this)(op->count);
        is_closed_ = true;
        (*this)(op->body);
    }

    // Its loads and stores must stay alike.
    void visit(const Atomic *) override {
        found_.effects.insert(here_->number);
    }

    void visit(const Store *op) override {
        found_.stores[op->name].insert(here_->number);
        Visitor::visit(op);
    }

    StridedLoads &found_;
    const int64_t largest_stride_;
    const Place *here_ = nullptr;
    bool may_not_run_ = false, is_closed_ = false;  ///< of the statement that comes next
    int kernels_ = 0, unsure_ = 0;
    bool in_expression_ = false;
    std::set<const ExprNode *> seen_;
    LetScope lets_in_loop_;  ///< since the innermost loop
    int lets_ = 0;
    Scope<int> binders_;  ///< numbers: of places, from 1 on; below zero of Lets in expressions
    Scope<> local_;       ///< names that the expression binds
};

bool any_between(const std::set<int> &numbers, int first, int last) {
    const auto it = numbers.lower_bound(first);
    return it != numbers.end() && *it <= last;
}

}  // namespace

const Place *common_place(const Place *a, const Place *b) {
    while (a != b) {
        const Place *&deeper = a->depth >= b->depth ? a : b;
        deeper = deeper->parent;
    }
    return a;
}

bool LoadGroup::operator<(const LoadGroup &o) const {
    if (std::tie(name, type, stride, binders) != std::tie(o.name, o.type, o.stride, o.binders)) {
        return std::tie(name, type, stride, binders) <
               std::tie(o.name, o.type, o.stride, o.binders);
    }
    return compare(base, o.base) < 0;
}

bool StridedLoads::may_store(const Place *within, const std::string &buffer) const {
    const auto own = stores.find(buffer);
    return any_between(effects, within->number, within->last) ||
           (own != stores.end() && any_between(own->second, within->number, within->last));
}

StridedLoads find_strided_loads(const Stmt &s, int64_t largest_stride) {
    StridedLoads found;
    Finder finder(found, largest_stride);
    finder(s);
    return found;
}

}  // namespace calotype::internal
