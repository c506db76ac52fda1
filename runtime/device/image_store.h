// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The interface of the persistent store to the kernel cache. Called by the one thread that makes an
// image, with no lock held.
#pragma once

#include "runtime/device/kernel_backend.h"
#include "runtime/device/store_dir.h"
#include "runtime/host/not_copied.h"
#include <stddef.h>
#include <stdint.h>

namespace calotype::runtime {

/** The key of the module's image: SHA-256 of all that its bytes depend on. `arch` has its
 * toolchain. */
calotype_status image_key(const DeviceArch &arch, const calotype_module_desc &desc,
                          calotype_uid *key);

/** Bytes of a verified entry, owned; false if there is none. Counts disk_hits, disk_misses and
 * disk_corrupt. */
bool find_stored_image(const DeviceScope &scope, const DeviceArch &arch,
                       const calotype_module_desc &desc, const calotype_uid &key,
                       LoadableImage *image);

/** Keep an image, unless it is not persistable or the module is not. Counts disk_writes and
 * disk_evictions. */
void store_image(const DeviceScope &scope, const DeviceArch &arch, const calotype_module_desc &desc,
                 const calotype_uid &key, const LoadableImage &image);

/** One process at a time compiles an image. Constructed and destroyed on one thread; does nothing
 * where there is no store. After it is taken, find_stored_image is to be asked (again). */
class ImageLock : NotCopied {
public:
    explicit ImageLock(const calotype_uid &key);
    ~ImageLock();
    /** Whether another process was waited for, so that it may have stored the image meanwhile. */
    bool has_waited() const {
        return waited;
    }

private:
    calotype_uid key;
    StoreDir dir;  ///< as it was then, whatever has been set meanwhile
    int handle = -1;
    bool waited = false;
};

// ---- the bytes that a store keeps for an image ---------------------------------------------------

constexpr uint32_t store_schema = 2;

/** bytes: of malloc, or null for lack of memory. */
struct StoreFrame {
    void *bytes;
    size_t size;
};
StoreFrame make_store_frame(const calotype_uid &key, const DeviceArch &arch,
                            const LoadableImage &image);

/** Check a frame and copy its image out. Null if all is well, else what is wrong: "key" if it holds
 * another image, "memory" if there is not enough for the copy. */
const char *read_store_frame(const void *bytes, size_t size, const calotype_uid &key,
                             const DeviceArch &arch, LoadableImage *image);

}  // namespace calotype::runtime
