// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The image cache. A key has one record, which is busy while one thread makes the image; others
// wait for it and share what comes of it, the error too. Embedded images that are loaded as they
// are do not come here: there is nothing to save, and the object may be gone tomorrow.
#include "runtime/device/cache/images.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/device/cache/kernel_cache.h"
#include "runtime/device/cache/steps.h"
#include "runtime/device/image_store.h"
#include "runtime/device/linkable_files.h"
#include "runtime/host/call_guarded.h"
#include "runtime/host/data/list.h"
#include "runtime/host/not_copied.h"
#include "runtime/host/timed_wait.h"
#include "runtime/host/weak.h"

using namespace calotype::runtime;

namespace calotype::runtime {

struct CachedImage {
    calotype_uid uid;
    DeviceArch arch;
    Phase phase;  ///< busy, ready or failed
    WaitNode flight;
    LoadableImage image;
    FlightError *error;
    calotype_status status;
    uint64_t last_use;
    uint32_t uses;  ///< those who load it or wait for it
    bool dropped;   ///< not in the list; goes with its last use
    CachedImage *next;
};

namespace {

CachedImage *images = nullptr;
uint64_t image_clock = 0;
uint32_t compiling_threads = 0, threads_to_compile = 0;

struct CompileHook {
    calotype_compile_fn compile;
    void *self;
    char version[160];
};
CompileHook hook = {};

bool is_same_arch(const DeviceArch &a, const DeviceArch &b) {
    return a.sm == b.sm && a.suffix == b.suffix && strcmp(a.toolchain, b.toolchain) == 0;
}

CachedImage *find_image(const calotype_uid &uid, const DeviceArch &arch) {
    return find_in(images, [&](const CachedImage &image) {
        return memcmp(&image.uid, &uid, sizeof uid) == 0 && is_same_arch(image.arch, arch);
    });
}

void free_image(CachedImage *image) {
    if (image->phase == Phase::ready) {
        count_in(nullptr, &calotype_stats::image_bytes, 0 - uint64_t(image->image.size));
    }
    if (image->image.owned) {
        free(const_cast<void *>(image->image.bytes));
    }
    drop_error(image->error);
    free(image);
}

/** What is not in the list any more lives on while it is used. */
void drop(CachedImage *image) {
    image->dropped = true;
    if (image->uses == 0) {
        free_image(image);
    }
}

template<typename Predicate>
void drop_images_if(Predicate matches) {
    CachedImage *dropped = take_all(images, matches);
    while (CachedImage *image = pop(dropped)) {
        drop(image);
    }
}

void end_use(CachedImage *image) {
    image->last_use = ++image_clock;
    if (--image->uses == 0 && image->dropped) {
        free_image(image);
    }
}

}  // namespace

void drop_images(const calotype_uid &uid) {
    drop_images_if([&](const CachedImage &image) {
        return image.phase == Phase::ready && memcmp(&image.uid, &uid, sizeof uid) == 0;
    });
}

void forget_failed_images(const calotype_uid &uid) {
    drop_images_if([&](const CachedImage &image) {
        return image.phase == Phase::failed && memcmp(&image.uid, &uid, sizeof uid) == 0;
    });
}

void drop_all_images() {
    drop_images_if([](const CachedImage &image) { return image.phase != Phase::busy; });
}

void forget_image_flights() {
    drop_images_if([](CachedImage &image) {
        image.uses = image.phase == Phase::busy ? 1 : 0;  // what it points at may be half made
        return image.phase == Phase::busy;
    });
    compiling_threads = threads_to_compile = 0;
}

void limit_images() {
    const uint64_t limit = kernel_cache.limits.image_bytes;
    uint64_t total = 0;
    for (const CachedImage *i = images; i; i = i->next) {
        total += i->phase == Phase::ready ? i->image.size : 0;
    }
    while (limit && total > limit) {
        const CachedImage *oldest = nullptr;
        for (const CachedImage *i = images; i; i = i->next) {
            const bool can_go = i->phase == Phase::ready && i->uses == 0;
            oldest = can_go && (!oldest || i->last_use < oldest->last_use) ? i : oldest;
        }
        if (!oldest) {
            return;
        }
        total -= oldest->image.size;
        drop_images_if([=](const CachedImage &image) { return &image == oldest; });
    }
}

// ---- making one ------------------------------------------------------------------------------

namespace {

/** What one thread knows while it makes an image. */
struct Making {
    ContextState &context;
    const DeviceScope &scope;
    const calotype_module_desc &desc;
    ThreadBlock &me;
    DeviceArch arch = {};
    CompileHook hook = {};
    LoadableImage image = {};
};

/** One of those that may compile at once. No code of the application runs meanwhile: it could wait,
 * in ways that we do not see, for a thread that waits for its turn. */
class CompileSlot : NotCopied {
public:
    explicit CompileSlot(bool is_needed) : is_taken(is_needed) {
        LockGuard guard(kernel_cache.lock);
        threads_to_compile += is_taken;
        while (is_taken && are_all_taken()) {
            wait_for_change(no_deadline);
        }
        threads_to_compile -= is_taken;
        compiling_threads += is_taken;
    }
    ~CompileSlot() {
        LockGuard guard(kernel_cache.lock);
        compiling_threads -= is_taken;
        if (threads_to_compile) {
            notify_all();
        }
    }

private:
    const bool is_taken;

    static bool are_all_taken() {
        const uint32_t limit = kernel_cache.limits.compile_threads;
        return limit && compiling_threads >= limit;
    }
};

calotype_status run_hook(Making &making, const calotype_module_desc &desc) {
    void *bytes = nullptr;
    size_t size = 0;
    char *log = nullptr;
    calotype_status status = CALOTYPE_OK;
    const bool has_returned = call_guarded([&] {
        status = making.hook.compile(making.hook.self, &desc, making.arch.sm, making.arch.suffix,
                                     &bytes, &size, &log);
    });
    if (!has_returned) {
        return fail_with(CALOTYPE_E_COMPILE, "the compile hook threw an exception");
    }
    Text text;
    text << (log ? log : "");
    free(log);
    if (uint32_t(status) > CALOTYPE_E_LAUNCH) {
        text << "the compile hook answered " << uint32_t(status) << ", which is no status";
        status = CALOTYPE_E_COMPILE;
    }
    if (status == CALOTYPE_OK && (!bytes || size == 0)) {
        text << "the compile hook answered no error, but "
             << (bytes ? "an image of 0 bytes" : "no image");
        status = CALOTYPE_E_COMPILE;
    }
    if (status != CALOTYPE_OK) {
        set_failure(text);
        free(bytes);
        return status;
    }
    making.image.kind = CALOTYPE_CUBIN;
    making.image.bytes = bytes;
    making.image.size = size;
    making.image.owned = making.image.persistable = making.image.was_built = true;
    return CALOTYPE_OK;
}

void count_build(Making &making, calotype_status status, uint64_t ns) {
    const bool compiled = making.image.was_built || status == CALOTYPE_E_COMPILE ||
                          status == CALOTYPE_E_LINK || making.hook.compile;
    const bool linked = making.image.was_linked || status == CALOTYPE_E_LINK;
    if (compiled) {
        count_in(&making.context, &calotype_stats::compiles);
        count_in(&making.context, &calotype_stats::compile_ns, ns);
        making.image.compile_ns = ns;
    }
    if (linked) {
        count_in(&making.context, &calotype_stats::links);
        count_in(&making.context, &calotype_stats::link_ns, ns);
    }
    if (making.image.lto_missed) {
        count_in(&making.context, &calotype_stats::lto_missed);
    }
    tell_step(linked ? CALOTYPE_ST_LINK : CALOTYPE_ST_COMPILE, making.context.uid, making.desc, ns,
              status);
}

calotype_status build(Making &making, const calotype_module_desc &desc) {
    const KernelBackend &backend = *making.context.backend;
    calotype_status status = CALOTYPE_OK;
    uint64_t begin = 0, end = 0;
    {
        const CompileSlot slot(!making.hook.compile);
        const Range range("build", making.desc.name);
        begin = now_ns();
        status = making.hook.compile
                     ? run_hook(making, desc)
                     : backend.build(making.scope, making.arch, desc, &making.image);
        end = now_ns();
    }
    count_build(making, status, end - begin);
    return status;
}

calotype_status build_with_files(Making &making) {
    LinkableFiles files;
    const calotype_status status = files.read(making.desc);
    return status == CALOTYPE_OK ? build(making, files.desc()) : status;
}

/** From the store, or built and put there. */
calotype_status make_image(Making &making) {
    calotype_uid key;
    if (image_key(making.arch, making.desc, &key) != CALOTYPE_OK) {
        return build_with_files(making);
    }
    if (find_stored_image(making.scope, making.arch, making.desc, key, &making.image)) {
        return CALOTYPE_OK;
    }
    const ImageLock lock(key);
    if (lock.has_waited() &&
        find_stored_image(making.scope, making.arch, making.desc, key, &making.image)) {
        return CALOTYPE_OK;
    }
    const calotype_status status = build_with_files(making);
    if (status == CALOTYPE_OK) {
        store_image(making.scope, making.arch, making.desc, key, making.image);
    }
    return status;
}

FlightError *describe(const Making &making, calotype_status status) {
    const calotype_stage stage = status == CALOTYPE_E_LINK   ? CALOTYPE_ST_LINK
                                 : status == CALOTYPE_E_LOAD ? CALOTYPE_ST_DISK
                                                             : CALOTYPE_ST_COMPILE;
    const char *name = making.desc.name ? making.desc.name : "";
    const Failure failure = {.status = status, .stage = stage, .module_name = name};
    return failure.stage == CALOTYPE_ST_DISK
               ? make_error(failure)
               : make_code_error(*making.context.backend, making.scope, making.desc, failure);
}

/** Make the image of a busy record that this thread owns, and wake the threads that wait for it. */
void fly_image(Making &making, CachedImage *record) {
    const calotype_status status = make_image(making);
    FlightError *error = status == CALOTYPE_OK ? nullptr : describe(making, status);
    LockGuard guard(kernel_cache.lock);
    record->flight.owner = nullptr;
    record->status = status;
    record->error = error;
    record->image = making.image;
    record->phase = status == CALOTYPE_OK ? Phase::ready : Phase::failed;
    if (status == CALOTYPE_OK) {
        count_in(nullptr, &calotype_stats::image_bytes, making.image.size);
    }
    const bool keep = status == CALOTYPE_OK ? making.image.owned : is_for_good(status);
    if (!keep && !record->dropped) {
        drop_images_if([=](const CachedImage &image) { return &image == record; });
    }
    notify_all();
}

/** A record of that key: another's, in whatever phase, or a busy one of ours. Counts a use. */
CachedImage *find_or_begin(const Making &making, bool *is_ours) {
    CachedImage *record = find_image(making.desc.uid, making.arch);
    *is_ours = !record;
    if (*is_ours) {
        record = static_cast<CachedImage *>(calloc(1, sizeof(CachedImage)));
        if (!record) {
            return nullptr;
        }
        record->uid = making.desc.uid;
        record->arch = making.arch;
        record->phase = Phase::busy;
        record->flight.owner = &making.me;
        push(images, record);
    }
    record->uses++;
    return record;
}

/** OK once another thread is done with it. */
calotype_status await_image(CachedImage &record, ThreadBlock &me) {
    calotype_status status = CALOTYPE_OK;
    while (status == CALOTYPE_OK && record.phase == Phase::busy) {
        status = wait_for_others(me, record.flight, no_deadline);
    }
    return status;
}

calotype_status share_image(Making &making, ImageUse *use, FlightError **error) {
    bool is_ours = false;
    CachedImage *record = nullptr;
    {
        LockGuard guard(kernel_cache.lock);
        record = find_or_begin(making, &is_ours);
    }
    if (!record) {
        set_failure("no memory for the record of an image");
        *error = describe(making, CALOTYPE_E_OOM);
        return CALOTYPE_E_OOM;
    }
    if (is_ours) {
        fly_image(making, record);
    }
    calotype_status awaited = CALOTYPE_OK, status = CALOTYPE_OK;
    {
        LockGuard guard(kernel_cache.lock);
        awaited = await_image(*record, making.me);
        status = awaited == CALOTYPE_OK ? record->status : awaited;
        if (status == CALOTYPE_OK) {
            use->image = record->image;
            use->cached = record;
        } else {
            *error = awaited == CALOTYPE_OK ? share_error(record->error) : nullptr;
            end_use(record);
        }
        limit_images();
    }
    if (awaited != CALOTYPE_OK) {
        *error = describe(making, awaited);
    }
    return status;
}

}  // namespace

/** For which device, by which hook or tools. */
static calotype_status describe_arch(const KernelBackend &backend, const DeviceScope &scope,
                                     const calotype_module_desc &desc, DeviceArch *arch,
                                     CompileHook *used, bool *is_ready) {
    if (const calotype_status status = backend.describe(scope, arch)) {
        return status;
    }
    {
        LockGuard guard(kernel_cache.lock);
        *used = hook;
    }
    *is_ready = !used->compile && backend.is_ready && backend.is_ready(*arch, desc);
    if (used->compile) {
        // What makes the image stands in its key.
        memcpy(arch->toolchain, "hook ", 5);
        memcpy(arch->toolchain + 5, used->version, sizeof used->version);
    } else if (!*is_ready && backend.describe_tools) {
        backend.describe_tools(scope, arch);
    }
    return CALOTYPE_OK;
}

calotype_status use_image(ContextState &context, const DeviceScope &scope,
                          const calotype_module_desc &desc, ThreadBlock &me, ImageUse *use,
                          FlightError **error) {
    Making making{context, scope, desc, me};
    const FailureScope failures;
    *use = ImageUse{};
    *error = nullptr;
    bool is_ready = false;
    calotype_status status =
        describe_arch(*context.backend, scope, desc, &making.arch, &making.hook, &is_ready);
    if (status == CALOTYPE_OK && !is_ready) {
        return share_image(making, use, error);
    }
    if (status == CALOTYPE_OK) {
        status = context.backend->build(scope, making.arch, desc, &making.image);
    }
    if (status != CALOTYPE_OK) {
        *error = describe(making, status);
        return status;
    }
    use->image = making.image;
    return CALOTYPE_OK;
}

void end_image_use(ImageUse &use) {
    if (use.cached) {
        LockGuard guard(kernel_cache.lock);
        end_use(use.cached);
        limit_images();
    } else if (use.image.owned) {
        free(const_cast<void *>(use.image.bytes));
    }
    use = ImageUse{};
}

}  // namespace calotype::runtime

CALOTYPE_WEAK calotype_status calotype_image_key(const calotype_device_context *on,
                                                 const calotype_module_desc *desc,
                                                 calotype_uid *out) {
    Call call;
    calotype_status status = begin_call(user_context_of(on), desc, &call);
    if (status != CALOTYPE_OK || !out) {
        return status != CALOTYPE_OK
                   ? status
                   : fail(CALOTYPE_E_INVALID, CALOTYPE_ST_NONE, desc->name, "no place for the key");
    }
    DeviceArch arch = {};
    CompileHook used = {};
    bool is_ready = false;
    status = describe_arch(*call.backend, call.scope, *desc, &arch, &used, &is_ready);
    if (status == CALOTYPE_OK && is_ready && call.backend->describe_tools) {
        call.backend->describe_tools(call.scope, &arch);
    }
    status = status == CALOTYPE_OK ? image_key(arch, *desc, out) : status;
    return status == CALOTYPE_OK
               ? status
               : fail(status, CALOTYPE_ST_NONE, desc->name, "the device cannot be described");
}

CALOTYPE_WEAK calotype_status calotype_set_compile_hook(calotype_compile_fn compile, void *self,
                                                        const char *version_for_key) {
    const size_t size = version_for_key ? strlen(version_for_key) : 0;
    if (size >= sizeof hook.version) {
        return fail(CALOTYPE_E_INVALID, "the version of a compile hook has 160 characters or more");
    }
    LockGuard guard(kernel_cache.lock);
    hook = CompileHook{compile, self, {}};
    if (size) {
        memcpy(hook.version, version_for_key, size);
    }
    return CALOTYPE_OK;
}
