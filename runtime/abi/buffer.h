/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * calotype_buffer_t: a view of a dense or strided array of up to any number of dimensions, on the
 * host, on a device or both. Every pipeline takes its images in this form. The layout is the usual
 * one of the field, field for field, and will not change.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "attributes.h"
#include "type.h"

#ifdef __cplusplus
extern "C" {
#endif

struct calotype_device_interface_t;

/** One dimension of a buffer: coordinates min .. min + extent - 1, neighbours `stride` elements
 * (not bytes) apart. `flags` is 0; it is reserved. */
typedef struct calotype_dimension_t {
#ifdef __cplusplus
    int32_t min = 0, extent = 0, stride = 0;
    uint32_t flags = 0;

    calotype_dimension_t() = default;
    calotype_dimension_t(int32_t min, int32_t extent, int32_t stride, uint32_t flags = 0)
        : min(min), extent(extent), stride(stride), flags(flags) {
    }
    bool operator==(const calotype_dimension_t &o) const {
        return min == o.min && extent == o.extent && stride == o.stride && flags == o.flags;
    }
    bool operator!=(const calotype_dimension_t &other) const {
        return !(*this == other);
    }
#else
    int32_t min, extent, stride;
    uint32_t flags;
#endif
} calotype_dimension_t;

/** Bits of calotype_buffer_t::flags. At most one of the two may be set. */
typedef enum calotype_buffer_flags CALOTYPE_ENUM_BASE(uint64_t){
    calotype_buffer_flag_host_dirty = 1,  /**< the host copy is newer than the device's */
    calotype_buffer_flag_device_dirty = 2 /**< the device copy is newer than the host's */
} calotype_buffer_flags;

typedef struct calotype_buffer_t {
    /** Handle of the device allocation, 0 if there is none. */
    uint64_t device;

    /** Who made `device`; null if there is none. */
    const struct calotype_device_interface_t *device_interface;

    /** Address of the element at the min of every dimension; null if there is no host copy. */
    uint8_t *host;

    /** calotype_buffer_flags. */
    uint64_t flags;

    /** Type of one element. */
    struct calotype_type_t type;

    /** Number of dimensions, and length of `dim`. */
    int32_t dimensions;

    /** The shape. The buffer does not own it. */
    calotype_dimension_t *dim;

    /** Keeps the size a multiple of eight bytes on every machine. */
    void *padding;

#ifdef __cplusplus
    bool get_flag(calotype_buffer_flags flag) const {
        return (flags & uint64_t(flag)) != 0;
    }
    void set_flag(calotype_buffer_flags flag, bool value) {
        flags = value ? flags | uint64_t(flag) : flags & ~uint64_t(flag);
    }
    CALOTYPE_MUST_USE_RESULT bool host_dirty() const {
        return get_flag(calotype_buffer_flag_host_dirty);
    }
    CALOTYPE_MUST_USE_RESULT bool device_dirty() const {
        return get_flag(calotype_buffer_flag_device_dirty);
    }
    void set_host_dirty(bool v = true) {
        set_flag(calotype_buffer_flag_host_dirty, v);
    }
    void set_device_dirty(bool v = true) {
        set_flag(calotype_buffer_flag_device_dirty, v);
    }

    /** Product of the extents: 1 for a buffer without dimensions. */
    size_t number_of_elements() const {
        size_t count = 1;
        for (int d = 0; d < dimensions; d++) {
            count *= size_t(dim[d].extent);
        }
        return count;
    }
    /** Offset from `host`, in elements, of the lowest address in use: 0 or less. */
    ptrdiff_t begin_offset() const {
        ptrdiff_t offset = 0;
        for (int d = 0; d < dimensions; d++) {
            offset += dim[d].stride < 0 ? last_offset(d) : 0;
        }
        return offset;
    }
    /** Offset from `host`, in elements, of one past the highest address in use. */
    ptrdiff_t end_offset() const {
        ptrdiff_t offset = 1;
        for (int d = 0; d < dimensions; d++) {
            offset += dim[d].stride > 0 ? last_offset(d) : 0;
        }
        return offset;
    }
    /** Lowest address in use. */
    uint8_t *begin() const {
        return host + begin_offset() * type.bytes();
    }
    /** One past the highest address in use. */
    uint8_t *end() const {
        return host + end_offset() * type.bytes();
    }
    /** Bytes between begin() and end(), gaps included. */
    size_t size_in_bytes() const {
        return size_t(end_offset() - begin_offset()) * size_t(type.bytes());
    }
    /** Address of the element at `pos`, which has one coordinate a dimension. Not checked. */
    uint8_t *address_of(const int *pos) const {
        ptrdiff_t offset = 0;
        for (int d = 0; d < dimensions; d++) {
            offset += ptrdiff_t(dim[d].stride) * (ptrdiff_t(pos[d]) - dim[d].min);
        }
        return host + offset * type.bytes();
    }
    /** Wait for the device's pending work on this buffer. Returns 0 or an error code.
     * Defined in device_interface.h. */
    inline int device_sync(void *user_context = nullptr);

    /** Whether this asks a pipeline for the region it needs rather than carrying data. */
    bool is_bounds_query() const {
        return host == nullptr && device == 0;
    }

private:
    ptrdiff_t last_offset(int d) const {
        return ptrdiff_t(dim[d].stride) * (ptrdiff_t(dim[d].extent) - 1);
    }
#endif
} calotype_buffer_t;

#ifdef __cplusplus
}
#endif
