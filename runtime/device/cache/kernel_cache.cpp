// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Holding and giving back. The warm path takes no lock and writes nothing but a cell of its own
// thread, with plain stores:
//
//     initialize               tear down (under the lock)
//     ----------               ----------
//     add one to my cell       mark the entry as watched
//     barrier to pass          barrier to gather
//     look at the entry again  sum the cells
//
// So at least one side sees the other (barriers.h). An initialize that finds the entry changed
// takes its one back and comes again under the lock; a finalize does the same steps with one less,
// and looks after the entry if it finds it watched.
#include "runtime/device/cache/kernel_cache.h"

#include "runtime/abi/device_interface_impl.h"
#include "runtime/device/cache/barriers.h"
#include "runtime/device/cache/eviction.h"
#include "runtime/device/cache/steps.h"
#include "runtime/device/failure.h"
#include "runtime/host/timed_wait.h"
#include "runtime/host/weak.h"

using namespace calotype::runtime;

namespace calotype {
namespace runtime {

const KernelBackend *backend_of(const calotype_device_interface_t *device_interface) {
    return device_interface && device_interface->impl
               ? static_cast<const KernelBackend *>(device_interface->impl->kernels)
               : nullptr;
}

// ---- the warm path ---------------------------------------------------------------------------

namespace {

/** Give back a hold that nobody has seen but those who counted it meanwhile: a release may sleep
 * for its sake, and an entry may have been left for it to free. */
__attribute__((noinline)) void take_back(calotype_entry &entry, HoldCell &cell) {
    LockGuard guard(kernel_cache.lock);
    cell.taken.store(cell.taken.load(std::memory_order_relaxed) - 1, std::memory_order_release);
    reclaim_if_idle(entry);
    announce_change();
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
            barrier_to_pass();
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
    Failure failure;
    failure.status = status;
    failure.module_name = module_name ? module_name : "";
    return fail(failure);
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
        return fail(CALOTYPE_E_INVALID, CALOTYPE_ST_NONE, nullptr, "no module is given");
    }
    if (desc->abi != CALOTYPE_ABI_VERSION) {
        return fail(CALOTYPE_E_ABI, CALOTYPE_ST_NONE, nullptr,
                    Text() << "version " << desc->abi << " of the descriptor, must be "
                           << CALOTYPE_ABI_VERSION);
    }
    if (desc->size < sizeof *desc) {
        return fail(CALOTYPE_E_ABI, CALOTYPE_ST_NONE, nullptr,
                    Text() << "the descriptor has " << desc->size << " bytes, must have at least "
                           << uint64_t(sizeof *desc));
    }
    return CALOTYPE_OK;
}

calotype_status begin_call(void *user_context, const calotype_module_desc *desc, Call *call) {
    const calotype_status status = check_descriptor(desc);
    if (status != CALOTYPE_OK) {
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
    const ContextState *context = kernel_cache.contexts;
    while (context && (context->lost || context->backend != &backend)) {
        context = context->next;
    }
    return context != nullptr;
}

calotype_status for_each_backend(void *user_context,
                                 calotype_status (*body)(const Call &call, void *data),
                                 void *data) {
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
        status = status == CALOTYPE_OK ? body(call, data) : status;
        first = first == CALOTYPE_OK ? status : first;
    }
    return is_of_another && !is_known ? CALOTYPE_E_INVALID : first;
}

// ---- asking under the lock -------------------------------------------------------------------

/** The same hold was given back twice, by its thread and another, at the same time, so that neither
 * found it missing. It is here that it shows. */
static void settle_overdraft(ContextState *context, HoldCell &cell) {
    while (cell.balance() < 0) {
        cell.given_elsewhere.fetch_sub(1, std::memory_order_acq_rel);
        count_in(context, Counter::misuse);
    }
}

calotype_hold grant_hold(calotype_entry &entry, ThreadBlock &thread) {
    HoldCell &cell = *thread.cell(entry.index);
    settle_overdraft(entry.context, cell);
    cell.take();
    const uint64_t word = entry.word.load(std::memory_order_relaxed);
    return calotype_hold{&entry, hold_ticket(generation_of(word), thread.id)};
}

namespace {

enum class Answer { held, fly, again, failed, has_ended };

/** One request for a module, in the loop of asking under the lock. */
struct Request {
    const Call &call;
    const calotype_module_desc &desc;
    calotype_hold *out;
    ContextState *context = nullptr;
    calotype_entry *entry = nullptr;
    calotype_status status = CALOTYPE_OK;
    FlightError *error = nullptr;  ///< shared with others
    const char *text = "";         ///< if there is none

    Answer refuse(calotype_status why, const char *sentence) {
        status = why;
        text = sentence;
        return Answer::failed;
    }
};

Answer hold_ready(Request &request) {
    calotype_entry &entry = *request.entry;
    if (!ensure_cell(*request.call.me, entry.index)) {
        return request.refuse(CALOTYPE_E_OOM, "no memory for a count of holds");
    }
    HoldCell &cell = *request.call.me->cell(entry.index);
    set_watched(entry, is_to_be_watched(entry));
    *request.out = grant_hold(entry, *request.call.me);
    cell.count_hit(kernel_cache.epoch.load(std::memory_order_relaxed) +
                   ++request.call.me->sequence);
    return Answer::held;
}

/** Whether a flight failed by where and when it was asked for, so that another may well succeed. */
bool is_about_caller(calotype_status status) {
    return status == CALOTYPE_E_CAPTURE || status == CALOTYPE_E_REENTRANT ||
           status == CALOTYPE_E_DEADLOCK;
}

/** Wait until the flight's owner has granted a hold or failed. */
Answer await_flight(Request &request) {
    ThreadBlock &me = *request.call.me;
    calotype_entry &entry = *request.entry;
    if (entry.flight.owner == &me) {
        return request.refuse(CALOTYPE_E_REENTRANT,
                              "a callback or compile step of the module asks for the module");
    }
    if (closes_circle(me, entry.flight)) {
        return request.refuse(CALOTYPE_E_DEADLOCK,
                              "the thread that loads the module waits for this one");
    }
    if (!ensure_cell(me, entry.index)) {
        return request.refuse(CALOTYPE_E_OOM, "no memory for a count of holds");
    }
    Waiter waiter = {&me, entry.first_waiter, nullptr, CALOTYPE_OK, {}};
    entry.first_waiter = &waiter;
    me.waits_on = &entry.flight;
    count_in(request.context, Counter::waits);
    const uint64_t word = entry.word.load(std::memory_order_relaxed);
    *request.out = calotype_hold{&entry, hold_ticket(generation_of(word), me.id)};
    request.context->users++;
    {
        const Unlocked unlocked(kernel_cache.lock);
        const Range range("wait for", request.desc.name);
        const uint64_t begin = now_ns();
        while (!waiter.done.load(std::memory_order_acquire)) {
            wait_on(waiter.done, 0);
        }
        count_in(request.context, Counter::wait_ns, now_ns() - begin);
    }
    request.context->users--;
    if (is_about_caller(waiter.status)) {
        drop_error(waiter.error);
        count_in(request.context, Counter::waits, 0 - uint64_t(1));  // for nothing
        return Answer::again;
    }
    request.status = waiter.status;
    request.error = waiter.error;
    return waiter.status == CALOTYPE_OK ? Answer::held : Answer::failed;
}

Answer await_teardown(Request &request) {
    ThreadBlock &me = *request.call.me;
    const Waitable &flight = request.entry->flight;
    if (flight.owner == &me) {
        return request.refuse(CALOTYPE_E_REENTRANT,
                              "a teardown callback of the module asks for the module");
    }
    if (closes_circle(me, flight)) {
        return request.refuse(CALOTYPE_E_DEADLOCK,
                              "the thread that tears the module down waits for this one");
    }
    me.waits_on = &flight;
    wait_for_change(no_deadline);
    me.waits_on = nullptr;
    return Answer::again;
}

Answer begin_flight(Request &request) {
    request.entry = add_entry(KernelKey(request.context->uid, request.desc.uid), *request.context,
                              *request.call.me);
    if (!request.entry) {
        return request.refuse(CALOTYPE_E_OOM, "no memory for one more module");
    }
    count_in(request.context, Counter::misses);
    return Answer::fly;
}

Answer ask(Request &request) {
    if (request.context->lost || request.context->uid != request.call.scope.context_uid) {
        return Answer::has_ended;
    }
    if (request.context->failed) {
        return request.refuse(CALOTYPE_E_CONTEXT_LOST,
                              "a kernel or the device has failed, after which the driver refuses "
                              "all calls in the context: release it and make another one");
    }
    if (request.context->closing) {
        return request.refuse(CALOTYPE_E_CLOSING, "the context is being released");
    }
    request.entry = find_entry(KernelKey(request.context->uid, request.desc.uid));
    if (!request.entry) {
        return begin_flight(request);
    }
    switch (request.entry->phase()) {
    case Phase::ready:
        return hold_ready(request);
    case Phase::busy:
        return await_flight(request);
    case Phase::tearing:
        return await_teardown(request);
    default:
        break;
    }
    count_in(request.context, Counter::negative_hits);
    request.error = share_error(request.entry->error);
    request.status = request.error ? request.error->info.status : CALOTYPE_E_OOM;
    request.text = "no memory for the error of the first call";
    return Answer::failed;
}

/** One that had the address of this context but has gone. The lock is held. */
uint64_t predecessor_of(const Call &call) {
    for (const ContextState *c = kernel_cache.contexts; c; c = c->next) {
        if (!c->lost && c->backend == call.backend && c->scope.context == call.scope.context &&
            c->uid != call.scope.context_uid) {
            return c->uid;
        }
    }
    return 0;
}

}  // namespace

ContextState *meet_context(const Call &call) {
    uint64_t before = 0;
    {
        LockGuard guard(kernel_cache.lock);
        if (ContextState *context = find_context(call.scope.context_uid)) {
            return context;
        }
        before = predecessor_of(call);
    }
    install_fork_handler();
    know_backend(*call.backend);
    if (before && !call.backend->is_alive(before)) {
        lose_context(before);
    }
    LockGuard guard(kernel_cache.lock);
    ContextState *context = find_context(call.scope.context_uid);
    // An identity that has ended since the call began may have been forgotten here.
    const bool has_ended = !context && !call.backend->is_alive(call.scope.context_uid);
    return context || has_ended ? context : add_context(*call.backend, call.scope);
}

calotype_status hold_module(const Call &call, const calotype_module_desc &desc, calotype_hold *out,
                            bool *has_ended) {
    poll_holds(call.scope.context_uid);
    Request request{call, desc, out};
    request.context = meet_context(call);
    if (!request.context) {
        *has_ended = !call.backend->is_alive(call.scope.context_uid);
        return *has_ended ? fail(CALOTYPE_E_CONTEXT_LOST, CALOTYPE_ST_NONE, desc.name,
                                 "the context has been lost")
                          : fail(CALOTYPE_E_OOM, CALOTYPE_ST_NONE, desc.name,
                                 "no memory for one more context");
    }
    Answer answer = Answer::again;
    {
        LockGuard guard(kernel_cache.lock);
        while (answer == Answer::again) {
            answer = ask(request);
        }
    }
    if (answer == Answer::held) {
        return CALOTYPE_OK;
    }
    *out = calotype_hold{};
    *has_ended = answer == Answer::has_ended;
    if (*has_ended) {
        request.refuse(CALOTYPE_E_CONTEXT_LOST, "the context has been lost");
    }
    if (answer == Answer::fly) {
        return run_flight(call, desc, *request.context, *request.entry, out);
    }
    return request.error ? set_last_error(request.error, request.status)
                         : fail(request.status, CALOTYPE_ST_NONE, desc.name, request.text);
}

// ---- giving back -----------------------------------------------------------------------------

__attribute__((noinline)) calotype_status count_misuse(const calotype_entry *entry) {
    {
        LockGuard guard(kernel_cache.lock);
        count_in(entry ? entry->context : nullptr, Counter::misuse);
    }
    return fail(CALOTYPE_E_UNDERFLOW, CALOTYPE_ST_NONE, nullptr,
                "the hold has been given back already");
}

static bool is_capturing(const KernelBackend &backend, const Giver &giver) {
    DeviceScope scope;
    const FailureScope ignored;
    if (!giver.is_call || !backend.is_capturing ||
        backend.acquire(giver.user_context, &scope) != CALOTYPE_OK) {
        return false;
    }
    const bool answer = backend.is_capturing(scope, nullptr);
    if (backend.release) {
        backend.release(scope);
    }
    return answer;
}

/** What a finalize has to do where somebody watches the entry, or nothing is left of the module. */
__attribute__((noinline)) static calotype_status look_after(calotype_entry &entry, Giver giver) {
    ThreadBlock *me = this_thread();
    Victims victims;
    LockGuard guard(kernel_cache.lock);
    ContextState &context = *entry.context;
    context.users++;
    if (entry.phase() == Phase::orphaned) {
        count_in(&context, Counter::orphans);
        reclaim_if_idle(entry);
    }
    bool may_unload = me && entry.phase() == Phase::ready && count_holds(entry.index) == 0;
    if (may_unload) {
        const Unlocked unlocked(kernel_cache.lock);
        may_unload = !is_capturing(*context.backend, giver);
    }
    close_if_awaited(context);
    if (may_unload) {
        choose_victims(context, *me, victims);
    }
    announce_change();
    calotype_status status = CALOTYPE_OK;
    if (victims.first) {
        const Unlocked unlocked(kernel_cache.lock);
        status = tear_down_chosen(context, victims, giver.user_context, *me);
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
    return cell && (is_mine ? cell->give_back() : cell->give_back_elsewhere());
}

calotype_status keep_hold(const calotype_hold &hold, calotype_hold *kept) {
    calotype_entry &entry = *hold.entry;
    ThreadBlock *keeper = keeper_block();
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

calotype_status give_back(calotype_hold hold, Giver giver) {
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
    barrier_to_pass();
    return is_plainly_ready(entry->word.load(std::memory_order_acquire))
               ? CALOTYPE_OK
               : look_after(*entry, giver);
}

}  // namespace runtime
}  // namespace calotype

__attribute__((noinline)) static calotype_status
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
        return fail(CALOTYPE_E_INVALID, CALOTYPE_ST_NONE, nullptr, "no place for the hold");
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
        if (backend->release) {
            backend->release(scope);
        }
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
        return fail(CALOTYPE_E_INVALID, CALOTYPE_ST_NONE, nullptr, "no hold is given");
    }
    return give_back(take(hold), Giver{true, user_context});
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
        return fail(CALOTYPE_E_INVALID, CALOTYPE_ST_NONE, nullptr, "no place for the pin");
    }
    *out = calotype_hold{};
    ThreadBlock *me = this_thread();
    const char *why_not = nullptr;
    calotype_status status = CALOTYPE_E_OOM;
    if (me) {
        LockGuard guard(kernel_cache.lock);
        status = pin(hold, *me, out, &why_not);
    }
    return status == CALOTYPE_OK ? status
                                 : fail(status, CALOTYPE_ST_NONE, nullptr,
                                        why_not ? why_not : "no memory for a count of holds");
}

CALOTYPE_WEAK calotype_status calotype_unpin(calotype_hold *hold) {
    if (!hold) {
        return fail(CALOTYPE_E_INVALID, CALOTYPE_ST_NONE, nullptr, "no pin is given");
    }
    return give_back(take(hold), Giver{false, nullptr});
}

CALOTYPE_WEAK calotype_status
calotype_context_uid(const calotype_device_context *on,
                     const calotype_device_interface_t *device_interface, uint64_t *ctx_uid) {
    const KernelBackend *backend = backend_of(device_interface);
    if (!backend || !ctx_uid) {
        return fail(CALOTYPE_E_INVALID, CALOTYPE_ST_NONE, nullptr,
                    "a device that runs kernels and a place for the answer are needed");
    }
    Call call;
    const calotype_status status = begin_call(user_context_of(on), *backend, nullptr, &call);
    *ctx_uid = status == CALOTYPE_OK ? call.scope.context_uid : 0;
    if (status == CALOTYPE_OK) {
        meet_context(call);  // so that it can be told lost
    }
    return status;
}
