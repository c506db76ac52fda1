// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// inject_device_copies: adds copies between host and device where the other side needs the data.
#pragma once

#include "ir/stmt_nodes.h"
#include "lower/context.h"

namespace calotype::internal {

/// Buffers are copied where a kernel reads what the host wrote, and the other way round; storage
/// gets memory on the device.
///
///     allocate f[float32, n] {                let f.buffer = buffer_init(..., host null, ...)
///       let f.buffer = buffer_init(...)       calotype_device_malloc(f.buffer, interface)
///       produce f {                           produce f {
///         gpu_block<cuda> ... {                 calotype_copy_to_device(in.buffer, interface)
///           f[i] = in[i]                  ->    gpu_block<cuda> ... { f[i] = in[i] }
///         }                                   }
///       }                                     produce out {
///       produce out {                           calotype_copy_to_device(out.buffer, interface)
///         gpu_block<cuda> ... {                 gpu_block<cuda> ... { out[i] = f[i] }
///           out[i] = f[i]                       buffer_set_device_dirty(out.buffer)
///         }                                   }
///       }                                     calotype_device_free(f.buffer)
///     }
///
/// Each call is checked: if it fails, its error code is the pipeline's. Copies at run time look at
/// the dirty bits and do nothing where nothing is stale; a call is left out where that is known
/// here. A loop that uses a buffer on one side alone has its copies in front of it. Storage that
/// the host does not touch has no memory there. Outputs are left where they were written.
///
/// Requires:    flat storage; `name.buffer` is the header of each buffer that a kernel uses and
///     that is made outside of it; the API of GPU loops is selected.
/// Establishes: where a kernel begins, all buffers it uses are on its device and up to date; where
///     the host reads, its copy is.
/// Order:       after flatten_storage, before loops change: copies stand outside of the loops that
///     the user wrote.
Stmt inject_device_copies(const Stmt &s, LowerContext &ctx);

}  // namespace calotype::internal
