// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Allocations that end together.
#pragma once

#include <stdlib.h>
#include <string.h>

#include "runtime/host/data/list.h"
#include "runtime/host/not_copied.h"

namespace calotype::runtime {

/** Memory of zeros, in a list through the fronts of the allocations. */
class Pieces : NotCopied {
    struct Front {
        Front *next;
        void *unused;  ///< keeps what follows aligned
    };
    Front *last = nullptr;
    bool complete = true;

public:
    ~Pieces() {
        free_all(last);
    }
    /** Null: out of memory. */
    template<typename T>
    T *make(size_t n) {
        Front *front = static_cast<Front *>(calloc(1, sizeof(Front) + n * sizeof(T) + 1));
        if (!front) {
            complete = false;
            return nullptr;
        }
        push(last, front);
        return reinterpret_cast<T *>(front + 1);
    }
    template<typename T>
    T *copy(const T *from, size_t n) {
        T *to = make<T>(n);
        if (to && n > 0) {
            memcpy(to, from, n * sizeof(T));
        }
        return to;
    }
    const char *copy(const char *text) {
        return text ? copy(text, strlen(text) + 1) : nullptr;
    }
    /** Whether there was memory for all. */
    bool is_complete() const {
        return complete;
    }
    /** They are the caller's now, who ends them with free_all(). */
    void *release() {
        void *all = last;
        last = nullptr;
        return all;
    }
    static void free_all(void *pieces) {
        Front *all = static_cast<Front *>(pieces);
        while (Front *front = pop(all)) {
            free(front);
        }
    }
};

}  // namespace calotype::runtime
