// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// GpuDirectives: the directives of Func and Stage that map loops to a GPU.
#pragma once

#include "ir/enums.h"
#include "ir/expr.h"
#include "lang/var_or_rvar.h"

namespace calotype {

namespace internal {

/// Base of Func and Stage; all directives give back the object, to be chained.
///
/// Blocks must be outside of threads, threads outside of lanes. A loop may be named only once; at
/// most three loops are blocks and three threads. Default_GPU means the GPU of the target.
template<typename Self>
class GpuDirectives {
public:
    /// Run loops as GPU threads, the first given as dimension x, then y, z. The loops become one
    /// kernel together with the blocks around them.
    ///     for tx: f(tx) = ...        ->        gpu_thread tx: f(tx) = ...
    Self &gpu_threads(const VarOrRVar &tx, DeviceAPI api = DeviceAPI::Default_GPU);
    Self &gpu_threads(const VarOrRVar &tx, const VarOrRVar &ty,
                      DeviceAPI api = DeviceAPI::Default_GPU);
    Self &gpu_threads(const VarOrRVar &tx, const VarOrRVar &ty, const VarOrRVar &tz,
                      DeviceAPI api = DeviceAPI::Default_GPU);
    /// Run a loop as the lanes of one warp: values pass between its iterations without memory. Its
    /// extent must divide the warp's size.
    Self &gpu_lanes(const VarOrRVar &lane, DeviceAPI api = DeviceAPI::Default_GPU);
    /// Run the whole stage as one kernel of a single thread. Only for tiny work.
    Self &gpu_single_thread(DeviceAPI api = DeviceAPI::Default_GPU);
    /// Run loops as GPU blocks, the first given as dimension x.
    ///     for bx: ...                ->        gpu_block bx: ...
    Self &gpu_blocks(const VarOrRVar &bx, DeviceAPI api = DeviceAPI::Default_GPU);
    Self &gpu_blocks(const VarOrRVar &bx, const VarOrRVar &by,
                     DeviceAPI api = DeviceAPI::Default_GPU);
    Self &gpu_blocks(const VarOrRVar &bx, const VarOrRVar &by, const VarOrRVar &bz,
                     DeviceAPI api = DeviceAPI::Default_GPU);
    /// gpu_blocks and gpu_threads at once.
    Self &gpu(const VarOrRVar &bx, const VarOrRVar &tx, DeviceAPI api = DeviceAPI::Default_GPU);
    Self &gpu(const VarOrRVar &bx, const VarOrRVar &by, const VarOrRVar &tx, const VarOrRVar &ty,
              DeviceAPI api = DeviceAPI::Default_GPU);
    Self &gpu(const VarOrRVar &bx, const VarOrRVar &by, const VarOrRVar &bz, const VarOrRVar &tx,
              const VarOrRVar &ty, const VarOrRVar &tz, DeviceAPI api = DeviceAPI::Default_GPU);
    /// tile and gpu at once: loop x becomes blocks bx of x_size threads tx. Without bx the block
    /// keeps the name x.
    ///     gpu_tile(x, y, bx, by, tx, ty, 16, 16):
    ///     for y: for x: f(x, y) = ...
    ///     ->
    ///     gpu_block by, bx: gpu_thread ty, tx < 16: f(bx * 16 + tx, by * 16 + ty) = ...
    Self &gpu_tile(const VarOrRVar &x, const VarOrRVar &bx, const VarOrRVar &tx, const Expr &x_size,
                   TailStrategy tail = TailStrategy::Auto, DeviceAPI api = DeviceAPI::Default_GPU);
    Self &gpu_tile(const VarOrRVar &x, const VarOrRVar &tx, const Expr &x_size,
                   TailStrategy tail = TailStrategy::Auto, DeviceAPI api = DeviceAPI::Default_GPU);
    Self &gpu_tile(const VarOrRVar &x, const VarOrRVar &y, const VarOrRVar &bx, const VarOrRVar &by,
                   const VarOrRVar &tx, const VarOrRVar &ty, const Expr &x_size, const Expr &y_size,
                   TailStrategy tail = TailStrategy::Auto, DeviceAPI api = DeviceAPI::Default_GPU);
    Self &gpu_tile(const VarOrRVar &x, const VarOrRVar &y, const VarOrRVar &tx, const VarOrRVar &ty,
                   const Expr &x_size, const Expr &y_size, TailStrategy tail = TailStrategy::Auto,
                   DeviceAPI api = DeviceAPI::Default_GPU);
    Self &gpu_tile(const VarOrRVar &x, const VarOrRVar &y, const VarOrRVar &z, const VarOrRVar &bx,
                   const VarOrRVar &by, const VarOrRVar &bz, const VarOrRVar &tx,
                   const VarOrRVar &ty, const VarOrRVar &tz, const Expr &x_size, const Expr &y_size,
                   const Expr &z_size, TailStrategy tail = TailStrategy::Auto,
                   DeviceAPI api = DeviceAPI::Default_GPU);
    Self &gpu_tile(const VarOrRVar &x, const VarOrRVar &y, const VarOrRVar &z, const VarOrRVar &tx,
                   const VarOrRVar &ty, const VarOrRVar &tz, const Expr &x_size, const Expr &y_size,
                   const Expr &z_size, TailStrategy tail = TailStrategy::Auto,
                   DeviceAPI api = DeviceAPI::Default_GPU);

    /// Deal a tile of x and y to the threads of a warp as matrix instructions have their results:
    /// the extents of x and y must be known to be multiples of 8 and 16. The iterations of `warp`
    /// are the warps of the block. A thread has two neighbours of x in each row; all its elements
    /// are unrolled, the two are vectorized. For what fills such a tile and what reads it: the pure
    /// definition of a product and the Func that it is computed at.
    ///     for warp: for y < 16*m: for x < 8*n: f(x, y) = ...
    ///     ->
    ///     gpu_thread warp: gpu_thread g < 8: gpu_thread t < 4:
    ///       unrolled yo < m: unrolled xo < n: unrolled h < 2: vectorized v < 2:
    ///         f(8*xo + 2*t + v, 16*yo + 8*h + g) = ...
    Self &gpu_matrix_tile(const VarOrRVar &x, const VarOrRVar &y, const VarOrRVar &warp);
    /// The same for an update `f(x, y) += a * b`, where a depends on y and r, b on x and r: the tile's
    /// products are made by matrix instructions of the warp. The operands are, from compute
    /// capability 8.0 on, `cast<float>()` of float16 or bfloat16, `tf32()` of floats, or
    /// `cast<int>()` of 8-bit integers; the extent of r must be a multiple of 16, 8 or 32. Sums are
    /// rounded as the instructions do. On other devices plain loops compute the same.
    ///
    ///     out.tile(x, y, bx, by, xi, yi, 64, 64).gpu_blocks(bx, by)
    ///         .split(yi, warp, yi, 16).gpu_matrix_tile(xi, yi, warp);
    ///     sum.compute_at(out, bx).store_in(MemoryType::Register)
    ///         .split(y, warp, yi, 16).gpu_matrix_tile(x, yi, warp);
    ///     sum.update().split(y, warp, yi, 16).split(k, ko, ki, 16)
    ///         .reorder(ki, x, yi, warp, ko).gpu_matrix_multiply(x, yi, ki, warp);
    Self &gpu_matrix_multiply(const VarOrRVar &x, const VarOrRVar &y, const VarOrRVar &r,
                              const VarOrRVar &warp);

private:
    struct MatrixLoops;
    MatrixLoops deal_to_warp(const VarOrRVar &x, const VarOrRVar &y);
    Self &map_loop(const VarOrRVar &var, ForType type, DeviceAPI api);
    Self &self() {
        return static_cast<Self &>(*this);
    }
};

}  // namespace internal

}  // namespace calotype
