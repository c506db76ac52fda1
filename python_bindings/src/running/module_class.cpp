// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Module, and writing modules out.
#include "bindings.h"

namespace calotype::python {

namespace {

using OutputMap = std::map<OutputFileType, std::string>;

void multitarget(const std::string &fn_name, const OutputMap &outputs,
                 const std::vector<Target> &targets, const std::vector<std::string> &suffixes,
                 nb::callable factory) {
    ReleasedGil without_gil;
    compile_multitarget(
        fn_name, outputs, targets, suffixes, [&](const std::string &name, const Target &target) {
            HeldGil gil;
            const nb::object made = factory(name, target);
            user_assert(nb::isinstance<Module>(made))
                << "the factory of modules gives " << describe(made) << ", must give a Module";
            return nb::cast<Module>(made);
        });
}

}  // namespace

void bind_module(nb::module_ &m) {
    nb::class_<Module>(m, "Module", "Lowered functions for one target, ready to be written out.")
        .def(
            "__init__",
            [](Module *self, const std::string &name, const Target &target) {
                new (self) Module(name, target);
            },
            "name"_a, "target"_a)
        .def("target", &Module::target)
        .def("name", &Module::name)
        .def(
            "append", [](Module &self, const Module &other) { self.append(other); }, "module"_a)
        .def("submodules", &Module::submodules)
        .def("resolve_submodules", &Module::resolve_submodules)
        .def(
            "compile",
            [](const Module &self, const OutputMap &outputs) {
                ReleasedGil without_gil;
                self.compile(outputs);
            },
            "outputs"_a)
        .def(
            "compile_to_bytes",
            [](const Module &self) {
                std::string bytes;
                {
                    ReleasedGil without_gil;
                    bytes = self.compile_to_object_bytes();
                }
                return nb::bytes(bytes.data(), bytes.size());
            },
            "The bytes of an object file.")
        .def("remap_metadata_name", &Module::remap_metadata_name, "from_"_a, "to"_a)
        .def("get_metadata_name_map", &Module::get_metadata_name_map)
        .def("__repr__",
             [](const Module &self) { return "<calotype.Module '" + self.name() + "'>"; });
    m.def("link_modules", &link_modules, "name"_a, "modules"_a);
    m.def(
        "compile_standalone_runtime",
        [](const std::string &file, const Target &t) { compile_standalone_runtime(file, t); },
        "filename"_a, "target"_a);
    m.def(
        "compile_standalone_runtime",
        [](const OutputMap &outputs, const Target &t) {
            return compile_standalone_runtime(outputs, t);
        },
        "outputs"_a, "target"_a);
    m.def("get_compiler_stack_size", &get_compiler_stack_size);
    m.def("set_compiler_stack_size", &set_compiler_stack_size, "bytes"_a,
          "How many bytes of stack compiling gets; 0: that of the calling thread.");
    m.def("compile_multitarget", &multitarget, "fn_name"_a, "outputs"_a, "targets"_a, "suffixes"_a,
          "module_factory"_a);
}

}  // namespace calotype::python
