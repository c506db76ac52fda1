// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Module, and writing modules out.
#include "bindings.h"
#include "buffer.h"
#include "interruptible.h"
#include "paths.h"

namespace calotype::python {

using namespace internal;

namespace {

void multitarget(const std::string &fn_name, const OutputPaths &outputs,
                 const std::vector<Target> &targets, const std::vector<std::string> &suffixes,
                 nb::callable factory) {
    const auto make = [&](const std::string &name, const Target &target) {
        HeldGil gil;
        const nb::object made = run_python([&] { return factory(name, target); });
        user_assert(nb::isinstance<Module>(made))
            << "the factory of modules gives " << describe(made) << ", must give a Module";
        return nb::cast<Module>(made);
    };
    compile_files(
        [&] { compile_multitarget(fn_name, names_of(outputs), targets, suffixes, make); });
}

// Other threads may append to a module while a copy of it is compiled.
std::string to_object_bytes(const Module &module) {
    const Module copy = module.resolve_submodules();
    return compile([&] { return copy.compile_to_object_bytes(); });
}

Buffer<uint8_t> to_object_buffer(const Module &module) {
    const Module copy = module.resolve_submodules();
    return compile([&] { return copy.compile_to_buffer(); });
}

// Copies of the constant images, with their shapes.
nb::list buffers_of(const Module &module) {
    nb::list result;
    for (const LoweredBuffer &b : module.buffers()) {
        std::vector<calotype_dimension_t> shape;
        for (const LoweredBuffer::Dimension &d : b.dimensions) {
            shape.emplace_back(d.min, d.extent, d.stride);
        }
        auto *bytes = const_cast<uint8_t *>(b.bytes.data());
        const Runtime::Buffer<> copy = Runtime::Buffer<>(b.type.to_abi(), bytes, shape).copy();
        result.append(nb::cast(Buffer<>(copy, b.name)));
    }
    return result;
}

// A copy of the elements, with the shape.
LoweredBuffer embedded(const Buffer<> &buffer) {
    user_assert(buffer.defined()) << "an undefined buffer is embedded in a module";
    const std::string problem = why_not_shown(buffer);
    user_assert(problem.empty()) << problem;
    const Buffer<> copy = buffer.copy();
    const calotype_buffer_t &raw = *copy.raw_buffer();
    LoweredBuffer result;
    result.name = buffer.name();
    result.type = copy.type();
    for (int i = 0; i < raw.dimensions; i++) {
        result.dimensions.push_back({raw.dim[i].min, raw.dim[i].extent, raw.dim[i].stride});
    }
    const auto *first = static_cast<const uint8_t *>(copy.data());
    result.bytes.assign(first, first + copy.number_of_elements() * copy.type().bytes());
    return result;
}

void bind_standalone_runtime(PythonModule &m) {
    m.def(
        "compile_standalone_runtime",
        [](const Path &file, const Target &t, const RuntimeNamespaceMap &prefixes) {
            compile_standalone_runtime(file, t, prefixes);
        },
        "filename"_a, "target"_a, "namespace_map"_a = RuntimeNamespaceMap());
    m.def(
        "compile_standalone_runtime",
        [](const OutputPaths &outputs, const Target &t, const RuntimeNamespaceMap &prefixes) {
            return compile_standalone_runtime(names_of(outputs), t, prefixes);
        },
        "outputs"_a, "target"_a, "namespace_map"_a = RuntimeNamespaceMap());
}

}  // namespace

void bind_module(PythonModule &m) {
    PythonClass<Module>(m, "Module", "Lowered functions for one target, ready to be written out.")
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
        .def(
            "append", [](Module &self, const Buffer<> &b) { self.append(embedded(b)); }, "buffer"_a,
            "Embeds a copy of the image in the code, by its name.")
        .def("buffers", &buffers_of, "Copies of the images that are embedded in the code.",
             nb::sig("def buffers(self) -> list[Buffer]"))
        .def("submodules", &Module::submodules)
        .def("resolve_submodules", &Module::resolve_submodules)
        .def(
            "compile",
            [](const Module &self, const OutputPaths &outputs) {
                const Module copy = self.resolve_submodules();
                compile_files([&] { copy.compile(names_of(outputs)); });
            },
            "outputs"_a)
        .def(
            "compile_to_bytes",
            [](const Module &self) {
                const std::string bytes = to_object_bytes(self);
                return nb::bytes(bytes.data(), bytes.size());
            },
            "The bytes of an object file.")
        .def(
            "compile_to_buffer",
            [](const Module &self) { return Buffer<>(to_object_buffer(self)); },
            "The same as a Buffer.")
        .def("remap_metadata_name", &Module::remap_metadata_name, "from_"_a, "to"_a)
        .def("get_metadata_name_map", &Module::get_metadata_name_map)
        .def("get_runtime_prefixes_map", &Module::get_runtime_prefixes_map)
        .def("set_runtime_prefixes_map", &Module::set_runtime_prefixes_map, "prefixes"_a)
        .def("get_cuda_ptx_assembly_buffer", &Module::get_cuda_ptx_assembly_buffer)
        .def("get_device_code_buffer", &Module::get_device_code_buffer)
        .def("set_auto_scheduler_results", &Module::set_auto_scheduler_results, "results"_a,
             "What the outputs schedule and featurization say.")
        .def("get_auto_scheduler_results", &Module::get_auto_scheduler_results, nb::rv_policy::copy,
             nb::sig("def get_auto_scheduler_results(self) -> AutoSchedulerResults | None"))
        .def("__repr__",
             [](const Module &self) { return "<calotype.Module '" + self.name() + "'>"; });
    m.def("link_modules", &link_modules, "name"_a, "modules"_a);
    m.def(
        "create_static_library",
        [](const std::vector<Path> &sources, const Target &target, const Path &library,
           bool deterministic) {
            create_static_library({sources.begin(), sources.end()}, target, library, deterministic);
        },
        "src_files"_a, "target"_a, "dst_file"_a, "deterministic"_a = true);
    bind_standalone_runtime(m);
    m.def("get_compiler_stack_size", &get_compiler_stack_size);
    m.def("set_compiler_stack_size", &set_compiler_stack_size, "bytes"_a,
          "How many bytes of stack compiling gets; 0: that of the calling thread.");
    m.def("compile_multitarget", &multitarget, "fn_name"_a, "outputs"_a, "targets"_a, "suffixes"_a,
          "module_factory"_a);
}

}  // namespace calotype::python
