// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// GeneratorParam<T>: a value fixed when the generator runs: a number, bool, enum, Type, string,
// Target or LoopLevel.
#pragma once

#include <map>
#include <string>
#include <type_traits>
#include <utility>

#include "generator/param_base.h"
#include "lang/stage.h"
#include "support/error.h"
#include "target/target.h"

namespace calotype {
namespace internal {

/// Text to value; a CompileError (without the parameter's name) if it is none. Defined for all
/// number types and bool.
template<typename T>
T parse_number(const std::string &text);
template<typename T>
std::string number_to_string(T value);
/// "int32", "uint8", "float64", "bool".
template<typename T>
std::string number_kind();

/// "bool", "int8", ..., "uint64", "float16", ..., "bfloat16", "handle", and back.
std::string type_to_name(const Type &t);
Type type_from_name(const std::string &name);

/// Holds the value of any kind.
template<typename T>
class ParamValue : public GeneratorParamBase {
public:
    ParamValue(const std::string &name, const T &value)
        : GeneratorParamBase(name), value_(value), default_(value) {
    }
    const T &value() const {
        return value_;
    }
    operator T() const {
        return value_;
    }
    void set(const T &value) {
        check_may_be_set();
        check(value);
        value_ = value;
        changed();
    }
    ParamValue &operator=(const T &value) {
        set(value);
        return *this;
    }

protected:
    virtual void check(const T &) const {
    }
    virtual void changed() {
    }
    T value_, default_;
};

struct NotABool {
    NotABool(bool) {
    }
};

/// Also an Expr, a constant, so that it can be given wherever one is taken: f.split(x, xo, xi,
/// param).
template<typename T>
class NumberParam : public ParamValue<T>, public Expr {
public:
    NumberParam(const std::string &name, const T &value) : ParamValue<T>(name, value), Expr(value) {
    }
    /// Both bounds are allowed values.
    NumberParam(const std::string &name, const T &value, const T &min, const T &max)
        : ParamValue<T>(name, value), Expr(value), min_(min), max_(max), is_bounded_(true) {
        check(value);
    }
    using ParamValue<T>::operator=;
    operator T() const {
        return this->value_;
    }
    /// The value, where an Expr would say whether it is defined.
    explicit operator std::conditional_t<std::is_same<T, bool>::value, NotABool, bool>() const {
        return this->value_ != T(0);
    }
    void set_from_string(const std::string &text) override {
        T parsed{};
        try {
            parsed = parse_number<T>(text);
        } catch (const CompileError &e) {
            this->fail(e.what());
        }
        this->set(parsed);
    }
    std::string to_string() const override {
        return number_to_string(this->value_);
    }
    ParamInfo info() const override {
        ParamInfo i{number_kind<T>(), number_to_string(this->default_), "", "", {}};
        if (is_bounded_) {
            i.min_text = number_to_string(min_);
            i.max_text = number_to_string(max_);
        }
        return i;
    }

protected:
    void check(const T &value) const override {
        if (is_bounded_ && !(value >= min_)) {
            this->fail("value is " + number_to_string(value) + ", must be at least " +
                       number_to_string(min_));
        }
        if (is_bounded_ && !(value <= max_)) {
            this->fail("value is " + number_to_string(value) + ", must be at most " +
                       number_to_string(max_));
        }
    }
    void changed() override {
        Expr::operator=(Expr(this->value_));
    }

private:
    T min_{}, max_{};
    bool is_bounded_ = false;
};

/// The part of an enum parameter that does not depend on the enum: its names.
class EnumNames {
public:
    /// Index in `names` of the text; -1 and the message otherwise.
    static int find(const std::vector<std::string> &names, const std::string &text,
                    std::string *message);
};

template<typename T>
class EnumParam : public ParamValue<T> {
public:
    EnumParam(const std::string &name, const T &value, const std::map<std::string, T> &names)
        : ParamValue<T>(name, value) {
        for (const auto &[text, v] : names) {
            names_.push_back(text);
            values_.push_back(v);
        }
        name_of(value);
    }
    using ParamValue<T>::operator=;
    void set_from_string(const std::string &text) override {
        std::string message;
        const int i = EnumNames::find(names_, text, &message);
        if (i < 0) {
            this->fail(message);
        }
        this->set(values_[i]);
    }
    std::string to_string() const override {
        return name_of(this->value_);
    }
    ParamInfo info() const override {
        return {"enum", name_of(this->default_), "", "", names_};
    }

protected:
    void check(const T &value) const override {
        name_of(value);
    }

private:
    const std::string &name_of(const T &value) const {
        for (size_t i = 0; i < values_.size(); i++) {
            if (values_[i] == value) {
                return names_[i];
            }
        }
        this->fail("the value is not among those of the enum");
    }
    std::vector<std::string> names_;
    std::vector<T> values_;
};

class TypeParam : public ParamValue<Type> {
public:
    using ParamValue<Type>::ParamValue;
    using ParamValue<Type>::operator=;
    void set_from_string(const std::string &text) override;
    std::string to_string() const override;
    ParamInfo info() const override;
};

class StringParam : public ParamValue<std::string> {
public:
    using ParamValue<std::string>::ParamValue;
    using ParamValue<std::string>::operator=;
    void set_from_string(const std::string &text) override;
    std::string to_string() const override;
    ParamInfo info() const override;
};

class TargetParam : public ParamValue<Target> {
public:
    using ParamValue<Target>::ParamValue;
    using ParamValue<Target>::operator=;
    void set_from_string(const std::string &text) override;
    std::string to_string() const override;
    ParamInfo info() const override;
};

/// Copies of the value stay tied to the parameter: `set` after generate() reaches the schedules
/// that use them.
class LoopLevelParam : public ParamValue<LoopLevel> {
public:
    LoopLevelParam(const std::string &name, const LoopLevel &value)
        : ParamValue<LoopLevel>(name, value.copy()) {
        default_ = value.copy();
    }
    /// To a level that is set later, by that handle.
    void set(const LoopLevel &value) {
        if (value.defined()) {
            value_.set(value);
        } else {
            share(value);
        }
    }
    LoopLevelParam &operator=(const LoopLevel &value) {
        set(value);
        return *this;
    }
    /// Become a copy of that handle: to set one is to set the other. Before the generator reads its
    /// parameters.
    void share(const LoopLevel &value) {
        check_may_be_set();
        value_ = value;
    }
    void set_from_string(const std::string &text) override;
    std::string to_string() const override;
    ParamInfo info() const override;
    bool may_be_set_late() const override {
        return true;
    }
};

template<typename T, typename = void>
struct ParamKind {
    using type = NumberParam<T>;
};
template<typename T>
struct ParamKind<T, std::enable_if_t<std::is_enum<T>::value>> {
    using type = EnumParam<T>;
};
template<>
struct ParamKind<Type> {
    using type = TypeParam;
};
template<>
struct ParamKind<std::string> {
    using type = StringParam;
};
template<>
struct ParamKind<Target> {
    using type = TargetParam;
};
template<>
struct ParamKind<LoopLevel> {
    using type = LoopLevelParam;
};

}  // namespace internal

/// A member of a generator class, set before generate() runs.
///
///     GeneratorParam<int> radius{"radius", 2, 0, 16};                       // default, lowest,
///     highest GeneratorParam<Mode> mode{"mode", Mode::Fast, {{"fast", Mode::Fast}, {"exact",
///     Mode::Exact}}};
///
/// On the command line `radius=3 mode=exact`. In C++ it converts to its value, and the operators of
/// generator/param_operators.h take it as that.
template<typename T>
class GeneratorParam : public internal::ParamKind<T>::type {
    using Base = typename internal::ParamKind<T>::type;

public:
    using Base::Base;
    using Base::operator=;
    GeneratorParam(const std::string &name, const std::string &value) : Base(name, T{}) {
        this->set_from_string(value);
        this->default_ = this->value_;
    }
};

}  // namespace calotype

#include "generator/param_operators.h"
