// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Var and RVar.
#include "bindings.h"
#include "pickled.h"

namespace calotype::python {

namespace {

void bind_rvar(PythonModule &m) {
    PythonClass<RVar> c(m, "RVar", "One loop of a reduction, or a loop made of one by a schedule.");
    c.def(nb::init<>())
        .def(nb::init<const std::string &>(), "name"_a)
        .def("name", &RVar::name)
        .def("min", &RVar::min)
        .def("extent", &RVar::extent)
        .def("__copy__", [](nb::handle self) { return nb::borrow(self); })
        .def(
            "__deepcopy__", [](nb::handle self, nb::handle) { return nb::borrow(self); }, "memo"_a)
        .def("__str__", &RVar::name)
        .def("__repr__", [](const RVar &v) { return "<calotype.RVar '" + v.name() + "'>"; });
    add_operators(c);
}

void bind_var_or_rvar(PythonModule &m) {
    PythonClass<VarOrRVar>(m, "VarOrRVar", "A loop, named by a Var or by an RVar.")
        .def(nb::init<const std::string &, bool>(), "name"_a, "is_rvar"_a)
        .def("__init__", [](VarOrRVar *v, LoopArg loop) { new (v) VarOrRVar(loop.get()); })
        .def("name", &VarOrRVar::name)
        .def_ro("var", &VarOrRVar::var)
        .def_ro("rvar", &VarOrRVar::rvar)
        .def_ro("is_rvar", &VarOrRVar::is_rvar)
        .def("__repr__",
             [](const VarOrRVar &v) { return "<calotype.VarOrRVar '" + v.name() + "'>"; });
}

}  // namespace

void bind_var(PythonModule &m) {
    PythonClass<Var> c(m, "Var", "A dimension of a Func, or a loop of its schedule.");
    c.def(nb::init<>())
        .def(nb::init<const std::string &>(), "name"_a)
        .def("name", &Var::name)
        .def("same_as", &Var::same_as, "other"_a)
        .def("is_implicit", [](const Var &v) { return v.is_implicit(); })
        .def("implicit_index", [](const Var &v) { return v.implicit_index(); })
        .def("is_placeholder", [](const Var &v) { return v.is_placeholder(); })
        .def_static("implicit", &Var::implicit, "index"_a)
        .def_static("outermost", &Var::outermost)
        .def("__str__", &Var::name)
        .def("__repr__", [](const Var &v) { return "<calotype.Var '" + v.name() + "'>"; });
    make_picklable(c, &Var::name, [](Var *v, const std::string &name) { new (v) Var(name); });
    add_operators(c);
    m.attr("_") = Var("_");
    for (int i = 0; i < 10; i++) {
        m.attr(("_" + std::to_string(i)).c_str()) = Var::implicit(i);
    }
    bind_rvar(m);
    bind_var_or_rvar(m);
}

}  // namespace calotype::python
