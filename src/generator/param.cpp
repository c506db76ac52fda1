// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "generator/param.h"

#include <cctype>
#include <charconv>
#include <cmath>

#include "generator/generator_base.h"
#include "support/text.h"

namespace calotype::internal {

GeneratorParamBase::GeneratorParamBase(const std::string &name) : name_(name) {
    GeneratorBase::add_to_current(this);
}

GeneratorParamBase::~GeneratorParamBase() = default;

void GeneratorParamBase::check_may_be_set() const {
    if (generator_ && generator_->has_read_params()) {
        fail("it is set too late, the generator has read it");
    }
}

void GeneratorParamBase::fail(const std::string &message) const {
    user_error << "generator parameter '" << name_ << "': " << message;
}

void check_generator_name(const char *what, const std::string &name) {
    bool is_good =
        !name.empty() && std::isalpha(uint8_t(name[0])) && name.find("__") == std::string::npos;
    for (const char c : name) {
        is_good = is_good && (std::isalnum(uint8_t(c)) || c == '_');
    }
    user_assert(is_good)
        << what << " name '" << name
        << "' must be letters, digits and single underscores, and begin with a letter";
}

// ---- numbers ----

template<typename T>
std::string number_kind() {
    if constexpr (std::is_same_v<T, bool>) {
        return "bool";
    } else {
        const char *code = std::is_floating_point_v<T> ? "float"
                           : std::is_signed_v<T>       ? "int"
                                                       : "uint";
        return code + std::to_string(sizeof(T) * 8);
    }
}

template<typename T>
T parse_number(const std::string &text) {
    if constexpr (std::is_same_v<T, bool>) {
        if (text == "true" || text == "True") {
            return true;
        }
        user_assert(text == "false" || text == "False")
            << "'" << text << "' is not a bool, it takes true or false";
        return false;
    } else {
        T value{};
        const char *begin = text.data() + (text.size() > 1 && text[0] == '+' ? 1 : 0);
        const auto [end, error] = std::from_chars(begin, text.data() + text.size(), value);
        user_assert(error != std::errc::result_out_of_range)
            << "'" << text << "' does not fit " << number_kind<T>();
        user_assert(error == std::errc() && end == text.data() + text.size())
            << "'" << text << "' is no " << number_kind<T>();
        return value;
    }
}

template<typename T>
std::string number_to_string(T value) {
    if constexpr (std::is_same_v<T, bool>) {
        return value ? "true" : "false";
    } else {
        char text[64];
        const auto result = std::to_chars(text, text + sizeof(text), value);
        return std::string(text, result.ptr);
    }
}

#define NUMBER(T)                                                                                  \
    template T parse_number<T>(const std::string &);                                               \
    template std::string number_to_string<T>(T);                                                   \
    template std::string number_kind<T>();
NUMBER(bool)
NUMBER(char)
NUMBER(signed char)
NUMBER(unsigned char)
NUMBER(short)
NUMBER(unsigned short)
NUMBER(int)
NUMBER(unsigned)
NUMBER(long)
NUMBER(unsigned long)
NUMBER(long long)
NUMBER(unsigned long long)
NUMBER(float)
NUMBER(double)
#undef NUMBER

// ---- types ----

namespace {

const std::vector<std::pair<const char *, Type>> &named_types() {
    static const std::vector<std::pair<const char *, Type>> types = {
        {"bool", Bool()},         {"int8", Int(8)},       {"int16", Int(16)},
        {"int32", Int(32)},       {"int64", Int(64)},     {"uint8", UInt(8)},
        {"uint16", UInt(16)},     {"uint32", UInt(32)},   {"uint64", UInt(64)},
        {"float16", Float(16)},   {"float32", Float(32)}, {"float64", Float(64)},
        {"bfloat16", BFloat(16)}, {"handle", Handle()},
    };
    return types;
}

}  // namespace

std::string type_to_name(const Type &t) {
    for (const auto &[name, type] : named_types()) {
        if (type.code() == t.code() && type.bits() == t.bits()) {
            return name;
        }
    }
    return "undefined";
}

Type type_from_name(const std::string &name) {
    std::vector<std::string> names;
    for (const auto &[known, type] : named_types()) {
        if (known == name) {
            return type;
        }
        names.push_back(known);
    }
    user_error << "'" << name << "' is not a type" << did_you_mean(name, names);
}

// ---- the other kinds ----

int EnumNames::find(const std::vector<std::string> &names, const std::string &text,
                    std::string *message) {
    for (size_t i = 0; i < names.size(); i++) {
        if (names[i] == text) {
            return int(i);
        }
    }
    *message = "'" + text + "' is none of " + join(names, ", ") + did_you_mean(text, names);
    return -1;
}

void TypeParam::set_from_string(const std::string &text) {
    Type t;
    try {
        t = type_from_name(text);
    } catch (const CompileError &e) {
        fail(e.what());
    }
    set(t);
}

std::string TypeParam::to_string() const {
    return type_to_name(value_);
}

ParamInfo TypeParam::info() const {
    return {"type", type_to_name(default_), "", "", {}};
}

void StringParam::set_from_string(const std::string &text) {
    set(text);
}

std::string StringParam::to_string() const {
    return value_;
}

ParamInfo StringParam::info() const {
    return {"string", default_, "", "", {}};
}

void TargetParam::set_from_string(const std::string &text) {
    set(Target(text));
}

std::string TargetParam::to_string() const {
    return value_.to_string();
}

ParamInfo TargetParam::info() const {
    return {"target", default_ == Target() ? "" : default_.to_string(), "", "", {}};
}

void LoopLevelParam::set_from_string(const std::string &text) {
    if (text == "root") {
        set(LoopLevel::root());
    } else if (text == "inlined") {
        set(LoopLevel::inlined());
    } else if (text != "undefined") {
        fail("'" + text + "' is not a loop level that text can give, which are root and inlined");
    }
}

std::string LoopLevelParam::to_string() const {
    return value_.copy().lock().to_string();
}

ParamInfo LoopLevelParam::info() const {
    return {"loop_level", default_.copy().lock().to_string(), "", "", {"inlined", "root"}};
}

}  // namespace calotype::internal
