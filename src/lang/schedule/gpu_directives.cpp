// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lang/schedule/gpu_directives.h"

#include "lang/func.h"
#include "lang/schedule/loop_editor.h"

namespace calotype {

using namespace internal;

template<typename Self>
Self &GpuDirectives<Self>::map_loop(const VarOrRVar &var, ForType type, DeviceAPI api) {
    internal::LoopEditor editor(self().stage_to_schedule());
    editor.set_for_type(var, type);
    editor.set_device_api(var, api);
    return self();
}

template<typename Self>
Self &GpuDirectives<Self>::gpu_threads(const VarOrRVar &tx, DeviceAPI api) {
    return map_loop(tx, ForType::GPUThread, api);
}

template<typename Self>
Self &GpuDirectives<Self>::gpu_threads(const VarOrRVar &tx, const VarOrRVar &ty, DeviceAPI api) {
    return gpu_threads(tx, api).gpu_threads(ty, api);
}

template<typename Self>
Self &GpuDirectives<Self>::gpu_threads(const VarOrRVar &tx, const VarOrRVar &ty,
                                       const VarOrRVar &tz, DeviceAPI api) {
    return gpu_threads(tx, ty, api).gpu_threads(tz, api);
}

template<typename Self>
Self &GpuDirectives<Self>::gpu_lanes(const VarOrRVar &lane, DeviceAPI api) {
    return map_loop(lane, ForType::GPULane, api);
}

template<typename Self>
Self &GpuDirectives<Self>::gpu_single_thread(DeviceAPI api) {
    const Var block;
    self().split(Var::outermost(), Var::outermost(), block, 1);
    return gpu_blocks(block, api);
}

template<typename Self>
Self &GpuDirectives<Self>::gpu_blocks(const VarOrRVar &bx, DeviceAPI api) {
    return map_loop(bx, ForType::GPUBlock, api);
}

template<typename Self>
Self &GpuDirectives<Self>::gpu_blocks(const VarOrRVar &bx, const VarOrRVar &by, DeviceAPI api) {
    return gpu_blocks(bx, api).gpu_blocks(by, api);
}

template<typename Self>
Self &GpuDirectives<Self>::gpu_blocks(const VarOrRVar &bx, const VarOrRVar &by, const VarOrRVar &bz,
                                      DeviceAPI api) {
    return gpu_blocks(bx, by, api).gpu_blocks(bz, api);
}

template<typename Self>
Self &GpuDirectives<Self>::gpu(const VarOrRVar &bx, const VarOrRVar &tx, DeviceAPI api) {
    return gpu_blocks(bx, api).gpu_threads(tx, api);
}

template<typename Self>
Self &GpuDirectives<Self>::gpu(const VarOrRVar &bx, const VarOrRVar &by, const VarOrRVar &tx,
                               const VarOrRVar &ty, DeviceAPI api) {
    return gpu_blocks(bx, by, api).gpu_threads(tx, ty, api);
}

template<typename Self>
Self &GpuDirectives<Self>::gpu(const VarOrRVar &bx, const VarOrRVar &by, const VarOrRVar &bz,
                               const VarOrRVar &tx, const VarOrRVar &ty, const VarOrRVar &tz,
                               DeviceAPI api) {
    return gpu_blocks(bx, by, bz, api).gpu_threads(tx, ty, tz, api);
}

template<typename Self>
Self &GpuDirectives<Self>::gpu_tile(const VarOrRVar &x, const VarOrRVar &bx, const VarOrRVar &tx,
                                    const Expr &x_size, TailStrategy tail, DeviceAPI api) {
    self().split(x, bx, tx, x_size, tail);
    return gpu(bx, tx, api);
}

template<typename Self>
Self &GpuDirectives<Self>::gpu_tile(const VarOrRVar &x, const VarOrRVar &tx, const Expr &x_size,
                                    TailStrategy tail, DeviceAPI api) {
    return gpu_tile(x, x, tx, x_size, tail, api);
}

template<typename Self>
Self &GpuDirectives<Self>::gpu_tile(const VarOrRVar &x, const VarOrRVar &y, const VarOrRVar &bx,
                                    const VarOrRVar &by, const VarOrRVar &tx, const VarOrRVar &ty,
                                    const Expr &x_size, const Expr &y_size, TailStrategy tail,
                                    DeviceAPI api) {
    self().tile(x, y, bx, by, tx, ty, x_size, y_size, tail);
    return gpu(bx, by, tx, ty, api);
}

template<typename Self>
Self &GpuDirectives<Self>::gpu_tile(const VarOrRVar &x, const VarOrRVar &y, const VarOrRVar &tx,
                                    const VarOrRVar &ty, const Expr &x_size, const Expr &y_size,
                                    TailStrategy tail, DeviceAPI api) {
    return gpu_tile(x, y, x, y, tx, ty, x_size, y_size, tail, api);
}

template<typename Self>
Self &GpuDirectives<Self>::gpu_tile(const VarOrRVar &x, const VarOrRVar &y, const VarOrRVar &z,
                                    const VarOrRVar &bx, const VarOrRVar &by, const VarOrRVar &bz,
                                    const VarOrRVar &tx, const VarOrRVar &ty, const VarOrRVar &tz,
                                    const Expr &x_size, const Expr &y_size, const Expr &z_size,
                                    TailStrategy tail, DeviceAPI api) {
    self().tile({x, y, z}, {bx, by, bz}, {tx, ty, tz}, {x_size, y_size, z_size}, tail);
    return gpu(bx, by, bz, tx, ty, tz, api);
}

template<typename Self>
Self &GpuDirectives<Self>::gpu_tile(const VarOrRVar &x, const VarOrRVar &y, const VarOrRVar &z,
                                    const VarOrRVar &tx, const VarOrRVar &ty, const VarOrRVar &tz,
                                    const Expr &x_size, const Expr &y_size, const Expr &z_size,
                                    TailStrategy tail, DeviceAPI api) {
    return gpu_tile(x, y, z, x, y, z, tx, ty, tz, x_size, y_size, z_size, tail, api);
}

/// A tile of x and y in parts: tiles of 8 by 16, of which each thread has two neighbours in two
/// rows.
template<typename Self>
struct GpuDirectives<Self>::MatrixLoops {
    VarOrRVar tiles_x, thread_x, column, tiles_y, row, thread_y;

    MatrixLoops(const VarOrRVar &x, const VarOrRVar &y)
        : tiles_x(x.name() + "$tile", x.is_rvar), thread_x(x.name() + "$thread", x.is_rvar),
          column(x.name() + "$column", x.is_rvar), tiles_y(y.name() + "$tile", y.is_rvar),
          row(y.name() + "$row", y.is_rvar), thread_y(y.name() + "$thread", y.is_rvar) {
    }
};

template<typename Self>
auto GpuDirectives<Self>::deal_to_warp(const VarOrRVar &x, const VarOrRVar &y) -> MatrixLoops {
    constexpr int width = 8, height = 16, neighbours = 2, rows = 8;
    const MatrixLoops made(x, y);
    self()
        .split(x, made.tiles_x, made.thread_x, width)
        .split(made.thread_x, made.thread_x, made.column, neighbours)
        .split(y, made.tiles_y, made.row, height)
        .split(made.row, made.row, made.thread_y, rows);
    return made;
}

template<typename Self>
Self &GpuDirectives<Self>::gpu_matrix_tile(const VarOrRVar &x, const VarOrRVar &y,
                                           const VarOrRVar &warp) {
    const MatrixLoops made = deal_to_warp(x, y);
    return self()
        .reorder(made.column, made.row, made.tiles_x, made.tiles_y, made.thread_x, made.thread_y,
                 warp)
        .gpu_threads(made.thread_x, made.thread_y, warp)
        .vectorize(made.column)
        .unroll(made.row)
        .unroll(made.tiles_x)
        .unroll(made.tiles_y);
}

template<typename Self>
Self &GpuDirectives<Self>::gpu_matrix_multiply(const VarOrRVar &x, const VarOrRVar &y,
                                               const VarOrRVar &r, const VarOrRVar &warp) {
    const MatrixLoops made = deal_to_warp(x, y);
    self()
        .reorder(r, made.column, made.row, made.tiles_x, made.tiles_y, made.thread_x, made.thread_y,
                 warp)
        .gpu_threads(made.thread_x, made.thread_y, warp);
    internal::LoopEditor editor(self().stage_to_schedule());
    for (const VarOrRVar &loop : {r, made.column, made.row, made.tiles_x, made.tiles_y}) {
        editor.set_for_type(loop, ForType::Matrix);
        editor.set_partition(loop, Partition::Never);
    }
    return self();
}

template class GpuDirectives<Func>;
template class GpuDirectives<Stage>;

}  // namespace calotype
