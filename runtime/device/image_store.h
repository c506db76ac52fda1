// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Images that outlive the process: what the kernel cache asks before it compiles and tells after.
// Nothing here fails: what is not there, damaged or not writable is compiled again. No function
// needs a lock of the cache, and none must be called with one: they read and write files.
//
//     if (!is_storable(desc)) -> build
//     if (find_stored_image(...)) -> load
//     StoreLock lock(key);                       // another process may be compiling the same
//     if (find_stored_image(...)) -> load        // it was
//     build; store_image(...)
#pragma once

#include "runtime/device/kernel_backend.h"

namespace calotype {
namespace runtime {

/** What happened in the store; the cache adds it to its counts. */
struct StoreCounts {
    uint64_t hits, misses, writes, corrupt, evictions;
};

/** The key of a module's image for an architecture: SHA-256 over all that decides its bytes.
 * `hook_version`: of a compile hook, null without one. */
calotype_uid make_image_key(const calotype_module_desc &desc, const DeviceArch &arch,
                            const char *hook_version);

/** Whether images of this module may be kept at all, and there is a store: neither the module nor
 * one of its linkables is of this session alone. */
bool is_storable(const calotype_module_desc &desc);

/** An image of malloc, verified. What is damaged is removed. A look-up counts a hit or a miss;
 * one in a StoreLock, which asks a second time, counts only a hit, instead of the miss before. */
bool find_stored_image(const calotype_uid &key, const DeviceArch &arch, LoadableImage *image,
                       StoreCounts *counts);
/** Keep an image, if it says that it is worth it. */
void store_image(const calotype_uid &key, const DeviceArch &arch, const LoadableImage &image,
                 StoreCounts *counts);

/** For one key, one process at a time, while this lives. Waits 30 s at most, then does without. */
class StoreLock {
public:
    explicit StoreLock(const calotype_uid &key);
    ~StoreLock();
    StoreLock(const StoreLock &) = delete;
    StoreLock &operator=(const StoreLock &) = delete;
    /** Whether another process had it first, so that a second look is worth while. */
    bool has_waited() const {
        return waited;
    }

private:
    calotype_uid key;
    int lock;
    bool waited;
};

}  // namespace runtime
}  // namespace calotype
