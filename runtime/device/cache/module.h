// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A module that is loaded in a context, with all that its launches and its end need.
//
// Nothing here points into the object that the module came from, which may be gone (dlclose) when
// the module is torn down: the description is copied, without images and relocations. A teardown
// callback cannot be copied, so the library that holds it is kept in memory until it has run.
#pragma once

#include "runtime/device/cache/table.h"

namespace calotype::runtime {

/** Callbacks of one linkable (content, callbacks, user) are called one at a time, on however many
 * modules, unless it is CALOTYPE_LK_THREADSAFE. Guarded. */
struct CallbackLock {
    calotype_linkable_desc identity;
    WaitNode holder;
    uint32_t depth;       ///< of calls by the holder, which may come back through the cache
    uint32_t references;  ///< modules
    CallbackLock *next;
};

struct LoadedLinkable {
    const calotype_linkable_desc *desc;  ///< the copy
    void *instance;
    void *library;            ///< of the teardown callback; null where it cannot go away
    CallbackLock *callbacks;  ///< null: need not be serialised
    bool repeated;            ///< the same as one before: is not set up again
    bool is_set_up;
};

/** One that a callback asked for, and that is not among the kernels. */
struct ExtraFunction {
    void *function;
    ExtraFunction *next;
};

struct LoadedModule {
    // What a launch reads.
    const KernelBackend *backend;
    void **functions;  ///< as many as kernels
    uint32_t n_functions;
    DeviceScope scope;          ///< of its context: no user context, no stream
    calotype_module_desc desc;  ///< the copy; no images, no relocations

    calotype_entry *entry;
    void *module;  ///< of the driver; null: not loaded
    std::atomic<ExtraFunction *> extra_functions;
    std::atomic<void *> graphs;  ///< the back end's, made of its recordings
    LoadedLinkable *linkables;
    uint32_t *setup_order;  ///< of all linkables
    uint64_t bytes;         ///< of the image
    NrtModule *nrt;         ///< counters of its own; null: none
    void *allocations;      ///< all of the above
};

/** Null: out of memory. */
LoadedModule *make_module(const KernelBackend &backend, const calotype_module_desc &desc);
/** Null is allowed. No driver call. */
void free_module(LoadedModule *module);
/** Of the back end: those that have been resolved, and extra ones. */
template<typename Body>
void for_each_function(const LoadedModule &module, Body body) {
    for (uint32_t i = 0; i < module.n_functions; i++) {
        if (module.functions[i]) {
            body(module.functions[i]);
        }
    }
    for (const ExtraFunction *extra = module.extra_functions.load(); extra; extra = extra->next) {
        body(extra->function);
    }
}

/** One linkable or the same once more? By content, callbacks and user. */
bool is_same_linkable(const calotype_linkable_desc &a, const calotype_linkable_desc &b);
/** An order in which every linkable comes after those it names, else as declared. False: they name
 * each other in a circle or one that is not there; *culprit is one of them. */
bool order_setups(const calotype_module_desc &desc, uint32_t *order, uint32_t *culprit);

}  // namespace calotype::runtime
