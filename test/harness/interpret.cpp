// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "harness/interpret.h"

#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <sstream>

#include "ir/float16.h"
#include "ir/printer.h"
#include "support/error.h"

namespace calotype::test {

using namespace internal;

namespace {

using Wide = __int128;

Wide power_of_two(int n) {
    return Wide(1) << n;
}

// The representative of x modulo 2^bits in the type.
Wide wrap(Type t, Wide x) {
    const Wide size = power_of_two(t.bits());
    Wide r = x % size;
    r = r < 0 ? r + size : r;
    return t.is_int() && r >= size / 2 ? r - size : r;
}

bool fits(Type t, Wide x) {
    return wrap(t, x) == x;
}

double round_to(Type t, double x) {
    if (t.is_bfloat()) {
        return double(bfloat16_t(x));
    }
    return t.bits() == 16 ? double(float16_t(x)) : t.bits() == 32 ? double(float(x)) : x;
}

Wide remainder(Wide a, Wide b) {
    if (b == 0) {
        return 0;
    }
    Wide r = a % b;
    while (r < 0) {
        r += b < 0 ? -b : b;
    }
    return r;
}

Wide quotient(Wide a, Wide b) {
    return b == 0 ? 0 : (a - remainder(a, b)) / b;
}

std::string digits(Wide x) {
    if (x < 0) {
        return "-" + digits(-x);
    }
    std::string text = x >= 10 ? digits(x / 10) : "";
    text += char('0' + int(x % 10));
    return text;
}

uint64_t float_bits(Type t, double x) {
    if (t.bits() == 64) {
        uint64_t bits;
        memcpy(&bits, &x, sizeof(bits));
        return bits;
    }
    const float f = float(x);
    uint32_t bits;
    memcpy(&bits, &f, sizeof(bits));
    return t.bits() == 32 ? bits : t.is_bfloat() ? bfloat16_t(x).to_bits() : float16_t(x).to_bits();
}

double float_of(Type t, uint64_t bits) {
    if (t.bits() == 64) {
        double x;
        memcpy(&x, &bits, sizeof(x));
        return x;
    }
    const uint32_t low = uint32_t(bits);
    float f;
    memcpy(&f, &low, sizeof(f));
    return t.bits() == 32  ? double(f)
           : t.is_bfloat() ? double(bfloat16_t::make_from_bits(uint16_t(bits)))
                           : double(float16_t::make_from_bits(uint16_t(bits)));
}

bool same_float(double a, double b) {
    return a == b || (std::isnan(a) && std::isnan(b));
}

}  // namespace

Value Value::integer(Type t, int64_t x) {
    Value v{t, std::vector<Lane>(t.lanes())};
    for (Lane &l : v.lanes) {
        l.i = wrap(t, x);
    }
    return v;
}

Value Value::real(Type t, double x) {
    Value v{t, std::vector<Lane>(t.lanes())};
    for (Lane &l : v.lanes) {
        l.f = round_to(t, x);
    }
    return v;
}

bool Value::operator==(const Value &o) const {
    if (type != o.type || lanes.size() != o.lanes.size()) {
        return false;
    }
    for (size_t i = 0; i < lanes.size(); i++) {
        if (type.is_float() ? !same_float(lanes[i].f, o.lanes[i].f) : lanes[i].i != o.lanes[i].i) {
            return false;
        }
    }
    return true;
}

std::string to_string(const Value &v) {
    std::ostringstream out;
    out << v.type << "(";
    const char *separator = "";
    for (const Lane &l : v.lanes) {
        out << separator;
        separator = ", ";
        if (v.type.is_float()) {
            out << l.f;
        } else {
            out << digits(l.i);
        }
    }
    out << ")";
    return out.str();
}

// One walk of an expression.
class Interpreter::Evaluation {
public:
    explicit Evaluation(Interpreter &owner) : owner_(owner), bound_(owner.variables) {
    }

    Value eval(const Expr &e) {
        internal_assert(e.defined()) << "evaluating an undefined expression";
        switch (e.kind()) {
        case NodeKind::IntImm:
            return Value::integer(e.type(), e.as<IntImm>()->value);
        case NodeKind::UIntImm: {
            Value v = Value::integer(e.type(), 0);
            v.lanes[0].i = e.as<UIntImm>()->value;
            return v;
        }
        case NodeKind::FloatImm:
            return Value::real(e.type(), e.as<FloatImm>()->value);
        case NodeKind::Variable:
            return variable(e.as<Variable>());
        case NodeKind::Broadcast:
            return broadcast(e.as<Broadcast>());
        case NodeKind::Cast:
            return cast(e.type(), eval(e.as<Cast>()->value));
        case NodeKind::Reinterpret:
            return reinterpret(e.type(), eval(e.as<Reinterpret>()->value));
        case NodeKind::Not: {
            Value v = eval(e.as<Not>()->a);
            for (Lane &l : v.lanes) {
                l.i = !l.i;
            }
            return v;
        }
        case NodeKind::Select:
            return select(e.as<Select>());
        case NodeKind::Ramp:
            return ramp(e.as<Ramp>());
        case NodeKind::Load:
            return load(e.as<Load>());
        case NodeKind::Let:
            return let(e.as<Let>());
        case NodeKind::Shuffle:
            return shuffle(e.as<Shuffle>());
        case NodeKind::VectorReduce:
            return reduce(e.as<VectorReduce>());
        case NodeKind::Call:
            return call(e.as<Call>());
#define ARITH(Name, symbol)                                                                        \
    case NodeKind::Name:                                                                           \
        return binary(NodeKind::Name, e.type(), eval(e.as<Name>()->a), eval(e.as<Name>()->b));
#define COMPARE(Name, symbol) ARITH(Name, symbol)
#define LOGIC(Name, symbol) ARITH(Name, symbol)
#include "ir/nodes.def"
        default:
            internal_error << "the interpreter does not know " << e;
        }
    }

private:
    // Lane by lane; the result has the lanes of a.
    template<typename F>
    Value map(Type t, const Value &a, F f) {
        Value v{t, std::vector<Lane>(a.lanes.size())};
        for (size_t i = 0; i < a.lanes.size(); i++) {
            v.lanes[i] = f(a.lanes[i]);
        }
        return v;
    }
    template<typename F>
    Value zip(Type t, const Value &a, const Value &b, F f) {
        Value v{t, std::vector<Lane>(a.lanes.size())};
        for (size_t i = 0; i < a.lanes.size(); i++) {
            v.lanes[i] = f(a.lanes[i], b.lanes[i]);
        }
        return v;
    }

    // An integer result: wrapped, and undefined where a type that must not overflow does.
    Lane integer(Type t, Wide x) {
        const bool must_fit = t.is_int() && t.bits() >= 32;
        owner_.undefined_ = owner_.undefined_ || (must_fit && !fits(t, x));
        return {wrap(t, x), 0};
    }
    Lane real(Type t, double x) {
        owner_.met_nan_ = owner_.met_nan_ || std::isnan(x);
        return {0, round_to(t, x)};
    }
    static Lane boolean(bool x) {
        return {x, 0};
    }

    Value variable(const Variable *op) {
        auto it = bound_.find(op->name);
        internal_assert(it != bound_.end()) << "no value for variable " << op->name;
        internal_assert(it->second.type == op->type)
            << "variable " << op->name << " is " << op->type << ", its value " << it->second.type;
        return it->second;
    }

    Value broadcast(const Broadcast *op) {
        const Value one = eval(op->value);
        Value v{op->type, {}};
        for (int i = 0; i < op->lanes; i++) {
            v.lanes.insert(v.lanes.end(), one.lanes.begin(), one.lanes.end());
        }
        return v;
    }

    Value ramp(const Ramp *op) {
        Value part = eval(op->base);
        const Value stride = eval(op->stride);
        Value v{op->type, {}};
        for (int i = 0; i < op->lanes; i++) {
            v.lanes.insert(v.lanes.end(), part.lanes.begin(), part.lanes.end());
            if (i + 1 < op->lanes) {
                part = binary(NodeKind::Add, part.type, part, stride);
            }
        }
        return v;
    }

    Value let(const Let *op) {
        Value value = eval(op->value);
        auto old = bound_.find(op->name);
        const bool shadows = old != bound_.end();
        Value hidden = shadows ? old->second : Value();
        bound_[op->name] = std::move(value);
        Value result = eval(op->body);
        if (shadows) {
            bound_[op->name] = hidden;
        } else {
            bound_.erase(op->name);
        }
        return result;
    }

    Value load(const Load *op) {
        internal_assert(bool(owner_.load)) << "no memory for the load of " << op->name;
        Value v = owner_.load(*op, eval(op->index));
        if (op->predicate.defined()) {
            const Value p = eval(op->predicate);
            for (size_t i = 0; i < v.lanes.size(); i++) {
                owner_.undefined_ = owner_.undefined_ || !p.lanes[i].i;
            }
        }
        return v;
    }

    Value select(const Select *op) {
        const Value c = eval(op->condition);
        Value t = eval(op->true_value);
        const Value f = eval(op->false_value);
        for (size_t i = 0; i < t.lanes.size(); i++) {
            if (!c.lanes[c.lanes.size() == 1 ? 0 : i].i) {
                t.lanes[i] = f.lanes[i];
            }
        }
        return t;
    }

    Value shuffle(const Shuffle *op) {
        std::vector<Lane> all;
        for (const Expr &e : op->vectors) {
            const Value part = eval(e);
            all.insert(all.end(), part.lanes.begin(), part.lanes.end());
        }
        Value v{op->type, {}};
        for (int index : op->indices) {
            v.lanes.push_back(all[index]);
        }
        return v;
    }

    Value reduce(const VectorReduce *op) {
        const Value all = eval(op->value);
        const size_t factor = all.lanes.size() / op->type.lanes();
        const Type lane = op->type.element_of();
        Value v{op->type, {}};
        for (int i = 0; i < op->type.lanes(); i++) {
            Value sum{lane, {all.lanes[i * factor]}};
            for (size_t k = 1; k < factor; k++) {
                sum = reduce_two(op->op, lane, sum, Value{lane, {all.lanes[i * factor + k]}});
            }
            v.lanes.push_back(sum.lanes[0]);
        }
        return v;
    }

    Value reduce_two(VectorReduce::Operator op, Type t, const Value &a, const Value &b) {
        switch (op) {
        case VectorReduce::Add:
            return binary(NodeKind::Add, t, a, b);
        case VectorReduce::Mul:
            return binary(NodeKind::Mul, t, a, b);
        case VectorReduce::Min:
            return binary(NodeKind::Min, t, a, b);
        case VectorReduce::Max:
            return binary(NodeKind::Max, t, a, b);
        case VectorReduce::And:
            return binary(NodeKind::And, t, a, b);
        case VectorReduce::Or:
            return binary(NodeKind::Or, t, a, b);
        case VectorReduce::SaturatingAdd:
            return saturate(t, a, b, +1);
        }
        internal_error << "the interpreter does not know this reduction";
    }

    Value binary(NodeKind op, Type t, const Value &a, const Value &b) {
        if (a.type.is_float()) {
            return zip(t, a, b, [&](Lane x, Lane y) { return on_floats(op, t, x.f, y.f); });
        }
        return zip(t, a, b, [&](Lane x, Lane y) { return on_integers(op, t, x.i, y.i); });
    }

    Lane on_integers(NodeKind op, Type t, Wide a, Wide b) {
        switch (op) {
        case NodeKind::Add:
            return integer(t, a + b);
        case NodeKind::Sub:
            return integer(t, a - b);
        case NodeKind::Mul:
            return product(t, a, b);
        case NodeKind::Div:
            return integer(t, quotient(a, b));
        case NodeKind::Mod:
            return integer(t, remainder(a, b));
        case NodeKind::Min:
            return integer(t, a < b ? a : b);
        case NodeKind::Max:
            return integer(t, a < b ? b : a);
        case NodeKind::And:
            return boolean(a && b);
        case NodeKind::Or:
            return boolean(a || b);
        default:
            return comparison(op, a, b);
        }
    }

    // Two unsigned 64-bit numbers make one of 128 bits, more than Wide holds: by halves.
    Lane product(Type t, Wide a, Wide b) {
        if (t.is_uint() && t.bits() == 64) {
            const Wide low = b % power_of_two(32), high = b / power_of_two(32);
            return {wrap(t, wrap(t, wrap(t, a * high) * power_of_two(32)) + wrap(t, a * low)), 0};
        }
        return integer(t, a * b);
    }

    Lane on_floats(NodeKind op, Type t, double a, double b) {
        switch (op) {
        case NodeKind::Add:
            return real(t, a + b);
        case NodeKind::Sub:
            return real(t, a - b);
        case NodeKind::Mul:
            return real(t, a * b);
        case NodeKind::Div:
            return real(t, a / b);
        case NodeKind::Mod:
            return real(t, a - b * std::floor(a / b));
        case NodeKind::Min:
        case NodeKind::Max: {
            // Which of two zeros of different signs is the smaller is left open.
            const bool is_open = a == 0 && b == 0 && std::signbit(a) != std::signbit(b);
            owner_.undefined_ = owner_.undefined_ || is_open;
            return real(t, (a < b) == (op == NodeKind::Min) ? a : b);
        }
        default:
            return comparison(op, a, b);
        }
    }

    template<typename T>
    static Lane comparison(NodeKind op, T a, T b) {
        switch (op) {
        case NodeKind::EQ:
            return boolean(a == b);
        case NodeKind::NE:
            return boolean(a != b);
        case NodeKind::LT:
            return boolean(a < b);
        case NodeKind::LE:
            return boolean(a <= b);
        case NodeKind::GT:
            return boolean(a > b);
        case NodeKind::GE:
            return boolean(a >= b);
        default:
            internal_error << "no operator on these operands";
        }
    }

    Value cast(Type t, const Value &a) {
        const Type from = a.type;
        return map(t, a, [&](Lane x) -> Lane {
            if (t.is_bool()) {
                return boolean(from.is_float() ? x.f != 0 : x.i != 0);
            }
            if (t.is_float()) {
                return real(t, from.is_float() ? x.f : integer_to_float(t, x.i));
            }
            if (!from.is_float()) {
                return {wrap(t, x.i), 0};
            }
            const double whole = std::trunc(x.f);
            const bool safe = std::fabs(whole) < std::ldexp(1.0, 100) && fits(t, Wide(whole));
            owner_.undefined_ = owner_.undefined_ || !safe;
            return {safe ? Wide(whole) : 0, 0};
        });
    }

    static double integer_to_float(Type t, Wide x) {
        return t.bits() == 32 ? double(float(x)) : double(x);
    }

    // Same lanes only: what the tests use.
    Value reinterpret(Type t, const Value &a) {
        internal_assert(t.lanes() == a.type.lanes() && !t.is_handle() && !a.type.is_handle())
            << "the interpreter cannot reinterpret " << a.type << " as " << t;
        return map(t, a, [&](Lane x) {
            const Wide bits = a.type.is_float() ? Wide(float_bits(a.type, x.f)) : x.i;
            return t.is_float() ? real(t, float_of(t, uint64_t(bits))) : Lane{wrap(t, bits), 0};
        });
    }

    Value saturate(Type t, const Value &a, const Value &b, int sign) {
        return zip(t, a, b, [&](Lane x, Lane y) { return Lane{clamped(t, x.i + sign * y.i), 0}; });
    }

    static Wide clamped(Type t, Wide x) {
        const Wide lo = t.is_int() ? -power_of_two(t.bits() - 1) : 0;
        const Wide hi = t.is_int() ? power_of_two(t.bits() - 1) - 1 : power_of_two(t.bits()) - 1;
        return x < lo ? lo : x > hi ? hi : x;
    }

    Value call(const Call *op) {
        internal_assert(op->call_type == CallKind::Intrinsic)
            << "the interpreter cannot call " << op->name;
        if (op->is_intrinsic(Intrinsic::signed_integer_overflow)) {
            owner_.undefined_ = true;
            return op->type.is_float() ? Value::real(op->type, 0) : Value::integer(op->type, 0);
        }
        std::vector<Value> args;
        for (const Expr &e : op->args) {
            args.push_back(eval(e));
        }
        switch (op->args.size()) {
        case 1:
            return unary_call(op, args[0]);
        case 2:
            return binary_call(op, args[0], args[1]);
        case 3:
            return ternary_call(op, args[0], args[1], args[2]);
        default:
            return call_of_many(op, args);
        }
    }

    // mux: the last value is that of all other indices.
    Value call_of_many(const Call *op, const std::vector<Value> &args) {
        internal_assert(op->is_intrinsic(Intrinsic::mux))
            << "the interpreter does not know " << op->name;
        Value v = args.back();
        for (size_t i = 0; i < v.lanes.size(); i++) {
            const Wide index = args[0].lanes[i].i;
            if (index >= 0 && index < Wide(args.size()) - 1) {
                v.lanes[i] = args[size_t(index) + 1].lanes[i];
            }
        }
        return v;
    }

    Value unary_call(const Call *op, const Value &a) {
        const Type t = op->type;
        switch (op->intrinsic) {
        case Intrinsic::likely:
        case Intrinsic::likely_if_innermost:
        case Intrinsic::strict_float:
            return a;
        case Intrinsic::abs:
            return map(t, a, [&](Lane x) {
                return t.is_float() ? real(t, std::fabs(x.f)) : integer(t, x.i < 0 ? -x.i : x.i);
            });
        case Intrinsic::bitwise_not:
            return map(t, a, [&](Lane x) { return Lane{wrap(t, ~x.i), 0}; });
        case Intrinsic::popcount:
            return map(t, a, [&](Lane x) { return Lane{count_bits(a.type, x.i), 0}; });
        case Intrinsic::floor:
            return map(t, a, [&](Lane x) { return real(t, std::floor(x.f)); });
        case Intrinsic::ceil:
            return map(t, a, [&](Lane x) { return real(t, std::ceil(x.f)); });
        case Intrinsic::round:
            return map(t, a, [&](Lane x) { return real(t, std::nearbyint(x.f)); });
        case Intrinsic::trunc:
            return map(t, a, [&](Lane x) { return real(t, std::trunc(x.f)); });
        case Intrinsic::sqrt:
            return map(t, a, [&](Lane x) { return real(t, std::sqrt(x.f)); });
        case Intrinsic::saturating_cast:
            internal_assert(t.is_int_or_uint()) << "saturating_cast to floats";
            return map(t, a, [&](Lane x) {
                return Lane{a.type.is_float() ? clamped_float(t, a.type, x.f) : clamped(t, x.i), 0};
            });
        case Intrinsic::count_leading_zeros:
        case Intrinsic::count_trailing_zeros:
            return map(t, a, [&](Lane x) {
                return count_zeros(t, x.i, op->is_intrinsic(Intrinsic::count_leading_zeros));
            });
        case Intrinsic::is_nan:
            return map(t, a, [&](Lane x) { return boolean(std::isnan(x.f)); });
        case Intrinsic::is_inf:
            return map(t, a, [&](Lane x) { return boolean(std::isinf(x.f)); });
        case Intrinsic::is_finite:
            return map(t, a, [&](Lane x) { return boolean(std::isfinite(x.f)); });
        default:
            internal_error << "the interpreter does not know " << op->name;
        }
    }

    // A NaN becomes the largest of fewer bits, the smallest of as many or more.
    static Wide clamped_float(Type t, Type from, double x) {
        const bool is_narrow = t.bits() < std::max(32, from.bits());
        return std::isnan(x)            ? clamped(t, power_of_two(100) * (is_narrow ? 1 : -1))
               : std::fabs(x) < 0x1p100 ? clamped(t, Wide(x))
               : x < 0                  ? clamped(t, -power_of_two(100))
                                        : clamped(t, power_of_two(100));
    }

    Lane count_zeros(Type t, Wide x, bool leading) {
        owner_.undefined_ = owner_.undefined_ || x == 0;
        Wide n = 0;
        while (n < t.bits() && !((x >> int(leading ? t.bits() - 1 - n : n)) & 1)) {
            n++;
        }
        return {n, 0};
    }

    static Wide count_bits(Type t, Wide x) {
        Wide count = 0;
        for (int i = 0; i < t.bits(); i++) {
            count += (x >> i) & 1;
        }
        return count;
    }

    // The operator that an intrinsic is. Lanes are exact, so widening takes nothing more.
    static std::optional<NodeKind> operator_of(Intrinsic id) {
        using I = Intrinsic;
        static const std::map<I, NodeKind> operators = {
            {I::widening_add, NodeKind::Add},    {I::widening_sub, NodeKind::Sub},
            {I::widening_mul, NodeKind::Mul},    {I::widen_right_add, NodeKind::Add},
            {I::widen_right_sub, NodeKind::Sub}, {I::widen_right_mul, NodeKind::Mul},
            {I::strict_add, NodeKind::Add},      {I::strict_sub, NodeKind::Sub},
            {I::strict_mul, NodeKind::Mul},      {I::strict_div, NodeKind::Div},
            {I::strict_min, NodeKind::Min},      {I::strict_max, NodeKind::Max},
            {I::strict_eq, NodeKind::EQ},        {I::strict_lt, NodeKind::LT},
            {I::strict_le, NodeKind::LE},
        };
        const auto known = operators.find(id);
        return known == operators.end() ? std::nullopt : std::optional(known->second);
    }

    Value binary_call(const Call *op, const Value &a, const Value &b) {
        const Type t = op->type;
        if (const auto kind = operator_of(op->intrinsic)) {
            return binary(*kind, t, a, b);
        }
        auto integers = [&](auto f) {
            return zip(t, a, b, [&](Lane x, Lane y) { return Lane{wrap(t, f(x.i, y.i)), 0}; });
        };
        switch (op->intrinsic) {
        case Intrinsic::bitwise_and:
            return integers([](Wide x, Wide y) { return x & y; });
        case Intrinsic::bitwise_or:
            return integers([](Wide x, Wide y) { return x | y; });
        case Intrinsic::bitwise_xor:
            return integers([](Wide x, Wide y) { return x ^ y; });
        case Intrinsic::absd:
            return zip(t, a, b, [&](Lane x, Lane y) {
                return t.is_float() ? real(t, std::fabs(x.f - y.f))
                                    : integer(t, x.i < y.i ? y.i - x.i : x.i - y.i);
            });
        case Intrinsic::shift_left:
        case Intrinsic::shift_right:
            return zip(t, a, b, [&](Lane x, Lane y) {
                return shift(t, x.i, op->is_intrinsic(Intrinsic::shift_left) ? y.i : -y.i);
            });
        case Intrinsic::widening_shift_left:
        case Intrinsic::widening_shift_right:
            return zip(t, a, b, [&](Lane x, Lane y) {
                const bool left = op->is_intrinsic(Intrinsic::widening_shift_left);
                return shift(t, wrap(t, x.i), left ? y.i : -y.i);
            });
        case Intrinsic::rounding_shift_left:
        case Intrinsic::rounding_shift_right:
            return zip(t, a, b, [&](Lane x, Lane y) {
                const bool left = op->is_intrinsic(Intrinsic::rounding_shift_left);
                return rounding_shift(t, x.i, left ? y.i : -y.i);
            });
        case Intrinsic::div_round_to_zero:
        case Intrinsic::mod_round_to_zero:
            return zip(t, a, b, [&](Lane x, Lane y) {
                owner_.undefined_ = owner_.undefined_ || y.i == 0;
                const Wide divisor = y.i == 0 ? 1 : y.i;
                return integer(t, op->is_intrinsic(Intrinsic::div_round_to_zero) ? x.i / divisor
                                                                                 : x.i % divisor);
            });
        case Intrinsic::extract_bits: {
            const Type u = a.type.with_code(Type::UInt);
            return integers([&](Wide x, Wide y) { return wrap(u, x) >> int(y); });
        }
        case Intrinsic::concat_bits:
            return integers([&](Wide x, Wide y) { return x + y * power_of_two(a.type.bits()); });
        case Intrinsic::halving_add:
            return integers([](Wide x, Wide y) { return (x + y) >> 1; });
        case Intrinsic::halving_sub:
            return integers([](Wide x, Wide y) { return (x - y) >> 1; });
        case Intrinsic::rounding_halving_add:
            return integers([](Wide x, Wide y) { return (x + y + 1) >> 1; });
        case Intrinsic::saturating_add:
            return t.is_float() ? binary(NodeKind::Add, t, a, b) : saturate(t, a, b, +1);
        case Intrinsic::saturating_sub:
            return t.is_float() ? binary(NodeKind::Sub, t, a, b) : saturate(t, a, b, -1);
        case Intrinsic::return_second:
            return b;
        default:
            internal_error << "the interpreter does not know " << op->name;
        }
    }

    Lane shift(Type t, Wide x, Wide left) {
        owner_.undefined_ = owner_.undefined_ || left >= t.bits() || left <= -t.bits();
        if (left >= t.bits() || left <= -t.bits()) {
            return {};
        }
        return {left >= 0 ? wrap(t, wrap(t, x) * power_of_two(int(left))) : x >> int(-left), 0};
    }

    // To the right to nearest, ties up.
    Lane rounding_shift(Type t, Wide x, Wide left) {
        if (left >= t.bits() || left <= -t.bits()) {
            owner_.undefined_ = true;
            return {};
        }
        if (left >= 0) {
            return {wrap(t, x * power_of_two(int(left))), 0};
        }
        return {wrap(t, (x + power_of_two(int(-left - 1))) >> int(-left)), 0};
    }

    // What of the exact product lies at bit q and above; its last lost bit says which way to round.
    template<typename Product>
    static Wide product_shifted(Product product, int q, bool rounds) {
        const Product bit = rounds && q > 0 ? (product >> (q - 1)) & 1 : 0;
        const Product high = product >> q;
        return high > Product(~Product(0)) >> 1 && Product(-1) > 0 ? Wide(power_of_two(100))
                                                                   : Wide(high) + Wide(bit);
    }

    Lane mul_shift(Type t, Wide x, Wide y, Wide q, bool rounds) {
        using Unsigned = unsigned __int128;
        owner_.undefined_ = owner_.undefined_ || q >= 2 * t.bits();
        q = q >= 2 * t.bits() ? 0 : q;
        const Wide shifted = t.is_uint()
                                 ? product_shifted(Unsigned(x) * Unsigned(y), int(q), rounds)
                                 : product_shifted(x * y, int(q), rounds);
        return {clamped(t, shifted), 0};
    }

    Lane lerp(Type t, Lane a, Lane b, Type weight, Wide w) {
        Wide top = power_of_two(weight.bits()) - 1;
        if (!t.is_float()) {
            const Wide largest = power_of_two(std::min(t.bits(), 32)) - 1;
            w = top > largest ? w / (top / largest) : w * (largest / top);
            top = largest;
            // To nearest: the top is odd, so that there are no ties.
            const Wide sum = a.i * (top - w) + b.i * w;
            return {quotient(2 * sum + top, 2 * top), 0};
        }
        const Type c = t.bits() == 16 ? Float(32) : t;
        const double part = round_to(c, round_to(c, double(w)) / round_to(c, double(top)));
        const double low = round_to(c, a.f * round_to(c, 1 - part));
        return real(t, round_to(c, low + round_to(c, b.f * part)));
    }

    Value ternary_call(const Call *op, const Value &a, const Value &b, const Value &c) {
        const Type t = op->type;
        const auto each = [&](auto f) {
            Value v{t, std::vector<Lane>(b.lanes.size())};
            for (size_t i = 0; i < v.lanes.size(); i++) {
                v.lanes[i] = f(a.lanes[a.lanes.size() == 1 ? 0 : i], b.lanes[i], c.lanes[i]);
            }
            return v;
        };
        switch (op->intrinsic) {
        case Intrinsic::if_then_else:
            return each([](Lane x, Lane y, Lane z) { return x.i ? y : z; });
        case Intrinsic::mul_shift_right:
        case Intrinsic::rounding_mul_shift_right:
            return each([&](Lane x, Lane y, Lane z) {
                return mul_shift(t, x.i, y.i, z.i,
                                 op->is_intrinsic(Intrinsic::rounding_mul_shift_right));
            });
        case Intrinsic::lerp:
            internal_assert(c.type.is_uint()) << "lerp by a float";
            return each([&](Lane x, Lane y, Lane z) { return lerp(t, x, y, c.type, z.i); });
        case Intrinsic::strict_fma:
            return each([&](Lane x, Lane y, Lane z) {
                return real(t, t.bits() == 32 ? double(fmaf(float(x.f), float(y.f), float(z.f)))
                                              : std::fma(x.f, y.f, z.f));
            });
        case Intrinsic::promise_clamped:
        case Intrinsic::unsafe_promise_clamped:
            for (size_t i = 0; i < a.lanes.size(); i++) {
                const bool kept = b.lanes[i].i <= a.lanes[i].i && a.lanes[i].i <= c.lanes[i].i;
                owner_.undefined_ = owner_.undefined_ || !kept;
            }
            return a;
        default:
            internal_error << "the interpreter does not know " << op->name;
        }
    }

    Interpreter &owner_;
    std::map<std::string, Value> bound_;
};

Value Interpreter::evaluate(const Expr &e) {
    return Evaluation(*this).eval(e);
}

Value evaluate(const Expr &e, const std::map<std::string, int> &int32_variables) {
    Interpreter interpreter;
    for (const auto &[name, value] : int32_variables) {
        interpreter.variables[name] = Value::integer(Int(32), value);
    }
    return interpreter.evaluate(e);
}

}  // namespace calotype::test
