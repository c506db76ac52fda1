// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/loops/elements/vectorize_functions.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/equality.h"
#include "ir/language/hints.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/queries.h"
#include "ir/visitor.h"
#include "lower/names.h"

namespace calotype::internal {

namespace {

bool has_rare_branch(const Call *op) {
    return (op->type == Float(32) || op->type == Float(64)) &&
           op->is_intrinsic({Intrinsic::sin, Intrinsic::cos, Intrinsic::tan, Intrinsic::log,
                             Intrinsic::pow, Intrinsic::asinh, Intrinsic::acosh, Intrinsic::atanh});
}

/// What an iteration of a loop consists of: lets and stores to neighbours in memory, or something else.
class Iteration : public GraphVisitor {
public:
    explicit Iteration(const std::string &loop) : loop_(loop), varying_{loop} {
    }

    /// Whether vectors of iterations do the same, and LLVM would not make them.
    bool wants_vectors(const Stmt &body) {
        (*this)(body);
        for (const auto &[buffer, index] : stores_) {
            for (const Expr &load : loads_[buffer]) {
                is_simple_ &= equal(load, index);
            }
        }
        return is_simple_ && widest_ != 0;
    }
    /// Of the values of such functions.
    int widest() const {
        return widest_;
    }

    void operator()(const Stmt &s) override {
        switch (s.defined() ? s->kind : NodeKind::Block) {
        case NodeKind::Block:
        case NodeKind::LetStmt:
        case NodeKind::Store:
            GraphVisitor::operator()(s);
            break;
        default:
            is_simple_ = false;
        }
    }
    using GraphVisitor::operator();

private:
    using GraphVisitor::visit;

    bool is_different_in_lanes(const Expr &e) const {
        return uses_any_var(e, varying_);
    }
    void define(const std::string &name, const Expr &value) {
        (*this)(value);
        if (is_different_in_lanes(value)) {
            varying_.insert(name);
        }
    }
    void visit(const Let *op) override {
        define(op->name, op->value);
        (*this)(op->body);
    }
    void visit(const LetStmt *op) override {
        is_simple_ &= !has_effects(op->value);
        define(op->name, op->value);
        (*this)(op->body);
    }
    void visit(const Load *op) override {
        loads_[op->name].push_back(op->index);
        GraphVisitor::visit(op);
    }
    void visit(const Call *op) override {
        if (has_rare_branch(op) && is_different_in_lanes(op)) {
            widest_ = std::max(widest_, op->type.bits());
        }
        GraphVisitor::visit(op);
    }
    void visit(const Store *op) override {
        const Expr x = Variable::make(Int(32), loop_);
        const Expr step = simplify(substitute(loop_, x + 1, op->index) - op->index);
        const bool is_of_neighbours = is_const_one(step) && op->value.type().is_scalar();
        const bool is_new = stores_.emplace(op->name, op->index).second;
        is_simple_ &= is_of_neighbours && is_new && is_const_one(op->predicate) &&
                      !has_effects(op->value) && !has_effects(op->index);
        GraphVisitor::visit(op);
    }

    const std::string loop_;
    std::set<std::string> varying_;  ///< names of what is not the same in all iterations
    std::map<std::string, Expr> stores_;
    std::map<std::string, std::vector<Expr>> loads_;
    bool is_simple_ = true;
    int widest_ = 0;
};

class VectorizeFunctions : public StmtMutator {
public:
    explicit VectorizeFunctions(const Target &target) : target_(target) {
    }

private:
    using Mutator::visit;

    Stmt visit(const For *op) override {
        if (is_gpu(op->for_type) || op->for_type == ForType::Vectorized) {
            return op;
        }
        Iteration iteration(op->name);
        if (op->for_type == ForType::Serial && iteration.wants_vectors(op->body)) {
            const int lanes = target_.natural_lanes(iteration.widest(), true);
            if (is_long(op, lanes)) {
                return in_vectors(op, lanes);
            }
        }
        return Mutator::visit(op);
    }
    Stmt visit(const Atomic *op) override {
        return op;
    }

    /// Not a few elements, whose vector would have more lanes that are left out than others.
    static bool is_long(const For *op, int lanes) {
        return lanes > 1 && as_const_int(op->extent).value_or(lanes) * 2 >= lanes;
    }

    static Stmt in_vectors(const For *op, int lanes) {
        const std::string vector = names::part(op->name, "vector");
        const std::string lane = names::part(op->name, "lane");
        const Expr x = Variable::make(Int(32), op->name);
        const Expr value =
            op->min + Variable::make(Int(32), vector) * lanes + Variable::make(Int(32), lane);
        Stmt body = IfThenElse::make(likely(x < op->min + op->extent), op->body);
        body = LetStmt::make(op->name, value, body);
        body =
            For::make(lane, 0, lanes, ForType::Vectorized, Partition::Auto, op->device_api, body);
        return For::make(vector, 0, simplify((op->extent + (lanes - 1)) / lanes), op->for_type,
                         op->partition, op->device_api, body);
    }

    const Target &target_;
};

}  // namespace

Stmt vectorize_functions(const Stmt &s, LowerContext &ctx) {
    return VectorizeFunctions(ctx.target).mutate(s);
}

}  // namespace calotype::internal
