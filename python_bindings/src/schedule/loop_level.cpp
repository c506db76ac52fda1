// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LoopLevel.
#include "bindings.h"

namespace calotype::python {

namespace {

/// As messages name it; the level's own text is for levels that are locked.
std::string text_of(const LoopLevel &l) {
    if (!l.defined() || l.is_inlined() || l.is_root()) {
        return !l.defined() ? "undefined" : l.is_root() ? "root" : "inlined";
    }
    const std::string stage = l.stage_index() >= 0 ? ".s" + std::to_string(l.stage_index()) : "";
    return l.func_name() + stage + "." + l.var_name();
}

}  // namespace

void bind_loop_level(PythonModule &m) {
    PythonClass<LoopLevel>(m, "LoopLevel", "A place in a loop nest.")
        .def(nb::init<>())
        .def(
            "__init__",
            [](LoopLevel *level, const Func &f, LoopArg var, int stage_index) {
                new (level) LoopLevel(f, var.get(), stage_index);
            },
            "func"_a, "var"_a, "stage_index"_a = -1)
        .def_static("inlined", &LoopLevel::inlined)
        .def_static("root", &LoopLevel::root)
        .def("set", &LoopLevel::set, "other"_a)
        .def("defined", &LoopLevel::defined)
        .def("locked", &LoopLevel::locked)
        .def("is_inlined", &LoopLevel::is_inlined)
        .def("is_root", &LoopLevel::is_root)
        .def("stage_index", &LoopLevel::stage_index)
        .def("func", &LoopLevel::func_name)
        .def("var",
             [](const LoopLevel &l) {
                 return l.is_rvar() ? nb::cast(RVar(l.var_name())) : nb::cast(Var(l.var_name()));
             })
        .def("to_string", &LoopLevel::to_string)
        .def(
            "__eq__", [](const LoopLevel &a, const LoopLevel &b) { return a == b; },
            nb::is_operator())
        .def("__repr__",
             [](const LoopLevel &l) { return "<calotype.LoopLevel " + text_of(l) + ">"; });
}

}  // namespace calotype::python
