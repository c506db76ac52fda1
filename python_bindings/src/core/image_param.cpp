// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ImageParam, OutputImageParam, and their dimensions.
#include "bindings.h"

namespace calotype::python {

namespace {

using Dimension = calotype::internal::Dimension;

// None, and an undefined Expr, take a constraint away.
Expr optional_expr(nb::handle h) {
    return h.is_none() ? Expr() : to_expr(h);
}

template<typename Class>
std::string describe_image(const Class &p, const std::string &name) {
    if (!p.defined()) {
        return "<calotype." + name + " " + name + "()>";
    }
    return "<calotype." + name + " '" + p.name() + "', dims: " + std::to_string(p.dimensions()) +
           ", type: " + to_string(p.type()) + ">";
}

template<typename Class>
Class &checked(Class &p) {
    user_assert(p.defined()) << "an undefined ImageParam is used";
    return p;
}

void check_defined(const OutputImageParam &p, int d) {
    checked(p);
    user_assert(d >= 0 && d < p.dimensions())
        << p.name() << " has " << p.dimensions() << " dimensions, there is no " << d;
}

void bind_dimension(PythonModule &m) {
    PythonClass<Dimension>(m, "Dimension", "One dimension of a buffer that a pipeline takes.")
        .def("min", &Dimension::min)
        .def("max", &Dimension::max)
        .def("extent", &Dimension::extent)
        .def("stride", &Dimension::stride)
        .def("min_estimate", &Dimension::min_estimate)
        .def("extent_estimate", &Dimension::extent_estimate)
        .def(
            "set_min", [](Dimension &d, nb::object e) { return d.set_min(optional_expr(e)); },
            "min"_a.none())
        .def(
            "set_extent", [](Dimension &d, nb::object e) { return d.set_extent(optional_expr(e)); },
            "extent"_a.none())
        .def(
            "set_stride", [](Dimension &d, nb::object e) { return d.set_stride(optional_expr(e)); },
            "stride"_a.none())
        .def(
            "set_bounds",
            [](Dimension &d, ExprArg min, ExprArg extent) {
                return d.set_bounds(min.get(), extent.get());
            },
            "min"_a, "extent"_a)
        .def(
            "set_estimate",
            [](Dimension &d, ExprArg min, ExprArg extent) {
                return d.set_estimate(min.get(), extent.get());
            },
            "min"_a, "extent"_a)
        .def("dim", &Dimension::dim, "dimension"_a)
        .def("__repr__", [](const Dimension &d) {
            return "<calotype.Dimension min: " + internal::to_string(d.min()) +
                   ", extent: " + internal::to_string(d.extent()) +
                   ", stride: " + internal::to_string(d.stride()) + ">";
        });
}

using ImageClass = PythonClass<OutputImageParam>;

void bind_edges(ImageClass &c) {
    using Edge = Expr (OutputImageParam::*)() const;
    struct Row {
        const char *name;
        Edge edge;
        int dimension;
    };
    const Row rows[] = {
        {"left", &OutputImageParam::left, 0},        {"right", &OutputImageParam::right, 0},
        {"width", &OutputImageParam::width, 0},      {"top", &OutputImageParam::top, 1},
        {"bottom", &OutputImageParam::bottom, 1},    {"height", &OutputImageParam::height, 1},
        {"channels", &OutputImageParam::channels, 2}};
    for (const Row &row : rows) {
        c.def(row.name, [row](const OutputImageParam &p) {
            check_defined(p, row.dimension);
            return (p.*row.edge)();
        });
    }
}

}  // namespace

void bind_image_param(PythonModule &m) {
    bind_dimension(m);
    ImageClass base(m, "OutputImageParam", "The constraints on a buffer that a pipeline takes.");
    base.def(nb::init<>())
        .def("name", [](const OutputImageParam &p) { return p.defined() ? p.name() : ""; })
        .def("type", [](const OutputImageParam &p) { return checked(p).type(); })
        .def("parameter", [](const OutputImageParam &p) { return p.parameter(); })
        .def("defined", &OutputImageParam::defined)
        .def("dimensions", [](const OutputImageParam &p) { return checked(p).dimensions(); })
        .def(
            "dim",
            [](const OutputImageParam &p, int d) {
                check_defined(p, d);
                return p.dim(d);
            },
            "dimension"_a)
        .def("host_alignment",
             [](const OutputImageParam &p) { return checked(p).host_alignment(); })
        .def(
            "set_host_alignment",
            [](OutputImageParam &p, int bytes) -> OutputImageParam & {
                return checked(p).set_host_alignment(bytes);
            },
            "alignment"_a, nb::rv_policy::reference)
        .def(
            "set_estimates",
            [](OutputImageParam &p, nb::sequence r) -> OutputImageParam & {
                return checked(p).set_estimates(to_region(r));
            },
            "estimates"_a, nb::rv_policy::reference)
        .def(
            "store_in",
            [](OutputImageParam &p, MemoryType type) -> OutputImageParam & {
                return checked(p).store_in(type);
            },
            "memory_type"_a, nb::rv_policy::reference)
        .def("_to_argument", [](const OutputImageParam &p) { return Argument(checked(p)); })
        .def("__repr__",
             [](const OutputImageParam &p) { return describe_image(p, "OutputImageParam"); });
    bind_edges(base);
    PythonClass<ImageParam, OutputImageParam> image(m, "ImageParam",
                                                    "A buffer that a pipeline takes.");
    image.attr("__iter__") = nb::none();  // as that of Func
    image.def(nb::init<>())
        .def(
            "__init__", [](ImageParam *p, TypeArg t, int d) { new (p) ImageParam(t.get(), d); },
            "type"_a, "dimensions"_a)
        .def(
            "__init__",
            [](ImageParam *p, TypeArg t, int d, const std::string &name) {
                new (p) ImageParam(t.get(), d, name);
            },
            "type"_a, "dimensions"_a, "name"_a)
        .def(
            "set", [](ImageParam &p, BufferArg b) { p.set(b.get()); }, "buffer"_a)
        .def("get", &ImageParam::get)
        .def("reset", &ImageParam::reset)
        .def(
            "__getitem__",
            [](const ImageParam &p, nb::object at) {
                const std::vector<Expr> coordinates = to_coordinates(at);
                return with_call_errors([&] { return p(coordinates); });
            },
            "coordinates"_a.none(),
            nb::sig("def __getitem__(self, coordinates: typing.Any) -> Expr"))
        .def(
            "in_", [](ImageParam &p, const Func &f) { return p.in(f); }, "f"_a)
        .def(
            "in_", [](ImageParam &p, const std::vector<Func> &fs) { return p.in(fs); }, "fs"_a)
        .def("in_", [](ImageParam &p) { return p.in(); })
        .def("trace_loads", &ImageParam::trace_loads)
        .def("add_trace_tag", &ImageParam::add_trace_tag, "trace_tag"_a, nb::rv_policy::reference)
        .def("__repr__", [](const ImageParam &p) { return describe_image(p, "ImageParam"); });
}

}  // namespace calotype::python
