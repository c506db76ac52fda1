// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Keeping the directory store within its size.
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "runtime/device/store_dir.h"
#include "runtime/host/data/growing_array.h"

namespace calotype::runtime {

namespace {

constexpr time_t stale_seconds = 3600;

/** An image in the store. */
struct Candidate {
    struct timespec used;
    uint64_t bytes;
    char folder[3];
    char name[62 + 5];
};

/** All images of the store. */
struct Candidates {
    GrowingArray<Candidate> all;
    uint64_t bytes = 0;

    ~Candidates() {
        all.clear();
    }
    void add(const char *folder, const char *name, const struct stat &status) {
        Candidate item = {status.st_atim, uint64_t(status.st_size), {}, {}};
        strcpy(item.folder, folder);
        strcpy(item.name, name);
        bytes += all.add(item) ? item.bytes : 0;
    }
};

int by_use(const void *a, const void *b) {
    const struct timespec x = static_cast<const Candidate *>(a)->used;
    const struct timespec y = static_cast<const Candidate *>(b)->used;
    if (x.tv_sec != y.tv_sec) {
        return x.tv_sec < y.tv_sec ? -1 : 1;
    }
    return x.tv_nsec == y.tv_nsec ? 0 : x.tv_nsec < y.tv_nsec ? -1 : 1;
}

bool ends_with(const char *name, const char *end) {
    const size_t length = strlen(name), end_length = strlen(end);
    return length > end_length && strcmp(name + length - end_length, end) == 0;
}

bool is_stale(const struct stat &status) {
    return time(nullptr) - status.st_mtime > stale_seconds;
}

/** Whether the file is a lock that no process holds. */
void remove_stale_lock(int folder, const char *name) {
    FileHandle file(openat(folder, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (file && flock(file.get(), LOCK_EX | LOCK_NB) == 0) {
        unlinkat(folder, name, 0);
    }
}

/** Call f(name, status) for each regular file. */
template<typename F>
void for_each_file(int folder, F f) {
    const int copy = fcntl(folder, F_DUPFD_CLOEXEC, 0);
    DIR *list = copy >= 0 ? fdopendir(copy) : nullptr;
    if (!list) {
        FileHandle unused(copy);
        return;
    }
    while (const struct dirent *entry = readdir(list)) {
        struct stat status;
        if (fstatat(folder, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(status.st_mode)) {
            f(entry->d_name, status);
        }
    }
    closedir(list);
}

void collect(int version, const char *name, Candidates &all) {
    FileHandle folder(open_folder(version, name, false));
    if (!folder) {
        return;
    }
    for_each_file(folder.get(), [&](const char *file, const struct stat &status) {
        if (strlen(file) == 62 + 4 && ends_with(file, ".cko")) {
            all.add(name, file, status);
        } else if (ends_with(file, ".lock") && is_stale(status)) {
            remove_stale_lock(folder.get(), file);
        }
    });
}

uint64_t drop_oldest(int version, Candidates &candidates, uint64_t max_bytes) {
    uint64_t dropped = 0;
    GrowingArray<Candidate> &all = candidates.all;
    qsort(all.items, all.n, sizeof *all.items, by_use);
    for (uint32_t i = 0; i < all.n && candidates.bytes > max_bytes; i++) {
        FileHandle folder(open_folder(version, all.items[i].folder, false));
        if (folder && unlinkat(folder.get(), all.items[i].name, 0) == 0) {
            candidates.bytes -= all.items[i].bytes;
            dropped++;
        }
    }
    return dropped;
}

void remove_stale_temporaries(int base) {
    FileHandle tmp(open_folder(base, "tmp", false));
    if (tmp) {
        for_each_file(tmp.get(), [&](const char *name, const struct stat &status) {
            if (is_stale(status)) {
                unlinkat(tmp.get(), name, 0);
            }
        });
    }
}

}  // namespace

uint64_t sweep_store_dir(const StoreDir &dir) {
    FileHandle base(dir.writable ? open_store(dir, false) : -1);
    FileHandle version(base ? open_folder(base.get(), "v1", false) : -1);
    if (!version) {
        return 0;
    }
    remove_stale_temporaries(base.get());
    Candidates all;
    for (int i = 0; i < 256; i++) {
        calotype_uid key = {};
        key.b[0] = uint8_t(i);
        collect(version.get(), name_of_key(key).folder, all);
    }
    return all.bytes > dir.max_bytes ? drop_oldest(version.get(), all, dir.max_bytes) : 0;
}

}  // namespace calotype::runtime
