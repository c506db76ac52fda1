// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Recordings: launches are kept in a list, with the values of their arguments, and handed to the
// back end together. It may make one graph of them; if it does not, they are launched one by one,
// so that what is recorded does the same as what is not, and fails with the same words.
//
// Memory that is freed while launches are pending must not go before them. It is kept, and serves
// the allocations that follow: launches of a recording are in order, so a later kernel may have the
// memory of an earlier one.
#include "runtime/abi/recording.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/device/cache/kernel_cache.h"
#include "runtime/device/cache/launch.h"
#include "runtime/device/device_buffer.h"
#include "runtime/device/failure.h"
#include "runtime/host/data/growing_array.h"
#include "runtime/host/weak.h"

using namespace calotype::runtime;

namespace calotype::runtime {

namespace {

/** More are launched when they are that many, so that memory stays bounded. */
constexpr uint32_t most_launches = 1024;
/** Of a kernel whose launches can be recorded: as many as CUDA's 4096 bytes of parameters hold. */
constexpr uint32_t most_args = 512;

struct Freed {
    uint64_t handle;
    const calotype_device_interface_t *device_interface;
};

/** calotype_recording::pending. All zero at first. */
struct Pending {
    GrowingArray<RecordedLaunch> launches;
    GrowingArray<uint64_t> values;
    GrowingArray<Freed> freed;
};

Pending *pending_of(calotype_recording &recording) {
    return static_cast<Pending *>(recording.pending);
}

bool is_recordable(const LoadedModule &module, const calotype_kernel_desc &kernel) {
    bool fits =
        module.backend->replay && module.backend->can_replay() && kernel.n_args <= most_args;
    for (uint32_t i = 0; fits && i < kernel.n_args; i++) {
        fits = kernel.args[i].bytes <= sizeof(uint64_t);
    }
    return fits;
}

/** False: out of memory. */
bool append(calotype_recording &recording, const LoadedModule &module, const Launch &launch) {
    if (!recording.pending) {
        recording.pending = calloc(1, sizeof(Pending));
    }
    Pending *pending = pending_of(recording);
    const calotype_kernel_desc &kernel = module.desc.kernels[launch.kernel];
    if (!pending || !pending->launches.reserve(1) || !pending->values.reserve(kernel.n_args)) {
        return false;
    }
    RecordedLaunch &added = pending->launches.items[pending->launches.n++];
    added = {module.functions[launch.kernel],
             &kernel,
             launch.kernel,
             {launch.grid[0], launch.grid[1], launch.grid[2]},
             {launch.block[0], launch.block[1], launch.block[2]},
             launch.dynamic_shared_bytes,
             pending->values.n};
    for (uint32_t i = 0; i < kernel.n_args; i++) {
        uint64_t &value = pending->values.items[pending->values.n++];
        value = 0;
        memcpy(&value, launch.args[i], kernel.args[i].bytes);
    }
    return true;
}

calotype_status launch_one_by_one(void *user_context, const LoadedModule &module,
                                  const LaunchList &list) {
    calotype_status status = CALOTYPE_OK;
    for (uint32_t i = 0; i < list.n && status == CALOTYPE_OK; i++) {
        const RecordedLaunch &launch = list.launches[i];
        void *args[most_args];
        for (uint32_t a = 0; a < launch.kernel->n_args; a++) {
            args[a] = list.values + launch.first_value + a;
        }
        status = launch_now(module, {user_context, launch.index, launch.grid, launch.block,
                                     launch.dynamic_shared_bytes, nullptr, args});
    }
    return status;
}

/** As a graph; false: nothing was launched. There are more than one. */
bool replay(void *user_context, const calotype_entry &entry, const LaunchList &list) {
    const KernelBackend &backend = *entry.module->backend;
    DeviceScope scope;
    const FailureScope ignored;  // launching one by one tells it again
    if (acquire_held(*entry.module, user_context, &scope) != CALOTYPE_OK) {
        return false;
    }
    ReplayCounts counts = {};
    const bool done = backend.replay(scope, &entry.module->graphs, list, &counts);
    backend.end(scope);
    if (counts.made) {
        count_in(entry.context, &calotype_stats::graphs, counts.made);
    }
    if (counts.updated) {
        count_in(entry.context, &calotype_stats::graph_updates, counts.updated);
    }
    if (done) {
        count_in(entry.context, &calotype_stats::graph_launches);
    }
    return done;
}

calotype_status launch_pending(void *user_context, const calotype_hold &hold,
                               const Pending &pending) {
    if (pending.launches.n == 0) {
        return CALOTYPE_OK;
    }
    const LaunchList list = {pending.launches.items, pending.launches.n, pending.values.items};
    const LoadedModule *module = nullptr;
    calotype_status status = find_kernel(hold, list.launches[0].index, &module);
    if (status == CALOTYPE_OK && list.n > 1) {
        if (replay(user_context, *hold.entry, list)) {
            return CALOTYPE_OK;
        }
        // That also graphs are refused may be the doing of a forced release.
        status = find_kernel(hold, list.launches[0].index, &module);
    }
    return status == CALOTYPE_OK ? launch_one_by_one(user_context, *module, list) : status;
}

/** Free what was kept. The first error code, reported. */
int free_kept(void *user_context, Pending &pending) {
    int first = 0;
    for (uint32_t i = 0; i < pending.freed.n; i++) {
        calotype_buffer_t buf = {};
        buf.device = pending.freed.items[i].handle;
        buf.device_interface = pending.freed.items[i].device_interface;
        const int code = calotype_device_free(user_context, &buf);
        first = first ? first : code;
    }
    pending.freed.n = 0;
    return first;
}

/** Memory that was freed in the recording for another buffer of it; false: none fits. */
bool reuse(void *user_context, const calotype_hold &hold, Pending &pending, calotype_buffer_t *buf,
           const calotype_device_interface_t *device_interface) {
    const LoadedModule *module = nullptr;
    DeviceScope scope;
    const FailureScope ignored;
    if (pending.launches.n == 0 || find_kernel(hold, 0, &module) != CALOTYPE_OK ||
        module->backend != backend_of(device_interface) ||
        acquire_held(*module, user_context, &scope) != CALOTYPE_OK) {
        return false;
    }
    const KernelBackend &backend = *module->backend;
    uint32_t i = pending.freed.n;
    bool found = false;
    while (!found && i-- > 0) {
        found = pending.freed.items[i].device_interface == device_interface &&
                backend.reuse_memory(scope, pending.freed.items[i].handle, *buf, &buf->device);
    }
    if (found) {
        buf->device_interface = device_interface;
        pending.freed.items[i] = pending.freed.items[--pending.freed.n];
    }
    backend.end(scope);
    return found;
}

/** Whether the memory of the buffer may be kept. */
bool keeps(const Pending *pending, const calotype_buffer_t *buf) {
    const KernelBackend *backend = buf ? backend_of(buf->device_interface) : nullptr;
    return pending && pending->launches.n > 0 && buf->device && backend && backend->reuse_memory;
}

calotype_status record(void *user_context, calotype_recording &recording, const Launch &launch) {
    const LoadedModule *module = nullptr;
    calotype_status status = find_kernel(recording.hold, launch.kernel, &module);
    status = status == CALOTYPE_OK ? check_launch(*module, launch) : status;
    if (status != CALOTYPE_OK) {
        return status;
    }
    if (is_recordable(*module, module->desc.kernels[launch.kernel]) &&
        append(recording, *module, launch)) {
        return CALOTYPE_OK;
    }
    if (const Pending *pending = pending_of(recording)) {
        status = launch_pending(user_context, recording.hold, *pending);
        pending_of(recording)->launches.n = pending_of(recording)->values.n = 0;
    }
    return status == CALOTYPE_OK ? launch_now(*module, launch) : status;
}

}  // namespace

}  // namespace calotype::runtime

CALOTYPE_WEAK int calotype_begin_recording(void *user_context, const calotype_hold *hold,
                                           calotype_recording *out) {
    *out = calotype_recording{*hold, nullptr};
    return 0;
}

CALOTYPE_WEAK int calotype_record_kernel(void *user_context, calotype_recording *recording,
                                         uint32_t kernel, const int32_t shape[7], void **args) {
    LaunchShape given;
    calotype_status status = read_shape(recording->hold, kernel, shape, &given);
    if (status == CALOTYPE_OK && !given.is_empty) {
        status = record(user_context, *recording, given.launch(user_context, kernel, args));
    }
    if (status != CALOTYPE_OK) {
        return calotype_report_status(user_context, status);
    }
    const Pending *pending = pending_of(*recording);
    return pending && pending->launches.n >= most_launches
               ? calotype_launch_recording(user_context, recording)
               : 0;
}

CALOTYPE_WEAK int calotype_record_malloc(void *user_context, calotype_recording *recording,
                                         calotype_buffer_t *buf,
                                         const calotype_device_interface_t *device_interface) {
    Pending *pending = pending_of(*recording);
    const bool is_checked = buf && !buf->device && !buf->device_interface && device_interface;
    if (!is_checked || !pending || pending->freed.n == 0) {
        return calotype_device_malloc(user_context, buf, device_interface);
    }
    if (reuse(user_context, recording->hold, *pending, buf, device_interface)) {
        return 0;
    }
    {
        const FailureScope ignored;  // there may be room once what is kept has gone
        if (allocate_on_device(user_context, buf, device_interface) == 0) {
            return 0;
        }
    }
    const int code = calotype_launch_recording(user_context, recording);
    return code ? code : calotype_device_malloc(user_context, buf, device_interface);
}

CALOTYPE_WEAK int calotype_record_free(void *user_context, calotype_recording *recording,
                                       calotype_buffer_t *buf) {
    Pending *pending = pending_of(*recording);
    if (!keeps(pending, buf)) {
        return calotype_device_free(user_context, buf);
    }
    if (!pending->freed.add({buf->device, buf->device_interface})) {
        const int code = calotype_launch_recording(user_context, recording);
        const int freed = calotype_device_free(user_context, buf);
        return code ? code : freed;
    }
    buf->device = 0;
    buf->device_interface = nullptr;
    buf->set_device_dirty(false);
    return 0;
}

CALOTYPE_WEAK int calotype_launch_recording(void *user_context, calotype_recording *recording) {
    Pending *pending = pending_of(*recording);
    if (!pending) {
        return 0;
    }
    const calotype_status status = launch_pending(user_context, recording->hold, *pending);
    pending->launches.n = pending->values.n = 0;
    const int code = status == CALOTYPE_OK ? 0 : calotype_report_status(user_context, status);
    const int freed = free_kept(user_context, *pending);
    return code ? code : freed;
}

CALOTYPE_WEAK void calotype_end_recording(void *user_context, void *recording) {
    calotype_recording *given = static_cast<calotype_recording *>(recording);
    Pending *pending = given ? pending_of(*given) : nullptr;
    if (!pending) {
        return;
    }
    free_kept(user_context, *pending);
    pending->launches.clear();
    pending->values.clear();
    pending->freed.clear();
    free(pending);
    given->pending = nullptr;
}
