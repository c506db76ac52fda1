// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Accesses of images: textures in kernels for OpenCL. From flatten_storage to offload_kernels they
// are Loads and Stores whose index is a `bundle` of the coordinates. Helper of both.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ir/module.h"

namespace calotype::internal {

/// The index of an access with those coordinates, counted from the mins. A CompileError if no
/// image is of so many dimensions, or of elements of type t.
Expr image_index(const std::string &name, const Type &t, const std::vector<Expr> &coordinates);

/// The coordinates, or null if e is not such an index.
const Call *as_image_index(const Expr &e);

/// Accesses of images become calls:
///
///     f[bundle(x, y)]                   (uint8)image_load(f, x, y):uint32
///     g[bundle(x, y)] = v        ->     image_store(g, x, y, (int32)v, true)
///
/// of the type that the language's functions have: int32, uint32 or float32. The last argument of
/// image_store says where, lane by lane, there is something to store. `args` gets the images by
/// name.
Stmt use_images(const Stmt &body, std::map<std::string, KernelArgument> &args);

}  // namespace calotype::internal
