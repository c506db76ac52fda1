// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/loops/elements/independent_lanes.h"

#include <algorithm>

#include "ir/constants.h"
#include "ir/equality.h"
#include "ir/queries.h"

namespace calotype::internal {

namespace {

/// Elements of a buffer of which each lane gets one of its own.
constexpr int largest_private_buffer = 16;

}  // namespace

bool LaneSteps::varies(const Expr &e) const {
    const auto is_used = [&](const auto &entry) {
        return uses_var(e, entry.first);
    };
    const auto is_read = [&](const std::string &buffer) {
        return uses_buffer(e, buffer);
    };
    return std::any_of(steps_.begin(), steps_.end(), is_used) ||
           std::any_of(private_.begin(), private_.end(), is_read);
}

bool LaneSteps::define(const std::string &name, const Expr &value) {
    const Step s = step(value);
    if (const auto found = steps_.find(name); found != steps_.end()) {
        return found->second == s;
    }
    if (s != 0) {
        steps_.emplace(name, s);
    }
    return true;
}

LaneSteps::Step LaneSteps::sum(const Expr &a, const Expr &b, int64_t sign) {
    const Step x = step(a), y = step(b);
    return x && y ? Step(*x + sign * *y) : std::nullopt;
}

LaneSteps::Step LaneSteps::product(const Expr &a, const Expr &b) {
    const std::optional<int64_t> by = as_const_int(b);
    if (const Step x = by ? step(a) : std::nullopt) {
        return *x * *by;
    }
    return is_uniform(a) && is_uniform(b) ? Step(0) : std::nullopt;
}

std::optional<int64_t> LaneSteps::step(const Expr &e) {
    if (!varies(e)) {
        return 0;
    }
    if (const auto *v = e.as<Variable>()) {
        return steps_.at(v->name);
    }
    if (const auto *op = e.as<Let>()) {
        return define(op->name, op->value) ? step(op->body) : std::nullopt;
    }
    if (const auto *op = e.as<Add>()) {
        return sum(op->a, op->b, 1);
    }
    if (const auto *op = e.as<Sub>()) {
        return sum(op->a, op->b, -1);
    }
    const auto *op = e.as<Mul>();
    return op ? product(op->a, op->b) : std::nullopt;
}

bool IndependentLanes::has_reductions(const Stmt &body) {
    (*this)(body);
    for (const auto &[buffer, index] : stores_) {
        is_independent_ &= !uses_any_var(index, rebound_);
        const auto loads = loads_.find(buffer);
        if (loads != loads_.end()) {
            for (const Expr &load : loads->second) {
                is_independent_ &= equal(load, index);
            }
        }
    }
    return is_independent_ && has_loop_;
}

bool IndependentLanes::updates() const {
    const auto is_read = [&](const auto &store) {
        return loads_.count(store.first) != 0;
    };
    return std::any_of(stores_.begin(), stores_.end(), is_read);
}

void IndependentLanes::operator()(const Stmt &s) {
    switch (s.defined() ? s->kind : NodeKind::Block) {
    case NodeKind::Block:
    case NodeKind::LetStmt:
    case NodeKind::Store:
    case NodeKind::For:
    case NodeKind::IfThenElse:
    case NodeKind::Allocate:
    case NodeKind::ProducerConsumer:
        if (is_independent_) {
            GraphVisitor::operator()(s);
        }
        break;
    default:
        is_independent_ = false;
    }
}

void IndependentLanes::define(const std::string &name, const Expr &value) {
    (*this)(value);
    const bool is_inner = uses_any_var(value, inner_);
    const bool is_new = bound_.insert(name).second;
    const bool was_inner = inner_.count(name) != 0;
    is_independent_ &= steps_.define(name, value) && (is_new || is_inner == was_inner);
    if (is_inner) {
        inner_.insert(name);
    }
    if (!is_new) {
        rebound_.insert(name);
    }
}

void IndependentLanes::visit(const Let *op) {
    define(op->name, op->value);
    (*this)(op->body);
}

void IndependentLanes::visit(const LetStmt *op) {
    is_independent_ &= !has_effects(op->value);
    define(op->name, op->value);
    (*this)(op->body);
}

/// Whether an index is that of one element of memory in each lane, which lie next to each other.
bool IndependentLanes::is_dense(const Expr &index) {
    return steps_.step(index) == 1;
}

void IndependentLanes::visit(const Load *op) {
    (*this)(op->index);
    is_independent_ &= op->type.is_scalar() && is_const_one(op->predicate);
    if (steps_.is_private(op->name)) {
        is_independent_ &= steps_.is_uniform(op->index);
        return;
    }
    loads_[op->name].push_back(op->index);
    if (is_dense(op->index)) {
        bits_ = std::max(bits_, op->type.bits());
    } else {
        is_independent_ &= steps_.is_uniform(op->index);
    }
}

void IndependentLanes::visit(const Call *op) {
    is_independent_ &= op->is_intrinsic() && op->is_pure();
    GraphVisitor::visit(op);
}

void IndependentLanes::visit(const Store *op) {
    (*this)(op->value);
    (*this)(op->index);
    is_independent_ &= op->value.type().is_scalar() && is_const_one(op->predicate) &&
                       !has_effects(op->value) && !has_effects(op->index);
    bits_ = std::max(bits_, op->value.type().bits());
    if (steps_.is_private(op->name)) {
        is_independent_ &= steps_.is_uniform(op->index);
        return;
    }
    const auto [first, is_new] = stores_.emplace(op->name, op->index);
    is_independent_ &= is_dense(op->index) && !uses_any_var(op->index, inner_) &&
                       (is_new || equal(first->second, op->index));
}

void IndependentLanes::visit(const For *op) {
    is_independent_ &= op->for_type == ForType::Serial && !has_effects(op->extent) &&
                       steps_.is_uniform(op->min) && steps_.is_uniform(op->extent);
    has_loop_ = true;
    inner_.insert(op->name);
    (*this)(op->body);
}

void IndependentLanes::visit(const IfThenElse *op) {
    (*this)(op->condition);
    is_independent_ &= steps_.is_uniform(op->condition) && !has_effects(op->condition);
    (*this)(op->then_case);
    (*this)(op->else_case);
}

void IndependentLanes::visit(const Allocate *op) {
    const int32_t size = op->constant_size();
    is_independent_ &= size > 0 && size <= largest_private_buffer && is_const_one(op->condition) &&
                       !op->new_expr.defined();
    steps_.add_private(op->name);
    (*this)(op->body);
}

}  // namespace calotype::internal
