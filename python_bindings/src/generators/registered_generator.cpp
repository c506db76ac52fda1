// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Generators that libraries have registered, most of them written in C++, used inside of a program.
#include <calotype/generator/registry.h>
#include <calotype/support/text.h>

#include "bindings.h"
#include "python_generator.h"

namespace calotype::python {

using namespace internal;

namespace {

using calotype::internal::GeneratorBase;
using calotype::internal::InputBase;
using calotype::internal::OutputBase;

/// One list of values an input.
std::vector<std::vector<StubInput>> to_stub_inputs(nb::handle lists) {
    std::vector<std::vector<StubInput>> given;
    for (nb::handle list : nb::iter(lists)) {
        given.emplace_back();
        for (nb::handle value : nb::iter(list)) {
            given.back().push_back(to_stub_input(value));
        }
    }
    return given;
}

nb::list input_names(const GeneratorBase &g) {
    nb::list names;
    for (const InputBase *i : g.inputs()) {
        names.append(i->io_name());
    }
    return names;
}

const InputBase &input_of(const GeneratorBase &g, const std::string &name) {
    for (const InputBase *i : g.inputs()) {
        if (i->io_name() == name) {
            return *i;
        }
    }
    user_error << "generator '" << g.registered_name() << "' has no input '" << name << "'";
}

/// A Func an output, of arrays a list.
nb::list outputs_of(const GeneratorBase &g) {
    nb::list result;
    for (const OutputBase *o : g.outputs()) {
        const std::vector<Func> funcs = o->checked_funcs();
        result.append(o->is_array() ? nb::cast(funcs) : nb::cast(funcs[0]));
    }
    return result;
}

}  // namespace

void bind_registered_generator(PythonModule &m) {
    PythonClass<GeneratorBase>(m, "_RegisteredGenerator")
        .def("set_param", [](GeneratorBase &g, const std::string &name,
                             const std::string &text) { g.set_param(name, text); })
        .def("set_param", [](GeneratorBase &g, const std::string &name,
                             const LoopLevel &level) { g.set_param(name, level); })
        .def("name", [](const GeneratorBase &g) { return g.registered_name(); })
        .def("configure", [](GeneratorBase &g) { g.configure_once(); })
        .def("input_names", &input_names)
        .def("input_type",
             [](const GeneratorBase &g, const std::string &name) {
                 const InputBase &i = input_of(g, name);
                 return i.types_defined() ? i.io_type() : Type();
             })
        .def("is_scalar",
             [](const GeneratorBase &g, const std::string &name) {
                 return input_of(g, name).kind() == calotype::internal::IOKind::Scalar;
             })
        .def("is_array", [](const GeneratorBase &g,
                            const std::string &name) { return input_of(g, name).is_array(); })
        .def("build", [](GeneratorBase &g,
                         nb::sequence given) { return g.build_pipeline(to_stub_inputs(given)); })
        .def("outputs", &outputs_of);
    m.def("_unique_name",
          [](const std::string &prefix) { return calotype::internal::unique_name(prefix); });
    m.def(
        "_make_registered_generator",
        [](const std::string &name, const Target &target,
           const AutoschedulerParams &autoscheduler) {
            const GeneratorContext context(target, autoscheduler);
            return calotype::internal::create_generator(name, context).release();
        },
        nb::rv_policy::take_ownership);
}

}  // namespace calotype::python
