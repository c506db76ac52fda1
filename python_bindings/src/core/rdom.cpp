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

// As in C++: a name may come last.
RDom domain_of_pairs(nb::handle min, nb::handle extent, const nb::args &more, std::string name) {
    nb::list numbers;
    numbers.append(min);
    numbers.append(extent);
    const size_t count = more.size();
    const bool has_name = count > 0 && PyUnicode_Check(more[count - 1].ptr());
    for (size_t i = 0; i < count - size_t(has_name); i++) {
        numbers.append(more[i]);
    }
    const size_t all = numbers.size();
    call_assert(all % 2 == 0) << "an RDom is given " << all
                              << " numbers, must be pairs of min and extent";
    call_assert(!has_name || name.empty()) << "an RDom is given two names";
    nb::list region;
    for (size_t i = 0; i < all; i += 2) {
        region.append(nb::make_tuple(numbers[i], numbers[i + 1]));
    }
    return RDom(to_region(region), has_name ? nb::cast<std::string>(more[count - 1]) : name);
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
    PythonClass<RDom> c(
        m, "RDom", "A reduction domain: RDom([(min, extent), ...]), or RDom(min, extent, ...).");
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
        .def(
            "__init__",
            [](RDom *r, ExprArg min, ExprArg extent, nb::args more, const std::string &name) {
                new (r) RDom(domain_of_pairs(min.object, extent.object, more, name));
            },
            "min"_a, "extent"_a, "more"_a, "name"_a = "")
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
