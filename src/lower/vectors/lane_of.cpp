// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/vectors/lane_of.h"

#include <map>

#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/expr_nodes.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/queries.h"
#include "lower/names.h"

namespace calotype::internal {

namespace {

Expr take(const Expr &e, int i);

template<typename Op>
Expr take_of_both(const Op *op, int i) {
    return Op::make(take(op->a, i), take(op->b, i));
}

Expr take_of_shuffle(const Shuffle *op, int i) {
    int lane = op->indices[size_t(i)];
    for (const Expr &vector : op->vectors) {
        if (lane < vector.type().lanes()) {
            return take(vector, lane);
        }
        lane -= vector.type().lanes();
    }
    return Expr();
}

Expr take_of_ramp(const Ramp *op, int i) {
    const int lanes = op->base.type().lanes(), step = i / lanes;
    const Expr stride = take(op->stride, i % lanes);
    return take(op->base, i % lanes) + stride * make_const(stride.type(), step);
}

Expr take_of_load(const Load *op, int i) {
    if (!is_trivially_true(op->predicate)) {
        return Shuffle::make_extract_element(op, i);
    }
    return Load::make(op->type.element_of(), op->name, take(op->index, i), const_true(),
                      Alignment(), op->symbol, op->is_streaming);
}

/// A promise about each lane, or a hint.
Expr take_of_call(const Call *op, int i) {
    if (!op->is_likely() &&
        !op->is_intrinsic({Intrinsic::promise_clamped, Intrinsic::unsafe_promise_clamped})) {
        return Shuffle::make_extract_element(op, i);
    }
    std::vector<Expr> args;
    for (const Expr &arg : op->args) {
        args.push_back(take(arg, i));
    }
    return Call::make(op->type.element_of(), op->intrinsic, args);
}

Expr take(const Expr &e, int i) {
    if (e.type().is_scalar()) {
        return e;
    }
    switch (e.kind()) {
    case NodeKind::Add:
        return take_of_both(e.as<Add>(), i);
    case NodeKind::Sub:
        return take_of_both(e.as<Sub>(), i);
    case NodeKind::Mul:
        return take_of_both(e.as<Mul>(), i);
    case NodeKind::Min:
        return take_of_both(e.as<Min>(), i);
    case NodeKind::Max:
        return take_of_both(e.as<Max>(), i);
    case NodeKind::Cast:
        return Cast::make(e.type().element_of(), take(e.as<Cast>()->value, i));
    case NodeKind::Broadcast: {
        const Expr &value = e.as<Broadcast>()->value;
        return take(value, i % value.type().lanes());
    }
    case NodeKind::Ramp:
        return take_of_ramp(e.as<Ramp>(), i);
    case NodeKind::Shuffle:
        return take_of_shuffle(e.as<Shuffle>(), i);
    case NodeKind::Call:
        return take_of_call(e.as<Call>(), i);
    case NodeKind::Load:
        return take_of_load(e.as<Load>(), i);
    default:
        return Shuffle::make_extract_element(e, i);
    }
}

/// Puts scalar Variables in place of single lanes of a vector.
class LaneNamer : public GraphMutator {
public:
    explicit LaneNamer(const std::string &name) : name_(name) {
    }
    std::map<int, std::string> names;

private:
    using GraphMutator::visit;

    Expr visit(const Shuffle *op) override {
        const Variable *v = op->is_extract_element() ? op->vectors[0].as<Variable>() : nullptr;
        if (!v || v->name != name_) {
            return GraphMutator::visit(op);
        }
        const int lane = op->indices[0];
        const std::string &name = names[lane] = names::part(name_, std::to_string(lane));
        return Variable::make(op->type, name);
    }
    const std::string &name_;
};

}  // namespace

Expr let_of_lanes(const std::string &name, const Expr &value, const Expr &body) {
    LaneNamer namer(name);
    Expr result = namer(body);
    if (uses_var(result, name)) {
        return Let::make(name, value, body);
    }
    for (const auto &[lane, lane_name] : namer.names) {
        result = Let::make(lane_name, lane_of(value, lane), result);
    }
    return result;
}

Expr lane_of(const Expr &vector, int i) {
    return simplify(take(vector, i));
}

}  // namespace calotype::internal
