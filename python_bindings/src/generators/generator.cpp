// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What calotype._generator makes generators with, and their command line.
#include <calotype/generator/cli/run.h>
#include <calotype/generator/generator_source.h>
#include <calotype/generator/registry.h>

#include <iostream>

#include "bindings.h"
#include "interruptible.h"
#include "python_generator.h"
#include "run.h"

namespace calotype::python {

using namespace internal;

namespace {

using calotype::internal::GeneratorBase;
using calotype::internal::GeneratorFactory;

std::unique_ptr<PythonGenerator> make(nb::handle declarations, const GeneratorContext &context,
                                      const std::string &name) {
    const PythonGenerator::Declarations scope(declarations);
    return GeneratorFactory::create<PythonGenerator>(context, name);
}

// The classes that calotype._generator has been told of.
class PythonSource : public calotype::internal::GeneratorSource {
public:
    std::vector<std::string> names() const override {
        HeldGil gil;
        return nb::cast<std::vector<std::string>>(registry().attr("_registered_names")());
    }
    std::unique_ptr<GeneratorBase> create(const std::string &name,
                                          const GeneratorContext &context) override {
        HeldGil gil;
        nb::object found = registry().attr("_find")(name);
        if (found.is_none()) {
            return nullptr;
        }
        auto generator = make(found[1], context, name);
        nb::object instance =
            found[0].attr("_adopt")(nb::cast(generator.get(), nb::rv_policy::reference), found[2]);
        generator->set_instance(instance, true);
        return generator;
    }

private:
    static nb::module_ registry() {
        return nb::module_::import_("calotype._generator");
    }
};

int main_of(const std::vector<std::string> &args) {
    ReleasedGil without_gil;
    return calotype::internal::generator_main(args, std::cout, std::cerr);
}

nb::object callable_of(const Target &target, const AutoschedulerParams &autoscheduler,
                       const std::string &name, const GeneratorParamsMap &params) {
    const Target t = target == Target() ? get_jit_target_from_environment() : target;
    const Callable c = compile([&] {
        return create_callable_from_generator(GeneratorContext(t, autoscheduler), name, params);
    });
    return to_python_callable(c, t);
}

}  // namespace

void bind_generator(PythonModule &m) {
    PythonClass<PythonGenerator>(m, "_Generator")
        .def("set_param", [](PythonGenerator &g, const std::string &name,
                             const std::string &text) { g.set_param(name, text); })
        .def("set_instance", &PythonGenerator::set_instance)
        .def("add_later", &PythonGenerator::add_later, nb::arg(), nb::arg(), nb::arg().none(),
             nb::arg())
        .def("param_text", &PythonGenerator::param_text)
        .def("configure", [](PythonGenerator &g) { g.configure_once(); })
        .def("input_names", &PythonGenerator::input_names)
        .def("input_type", &PythonGenerator::input_type)
        .def("is_scalar", &PythonGenerator::is_scalar)
        .def("value_of", &PythonGenerator::value_of)
        .def("outputs", &PythonGenerator::output_funcs)
        .def("build", &PythonGenerator::build)
        .def("arguments", [](const PythonGenerator &g) { return g.arguments(); })
        .def("target", [](const PythonGenerator &g) { return g.get_target(); })
        .def("autoscheduler",
             [](const PythonGenerator &g) { return g.context().autoscheduler_params(); })
        .def("using_autoscheduler", &GeneratorBase::using_autoscheduler)
        .def("name", [](const PythonGenerator &g) { return g.registered_name(); })
        .def("add_requirement", [](PythonGenerator &g, ExprArg condition, nb::args message) {
            g.add_requirement(condition, to_message(message));
        });
    m.def(
        "_make_generator",
        [](nb::list declarations, const Target &target, const AutoschedulerParams &autoscheduler,
           const std::string &name) {
            const Target t = target == Target() ? get_jit_target_from_environment() : target;
            return make(declarations, GeneratorContext(t, autoscheduler), name).release();
        },
        nb::rv_policy::take_ownership);
    m.def("_generator_main", &main_of);
    m.def("_create_callable_from_generator", &callable_of, "target"_a, "autoscheduler"_a, "name"_a,
          "generator_params"_a = GeneratorParamsMap());
    static PythonSource source;
    calotype::internal::set_generator_source(&source);
}

}  // namespace calotype::python
