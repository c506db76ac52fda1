// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Plans for copying the elements that two buffers share with few driver calls: chunks of
// contiguous bytes, repeated along as few dimensions as possible. Both back ends copy by it.
#pragma once

#include "runtime/abi/buffer.h"
#include "runtime/host/function_ref.h"

namespace calotype::runtime {

struct CopyPlan {
    static constexpr int max_dimensions = 16;
    struct Dimension {
        int64_t count;
        int64_t src_stride, dst_stride;  ///< in bytes; may be negative or 0
    };

    bool is_empty;
    int64_t chunk_bytes;
    /** In bytes from the elements at the mins of the buffers to the first chunk. */
    int64_t src_offset, dst_offset;
    /** The smallest strides of the destination first; each has a count of 2 or more. */
    int dimensions;
    Dimension dim[max_dimensions];
};

/** False if that takes more dimensions than a plan has. The buffers have equally many dimensions,
 * and elements of the same size. */
bool plan_copy(const calotype_buffer_t &src, const calotype_buffer_t &dst, CopyPlan *plan);

/** A part of a plan that is one call: rows of `width` contiguous bytes. Pitches are positive, slice
 * strides are multiples of them if there is more than one slice. */
struct CopyBox {
    int64_t width, rows, slices;
    int64_t src_offset, src_pitch, src_slice;
    int64_t dst_offset, dst_pitch, dst_slice;
};
/** What is done with one box: 0, or a code that ends the copy. */
using CopyBoxFunction = FunctionRef<int(const CopyBox &box)>;

/** Go through the plan by boxes of up to three dimensions, pitches being at most `max_pitch`. */
int for_each_box(const CopyPlan &plan, int64_t max_pitch, CopyBoxFunction copy);

/** Copy the elements at coordinates that both buffers have. They have the same number of dimensions
 * and elements of the same size, and do not overlap in memory. */
void copy_common_elements(const calotype_buffer_t &src, const calotype_buffer_t &dst);

}  // namespace calotype::runtime
