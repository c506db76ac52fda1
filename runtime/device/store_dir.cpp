// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/device/store_dir.h"

#include <atomic>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/host/timed_wait.h"

namespace calotype::runtime {

namespace {

/** Nothing that is larger is an image. */
constexpr off_t max_file_bytes = off_t(1) << 30;
/** The first write of a process looks how much there is, and every so many after it. */
constexpr uint32_t writes_between_sweeps = 64;

FileStamp stamp_of(const struct stat &status) {
    return {status.st_dev, status.st_ino, status.st_size, status.st_mtim};
}

bool same_file(const FileStamp &a, const FileStamp &b) {
    return a.device == b.device && a.inode == b.inode && a.size == b.size &&
           a.changed.tv_sec == b.changed.tv_sec && a.changed.tv_nsec == b.changed.tv_nsec;
}

/** A file of ours under `tmp`; `name` must hold 64 bytes. -1 if there is none. */
int make_temporary(int tmp, char *name) {
    static std::atomic<uint32_t> counter{0};
    for (int attempt = 0; attempt < 8; attempt++) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        snprintf(name, 64, "%ld.%u.%ld", long(getpid()),
                 counter.fetch_add(1, std::memory_order_relaxed), now.tv_nsec);
        const int fd =
            openat(tmp, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd >= 0) {
            return fd;
        }
    }
    return -1;
}

/** Whether the file behind `fd` is what `name` means now. */
bool is_file_named(int folder, const char *name, int fd) {
    struct stat open_file, named;
    return fstat(fd, &open_file) == 0 && fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
           open_file.st_dev == named.st_dev && open_file.st_ino == named.st_ino;
}

}  // namespace

bool read_store_file(const StoreDir &dir, const calotype_uid &key, void **bytes, size_t *size,
                     FileStamp *stamp) {
    const KeyName name = name_of_key(key);
    FileHandle folder(open_key_folder(dir, name, false));
    if (!folder) {
        return false;
    }
    FileHandle file(
        openat(folder.get(), name.image, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    struct stat status;
    if (!file || fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
        status.st_uid != geteuid() || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0 ||
        status.st_size > max_file_bytes) {
        return false;
    }
    *size = size_t(status.st_size);
    void *memory = malloc(*size + 1);
    if (!memory || !read_all(file.get(), memory, *size)) {
        free(memory);
        return false;
    }
    *bytes = memory;
    *stamp = stamp_of(status);
    const struct timespec times[2] = {{0, UTIME_NOW}, {0, UTIME_OMIT}};
    if (dir.writable) {
        futimens(file.get(), times);
    }
    return true;
}

bool has_store_file(const StoreDir &dir, const calotype_uid &key) {
    const KeyName name = name_of_key(key);
    FileHandle folder(open_key_folder(dir, name, false));
    return folder && faccessat(folder.get(), name.image, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

bool write_store_file(const StoreDir &dir, const calotype_uid &key, const void *bytes, size_t size,
                      uint64_t *evicted) {
    const KeyName name = name_of_key(key);
    *evicted = 0;
    if (!dir.writable) {
        return false;
    }
    FileHandle base(open_store(dir, true));
    FileHandle tmp(base ? open_folder(base.get(), "tmp", true) : -1);
    FileHandle folder(tmp ? open_key_folder(dir, name, true) : -1);
    if (!folder) {
        return false;
    }
    char temporary[64];
    FileHandle file(make_temporary(tmp.get(), temporary));
    if (!file) {
        return false;
    }
    if (!write_all(file.get(), bytes, size) || fsync(file.get()) != 0 ||
        renameat(tmp.get(), temporary, folder.get(), name.image) != 0) {
        unlinkat(tmp.get(), temporary, 0);
        return false;
    }
    static std::atomic<uint32_t> writes{0};
    if (writes.fetch_add(1, std::memory_order_relaxed) % writes_between_sweeps == 0) {
        *evicted = sweep_store_dir(dir);
    }
    return true;
}

bool remove_store_file(const StoreDir &dir, const calotype_uid &key, const FileStamp *stamp) {
    const KeyName name = name_of_key(key);
    FileHandle folder(dir.writable ? open_key_folder(dir, name, false) : -1);
    struct stat status;
    if (!folder || fstatat(folder.get(), name.image, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
        (stamp && !same_file(stamp_of(status), *stamp))) {
        return false;
    }
    return unlinkat(folder.get(), name.image, 0) == 0;
}

// The owner of a lock removes its file before it gives the lock up. So a thread that gets a lock
// looks whether the file still has its name, and else tries with the file that has it now.
int lock_store_key(const StoreDir &dir, const calotype_uid &key, uint32_t timeout_ms) {
    const KeyName name = name_of_key(key);
    FileHandle folder(dir.writable ? open_key_folder(dir, name, true) : -1);
    const uint64_t deadline = deadline_after_ms(timeout_ms);
    for (uint32_t pause_us = 500; folder;) {
        FileHandle file(openat(folder.get(), name.lock,
                               O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600));
        if (!file) {
            return -1;
        }
        if (flock(file.get(), LOCK_EX | LOCK_NB) == 0) {
            if (is_file_named(folder.get(), name.lock, file.get())) {
                return file.release();
            }
            continue;
        }
        if (errno != EWOULDBLOCK && errno != EINTR) {
            // There are file systems without such locks, where two processes may compile the same.
            if (errno == ENOSYS || errno == EOPNOTSUPP) {
                unlinkat(folder.get(), name.lock, 0);
            }
            return -1;
        }
        if (now_ns() >= deadline) {
            return -1;
        }
        usleep(pause_us);
        pause_us = pause_us < 16000 ? 2 * pause_us : pause_us;
    }
    return -1;
}

void unlock_store_key(const StoreDir &dir, const calotype_uid &key, int lock) {
    if (lock < 0) {
        return;
    }
    const KeyName name = name_of_key(key);
    FileHandle file(lock);
    FileHandle folder(open_key_folder(dir, name, false));
    if (folder && is_file_named(folder.get(), name.lock, lock)) {
        unlinkat(folder.get(), name.lock, 0);
    }
}

}  // namespace calotype::runtime
