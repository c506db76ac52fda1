// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calling the setups and teardowns of linkables. The lock is not held here.
#pragma once

#include "runtime/device/cache/errors.h"
#include "runtime/device/cache/module.h"

namespace calotype::runtime {

/** One more use of the library that an address is in; null for the program itself. */
void *keep_library_of(const void *address);
/** Keep the library of this very code for good, since a driver was given a function of it that it
 * may call at any time. */
void stay_in_memory();

/** Keep the libraries that hold teardown callbacks, and find the locks of linkables. */
void prepare_callbacks(LoadedModule &module);
/** Undo it, once nothing of the module will be called any more. */
void finish_callbacks(LoadedModule &module);

/** In a child process: callbacks of other threads are over. The lock is held. */
void forget_callbacks_of_others();

/** Where and why callbacks are called. */
struct CallbackSite {
    ContextState &context;
    const DeviceScope &scope;
    calotype_reason reason;
    ThreadBlock &me;
    bool has_driver;  ///< false: the context is gone, callbacks get no module

    /** The context has gone, and callbacks are told so. */
    void lose_driver() {
        has_driver = false;
        reason = reason == CALOTYPE_R_EXIT ? reason : CALOTYPE_R_CONTEXT_LOST;
    }
};

/** All setups in their order, until one fails. */
calotype_status run_setups(const CallbackSite &site, LoadedModule &module, Failure *failure);
/** The teardowns of what was set up, in reverse. All run; the first failure is described. If one
 * says that the context is lost, the driver has gone for the site from then on. */
calotype_status run_teardowns(CallbackSite &site, LoadedModule &module, Failure *failure);

}  // namespace calotype::runtime
