// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A flight: from a module that is not there to one that is ready, on the thread that asked first.
// Image, load, relocations, functions, setups; then, in one critical section, the module is ready
// and everyone who waited has a hold. What fails is undone in reverse.
#include <initializer_list>
#include <stdlib.h>
#include <string.h>

#include "runtime/device/cache/images.h"
#include "runtime/device/cache/kernel_cache.h"
#include "runtime/device/cache/steps.h"
#include "runtime/device/cache/teardown.h"
#include "runtime/device/failure.h"
#include "runtime/device/linkable_files.h"
#include "runtime/host/timed_wait.h"

namespace calotype::runtime {

namespace {

struct Flight {
    const Call &call;
    const calotype_module_desc &desc;
    ContextState &context;
    calotype_entry &entry;
    const KernelBackend &backend;

    LoadedModule *module = nullptr;
    ImageUse image = {};
    Failure failure = {};
    FlightError *error = nullptr;  ///< if it came with the image

    calotype_status fail_at(calotype_stage stage, calotype_status status) {
        if (failure.status == CALOTYPE_OK) {
            failure = {.status = status, .stage = stage, .module_name = desc.name ? desc.name : ""};
        }
        return status;
    }
    bool is_lost() const {
        LockGuard guard(kernel_cache.lock);
        return !context.has_driver();
    }
};

calotype_status check_capture(Flight &flight) {
    if (!flight.backend.captures(flight.call.scope)) {
        return CALOTYPE_OK;
    }
    const calotype_module_desc &desc = flight.desc;
    Text text;
    if (desc.n_kernels > 0) {
        text << "kernel " << desc.kernels[0].name;
        if (desc.n_kernels > 1) {
            text << ", the first of " << desc.n_kernels << ',';
        }
    } else {
        text << "the module";
    }
    set_failure(text << " is not loaded in this context, and loading it would break the capture; "
                        "call calotype_prefetch or run the pipeline once before");
    return flight.fail_at(CALOTYPE_ST_LOAD, CALOTYPE_E_CAPTURE);
}

calotype_status prepare(Flight &flight) {
    flight.module = make_module(flight.backend, flight.desc);
    if (!flight.module) {
        set_failure("no memory for the module's description");
        return flight.fail_at(CALOTYPE_ST_NONE, CALOTYPE_E_OOM);
    }
    uint32_t culprit = 0;
    if (!order_setups(flight.module->desc, flight.module->setup_order, &culprit)) {
        set_failure(Text() << "linkables are to be set up after each other in a circle; one of "
                              "them is "
                           << flight.module->desc.linkables[culprit]->name);
        return flight.fail_at(CALOTYPE_ST_SETUP, CALOTYPE_E_INVALID);
    }
    return CALOTYPE_OK;
}

calotype_status find_image(Flight &flight) {
    const calotype_status status = use_image(flight.context, flight.call.scope, flight.desc,
                                             *flight.call.me, &flight.image, &flight.error);
    if (status != CALOTYPE_OK) {
        return flight.fail_at(CALOTYPE_ST_COMPILE, status);
    }
    flight.module->bytes = flight.image.image.size;
    return CALOTYPE_OK;
}

calotype_status load_once(Flight &flight) {
    const Step step("load", flight.desc);
    const calotype_status status = flight.backend.load(flight.call.scope, flight.desc,
                                                       flight.image.image, &flight.module->module);
    const uint64_t ns = step.end(CALOTYPE_ST_LOAD, flight.context.uid, status);
    if (status == CALOTYPE_OK) {
        count_in(&flight.context, &calotype_stats::loads);
        count_in(&flight.context, &calotype_stats::load_ns, ns);
    } else {
        flight.module->module = nullptr;
    }
    return status;
}

/** The device runtime's part before the module is loaded, and after. */
calotype_status prepare_heap(Flight &flight) {
    if (!uses_nrt(flight.desc)) {
        return CALOTYPE_OK;
    }
    const calotype_status status = prepare_nrt(flight.context, flight.call.scope);
    return status == CALOTYPE_OK ? status : flight.fail_at(CALOTYPE_ST_NRT, status);
}
calotype_status attach_memsys(Flight &flight) {
    if (!uses_nrt(flight.desc)) {
        return CALOTYPE_OK;
    }
    const Step step("attach the device runtime to", flight.desc);
    const calotype_status status = attach_nrt(flight.context, flight.call.scope, *flight.module);
    step.end(CALOTYPE_ST_NRT, flight.context.uid, status);
    return status == CALOTYPE_OK ? status : flight.fail_at(CALOTYPE_ST_NRT, status);
}

calotype_status load(Flight &flight) {
    install_exit_handler();
    calotype_status status = load_once(flight);
    if (status == CALOTYPE_E_OOM) {
        count_in(&flight.context, &calotype_stats::oom_retries);
        uint64_t freed = 0;
        evict_idle(flight.context, 0, flight.call.scope.user_context, *flight.call.me, &freed);
        take_failure();
        status = load_once(flight);
    }
    return status == CALOTYPE_OK ? status : flight.fail_at(CALOTYPE_ST_LOAD, status);
}

calotype_status relocate(Flight &flight) {
    for (uint32_t i = 0; i < flight.desc.n_relocs; i++) {
        const calotype_reloc &reloc = flight.desc.relocs[i];
        uint64_t address = 0;
        size_t size = 0;
        calotype_status status = flight.backend.get_global(flight.call.scope, flight.module->module,
                                                           reloc.symbol, &address, &size);
        if (status == CALOTYPE_OK && (reloc.offset > size || reloc.bytes > size - reloc.offset)) {
            set_failure(Text() << reloc.bytes << " bytes at offset " << reloc.offset << " of "
                               << reloc.symbol << ", which has " << uint64_t(size));
            return flight.fail_at(CALOTYPE_ST_RELOC, CALOTYPE_E_INVALID);
        }
        if (status == CALOTYPE_OK) {
            status = flight.backend.copy_to_device(flight.call.scope, address + reloc.offset,
                                                   reloc.value, reloc.bytes);
        }
        if (status != CALOTYPE_OK) {
            replace_failure(Text() << "symbol " << reloc.symbol << ": " << failure_text());
            return flight.fail_at(CALOTYPE_ST_RELOC, status);
        }
    }
    return CALOTYPE_OK;
}

calotype_status resolve(Flight &flight) {
    LoadedModule &module = *flight.module;
    for (uint32_t i = 0; i < module.n_functions; i++) {
        const calotype_status status = flight.backend.get_function(
            flight.call.scope, module.module, module.desc.kernels[i].name, &module.functions[i]);
        if (status != CALOTYPE_OK) {
            module.functions[i] = nullptr;
            set_failure(Text() << "kernel " << module.desc.kernels[i].name
                               << " is not in the module");
            return flight.fail_at(CALOTYPE_ST_LOAD, status);
        }
    }
    return CALOTYPE_OK;
}

/** OK once the stream is where it is now. */
calotype_status await_event(const KernelBackend &backend, void *event) {
    calotype_status status = CALOTYPE_E_BUSY;
    poll_until(no_deadline,
               [&] { return (status = backend.query_event(event)) != CALOTYPE_E_BUSY; });
    backend.destroy_event(event);
    return status;
}

/** What setups and relocations have queued on the stream of the call is done. */
calotype_status await_stream(Flight &flight) {
    const KernelBackend &backend = flight.backend;
    const DeviceScope &scope = flight.call.scope;
    if (flight.desc.n_relocs == 0 && flight.desc.n_linkables == 0) {
        return CALOTYPE_OK;
    }
    void *event = nullptr;
    FailureScope failures;
    calotype_status status = backend.record_event
                                 ? backend.record_event(scope, scope.stream, &event)
                                 : CALOTYPE_E_INVALID;
    status = status == CALOTYPE_OK ? await_event(backend, event) : backend.synchronize(scope);
    if (status == CALOTYPE_OK) {
        return status;
    }
    replace_failure(Text() << "what setups have queued failed: " << failure_text());
    failures.pass_on();
    return flight.fail_at(CALOTYPE_ST_SETUP, status);
}

/** Setups; what is set up is torn down again if one fails or the context is lost meanwhile. */
calotype_status set_up(Flight &flight) {
    prepare_callbacks(*flight.module);
    const CallbackSite site{flight.context, flight.call.scope, CALOTYPE_R_LOAD, *flight.call.me,
                            true};
    calotype_status status = run_setups(site, *flight.module, &flight.failure);
    if (status == CALOTYPE_OK && !flight.is_lost()) {
        status = await_stream(flight);
    }
    return status;
}

void undo(Flight &flight, bool has_driver) {
    if (has_driver && flight.module->module) {
        flight.backend.synchronize(flight.call.scope);  // with what setups have queued
    }
    Failure ignored;
    const FailureScope also_ignored;
    CallbackSite site{flight.context, flight.call.scope, CALOTYPE_R_SETUP_FAILED, *flight.call.me,
                      has_driver};
    if (!has_driver) {
        site.lose_driver();
    }
    run_teardowns(site, *flight.module, &ignored);
    unload_module(flight.context, flight.call.scope, *flight.module, site.has_driver);
    finish_callbacks(*flight.module);
}

/** All that needs the context to be current. */
calotype_status load_and_set_up(Flight &flight) {
    calotype_status status = flight.backend.enter(flight.call.scope);
    if (status != CALOTYPE_OK) {
        return flight.fail_at(CALOTYPE_ST_LOAD, status);
    }
    for (auto step : {prepare_heap, load, relocate, resolve, attach_memsys, set_up}) {
        status = status == CALOTYPE_OK ? step(flight) : status;
    }
    const bool is_lost = flight.is_lost();
    if (status == CALOTYPE_OK && is_lost) {
        set_failure("the context was lost while the module was loaded");
        status = flight.fail_at(CALOTYPE_ST_LOAD, CALOTYPE_E_CONTEXT_LOST);
    }
    if (status != CALOTYPE_OK) {
        undo(flight, !is_lost);
    }
    flight.backend.leave(flight.call.scope);
    return status;
}

/** Tell all threads that wait for the flight. The lock is held; their records, on their stacks,
 * must not be touched after it is given up. */
void answer_waiters(calotype_entry &entry, calotype_status status, FlightError *error) {
    Waiter *waiter = entry.first_waiter;
    entry.first_waiter = nullptr;
    while (waiter) {
        Waiter *next = waiter->next;
        if (status == CALOTYPE_OK) {
            grant_hold(entry, *waiter->thread);
        }
        waiter->status = status;
        waiter->error = share_error(error);
        waiter->thread->waits_on = nullptr;
        FutexWord &done = waiter->done;
        done.store(1, std::memory_order_release);
        futex_wake(done, 1);
        waiter = next;
    }
}

/** Make the module ready for all threads. False: the context has been lost. */
bool publish(Flight &flight, calotype_hold *out, TeardownList &victims) {
    LockGuard guard(kernel_cache.lock);
    calotype_entry &entry = flight.entry;
    if (!flight.context.has_driver()) {
        return false;
    }
    flight.module->scope = flight.context.scope;
    flight.module->entry = &entry;
    entry.module = flight.module;
    entry.compile_ns = flight.image.image.compile_ns;
    entry.loaded_at = kernel_cache.epoch.fetch_add(uint64_t(1) << 32, std::memory_order_relaxed) +
                      (uint64_t(1) << 32);
    make_newest(entry);
    entry.flight.owner = nullptr;
    count_in(&flight.context, &calotype_stats::live_modules);
    count_in(&flight.context, &calotype_stats::live_bytes, flight.module->bytes);
    *out = grant_hold(entry, *flight.call.me);
    set_watched(entry, is_to_be_watched(entry));
    set_phase(entry, Phase::ready);
    answer_waiters(entry, CALOTYPE_OK, nullptr);
    notify_all();
    choose_victims(flight.context, *flight.call.me, victims);
    return true;
}

/** Failures of callbacks and captures are not about device code. */
FlightError *describe(const Flight &flight) {
    const calotype_stage stage = flight.failure.stage;
    const bool is_about_code =
        stage == CALOTYPE_ST_RELOC ||
        (stage == CALOTYPE_ST_LOAD && flight.failure.status != CALOTYPE_E_CAPTURE);
    return is_about_code
               ? make_code_error(flight.backend, flight.call.scope, flight.desc, flight.failure)
               : make_error(flight.failure);
}

calotype_status end_in_failure(Flight &flight, calotype_status status) {
    FlightError *error = flight.error ? flight.error : describe(flight);
    free_module(flight.module);
    flight.module = nullptr;
    {
        LockGuard guard(kernel_cache.lock);
        calotype_entry &entry = flight.entry;
        count_in(&flight.context, &calotype_stats::failures);
        entry.flight.owner = nullptr;
        answer_waiters(entry, status, error);
        if (is_for_good(status) && !flight.context.lost) {
            entry.error = share_error(error);
            set_phase(entry, Phase::failed);
            notify_all();
        } else {
            remove_entry(entry);
        }
    }
    return set_last_error(error, status);
}

}  // namespace

calotype_status run_flight(const Call &call, const calotype_module_desc &desc,
                           ContextState &context, calotype_entry &entry, calotype_hold *out) {
    Flight flight{call, desc, context, entry, *call.backend};
    const FailureScope failures;
    calotype_status status = CALOTYPE_OK;
    for (auto step : {check_capture, prepare, find_image, load_and_set_up}) {
        status = status == CALOTYPE_OK ? step(flight) : status;
    }
    TeardownList victims;
    if (status == CALOTYPE_OK && !publish(flight, out, victims)) {
        undo(flight, false);
        set_failure("the context was lost while the module was loaded");
        status = flight.fail_at(CALOTYPE_ST_LOAD, CALOTYPE_E_CONTEXT_LOST);
    }
    end_image_use(flight.image);
    if (status != CALOTYPE_OK) {
        return end_in_failure(flight, status);
    }
    // A module that another left room for is ready whatever that one's teardown says.
    tear_down_chosen(context, victims, call.scope.user_context, *call.me);
    return CALOTYPE_OK;
}

}  // namespace calotype::runtime
