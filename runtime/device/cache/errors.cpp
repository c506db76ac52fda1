// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/device/cache/errors.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/abi/errors.h"
#include "runtime/device/failure.h"
#include "runtime/host/weak.h"

using namespace calotype::runtime;

namespace calotype::runtime {

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
                     const Text &text) {
    const FailureScope apart;
    set_failure(text);
    return fail({.status = status, .stage = stage, .module_name = module_name ? module_name : ""});
}

calotype_status refuse_choice(const char *what, uint32_t given, uint32_t last) {
    return fail(CALOTYPE_E_INVALID, Text() << what << ' ' << given << ", must be 0 to " << last);
}

static const char no_block[] = "no memory for what is kept for the thread";

calotype_status fail_without_block() {
    return fail(CALOTYPE_E_OOM, no_block);
}

/** In the order of calotype_stage. */
constexpr StageName stages[] = {
    {nullptr, nullptr},
    {"reading the persistent store", nullptr},
    {"compiling", "compiled"},
    {"linking", "linked"},
    {"loading", "loaded"},
    {"patching", nullptr},
    {"preparing the device runtime", "gave the device runtime to"},
    {"setting up", "set up a linkable of"},
    {"tearing down", "tore down a linkable of"},
    {"unloading", "unloaded"},
    {"launching", nullptr},
};
static_assert(sizeof stages / sizeof *stages == CALOTYPE_ST_LAUNCH + 1);

StageName name_of(calotype_stage stage) {
    return uint32_t(stage) <= CALOTYPE_ST_LAUNCH ? stages[stage] : stages[0];
}

/** In the order of calotype_status. */
constexpr const char *status_texts[] = {
    "no error",
    "invalid argument",
    "no device code for this device",
    "device code does not compile",
    "device code does not link",
    "the driver refuses the device code",
    "out of memory",
    "the setup of a linkable failed",
    "the teardown of a linkable failed",
    "held",
    "the context is being released",
    "a callback asked for the module that it belongs to",
    "waiting would never end",
    "more holds given back than taken",
    "the context is gone",
    "timed out",
    "the object was generated for another version of the runtime",
    "not possible while a stream is being captured",
    "the device cannot be used",
    "the kernel cannot be launched",
};
static_assert(sizeof status_texts / sizeof *status_texts == CALOTYPE_E_LAUNCH + 1);

static int error_code_of(calotype_status status) {
    return status == CALOTYPE_E_OOM      ? calotype_error_code_out_of_memory
           : status == CALOTYPE_E_LAUNCH ? calotype_error_code_device_run_failed
                                         : calotype_error_code_gpu_device_error;
}

/** "device code of blur: linking failed in rng: device code does not link: ..." */
static void describe_error(const calotype_error_info &info, Text &text) {
    if (info.module_name[0]) {
        text << "device code of " << info.module_name << ": ";
    }
    if (const char *stage = name_of(info.stage).doing) {
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

}  // namespace calotype::runtime

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
    return uint32_t(status) <= CALOTYPE_E_LAUNCH ? status_texts[status] : "unknown status";
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
