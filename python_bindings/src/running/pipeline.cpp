// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pipeline.
#include "compiling.h"

namespace calotype::python {

namespace {

std::string describe_pipeline(const Pipeline &p) {
    std::string text;
    if (p.defined()) {
        for (const Func &f : p.outputs()) {
            text += (text.empty() ? "'" : ", '") + f.name() + "'";
        }
    }
    return p.defined() ? "<calotype.Pipeline [" + text + "]>" : "<calotype.Pipeline Pipeline()>";
}

}  // namespace

void bind_pipeline(PythonModule &m) {
    PythonClass<Pipeline> c(m, "Pipeline", "Output Funcs that are compiled and run together.");
    c.def(nb::init<>())
        .def(nb::init<const Func &>(), "output"_a)
        .def(nb::init<const std::vector<Func> &>(), "outputs"_a)
        .def("defined", &Pipeline::defined)
        .def("outputs", &Pipeline::outputs)
        .def("get_func", &Pipeline::get_func, "index"_a)
        .def("trace_pipeline", &Pipeline::trace_pipeline)
        .def("invalidate_cache", &Pipeline::invalidate_cache)
        .def(
            "add_requirement",
            [](Pipeline &p, ExprArg condition, nb::args error_args) {
                p.add_requirement(condition.get(), to_message(error_args));
            },
            "condition"_a, "error_args"_a)
        .def(
            "apply_runtime_prefixes",
            [](const Pipeline &p, const Target &target, const RuntimeNamespaceMap &prefixes) {
                p.apply_runtime_prefixes(target, prefixes);
            },
            "target"_a, "namespace_map"_a)
        .def("__repr__", &describe_pipeline);
    bind_writes(c);
    bind_statements(c);
    bind_multitarget(c);
    bind_running(c);
}

}  // namespace calotype::python
