// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "generator/linkable_param.h"

#include "support/error.h"

namespace calotype {

namespace internal {

namespace {

/// Messages say where they come from: the innermost generator that was given them.
std::vector<Linkable> of_parameter(const std::string &name, const std::vector<Linkable> &values) {
    std::vector<Linkable> result;
    for (const Linkable &l : values) {
        result.push_back(l.defined() ? l.parameter(name) : l);
    }
    return result;
}

}  // namespace

LinkablesParamBase::LinkablesParamBase(const std::string &name, bool is_list,
                                       std::optional<std::string> default_text)
    : GeneratorParamBase(name), is_list_(is_list), default_text_(std::move(default_text)) {
}

LinkablesParamBase::LinkablesParamBase(const std::string &name, bool is_list,
                                       std::vector<Linkable> value)
    : GeneratorParamBase(name), is_list_(is_list), is_optional_(value.empty()) {
    if (!value.empty()) {
        default_text_ = Linkable::list_to_text(value);
    }
    values_ = of_parameter(name, value);
}

std::vector<Linkable> LinkablesParamBase::read(const std::string &text) const {
    std::vector<Linkable> values;
    try {
        values = Linkable::list_from_text(text);
    } catch (const CompileError &e) {
        fail(e.what());
    }
    if (!is_list_ && values.size() != 1 && !(is_optional_ && values.empty())) {
        fail("'" + text + "' gives " + std::to_string(values.size()) + " linkables, it takes one");
    }
    return of_parameter(name(), values);
}

void LinkablesParamBase::set_from_string(const std::string &text) {
    set_values(read(text));
}

void LinkablesParamBase::set_values(std::vector<Linkable> values) {
    check_may_be_set();
    for (const Linkable &l : values) {
        if (!l.defined()) {
            fail("it is set to an undefined linkable");
        }
    }
    values_ = of_parameter(name(), values);
    is_set_ = true;
}

void LinkablesParamBase::make_optional() {
    is_optional_ = true;
}

const std::vector<Linkable> &LinkablesParamBase::values() const {
    if (!values_) {
        values_ = default_text_ ? read(*default_text_) : std::vector<Linkable>();
    }
    return *values_;
}

std::vector<Linkable> LinkablesParamBase::linkables() const {
    return values();
}

void LinkablesParamBase::check_is_complete() const {
    const bool is_given = is_list_ ? is_set_ || default_text_ : !values().empty();
    if (!is_optional_ && !is_given) {
        fail(std::string("it is not set, and has no default: it takes ") +
             (is_list_ ? "linkables" : "a linkable"));
    }
}

std::string LinkablesParamBase::to_string() const {
    return values_ ? Linkable::list_to_text(*values_) : default_text_.value_or("");
}

ParamInfo LinkablesParamBase::info() const {
    return {is_list_ ? "linkables" : "linkable", default_text_.value_or(""), "", "", {}};
}

}  // namespace internal

LinkableParam::LinkableParam(const std::string &name)
    : LinkablesParamBase(name, false, std::optional<std::string>()) {
}

LinkableParam::LinkableParam(const std::string &name, const char *value)
    : LinkableParam(name, std::string(value)) {
}

LinkableParam::LinkableParam(const std::string &name, const std::string &value)
    : LinkablesParamBase(name, false, std::optional<std::string>(value)) {
}

LinkableParam::LinkableParam(const std::string &name, const Linkable &value)
    : LinkablesParamBase(name, false,
                         value.defined() ? std::vector<Linkable>{value} : std::vector<Linkable>()) {
}

LinkableParam &LinkableParam::optional() {
    make_optional();
    return *this;
}

void LinkableParam::set(const Linkable &value) {
    set_values(value.defined() ? std::vector<Linkable>{value} : std::vector<Linkable>());
}

LinkableListParam::LinkableListParam(const std::string &name)
    : LinkablesParamBase(name, true, std::optional<std::string>()) {
}

LinkableListParam::LinkableListParam(const std::string &name, const char *value)
    : LinkableListParam(name, std::string(value)) {
}

LinkableListParam::LinkableListParam(const std::string &name, const std::string &value)
    : LinkablesParamBase(name, true, std::optional<std::string>(value)) {
}

LinkableListParam::LinkableListParam(const std::string &name, const std::vector<Linkable> &value)
    : LinkablesParamBase(name, true, value) {
}

LinkableListParam &LinkableListParam::optional() {
    make_optional();
    return *this;
}

const Linkable &LinkableListParam::operator[](size_t i) const {
    user_assert(i < values().size())
        << "generator parameter '" << name() << "' has " << values().size() << " linkables, number "
        << i << " is asked for";
    return values()[i];
}

}  // namespace calotype
