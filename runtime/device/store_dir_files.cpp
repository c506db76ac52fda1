// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/device/store_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/host/data/sha256.h"

namespace calotype::runtime {

KeyName name_of_key(const calotype_uid &key) {
    char hex[65];
    write_hex(key, sizeof key.b, hex);
    KeyName name = {};
    memcpy(name.folder, hex, 2);
    memcpy(name.image, hex + 2, 62);
    memcpy(name.lock, hex + 2, 62);
    memcpy(name.image + 62, ".cko", 5);
    memcpy(name.lock + 62, ".lock", 6);
    return name;
}

/** Closes what is not a directory of ours alone. */
static int checked(int fd) {
    struct stat status;
    if (fd >= 0 && (fstat(fd, &status) != 0 || status.st_uid != geteuid() ||
                    (status.st_mode & (S_IWGRP | S_IWOTH)) != 0)) {
        close(fd);
        errno = EPERM;
        return -1;
    }
    return fd;
}

static void make_with_parents(const char *path) {
    char part[sizeof StoreDir::path];
    for (size_t i = 1; path[i]; i++) {
        if (path[i] == '/') {
            memcpy(part, path, i);
            part[i] = 0;
            mkdir(part, 0700);
        }
    }
    mkdir(path, 0700);
}

int open_store(const StoreDir &dir, bool create) {
    const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
    int fd = open(dir.path, flags);
    if (fd < 0 && create) {
        make_with_parents(dir.path);
        fd = open(dir.path, flags);
    }
    return checked(fd);
}

int open_folder(int parent, const char *name, bool create) {
    const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    int fd = openat(parent, name, flags);
    if (fd < 0 && create) {
        mkdirat(parent, name, 0700);
        fd = openat(parent, name, flags);
    }
    return checked(fd);
}

int open_key_folder(const StoreDir &dir, const KeyName &name, bool create) {
    FileHandle base(open_store(dir, create));
    if (!base) {
        return -1;
    }
    FileHandle version(open_folder(base.get(), "v1", create));
    return version ? open_folder(version.get(), name.folder, create) : -1;
}

}  // namespace calotype::runtime
