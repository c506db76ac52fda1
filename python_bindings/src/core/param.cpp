// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Param: a scalar that a pipeline takes.
#include <cstring>

#include "bindings.h"
#include "scalar.h"

namespace calotype::python {

namespace {

void set_value(Param<> &p, nb::handle value) {
    p.parameter().set_value_bits(scalar_bits(value, p.type(), p.name()));
}

nb::object value_of(const Param<> &p) {
    return scalar_object(calotype::internal::get_scalar_bits(p.parameter()), p.type());
}

void set_range(Param<> &p, nb::handle min, nb::handle max) {
    p.set_range(scalar_expr(min, p.type()), scalar_expr(max, p.type()));
}

std::string describe_param(const Param<> &p) {
    return "<calotype.Param '" + p.name() + "' type " + to_string(p.type()) + ">";
}

void bind_constructors(PythonClass<Param<>> &c) {
    c.def(
         "__init__", [](Param<> *p, TypeArg t) { new (p) Param<>(t.get()); }, "type"_a)
        .def(
            "__init__",
            [](Param<> *p, TypeArg t, const std::string &name) { new (p) Param<>(t.get(), name); },
            "type"_a, "name"_a)
        .def(
            "__init__",
            [](Param<> *p, TypeArg t, nb::object value) {
                new (p) Param<>(t.get());
                set_value(*p, value);
            },
            "type"_a, "value"_a)
        .def(
            "__init__",
            [](Param<> *p, TypeArg t, const std::string &name, nb::object value) {
                new (p) Param<>(t.get(), name);
                set_value(*p, value);
            },
            "type"_a, "name"_a, "value"_a)
        .def(
            "__init__",
            [](Param<> *p, TypeArg t, nb::object value, nb::object min, nb::object max) {
                new (p) Param<>(t.get());
                set_value(*p, value);
                set_range(*p, min, max);
            },
            "type"_a, "value"_a, "min"_a, "max"_a)
        .def(
            "__init__",
            [](Param<> *p, TypeArg t, const std::string &name, nb::object value, nb::object min,
               nb::object max) {
                new (p) Param<>(t.get(), name);
                set_value(*p, value);
                set_range(*p, min, max);
            },
            "type"_a, "name"_a, "value"_a, "min"_a, "max"_a);
}

}  // namespace

void bind_param(PythonModule &m) {
    PythonClass<Param<>> c(m, "Param", "A scalar that a pipeline takes; usable as an Expr.");
    bind_constructors(c);
    c.def("name", &Param<>::name)
        .def("type", &Param<>::type)
        .def("parameter", [](const Param<> &p) { return p.parameter(); })
        .def("defined", [](const Param<> &p) { return p.parameter().defined(); })
        .def("get", &value_of, "The value for runs in this process.")
        .def("set", &set_value, "value"_a.none())
        .def("set_range", &set_range, "min"_a, "max"_a)
        .def(
            "set_min_value",
            [](Param<> &p, nb::object v) { p.set_min_value(scalar_expr(v, p.type())); }, "min"_a)
        .def(
            "set_max_value",
            [](Param<> &p, nb::object v) { p.set_max_value(scalar_expr(v, p.type())); }, "max"_a)
        .def("min_value", &Param<>::min_value)
        .def("max_value", &Param<>::max_value)
        .def(
            "set_estimate",
            [](Param<> &p, nb::object v) { p.parameter().set_estimate(scalar_expr(v, p.type())); },
            "value"_a)
        .def("_to_argument", [](const Param<> &p) { return Argument(p); })
        .def("__repr__", &describe_param);
    add_operators(c);
    m.def("user_context_value", &user_context_value);
}

}  // namespace calotype::python
