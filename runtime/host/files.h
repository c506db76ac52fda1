// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reading and writing files by their descriptors.
#pragma once

#include <stddef.h>

namespace calotype::runtime {

/** A file descriptor that closes itself. */
class FileHandle {
    int fd;

public:
    explicit FileHandle(int fd) : fd(fd) {
    }
    ~FileHandle();
    FileHandle(const FileHandle &) = delete;
    FileHandle &operator=(const FileHandle &) = delete;
    explicit operator bool() const {
        return fd >= 0;
    }
    int get() const {
        return fd;
    }
    int release() {
        const int result = fd;
        fd = -1;
        return result;
    }
};

/** All `size` bytes, however many calls that takes. False: an error, which errno says; a file that
 * ends too early is EIO. */
bool read_all(int fd, void *bytes, size_t size);
bool write_all(int fd, const void *bytes, size_t size);

}  // namespace calotype::runtime
