// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls of the runtime about device memory, as statements. Helper of the passes in this folder.
#pragma once

#include <string>

#include "ir/conventions/runtime_calls.h"
#include "lower/context.h"

namespace calotype::internal {

/// The header `name.buffer`.
Expr header_of(const std::string &name);
/// calotype_cuda_device_interface() and the like: where the buffer of that name is on that device.
Expr device_interface(const std::string &name, DeviceAPI api, const LowerContext &ctx);

/// Leaves the pipeline with the result of the call if that is not 0.
Stmt checked_call(RuntimeFunction function, std::vector<Expr> args, LowerContext &ctx);

Stmt copy_to_host(const std::string &name, LowerContext &ctx);
Stmt copy_to_device(const std::string &name, DeviceAPI api, LowerContext &ctx);
Stmt device_malloc(const std::string &name, DeviceAPI api, LowerContext &ctx);
/// On whichever way the function is left.
Stmt device_free_at_end(const std::string &name);
Stmt device_free(const std::string &name);
Stmt set_host_dirty(const std::string &name);
Stmt set_device_dirty(const std::string &name);

}  // namespace calotype::internal
