// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stage: one definition of a Func, to be scheduled.
#include "func_args.h"
#include "loop_directives.h"

namespace calotype::python {

void bind_stage(PythonModule &m) {
    PythonClass<Stage> c(m, "Stage", "One definition of a Func, to be scheduled.");
    c.def(
         "__init__", [](Stage *s, const Func &f) { new (s) Stage(f); }, "func"_a)
        .def("name", &Stage::name)
        .def("__repr__", [](const Stage &s) { return "<calotype.Stage '" + s.name() + "'>"; })
        .def("dump_argument_list", &Stage::dump_argument_list)
        .def("unscheduled", &Stage::unscheduled, same_object)
        .def("stage_index", &Stage::stage_index)
        .def(
            "rfactor",
            [](Stage &s, const std::vector<std::pair<RVar, Var>> &preserved) {
                return s.rfactor(preserved);
            },
            "preserved"_a)
        .def(
            "rfactor", [](Stage &s, LoopArg r, const Var &v) { return s.rfactor(r.get().rvar, v); },
            "r"_a, "v"_a)
        .def(
            "eager_inline",
            [](Stage &s, nb::args fs) -> Stage & { return s.eager_inline(funcs_of(fs)); },
            same_object)
        .def(
            "stream_loads",
            [](Stage &s, nb::handle from) -> Stage & {
                return nb::isinstance<Func>(from)
                           ? s.stream_loads(nb::cast<const Func &>(from))
                           : s.stream_loads(nb::cast<const OutputImageParam &>(from).parameter());
            },
            "source"_a, same_object)
        .def(
            "stream_loads", [](Stage &s) -> Stage & { return s.stream_loads(); }, same_object);
    bind_compute_with(c);
    bind_loop_directives(c);
    bind_gpu_directives(c);
}

}  // namespace calotype::python
