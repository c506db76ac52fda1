// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cmath>
#include <iomanip>

#include "codegen/c/c_writer.h"
#include "codegen/symbol_name.h"
#include "ir/constants.h"
#include "ir/conventions/names.h"
#include "ir/printer.h"
#include "ir/walk/field_walk.h"
#include "legalize/legalize.h"
#include "support/error.h"
#include "support/text.h"

namespace calotype::internal {

using Texts = std::vector<std::string>;

std::string CWriter::type_name(Type t) {
    std::string scalar;
    if (t.is_handle()) {
        scalar = "void *";
    } else if (is_small_float(t)) {
        scalar = "uint16_t";
    } else {
        scalar = c_type_name(t.element_of());
    }
    return t.is_scalar() ? scalar : "ct_vec<" + scalar + ", " + std::to_string(t.lanes()) + ">";
}

std::string CWriter::parameter_type_name(Type t) {
    return t.is_handle() ? c_type_name(t.element_of()) : type_name(t.element_of());
}

std::string CWriter::fresh(const std::string &prefix) {
    return prefix + std::to_string(file_.next_name++);
}

void CWriter::line(const std::string &text) {
    out_ << std::string(size_t(indent_) * 4, ' ') << text << "\n";
}

void CWriter::open(const std::string &head) {
    line(head + " {");
    indent_++;
}

void CWriter::close() {
    indent_--;
    line("}");
}

std::string CWriter::define(Type t, const std::string &value) {
    std::string name = fresh("t");
    std::string type = type_name(t);
    line((t.is_handle() && t.is_scalar() ? type + "const " : "const " + type + " ") + name + " = " +
         value + ";");
    return name;
}

std::string CWriter::map(Type t, const std::vector<Expr> &operands,
                         const std::function<std::string(const Texts &)> &scalar) {
    Texts texts;
    for (const Expr &e : operands) {
        std::string text = emit(e);
        texts.push_back(e.type().is_vector() ? text + "[i]" : text);
    }
    std::string value = scalar(texts);
    if (t.is_scalar()) {
        return define(t, value);
    }
    return define(t, "ct_map<" + type_name(t.element_of()) + ", " + std::to_string(t.lanes()) +
                         ">([&](int i) { return " + value + "; })");
}

std::string CWriter::emit(const Expr &e) {
    internal_assert(e.defined()) << "undefined expression in a lowered module";
    return dispatch(e.get(), [this](const auto *op) { return emit_node(op); });
}

std::string CWriter::emit_node(const IntImm *op) {
    if (op->value == INT64_MIN) {
        return "INT64_MIN";
    }
    std::string text = std::to_string(op->value);
    return op->type.bits() == 64 ? "INT64_C(" + text + ")" : type_name(op->type) + "(" + text + ")";
}

std::string CWriter::emit_node(const UIntImm *op) {
    if (op->type.is_bool()) {
        return op->value ? "true" : "false";
    }
    return type_name(op->type) + "(" + std::to_string(op->value) + "u" +
           (op->type.bits() == 64 ? "ll)" : ")");
}

std::string CWriter::emit_node(const FloatImm *op) {
    if (is_small_float(op->type)) {
        uint16_t bits =
            op->type.is_bfloat() ? bfloat16_t(op->value).to_bits() : float16_t(op->value).to_bits();
        return "uint16_t(" + std::to_string(bits) + "u)";
    }
    std::string type = type_name(op->type);
    if (std::isnan(op->value)) {
        return type + "(NAN)";
    }
    if (std::isinf(op->value)) {
        return type + (op->value < 0 ? "(-INFINITY)" : "(INFINITY)");
    }
    std::ostringstream text;
    text << std::hexfloat << op->value;
    return type + "(" + text.str() + ")";
}

std::string CWriter::emit_node(const StringImm *op) {
    std::ostringstream text;
    text << "(char *)\"";
    for (unsigned char c : op->value) {
        if (c < 32 || c > 126 || c == '"' || c == '\\' || c == '?') {
            text << '\\' << std::oct << std::setw(3) << std::setfill('0') << int(c) << std::dec;
        } else {
            text << char(c);
        }
    }
    text << "\"";
    return text.str();
}

std::string CWriter::user_context() {
    const Name *bound = symbols_.find(names::user_context);
    return bound ? bound->text : "((void *)nullptr)";
}

std::string CWriter::emit_node(const Variable *op) {
    if (const Name *bound = symbols_.find(op->name)) {
        return bound->text;
    }
    internal_assert(op->name == names::user_context) << "variable not in scope: " << op->name;
    return user_context();
}

std::string CWriter::emit_node(const Let *op) {
    ScopedBinding<Name> binding(symbols_, op->name, Name{emit(op->value), op->value.type()});
    return emit(op->body);
}

std::string CWriter::emit_node(const Cast *op) {
    Type from = op->value.type(), to = op->type;
    return map(to, {op->value}, [&](const Texts &a) {
        std::string v = a[0];
        if (is_small_float(from)) {
            v = (from.is_bfloat() ? "ct_bfloat_to_float(" : "ct_half_to_float(") + v + ")";
        }
        if (is_small_float(to)) {
            return (to.is_bfloat() ? "ct_float_to_bfloat(double(" : "ct_float_to_half(double(") +
                   v + "))";
        }
        if (to.is_bool()) {
            return "(" + v + " != 0)";
        }
        // A float beyond the type's range, a negative one for instance, goes by way of a wider
        // integer.
        std::string wide = from.is_float() && to.bits() < 32 && !to.is_float() ? "(int32_t)" : "";
        return "(" + type_name(to.element_of()) + ")" + wide + "(" + v + ")";
    });
}

std::string CWriter::emit_node(const Reinterpret *op) {
    std::string v = emit(op->value);
    std::string name = fresh("t");
    line("const auto " + name + "_bits = " + v + ";");
    return define(op->type, "ct_bits<" + type_name(op->type) + ">(" + name + "_bits)");
}

// Integers wrap: they are added, subtracted and multiplied as unsigned of at least 32 bits.
template<typename Op>
std::string CWriter::arithmetic(const Op *op, const char *symbol) {
    Type t = op->type;
    return map(t, {op->a, op->b}, [&](const Texts &a) {
        if (t.is_float()) {
            return "(" + a[0] + " " + symbol + " " + a[1] + ")";
        }
        std::string u = t.bits() == 64 ? "(uint64_t)" : "(uint32_t)";
        return "(" + type_name(t.element_of()) + ")(" + u + a[0] + " " + symbol + " " + u + a[1] +
               ")";
    });
}

std::string CWriter::emit_node(const Add *op) {
    return arithmetic(op, "+");
}
std::string CWriter::emit_node(const Sub *op) {
    return arithmetic(op, "-");
}
std::string CWriter::emit_node(const Mul *op) {
    return arithmetic(op, "*");
}

std::string CWriter::emit_node(const Div *op) {
    return map(op->type, {op->a, op->b},
               [](const Texts &a) { return "ct_div(" + a[0] + ", " + a[1] + ")"; });
}

std::string CWriter::emit_node(const Mod *op) {
    return map(op->type, {op->a, op->b},
               [](const Texts &a) { return "ct_mod(" + a[0] + ", " + a[1] + ")"; });
}

std::string CWriter::emit_node(const Min *op) {
    return map(op->type, {op->a, op->b}, [](const Texts &a) {
        return "(" + a[0] + " < " + a[1] + " ? " + a[0] + " : " + a[1] + ")";
    });
}

std::string CWriter::emit_node(const Max *op) {
    return map(op->type, {op->a, op->b}, [](const Texts &a) {
        return "(" + a[0] + " > " + a[1] + " ? " + a[0] + " : " + a[1] + ")";
    });
}

template<typename Op>
std::string CWriter::comparison(const Op *op, const char *symbol) {
    return map(op->type, {op->a, op->b},
               [&](const Texts &t) { return "(" + t[0] + " " + symbol + " " + t[1] + ")"; });
}

#define COMPARE(Name, symbol)                                                                      \
    std::string CWriter::emit_node(const Name *op) {                                               \
        return comparison(op, symbol);                                                             \
    }
#define LOGIC(Name, symbol) COMPARE(Name, symbol)
#include "ir/nodes.def"

std::string CWriter::emit_node(const Not *op) {
    return map(op->type, {op->a}, [](const Texts &a) { return "(!" + a[0] + ")"; });
}

std::string CWriter::emit_node(const Select *op) {
    return map(op->type, {op->condition, op->true_value, op->false_value},
               [](const Texts &a) { return "(" + a[0] + " ? " + a[1] + " : " + a[2] + ")"; });
}

std::string CWriter::emit_node(const Load *op) {
    std::string element = type_name(op->type.element_of());
    const Name *buffer = symbols_.find(op->name);
    internal_assert(buffer) << "buffer not in scope: " << op->name;
    std::string pointer = "static_cast<const " + element + " *>(" + buffer->text + ")";
    const Ramp *ramp = op->index.as<Ramp>();
    bool always = is_trivially_true(op->predicate);
    if (op->type.is_handle()) {
        pointer = "static_cast<void **>(" + buffer->text + ")";
    }
    if (ramp && ramp->base.type().is_scalar() && is_const_one(ramp->stride) && always &&
        !op->type.is_handle()) {
        return define(op->type, "ct_load<" + element + ", " + std::to_string(op->type.lanes()) +
                                    ">(" + buffer->text + ", " + emit(ramp->base) + ")");
    }
    std::vector<Expr> operands = {op->index};
    if (!always) {
        operands.push_back(op->predicate);
    }
    return map(op->type, operands, [&](const Texts &a) {
        std::string value = pointer + "[" + a[0] + "]";
        return always ? value : "(" + a[1] + " ? " + value + " : " + element + "())";
    });
}

std::string CWriter::emit_node(const Ramp *op) {
    Type t = op->base.type();
    std::string base = emit(op->base), stride = emit(op->stride),
                element = type_name(t.element_of());
    std::string lane = t.is_scalar() ? "" : "[i % " + std::to_string(t.lanes()) + "]";
    std::string step = t.is_scalar() ? "i" : "(i / " + std::to_string(t.lanes()) + ")";
    return define(op->type, "ct_map<" + element + ", " + std::to_string(op->type.lanes()) +
                                ">([&](int i) { return " + element + "(" + base + lane + " + " +
                                stride + lane + " * " + step + "); })");
}

std::string CWriter::emit_node(const Broadcast *op) {
    Type t = op->value.type();
    std::string v = emit(op->value);
    std::string lane = t.is_scalar() ? "" : "[i % " + std::to_string(t.lanes()) + "]";
    return define(op->type, "ct_map<" + type_name(t.element_of()) + ", " +
                                std::to_string(op->type.lanes()) + ">([&](int i) { return " + v +
                                lane + "; })");
}

std::string CWriter::emit_node(const Shuffle *op) {
    Texts lanes;
    for (const Expr &v : op->vectors) {
        std::string text = emit(v);
        if (v.type().is_scalar()) {
            lanes.push_back(text);
        }
        for (int i = 0; v.type().is_vector() && i < v.type().lanes(); i++) {
            lanes.push_back(text + "[" + std::to_string(i) + "]");
        }
    }
    if (op->type.is_scalar()) {
        return lanes[size_t(op->indices[0])];
    }
    std::string list;
    for (int i : op->indices) {
        list += (list.empty() ? "" : ", ") + (i < 0 ? lanes[0] : lanes[size_t(i)]);
    }
    return define(op->type, "{{" + list + "}}");
}

std::string CWriter::emit_node(const VectorReduce *op) {
    Type from = op->value.type(), element = from.element_of();
    std::string v = emit(op->value), type = type_name(element),
                factor = std::to_string(from.lanes() / op->type.lanes());
    static const char *const combine[] = {"a + b",         "ct_saturate<T>(__int128(a) + b)",
                                          "a * b",         "b < a ? b : a",
                                          "a < b ? b : a", "a && b",
                                          "a || b"};
    std::string step = combine[op->op];
    if (op->op == VectorReduce::SaturatingAdd && element.is_float()) {
        step = "a + b";
    } else if (op->op == VectorReduce::Add && element.is_bool()) {
        step = "a != b";  // modulo 2
    } else if (op->op == VectorReduce::Mul && element.is_uint() && element.bits() == 16) {
        step = "1u * a * b";  // C multiplies those as int, which would overflow
    }
    std::string group = "[&](int i) { using T = " + type + "; T a = " + v + "[i * " + factor +
                        "]; for (int k = 1; k < " + factor + "; k++) { const T b = " + v + "[i * " +
                        factor + " + k]; a = T(" + step + "); } return a; }";
    if (op->type.is_scalar()) {
        return define(op->type, "(" + group + ")(0)");
    }
    return define(op->type,
                  "ct_map<" + type + ", " + std::to_string(op->type.lanes()) + ">(" + group + ")");
}

std::string CWriter::emit_node(const Call *op) {
    switch (op->call_type) {
    case CallKind::Intrinsic:
        return emit_intrinsic(op);
    case CallKind::Extern:
    case CallKind::PureExtern:
    case CallKind::ExternCPlusPlus:
        return extern_call(op);
    default:
        internal_error << "call of " << op->name << " in a lowered module";
    }
}

// A C++ function is declared in its namespaces, with the types by which its symbol is mangled.
// Overloads have a declaration each.
std::string CWriter::declare_cpp_function(const Call *op) {
    const std::vector<std::string> parts = name_parts(op->name);
    std::string classes = class_declaration(op->type), parameters;
    for (const Expr &a : op->args) {
        classes += class_declaration(a.type());
        parameters += (parameters.empty() ? "" : ", ") + parameter_type_name(a.type());
    }
    const std::string prototype = in_namespaces(parts, parameter_type_name(op->type) + " " +
                                                           parts.back() + "(" + parameters + ");");
    file_.cpp_functions.insert(classes + prototype);
    return "::" + join(parts, "::");
}

std::string CWriter::declare_c_function(const Call *op) {
    std::string prototype = type_name(op->type.element_of()) + " " + op->name + "(";
    for (size_t i = 0; i < op->args.size(); i++) {
        prototype += (i > 0 ? ", " : "") + type_name(op->args[i].type().element_of());
    }
    if (!file_.module.find_function(op->name)) {
        file_.externs.emplace(op->name, prototype + ");");
    }
    return op->name;
}

std::string CWriter::extern_call(const Call *op) {
    const bool is_cpp = op->call_type == CallKind::ExternCPlusPlus;
    const std::string function = is_cpp ? declare_cpp_function(op) : declare_c_function(op);
    return map(op->type, op->args, [&](const Texts &a) {
        std::string text;
        for (size_t i = 0; i < a.size(); i++) {
            const Type t = op->args[i].type();
            const std::string cast =
                is_cpp && t.is_handle() ? "(" + parameter_type_name(t) + ")" : "";
            text += (i > 0 ? ", " : "") + cast + a[i];
        }
        text = function + "(" + text + ")";
        return is_cpp && op->type.is_handle() ? "(void *)" + text : text;
    });
}

}  // namespace calotype::internal
