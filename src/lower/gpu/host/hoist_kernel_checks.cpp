// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/gpu/host/hoist_kernel_checks.h"

#include <set>

#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/printer.h"
#include "ir/queries.h"
#include "lower/known_here.h"
#include "support/error.h"

namespace calotype::internal {

namespace {

class Checks : public StmtMutator {
    using Mutator::visit;

    bool in_kernel() const {
        return !kernel_.empty();
    }

    Stmt visit(const For *op) override {
        if (!in_kernel() && !is_gpu(op->for_type)) {
            return Mutator::visit(op);
        }
        const bool is_outermost = !in_kernel();
        if (is_outermost) {
            kernel_ = op->name;
        }
        guards_.push_back(op->extent > 0);
        inner_.insert(op->name);
        Stmt s;
        {
            const KnownHere::Inside bind(ranges_, op);
            s = Mutator::visit(op);
        }
        guards_.pop_back();
        return is_outermost ? leave(s) : s;
    }

    Stmt leave(const Stmt &s) {
        kernel_.clear();
        inner_.clear();
        std::vector<Stmt> all;
        all.swap(checks_);
        all.push_back(s);
        return Block::make(all);
    }

    Stmt visit(const LetStmt *op) override {
        if (!in_kernel()) {
            return Mutator::visit(op);
        }
        inner_.insert(op->name);
        const KnownHere::Inside bind(ranges_, op);
        lets_.emplace_back(op->name, op->value);
        Stmt s = Mutator::visit(op);
        lets_.pop_back();
        return s;
    }

    Stmt visit(const IfThenElse *op) override {
        if (!in_kernel()) {
            return Mutator::visit(op);
        }
        guards_.push_back(op->condition);
        const Stmt then_case = mutate(op->then_case);
        guards_.back() = !op->condition;
        const Stmt else_case = mutate(op->else_case);
        guards_.pop_back();
        return IfThenElse::make(op->condition, then_case, else_case);
    }

    Stmt visit(const AssertStmt *op) override {
        if (!in_kernel()) {
            return op;
        }
        // What two names have in common, their ranges do not tell.
        Expr condition = op->condition;
        for (size_t i = lets_.size(); i-- > 0;) {
            condition = substitute(lets_[i].first, lets_[i].second, condition);
        }
        condition = simplify(condition);
        if (is_const_one(condition)) {
            return Evaluate::make(0);
        }
        for (const Expr &guard : guards_) {
            condition = !guard || condition;
        }
        const Interval holds = ranges_.interval(condition);
        user_assert(holds.has_lower_bound() && !is_const_zero(holds.min) && is_outer(holds.min))
            << "inside of gpu loop " << kernel_ << " it is to be checked whether " << op->condition
            << ", which is not known before the kernel runs";
        if (!is_const_one(holds.min)) {
            checks_.push_back(AssertStmt::make(holds.min, outer_message(op->message)));
        }
        return Evaluate::make(0);
    }

    bool is_outer(const Expr &e) const {
        return !uses_any_var(e, inner_);
    }

    /// The call that reports, with the largest values of what varies in the kernel.
    Expr outer_message(const Expr &message) const {
        const Call *call = message.as<Call>();
        if (is_outer(message) || !call) {
            return message;
        }
        std::vector<Expr> args;
        for (const Expr &arg : call->args) {
            const bool varies = !is_outer(arg);
            const Interval range = varies ? ranges_.interval(arg) : Interval(arg, arg);
            const Expr largest =
                range.has_upper_bound() && is_outer(range.max) ? range.max : arg.type().max();
            args.push_back(largest);
        }
        return Call::make(call->type, call->name, args, call->call_type);
    }

    std::string kernel_;  ///< name of its outermost loop; empty outside
    KnownHere ranges_;
    std::set<std::string> inner_;                     ///< names that the kernel binds
    std::vector<Expr> guards_;                        ///< under which we are
    std::vector<std::pair<std::string, Expr>> lets_;  ///< of the kernel, around us
    std::vector<Stmt> checks_;                        ///< to be made before it
};

}  // namespace

Stmt hoist_kernel_checks(const Stmt &s, LowerContext &) {
    return Checks().mutate(s);
}

}  // namespace calotype::internal
