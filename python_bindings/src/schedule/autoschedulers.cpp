// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Autoschedulers, of plugins and in Python.
#include "bindings.h"
#include "paths.h"
#include "pickled.h"

namespace calotype::python {

namespace {

std::map<std::string, std::string> to_texts(nb::dict settings) {
    std::map<std::string, std::string> result;
    for (auto [name, value] : settings) {
        result[nb::cast<std::string>(name)] = nb::cast<std::string>(nb::str(value));
    }
    return result;
}

// The function gives the schedule as text, or None.
void add_autoscheduler(const std::string &name, nb::callable function) {
    // Never freed: it stays known until the process ends.
    nb::handle kept = function.inc_ref();
    try {
        Pipeline::add_autoscheduler(name, [kept](const Pipeline &p, const Target &t,
                                                 const AutoschedulerParams &params,
                                                 AutoSchedulerResults *results) {
            HeldGil gil;
            const nb::object text = run_python([&] { return kept(p, t, params); });
            if (!text.is_none()) {
                user_assert(PyUnicode_Check(text.ptr()))
                    << "an autoscheduler of Python gives " << describe(text)
                    << ", must give the schedule as a str, or None";
                results->schedule_source = nb::cast<std::string>(text);
            }
        });
    } catch (...) {
        function.dec_ref();
        throw;
    }
}

}  // namespace

void bind_autoschedulers(PythonModule &m) {
    PythonClass<AutoschedulerParams> params(m, "AutoschedulerParams",
                                            "The choice of an autoscheduler, and its settings.");
    params.def(nb::init<>())
        .def(nb::init<const std::string &>(), "name"_a)
        .def(
            "__init__",
            [](AutoschedulerParams *self, const std::string &name, nb::dict extra) {
                new (self) AutoschedulerParams(name, to_texts(extra));
            },
            "name"_a, "extra"_a)
        .def(
            "__init__",
            [](AutoschedulerParams *self, const std::string &name, nb::dict extra) {
                new (self) AutoschedulerParams(name, to_texts(extra));
            },
            nb::kw_only(), "target"_a, "autoscheduler_params"_a,
            "By the names that Halide's module has for both.")
        .def_rw("name", &AutoschedulerParams::name)
        .def_prop_rw(
            "extra", [](const AutoschedulerParams &p) { return p.extra; },
            [](AutoschedulerParams &p, nb::dict extra) { p.extra = to_texts(extra); })
        .def("to_string", &AutoschedulerParams::to_string)
        .def("__str__", &AutoschedulerParams::to_string)
        .def("__repr__", [](const AutoschedulerParams &p) {
            return "<calotype.AutoschedulerParams " + p.to_string() + ">";
        });
    using State = std::pair<std::string, std::map<std::string, std::string>>;
    make_picklable(
        params, [](const AutoschedulerParams &p) { return State(p.name, p.extra); },
        [](AutoschedulerParams *p, const State &state) {
            new (p) AutoschedulerParams(state.first, state.second);
        });
    PythonClass<AutoSchedulerResults>(m, "AutoSchedulerResults",
                                      "What an autoscheduler says of its work.")
        .def_ro("target", &AutoSchedulerResults::target)
        .def_ro("autoscheduler_params", &AutoSchedulerResults::autoscheduler_params)
        .def_ro("schedule_source", &AutoSchedulerResults::schedule_source)
        .def_prop_ro("featurization",
                     [](const AutoSchedulerResults &r) {
                         return nb::bytes(r.featurization.data(), r.featurization.size());
                     })
        .def("__repr__", [](const AutoSchedulerResults &r) {
            return "<calotype.AutoSchedulerResults of " + r.autoscheduler_params.name + ">";
        });
    auto pipeline = PythonClass<Pipeline>::in(m, "Pipeline");
    pipeline.def("apply_autoscheduler", &Pipeline::apply_autoscheduler, "target"_a,
                 "autoscheduler_params"_a);
    pipeline.def_static("add_autoscheduler", &add_autoscheduler, "name"_a, "function"_a,
                        "Makes function(pipeline, target, params) the autoscheduler of that name: "
                        "it schedules the Funcs of the pipeline, and may give a text that says "
                        "how.");
    m.def(
        "load_plugin", [](const Path &library) { load_plugin(library); }, "lib_name"_a,
        "Loads a shared library that registers generators, autoschedulers or handlers.");
}

}  // namespace calotype::python
