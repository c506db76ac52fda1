// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The plan is made in four steps: clip each dimension to what both buffers have; drop those of one
// element; turn those that run backwards in both; sort by stride and join neighbours that continue
// each other. What is then contiguous becomes the chunk.
#include "runtime/device/copy_plan.h"

namespace calotype {
namespace runtime {

namespace {

int64_t magnitude(int64_t value) {
    return value < 0 ? -value : value;
}

bool continues(const CopyPlan::Dimension &inner, const CopyPlan::Dimension &outer) {
    return outer.src_stride == inner.src_stride * inner.count &&
           outer.dst_stride == inner.dst_stride * inner.count;
}

/** Keep plan->dim sorted by the stride of the destination; false if there is no room. */
bool insert(CopyPlan *plan, CopyPlan::Dimension dim) {
    if (dim.src_stride < 0 && dim.dst_stride < 0) {
        plan->src_offset += dim.src_stride * (dim.count - 1);
        plan->dst_offset += dim.dst_stride * (dim.count - 1);
        dim.src_stride = -dim.src_stride;
        dim.dst_stride = -dim.dst_stride;
    }
    int at = 0;
    while (at < plan->dimensions &&
           magnitude(plan->dim[at].dst_stride) <= magnitude(dim.dst_stride)) {
        at++;
    }
    if (plan->dimensions == CopyPlan::max_dimensions) {
        return false;
    }
    for (int i = plan->dimensions; i > at; i--) {
        plan->dim[i] = plan->dim[i - 1];
    }
    plan->dim[at] = dim;
    plan->dimensions++;
    return true;
}

void remove(CopyPlan *plan, int at) {
    plan->dimensions--;
    for (int i = at; i < plan->dimensions; i++) {
        plan->dim[i] = plan->dim[i + 1];
    }
}

void join_neighbours(CopyPlan *plan) {
    for (int i = 0; i + 1 < plan->dimensions;) {
        if (continues(plan->dim[i], plan->dim[i + 1])) {
            plan->dim[i].count *= plan->dim[i + 1].count;
            remove(plan, i + 1);
        } else {
            i++;
        }
    }
    if (plan->dimensions > 0 && plan->dim[0].src_stride == plan->chunk_bytes &&
        plan->dim[0].dst_stride == plan->chunk_bytes) {
        plan->chunk_bytes *= plan->dim[0].count;
        remove(plan, 0);
    }
}

bool can_be_pitch(const CopyPlan::Dimension &dim, int64_t width, int64_t max_pitch) {
    return dim.src_stride >= width && dim.src_stride <= max_pitch && dim.dst_stride >= width &&
           dim.dst_stride <= max_pitch;
}

/** Whether slices along `dim` can be told in rows of `box`. */
bool can_be_slices(const CopyPlan::Dimension &dim, const CopyBox &box) {
    const bool multiples =
        dim.src_stride % box.src_pitch == 0 && dim.dst_stride % box.dst_pitch == 0;
    return multiples && dim.src_stride / box.src_pitch >= box.rows &&
           dim.dst_stride / box.dst_pitch >= box.rows;
}

/** Take up to two dimensions of the plan into the box; answers with how many. */
int fill_box(const CopyPlan &plan, int64_t max_pitch, CopyBox *box) {
    *box = {plan.chunk_bytes, 1, 1, plan.src_offset, 0, 0, plan.dst_offset, 0, 0};
    box->src_pitch = box->dst_pitch = plan.chunk_bytes;
    box->src_slice = box->dst_slice = plan.chunk_bytes;
    if (plan.dimensions == 0 || !can_be_pitch(plan.dim[0], plan.chunk_bytes, max_pitch)) {
        return 0;
    }
    box->rows = plan.dim[0].count;
    box->src_pitch = plan.dim[0].src_stride;
    box->dst_pitch = plan.dim[0].dst_stride;
    box->src_slice = box->src_pitch * box->rows;
    box->dst_slice = box->dst_pitch * box->rows;
    if (plan.dimensions == 1 || !can_be_slices(plan.dim[1], *box)) {
        return 1;
    }
    box->slices = plan.dim[1].count;
    box->src_slice = plan.dim[1].src_stride;
    box->dst_slice = plan.dim[1].dst_stride;
    return 2;
}

/** Do the box for every combination of the dimensions from `first` to `d`, d outermost. */
int repeat_box(const CopyPlan &plan, int d, int first, CopyBox box, CopyBoxFunction copy,
               void *closure) {
    if (d < first) {
        return copy(closure, box);
    }
    for (int64_t i = 0; i < plan.dim[d].count; i++) {
        if (int code = repeat_box(plan, d - 1, first, box, copy, closure)) {
            return code;
        }
        box.src_offset += plan.dim[d].src_stride;
        box.dst_offset += plan.dim[d].dst_stride;
    }
    return 0;
}

}  // namespace

bool plan_copy(const calotype_buffer_t &src, const calotype_buffer_t &dst, CopyPlan *plan) {
    const int64_t bytes = src.type.bytes();
    *plan = {};
    plan->chunk_bytes = bytes;
    for (int d = 0; d < src.dimensions; d++) {
        const calotype_dimension_t &s = src.dim[d], &t = dst.dim[d];
        const int64_t min = s.min > t.min ? s.min : t.min;
        const int64_t s_end = int64_t(s.min) + s.extent, t_end = int64_t(t.min) + t.extent;
        const int64_t count = (s_end < t_end ? s_end : t_end) - min;
        plan->src_offset += (min - s.min) * s.stride * bytes;
        plan->dst_offset += (min - t.min) * t.stride * bytes;
        if (count <= 0) {
            plan->is_empty = true;
            return true;
        }
        if (count > 1 && !insert(plan, {count, s.stride * bytes, t.stride * bytes})) {
            return false;
        }
    }
    join_neighbours(plan);
    return true;
}

int for_each_box(const CopyPlan &plan, int64_t max_pitch, CopyBoxFunction copy, void *closure) {
    if (plan.is_empty) {
        return 0;
    }
    CopyBox box;
    const int taken = fill_box(plan, max_pitch, &box);
    return repeat_box(plan, plan.dimensions - 1, taken, box, copy, closure);
}

}  // namespace runtime
}  // namespace calotype
