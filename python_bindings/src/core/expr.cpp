// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Expr, and Range.
#include "bindings.h"

namespace calotype::python {

namespace {

std::string text_of(const Expr &e) {
    return e.defined() ? internal::to_string(e) : "undefined";
}

// Of what uses a Range of a list, messages say more.
Range checked_range(nb::handle pair) {
    const Range r = to_range(pair);
    return Range(r.min, r.extent);
}

}  // namespace

void bind_expr(PythonModule &m) {
    PythonClass<Expr> c(m, "Expr", "A value that a pipeline computes.");
    c.def(nb::init<>())
        .def(
            "__init__", [](Expr *e, TextArg value) { new (e) Expr(value.get()); }, "value"_a)
        .def("type", [](const Expr &e) { return e.type(); })
        .def("defined", [](const Expr &e) { return e.defined(); })
        .def("__copy__", [](nb::handle self) { return nb::borrow(self); })
        .def(
            "__deepcopy__", [](nb::handle self, nb::handle) { return nb::borrow(self); }, "memo"_a)
        .def("__str__", &text_of)
        .def("__repr__", [](const Expr &e) {
            return e.defined()
                       ? "<calotype.Expr of type " + to_string(e.type()) + ": " + text_of(e) + ">"
                       : "<undefined calotype.Expr>";
        });
    add_operators(c);
    PythonClass<EvictionKey>(m, "EvictionKey", "What groups memoized results: see Func.memoize.")
        .def(
            "__init__", [](EvictionKey *k, ExprArg e) { new (k) EvictionKey(e.get()); }, "key"_a);
    PythonClass<Range>(m, "Range", "Coordinates min, min + 1, ..., min + extent - 1.")
        .def(nb::init<>())
        .def(
            "__init__",
            [](Range *r, ExprArg min, ExprArg extent) {
                new (r) Range(checked_range(nb::make_tuple(min.object, extent.object)));
            },
            "min"_a, "extent"_a)
        .def(
            "__init__", [](Range *r, nb::tuple pair) { new (r) Range(checked_range(pair)); },
            "pair"_a)
        .def_rw("min", &Range::min)
        .def_rw("extent", &Range::extent)
        .def("__copy__", [](const Range &r) { return Range(r); })
        .def(
            "__deepcopy__", [](const Range &r, nb::handle) { return Range(r); }, "memo"_a)
        .def("__repr__", [](const Range &r) {
            return "<calotype.Range min: " + text_of(r.min) + ", extent: " + text_of(r.extent) +
                   ">";
        });
}

}  // namespace calotype::python
