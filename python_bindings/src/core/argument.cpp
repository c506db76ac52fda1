// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Argument, ArgumentEstimates, and what may be passed as one.
#include "bindings.h"

namespace calotype::python {

bool is_argument_like(nb::handle h) {
    return nb::isinstance<Argument>(h) || nb::isinstance<OutputImageParam>(h) ||
           nb::isinstance<Param<>>(h) || nb::isinstance<Buffer<>>(h);
}

Argument to_argument(nb::handle h) {
    if (nb::isinstance<Argument>(h)) {
        return nb::cast<Argument>(h);
    }
    if (nb::isinstance<Param<>>(h)) {
        return nb::cast<Param<>>(h);
    }
    if (nb::isinstance<Buffer<>>(h)) {
        const Buffer<> &b = nb::cast<const Buffer<> &>(h);
        user_assert(b.defined()) << "an undefined Buffer is used";
        return Argument(b.name(), Argument::InputBuffer, b.type(), b.dimensions(),
                        ArgumentEstimates());
    }
    return nb::cast<const OutputImageParam &>(h);
}

void bind_argument(PythonModule &m) {
    PythonClass<ArgumentEstimates>(m, "ArgumentEstimates",
                                   "What the author of a pipeline said about an argument.")
        .def(nb::init<>())
        .def_rw("scalar_def", &ArgumentEstimates::scalar_def)
        .def_rw("scalar_min", &ArgumentEstimates::scalar_min)
        .def_rw("scalar_max", &ArgumentEstimates::scalar_max)
        .def_rw("scalar_estimate", &ArgumentEstimates::scalar_estimate)
        .def_rw("buffer_estimates", &ArgumentEstimates::buffer_estimates);
    PythonClass<Argument> c(m, "Argument", "One parameter of a compiled pipeline.");
    c.def(nb::init<>())
        .def(
            "__init__",
            [](Argument *a, const std::string &name, Argument::Kind kind, TypeArg type,
               int dimensions, const ArgumentEstimates &estimates) {
                new (a) Argument(name, kind, type.get(), dimensions, estimates);
            },
            "name"_a, "kind"_a, "type"_a, "dimensions"_a,
            "argument_estimates"_a = ArgumentEstimates())
        .def("__init__", [](Argument *a, ArgumentArg from) { new (a) Argument(from.get()); })
        .def_rw("name", &Argument::name)
        .def_rw("kind", &Argument::kind)
        .def_rw("dimensions", &Argument::dimensions)
        .def_rw("type", &Argument::type)
        .def_rw("argument_estimates", &Argument::argument_estimates)
        .def("is_buffer", &Argument::is_buffer)
        .def("is_scalar", &Argument::is_scalar)
        .def("is_input", &Argument::is_input)
        .def("is_output", &Argument::is_output)
        .def("__repr__", [](const Argument &a) {
            return "<calotype.Argument '" + a.name + "', " +
                   (a.is_buffer() ? std::to_string(a.dimensions) + " dimensions of " : "") +
                   to_string(a.type) + ">";
        });
    for (const char *keyword : {"im", "param", "buffer"}) {
        c.def(
            "__init__", [](Argument *a, ArgumentArg from) { new (a) Argument(from.get()); },
            nb::kw_only(), nb::arg(keyword));
    }
}

}  // namespace calotype::python
