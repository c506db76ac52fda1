// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/device/cache/nrt.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/abi/hooks.h"
#include "runtime/device/cache/module.h"
#include "runtime/device/failure.h"
#include "runtime/host/data/list.h"
#include "runtime/host/not_copied.h"
#include "runtime/host/timed_wait.h"

namespace calotype::runtime {

namespace {

/** In nrt.cu. */
constexpr const char *variable = "TheMSys";
constexpr size_t memsys_bytes = sizeof(calotype_nrt_memsys);

class NrtLock : NotCopied {
    NrtState &nrt;

public:
    explicit NrtLock(ContextState &context) : nrt(context.nrt) {
        LockGuard guard(kernel_cache.lock);
        while (nrt.is_locked) {
            wait_for_change(no_deadline);
        }
        nrt.is_locked = true;
    }
    ~NrtLock() {
        LockGuard guard(kernel_cache.lock);
        nrt.is_locked = false;
        notify_all();
    }
};

calotype_status make_memsys(ContextState &context, const DeviceScope &scope, uint64_t *address) {
    const KernelBackend &backend = *context.backend;
    calotype_nrt_memsys first = {};
    first.enabled = context.nrt.is_enabled;
    uint64_t made = 0;
    calotype_status status = backend.heap->allocate(scope, memsys_bytes, &made);
    if (status == CALOTYPE_OK) {
        status = backend.copy_to_device(scope, made, &first, memsys_bytes);
        if (status != CALOTYPE_OK) {
            backend.heap->deallocate(scope, made);
        }
    }
    *address = status == CALOTYPE_OK ? made : 0;
    return status;
}

void add(calotype_nrt_memsys &to, const calotype_nrt_memsys &n) {
    to.alloc += n.alloc;
    to.free_ += n.free_;
    to.mi_alloc += n.mi_alloc;
    to.mi_free += n.mi_free;
    to.alloc_bytes += n.alloc_bytes;
    to.free_bytes += n.free_bytes;
    to.failed += n.failed;
}

/** The record of modules of that name that have gone, or a new one. Null: out of memory. */
NrtModule *record_of(NrtState &nrt, const char *name) {
    NrtModule *record = find_in(
        nrt.modules, [=](const NrtModule &m) { return !m.memsys && strcmp(m.name, name) == 0; });
    if (!record) {
        record = static_cast<NrtModule *>(calloc(1, sizeof(NrtModule) + strlen(name)));
        if (record) {
            memcpy(record->name, name, strlen(name));
            push(nrt.modules, record);
        }
    }
    return record;
}

bool is_lost(const ContextState &context) {
    LockGuard guard(kernel_cache.lock);
    return context.lost;
}

/** The memory system that a module counts in, made if it is not there yet. */
calotype_status find_memsys(ContextState &context, const DeviceScope &scope, LoadedModule &module,
                            uint64_t *address) {
    NrtState &nrt = context.nrt;
    if (is_lost(context)) {
        return fail_with(CALOTYPE_E_CONTEXT_LOST, "the context was lost while the module was "
                                                  "loaded");  // nothing would end what is made now
    }
    if (!nrt.memsys) {
        if (const calotype_status status = make_memsys(context, scope, &nrt.memsys)) {
            return status;
        }
    }
    *address = nrt.memsys;
    if (!(module.desc.flags & CALOTYPE_MOD_DEBUG)) {
        return CALOTYPE_OK;
    }
    NrtModule *record = record_of(nrt, module.desc.name);
    if (!record) {
        return fail_with(CALOTYPE_E_OOM, "out of host memory");
    }
    const calotype_status status = make_memsys(context, scope, &record->memsys);
    module.nrt = status == CALOTYPE_OK ? record : nullptr;
    *address = record->memsys;
    return status;
}

/** For each memory system that is on the device: the context's, and those of modules. */
template<typename F>
calotype_status for_each_memsys(NrtState &nrt, F f) {
    calotype_status status = nrt.memsys ? f(nrt.memsys) : CALOTYPE_OK;
    for (NrtModule *m = nrt.modules; m && status == CALOTYPE_OK; m = m->next) {
        status = m->memsys ? f(m->memsys) : CALOTYPE_OK;
    }
    return status;
}

calotype_status sum_up(ContextState &context, const DeviceScope &scope, calotype_nrt_memsys *sum) {
    *sum = {};
    for (const NrtModule *m = context.nrt.modules; m; m = m->next) {
        add(*sum, m->ended);
    }
    return for_each_memsys(context.nrt, [&](uint64_t memsys) {
        calotype_nrt_memsys part = {};
        const calotype_status status =
            context.backend->heap->copy_to_host(scope, &part, memsys, memsys_bytes);
        add(*sum, part);
        return status;
    });
}

/** What a call frees later than it allocates is a leak only if both were counted. */
uint64_t live(const calotype_nrt_memsys &counts) {
    return counts.alloc > counts.free_ ? counts.alloc - counts.free_ : 0;
}

uint64_t live_bytes(const calotype_nrt_memsys &counts) {
    return counts.alloc_bytes > counts.free_bytes ? counts.alloc_bytes - counts.free_bytes : 0;
}

void report_leaks(const ContextState &context, const calotype_nrt_memsys &sum, Text &text) {
    if (live(sum) == 0) {
        return;
    }
    text << "device runtime: " << live(sum) << " of " << sum.alloc << " allocations in context "
         << context.uid << " of " << context.backend->name << " were not freed, " << live_bytes(sum)
         << " bytes\n";
    for (const NrtModule *m = context.nrt.modules; m; m = m->next) {
        if (live(m->ended) > 0) {
            text << "device runtime: " << live(m->ended) << " of " << m->ended.alloc
                 << " of module " << m->name << ", " << live_bytes(m->ended) << " bytes\n";
        }
    }
}

/** The end of the context's memory system on the device. */
void free_memsys(ContextState &context, void *user_context, Text &leaks) {
    const KernelBackend &backend = *context.backend;
    const FailureScope ignored;
    DeviceScope scope = context.scope;
    scope.user_context = user_context;
    if (backend.enter(scope) == CALOTYPE_OK) {
        calotype_nrt_memsys sum;
        if (context.nrt.is_enabled && sum_up(context, scope, &sum) == CALOTYPE_OK) {
            report_leaks(context, sum, leaks);
        }
        backend.heap->deallocate(scope, context.nrt.memsys);
        backend.leave(scope);
    }
}

/** The records of modules that have gone. When a context is lost, flights may still have others. */
void forget_modules(NrtState &nrt) {
    NrtModule *gone = take_all(nrt.modules, [](const NrtModule &m) { return m.memsys == 0; });
    while (NrtModule *m = pop(gone)) {
        free(m);
    }
}

}  // namespace

calotype_status prepare_nrt(ContextState &context, const DeviceScope &scope) {
    const DeviceHeap *heap = context.backend->heap;
    if (!heap) {
        return fail_with(CALOTYPE_E_INVALID,
                         Text() << "the module uses the device runtime, but kernels of "
                                << context.backend->name << " cannot allocate memory");
    }
    NrtLock lock(context);
    NrtState &nrt = context.nrt;
    if (nrt.is_heap_fixed) {
        return CALOTYPE_OK;
    }
    calotype_status status = CALOTYPE_OK;
    if (nrt.heap_bytes) {
        status = heap->set_size(scope, nrt.heap_bytes);
    }
    nrt.is_heap_fixed = status == CALOTYPE_OK;
    return status;
}

calotype_status attach_nrt(ContextState &context, const DeviceScope &scope, LoadedModule &module) {
    const KernelBackend &backend = *context.backend;
    uint64_t place = 0, memsys = 0;
    size_t size = 0;
    FailureScope failures;
    calotype_status status = backend.get_global(scope, module.module, variable, &place, &size);
    if (status == CALOTYPE_E_INVALID) {
        return CALOTYPE_OK;  // nothing that the kernels call needs it, so it was not linked
    }
    failures.pass_on();
    if (status == CALOTYPE_OK && size != sizeof memsys) {
        return fail_with(CALOTYPE_E_INVALID, Text() << variable << " has " << uint64_t(size)
                                                    << " bytes, must have "
                                                    << uint64_t(sizeof memsys));
    }
    if (status == CALOTYPE_OK) {
        NrtLock lock(context);
        status = find_memsys(context, scope, module, &memsys);
    }
    if (status == CALOTYPE_OK) {
        status = backend.copy_to_device(scope, place, &memsys, sizeof memsys);
    }
    return status;
}

void detach_nrt(ContextState &context, const DeviceScope &scope, LoadedModule &module,
                bool has_driver) {
    NrtModule *record = module.nrt;
    if (!record) {
        return;
    }
    module.nrt = nullptr;
    NrtLock lock(context);
    if (has_driver) {
        const FailureScope ignored;
        const DeviceHeap &heap = *context.backend->heap;
        calotype_nrt_memsys counts = {};
        if (heap.copy_to_host(scope, &counts, record->memsys, memsys_bytes) == CALOTYPE_OK) {
            add(record->ended, counts);
        }
        heap.deallocate(scope, record->memsys);
    }
    record->memsys = 0;
    if (!has_driver) {
        forget_modules(context.nrt);  // nothing will be reported
    }
}

void end_nrt(ContextState &context, void *user_context, bool has_driver) {
    Text leaks;
    {
        NrtLock lock(context);
        if (context.nrt.memsys && has_driver) {
            free_memsys(context, user_context, leaks);
        }
        forget_modules(context.nrt);
        context.nrt.memsys = 0;
    }
    if (!leaks.empty()) {
        calotype_print(user_context, leaks.c_str());  // whatever that calls, the lock is not held
    }
}

calotype_status set_nrt_heap(ContextState &context, uint64_t bytes) {
    NrtLock lock(context);
    if (context.nrt.is_heap_fixed) {
        return fail_with(
            CALOTYPE_E_BUSY,
            "the heap of kernels has its size: a module with the device runtime has been "
            "loaded in this context");
    }
    context.nrt.heap_bytes = bytes;
    return CALOTYPE_OK;
}

calotype_status enable_nrt_stats(ContextState &context, const DeviceScope &scope, bool on) {
    NrtLock lock(context);
    const uint64_t enabled = on;
    const calotype_status status = for_each_memsys(context.nrt, [&](uint64_t memsys) {
        return context.backend->copy_to_device(
            scope, memsys + offsetof(calotype_nrt_memsys, enabled), &enabled, sizeof enabled);
    });
    context.nrt.is_enabled = status == CALOTYPE_OK ? on : context.nrt.is_enabled;
    return status;
}

calotype_status read_nrt_stats(ContextState &context, const DeviceScope &scope,
                               calotype_nrt_memsys *sum) {
    NrtLock lock(context);
    if (!context.nrt.is_enabled) {
        return fail_with(CALOTYPE_E_INVALID,
                         "statistics of the device runtime are off; call calotype_nrt_enable_stats "
                         "before the kernels run");
    }
    return sum_up(context, scope, sum);
}

calotype_status reset_nrt_stats(ContextState &context, const DeviceScope &scope) {
    NrtLock lock(context);
    constexpr size_t first = offsetof(calotype_nrt_memsys, alloc);
    const calotype_nrt_memsys zero = {};
    const calotype_status status = for_each_memsys(context.nrt, [&](uint64_t memsys) {
        return context.backend->copy_to_device(scope, memsys + first, &zero.alloc,
                                               memsys_bytes - first);
    });
    for (NrtModule *m = context.nrt.modules; m && status == CALOTYPE_OK; m = m->next) {
        m->ended = {};
    }
    return status;
}

}  // namespace calotype::runtime
