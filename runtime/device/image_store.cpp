// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stores hold frames (image_store.h), whatever the store, so that an image from any of them
// is verified before a driver sees it. What a store of the application's throws is a miss.
#include "runtime/device/image_store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/abi/hooks.h"
#include "runtime/device/cache/errors.h"
#include "runtime/device/kernel_stats.h"
#include "runtime/device/store_dir.h"
#include "runtime/host/call_guarded.h"
#include "runtime/host/data/sha256.h"
#include "runtime/host/fork_mutex.h"
#include "runtime/host/log.h"
#include "runtime/host/text.h"
#include "runtime/host/weak.h"

using namespace calotype::runtime;

namespace {

constexpr uint32_t lock_timeout_ms = 30000;

/** The application's store; all null without one. */
struct CustomStore {
    ForkMutex mutex;
    calotype_store store;
};
constinit CustomStore custom = {};

/** A copy, so that no lock is held while it is called. False: there is none. */
bool get_custom_store(calotype_store *store) {
    LockGuard lock(custom.mutex);
    *store = custom.store;
    return store->get != nullptr;
}

bool is_of_this_session(const calotype_module_desc &desc) {
    bool result = desc.flags & CALOTYPE_MOD_SESSION_DEPENDENT;
    for (uint32_t i = 0; i < desc.n_linkables; i++) {
        result |= (desc.linkables[i]->flags & CALOTYPE_LK_SESSION_DEPENDENT) != 0;
    }
    return result;
}

/** Bytes from a store, and how to give them back. */
struct Stored {
    void *bytes = nullptr;
    size_t size = 0;
    calotype_store store = {};
    bool is_custom = false, has_dir = false;
    StoreDir dir;
    FileStamp stamp;

    ~Stored() {
        if (is_custom && bytes && store.free_bytes) {
            call_guarded([&] { store.free_bytes(store.self, bytes); });
        } else if (!is_custom) {
            free(bytes);
        }
    }
    bool get(const calotype_uid &key) {
        is_custom = get_custom_store(&store);
        if (is_custom) {
            int rc = -1;
            call_guarded([&] { rc = store.get(store.self, &key, &bytes, &size); });
            if (rc != 0) {
                bytes = nullptr;
            }
            return bytes != nullptr;
        }
        has_dir = get_store_dir(&dir);
        return has_dir && read_store_file(dir, key, &bytes, &size, &stamp);
    }
    void remove(const calotype_uid &key) {
        if (!is_custom) {
            remove_store_file(dir, key, &stamp);
        } else if (store.del) {
            call_guarded([&] { store.del(store.self, &key); });
        }
    }
};

/** Once a directory, so that a read-only home does not fill the log. */
void tell_of_failed_write(const StoreDir &dir) {
    const int error = errno;
    static std::atomic<uint64_t> told{0};
    const calotype_uid hash = sha256(dir.path, strlen(dir.path));
    uint64_t which;
    memcpy(&which, hash.b, sizeof which);
    if (dir.writable && told.exchange(which) != which) {
        Text text;
        text << "note: device code is not kept in " << dir.path
             << " for the next process: " << strerror(error) << "\n";
        calotype_print(nullptr, text.c_str());
    }
}

/** "found blur, key 12ab34cd"; "no image of blur, key 12ab34cd: digest". */
void log_use(const char *what, const calotype_module_desc &desc, const calotype_uid &key,
             const char *wrong) {
    if (is_logged(LogTopic::store)) {
        char digits[9];
        write_hex(key, 4, digits);
        log_line(LogTopic::store, Text() << what << (desc.name ? desc.name : "") << ", key "
                                         << digits << (wrong ? ": " : "") << (wrong ? wrong : ""));
    }
}

bool write_frame(const calotype_uid &key, const StoreFrame &frame, uint64_t *evicted) {
    calotype_store store;
    if (get_custom_store(&store)) {
        int rc = -1;
        call_guarded([&] { rc = store.put(store.self, &key, frame.bytes, frame.size); });
        return rc == 0;
    }
    StoreDir dir;
    if (!get_store_dir(&dir)) {
        return false;
    }
    errno = 0;
    const bool written = write_store_file(dir, key, frame.bytes, frame.size, evicted);
    if (!written) {
        tell_of_failed_write(dir);
    }
    return written;
}

}  // namespace

namespace calotype::runtime {

bool find_stored_image(const DeviceScope &scope, const DeviceArch &arch,
                       const calotype_module_desc &desc, const calotype_uid &key,
                       LoadableImage *image) {
    if (is_of_this_session(desc)) {
        return false;
    }
    Stored stored;
    const char *wrong = stored.get(key)
                            ? read_store_frame(stored.bytes, stored.size, key, arch, image)
                            : "not there";
    count(scope.context_uid, wrong ? &calotype_stats::disk_misses : &calotype_stats::disk_hits);
    if (stored.is_custom || stored.has_dir) {
        log_use(wrong ? "no image of " : "found ", desc, key, wrong);
    }
    if (!wrong) {
        return true;
    }
    if (stored.bytes && strcmp(wrong, "memory") != 0) {
        count(scope.context_uid, &calotype_stats::disk_corrupt);
        stored.remove(key);
    }
    return false;
}

void store_image(const DeviceScope &scope, const DeviceArch &arch, const calotype_module_desc &desc,
                 const calotype_uid &key, const LoadableImage &image) {
    if (!image.persistable || image.size == 0 || is_of_this_session(desc)) {
        return;
    }
    const StoreFrame frame = make_store_frame(key, arch, image);
    uint64_t evicted = 0;
    if (frame.bytes && write_frame(key, frame, &evicted)) {
        count(scope.context_uid, &calotype_stats::disk_writes);
        count(scope.context_uid, &calotype_stats::disk_evictions, evicted);
        log_use("wrote ", desc, key, nullptr);
    }
    free(frame.bytes);
}

// A store of the application's has no lock; there, two processes may compile the same.
ImageLock::ImageLock(const calotype_uid &key) : key(key) {
    calotype_store store;
    if (get_custom_store(&store) || !get_store_dir(&dir)) {
        return;
    }
    handle = lock_store_key(dir, key, lock_timeout_ms);
    // Between the first look and the lock another process may have come and gone.
    waited = has_store_file(dir, key);
}

ImageLock::~ImageLock() {
    unlock_store_key(dir, key, handle);
}

}  // namespace calotype::runtime

CALOTYPE_WEAK calotype_status calotype_set_store(const calotype_store *store) {
    if (store && (store->size < sizeof *store || !store->get || !store->put)) {
        return fail(CALOTYPE_E_INVALID,
                    store->size < sizeof *store
                        ? "calotype_store::size is less than that of the structure"
                        : "calotype_store::get and calotype_store::put are needed");
    }
    LockGuard lock(custom.mutex);
    custom.store = store ? *store : calotype_store{};
    return CALOTYPE_OK;
}
