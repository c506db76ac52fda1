// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names, types, and the filling in of forms.
#include "codegen/opencl/device_writer.h"

#include <cctype>

#include "codegen/symbol_name.h"
#include "ir/constants.h"
#include "support/error.h"
#include "support/text.h"

namespace calotype::internal {

std::string DeviceWriter::where() const {
    return "kernel " + kernel_.name;
}

void DeviceWriter::line(const std::string &text) {
    out_ << std::string(size_t(indent_) * 4, ' ') << text << "\n";
}

void DeviceWriter::open(const std::string &head) {
    line(head + " {");
    indent_++;
}

void DeviceWriter::close() {
    indent_--;
    line("}");
}

// The IR's name where it can stand, else with a number behind it.
std::string DeviceWriter::fresh(const std::string &name) {
    std::string base = c_identifier(name), candidate = base;
    for (int i = 1; is_reserved(candidate) || !names_.insert(candidate).second; i++) {
        candidate = base + "_" + std::to_string(i);
    }
    return candidate;
}

std::string DeviceWriter::temporary() {
    std::string name;
    do {
        name = "t" + std::to_string(temporaries_++);
    } while (!names_.insert(name).second);
    return name;
}

bool DeviceWriter::is_bits(Type t) const {
    bool native = file_.dialect == Dialect::OpenCL && !t.is_bfloat() &&
                  file_.target.has_feature(Target::CLHalf);
    return t.is_float() && t.bits() == 16 && !native;
}

Type DeviceWriter::register_type(Type t) const {
    return t.is_bool() && t.is_vector() ? Int(8, t.lanes())
           : is_bits(t)                 ? UInt(16, t.lanes())
           : t.is_handle()              ? UInt(64, t.lanes())
                                        : t;
}

void DeviceWriter::check_type(Type t) {
    if (file_.dialect != Dialect::OpenCL || !t.is_float() || is_bits(t)) {
        return;
    }
    if (t.bits() == 64) {
        user_assert(file_.target.has_feature(Target::CLDoubles))
            << where() << " uses float64, which OpenCL devices need not have: add the target "
            << "feature cl_doubles, or compute in float32";
        file_.extensions.insert("cl_khr_fp64");
    } else if (t.bits() == 16) {
        file_.extensions.insert("cl_khr_fp16");
    }
}

std::string DeviceWriter::type_name(Type t) {
    Type r = register_type(t);
    check_type(r);
    std::string name = scalar_type_name(file_.dialect, r.element_of());
    return r.is_scalar() ? name : name + std::to_string(r.lanes());
}

namespace {

/// A name or a number, maybe cast: it may be written several times.
bool is_simple(const std::string &text) {
    for (size_t i = 0; i < text.size(); i++) {
        bool called =
            text[i] == '(' && i > 0 && (isalnum(uint8_t(text[i - 1])) || text[i - 1] == '_');
        if (text[i] == ' ' || called) {
            return false;
        }
    }
    return true;
}

size_t uses_of_operand(const char *form, size_t i) {
    size_t count = 0;
    for (const char *p = form; *p; p++) {
        count += *p == '$' && size_t(p[1] - '0') == i ? 1 : 0;
    }
    return count;
}

constexpr size_t longest_expression = 80;

}  // namespace

std::string bare(const std::string &text) {
    int depth = 0;
    for (size_t i = 0; i + 1 < text.size(); i++) {
        depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
        if (depth == 0) {
            return text;
        }
    }
    return text.size() > 2 ? text.substr(1, text.size() - 2) : text;
}

DeviceValue DeviceWriter::atom(const DeviceValue &v) {
    bool simple = true;
    for (const std::string &part : v.parts) {
        simple &= is_simple(part);
    }
    return simple ? v : define(v.type, v.parts);
}

DeviceValue DeviceWriter::define(Type t, const Texts &parts, const std::string &name) {
    DeviceValue v{t, {}};
    std::vector<int> widths = part_widths(file_.dialect, t.lanes());
    internal_assert(widths.size() == parts.size()) << "a value of another number of parts";
    for (size_t p = 0; p < parts.size(); p++) {
        std::string part = name.empty() ? temporary() : fresh(name);
        line("const " + type_name(t.with_lanes(widths[p])) + " " + part + " = " + bare(parts[p]) +
             ";");
        v.parts.push_back(part);
    }
    return v;
}

DeviceValue DeviceWriter::declare(Type t) {
    DeviceValue v{t, {}};
    for (int width : part_widths(file_.dialect, t.lanes())) {
        v.parts.push_back(temporary());
        line(type_name(t.with_lanes(width)) + " " + v.parts.back() + ";");
    }
    return v;
}

void DeviceWriter::assign(const DeviceValue &to, const DeviceValue &from) {
    for (size_t p = 0; p < to.parts.size(); p++) {
        line(to.parts[p] + " = " + from.parts[p] + ";");
    }
}

std::string DeviceWriter::lane(const DeviceValue &v, int i) const {
    std::vector<int> widths = part_widths(file_.dialect, v.type.lanes());
    size_t p = 0;
    while (i >= widths[p]) {
        i -= widths[p++];
    }
    if (widths[p] == 1) {
        return v.parts[p];
    }
    std::string text = v.parts[p] + ".s" + "0123456789abcdef"[i];
    return v.type.is_bool() ? "(" + text + " != 0)" : text;
}

DeviceValue DeviceWriter::from_lanes(Type t, const Texts &lanes) {
    DeviceValue v{t, {}};
    size_t next = 0;
    for (int width : part_widths(file_.dialect, t.lanes())) {
        if (width == 1) {
            v.parts.push_back(lanes[next++]);
            continue;
        }
        std::string list;
        for (int i = 0; i < width; i++, next++) {
            list += (i > 0 ? ", " : "") +
                    (t.is_bool() ? "(" + lanes[next] + " ? -1 : 0)" : lanes[next]);
        }
        v.parts.push_back("((" + type_name(t.with_lanes(width)) + ")(" + list + "))");
    }
    return v;
}

std::string DeviceWriter::splat(Type part, const std::string &scalar) {
    if (part.is_scalar()) {
        return scalar;
    }
    return "((" + type_name(part) + ")(" + (part.is_bool() ? scalar + " ? -1 : 0" : scalar) + "))";
}

// Scalars are written within the expression that they are in, as long as that is not too long.
DeviceValue DeviceWriter::apply(Type t, const Form &form, std::vector<DeviceValue> operands) {
    Texts parts;
    for (size_t i = 0; i < operands.size(); i++) {
        bool once = t.is_scalar() && uses_of_operand(form.scalar, i) == 1;
        operands[i] = once ? operands[i] : atom(operands[i]);
    }
    int first = 0;
    std::vector<int> widths = part_widths(file_.dialect, t.lanes());
    for (size_t p = 0; p < widths.size(); first += widths[p++]) {
        int width = widths[p];
        bool whole = width == 1 || form.vector;
        std::vector<Type> types = {t.with_lanes(whole ? width : 1)};
        for (const DeviceValue &v : operands) {
            types.push_back(v.type.with_lanes(types[0].lanes()));
        }
        Texts lanes;
        for (int i = first; i < first + (whole ? 1 : width); i++) {
            Texts texts;
            for (const DeviceValue &v : operands) {
                bool one = v.type.is_scalar();
                texts.push_back(one     ? splat(v.type.with_lanes(whole ? width : 1), v.parts[0])
                                : whole ? v.parts[p]
                                        : lane(v, i));
            }
            lanes.push_back(fill(width == 1 || !whole ? form.scalar : form.vector, texts, types));
        }
        parts.push_back(whole ? lanes[0] : from_lanes(t.with_lanes(width), lanes).parts[0]);
    }
    bool inside = t.is_scalar() && parts[0].size() < longest_expression;
    return inside ? DeviceValue{t, {"(" + parts[0] + ")"}} : define(t, parts);
}

// $0, $1, ... are operands, {...} tokens.
std::string DeviceWriter::fill(const std::string &form, const Texts &operands,
                               const std::vector<Type> &types) {
    std::string text;
    for (size_t i = 0; i < form.size(); i++) {
        if (form[i] == '$') {
            text += operands.at(size_t(form[++i] - '0'));
        } else if (form[i] == '{') {
            size_t end = form.find('}', i);
            text += token(form.substr(i + 1, end - i - 1), types);
            i = end;
        } else {
            text += form[i];
        }
    }
    return text;
}

namespace {

Type integer_of(Type register_type, calotype_type_code_t code) {
    int bits = register_type.bits() == 1 ? 8 : register_type.bits();
    return Type(code, bits, register_type.lanes());
}

}  // namespace

std::string DeviceWriter::token(const std::string &text, const std::vector<Type> &types) {
    size_t colon = text.find(':');
    auto type_at = [&](const std::string &which) {
        bool result = which.empty() || which == "T";
        return types.at(result ? 0 : size_t(which[0] - '0') + 1);
    };
    if (colon != std::string::npos) {
        return helper(text.substr(0, colon), type_at(text.substr(colon + 1)).element_of());
    }
    if (starts_with(text, "bits")) {
        return std::to_string(type_at(text.substr(4)).bits());
    }
    if (text[0] == 'T' || text[0] == 'S' || text[0] == 'U' || text[0] == 'I') {
        Type t = register_type(type_at(text.substr(1)));
        return type_name(text[0] == 'T'   ? t
                         : text[0] == 'S' ? integer_of(t, Type::Int)
                         : text[0] == 'U' ? integer_of(t, Type::UInt)
                                          : Int(32, t.lanes()));
    }
    return helper(text, Type());
}

std::string DeviceWriter::helper(const std::string &name, Type t) {
    bool typed = t.bits() > 0;
    std::string function = "ct_" + name + (typed ? "_" + to_string(t) : "");
    if (!file_.helpers.count(function)) {
        file_.helpers[function] = helper_body(name, function, t);
    }
    return function;
}

std::string DeviceWriter::helper_body(const std::string &name, const std::string &function,
                                      Type t) {
    static const std::map<std::string, Word> words = {
#define WORD(name, opencl, cuda) {#name, Word::name},
#include "codegen/opencl/words.def"
    };
    const char *text = helper_text(file_.dialect, name, t);
    internal_assert(text) << "there is no helper " << name << " for " << t;
    std::string body = replace_all(text, "{f}", function);
    if (t.bits() > 0) {
        body = replace_all(body, "{T}", type_name(t));
        if (t.is_int_or_uint()) {
            body = replace_all(body, "{U}", type_name(integer_of(t, Type::UInt)));
        }
        body = replace_all(body, "{round_to_zero}", "{round_to_zero_" + to_string(t) + "}");
    }
    for (const auto &[key, w] : words) {
        body = replace_all(body, "{" + key + "}", word(w));
    }
    return std::string(word(Word::function)) + " " + body.substr(1);
}

std::string DeviceWriter::word(Word w, const std::string &operand) const {
    return replace_all(word(w), "$0", operand);
}

std::string DeviceWriter::scalar(const Expr &e) {
    internal_assert(e.type().is_scalar()) << "not a scalar: " << e.type();
    return atom(emit(e)).parts[0];
}

Expr DeviceWriter::named(const Expr &e) {
    if (is_const(e) || e.as<StringImm>()) {
        return e;
    }
    std::string name = "." + std::to_string(temporaries_++);
    symbols_.push(name, atom(emit(e)));
    return Variable::make(e.type(), name);
}

}  // namespace calotype::internal
