// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An array that grows by doubling; all zero at first, and cleared by its owner.
#pragma once

#include <stdint.h>
#include <stdlib.h>

namespace calotype::runtime {

template<typename T>
struct GrowingArray {
    T *items = nullptr;
    uint32_t n = 0, room = 0;

    /** Room for so many more; false: out of memory. */
    bool reserve(uint32_t more) {
        if (n + more <= room) {
            return true;
        }
        const uint32_t wanted = room * 2 > n + more ? room * 2 : n + more + 16;
        T *grown = static_cast<T *>(realloc(items, wanted * sizeof(T)));
        if (grown) {
            items = grown;
            room = wanted;
        }
        return grown != nullptr;
    }
    bool add(const T &item) {
        const bool has_room = reserve(1);
        if (has_room) {
            items[n++] = item;
        }
        return has_room;
    }
    void clear() {
        free(items);
        items = nullptr;
        n = room = 0;
    }
};

}  // namespace calotype::runtime
