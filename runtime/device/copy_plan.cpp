// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The plan is made in four steps: clip each dimension to what both buffers have; drop those of one
// element; turn those that run backwards in both; sort by stride and join neighbours that continue
// each other. What is then contiguous becomes the chunk.
#include "runtime/device/copy_plan.h"

namespace calotype::runtime {

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

CopyBox chunk_of(const CopyPlan &plan) {
    const int64_t width = plan.chunk_bytes;
    return {width, 1, 1, plan.src_offset, width, width, plan.dst_offset, width, width};
}

void add_rows(CopyBox *box, const CopyPlan::Dimension &dim) {
    box->rows = dim.count;
    box->src_pitch = dim.src_stride;
    box->dst_pitch = dim.dst_stride;
    box->src_slice = box->src_pitch * box->rows;
    box->dst_slice = box->dst_pitch * box->rows;
}

void add_slices(CopyBox *box, const CopyPlan::Dimension &dim) {
    box->slices = dim.count;
    box->src_slice = dim.src_stride;
    box->dst_slice = dim.dst_stride;
}

/** Take the one or two dimensions out of the plan that make the largest box. */
CopyBox take_box(CopyPlan *plan, int64_t max_pitch) {
    CopyBox best = chunk_of(*plan);
    int best_rows = -1, best_slices = -1;
    for (int i = 0; i < plan->dimensions; i++) {
        CopyBox box = chunk_of(*plan);
        if (!can_be_pitch(plan->dim[i], box.width, max_pitch)) {
            continue;
        }
        add_rows(&box, plan->dim[i]);
        if (box.rows > best.rows * best.slices) {
            best = box;
            best_rows = i;
            best_slices = -1;
        }
        for (int j = i + 1; j < plan->dimensions; j++) {
            if (can_be_slices(plan->dim[j], box) &&
                box.rows * plan->dim[j].count > best.rows * best.slices) {
                best = box;
                add_slices(&best, plan->dim[j]);
                best_rows = i;
                best_slices = j;
            }
        }
    }
    if (best_slices >= 0) {
        remove(plan, best_slices);
    }
    if (best_rows >= 0) {
        remove(plan, best_rows);
    }
    return best;
}

/** Do the box for every combination of the dimensions up to `d`, d outermost. */
int repeat_box(const CopyPlan &plan, int d, CopyBox box, CopyBoxFunction copy) {
    if (d < 0) {
        return copy(box);
    }
    for (int64_t i = 0; i < plan.dim[d].count; i++) {
        if (int code = repeat_box(plan, d - 1, box, copy)) {
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

int for_each_box(const CopyPlan &plan, int64_t max_pitch, CopyBoxFunction copy) {
    if (plan.is_empty) {
        return 0;
    }
    CopyPlan rest = plan;
    const CopyBox box = take_box(&rest, max_pitch);
    return repeat_box(rest, rest.dimensions - 1, box, copy);
}

}  // namespace calotype::runtime
