// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/host/files.h"

#include <errno.h>
#include <unistd.h>

namespace calotype::runtime {

FileHandle::~FileHandle() {
    if (fd >= 0) {
        close(fd);
    }
}

/** Call step(bytes done) until all is done. An interrupted call is made again. */
template<typename Step>
static bool repeat(size_t size, Step step) {
    for (size_t done = 0; done < size;) {
        const ssize_t count = step(done);
        if (count > 0) {
            done += size_t(count);
        } else if (count == 0 || errno != EINTR) {
            errno = count == 0 ? EIO : errno;
            return false;
        }
    }
    return true;
}

bool read_all(int fd, void *bytes, size_t size) {
    return repeat(size, [&](size_t done) {
        return read(fd, static_cast<char *>(bytes) + done, size - done);
    });
}

bool write_all(int fd, const void *bytes, size_t size) {
    return repeat(size, [&](size_t done) {
        return write(fd, static_cast<const char *>(bytes) + done, size - done);
    });
}

}  // namespace calotype::runtime
