// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Expr, and Range.
#include "bindings.h"

namespace calotype::python {

namespace {

std::string text_of(const Expr &e) {
    return e.defined() ? to_string(e) : "undefined";
}

}  // namespace

void bind_expr(PythonModule &m) {
    PythonClass<Expr> c(m, "Expr", "A value that a pipeline computes.",
                        nb::is_weak_referenceable());
    c.def(nb::init<>())
        .def(
            "__init__", [](Expr *e, TextArg value) { new (e) Expr(value.get()); }, "value"_a)
        .def("type", [](const Expr &e) { return e.type(); })
        .def("defined", [](const Expr &e) { return e.defined(); })
        .def("__str__", &text_of)
        .def("__repr__", [](const Expr &e) {
            return "<calotype.Expr of type " + to_string(e.type()) + ": " + text_of(e) + ">";
        });
    add_operators(c);
    PythonClass<EvictionKey>(m, "EvictionKey", "What groups memoized results: see Func.memoize.")
        .def(
            "__init__", [](EvictionKey *k, ExprArg e) { new (k) EvictionKey(e.get()); }, "key"_a);
    nb::class_<Range>(m, "Range", "Coordinates min, min + 1, ..., min + extent - 1.")
        .def(nb::init<>())
        .def(
            "__init__",
            [](Range *r, ExprArg min, ExprArg extent) {
                const auto [a, b] = operands(min.object, extent.object);
                user_assert(a.type() == b.type() && a.type().is_scalar())
                    << "a Range from a min of type " << a.type() << " and an extent of type "
                    << b.type() << ", must be of one type";
                new (r) Range(a, b);
            },
            "min"_a, "extent"_a)
        .def_ro("min", &Range::min)
        .def_ro("extent", &Range::extent);
}

}  // namespace calotype::python
