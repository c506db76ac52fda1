// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LinkableParam, LinkableListParam: device code from elsewhere, named where the generator is run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "generator/param_base.h"
#include "lang/extern_device.h"

namespace calotype {
namespace internal {

/// What both have: a list of linkables, which for one of them has at most one item.
class LinkablesParamBase : public GeneratorParamBase {
public:
    /// A text is read when the value is first asked for: a default that is replaced need not exist.
    LinkablesParamBase(const std::string &name, bool is_list,
                       std::optional<std::string> default_text);
    LinkablesParamBase(const std::string &name, bool is_list, std::vector<Linkable> value);

    void set_from_string(const std::string &text) override;
    std::string to_string() const override;
    ParamInfo info() const override;
    std::vector<Linkable> linkables() const override;
    void check_is_complete() const override;

protected:
    /// None where it was not set and has no default. CompileErrors name the parameter.
    const std::vector<Linkable> &values() const;
    void set_values(std::vector<Linkable> values);
    void make_optional();

private:
    std::vector<Linkable> read(const std::string &text) const;

    const bool is_list_;
    bool is_optional_ = false;
    bool is_set_ = false;                      ///< to something, be it nothing
    std::optional<std::string> default_text_;  ///< how the default is shown
    mutable std::optional<std::vector<Linkable>> values_;
};

}  // namespace internal

/// A member of a generator class: one linkable.
///
///     LinkableParam rng{"rng"};                  // must be set: rng='rng.ltoir;setup=rng_setup'
///     LinkableParam noise{"noise", "noise.bc"};  // with a default, in the same form
///     LinkableParam extra{"extra", Linkable()};  // optional
///     ...
///     Expr r = extern_device_call(rng, "rng_next", Int(32), {x});
class LinkableParam : public internal::LinkablesParamBase {
public:
    explicit LinkableParam(const std::string &name);
    LinkableParam(const std::string &name, const char *value);
    LinkableParam(const std::string &name, const std::string &value);
    /// An undefined default makes it optional.
    LinkableParam(const std::string &name, const Linkable &value);

    /// Need not be set. In the generator's constructor or in configure().
    LinkableParam &optional();
    /// Whether it was set, or has a default.
    bool defined() const {
        return !values().empty();
    }
    /// The linkable; undefined if there is none.
    Linkable value() const {
        return defined() ? values()[0] : Linkable();
    }
    operator Linkable() const {
        return value();
    }
    void set(const Linkable &value);
    LinkableParam &operator=(const Linkable &value) {
        set(value);
        return *this;
    }
};

/// The same for any number of linkables, in order: extras='a.cubin,b.a;after=a'.
class LinkableListParam : public internal::LinkablesParamBase {
public:
    explicit LinkableListParam(const std::string &name);
    LinkableListParam(const std::string &name, const char *value);
    LinkableListParam(const std::string &name, const std::string &value);
    LinkableListParam(const std::string &name, const std::vector<Linkable> &value);

    LinkableListParam &optional();
    /// Whether there is at least one.
    bool defined() const {
        return !values().empty();
    }
    const std::vector<Linkable> &value() const {
        return values();
    }
    operator const std::vector<Linkable> &() const {
        return values();
    }
    size_t size() const {
        return values().size();
    }
    bool empty() const {
        return values().empty();
    }
    std::vector<Linkable>::const_iterator begin() const {
        return values().begin();
    }
    std::vector<Linkable>::const_iterator end() const {
        return values().end();
    }
    /// A CompileError if there is no item i.
    const Linkable &operator[](size_t i) const;
    void set(const std::vector<Linkable> &value) {
        set_values(value);
    }
    LinkableListParam &operator=(const std::vector<Linkable> &value) {
        set(value);
        return *this;
    }
};

}  // namespace calotype
