// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// GpuDirectives: the directives of Func and Stage that map loops to a GPU.
#pragma once

#include "ir/enums.h"
#include "ir/expr.h"
#include "lang/var_or_rvar.h"

namespace calotype {

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

private:
    Self &map_loop(const VarOrRVar &var, ForType type, DeviceAPI api);
    Self &self() {
        return static_cast<Self &>(*this);
    }
};

}  // namespace calotype
