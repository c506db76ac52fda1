// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <stdlib.h>
#include <string.h>

#include "runtime/device/cache/errors.h"
#include "runtime/device/store_dir.h"
#include "runtime/host/environment.h"
#include "runtime/host/fork_mutex.h"
#include "runtime/host/weak.h"

using namespace calotype::runtime;

namespace {

constexpr uint64_t default_max_bytes = uint64_t(2) << 30;

/** What calotype_set_store_dir said. */
struct Settings {
    ForkMutex mutex;
    bool given;
    bool off;
    StoreDir dir;
};
constinit Settings settings = {};

/** false if it gets too long. */
bool append(char *path, const char *text) {
    const size_t length = strlen(path), added = strlen(text);
    if (length + added >= sizeof StoreDir::path) {
        return false;
    }
    memcpy(path + length, text, added + 1);
    return true;
}

bool is_set(const char *value) {
    return value && value[0];
}

bool set_path_from_environment(char *path) {
    path[0] = 0;
    const char *own = environment("CT_KERNEL_CACHE_DIR");
    if (is_set(own)) {
        return append(path, own);
    }
    const char *cache = environment("XDG_CACHE_HOME"), *home = environment("HOME");
    if (is_set(cache) && cache[0] == '/') {
        return append(path, cache) && append(path, "/calotype/kernels");
    }
    return is_set(home) && append(path, home) && append(path, "/.cache/calotype/kernels");
}

bool get_from_environment(StoreDir *dir) {
    const char *mode = environment("CT_KERNEL_CACHE_MODE");
    dir->writable = !is_set(mode) || strcmp(mode, "rw") == 0;
    if (!dir->writable && strcmp(mode, "ro") != 0) {
        return false;  // off, or a word that is none of ours: nobody asked for files
    }
    dir->max_bytes = default_max_bytes;
    return set_path_from_environment(dir->path);
}

}  // namespace

namespace calotype::runtime {

bool get_store_dir(StoreDir *dir) {
    {
        LockGuard lock(settings.mutex);
        if (settings.given) {
            *dir = settings.dir;
            return !settings.off;
        }
    }
    return get_from_environment(dir);
}

}  // namespace calotype::runtime

CALOTYPE_WEAK calotype_status calotype_set_store_dir(const char *path, uint64_t max_bytes,
                                                     uint32_t flags) {
    constexpr uint32_t known = CALOTYPE_STORE_READ_ONLY | CALOTYPE_STORE_OFF;
    if (flags > known) {
        return refuse_choice("store flags", flags, known);
    }
    if (path && strlen(path) >= sizeof StoreDir::path) {
        return fail(CALOTYPE_E_INVALID, Text() << "the path of the store directory has "
                                               << uint64_t(strlen(path)) << " characters, at most "
                                               << uint64_t(sizeof StoreDir::path - 1));
    }
    LockGuard lock(settings.mutex);
    settings.given = path || flags || max_bytes;
    if (!settings.given) {
        return CALOTYPE_OK;  // As the environment says, again.
    }
    settings.dir.path[0] = 0;
    if (!(path ? append(settings.dir.path, path) : set_path_from_environment(settings.dir.path))) {
        settings.off = true;
        return CALOTYPE_OK;
    }
    settings.dir.max_bytes = max_bytes ? max_bytes : default_max_bytes;
    settings.dir.writable = !(flags & CALOTYPE_STORE_READ_ONLY);
    settings.off = flags & CALOTYPE_STORE_OFF;
    return CALOTYPE_OK;
}
