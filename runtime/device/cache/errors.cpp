// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/device/cache/errors.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/abi/errors.h"
#include "runtime/device/failure.h"
#include "runtime/host/weak.h"

using namespace calotype::runtime;

namespace calotype {
namespace runtime {

/** Copy to `to`, advance it. */
static const char *put(char *&to, const char *text) {
    const size_t size = strlen(text) + 1;
    const char *start = to;
    memcpy(to, text, size);
    to += size;
    return start;
}

FlightError *make_error(const Failure &failure) {
    const char *log = failure_text();
    const size_t size = strlen(failure.module_name) + strlen(failure.linkable_name) + strlen(log);
    FlightError *error = static_cast<FlightError *>(calloc(1, sizeof(FlightError) + size + 3));
    if (!error) {
        return nullptr;
    }
    char *text = reinterpret_cast<char *>(error + 1);
    error->references.store(1, std::memory_order_relaxed);
    error->info.size = sizeof error->info;
    error->info.status = failure.status;
    error->info.stage = failure.stage;
    error->info.driver_result = failure_result();
    error->info.callback_rc = failure.callback_rc;
    error->info.linkable_index = failure.linkable_index;
    error->info.module_name = put(text, failure.module_name);
    error->info.linkable_name = put(text, failure.linkable_name);
    error->info.log = put(text, log);
    return error;
}

FlightError *make_code_error(const KernelBackend &backend, const DeviceScope &scope,
                             const calotype_module_desc &desc, const Failure &failure) {
    if (!backend.name_device) {
        return make_error(failure);
    }
    Text placed;
    if (desc.n_kernels > 0) {
        placed << "kernel " << desc.kernels[0].name;
        if (desc.n_kernels > 1) {
            placed << " and " << desc.n_kernels - 1 << (desc.n_kernels > 2 ? " others" : " other");
        }
        placed << ", ";
    }
    backend.name_device(scope, placed);
    replace_failure(placed << ": " << failure_text());
    return make_error(failure);
}

FlightError *share_error(FlightError *error) {
    if (error) {
        error->references.fetch_add(1, std::memory_order_relaxed);
    }
    return error;
}

void drop_error(FlightError *error) {
    if (error && error->references.fetch_sub(1, std::memory_order_acq_rel) == 1) {
        free(error);
    }
}

calotype_status set_last_error(FlightError *error, calotype_status status) {
    ThreadBlock *me = this_thread();
    if (!me) {
        drop_error(error);
        return status;
    }
    drop_error(me->error);
    me->error = error;
    me->info.status = status;
    return status;
}

calotype_status fail(const Failure &failure) {
    return set_last_error(make_error(failure), failure.status);
}

calotype_status fail(calotype_status status, calotype_stage stage, const char *module_name,
                     const char *text) {
    return fail(status, stage, module_name, Text() << text);
}

calotype_status fail(calotype_status status, calotype_stage stage, const char *module_name,
                     const Text &text) {
    const FailureScope apart;
    set_failure(text);
    Failure failure;
    failure.status = status;
    failure.stage = stage;
    failure.module_name = module_name ? module_name : "";
    return fail(failure);
}

calotype_status refuse_choice(const char *what, uint32_t given, uint32_t last) {
    return fail(CALOTYPE_E_INVALID, CALOTYPE_ST_NONE, nullptr,
                Text() << what << ' ' << given << ", must be 0 to " << last);
}

static const char no_block[] = "no memory for what is kept for the thread";

calotype_status fail_without_block() {
    return fail(CALOTYPE_E_OOM, CALOTYPE_ST_NONE, nullptr, no_block);
}

static const char *stage_text(calotype_stage stage) {
    switch (stage) {
    case CALOTYPE_ST_DISK:
        return "reading the persistent store";
    case CALOTYPE_ST_COMPILE:
        return "compiling";
    case CALOTYPE_ST_LINK:
        return "linking";
    case CALOTYPE_ST_LOAD:
        return "loading";
    case CALOTYPE_ST_RELOC:
        return "patching";
    case CALOTYPE_ST_NRT:
        return "preparing the device runtime";
    case CALOTYPE_ST_SETUP:
        return "setting up";
    case CALOTYPE_ST_TEARDOWN:
        return "tearing down";
    case CALOTYPE_ST_UNLOAD:
        return "unloading";
    case CALOTYPE_ST_LAUNCH:
        return "launching";
    case CALOTYPE_ST_NONE:
        break;
    }
    return nullptr;
}

static int error_code_of(calotype_status status) {
    switch (status) {
    case CALOTYPE_OK:
        return calotype_error_code_success;
    case CALOTYPE_E_OOM:
        return calotype_error_code_out_of_memory;
    case CALOTYPE_E_LAUNCH:
        return calotype_error_code_device_run_failed;
    default:
        return calotype_error_code_gpu_device_error;
    }
}

/** "device code of blur: linking failed in rng: device code does not link: ..." */
static void describe_error(const calotype_error_info &info, Text &text) {
    if (info.module_name[0]) {
        text << "device code of " << info.module_name << ": ";
    }
    if (const char *stage = stage_text(info.stage)) {
        text << stage << " failed";
        if (info.linkable_name[0]) {
            text << " in linkable " << info.linkable_name;
        }
        if (info.callback_rc) {
            text << ", which answered " << info.callback_rc;
        }
        text << ": ";
    }
    text << calotype_status_text(info.status);
    if (info.log[0]) {
        text << ": " << info.log;
    }
}

}  // namespace runtime
}  // namespace calotype

CALOTYPE_WEAK const calotype_error_info *calotype_last_error(void) {
    static const calotype_error_info none = {
        sizeof(calotype_error_info), CALOTYPE_OK, CALOTYPE_ST_NONE, 0, 0, -1, "", "", ""};
    static const calotype_error_info no_memory = {
        sizeof(calotype_error_info), CALOTYPE_E_OOM, CALOTYPE_ST_NONE, 0, 0, -1, "", "", no_block};
    ThreadBlock *me = this_thread();
    if (!me) {
        return &no_memory;
    }
    if (me->error) {
        return &me->error->info;
    }
    if (me->info.status == CALOTYPE_OK) {
        return &none;
    }
    const calotype_status status = me->info.status;
    me->info = none;
    me->info.status = status;
    me->info.log = "no memory to say more";
    return &me->info;
}

CALOTYPE_WEAK const char *calotype_status_text(calotype_status status) {
    switch (status) {
    case CALOTYPE_OK:
        return "no error";
    case CALOTYPE_E_INVALID:
        return "invalid argument";
    case CALOTYPE_E_NO_IMAGE:
        return "no device code for this device";
    case CALOTYPE_E_COMPILE:
        return "device code does not compile";
    case CALOTYPE_E_LINK:
        return "device code does not link";
    case CALOTYPE_E_LOAD:
        return "the driver refuses the device code";
    case CALOTYPE_E_OOM:
        return "out of memory";
    case CALOTYPE_E_SETUP:
        return "the setup of a linkable failed";
    case CALOTYPE_E_TEARDOWN:
        return "the teardown of a linkable failed";
    case CALOTYPE_E_BUSY:
        return "held";
    case CALOTYPE_E_CLOSING:
        return "the context is being released";
    case CALOTYPE_E_REENTRANT:
        return "a callback asked for the module that it belongs to";
    case CALOTYPE_E_DEADLOCK:
        return "waiting would never end";
    case CALOTYPE_E_UNDERFLOW:
        return "more holds given back than taken";
    case CALOTYPE_E_CONTEXT_LOST:
        return "the context is gone";
    case CALOTYPE_E_TIMEOUT:
        return "timed out";
    case CALOTYPE_E_ABI:
        return "the object was generated for another version of the runtime";
    case CALOTYPE_E_CAPTURE:
        return "not possible while a stream is being captured";
    case CALOTYPE_E_DEVICE:
        return "the device cannot be used";
    case CALOTYPE_E_LAUNCH:
        return "the kernel cannot be launched";
    }
    return "unknown status";
}

CALOTYPE_WEAK int calotype_report_status(void *user_context, calotype_status status) {
    if (status == CALOTYPE_OK) {
        return 0;
    }
    Text text;
    const calotype_error_info *info = calotype_last_error();
    if (info->status == status) {
        describe_error(*info, text);
    } else {
        text << calotype_status_text(status);
    }
    report_error(user_context, text.empty() ? calotype_status_text(status) : text.c_str());
    return error_code_of(status);
}
