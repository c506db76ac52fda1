// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Inside the kernel cache: how its calls begin, and what its parts offer each other.
#pragma once

#include "runtime/device/cache/errors.h"
#include "runtime/device/cache/module.h"
#include "runtime/device/cache/table.h"
#include "runtime/host/function_ref.h"
#include "runtime/host/not_copied.h"

namespace calotype::runtime {

/** Null where the device runs no kernels. */
const KernelBackend *backend_of(const calotype_device_interface_t *device_interface);

/** One call from outside: which back end, which context, which thread. Ends what acquire began. */
struct Call : NotCopied {
    const KernelBackend *backend = nullptr;
    ThreadBlock *me = nullptr;
    DeviceScope scope = {};
    bool is_acquired = false;

    ~Call() {
        if (is_acquired) {
            backend->end(scope);
        }
    }
};

/** The user context under which the functions that mean a context look for it. */
inline void *user_context_of(const calotype_device_context *on) {
    return const_cast<calotype_device_context *>(on);
}

/** These describe their failures. Nothing else of a descriptor may be read before. */
calotype_status check_descriptor(const calotype_module_desc *desc);
calotype_status begin_call(void *user_context, const calotype_module_desc *desc, Call *call);
calotype_status begin_call(void *user_context, const KernelBackend &backend,
                           const char *module_name, Call *call);
/** For each back end that has met a context and knows the user context. The first status that is
 * not OK. */
calotype_status for_each_backend(void *user_context,
                                 FunctionRef<calotype_status(const Call &call)> body);

/** The record of the call's context, made when it is first met. Null: out of memory, or its
 * identity has ended. */
ContextState *find_or_create_context(const Call &call);
/** A hold of the module in the call's context, loading it if need be. With *has_ended the identity
 * of the context has ended since the call began, which is to begin again. */
calotype_status hold_module(const Call &call, const calotype_module_desc &desc, calotype_hold *out,
                            bool *has_ended);
/** The flight of a busy entry that is ours, to its end: a hold, or an error described. */
calotype_status run_flight(const Call &call, const calotype_module_desc &desc,
                           ContextState &context, calotype_entry &entry, calotype_hold *out);
/** Add a hold for a thread that has a cell for the entry. The lock is held. */
calotype_hold grant_hold(calotype_entry &entry, ThreadBlock &thread);
/** Let the runtime keep a hold in place of its thread, which has given it back then. The lock is
 * held. CALOTYPE_E_UNDERFLOW: it had been given back already. */
calotype_status keep_hold(const calotype_hold &hold, calotype_hold *kept);
/** From which call a hold is given back: nothing is unloaded while that one's stream is captured.
 */
struct ReleaseOrigin {
    bool is_call;
    void *user_context;
};
/** Give a hold back, with all that follows if it was the last one. */
calotype_status give_back(calotype_hold hold, ReleaseOrigin origin);
/** Of a hold that was given back already: UNDERFLOW. */
calotype_status count_misuse(const calotype_entry *entry);

/** Give back the holds whose events have passed or whose graphs have gone. Without the lock. */
void poll_holds(uint64_t context_uid);
/** All of them, whatever has passed, without asking the driver if it has gone. Without the lock. */
void drop_holds(ContextState &context, bool has_driver);

/** The newest context below `uid` that is not lost; 0 if there is none. Without the lock. */
uint64_t next_older_context(uint64_t uid);

/** The context has gone: its modules are forgotten. */
calotype_status on_context_lost(uint64_t context_uid);
/** Close a context if a thread waits for its release and its last hold has been given back. The
 * lock is held. */
void close_if_awaited(ContextState &context);
/** Release what the process still has when it ends; installed once, with the first load. */
void install_exit_handler();
/** So that a child process does not take its parent's modules for its own; installed once. */
void install_fork_handler();
/** Prefetches load no module that they have not begun with. */
void cancel_prefetches();
/** Wait until the prefetches without a ticket have ended. */
calotype_status await_prefetches(uint64_t deadline_ns);
/** The threads of prefetches do not exist in a child process: drop their records. */
void forget_prefetches();
/** Set the counts of live modules to 0, in a child process. */
void forget_live_modules();

/** Hold the module for as long as the graph of that capture lives; once a capture. Without the
 * lock. */
calotype_status pin_for_graph(const LoadedModule &module, const DeviceScope &scope, void *stream,
                              uint64_t capture);

}  // namespace calotype::runtime
