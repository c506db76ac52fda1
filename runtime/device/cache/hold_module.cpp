// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Asking for a module under the lock: where the warm path finds none that is ready. The answer is a
// hold, an error, a flight of this thread (flight.cpp), or to ask again after others have come to
// an end that this thread waited for.
#include "runtime/device/cache/kernel_cache.h"

#include "runtime/device/cache/steps.h"
#include "runtime/device/cache/teardown.h"
#include "runtime/host/data/list.h"
#include "runtime/host/timed_wait.h"

namespace calotype::runtime {

/** The same hold was given back twice, by its thread and another, at the same time, so that neither
 * found it missing. It is here that it shows. */
static void settle_overdraft(ContextState *context, HoldCell &cell) {
    while (cell.balance() < 0) {
        cell.released_remotely.fetch_sub(1, std::memory_order_acq_rel);
        count_in(context, &calotype_stats::misuse);
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
    if (const calotype_status status = check_wait(me, entry.flight)) {
        return request.refuse(status,
                              status == CALOTYPE_E_REENTRANT
                                  ? "a callback or compile step of the module asks for the module"
                                  : "the thread that loads the module waits for this one");
    }
    if (!ensure_cell(me, entry.index)) {
        return request.refuse(CALOTYPE_E_OOM, "no memory for a count of holds");
    }
    Waiter waiter = {&me, entry.first_waiter, nullptr, CALOTYPE_OK, {}};
    entry.first_waiter = &waiter;
    me.waits_on = &entry.flight;
    count_in(request.context, &calotype_stats::waits);
    const uint64_t word = entry.word.load(std::memory_order_relaxed);
    *request.out = calotype_hold{&entry, hold_ticket(generation_of(word), me.id)};
    request.context->users++;
    {
        const Unlocked unlocked(kernel_cache.lock);
        const Range range("wait for", request.desc.name);
        const uint64_t begin = now_ns();
        while (!waiter.done.load(std::memory_order_acquire)) {
            futex_wait(waiter.done, 0);
        }
        count_in(request.context, &calotype_stats::wait_ns, now_ns() - begin);
    }
    request.context->users--;
    if (is_about_caller(waiter.status)) {
        drop_error(waiter.error);
        count_in(request.context, &calotype_stats::waits, 0 - uint64_t(1));  // for nothing
        return Answer::again;
    }
    request.status = waiter.status;
    request.error = waiter.error;
    return waiter.status == CALOTYPE_OK ? Answer::held : Answer::failed;
}

Answer await_teardown(Request &request) {
    const calotype_status status =
        wait_for_others(*request.call.me, request.entry->flight, no_deadline);
    if (status == CALOTYPE_OK) {
        return Answer::again;
    }
    return request.refuse(status, status == CALOTYPE_E_REENTRANT
                                      ? "a teardown callback of the module asks for the module"
                                      : "the thread that tears the module down waits for this one");
}

Answer begin_flight(Request &request) {
    request.entry = add_entry(KernelKey(request.context->uid, request.desc.uid), *request.context,
                              *request.call.me);
    if (!request.entry) {
        return request.refuse(CALOTYPE_E_OOM, "no memory for one more module");
    }
    count_in(request.context, &calotype_stats::misses);
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
    count_in(request.context, &calotype_stats::negative_hits);
    request.error = share_error(request.entry->error);
    request.status = request.error ? request.error->info.status : CALOTYPE_E_OOM;
    request.text = "no memory for the error of the first call";
    return Answer::failed;
}

/** One that had the address of this context but has gone. The lock is held. */
uint64_t predecessor_of(const Call &call) {
    const ContextState *found = find_in(kernel_cache.contexts, [&](const ContextState &c) {
        return !c.lost && c.backend == call.backend && c.scope.context == call.scope.context &&
               c.uid != call.scope.context_uid;
    });
    return found ? found->uid : 0;
}

}  // namespace

ContextState *find_or_create_context(const Call &call) {
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
        on_context_lost(before);
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
    request.context = find_or_create_context(call);
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

}  // namespace calotype::runtime
