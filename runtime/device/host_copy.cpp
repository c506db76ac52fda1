// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/device/copy_plan.h"

#include <string.h>

namespace calotype::runtime {

namespace {

/** Copy the part of dimension d and below that both have; the pointers stand at the mins of the
 * dimensions below, and at the common min of those above. */
void copy_dimension(const calotype_buffer_t &src, const calotype_buffer_t &dst, int d,
                    const uint8_t *from, uint8_t *to) {
    const ptrdiff_t bytes = src.type.bytes();
    if (d < 0) {
        memcpy(to, from, size_t(bytes));
        return;
    }
    const calotype_dimension_t &s = src.dim[d], &t = dst.dim[d];
    const int64_t min = s.min > t.min ? s.min : t.min;
    const int64_t s_end = int64_t(s.min) + s.extent, t_end = int64_t(t.min) + t.extent;
    const int64_t end = s_end < t_end ? s_end : t_end;
    from += (min - s.min) * s.stride * bytes;
    to += (min - t.min) * t.stride * bytes;
    if (d == 0 && s.stride == 1 && t.stride == 1 && end > min) {
        memcpy(to, from, size_t((end - min) * bytes));
        return;
    }
    for (int64_t i = min; i < end; i++) {
        copy_dimension(src, dst, d - 1, from, to);
        from += s.stride * bytes;
        to += t.stride * bytes;
    }
}

}  // namespace

void copy_common_elements(const calotype_buffer_t &src, const calotype_buffer_t &dst) {
    copy_dimension(src, dst, src.dimensions - 1, src.host, dst.host);
}

}  // namespace calotype::runtime
