// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/device/cache/callbacks.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/device/cache/steps.h"
#include "runtime/host/call_guarded.h"
#include "runtime/host/data/atomic_flag.h"
#include "runtime/host/data/list.h"
#include "runtime/host/timed_wait.h"

namespace calotype::runtime {

namespace {

// ---- services --------------------------------------------------------------------------------

/** The arguments of a call, and behind them what the services need. */
struct CallFrame {
    calotype_callback_args args;  ///< first: services find the rest through it
    const CallbackSite *site;
    LoadedModule *module;
    Text *why_not;  ///< what is said of a callback that fails
};

const CallFrame &frame_of(const calotype_callback_args *args) {
    return *reinterpret_cast<const CallFrame *>(args);
}

calotype_status service_get_global(const calotype_callback_args *args, const char *name,
                                   uint64_t *address, size_t *bytes) {
    const CallFrame &frame = frame_of(args);
    if (!args->module) {
        return CALOTYPE_E_CONTEXT_LOST;
    }
    uint64_t found = 0;
    size_t size = 0;
    const calotype_status status = frame.site->context.backend->get_global(
        frame.site->scope, args->module, name, &found, &size);
    if (address) {
        *address = found;
    }
    if (bytes) {
        *bytes = size;
    }
    return status;
}

calotype_status service_copy_to_global(const calotype_callback_args *args, const char *name,
                                       size_t offset, const void *source, size_t bytes) {
    uint64_t address = 0;
    size_t size = 0;
    if (const calotype_status status = service_get_global(args, name, &address, &size)) {
        return status;
    }
    if (offset > size || bytes > size - offset) {
        *frame_of(args).why_not << "copy of " << uint64_t(bytes) << " bytes to offset "
                                << uint64_t(offset) << " of the global " << name << ", which has "
                                << uint64_t(size);
        return CALOTYPE_E_INVALID;
    }
    const CallbackSite &site = *frame_of(args).site;
    return site.context.backend->copy_to_device(site.scope, address + offset, source, bytes);
}

/** It ends with the module. */
calotype_status keep_function(const CallFrame &frame, void *function) {
    const KernelBackend &backend = *frame.site->context.backend;
    if (!backend.free_function) {
        return CALOTYPE_OK;
    }
    ExtraFunction *extra = static_cast<ExtraFunction *>(malloc(sizeof(ExtraFunction)));
    if (!extra) {
        backend.close_function(function, true);
        backend.free_function(function);
        return CALOTYPE_E_OOM;
    }
    std::atomic<ExtraFunction *> &list = frame.module->extra_functions;
    extra->function = function;
    extra->next = list.load(std::memory_order_relaxed);
    while (!list.compare_exchange_weak(extra->next, extra)) {
    }
    return CALOTYPE_OK;
}

calotype_status service_get_function(const calotype_callback_args *args, const char *name,
                                     void **function) {
    const CallFrame &frame = frame_of(args);
    if (!args->module) {
        return CALOTYPE_E_CONTEXT_LOST;
    }
    for (uint32_t i = 0; i < frame.module->n_functions; i++) {
        if (strcmp(frame.module->desc.kernels[i].name, name) == 0) {
            *function = frame.module->functions[i];
            return CALOTYPE_OK;
        }
    }
    const calotype_status status =
        frame.site->context.backend->get_function(frame.site->scope, args->module, name, function);
    return status == CALOTYPE_OK ? keep_function(frame, *function) : status;
}

calotype_status service_set_error(const calotype_callback_args *args, const char *text) {
    Text &why_not = *frame_of(args).why_not;
    why_not.clear();
    why_not << (text ? text : "");
    return CALOTYPE_OK;
}

const calotype_services services = {sizeof(calotype_services), service_get_global,
                                    service_copy_to_global, service_get_function,
                                    service_set_error};

// ---- one call at a time ----------------------------------------------------------------------

CallbackLock *callback_locks = nullptr;

bool is_serialised(const calotype_linkable_desc &linkable) {
    return (linkable.setup || linkable.teardown) && !(linkable.flags & CALOTYPE_LK_THREADSAFE);
}

/** Null if there is no memory: such a linkable goes without. The lock is held. */
CallbackLock *share_callback_lock(const calotype_linkable_desc &linkable) {
    CallbackLock *lock = find_in(callback_locks, [&](const CallbackLock &other) {
        return is_same_linkable(other.identity, linkable);
    });
    if (!lock) {
        lock = static_cast<CallbackLock *>(calloc(1, sizeof(CallbackLock)));
        if (!lock) {
            return nullptr;
        }
        lock->identity = linkable;
        push(callback_locks, lock);
    }
    lock->references++;
    return lock;
}

void drop_callback_lock(CallbackLock *lock) {
    if (--lock->references == 0) {
        free(take_first(callback_locks, [=](const CallbackLock &l) { return &l == lock; }));
    }
}

/** False: waiting would close a circle. */
bool begin_callback(CallbackLock *lock, ThreadBlock &me) {
    if (!lock) {
        return true;
    }
    LockGuard guard(kernel_cache.lock);
    while (lock->holder.owner && lock->holder.owner != &me) {
        if (wait_for_others(me, lock->holder, no_deadline) != CALOTYPE_OK) {
            return false;
        }
    }
    lock->holder.owner = &me;
    lock->depth++;
    return true;
}

void end_callback(CallbackLock *lock) {
    if (lock) {
        LockGuard guard(kernel_cache.lock);
        if (--lock->depth == 0) {
            lock->holder.owner = nullptr;
            notify_all();
        }
    }
}

// ---- calls -----------------------------------------------------------------------------------

int call(const CallbackSite &site, LoadedModule &module, uint32_t index, calotype_event event,
         Text &why_not) {
    LoadedLinkable &linkable = module.linkables[index];
    const FailureScope ignored;  // of services, whose status the callback has
    const calotype_callback_args args = {
        .size = sizeof args,
        .abi = CALOTYPE_ABI_VERSION,
        .event = event,
        .reason = site.reason,
        .user_context = site.scope.user_context,
        .ctx = site.scope.context,
        .ctx_uid = site.context.uid,
        .device = site.scope.device,
        .module = site.has_driver ? module.module : nullptr,
        .stream = site.has_driver ? site.scope.stream : nullptr,
        .desc = &module.desc,
        .self = linkable.desc,
        .linkable_index = index,
        .user = linkable.desc->user,
        .instance = &linkable.instance,
        .svc = &services,
    };
    CallFrame frame = {args, &site, &module, &why_not};
    const bool is_setup = event == CALOTYPE_EV_SETUP;
    const Step step(is_setup ? "set up" : "tear down", module.desc);
    const calotype_module_callback callback =
        is_setup ? linkable.desc->setup : linkable.desc->teardown;
    int rc = -1;
    if (!call_guarded([&] { rc = callback(&frame.args); })) {
        why_not << (why_not.empty() ? "" : "; ") << "the callback threw an exception";
    }
    const calotype_status failed = is_setup ? CALOTYPE_E_SETUP : CALOTYPE_E_TEARDOWN;
    const uint64_t ns = step.end(is_setup ? CALOTYPE_ST_SETUP : CALOTYPE_ST_TEARDOWN,
                                 site.context.uid, rc == 0 ? CALOTYPE_OK : failed);
    count_in(&site.context, &calotype_stats::setup_ns, is_setup ? ns : 0);
    return rc;
}

void blame(const LoadedModule &module, uint32_t index, calotype_status status, calotype_stage stage,
           int rc, Failure *failure) {
    *failure = {
        status, stage, rc, int32_t(index), module.desc.name, module.linkables[index].desc->name};
}

calotype_status set_up(const CallbackSite &site, LoadedModule &module, uint32_t index,
                       Failure *failure) {
    LoadedLinkable &linkable = module.linkables[index];
    if (!linkable.desc->setup) {
        linkable.is_set_up = true;  // there may be a teardown all the same
        return CALOTYPE_OK;
    }
    if (!begin_callback(linkable.callbacks, site.me)) {
        set_failure("a callback of the linkable runs on a thread that waits for this one");
        blame(module, index, CALOTYPE_E_DEADLOCK, CALOTYPE_ST_SETUP, 0, failure);
        return CALOTYPE_E_DEADLOCK;
    }
    Text why_not;
    count_in(&site.context, &calotype_stats::setups);
    const int rc = call(site, module, index, CALOTYPE_EV_SETUP, why_not);
    end_callback(linkable.callbacks);
    if (rc != 0) {
        replace_failure(why_not);
        blame(module, index, CALOTYPE_E_SETUP, CALOTYPE_ST_SETUP, rc, failure);
        return CALOTYPE_E_SETUP;
    }
    count_in(&site.context, &calotype_stats::setups_ok);
    linkable.is_set_up = true;
    return CALOTYPE_OK;
}

calotype_status tear_down(const CallbackSite &site, LoadedModule &module, uint32_t index,
                          Failure *failure) {
    LoadedLinkable &linkable = module.linkables[index];
    const bool is_unwanted =
        !site.has_driver && (linkable.desc->flags & CALOTYPE_LK_NO_TEARDOWN_AFTER_LOSS);
    if (!linkable.is_set_up || !linkable.desc->teardown || is_unwanted) {
        linkable.is_set_up = false;
        return CALOTYPE_OK;
    }
    linkable.is_set_up = false;
    // A teardown must run, so one that could wait for ever does not wait.
    const bool is_alone = begin_callback(linkable.callbacks, site.me);
    Text why_not;
    count_in(&site.context, &calotype_stats::teardowns);
    const int rc = call(site, module, index, CALOTYPE_EV_TEARDOWN, why_not);
    end_callback(is_alone ? linkable.callbacks : nullptr);
    if (rc == 0) {
        return CALOTYPE_OK;
    }
    count_in(&site.context, &calotype_stats::teardown_errors);
    if (failure->status == CALOTYPE_OK) {
        blame(module, index, CALOTYPE_E_TEARDOWN, CALOTYPE_ST_TEARDOWN, rc, failure);
        replace_failure(why_not);
    }
    return CALOTYPE_E_TEARDOWN;
}

}  // namespace

void *keep_library_of(const void *address) {
    Dl_info info;
    if (!dladdr(address, &info) || !info.dli_fname || !info.dli_fname[0]) {
        return nullptr;
    }
    return dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
}

void stay_in_memory() {
    static constinit AtomicFlag is_kept{false};
    if (!is_kept.exchange(true)) {
        keep_library_of(reinterpret_cast<const void *>(stay_in_memory));
    }
}

void prepare_callbacks(LoadedModule &module) {
    for (uint32_t i = 0; i < module.desc.n_linkables; i++) {
        LoadedLinkable &linkable = module.linkables[i];
        if (linkable.desc->teardown) {
            linkable.library =
                keep_library_of(reinterpret_cast<const void *>(linkable.desc->teardown));
        }
        if (is_serialised(*linkable.desc)) {
            LockGuard guard(kernel_cache.lock);
            linkable.callbacks = share_callback_lock(*linkable.desc);
        }
    }
}

void forget_callbacks_of_others() {
    for (CallbackLock *lock = callback_locks; lock; lock = lock->next) {
        if (lock->holder.owner != known_thread) {
            lock->holder.owner = nullptr;
            lock->depth = 0;
        }
    }
}

void finish_callbacks(LoadedModule &module) {
    for (uint32_t i = 0; i < module.desc.n_linkables; i++) {
        LoadedLinkable &linkable = module.linkables[i];
        if (linkable.library && !kernel_cache.exiting) {
            dlclose(linkable.library);
        }
        linkable.library = nullptr;
        if (linkable.callbacks) {
            LockGuard guard(kernel_cache.lock);
            drop_callback_lock(linkable.callbacks);
        }
        linkable.callbacks = nullptr;
    }
}

calotype_status run_setups(const CallbackSite &site, LoadedModule &module, Failure *failure) {
    for (uint32_t i = 0; i < module.desc.n_linkables; i++) {
        const uint32_t index = module.setup_order[i];
        if (module.linkables[index].repeated) {
            continue;
        }
        if (const calotype_status status = set_up(site, module, index, failure)) {
            return status;
        }
    }
    return CALOTYPE_OK;
}

static void note_loss(CallbackSite &site) {
    LockGuard guard(kernel_cache.lock);
    if (site.context.lost) {
        site.lose_driver();
    }
}

calotype_status run_teardowns(CallbackSite &site, LoadedModule &module, Failure *failure) {
    calotype_status first = CALOTYPE_OK;
    for (uint32_t i = module.desc.n_linkables; i-- > 0;) {
        const calotype_status status = tear_down(site, module, module.setup_order[i], failure);
        first = first == CALOTYPE_OK ? status : first;
        note_loss(site);
    }
    return first;
}

}  // namespace calotype::runtime
