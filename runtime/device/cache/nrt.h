// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The device runtime's host side: a memory system of each context, made for the first module that
// has the device runtime and freed after the last one has gone, when the context is released.
//
// A thread that calls the driver for a context's memory system locks it first, so that there is one
// however many modules are loaded at once. Nothing is called back meanwhile, so no circle can
// close.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "runtime/abi/nrt.h"
#include "runtime/host/text.h"

namespace calotype::runtime {

struct ContextState;
struct LoadedModule;
struct DeviceScope;

/** A module of CALOTYPE_MOD_DEBUG has counters of its own, kept until the leak report. */
struct NrtModule {
    NrtModule *next;
    uint64_t memsys;            ///< on the device; 0: the module has gone
    calotype_nrt_memsys ended;  ///< what modules of that name had counted when they went
    char name[1];               ///< of any length
};

/** Of one context. All zero at first. */
struct NrtState {
    bool is_locked;  ///< guarded by the cache's lock; what follows by this lock
    bool is_enabled;
    bool is_heap_fixed;   ///< a module with the device runtime has been loaded
    uint64_t heap_bytes;  ///< as asked for; 0: the driver's choice
    uint64_t memsys;      ///< on the device; 0: none
    NrtModule *modules;
};

/** Before the module is loaded: the heap gets its size. */
calotype_status prepare_nrt(ContextState &context, const DeviceScope &scope);
/** Once it is loaded: its variable points at the memory system, if it has that variable. */
calotype_status attach_nrt(ContextState &context, const DeviceScope &scope, LoadedModule &module);
/** Before it is unloaded. */
void detach_nrt(ContextState &context, const DeviceScope &scope, LoadedModule &module,
                bool has_driver);
/** The end of the memory system, with a report of what was not freed. The context is not current.
 */
void end_nrt(ContextState &context, void *user_context, bool has_driver);

/** @name The calls of nrt.h
 * Between enter and leave. */
/**@{*/
calotype_status set_nrt_heap(ContextState &context, uint64_t bytes);
calotype_status enable_nrt_stats(ContextState &context, const DeviceScope &scope, bool on);
calotype_status read_nrt_stats(ContextState &context, const DeviceScope &scope,
                               calotype_nrt_memsys *sum);
calotype_status reset_nrt_stats(ContextState &context, const DeviceScope &scope);
/**@}*/

}  // namespace calotype::runtime
