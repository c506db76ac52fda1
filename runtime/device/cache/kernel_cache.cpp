// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Holding and giving back. The warm path takes no lock and writes nothing but a cell of its own
// thread, with plain stores:
//
//     initialize               tear down (under the lock)
//     ----------               ----------
//     add one to my cell       mark the entry as watched
//     light fence              heavy fence
//     look at the entry again  sum the cells
//
// So at least one side sees the other (fences.h). An initialize that finds the entry changed takes
// its one back and asks again under the lock (hold_module.cpp). A finalize does the same steps with
// one less, and does what is to be done with the last release if it finds the entry watched.
#include "runtime/device/cache/kernel_cache.h"

#include "runtime/abi/device_interface_impl.h"
#include "runtime/device/cache/fences.h"
#include "runtime/device/cache/steps.h"
#include "runtime/device/cache/teardown.h"
#include "runtime/device/failure.h"
#include "runtime/host/data/list.h"
#include "runtime/host/timed_wait.h"
#include "runtime/host/weak.h"

using namespace calotype::runtime;

namespace calotype::runtime {

const KernelBackend *backend_of(const calotype_device_interface_t *device_interface) {
    return device_interface && device_interface->impl
               ? static_cast<const KernelBackend *>(device_interface->impl->kernels)
               : nullptr;
}

// ---- the warm path ---------------------------------------------------------------------------

namespace {

/** Give back a hold that only threads which counted it meanwhile have seen: a release may sleep
 * for its sake, and an entry may have been left for it to free. */
__attribute__((noinline)) void take_back(calotype_entry &entry, HoldCell &cell) {
    LockGuard guard(kernel_cache.lock);
    cell.taken.store(cell.taken.load(std::memory_order_relaxed) - 1, std::memory_order_release);
    reclaim_if_idle(entry);
    notify_all();
}

/** A hold of a module that is there; false: ask under the lock. */
inline bool hold_warm(uint64_t context_uid, const calotype_uid &uid, calotype_hold *out) {
    ThreadBlock *me = known_thread;
    const KernelKey key(context_uid, uid);
    const Table *table = kernel_cache.table.load(std::memory_order_acquire);
    if (!me || !table) {
        return false;
    }
    calotype_entry *e = table->chains[key.hash() & table->mask].load(std::memory_order_acquire);
    for (int steps = 0; e; steps++) {
        const uint64_t word = e->word.load(std::memory_order_acquire);
        if (e->has_key(key)) {
            HoldCell *cell = me->cell(e->index);
            if (!cell || !is_plainly_ready(word)) {
                return false;
            }
            cell->take();
            light_fence();
            if (e->word.load(std::memory_order_acquire) != word || cell->balance() <= 0) {
                take_back(*e, *cell);
                return false;
            }
            cell->count_hit(kernel_cache.epoch.load(std::memory_order_relaxed) + ++me->sequence);
            out->entry = e;
            out->generation = hold_ticket(generation_of(word), me->id);
            return true;
        }
        if (steps == 32) {
            return false;
        }
        e = e->next_in_chain.load(std::memory_order_acquire);
    }
    return false;
}

}  // namespace

// ---- how calls begin -------------------------------------------------------------------------

static calotype_status report_unacquired(const KernelBackend &backend, calotype_status status,
                                         const char *module_name) {
    set_failure(Text() << "no context of " << backend.name << " for this call");
    return fail(Failure{.status = status, .module_name = module_name ? module_name : ""});
}

calotype_status begin_call(void *user_context, const KernelBackend &backend,
                           const char *module_name, Call *call) {
    call->backend = &backend;
    call->me = this_thread();
    if (!call->me) {
        return fail_without_block();
    }
    const FailureScope failures;
    const calotype_status status = backend.acquire(user_context, &call->scope);
    call->is_acquired = status == CALOTYPE_OK;
    return call->is_acquired ? CALOTYPE_OK : report_unacquired(backend, status, module_name);
}

calotype_status check_descriptor(const calotype_module_desc *desc) {
    if (!desc) {
        return fail(CALOTYPE_E_INVALID, "no module is given");
    }
    if (desc->abi != CALOTYPE_ABI_VERSION) {
        return fail(CALOTYPE_E_ABI, Text()
                                        << "version " << desc->abi << " of the descriptor, must be "
                                        << CALOTYPE_ABI_VERSION);
    }
    if (desc->size < sizeof *desc) {
        return fail(CALOTYPE_E_ABI, Text()
                                        << "the descriptor has " << desc->size
                                        << " bytes, must have at least " << uint64_t(sizeof *desc));
    }
    return CALOTYPE_OK;
}

calotype_status begin_call(void *user_context, const calotype_module_desc *desc, Call *call) {
    if (const calotype_status status = check_descriptor(desc)) {
        return status;
    }
    if (!desc->device_interface) {
        return fail(CALOTYPE_E_INVALID, CALOTYPE_ST_NONE, desc->name,
                    "the descriptor names no kind of device");
    }
    const KernelBackend *backend = backend_of(desc->device_interface());
    if (!backend) {
        return fail(CALOTYPE_E_DEVICE, CALOTYPE_ST_NONE, desc->name, "the device runs no kernels");
    }
    return begin_call(user_context, *backend, desc->name, call);
}

void know_backend(const KernelBackend &backend) {
    LockGuard guard(kernel_cache.lock);
    int i = 0;
    while (i < most_backends && kernel_cache.backends[i] && kernel_cache.backends[i] != &backend) {
        i++;
    }
    if (i < most_backends) {
        kernel_cache.backends[i] = &backend;
    }
}

/** Whether the cache has met one that has not ended. The lock is held. */
static bool has_contexts(const KernelBackend &backend) {
    return find_in(kernel_cache.contexts,
                   [&](const ContextState &c) { return !c.lost && c.backend == &backend; });
}

calotype_status for_each_backend(void *user_context,
                                 FunctionRef<calotype_status(const Call &call)> body) {
    const KernelBackend *backends[most_backends];
    int n = 0;
    {
        LockGuard guard(kernel_cache.lock);
        for (const KernelBackend *backend : kernel_cache.backends) {
            if (backend && (has_contexts(*backend) || backend->has_any)) {
                backends[n++] = backend;
            }
        }
    }
    calotype_status first = CALOTYPE_OK;
    bool is_known = false, is_of_another = false;
    for (int i = 0; i < n; i++) {
        if (backends[i]->has_any && !backends[i]->has_any()) {
            continue;
        }
        if (backends[i]->has_context && !backends[i]->has_context(user_context)) {
            is_known = true;  // its default context, which nobody has made
            continue;
        }
        Call call;
        calotype_status status = begin_call(user_context, *backends[i], nullptr, &call);
        if (status == CALOTYPE_E_INVALID) {
            is_of_another = true;
            continue;
        }
        is_known = true;
        status = status == CALOTYPE_OK ? body(call) : status;
        first = first == CALOTYPE_OK ? status : first;
    }
    return is_of_another && !is_known ? CALOTYPE_E_INVALID : first;
}

// ---- giving back -----------------------------------------------------------------------------

__attribute__((cold, noinline)) calotype_status count_misuse(const calotype_entry *entry) {
    {
        LockGuard guard(kernel_cache.lock);
        count_in(entry ? entry->context : nullptr, &calotype_stats::misuse);
    }
    return fail(CALOTYPE_E_UNDERFLOW, "the hold has been given back already");
}

static bool is_capturing(const KernelBackend &backend, const ReleaseOrigin &origin) {
    DeviceScope scope;
    const FailureScope ignored;
    if (!origin.is_call || !backend.is_capturing ||
        backend.acquire(origin.user_context, &scope) != CALOTYPE_OK) {
        return false;
    }
    const bool answer = backend.captures(scope);
    backend.end(scope);
    return answer;
}

/** What a finalize has to do where somebody watches the entry, or nothing is left of the module. */
__attribute__((noinline)) static calotype_status on_last_release(calotype_entry &entry,
                                                                 ReleaseOrigin origin) {
    ThreadBlock *me = this_thread();
    TeardownList victims;
    LockGuard guard(kernel_cache.lock);
    ContextState &context = *entry.context;
    context.users++;
    if (entry.phase() == Phase::orphaned) {
        count_in(&context, &calotype_stats::orphans);
        reclaim_if_idle(entry);
    }
    bool may_unload = me && entry.phase() == Phase::ready && count_holds(entry.index) == 0;
    if (may_unload) {
        const Unlocked unlocked(kernel_cache.lock);
        may_unload = !is_capturing(*context.backend, origin);
    }
    close_if_awaited(context);
    if (may_unload) {
        choose_victims(context, *me, victims);
    }
    notify_all();
    calotype_status status = CALOTYPE_OK;
    if (victims.first) {
        const Unlocked unlocked(kernel_cache.lock);
        status = tear_down_chosen(context, victims, origin.user_context, *me);
    }
    context.users--;
    return status;
}

/** Take it off its count. False: it is not counted, as it has been given back. */
static inline bool uncount(const calotype_entry &entry, const calotype_hold &hold) {
    const uint32_t id = uint32_t(hold.generation) & ((1u << thread_bits) - 1);
    ThreadBlock *me = known_thread;
    const bool is_mine = me && me->id == id;
    const ThreadBlock *counter = is_mine ? me : thread_of(id);
    HoldCell *cell = counter ? counter->cell(entry.index) : nullptr;
    return cell && (is_mine ? cell->give_back() : cell->release_remotely());
}

calotype_status keep_hold(const calotype_hold &hold, calotype_hold *kept) {
    calotype_entry &entry = *hold.entry;
    ThreadBlock *keeper = runtime_block();
    if (!keeper || !ensure_cell(*keeper, entry.index)) {
        return CALOTYPE_E_OOM;
    }
    const uint64_t word = entry.word.load(std::memory_order_relaxed);
    const bool is_same = generation_of(word) == hold.generation >> thread_bits;
    *kept = grant_hold(entry, *keeper);
    if (is_same && uncount(entry, hold)) {
        return CALOTYPE_OK;
    }
    keeper->cell(entry.index)->give_back();
    return CALOTYPE_E_UNDERFLOW;
}

calotype_status give_back(calotype_hold hold, ReleaseOrigin origin) {
    calotype_entry *entry = hold.entry;
    if (!entry) {
        return count_misuse(nullptr);
    }
    const uint64_t word = entry->word.load(std::memory_order_acquire);
    if (generation_of(word) != hold.generation >> thread_bits) {
        return count_misuse(entry);
    }
    if (!uncount(*entry, hold)) {
        return count_misuse(entry);
    }
    light_fence();
    return is_plainly_ready(entry->word.load(std::memory_order_acquire))
               ? CALOTYPE_OK
               : on_last_release(*entry, origin);
}

}  // namespace calotype::runtime

__attribute__((cold, noinline)) static calotype_status
initialize_cold(void *user_context, const calotype_module_desc *desc, calotype_hold *out) {
    constexpr int most_tries = 4;
    bool has_ended = true;
    calotype_status status = CALOTYPE_OK;
    // A context that is released and named again is there under another identity.
    for (int i = 0; i < most_tries && has_ended; i++) {
        Call call;
        has_ended = false;
        status = begin_call(user_context, desc, &call);
        status = status == CALOTYPE_OK ? hold_module(call, *desc, out, &has_ended) : status;
    }
    return status;
}

CALOTYPE_WEAK calotype_status calotype_initialize_kernels(void *user_context,
                                                          const calotype_module_desc *desc,
                                                          void *call_site_slot,
                                                          calotype_hold *out) {
    (void)call_site_slot;  // nothing could be kept there that the table does not find as fast
    if (!out) {
        return fail(CALOTYPE_E_INVALID, "no place for the hold");
    }
    *out = calotype_hold{};
    // Where all goes well nothing is written but this thread's count. Of a descriptor of another
    // version nothing but that is read.
    const KernelBackend *backend =
        desc && desc->abi == CALOTYPE_ABI_VERSION && desc->device_interface
            ? backend_of(desc->device_interface())
            : nullptr;
    DeviceScope scope;
    bool is_warm = false;
    if (backend && backend->acquire(user_context, &scope) == CALOTYPE_OK) {
        is_warm = hold_warm(scope.context_uid, desc->uid, out);
        backend->end(scope);
    }
    return is_warm ? CALOTYPE_OK : initialize_cold(user_context, desc, out);
}

/** The words one by one: read as a whole they would have to wait until both that have just been
 * written are in the cache. */
static inline calotype_hold take(calotype_hold *hold) {
    calotype_entry *entry = hold->entry;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    const uint64_t generation = hold->generation;
    *hold = calotype_hold{};
    return calotype_hold{entry, generation};
}

CALOTYPE_WEAK calotype_status calotype_finalize_kernels(void *user_context, calotype_hold *hold) {
    if (!hold) {
        return fail(CALOTYPE_E_INVALID, "no hold is given");
    }
    return give_back(take(hold), ReleaseOrigin{true, user_context});
}

/** The lock is held. */
static calotype_status pin(const calotype_hold &hold, ThreadBlock &me, calotype_hold *out,
                           const char **why_not) {
    if (!hold.entry || generation_of(hold.entry->word.load(std::memory_order_relaxed)) !=
                           hold.generation >> thread_bits) {
        *why_not = "what is to be pinned is no hold, or one that was given back";
        return CALOTYPE_E_INVALID;
    }
    if (hold.entry->phase() != Phase::ready) {
        *why_not = "the module that is to be pinned has gone with its context";
        return CALOTYPE_E_CONTEXT_LOST;
    }
    if (!ensure_cell(me, hold.entry->index)) {
        return CALOTYPE_E_OOM;
    }
    *out = grant_hold(*hold.entry, me);
    return CALOTYPE_OK;
}

CALOTYPE_WEAK calotype_status calotype_pin(calotype_hold hold, calotype_hold *out) {
    if (!out) {
        return fail(CALOTYPE_E_INVALID, "no place for the pin");
    }
    *out = calotype_hold{};
    ThreadBlock *me = this_thread();
    const char *why_not = nullptr;
    calotype_status status = CALOTYPE_E_OOM;
    if (me) {
        LockGuard guard(kernel_cache.lock);
        status = pin(hold, *me, out, &why_not);
    }
    return status == CALOTYPE_OK
               ? status
               : fail(status, why_not ? why_not : "no memory for a count of holds");
}

CALOTYPE_WEAK calotype_status calotype_unpin(calotype_hold *hold) {
    if (!hold) {
        return fail(CALOTYPE_E_INVALID, "no pin is given");
    }
    return give_back(take(hold), ReleaseOrigin{false, nullptr});
}

CALOTYPE_WEAK calotype_status
calotype_context_uid(const calotype_device_context *on,
                     const calotype_device_interface_t *device_interface, uint64_t *ctx_uid) {
    const KernelBackend *backend = backend_of(device_interface);
    if (!backend || !ctx_uid) {
        return fail(CALOTYPE_E_INVALID,
                    "a device that runs kernels and a place for the answer are needed");
    }
    Call call;
    const calotype_status status = begin_call(user_context_of(on), *backend, nullptr, &call);
    *ctx_uid = status == CALOTYPE_OK ? call.scope.context_uid : 0;
    if (status == CALOTYPE_OK) {
        find_or_create_context(call);  // so that it can be told lost
    }
    return status;
}
