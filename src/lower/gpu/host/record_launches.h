// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// record_launches: launches kernels that follow one another together, as one recorded graph.
#pragma once

#include "ir/stmt_nodes.h"
#include "lower/context.h"

namespace calotype::internal {

/// Launches for CUDA are recorded, and launched where their order with something else counts:
/// before calls of functions that may use the device, before copies that are really made, at the
/// end.
///
///     evaluate register_destructor("calotype_end_kernels", cuda.hold)
///     let f.result = gpu_launch(cuda.hold, "f", ...)
///     assert(f.result == 0, f.result)
///     let g.result = gpu_launch(cuda.hold, "g", ...)
///     assert(g.result == 0, g.result)
///     calotype_device_free(f.buffer)
///   ->
///     evaluate register_destructor("calotype_end_kernels", cuda.hold)
///     let recording = alloca(24)
///     evaluate calotype_begin_recording(cuda.hold, recording)
///     evaluate register_destructor("calotype_end_recording", recording)
///     let f.result = gpu_record(recording, "f", ...)
///     assert(f.result == 0, f.result)
///     let g.result = gpu_record(recording, "g", ...)
///     assert(g.result == 0, g.result)
///     calotype_record_free(recording, f.buffer)
///     calotype_launch_recording(recording)
///
/// In loops that run in parallel, and where two sides take turns, launches stay as they are.
///
/// Requires: the hold of kernels that offload_kernels makes.
/// Establishes: on every way on which the pipeline succeeds, all that is recorded is launched.
/// Order: after offload_kernels.
Stmt record_launches(const Stmt &s, LowerContext &ctx);

}  // namespace calotype::internal
