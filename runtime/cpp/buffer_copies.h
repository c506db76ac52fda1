// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory of a Buffer: allocating it, copying elements into it, and the shapes it can be given.
#pragma once

#include <numeric>

#include "buffer_elements.h"

namespace calotype {
namespace Runtime {
namespace internal {

/** Append the extents of a built-in array type, outermost first. */
template<typename Array>
void append_array_sizes(std::vector<int> &sizes) {
    if constexpr (std::is_array<Array>::value) {
        sizes.push_back(int(std::extent<Array>::value));
        append_array_sizes<std::remove_extent_t<Array>>(sizes);
    }
}

/** The host copy of a raw buffer, to be cropped. Owns nothing. */
class HostView : public BufferShape<4> {
public:
    explicit HostView(const calotype_buffer_t &raw) {
        this->copy_raw(raw);
    }
    using BufferShape<4>::crop_host;
};

template<typename T, int Dims, int InClassDimStorage>
class BufferCopies : public BufferElements<T, Dims, InClassDimStorage> {
    using Self = Buffer<T, Dims, InClassDimStorage>;
    using Copy = Buffer<std::remove_const_t<T>, Dims, InClassDimStorage>;

public:
    /** Give up this object's share of its host memory and allocate some for the shape, with these
     * functions, else with those set as default, else with malloc. The host pointer is null if there
     * is none. The device copy stays. */
    void allocate(void *(*allocate_fn)(size_t) = nullptr, void (*deallocate_fn)(void *) = nullptr) {
        check_overflow();
        this->deallocate();
        this->allocate_host(allocate_fn, deallocate_fn);
    }
    /** Assert that the size in bytes is a number that fits. */
    void check_overflow() {
        size_t size = size_t(this->type().bytes());
        for (int d = 0; d < this->dimensions(); d++) {
            size_t extent = size_t(this->buf.dim[d].extent);
            bool overflow = __builtin_mul_overflow(size, extent, &size);
            assert(!overflow && "the size does not fit into an address");
            (void)overflow;
        }
    }
    /** Become a Buffer without shape and memory. */
    void reset() {
        self() = Self();
    }

    /** A Buffer with memory of its own, the same elements, and dimensions in the same order in
     * memory without gaps. The device copy must not be newer. */
    Copy copy(void *(*allocate_fn)(size_t) = nullptr,
              void (*deallocate_fn)(void *) = nullptr) const {
        auto result = Copy::make_with_shape_of(self(), allocate_fn, deallocate_fn);
        result.copy_from(self());
        return result;
    }
    /** The same with the channels of one pixel together. Three dimensions. */
    Copy copy_to_interleaved(void *(*allocate_fn)(size_t) = nullptr,
                             void (*deallocate_fn)(void *) = nullptr) const {
        assert(this->dimensions() == 3 && "only for three dimensions");
        return copy_in_order({2, 0, 1}, allocate_fn, deallocate_fn);
    }
    /** The same with the first dimension innermost, the last one outermost: channels apart. */
    Copy copy_to_planar(void *(*allocate_fn)(size_t) = nullptr,
                        void (*deallocate_fn)(void *) = nullptr) const {
        std::vector<int> order(size_t(this->dimensions()));
        std::iota(order.begin(), order.end(), 0);
        return copy_in_order(order, allocate_fn, deallocate_fn);
    }
    /** A Buffer that shares the memory. */
    Self alias() const {
        return self();
    }

    /** Copy the elements at coordinates that both have, bit by bit: they must have one size. Neither
     * device copy may be the newer one. */
    template<typename T2, int D2, int S2>
    void copy_from(const Buffer<T2, D2, S2> &src) {
        static_assert(!std::is_const<T>::value, "elements to be written cannot be const");
        assert(!this->device_dirty() && !src.device_dirty() &&
               "a device copy is newer: call copy_to_host first");
        assert(this->type().bytes() == src.type().bytes() && "the elements differ in size");
        assert(this->dimensions() == src.dimensions() && "the numbers of dimensions differ");
        HostView to(this->buf), from(*src.raw_buffer());
        for (int d = 0; d < to.dimensions(); d++) {
            int min = std::max(to.min(d), from.min(d));
            int end = std::min(to.min(d) + to.extent(d), from.min(d) + from.extent(d));
            if (end <= min) {
                return;
            }
            to.crop_host(d, min, end - min);
            from.crop_host(d, min, end - min);
        }
        internal::copy_elements(*to.raw_buffer(), *from.raw_buffer());
        this->set_host_dirty();
    }

protected:
    void set_host(const void *data) {
        this->buf.host = static_cast<uint8_t *>(const_cast<void *>(data));
    }
    void set_type(calotype_type_t t) {
        using Elem [[maybe_unused]] = std::remove_const_t<typename Self::not_void_T>;
        assert((std::is_void<T>::value || t == calotype_type_of<Elem>()) &&
               "the element type differs");
        this->buf.type = t;
    }
    void init_dense(calotype_type_t t, const void *data, const std::vector<int> &sizes) {
        assert_dimensions(sizes.size());
        set_type(t);
        this->make_dense_shape(int(sizes.size()), sizes.data());
        set_host(data);
    }
    void init_ordered(calotype_type_t t, const std::vector<int> &sizes,
                      const std::vector<int> &order) {
        assert_dimensions(sizes.size());
        set_type(t);
        this->make_dense_shape(sizes, order);
    }
    void init_shaped(calotype_type_t t, const void *data, int d,
                     const calotype_dimension_t *shape) {
        assert_dimensions(size_t(d));
        set_type(t);
        this->make_shape(d);
        std::copy(shape, shape + d, this->buf.dim);
        set_host(data);
    }
    /** The shape of `like`, without gaps, dimensions in the same order in memory. */
    void init_like(calotype_type_t t, const calotype_buffer_t &like) {
        std::vector<int> sizes, mins;
        for (int d = 0; d < like.dimensions; d++) {
            sizes.push_back(like.dim[d].extent);
            mins.push_back(like.dim[d].min);
        }
        init_ordered(t, sizes, dimensions_by_stride(like));
        this->set_min(mins);
    }
    void allocate_unless_empty() {
        for (int d = 0; d < this->dimensions(); d++) {
            if (this->buf.dim[d].extent == 0) {
                return;
            }
        }
        allocate();
    }

private:
    Self &self() {
        return static_cast<Self &>(*this);
    }
    const Self &self() const {
        return static_cast<const Self &>(*this);
    }
    static void assert_dimensions(size_t dimensions) {
        assert((Dims == AnyDims || size_t(Dims) == dimensions) &&
               "the number of dimensions differs");
        (void)dimensions;
    }

    Copy copy_in_order(const std::vector<int> &order, void *(*allocate_fn)(size_t),
                       void (*deallocate_fn)(void *)) const {
        std::vector<int> sizes, mins;
        for (int d = 0; d < this->dimensions(); d++) {
            sizes.push_back(this->extent(d));
            mins.push_back(this->min(d));
        }
        Copy result;
        result.init_ordered(this->type(), sizes, order);
        result.set_min(mins);
        result.allocate(allocate_fn, deallocate_fn);
        result.copy_from(self());
        return result;
    }
};

}  // namespace internal
}  // namespace Runtime
}  // namespace calotype
