// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Statements: scopes that teach facts (loops, ifs, asserts), and statements that do nothing. An
// undefined Stmt is the empty statement; a statement whose body is empty is empty itself.
#include <memory>

#include "arith/simplify/simplifier.h"
#include "ir/constants.h"
#include "ir/equality.h"
#include "ir/queries.h"

namespace calotype::internal {

namespace {

bool runs_on_host(const For *op) {
    return !is_gpu(op->for_type) && op->for_type != ForType::Extern &&
           (op->device_api == DeviceAPI::None || op->device_api == DeviceAPI::Host);
}

}  // namespace

Stmt Simplifier::visit(const For *op) {
    const Expr min = mutate(op->min), extent = mutate(op->extent);
    const ConstRange trips = range(extent);
    if (trips.max && *trips.max <= 0) {
        return Stmt();
    }
    if (is_const_one(extent) && runs_on_host(op)) {
        return mutate(LetStmt::make(op->name, min, op->body));
    }
    std::string name = op->name;
    Stmt body = op->body;
    if (facts_.in_replacement(name)) {
        name = unused_name(name);
        body = substitute(op->name, Variable::make(min.type(), name), body);
    }
    {
        const ConstRange first = range(min);
        const ConstRange index = {first.min, (first + trips - ConstRange::single(1)).max};
        const Expr end = add(min, extent);
        Facts::Layer layer(facts_);
        // The body runs only if there is an iteration at all. The extent may mention another
        // variable of the loop's name, and so this is learnt before the name is bound.
        learn_true(binary(NodeKind::LT, make_zero(extent.type()), extent));
        facts_.bind(name, {index, {}});
        const Expr variable = Variable::make(min.type(), name);
        if (!is_const(extent) && is_pure(end) && !uses_var(end, name)) {
            facts_.learn(LT::make(variable, end), true);
        }
        if (!is_const(min) && is_pure(min) && !uses_var(min, name)) {
            facts_.learn(LT::make(variable, min), false);
        }
        body = mutate(body);
    }
    if (!body.defined()) {
        return Stmt();
    }
    if (min.same_as(op->min) && extent.same_as(op->extent) && body.same_as(op->body)) {
        return op;
    }
    return For::make(name, min, extent, op->for_type, op->partition, op->device_api, body);
}

Stmt Simplifier::visit(const IfThenElse *op) {
    const Expr condition = mutate(op->condition);
    if (is_const_one(condition)) {
        return mutate(op->then_case);
    }
    if (is_const_zero(condition)) {
        return op->else_case.defined() ? mutate(op->else_case) : Stmt();
    }
    Stmt then_case, else_case;
    {
        Facts::Layer layer(facts_);
        learn_true(condition);
        then_case = mutate(op->then_case);
    }
    if (op->else_case.defined()) {
        Facts::Layer layer(facts_);
        learn_false(condition);
        else_case = mutate(op->else_case);
    }
    if (!then_case.defined() && !else_case.defined()) {
        return !has_effects(condition) ? Stmt() : Evaluate::make(condition);
    }
    if (!then_case.defined()) {
        return IfThenElse::make(logical_not(condition), else_case);
    }
    if (else_case.defined() && equal(then_case, else_case) && !has_effects(condition)) {
        return then_case;
    }
    if (condition.same_as(op->condition) && then_case.same_as(op->then_case) &&
        else_case.same_as(op->else_case)) {
        return op;
    }
    return IfThenElse::make(condition, then_case, else_case);
}

Stmt Simplifier::visit(const AssertStmt *op) {
    const Expr condition = mutate(op->condition);
    if (is_const_one(condition)) {
        return Stmt();
    }
    Expr message;
    {
        Facts::Layer layer(facts_);
        learn_false(condition);
        message = mutate(op->message);
    }
    if (condition.same_as(op->condition) && message.same_as(op->message)) {
        return op;
    }
    return AssertStmt::make(condition, message);
}

namespace {

// Two ifs in a row with one condition that the first cannot change.
bool can_merge(const IfThenElse *first, const IfThenElse *second) {
    return first && second && !first->else_case.defined() && !second->else_case.defined() &&
           equal(first->condition, second->condition) && is_simple(first->condition);
}

}  // namespace

// The chain is walked in a loop: unrolling makes long ones. What follows an assert knows that it
// held.
Stmt Simplifier::visit(const Block *op) {
    std::vector<std::unique_ptr<Facts::Layer>> layers;
    std::vector<Stmt> result;
    bool changed = false;
    for (Stmt rest = op; rest.defined();) {
        const auto *block = rest.as<Block>();
        const Stmt before = block ? block->first : rest;
        const Stmt after = mutate(before);
        changed = changed || !after.same_as(before);
        const IfThenElse *last = result.empty() ? nullptr : result.back().as<IfThenElse>();
        if (const auto *next = after.as<IfThenElse>(); can_merge(last, next)) {
            result.back() =
                IfThenElse::make(last->condition, Block::make(last->then_case, next->then_case));
            changed = true;
        } else if (after.defined()) {
            result.push_back(after);
        }
        for (Stmt part = after; part.defined();) {
            const auto *chain = part.as<Block>();
            if (const auto *assertion = (chain ? chain->first : part).as<AssertStmt>()) {
                layers.push_back(std::make_unique<Facts::Layer>(facts_));
                learn_true(assertion->condition);
            }
            part = chain ? chain->rest : Stmt();
        }
        rest = block ? block->rest : Stmt();
    }
    while (!layers.empty()) {
        layers.pop_back();
    }
    return changed ? Block::make(result) : Stmt(op);
}

Stmt Simplifier::visit(const Fork *op) {
    const Stmt first = mutate(op->first), rest = mutate(op->rest);
    if (!first.defined() || !rest.defined()) {
        return first.defined() ? first : rest;
    }
    return first.same_as(op->first) && rest.same_as(op->rest) ? Stmt(op) : Fork::make(first, rest);
}

Stmt Simplifier::visit(const Evaluate *op) {
    const Expr value = mutate(op->value);
    if (!has_effects(value)) {
        return Stmt();
    }
    return value.same_as(op->value) ? Stmt(op) : Evaluate::make(value);
}

Stmt Simplifier::visit(const Store *op) {
    const Expr predicate = mutate(op->predicate);
    if (predicate.defined() && is_const_zero(predicate)) {
        return Stmt();
    }
    const Expr value = mutate(op->value), index = mutate(op->index);
    const auto *load = value.as<Load>();
    if (load && load->name == op->name && equal(load->index, index) &&
        is_trivially_true(load->predicate)) {
        return Stmt();  // what is there is stored again
    }
    if (value.same_as(op->value) && index.same_as(op->index) && predicate.same_as(op->predicate)) {
        return op;
    }
    return Store::make(op->name, value, index, predicate, op->alignment, op->symbol,
                       op->is_streaming);
}

Stmt Simplifier::visit(const Provide *op) {
    const Expr predicate = mutate(op->predicate);
    if (predicate.defined() && is_const_zero(predicate)) {
        return Stmt();
    }
    return Provide::make(op->name, mutate(op->values), mutate(op->args), predicate);
}

Stmt Simplifier::visit(const Allocate *op) {
    const Stmt body = mutate(op->body);
    if (!body.defined()) {
        return Stmt();
    }
    return Allocate::make(op->name, op->type, op->memory_type, mutate(op->extents),
                          mutate(op->condition), body, mutate(op->new_expr), op->free_function,
                          op->padding);
}

Stmt Simplifier::visit(const Realize *op) {
    const Stmt body = mutate(op->body);
    if (!body.defined()) {
        return Stmt();
    }
    return Realize::make(op->name, op->types, op->memory_type, mutate(op->bounds),
                         mutate(op->condition), body);
}

Stmt Simplifier::visit(const ProducerConsumer *op) {
    const Stmt body = mutate(op->body);
    if (!body.defined() || body.same_as(op->body)) {
        return body.defined() ? Stmt(op) : Stmt();
    }
    return ProducerConsumer::make(op->name, op->is_producer, body);
}

Stmt Simplifier::visit(const HoistedStorage *op) {
    const Stmt body = mutate(op->body);
    if (!body.defined() || body.same_as(op->body)) {
        return body.defined() ? Stmt(op) : Stmt();
    }
    return HoistedStorage::make(op->name, body);
}

Stmt Simplifier::visit(const Acquire *op) {
    Stmt body = mutate(op->body);
    if (!body.defined()) {
        body = Evaluate::make(make_zero(Int(32)));
    }
    return Acquire::make(mutate(op->semaphore), mutate(op->count), body);
}

Stmt Simplifier::visit(const Atomic *op) {
    const Stmt body = mutate(op->body);
    if (!body.defined() || body.same_as(op->body)) {
        return body.defined() ? Stmt(op) : Stmt();
    }
    return Atomic::make(op->producer_name, op->mutex_name, body);
}

Stmt Simplifier::visit(const Prefetch *op) {
    const Stmt body = mutate(op->body);
    if (!body.defined()) {
        return Stmt();
    }
    const Expr condition = mutate(op->condition);
    if (condition.defined() && is_const_zero(condition)) {
        return body;
    }
    return Prefetch::make(op->name, op->types, mutate(op->bounds), op->at, op->from,
                          mutate(op->offset), op->strategy, condition, body, op->symbol);
}

}  // namespace calotype::internal
