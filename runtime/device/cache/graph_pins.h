// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Holds of modules whose launches an application captures into a graph: they end with the graph.
#pragma once

#include "runtime/device/cache/module.h"

namespace calotype {
namespace runtime {

/** Hold the module for as long as the graph of that capture lives; once a capture. Without the
 * lock.
 */
calotype_status pin_for_graph(const LoadedModule &module, const DeviceScope &scope, void *stream,
                              uint64_t capture);
/** Give back the holds of graphs that have gone. Without the lock. */
void poll_graph_pins(uint64_t context_uid);
/** All of them. Without the lock. */
void drop_graph_pins(ContextState &context);

}  // namespace runtime
}  // namespace calotype
