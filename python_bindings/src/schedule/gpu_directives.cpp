// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "loop_directives.h"

namespace calotype::python {

namespace {

template<typename T>
void bind_gpu(PythonClass<T> &c) {
    const auto api = nb::arg("device_api") = DeviceAPI::Default_GPU;
    bind_gpu_loops<T>(c, &T::gpu_threads, &T::gpu_threads, &T::gpu_threads, "gpu_threads",
                      "thread_x", "thread_y", "thread_z");
    bind_gpu_loops<T>(c, &T::gpu_blocks, &T::gpu_blocks, &T::gpu_blocks, "gpu_blocks", "block_x",
                      "block_y", "block_z");
    c.def(
         "gpu_lanes", [](T &t, LoopArg v, DeviceAPI d) -> T & { return t.gpu_lanes(v, d); },
         "thread_x"_a, api, same_object)
        .def(
            "gpu_single_thread", [](T &t, DeviceAPI d) -> T & { return t.gpu_single_thread(d); },
            api, same_object)
        .def(
            "gpu",
            [](T &t, LoopArg bx, LoopArg tx, DeviceAPI d) -> T & { return t.gpu(bx, tx, d); },
            "block_x"_a, "thread_x"_a, api, same_object)
        .def(
            "gpu",
            [](T &t, LoopArg bx, LoopArg by, LoopArg tx, LoopArg ty, DeviceAPI d) -> T & {
                return t.gpu(bx, by, tx, ty, d);
            },
            "block_x"_a, "block_y"_a, "thread_x"_a, "thread_y"_a, api, same_object)
        .def(
            "gpu",
            [](T &t, LoopArg bx, LoopArg by, LoopArg bz, LoopArg tx, LoopArg ty, LoopArg tz,
               DeviceAPI d) -> T & { return t.gpu(bx, by, bz, tx, ty, tz, d); },
            "block_x"_a, "block_y"_a, "block_z"_a, "thread_x"_a, "thread_y"_a, "thread_z"_a, api,
            same_object)
        .def(
            "gpu_matrix_tile",
            [](T &t, LoopArg x, LoopArg y, LoopArg warp) -> T & {
                return t.gpu_matrix_tile(x, y, warp);
            },
            "x"_a, "y"_a, "warp"_a, same_object)
        .def(
            "gpu_matrix_multiply",
            [](T &t, LoopArg x, LoopArg y, LoopArg r, LoopArg warp) -> T & {
                return t.gpu_matrix_multiply(x, y, r, warp);
            },
            "x"_a, "y"_a, "r"_a, "warp"_a, same_object);
}

template<typename T>
void bind_gpu_tiles(PythonClass<T> &c) {
    const auto tail = nb::arg("tail") = TailStrategy::Auto;
    const auto api = nb::arg("device_api") = DeviceAPI::Default_GPU;
    c.def(
         "gpu_tile",
         [](T &t, LoopArg x, LoopArg bx, LoopArg tx, ExprArg xs, TailStrategy s,
            DeviceAPI d) -> T & { return t.gpu_tile(x, bx, tx, xs, s, d); },
         "x"_a, "bx"_a, "tx"_a, "x_size"_a, tail, api, same_object)
        .def(
            "gpu_tile",
            [](T &t, LoopArg x, LoopArg tx, ExprArg xs, TailStrategy s, DeviceAPI d) -> T & {
                return t.gpu_tile(x, tx, xs, s, d);
            },
            "x"_a, "tx"_a, "x_size"_a, tail, api, same_object)
        .def(
            "gpu_tile",
            [](T &t, LoopArg x, LoopArg y, LoopArg bx, LoopArg by, LoopArg tx, LoopArg ty,
               ExprArg xs, ExprArg ys, TailStrategy s,
               DeviceAPI d) -> T & { return t.gpu_tile(x, y, bx, by, tx, ty, xs, ys, s, d); },
            "x"_a, "y"_a, "bx"_a, "by"_a, "tx"_a, "ty"_a, "x_size"_a, "y_size"_a, tail, api,
            same_object)
        .def(
            "gpu_tile",
            [](T &t, LoopArg x, LoopArg y, LoopArg tx, LoopArg ty, ExprArg xs, ExprArg ys,
               TailStrategy s,
               DeviceAPI d) -> T & { return t.gpu_tile(x, y, tx, ty, xs, ys, s, d); },
            "x"_a, "y"_a, "tx"_a, "ty"_a, "x_size"_a, "y_size"_a, tail, api, same_object)
        .def(
            "gpu_tile",
            [](T &t, LoopArg x, LoopArg y, LoopArg z, LoopArg bx, LoopArg by, LoopArg bz,
               LoopArg tx, LoopArg ty, LoopArg tz, ExprArg xs, ExprArg ys, ExprArg zs,
               TailStrategy s, DeviceAPI d) -> T & {
                return t.gpu_tile(x, y, z, bx, by, bz, tx, ty, tz, xs, ys, zs, s, d);
            },
            "x"_a, "y"_a, "z"_a, "bx"_a, "by"_a, "bz"_a, "tx"_a, "ty"_a, "tz"_a, "x_size"_a,
            "y_size"_a, "z_size"_a, tail, api, same_object)
        .def(
            "gpu_tile",
            [](T &t, LoopArg x, LoopArg y, LoopArg z, LoopArg tx, LoopArg ty, LoopArg tz,
               ExprArg xs, ExprArg ys, ExprArg zs, TailStrategy s,
               DeviceAPI d) -> T & { return t.gpu_tile(x, y, z, tx, ty, tz, xs, ys, zs, s, d); },
            "x"_a, "y"_a, "z"_a, "tx"_a, "ty"_a, "tz"_a, "x_size"_a, "y_size"_a, "z_size"_a, tail,
            api, same_object);
}

}  // namespace

void bind_gpu_directives(PythonClass<Func> &c) {
    bind_gpu(c);
    bind_gpu_tiles(c);
}

void bind_gpu_directives(PythonClass<Stage> &c) {
    bind_gpu(c);
    bind_gpu_tiles(c);
}

}  // namespace calotype::python
