// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Func: the directives that concern it as a whole.
#include "func_args.h"
#include "paths.h"

namespace calotype::python {

namespace {

std::vector<Var> vars_of(const nb::args &args) {
    std::vector<Var> result;
    for (nb::handle h : nb::iter(list_or_arguments(args))) {
        call_assert(nb::isinstance<Var>(h)) << describe(h) << " is no Var";
        result.push_back(nb::cast<Var>(h));
    }
    return result;
}

// A directive that takes a place: of a Func and a loop, or as a LoopLevel.
void bind_place(PythonClass<Func> &c, const char *name,
                Func &(Func::*with_loop)(const Func &, const VarOrRVar &),
                Func &(Func::*with_level)(LoopLevel)) {
    c.def(
         name, [=](Func &f, const Func &g, LoopArg at) -> Func & { return (f.*with_loop)(g, at); },
         "f"_a, "var"_a, same_object)
        .def(
            name,
            [=](Func &f, const Func &g, LoopArg at) -> Func & { return (f.*with_loop)(g, at); },
            "f"_a, nb::kw_only(), "rvar"_a, same_object)
        .def(
            name, [=](Func &f, LoopLevel level) -> Func & { return (f.*with_level)(level); },
            "loop_level"_a, same_object);
}

void bind_placement(PythonClass<Func> &c) {
    bind_place(c, "compute_at", &Func::compute_at, &Func::compute_at);
    bind_place(c, "store_at", &Func::store_at, &Func::store_at);
    bind_place(c, "hoist_storage", &Func::hoist_storage, &Func::hoist_storage);
    bind_compute_with(c);
    c.def("compute_root", &Func::compute_root, same_object)
        .def("compute_inline", &Func::compute_inline, same_object)
        .def("store_root", &Func::store_root, same_object)
        .def("hoist_storage_root", &Func::hoist_storage_root, same_object)
        .def("async_", &Func::async, same_object)
        .def(
            "memoize",
            [](Func &f, nb::object key) -> Func & {
                return f.memoize(key.is_none()                      ? EvictionKey()
                                 : nb::isinstance<EvictionKey>(key) ? nb::cast<EvictionKey>(key)
                                                                    : EvictionKey(to_expr(key)));
            },
            "eviction_key"_a = nb::none(), same_object)
        .def(
            "eager_inline",
            [](Func &f, nb::args fs) -> Func & { return f.eager_inline(funcs_of(fs)); },
            same_object);
}

void bind_wrappers(PythonClass<Func> &c) {
    c.def(
         "in_", [](Func &f, const Func &g) { return f.in(g); }, "f"_a)
        .def(
            "in_", [](Func &f, const std::vector<Func> &fs) { return f.in(fs); }, "fs"_a)
        .def("in_", [](Func &f) { return f.in(); })
        .def(
            "clone_in", [](Func &f, const Func &g) { return f.clone_in(g); }, "f"_a)
        .def(
            "clone_in", [](Func &f, const std::vector<Func> &fs) { return f.clone_in(fs); }, "fs"_a)
        .def("copy_to_device", &Func::copy_to_device, "device_api"_a = DeviceAPI::Default_GPU,
             same_object)
        .def("copy_to_host", &Func::copy_to_host, same_object);
}

void bind_bounds(PythonClass<Func> &c) {
    c.def(
         "bound",
         [](Func &f, const Var &v, ExprArg min, ExprArg extent) -> Func & {
             return f.bound(v, min, extent);
         },
         "var"_a, "min"_a, "extent"_a, same_object)
        .def(
            "bound_extent",
            [](Func &f, const Var &v, ExprArg extent) -> Func & {
                return f.bound_extent(v, extent);
            },
            "var"_a, "extent"_a, same_object)
        .def(
            "align_bounds",
            [](Func &f, const Var &v, ExprArg modulus, ExprArg remainder) -> Func & {
                return f.align_bounds(v, modulus, remainder);
            },
            "var"_a, "modulus"_a, "remainder"_a = 0, same_object)
        .def(
            "align_extent",
            [](Func &f, const Var &v, ExprArg modulus) -> Func & {
                return f.align_extent(v, modulus);
            },
            "var"_a, "modulus"_a, same_object)
        .def(
            "set_estimate",
            [](Func &f, const Var &v, ExprArg min, ExprArg extent) -> Func & {
                return f.set_estimate(v, min.get(), extent.get());
            },
            "var"_a, "min"_a, "extent"_a, same_object)
        .def(
            "set_estimates",
            [](Func &f, nb::sequence r) -> Func & { return f.set_estimates(to_region(r)); },
            "estimates"_a, same_object);
}

void bind_storage(PythonClass<Func> &c) {
    c.def(
         "reorder_storage",
         [](Func &f, nb::args dims) -> Func & { return f.reorder_storage(vars_of(dims)); },
         same_object)
        .def(
            "reorder_storage",
            [](Func &f, const std::vector<Var> &dims) -> Func & { return f.reorder_storage(dims); },
            nb::kw_only(), "dims"_a, same_object)
        .def(
            "align_storage",
            [](Func &f, const Var &d, ExprArg a) -> Func & { return f.align_storage(d, a.get()); },
            "dim"_a, "alignment"_a, same_object)
        .def(
            "bound_storage",
            [](Func &f, const Var &d, ExprArg b) -> Func & { return f.bound_storage(d, b.get()); },
            "dim"_a, "bound"_a, same_object)
        .def(
            "fold_storage",
            [](Func &f, const Var &d, ExprArg extent, bool forward) -> Func & {
                return f.fold_storage(d, extent.get(), forward);
            },
            "dim"_a, "extent"_a, "fold_forward"_a = true, same_object)
        .def(
            "ring_buffer", [](Func &f, ExprArg extent) -> Func & { return f.ring_buffer(extent); },
            "extent"_a, same_object)
        .def("store_in", &Func::store_in, "memory_type"_a, same_object)
        .def(
            "change_type",
            [](Func &f, TypeArg t, bool is_unsafe) { return f.change_type(t.get(), is_unsafe); },
            "type"_a, "unsafe"_a = false);
}

void bind_diagnostics(PythonClass<Func> &c) {
    c.def("trace_loads", &Func::trace_loads, same_object)
        .def("trace_stores", &Func::trace_stores, same_object)
        .def("trace_realizations", &Func::trace_realizations, same_object)
        .def("add_trace_tag", &Func::add_trace_tag, "trace_tag"_a, same_object)
        .def("no_profiling", &Func::no_profiling, same_object)
        .def(
            "debug_to_file", [](Func &f, const Path &file) { f.debug_to_file(file); }, "filename"_a)
        .def(
            "stream_loads",
            [](Func &f, nb::args fs) -> Func & {
                if (fs.size() == 0) {
                    return f.stream_loads();
                }
                return f.stream_loads(funcs_of(fs));
            },
            same_object);
}

}  // namespace

void bind_func_directives(PythonClass<Func> &c) {
    bind_placement(c);
    bind_wrappers(c);
    bind_bounds(c);
    bind_storage(c);
    bind_diagnostics(c);
}

}  // namespace calotype::python
