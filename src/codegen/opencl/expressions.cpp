// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cmath>
#include <cstring>
#include <iomanip>

#include "codegen/opencl/device_writer.h"
#include "codegen/symbol_name.h"
#include "ir/constants.h"
#include "ir/walk/field_walk.h"
#include "ir/walk/search.h"
#include "support/error.h"
#include "support/text.h"

namespace calotype::internal {

DeviceValue DeviceWriter::emit(const Expr &e) {
    internal_assert(e.defined()) << "undefined expression in a kernel";
    return dispatch(e.get(), [this](const auto *op) { return emit_node(op); });
}

namespace {

std::string in_parentheses_if_negative(const std::string &text) {
    return text[0] == '-' ? "(" + text + ")" : text;
}

std::string decimal(double x, int digits, const char *suffix) {
    std::ostringstream text;
    text << std::setprecision(digits) << x;
    std::string s = text.str();
    bool whole = s.find_first_of(".e") == std::string::npos;
    return in_parentheses_if_negative(s + (whole ? ".0" : "") + suffix);
}

template<typename To, typename From>
To bits_as(From from) {
    static_assert(sizeof(To) == sizeof(From));
    To to;
    std::memcpy(&to, &from, sizeof(to));
    return to;
}

std::string hexadecimal(uint64_t bits, const std::string &suffix) {
    std::ostringstream text;
    text << "0x" << std::hex << bits << suffix;
    return text.str();
}

}  // namespace

DeviceValue DeviceWriter::emit_node(const IntImm *op) {
    std::string text = std::to_string(op->value), name = type_name(op->type);
    if (op->type.bits() == 64) {
        const char *l = word(Word::long_suffix);
        text = op->value == INT64_MIN ? "(-9223372036854775807" + std::string(l) + " - 1)"
                                      : in_parentheses_if_negative(text + l);
    } else if (op->type.bits() == 32) {
        text = op->value == INT32_MIN ? "(-2147483647 - 1)" : in_parentheses_if_negative(text);
    } else {
        text = "((" + name + ")" + in_parentheses_if_negative(text) + ")";
    }
    return {op->type, {text}};
}

DeviceValue DeviceWriter::emit_node(const UIntImm *op) {
    std::string text = std::to_string(op->value);
    if (op->type.is_bool()) {
        return {op->type, {op->value ? "true" : "false"}};
    }
    return {op->type,
            {op->type.bits() == 64   ? text + word(Word::unsigned_long_suffix)
             : op->type.bits() == 32 ? text + "u"
                                     : "((" + type_name(op->type) + ")" + text + ")"}};
}

DeviceValue DeviceWriter::emit_node(const FloatImm *op) {
    Type t = op->type;
    check_type(t);
    if (is_bits(t)) {
        uint16_t bits =
            t.is_bfloat() ? bfloat16_t(op->value).to_bits() : float16_t(op->value).to_bits();
        return {t, {"((" + type_name(t) + ")" + hexadecimal(bits, "u") + ")"}};
    }
    bool finite = std::isfinite(op->value);
    if (t.bits() == 64) {
        uint64_t bits = bits_as<uint64_t>(op->value);
        return {t,
                {finite ? decimal(op->value, 17, "")
                        : word(Word::double_from_bits,
                               hexadecimal(bits, word(Word::unsigned_long_suffix)))}};
    }
    uint32_t bits = std::isnan(op->value) ? 0x7fc00000u : bits_as<uint32_t>(float(op->value));
    std::string text =
        finite ? decimal(op->value, 9, "f") : word(Word::float_from_bits, hexadecimal(bits, "u"));
    return {t, {t.bits() == 16 ? "((half)" + text + ")" : text}};
}

DeviceValue DeviceWriter::emit_node(const StringImm *) {
    user_error << where() << " uses a string, which there is no memory for on the device";
}

DeviceValue DeviceWriter::emit_node(const Variable *op) {
    const DeviceValue *v = symbols_.find(op->name);
    internal_assert(v) << "variable not in scope: " << op->name;
    return *v;
}

DeviceValue DeviceWriter::emit_node(const Let *op) {
    DeviceValue value = atom(emit(op->value));
    note_data(op->name, op->value);
    ScopedBinding<DeviceValue> binding(symbols_, op->name, value);
    return emit(op->body);
}

DeviceValue DeviceWriter::emit_node(const Broadcast *op) {
    DeviceValue v = atom(emit(op->value));
    if (op->value.type().is_scalar()) {
        DeviceValue result{op->type, {}};
        for (int width : part_widths(file_.dialect, op->lanes)) {
            result.parts.push_back(splat(op->type.with_lanes(width), v.parts[0]));
        }
        return result;
    }
    Texts lanes;
    for (int i = 0; i < op->type.lanes(); i++) {
        lanes.push_back(lane(v, i % op->value.type().lanes()));
    }
    return define(op->type, from_lanes(op->type, lanes).parts);
}

// base + stride * (0, 1, 2, ...)
DeviceValue DeviceWriter::emit_node(const Ramp *op) {
    const Type t = op->base.type();
    Expr base = named(op->base), stride = named(op->stride);
    std::vector<Expr> numbers;
    for (int i = 0; i < op->lanes; i++) {
        numbers.push_back(make_const(t, i));
    }
    Expr steps = Mul::make(Broadcast::make(stride, op->lanes), Shuffle::make_concat(numbers));
    return emit(Add::make(Broadcast::make(base, op->lanes), steps));
}

namespace {

/// "a.s0246" if the lanes are lanes of one vector.
std::string swizzle(const std::vector<std::string> &lanes) {
    std::string prefix, letters;
    for (const std::string &lane : lanes) {
        size_t n = lane.size();
        if (n < 4 || lane[n - 2] != 's' || lane[n - 3] != '.' ||
            (!prefix.empty() && prefix != lane.substr(0, n - 3))) {
            return "";
        }
        prefix = lane.substr(0, n - 3);
        letters += lane[n - 1];
    }
    return prefix + ".s" + letters;
}

}  // namespace

DeviceValue DeviceWriter::emit_node(const Shuffle *op) {
    Texts all, lanes;
    for (const Expr &e : op->vectors) {
        DeviceValue v = atom(emit(e));
        for (int i = 0; i < e.type().lanes(); i++) {
            all.push_back(lane(v, i));
        }
    }
    for (int i : op->indices) {
        lanes.push_back(all[size_t(std::max(i, 0))]);
    }
    if (op->type.is_scalar()) {
        return {op->type, lanes};
    }
    Texts parts;
    size_t first = 0;
    for (int width : part_widths(file_.dialect, op->type.lanes())) {
        Texts some(lanes.begin() + long(first), lanes.begin() + long(first) + width);
        std::string text = width > 1 ? swizzle(some) : "";
        parts.push_back(text.empty() ? from_lanes(op->type.with_lanes(width), some).parts[0]
                                     : text);
        first += size_t(width);
    }
    return define(op->type, parts);
}

namespace {

/// CUDA C++ contracts a * b + c unless it is written with functions.
std::string uncontracted(Type t, const std::string &symbol) {
    return std::string(t.bits() == 64 ? "__d" : "__f") +
           (symbol == "+"   ? "add"
            : symbol == "-" ? "sub"
                            : "mul") +
           "_rn($0, $1)";
}

}  // namespace

// Whether a value is made of what is read from memory. Of one of many operations it is taken to be so.
bool DeviceWriter::is_data(const Expr &e) const {
    int budget = 64;
    return contains_node(e, [&](const Node *node) {
        const auto *name = node_as<Variable>(node);
        return --budget < 0 || node->kind == NodeKind::Load ||
               (name && data_names_.count(name->name));
    });
}

void DeviceWriter::note_data(const std::string &name, const Expr &value) {
    if (is_data(value)) {
        data_names_.insert(name);
    }
}

// Narrow integers wrap: in C their operations are those of int, and vectors' their own. Sums of data may have been put in
// another order, overflow on the way, and come back.
template<typename Op>
DeviceValue DeviceWriter::arithmetic(const Op *op, const char *symbol) {
    Type t = op->type;
    if (t.is_bool()) {
        return emit(*symbol == '*' ? And::make(op->a, op->b) : NE::make(op->a, op->b));
    }
    bool by_function = t.is_float() && file_.strict && file_.dialect == Dialect::CUDA;
    std::string plain = by_function ? uncontracted(t, symbol) : "$0 " + std::string(symbol) + " $1";
    std::string narrow = "({T})((unsigned int)$0 " + std::string(symbol) + " (unsigned int)$1)";
    bool promotes = !t.is_float() && t.bits() < 32;
    const bool comes_back = t.is_int() && !promotes && (is_data(op->a) || is_data(op->b));
    const std::string wrapping = "({T})(({U0})$0 " + std::string(symbol) + " ({U0})$1)";
    const std::string of_lanes = "as_{T}(as_{U0}($0) " + std::string(symbol) + " as_{U0}($1))";
    const std::string &one = comes_back ? wrapping : promotes ? narrow : plain;
    const std::string &many = comes_back ? of_lanes : plain;
    Form form{one.c_str(), file_.dialect == Dialect::OpenCL ? many.c_str() : nullptr};
    DeviceValue a = emit(op->a), b = emit(op->b);
    return apply(t, form, {a, b});
}

DeviceValue DeviceWriter::emit_node(const Add *op) {
    return arithmetic(op, "+");
}
// Negations that the assembler of CUDA 13.0 would lose where minima follow (nvptx/faults/ptxas_faults.h).
// NVRTC makes one of a product with -1, too.
bool DeviceWriter::is_negation(Expr constant, int64_t value) const {
    while (const Let *let = constant.as<Let>()) {
        constant = Expr(let->body);
    }
    const Type t = constant.type();
    const bool is_number = t.is_int_or_uint() && !t.is_bool() && t.bits() <= 32;
    return file_.dialect == Dialect::CUDA && is_number && is_const(constant, value);
}

DeviceValue DeviceWriter::negation(const Expr &e) {
    return apply(e.type(), {"({T}){negate}((int)$0)", nullptr}, {emit(e)});
}

DeviceValue DeviceWriter::emit_node(const Sub *op) {
    return is_negation(op->a, 0) ? negation(op->b) : arithmetic(op, "-");
}
DeviceValue DeviceWriter::emit_node(const Mul *op) {
    return is_negation(op->b, -1)   ? negation(op->a)
           : is_negation(op->a, -1) ? negation(op->b)
                                    : arithmetic(op, "*");
}

DeviceValue DeviceWriter::divide(const Expr &a, const Expr &b, Type t, bool quotient) {
    if (t.is_float()) {
        DeviceValue x = emit(a), y = emit(b);
        const char *text = quotient ? "$0 / $1" : "$0 - $1 * floor($0 / $1)";
        return apply(t, {text, text}, {x, y});
    }
    if (auto shift = as_const_power_of_two(b)) {
        Expr other =
            quotient ? make_const(t.with_code(Type::UInt), *shift) : Sub::make(b, make_one(t));
        return emit(
            Call::make(t, quotient ? Intrinsic::shift_right : Intrinsic::bitwise_and, {a, other}));
    }
    bool plain = t.is_uint() && is_const(b) && !is_const_zero(b);
    Form by_constant =
        quotient ? Form{"({T})($0 / $1)", "$0 / $1"} : Form{"({T})($0 % $1)", "$0 % $1"};
    Form general{quotient ? "{div:0}($0, $1)" : "{mod:0}($0, $1)", nullptr};
    DeviceValue x = emit(a), y = emit(b);
    return apply(t, plain ? by_constant : general, {x, y});
}

DeviceValue DeviceWriter::emit_node(const Div *op) {
    if (op->type.is_bool()) {
        return emit(And::make(op->a, op->b));
    }
    return divide(op->a, op->b, op->type, true);
}

DeviceValue DeviceWriter::emit_node(const Mod *op) {
    if (op->type.is_bool()) {
        return emit(const_false(op->type.lanes()));
    }
    return divide(op->a, op->b, op->type, false);
}

template<typename Op>
DeviceValue DeviceWriter::extremum(const Op *op, const char *name, const char *symbol) {
    Type t = op->type;
    if (t.is_bool()) {
        return emit(*symbol == '<' ? And::make(op->a, op->b) : Or::make(op->a, op->b));
    }
    if (file_.dialect == Dialect::CUDA && t.is_int_or_uint() && t.bits() < 32) {
        const std::string form = "({T}){wide_" + std::string(name) + "}((int)$0, (int)$1)";
        DeviceValue a = emit(op->a), b = emit(op->b);
        return apply(t, {form.c_str(), nullptr}, {a, b});
    }
    // Of a NaN and a number the functions give the number, wherever it stands.
    const bool as_written = t.is_float() && file_.strict;
    bool function = !as_written && (t.is_float() || file_.dialect == Dialect::OpenCL);
    std::string call = std::string(t.is_float() ? "f" : "") + name + "($0, $1)";
    std::string choice = "$0 " + std::string(symbol) + " $1 ? $0 : $1";
    const char *text = function ? call.c_str() : choice.c_str();
    const bool of_vectors = function || (as_written && file_.dialect == Dialect::OpenCL);
    DeviceValue a = emit(op->a), b = emit(op->b);
    return apply(t, {text, of_vectors ? text : nullptr}, {a, b});
}

DeviceValue DeviceWriter::emit_node(const Min *op) {
    return extremum(op, "min", "<");
}
DeviceValue DeviceWriter::emit_node(const Max *op) {
    return extremum(op, "max", ">");
}

// Bools in vectors are all ones or all zeros: ordered as unsigned.
template<typename Op>
DeviceValue DeviceWriter::comparison(const Op *op, const char *symbol) {
    const Expr &a = op->a, &b = op->b;
    std::string scalar = "$0 " + std::string(symbol) + " $1";
    std::string vector = a.type().is_bool() ? "as_{U0}($0) " + std::string(symbol) + " as_{U1}($1)"
                                            : "convert_{T}(" + scalar + ")";
    DeviceValue x = emit(a), y = emit(b);
    return apply(op->type, {scalar.c_str(), vector.c_str()}, {x, y});
}

#define COMPARE(Name, symbol)                                                                      \
    DeviceValue DeviceWriter::emit_node(const Name *op) {                                          \
        return comparison(op, symbol);                                                             \
    }
#define EXPR(Name)
#define ARITH(Name, symbol)
#define LOGIC(Name, symbol)
#include "ir/nodes.def"

DeviceValue DeviceWriter::emit_node(const And *op) {
    DeviceValue a = emit(op->a), b = emit(op->b);
    return apply(op->type, {"$0 && $1", "$0 & $1"}, {a, b});
}

DeviceValue DeviceWriter::emit_node(const Or *op) {
    DeviceValue a = emit(op->a), b = emit(op->b);
    return apply(op->type, {"$0 || $1", "$0 | $1"}, {a, b});
}

DeviceValue DeviceWriter::emit_node(const Not *op) {
    return apply(op->type, {"!$0", "~$0"}, {emit(op->a)});
}

// In C the choice between two narrow integers is an int.
DeviceValue DeviceWriter::emit_node(const Select *op) {
    DeviceValue c = emit(op->condition), t = emit(op->true_value), f = emit(op->false_value);
    bool narrow = !op->type.is_bool() && op->type.bits() < 32;
    return apply(
        op->type,
        {narrow ? "({T})($0 ? $1 : $2)" : "$0 ? $1 : $2", "select($2, $1, convert_{S}($0))"},
        {c, t, f});
}

DeviceValue DeviceWriter::emit_node(const Cast *op) {
    return cast(op->type, emit(op->value));
}

DeviceValue DeviceWriter::cast(Type t, const DeviceValue &v) {
    Type from = v.type;
    if (t == from) {
        return v;
    }
    if (is_bits(from) || is_bits(t)) {
        return small_float_cast(t, v);
    }
    if (t.is_bool()) {
        return apply(t, {"$0 != 0", "convert_{T}($0 != ({T0})(0))"}, {v});
    }
    bool narrows_float = from.is_float() && !t.is_float() && t.bits() < 32;
    Form form{"({T})$0", "convert_{T}($0)"};
    if (from.is_bool()) {
        form.vector = "convert_{T}(-$0)";
    } else if (narrows_float) {
        // A float beyond the type, a negative one for instance, goes by way of int.
        form = {"({T})(int)$0", "convert_{T}(convert_{I}($0))"};
    }
    return apply(t, form, {v});
}

// By way of float, which must not round twice.
DeviceValue DeviceWriter::small_float_cast(Type t, const DeviceValue &v) {
    Type from = v.type, real = Float(32, from.lanes());
    if (is_bits(from)) {
        const char *text = from.is_bfloat() ? "{from_bfloat}($0)" : "{from_half}($0)";
        return cast(t, apply(real, {text, nullptr}, {v}));
    }
    if (from.bits() >= 32 && from.element_of() != Float(32)) {
        return cast(t, apply(real, {"{odd_float:0}($0)", nullptr}, {v}));
    }
    const char *text = t.is_bfloat() ? "{to_bfloat}($0)" : "{to_half}($0)";
    return apply(t, {text, nullptr}, {cast(real, v)});
}

DeviceValue DeviceWriter::emit_node(const Reinterpret *op) {
    Type t = op->type, from = op->value.type();
    if (t.lanes() == from.lanes()) {
        return reinterpret(t, emit(op->value));
    }
    // Lanes as unsigned integers, put together or taken apart.
    Expr bits = named(Reinterpret::make(UInt(from.bits(), from.lanes()), op->value));
    Type u = UInt(t.bits());
    std::vector<Expr> lanes;
    for (int i = 0; i < t.lanes(); i++) {
        if (t.bits() > from.bits()) {
            int factor = t.bits() / from.bits();
            std::vector<Expr> some;
            for (int k = 0; k < factor; k++) {
                some.push_back(named(Shuffle::make_extract_element(bits, i * factor + k)));
            }
            lanes.push_back(Call::make(u, Intrinsic::concat_bits, some));
            continue;
        }
        int factor = from.bits() / t.bits();
        Expr whole = Shuffle::make_extract_element(bits, i / factor);
        Expr by = make_const(whole.type(), i % factor * t.bits());
        Expr part = Call::make(whole.type(), Intrinsic::shift_right, {whole, by});
        lanes.push_back(t.is_bool() ? Call::make(part.type(), Intrinsic::bitwise_and,
                                                 {part, make_one(part.type())})
                                    : part);
        lanes.back() = Cast::make(u, lanes.back());
    }
    return emit(Reinterpret::make(t, lanes.size() == 1 ? lanes[0] : Shuffle::make_concat(lanes)));
}

DeviceValue DeviceWriter::reinterpret(Type t, const DeviceValue &v) {
    Type to = register_type(t), from = register_type(v.type);
    if (to == from) {
        return {t, v.parts};
    }
    if (file_.dialect == Dialect::OpenCL) {
        return apply(t, {"as_{T}($0)", "as_{T}($0)"}, {v});
    }
    std::string text = "({T})$0";
    if (from.is_float()) {
        text = "({T})" + word(from.bits() == 64 ? Word::double_to_bits : Word::float_to_bits, "$0");
    } else if (to.is_float()) {
        text = word(to.bits() == 64 ? Word::double_from_bits : Word::float_from_bits, "$0");
    }
    return apply(t, {text.c_str(), nullptr}, {v});
}

namespace {

Expr combine(VectorReduce::Operator op, const Expr &a, const Expr &b) {
    switch (op) {
    case VectorReduce::Add:
        return Add::make(a, b);
    case VectorReduce::Mul:
        return Mul::make(a, b);
    case VectorReduce::Min:
        return Min::make(a, b);
    case VectorReduce::Max:
        return Max::make(a, b);
    case VectorReduce::And:
        return And::make(a, b);
    case VectorReduce::Or:
        return Or::make(a, b);
    case VectorReduce::SaturatingAdd:
        return a.type().is_bool() ? Or::make(a, b)
                                  : Call::make(a.type(), Intrinsic::saturating_add, {a, b});
    }
    internal_error << "an unknown reduction";
}

}  // namespace

// Halves of groups are combined as long as the order does not matter, then lane by lane.
DeviceValue DeviceWriter::emit_node(const VectorReduce *op) {
    Type from = op->value.type(), t = op->type;
    Expr v = named(op->value);
    int factor = from.lanes() / t.lanes();
    bool any_order = !from.is_float() && op->op != VectorReduce::SaturatingAdd;
    for (; any_order && factor % 2 == 0; factor /= 2) {
        int half = v.type().lanes() / 2;
        Expr even = named(Shuffle::make_slice(v, 0, 2, half));
        v = named(combine(op->op, even, Shuffle::make_slice(v, 1, 2, half)));
    }
    if (factor == 1) {
        return emit(v);
    }
    std::vector<Expr> lanes;
    for (int i = 0; i < t.lanes(); i++) {
        Expr sum = Shuffle::make_extract_element(v, i * factor);
        for (int k = 1; k < factor; k++) {
            sum = named(
                combine(op->op, named(sum), Shuffle::make_extract_element(v, i * factor + k)));
        }
        lanes.push_back(sum);
    }
    return emit(lanes.size() == 1 ? lanes[0] : Shuffle::make_concat(lanes));
}

DeviceValue DeviceWriter::emit_node(const Call *op) {
    switch (op->call_type) {
    case CallKind::Intrinsic:
        return emit_intrinsic(op);
    case CallKind::Extern:
    case CallKind::PureExtern: {
        auto linked = file_.linked->functions.find(op->name);
        return linked == file_.linked->functions.end() ? extern_call(op)
                                                       : linked_call(op, linked->second);
    }
    default:
        user_error << where() << " calls " << op->name
                   << ", which has no C linkage: on a device only such functions can be called";
    }
}

// A function of the device, linked in later.
DeviceValue DeviceWriter::extern_call(const Call *op) {
    Texts types;
    std::vector<DeviceValue> values;
    std::string call = op->name + "(";
    for (size_t i = 0; i < op->args.size(); i++) {
        types.push_back(type_name(op->args[i].type().element_of()));
        values.push_back(emit(op->args[i]));
        call += (i > 0 ? ", $" : "$") + std::to_string(i);
    }
    user_assert(op->args.size() <= 10)
        << where() << " calls " << op->name << " with " << op->args.size()
        << " arguments; a function of the device has at most 10";
    file_.externs[op->name] = word(Word::prototype) + type_name(op->type.element_of()) + " " +
                              op->name + "(" + join(types, ", ") + ");";
    return atom(apply(op->type, {(call + ")").c_str(), nullptr}, values));
}

}  // namespace calotype::internal
