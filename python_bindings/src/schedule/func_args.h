// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arguments that only Func and Stage take.
#pragma once

#include "loop_directives.h"

namespace calotype::python {

/// f, g, ... or one list of them.
std::vector<Func> funcs_of(const nb::args &args);

using Alignments = std::vector<std::pair<LoopArg, LoopAlignStrategy>>;

inline std::vector<std::pair<VarOrRVar, LoopAlignStrategy>> alignments(const Alignments &list) {
    std::vector<std::pair<VarOrRVar, LoopAlignStrategy>> result;
    for (const auto &[loop, strategy] : list) {
        result.emplace_back(loop.get(), strategy);
    }
    return result;
}

/// A Stage, or a Func for its pure definition.
Stage to_stage(nb::handle h);

template<typename T>
void bind_compute_with(PythonClass<T> &c) {
    const auto align = nb::arg("align") = LoopAlignStrategy::Auto;
    c.def(
         "compute_with",
         [](T &t, const LoopLevel &level, LoopAlignStrategy a) -> T & {
             return t.compute_with(level, a);
         },
         "loop_level"_a, align, same_object)
        .def(
            "compute_with",
            [](T &t, const LoopLevel &level, const Alignments &list) -> T & {
                return t.compute_with(level, alignments(list));
            },
            "loop_level"_a, "align"_a, same_object)
        .def(
            "compute_with",
            [](T &t, nb::handle stage, LoopArg var, LoopAlignStrategy a) -> T & {
                return t.compute_with(to_stage(stage), var, a);
            },
            "stage"_a, "var"_a, align, same_object)
        .def(
            "compute_with",
            [](T &t, nb::handle stage, LoopArg var, const Alignments &list) -> T & {
                return t.compute_with(to_stage(stage), var, alignments(list));
            },
            "stage"_a, "var"_a, "align"_a, same_object);
}

/// The parts of Func.
void bind_func_directives(PythonClass<Func> &c);
void bind_func_compiling(PythonClass<Func> &c);

}  // namespace calotype::python
