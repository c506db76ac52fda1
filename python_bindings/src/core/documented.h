// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Classes and functions of the module. Those that are given no docstring have the comment on the same
// name in the headers of C++.
#pragma once

#include <type_traits>
#include <utility>

#include <nanobind/nanobind.h>

namespace calotype::python {

namespace nb = nanobind;

/// The comment on a member of the class, or on a function where that is ""; else "". Of names that end in
/// an underscore in Python alone, that of the name without.
const char *header_comment(const char *cls, const char *name);

// Of two docstrings nanobind takes the last: the one that is given. Objects of all classes can be weakly
// referenced, as those of classes written in Python.
template<typename T, typename... Ts>
class PythonClass : public nb::class_<T, Ts...> {
    using Base = nb::class_<T, Ts...>;

public:
    template<typename... Extra>
    PythonClass(nb::handle scope, const char *name, const Extra &...extra)
        : Base(scope, name, nb::is_weak_referenceable(), extra...), name_(name) {
    }
    /// The class of that name, which is there already, for further members.
    static PythonClass in(nb::handle scope, const char *name) {
        return PythonClass(nb::borrow<Base>(scope.attr(name)), name);
    }
    template<typename F, typename... Extra>
    PythonClass &def(const char *name, F &&f, const Extra &...extra) {
        Base::def(name, std::forward<F>(f), comment(name), extra...);
        return *this;
    }
    template<typename... Args, typename... Extra>
    PythonClass &def(nb::init<Args...> &&init, const Extra &...extra) {
        Base::def(std::move(init), extra...);
        return *this;
    }
    template<typename F, typename... Extra>
    PythonClass &def_static(const char *name, F &&f, const Extra &...extra) {
        Base::def_static(name, std::forward<F>(f), comment(name), extra...);
        return *this;
    }
    template<typename F, typename... Extra>
    PythonClass &def_prop_ro(const char *name, F &&f, const Extra &...extra) {
        Base::def_prop_ro(name, std::forward<F>(f), extra...);
        return *this;
    }
    template<typename Get, typename Set, typename... Extra>
    PythonClass &def_prop_rw(const char *name, Get &&get, Set &&set, const Extra &...extra) {
        Base::def_prop_rw(name, std::forward<Get>(get), std::forward<Set>(set), extra...);
        return *this;
    }
    template<typename Member, typename... Extra>
    PythonClass &def_ro(const char *name, Member member, const Extra &...extra) {
        Base::def_ro(name, member, extra...);
        return *this;
    }
    template<typename Member, typename... Extra>
    PythonClass &def_rw(const char *name, Member member, const Extra &...extra) {
        Base::def_rw(name, member, extra...);
        return *this;
    }

private:
    PythonClass(Base &&made, const char *name) : Base(std::move(made)), name_(name) {
    }
    const char *comment(const char *name) const {
        return header_comment(name_, name);
    }
    const char *name_;
};

class PythonModule : public nb::module_ {
public:
    explicit PythonModule(const nb::module_ &m) : nb::module_(m) {
    }
    template<typename F, typename... Extra>
    PythonModule &def(const char *name, F &&f, const Extra &...extra) {
        nb::module_::def(name, std::forward<F>(f), header_comment("", name), extra...);
        return *this;
    }
};

}  // namespace calotype::python
