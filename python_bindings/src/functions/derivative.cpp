// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gradients of pipelines.
#include "bindings.h"

namespace calotype::python {

namespace {

/// With respect to a Func, a pair of a Func and an update, a Buffer or array, a Param, or a name.
Func derivative_of(const Derivative &d, nb::handle of) {
    if (PyTuple_Check(of.ptr())) {
        const nb::tuple pair = nb::borrow<nb::tuple>(of);
        call_assert(pair.size() == 2 && nb::isinstance<Func>(pair[0]) &&
                    PyLong_Check(nb::object(pair[1]).ptr()))
            << describe(of) << " is no pair of a Func and the number of an update";
        return d(nb::cast<const Func &>(pair[0]), nb::cast<int>(pair[1]));
    }
    if (nb::isinstance<Func>(of)) {
        return d(nb::cast<const Func &>(of));
    }
    if (nb::isinstance<Param<>>(of)) {
        return d(nb::cast<const Param<> &>(of));
    }
    if (nb::isinstance<ImageParam>(of)) {
        return d(nb::cast<const ImageParam &>(of).name());
    }
    if (PyUnicode_Check(of.ptr())) {
        return d(nb::cast<std::string>(of));
    }
    call_assert(nb::isinstance<Buffer<>>(of))
        << describe(of) << " is no Func, Buffer, Param or name that a derivative can be of";
    return d(nb::cast<const Buffer<> &>(of));
}

}  // namespace

void bind_derivative(PythonModule &m) {
    PythonClass<Derivative>(m, "Derivative",
                            "How an output changes with all that it depends on: d[f] is a Func.")
        .def("__getitem__", &derivative_of, "of"_a,
             nb::sig("def __getitem__(self, of: typing.Any) -> Func"))
        .def("__call__", &derivative_of, "of"_a,
             nb::sig("def __call__(self, of: typing.Any) -> Func"))
        .def(
            "__call__", [](const Derivative &d, const Func &f, int update) { return d(f, update); },
            "func"_a, "update_id"_a);
    m.def(
        "propagate_adjoints", [](const Func &output) { return propagate_adjoints(output); },
        "output"_a,
        "The derivatives of an output of one element with respect to all that it depends on.");
    m.def(
        "propagate_adjoints",
        [](const Func &output, const Func &adjoint, nb::object bounds) {
            return propagate_adjoints(output, adjoint, to_region(bounds));
        },
        "output"_a, "adjoint"_a, "output_bounds"_a,
        nb::sig("def propagate_adjoints(output: Func, adjoint: Func, output_bounds: "
                "collections.abc.Sequence[typing.Any]) -> Derivative"));
    m.def(
        "propagate_adjoints",
        [](const Func &output, BufferArg adjoint) {
            return propagate_adjoints(output, Buffer<float>(adjoint.get()));
        },
        "output"_a, "adjoint"_a);
}

}  // namespace calotype::python
