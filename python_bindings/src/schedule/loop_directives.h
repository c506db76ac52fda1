// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The schedule directives that Func and Stage have in common. Each gives the object back.
#pragma once

#include "bindings.h"

namespace calotype::python {

constexpr auto same_object = nb::rv_policy::reference;
using Loops = std::vector<LoopArg>;
using Factors = std::vector<ExprArg>;

inline std::vector<VarOrRVar> loops_of(nb::handle args) {
    std::vector<VarOrRVar> result;
    for (nb::handle h : nb::iter(args)) {
        call_assert(is_loop_like(h)) << describe(h) << " is no loop: a Var or RVar is one";
        result.push_back(to_loop(h));
    }
    return result;
}

/// reorder(x, y) and reorder([x, y]).
inline std::vector<VarOrRVar> loops_or_list(const nb::args &args) {
    const bool is_loop = args.size() == 1 && is_loop_like(args[0]);
    return loops_of(is_loop ? nb::object(args) : list_or_arguments(args));
}

/// A directive for any number of loops: one after another, in a list, or a list by the keyword `vars`.
template<typename T, typename Directive>
void bind_for_loops(PythonClass<T> &c, const char *name, Directive directive) {
    c.def(
         name,
         [directive](T &t, nb::args vars) -> T & { return directive(t, loops_or_list(vars)); },
         same_object)
        .def(
            name,
            [directive](T &t, const Loops &vars) -> T & {
                return directive(t, convert_all<VarOrRVar>(vars));
            },
            nb::kw_only(), "vars"_a, same_object);
}

template<typename T>
void bind_splits(PythonClass<T> &c) {
    c.def(
         "split",
         [](T &t, LoopArg old, LoopArg outer, LoopArg inner, ExprArg factor,
            TailStrategy tail) -> T & { return t.split(old, outer, inner, factor, tail); },
         "old"_a, "outer"_a, "inner"_a, "factor"_a, "tail"_a = TailStrategy::Auto, same_object)
        .def(
            "fuse",
            [](T &t, LoopArg inner, LoopArg outer, LoopArg fused) -> T & {
                return t.fuse(inner, outer, fused);
            },
            "inner"_a, "outer"_a, "fused"_a, same_object)
        .def(
            "rename", [](T &t, LoopArg old, LoopArg name) -> T & { return t.rename(old, name); },
            "old_name"_a, "new_name"_a, same_object)
        .def("split_vars", [](const T &t) {
            nb::list result;
            for (const VarOrRVar &v : t.split_vars()) {
                result.append(v.is_rvar ? nb::cast(v.rvar) : nb::cast(v.var));
            }
            return result;
        });
    bind_for_loops(c, "reorder",
                   [](T &t, const std::vector<VarOrRVar> &vars) -> T & { return t.reorder(vars); });
}

template<typename T>
void bind_tiles(PythonClass<T> &c) {
    c.def(
         "tile",
         [](T &t, LoopArg x, LoopArg y, LoopArg xo, LoopArg yo, LoopArg xi, LoopArg yi,
            ExprArg xfactor, ExprArg yfactor, TailStrategy tail) -> T & {
             return t.tile(x, y, xo, yo, xi, yi, xfactor, yfactor, tail);
         },
         "x"_a, "y"_a, "xo"_a, "yo"_a, "xi"_a, "yi"_a, "xfactor"_a, "yfactor"_a,
         "tail"_a = TailStrategy::Auto, same_object)
        .def(
            "tile",
            [](T &t, LoopArg x, LoopArg y, LoopArg xi, LoopArg yi, ExprArg xfactor, ExprArg yfactor,
               TailStrategy tail) -> T & { return t.tile(x, y, xi, yi, xfactor, yfactor, tail); },
            "x"_a, "y"_a, "xi"_a, "yi"_a, "xfactor"_a, "yfactor"_a, "tail"_a = TailStrategy::Auto,
            same_object)
        .def(
            "tile",
            [](T &t, const Loops &previous, const Loops &outers, const Loops &inners,
               const Factors &factors, TailStrategy tail) -> T & {
                return t.tile(convert_all<VarOrRVar>(previous), convert_all<VarOrRVar>(outers),
                              convert_all<VarOrRVar>(inners), convert_all<Expr>(factors), tail);
            },
            "previous"_a, "outers"_a, "inners"_a, "factors"_a, "tail"_a = TailStrategy::Auto,
            same_object)
        .def(
            "tile",
            [](T &t, const Loops &previous, const Loops &inners, const Factors &factors,
               TailStrategy tail) -> T & {
                return t.tile(convert_all<VarOrRVar>(previous), convert_all<VarOrRVar>(inners),
                              convert_all<Expr>(factors), tail);
            },
            "previous"_a, "inners"_a, "factors"_a, "tail"_a = TailStrategy::Auto, same_object);
}

template<typename T>
void bind_loop_types(PythonClass<T> &c) {
    c.def(
         "serial", [](T &t, LoopArg v) -> T & { return t.serial(v); }, "var"_a, same_object)
        .def(
            "parallel", [](T &t, LoopArg v) -> T & { return t.parallel(v); }, "var"_a, same_object)
        .def(
            "parallel",
            [](T &t, LoopArg v, ExprArg size, TailStrategy tail) -> T & {
                return t.parallel(v, size, tail);
            },
            "var"_a, "task_size"_a, "tail"_a = TailStrategy::Auto, same_object)
        .def(
            "vectorize", [](T &t, LoopArg v) -> T & { return t.vectorize(v); }, "var"_a,
            same_object)
        .def(
            "vectorize",
            [](T &t, LoopArg v, ExprArg factor, TailStrategy tail) -> T & {
                return t.vectorize(v, factor, tail);
            },
            "var"_a, "factor"_a, "tail"_a = TailStrategy::Auto, same_object)
        .def(
            "unroll", [](T &t, LoopArg v) -> T & { return t.unroll(v); }, "var"_a, same_object)
        .def(
            "unroll",
            [](T &t, LoopArg v, ExprArg factor, TailStrategy tail) -> T & {
                return t.unroll(v, factor, tail);
            },
            "var"_a, "factor"_a, "tail"_a = TailStrategy::Auto, same_object);
}

template<typename T>
void bind_partitions(PythonClass<T> &c) {
    c.def(
         "partition",
         [](T &t, LoopArg v, Partition policy) -> T & { return t.partition(v, policy); }, "var"_a,
         "partition_policy"_a, same_object)
        .def(
            "never_partition_all", [](T &t) -> T & { return t.never_partition_all(); }, same_object)
        .def(
            "always_partition_all", [](T &t) -> T & { return t.always_partition_all(); },
            same_object);
    bind_for_loops(c, "never_partition", [](T &t, const std::vector<VarOrRVar> &vars) -> T & {
        return t.never_partition(vars);
    });
    bind_for_loops(c, "always_partition", [](T &t, const std::vector<VarOrRVar> &vars) -> T & {
        return t.always_partition(vars);
    });
}

template<typename T>
void bind_promises(PythonClass<T> &c) {
    c.def(
         "specialize", [](T &t, ExprArg condition) { return t.specialize(condition); },
         "condition"_a)
        .def(
            "specialize_fail", [](T &t, const std::string &text) { t.specialize_fail(text); },
            "message"_a)
        .def(
            "allow_race_conditions", [](T &t) -> T & { return t.allow_race_conditions(); },
            same_object)
        .def(
            "atomic", [](T &t, bool override_test) -> T & { return t.atomic(override_test); },
            "override_associativity_test"_a = false, same_object)
        .def(
            "host", [](T &t, LoopArg v) -> T & { return t.host(v); }, "x"_a, same_object)
        .def(
            "host", [](T &t) -> T & { return t.host(); }, same_object)
        .def(
            "hexagon", [](T &t, LoopArg v) -> T & { return t.hexagon(v); }, "x"_a, same_object)
        .def(
            "hexagon", [](T &t) -> T & { return t.hexagon(); }, same_object)
        .def(
            "sme_streaming", [](T &t, LoopArg v) -> T & { return t.sme_streaming(v); }, "x"_a,
            same_object)
        .def(
            "sme_streaming", [](T &t) -> T & { return t.sme_streaming(); }, same_object)
        .def(
            "prefetch",
            [](T &t, const Func &f, LoopArg at, LoopArg from, ExprArg offset,
               PrefetchBoundStrategy strategy) -> T & {
                return t.prefetch(f, at, from, offset, strategy);
            },
            "func"_a, "at"_a, "from_"_a, "offset"_a = 1,
            "strategy"_a = PrefetchBoundStrategy::GuardWithIf, same_object)
        .def(
            "prefetch",
            [](T &t, const OutputImageParam &image, LoopArg at, LoopArg from, ExprArg offset,
               PrefetchBoundStrategy strategy) -> T & {
                return t.prefetch(image.parameter(), at, from, offset, strategy);
            },
            "image"_a, "at"_a, "from_"_a, "offset"_a = 1,
            "strategy"_a = PrefetchBoundStrategy::GuardWithIf, same_object)
        .def(
            "stream_stores", [](T &t) -> T & { return t.stream_stores(); }, same_object);
}

template<typename T>
void bind_gpu_loops(PythonClass<T> &c, T &(T::*one)(const VarOrRVar &, DeviceAPI),
                    T &(T::*two)(const VarOrRVar &, const VarOrRVar &, DeviceAPI),
                    T &(T::*three)(const VarOrRVar &, const VarOrRVar &, const VarOrRVar &,
                                   DeviceAPI),
                    const char *name, const char *x, const char *y, const char *z) {
    const auto api = nb::arg("device_api") = DeviceAPI::Default_GPU;
    c.def(
         name, [one](T &t, LoopArg a, DeviceAPI d) -> T & { return (t.*one)(a, d); }, nb::arg(x),
         api, same_object)
        .def(
            name,
            [two](T &t, LoopArg a, LoopArg b, DeviceAPI d) -> T & { return (t.*two)(a, b, d); },
            nb::arg(x), nb::arg(y), api, same_object)
        .def(
            name,
            [three](T &t, LoopArg a, LoopArg b, LoopArg e, DeviceAPI d) -> T & {
                return (t.*three)(a, b, e, d);
            },
            nb::arg(x), nb::arg(y), nb::arg(z), api, same_object);
}

/// These have sources of their own, as they take long to compile.
void bind_loop_directives(PythonClass<Func> &c);
void bind_loop_directives(PythonClass<Stage> &c);
void bind_gpu_directives(PythonClass<Func> &c);
void bind_gpu_directives(PythonClass<Stage> &c);

}  // namespace calotype::python
