// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RDom.
#include "bindings.h"

namespace calotype::python {

namespace {

std::string describe_domain(const RDom &r) {
    if (!r.defined()) {
        return "<calotype.RDom RDom()>";
    }
    std::string text;
    for (int i = 0; i < r.dimensions(); i++) {
        text += (i > 0 ? ", " : "") + r[i].name() + ": [" + internal::to_string(r[i].min()) + ", " +
                internal::to_string(r[i].extent()) + "]";
    }
    return "<calotype.RDom " + text + ">";
}

RVar at(const RDom &r, int i) {
    if (i < 0 || i >= (r.defined() ? r.dimensions() : 0)) {
        const std::string text = "the RDom has " +
                                 std::to_string(r.defined() ? r.dimensions() : 0) +
                                 " dimensions, there is no " + std::to_string(i);
        throw nb::key_error(text.c_str());
    }
    return r[i];
}

}  // namespace

void bind_rdom(PythonModule &m) {
    PythonClass<RDom> c(m, "RDom", "A reduction domain: RDom([(min, extent), ...]).");
    c.def(nb::init<>())
        .def(
            "__init__", [](RDom *r, const OutputImageParam &p) { new (r) RDom(p); },
            "image_param"_a)
        .def(
            "__init__", [](RDom *r, const Buffer<> &b) { new (r) RDom(b); }, "buffer"_a)
        .def(
            "__init__",
            [](RDom *r, nb::sequence region, const std::string &name) {
                new (r) RDom(to_region(region), name);
            },
            "region"_a, "name"_a = "")
        .def("defined", &RDom::defined)
        .def("same_as", &RDom::same_as, "other"_a)
        .def("dimensions", [](const RDom &r) { return r.defined() ? r.dimensions() : 0; })
        .def("__len__", [](const RDom &r) { return r.defined() ? r.dimensions() : 0; })
        .def("__getitem__", &at, "index"_a)
        .def("__iter__",
             [](const RDom &r) {
                 nb::list loops;
                 for (int i = 0; i < r.dimensions(); i++) {
                     loops.append(nb::cast(r[i]));
                 }
                 return nb::iter(loops);
             })
        .def(
            "where", [](RDom &r, ExprArg predicate) { r.where(predicate.get()); }, "predicate"_a)
        .def_ro("x", &RDom::x)
        .def_ro("y", &RDom::y)
        .def_ro("z", &RDom::z)
        .def_ro("w", &RDom::w)
        .def("__repr__", &describe_domain);
    add_operators(c);
}

}  // namespace calotype::python
