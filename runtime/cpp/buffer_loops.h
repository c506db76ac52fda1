// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops over the elements of several arrays of one shape at once, in the order in which the first
// of them lies in memory.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "../abi/buffer.h"

namespace calotype {
namespace Runtime {
namespace internal {

/** The dimensions of a buffer by the size of their strides, the smallest first. */
inline std::vector<int> dimensions_by_stride(const calotype_buffer_t &buffer) {
    std::vector<int> order;
    for (int d = 0; d < buffer.dimensions; d++) {
        auto place = order.end();
        while (place != order.begin() &&
               std::abs(buffer.dim[*(place - 1)].stride) > std::abs(buffer.dim[d].stride)) {
            --place;
        }
        order.insert(place, d);
    }
    return order;
}

/** One loop: how often, and how far each array's pointer moves a step. */
template<size_t N>
struct Loop {
    ptrdiff_t extent;
    std::array<ptrdiff_t, N> stride;
};

/** The loops over the shape of buffers[0], innermost first: ordered by the first buffer's strides,
 * without those of extent one, dimensions that are contiguous in all buffers merged into one.
 * Strides are in elements. There is always at least one loop; any extent may be zero. */
template<size_t N>
std::vector<Loop<N>> make_loops(const std::array<const calotype_buffer_t *, N> &buffers) {
    std::vector<Loop<N>> loops;
    for (int d : dimensions_by_stride(*buffers[0])) {
        Loop<N> dim{buffers[0]->dim[d].extent, {}};
        for (size_t i = 0; i < N; i++) {
            dim.stride[i] = buffers[i]->dim[d].stride;
        }
        bool contiguous = !loops.empty();
        for (size_t i = 0; contiguous && i < N; i++) {
            contiguous = dim.stride[i] == loops.back().stride[i] * loops.back().extent;
        }
        if (contiguous) {
            loops.back().extent *= dim.extent;
        } else if (dim.extent != 1) {
            loops.push_back(dim);
        }
    }
    if (loops.empty()) {
        loops.push_back({1, {}});
    }
    return loops;
}

/** Call body(row_pointers..., extent, strides) for each innermost loop. */
template<size_t N, typename Body, typename... Ptrs>
void for_each_row(const Loop<N> *innermost, size_t outer_loops, const Body &body, Ptrs... ptrs) {
    if (outer_loops == 0) {
        body(innermost->extent, innermost->stride, ptrs...);
        return;
    }
    const Loop<N> &loop = innermost[outer_loops];
    for (ptrdiff_t i = 0; i < loop.extent; i++) {
        for_each_row(innermost, outer_loops - 1, body, ptrs...);
        size_t which = 0;
        ((ptrs += loop.stride[which++]), ...);
    }
}

/** Call f(element of each array...) for every element. */
template<typename Fn, typename... Elems>
void for_each_value_in(Fn &&f,
                       const std::array<const calotype_buffer_t *, sizeof...(Elems)> &shapes,
                       Elems *...ptrs) {
    constexpr size_t N = sizeof...(Elems);
    auto loops = make_loops<N>(shapes);
    auto row = [&f](ptrdiff_t extent, const std::array<ptrdiff_t, N> &stride, Elems *...p) {
        bool dense = std::all_of(stride.begin(), stride.end(), [](ptrdiff_t s) { return s == 1; });
        if (dense) {
            for (ptrdiff_t i = 0; i < extent; i++) {
                f(p[i]...);
            }
            return;
        }
        for (ptrdiff_t i = 0; i < extent; i++) {
            f(*p...);
            size_t which = 0;
            ((p += stride[which++]), ...);
        }
    };
    for_each_row(loops.data(), loops.size() - 1, row, ptrs...);
}

/** Set all elements of a buffer, the first of which is at `first`. The value is a copy of each row's:
 * stores to the elements could change one that is read from memory, as far as a compiler knows. */
template<typename T>
void fill_elements(const calotype_buffer_t &buffer, T *first, const T &value) {
    auto loops = make_loops<1>({&buffer});
    auto row = [&value](ptrdiff_t extent, const std::array<ptrdiff_t, 1> &stride, T *to) {
        const T element = value;
        if (stride[0] == 1) {
            std::fill_n(to, extent, element);
            return;
        }
        for (ptrdiff_t i = 0; i < extent; i++) {
            to[i * stride[0]] = element;
        }
    };
    for_each_row(loops.data(), loops.size() - 1, row, first);
}

/** Copy all elements of src to dst, which has the same extents and element size. */
inline void copy_elements(const calotype_buffer_t &dst, const calotype_buffer_t &src) {
    const ptrdiff_t bytes = dst.type.bytes();
    auto loops = make_loops<2>({&dst, &src});
    for (auto &loop : loops) {
        loop.stride[0] *= bytes;
        loop.stride[1] *= bytes;
    }
    auto row = [bytes](ptrdiff_t extent, const std::array<ptrdiff_t, 2> &stride, uint8_t *to,
                       const uint8_t *from) {
        if (extent == 1 || (stride[0] == bytes && stride[1] == bytes)) {
            memcpy(to, from, size_t(extent * bytes));
            return;
        }
        for (ptrdiff_t i = 0; i < extent; i++) {
            memcpy(to + i * stride[0], from + i * stride[1], size_t(bytes));
        }
    };
    for_each_row(loops.data(), loops.size() - 1, row, dst.host,
                 static_cast<const uint8_t *>(src.host));
}

}  // namespace internal
}  // namespace Runtime
}  // namespace calotype
