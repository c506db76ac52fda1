// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Intrinsics in C++: most are one expression a lane (scalar_forms.def), the others have a function
// here.
#include <map>

#include "codegen/c/c_writer.h"
#include "codegen/pointee.h"
#include "codegen/text_room.h"
#include "ir/constants.h"
#include "legalize/legalize.h"
#include "support/error.h"
#include "support/text.h"

namespace calotype::internal {

using Texts = std::vector<std::string>;

namespace {

const std::map<Intrinsic, const char *> &scalar_forms() {
    static const std::map<Intrinsic, const char *> forms = {
#define FORM(intrinsic, text) {Intrinsic::intrinsic, text},
#include "codegen/c/scalar_forms.def"
    };
    return forms;
}

/// A format and arguments for printf.
struct Format {
    std::string text, args;
    size_t room = 1;

    void add(CWriter &w, const Expr &e) {
        if (const StringImm *s = e.as<StringImm>()) {
            text += replace_all(s->value, "%", "%%");
            room += s->value.size();
            return;
        }
        std::string value = w.emit(e);
        Type t = e.type().element_of();
        text += e.type().is_vector() ? "<" : "";
        for (int i = 0; i < e.type().lanes(); i++) {
            std::string lane = e.type().is_vector() ? value + "[" + std::to_string(i) + "]" : value;
            text += i > 0 ? ", " : "";
            bool is_text = points_to<char>(t);
            text += t.is_handle()  ? (is_text ? "%s" : "%p")
                    : t.is_float() ? (t.bits() == 64 ? "%e" : "%f")
                    : t.is_bool()  ? "%s"
                    : t.is_int()   ? "%lld"
                                   : "%llu";
            if (is_small_float(t)) {
                lane = (t.is_bfloat() ? "ct_bfloat_to_float(" : "ct_half_to_float(") + lane + ")";
            }
            args += ", " + (t.is_handle()  ? lane
                            : t.is_float() ? "double(" + lane + ")"
                            : t.is_bool()  ? "((" + lane + ") ? \"true\" : \"false\")"
                            : t.is_int()   ? "(long long)(" + lane + ")"
                                           : "(unsigned long long)(" + lane + ")");
            room += is_text ? 256 : 64;
        }
        text += e.type().is_vector() ? ">" : "";
        room += 2 + 2 * size_t(e.type().lanes());
    }

    std::string finish(CWriter &w) {
        std::string buffer = w.fresh("text");
        w.line("char " + buffer + "[" + std::to_string(text_room(room)) + "];");
        w.line("snprintf(" + buffer + ", sizeof(" + buffer + "), " + w.emit(StringImm::make(text)) +
               args + ");");
        return "(void *)" + buffer;
    }
};

void print_line(CWriter &w, const std::vector<Expr> &args, size_t first) {
    Format format;
    for (size_t i = first; i < args.size(); i++) {
        format.add(w, args[i]);
        format.add(w, StringImm::make(i + 1 < args.size() ? " " : "\n"));
    }
    w.line("calotype_print(" + w.user_context() + ", (const char *)" + format.finish(w) + ");");
}

std::string emit_abs(CWriter &w, const Call *op) {
    Type from = op->args[0].type();
    return w.map(op->type, op->args, [&](const Texts &a) {
        std::string t = CWriter::type_name(op->type.element_of());
        if (from.is_float()) {
            return t + "(fabs(" + a[0] + "))";
        }
        return from.is_int() ? "(" + a[0] + " < 0 ? " + t + "(0 - " + t + "(" + a[0] + ")) : " + t +
                                   "(" + a[0] + "))"
                             : a[0];
    });
}

std::string emit_if_then_else(CWriter &w, const Call *op) {
    if (op->args[0].type().is_vector()) {
        Expr no = op->args.size() > 2 ? op->args[2] : make_zero(op->type);
        return w.emit(Select::make(op->args[0], op->args[1], no));
    }
    std::string name = w.fresh("t"), type = CWriter::type_name(op->type);
    w.line(type + (type.back() == '*' ? "" : " ") + name + "{};");
    w.open("if (" + w.emit(op->args[0]) + ")");
    w.line(name + " = " + w.emit(op->args[1]) + ";");
    w.close();
    if (op->args.size() > 2) {
        w.open("else");
        w.line(name + " = " + w.emit(op->args[2]) + ";");
        w.close();
    }
    return name;
}

std::string emit_make_struct(CWriter &w, const Call *op) {
    if (op->args.empty()) {
        return "((void *)nullptr)";
    }
    std::string members, values, name = w.fresh("s");
    for (size_t i = 0; i < op->args.size(); i++) {
        values += (i > 0 ? ", " : "") + w.emit(op->args[i]);
        members += CWriter::type_name(op->args[i].type()) + " m" + std::to_string(i) + "; ";
    }
    w.line("struct { " + members + "} " + name + " = {" + values + "};");
    return "((void *)&" + name + ")";
}

std::string emit_trace(CWriter &w, const Call *op) {
    Texts a;
    for (const Expr &e : op->args) {
        a.push_back(w.emit(e));
    }
    w.file().externs.emplace("calotype_trace", "int32_t calotype_trace(void *, const void *);");
    std::string name = w.fresh("event");
    w.line("struct { const void *func, *value, *coordinates, *tag; calotype_type_t type; int32_t "
           "event, parent, "
           "value_index, dimensions, lanes, thread_id; } " +
           name + " = {" + a[0] + ", (const void *)" + a[1] + ", (const void *)" + a[2] + ", " +
           a[10] + ", {uint8_t(" + a[3] + "), uint8_t(" + a[4] + "), uint16_t(" + a[5] + ")}, " +
           a[6] + ", " + a[7] + ", " + a[8] + ", " + a[9] + ", " + a[5] + ", " + a[11] + "};");
    return w.define(Int(32), "calotype_trace(" + w.user_context() + ", &" + name + ")");
}

std::string emit_alloca(CWriter &w, const Call *op) {
    std::string bytes;
    if (const Call *size = Call::as_intrinsic(op->args[0], Intrinsic::size_of_buffer)) {
        bytes =
            "sizeof(calotype_buffer_t) + sizeof(calotype_dimension_t) * " + w.emit(size->args[0]);
    } else {
        bytes = w.emit(op->args[0]);
    }
    std::string name = w.fresh("frame");
    w.line("alignas(16) uint8_t " + name + "[" + bytes + "];");
    return "((void *)" + name + ")";
}

std::string emit_register_destructor(CWriter &w, const Call *op) {
    std::string name = op->args[0].as<StringImm>()->value;
    w.file().externs.emplace(name, "void " + name + "(void *, void *);");
    w.line("ct_guard " + w.fresh("guard") + " = {" + w.user_context() + ", " + w.emit(op->args[1]) +
           ", " + name + "};");
    return "0";
}

std::string emit_require(CWriter &w, const Call *op) {
    w.open("if (!" + w.emit(op->args[0]) + ")");
    w.line("return " + w.emit(op->args[2]) + ";");
    w.close();
    return w.emit(op->args[1]);
}

/// The arguments, the value of the call evaluated first and given by name.
std::vector<Expr> with_named_value(CWriter &w, const Call *op, size_t index) {
    std::vector<Expr> args = op->args;
    if (!args[index].as<StringImm>()) {
        std::string name = w.emit(args[index]);
        w.bind(name, name, args[index].type());
        args[index] = Variable::make(args[index].type(), name);
    }
    return args;
}

std::string emit_print(CWriter &w, const Call *op) {
    std::vector<Expr> args = with_named_value(w, op, 0);
    print_line(w, args, 0);
    return w.emit(args[0]);
}

std::string emit_print_when(CWriter &w, const Call *op) {
    std::vector<Expr> args = with_named_value(w, op, 1);
    w.open("if (" + w.emit(args[0]) + ")");
    print_line(w, args, 1);
    w.close();
    return w.emit(args[1]);
}

std::string emit_stringify(CWriter &w, const Call *op) {
    Format format;
    for (const Expr &e : op->args) {
        format.add(w, e);
    }
    return format.finish(w);
}

// Stores are plain ones.
std::string emit_stream_store_fence(CWriter &, const Call *) {
    return "0";
}

std::string emit_prefetch(CWriter &w, const Call *op) {
    const Type element = op->type.element_of();
    const bool is_sized = element.bits() > 0 && !element.is_handle();
    std::string address = "(const uint8_t *)" + w.emit(op->args[0]);
    if (op->args.size() > 1) {
        address += " + int64_t(" + w.emit(op->args[1]) + ") * " +
                   std::to_string(is_sized ? element.bytes() : 1);
    }
    w.line("__builtin_prefetch(" + address + ");");
    return CWriter::type_name(op->type) + "()";
}

std::string emit_size_of_buffer(CWriter &w, const Call *op) {
    return w.define(op->type, "sizeof(calotype_buffer_t) + sizeof(calotype_dimension_t) * " +
                                  w.emit(op->args[0]));
}

using Writer = std::string (*)(CWriter &, const Call *);
const std::map<Intrinsic, Writer> &special_forms() {
    static const std::map<Intrinsic, Writer> forms = {
        {Intrinsic::abs, emit_abs},
        {Intrinsic::if_then_else, emit_if_then_else},
        {Intrinsic::make_struct, emit_make_struct},
        {Intrinsic::trace, emit_trace},
        {Intrinsic::alloca, emit_alloca},
        {Intrinsic::register_destructor, emit_register_destructor},
        {Intrinsic::require, emit_require},
        {Intrinsic::print, emit_print},
        {Intrinsic::print_when, emit_print_when},
        {Intrinsic::stringify, emit_stringify},
        {Intrinsic::prefetch, emit_prefetch},
        {Intrinsic::stream_store_fence, emit_stream_store_fence},
        {Intrinsic::size_of_buffer, emit_size_of_buffer},
    };
    return forms;
}

}  // namespace

// Integers alone have operators for bits.
Capabilities CWriter::capabilities() {
    Capabilities can;
    can.has_small_float_operation = [](NodeKind, Type) {
        return false;
    };
    can.has_intrinsic = [](const Call *op) {
        const bool is_bitwise =
            op->is_intrinsic(Intrinsic::bitwise_and) || op->is_intrinsic(Intrinsic::bitwise_or) ||
            op->is_intrinsic(Intrinsic::bitwise_xor) || op->is_intrinsic(Intrinsic::bitwise_not);
        return special_forms().count(op->intrinsic) ||
               (scalar_forms().count(op->intrinsic) &&
                (!is_bitwise || (op->type.is_int_or_uint() && !op->type.is_bool())));
    };
    return can;
}

std::string CWriter::emit_intrinsic(const Call *op) {
    auto special = special_forms().find(op->intrinsic);
    if (special != special_forms().end()) {
        return special->second(*this, op);
    }
    auto form = scalar_forms().find(op->intrinsic);
    user_assert(form != scalar_forms().end())
        << op->name << " cannot be written as C++ source; choose another output";
    std::string type = type_name(op->type.element_of());
    std::string bits = std::to_string(op->args.empty() ? 0 : op->args[0].type().bits());
    return map(op->type, op->args, [&](const Texts &a) {
        std::string text;
        for (const char *p = form->second; *p; p++) {
            bool word =
                p == form->second || !(isalnum(static_cast<unsigned char>(p[-1])) || p[-1] == '_');
            if (*p == '$' && p[1] == 'n') {
                text += bits;
                p++;
            } else if (*p == '$') {
                text += a.at(size_t(p[1] - '0'));
                p++;
            } else if (*p == 'T' && word &&
                       !(isalnum(static_cast<unsigned char>(p[1])) || p[1] == '_')) {
                text += op->type.is_handle() ? "(void *)" : type;
            } else {
                text += *p;
            }
        }
        return text;
    });
}

}  // namespace calotype::internal
