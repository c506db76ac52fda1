// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "arith/sample_value.h"

#include <cmath>
#include <cstring>
#include <functional>

#include "ir/fold_constants.h"
#include "support/stack_guard.h"

namespace calotype::internal {

namespace {

using Sample = std::optional<int64_t>;

/// Beyond that, values might wrap.
constexpr int64_t largest = int64_t(1) << 60;

/// Shared parts count wherever they stand.
constexpr int most_nodes = 1 << 14;

Sample combined(NodeKind kind, int64_t a, int64_t b) {
    const Sample value = fold_int64(kind, a, b);
    return value && *value<largest && * value> - largest ? value : Sample();
}

}  // namespace

// A number of 16 bits for each name without a value, so that products of several have room.
int64_t SampleValues::number_of(const std::string &name, uint64_t place) const {
    const uint64_t odd = 0x9e3779b97f4a7c15 + set_ * 0xd6e8feb86659fd92;
    const uint64_t mixed = (std::hash<std::string>()(name) + place) * odd;
    return int64_t(mixed >> 48) - 0x8000;
}

int64_t SampleValues::of_variable(const Variable *op) const {
    const Sample *value = lets_.find(op->name);
    return value && *value ? **value : number_of(op->name, 0);
}

// What is read at the same place is the same.
Sample SampleValues::of_load(const Load *op) const {
    const Sample index = value_of(op->index);
    return index ? Sample(number_of(op->name, uint64_t(*index))) : index;
}

// What a function gives for the same arguments is the same.
Sample SampleValues::of_call(const Call *op) const {
    if (!op->is_pure()) {
        return Sample();
    }
    uint64_t place = 0;
    for (const Expr &arg : op->args) {
        uint64_t bits = 0;
        if (arg.type().is_float()) {
            const auto value = of_float(arg);
            if (!value) {
                return Sample();
            }
            std::memcpy(&bits, &*value, sizeof(bits));
        } else if (const Variable *handle = arg.type().is_handle() ? arg.as<Variable>() : nullptr) {
            bits = uint64_t(number_of(handle->name, 0));
        } else if (const Sample value = value_of(arg)) {
            bits = uint64_t(*value);
        } else {
            return Sample();
        }
        place = place * 31 + bits;
    }
    return number_of(op->name, place);
}

std::optional<double> SampleValues::of_float(const Expr &e) const {
    check_stack();
    if (--nodes_left_ < 0) {
        return std::nullopt;
    }
    const auto both = [&](const Expr &a, const Expr &b, auto combine) -> std::optional<double> {
        const auto x = of_float(a), y = x ? of_float(b) : x;
        return y ? std::optional<double>(combine(*x, *y)) : y;
    };
    switch (e.kind()) {
    case NodeKind::FloatImm:
        return e.as<FloatImm>()->value;
    case NodeKind::Variable:
        return double(of_variable(e.as<Variable>()));
    case NodeKind::Load: {
        const Sample value = of_load(e.as<Load>());
        return value ? std::optional<double>(*value) : std::nullopt;
    }
    case NodeKind::Call: {
        const Sample value = of_call(e.as<Call>());
        return value ? std::optional<double>(*value) : std::nullopt;
    }
    case NodeKind::Cast: {
        const Expr &from = e.as<Cast>()->value;
        const Sample value = from.type().is_float() ? Sample() : value_of(from);
        return from.type().is_float() ? of_float(from)
               : value                ? std::optional<double>(*value)
                                      : std::nullopt;
    }
    case NodeKind::Add:
        return both(e.as<Add>()->a, e.as<Add>()->b, std::plus<double>());
    case NodeKind::Sub:
        return both(e.as<Sub>()->a, e.as<Sub>()->b, std::minus<double>());
    case NodeKind::Mul:
        return both(e.as<Mul>()->a, e.as<Mul>()->b, std::multiplies<double>());
    case NodeKind::Div:
        return both(e.as<Div>()->a, e.as<Div>()->b, std::divides<double>());
    case NodeKind::Min:
        return both(e.as<Min>()->a, e.as<Min>()->b,
                    [](double a, double b) { return std::fmin(a, b); });
    case NodeKind::Max:
        return both(e.as<Max>()->a, e.as<Max>()->b,
                    [](double a, double b) { return std::fmax(a, b); });
    default:
        return std::nullopt;
    }
}

Sample SampleValues::of(const Expr &e) const {
    nodes_left_ = most_nodes;
    return value_of(e);
}

Sample SampleValues::value_of(const Expr &e) const {
    check_stack();
    if (--nodes_left_ < 0) {
        return Sample();
    }
    if (e.type() != Int(32) && e.type() != Bool()) {
        return Sample();
    }
    switch (e.kind()) {
    case NodeKind::IntImm:
        return e.as<IntImm>()->value;
    case NodeKind::UIntImm:
        return int64_t(e.as<UIntImm>()->value);
    case NodeKind::Variable:
        return e.type() == Int(32) ? Sample(of_variable(e.as<Variable>())) : Sample();
    case NodeKind::Load:
        return e.type() == Int(32) ? of_load(e.as<Load>()) : Sample();
    case NodeKind::Cast: {
        const Expr &from = e.as<Cast>()->value;
        const auto value = from.type().is_float() ? of_float(from) : std::nullopt;
        return value && std::fabs(*value) < double(largest) ? Sample(int64_t(*value)) : Sample();
    }
    case NodeKind::Not: {
        const Sample a = value_of(e.as<Not>()->a);
        return a ? Sample(!*a) : a;
    }
    case NodeKind::Select: {
        const Select *op = e.as<Select>();
        const Sample which = value_of(op->condition);
        return which ? value_of(*which ? op->true_value : op->false_value) : which;
    }
    case NodeKind::Call:
        return e.as<Call>()->is_likely() ? value_of(e.as<Call>()->args[0])
               : e.type() == Int(32)     ? of_call(e.as<Call>())
                                         : Sample();
#define ARITH(Name, symbol)                                                                        \
    case NodeKind::Name: {                                                                         \
        const Sample a = value_of(e.as<Name>()->a), b = a ? value_of(e.as<Name>()->b) : a;         \
        return b ? combined(NodeKind::Name, *a, *b) : b;                                           \
    }
#define COMPARE(Name, symbol) ARITH(Name, symbol)
#define LOGIC(Name, symbol) ARITH(Name, symbol)
#define EXPR(Name)
#include "ir/nodes.def"
    default:
        return Sample();
    }
}

}  // namespace calotype::internal
