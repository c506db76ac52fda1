// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Func: its definitions.
#include "func_args.h"
#include "func_ref.h"

namespace calotype::python {

namespace {

std::vector<Type> types_of(nb::handle list) {
    std::vector<Type> result;
    for (nb::handle h : nb::iter(list)) {
        call_assert(is_type_like(h)) << describe(h) << " is no type";
        result.push_back(to_type(h));
    }
    return result;
}

void bind_constructors(PythonClass<Func> &c) {
    c.def(nb::init<>())
        .def(nb::init<const std::string &>(), "name"_a)
        .def(
            "__init__",
            [](Func *f, TypeArg type, int dimensions, const std::string &name) {
                new (f) Func(type.get(), dimensions, name);
            },
            "required_type"_a, "required_dimensions"_a, "name"_a)
        .def(
            "__init__",
            [](Func *f, nb::sequence types, int dimensions, const std::string &name) {
                new (f) Func(types_of(types), dimensions, name);
            },
            "required_types"_a, "required_dimensions"_a, "name"_a)
        .def(
            "__init__", [](Func *f, const ImageParam &image) { new (f) Func(image); }, "image"_a)
        .def(
            "__init__",
            [](Func *f, const Buffer<> &image) {
                Buffer<> b = image;
                new (f) Func(b);
            },
            "image"_a)
        .def(
            "__init__", [](Func *f, ExprArg e) { new (f) Func(e.get()); }, "expr"_a);
}

nb::tuple to_tuple(const Tuple &t) {
    return nb::tuple(nb::cast(t.as_vector()));
}

void bind_definition(PythonClass<Func> &c) {
    c.def(
         "__getitem__",
         [](const Func &f, nb::object at) {
             const std::vector<Expr> coordinates = to_coordinates(at);
             check_coordinates(f, coordinates);
             return f(coordinates);
         },
         "coordinates"_a.none(),
         nb::sig("def __getitem__(self, coordinates: typing.Any) -> FuncRef"))
        .def(
            "__setitem__",
            [](const Func &f, nb::object at, nb::object value) { assign(f, at, value); },
            "coordinates"_a.none(), "value"_a.none())
        .def("name", [](const Func &f) { return f.name(); })
        .def("defined", &Func::defined)
        .def("args", &Func::args, "The pure Vars.")
        .def("value", &Func::value)
        .def("values", [](const Func &f) { return to_tuple(f.values()); })
        .def("type", [](const Func &f) { return f.type(); })
        .def("types", [](const Func &f) { return f.types(); })
        .def("outputs", &Func::outputs)
        .def("dimensions", &Func::dimensions)
        .def("update", &Func::update, "idx"_a = 0)
        .def(
            "update_args", [](const Func &f, int i) { return f.update_args(i); }, "idx"_a = 0)
        .def("update_value", &Func::update_value, "idx"_a = 0)
        .def(
            "update_values", [](const Func &f, int i) { return to_tuple(f.update_values(i)); },
            "idx"_a = 0)
        .def("rvars", &Func::rvars, "idx"_a = 0)
        .def("has_update_definition", &Func::has_update_definition)
        .def("num_update_definitions", &Func::num_update_definitions)
        .def("is_extern", &Func::is_extern)
        .def("extern_function_name", [](const Func &f) { return f.extern_function_name(); })
        .def("output_buffer", &Func::output_buffer)
        .def("output_buffers", &Func::output_buffers)
        .def("__repr__", [](const Func &f) { return "<calotype.Func '" + f.name() + "'>"; });
}

void bind_lambdas(PythonModule &m) {
    m.def("lambda_func", [](nb::args args) {
        call_assert(args.size() > 0) << "lambda_func needs an expression";
        Func f;
        nb::tuple vars = nb::borrow<nb::tuple>(
            nb::steal(PyTuple_GetSlice(args.ptr(), 0, Py_ssize_t(args.size()) - 1)));
        assign(f, vars, args[args.size() - 1]);
        return f;
    });
}

}  // namespace

std::vector<Func> funcs_of(const nb::args &args) {
    std::vector<Func> result;
    for (nb::handle h : nb::iter(list_or_arguments(args))) {
        call_assert(nb::isinstance<Func>(h)) << describe(h) << " is no Func";
        result.push_back(nb::cast<Func>(h));
    }
    return result;
}

Stage to_stage(nb::handle h) {
    if (nb::isinstance<Func>(h)) {
        return nb::cast<const Func &>(h);
    }
    call_assert(nb::isinstance<Stage>(h)) << describe(h) << " is no Stage and no Func";
    return nb::cast<Stage>(h);
}

Func to_func(nb::handle h) {
    if (nb::isinstance<Func>(h)) {
        return nb::cast<Func>(h);
    }
    if (nb::isinstance<ImageParam>(h)) {
        return Func(nb::cast<ImageParam>(h));
    }
    call_assert(is_buffer_like(h)) << describe(h) << " is no Func, ImageParam or Buffer";
    Buffer<> b = to_buffer(h);
    return Func(b);
}

void bind_func(PythonModule &m) {
    PythonClass<Func> c(m, "Func", "A function over an integer grid.");
    bind_constructors(c);
    bind_definition(c);
    bind_func_directives(c);
    bind_loop_directives(c);
    bind_gpu_directives(c);
    bind_func_compiling(c);
    // Or Python would ask for f[0], f[1] and so on without an end.
    c.attr("__iter__") = nb::none();
    bind_lambdas(m);
}

}  // namespace calotype::python
