// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One thread at a time brings a buffer up to date.
//
// A lock is of the buffer's address, for as long as its owner is on the stack; locks of different
// buffers do not touch each other, whatever is copied. Code of the application may run meanwhile
// (error handlers, callbacks of linkables that are torn down to make room), and may wait for
// threads that want the same buffers. So all locks of the thread are given up before it runs, and
// taken again afterwards where it matters.
#pragma once

#include "runtime/abi/buffer.h"
#include "runtime/host/not_copied.h"

namespace calotype::runtime {

class BufferLock : NotCopied {
public:
    /** Null: there is nothing to lock. */
    explicit BufferLock(const calotype_buffer_t *buf);
    ~BufferLock();

    /** After what may have given it up. */
    void relock();

    BufferLock *next = nullptr;  ///< in the table

private:
    const calotype_buffer_t *buf;
    BufferLock *outer;  ///< of the same thread
    bool is_locked = false;

    static thread_local BufferLock *innermost;
    friend void unlock_thread_buffers();

    void lock();
    void unlock();
};

/** Locks of two buffers, which may be the same. All threads take them in the order of addresses, so
 * none waits for another in a circle. */
class BufferPairLock {
public:
    BufferPairLock(const calotype_buffer_t *a, const calotype_buffer_t *b)
        : first(is_before(a, b) ? a : b), second(later(a, b)) {
    }
    void relock() {
        first.relock();
        second.relock();
    }

private:
    static bool is_before(const calotype_buffer_t *a, const calotype_buffer_t *b) {
        return reinterpret_cast<uintptr_t>(a) < reinterpret_cast<uintptr_t>(b);
    }
    static const calotype_buffer_t *later(const calotype_buffer_t *a, const calotype_buffer_t *b) {
        return a == b ? nullptr : is_before(a, b) ? b : a;
    }
    BufferLock first, second;
};

/** The calling thread gives up all its locks of buffers: code of the application is about to run. */
void unlock_thread_buffers();

}  // namespace calotype::runtime
