// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The shape of a Buffer: its dimensions, kept inside the object while there are few, and the
// operations that change them in place.
#pragma once

#include <utility>
#include <vector>

#include "buffer_state.h"

namespace calotype {
namespace Runtime {
namespace internal {

/** One dimension, for reading. Iterates over its coordinates: `for (int x : im.dim(0))`. */
class BufferDimension {
    const calotype_dimension_t &d;

public:
    explicit BufferDimension(const calotype_dimension_t &dim) : d(dim) {
    }
    /** The lowest coordinate. */
    int min() const {
        return d.min;
    }
    /** Elements in memory from one coordinate to the next. */
    int stride() const {
        return d.stride;
    }
    int extent() const {
        return d.extent;
    }
    /** The highest coordinate. */
    int max() const {
        return d.min + d.extent - 1;
    }

    struct iterator {
        int val;
        int operator*() const {
            return val;
        }
        bool operator!=(const iterator &other) const {
            return val != other.val;
        }
        iterator &operator++() {
            val++;
            return *this;
        }
    };
    iterator begin() const {
        return {d.min};
    }
    iterator end() const {
        return {d.min + d.extent};
    }
};

template<int InClassDimStorage>
class BufferShape : public BufferState {
    calotype_dimension_t storage[InClassDimStorage > 0 ? InClassDimStorage : 1];

public:
    using Dimension = BufferDimension;

    Dimension dim(int i) const {
        assert(i >= 0 && i < dimensions() && "no such dimension");
        return Dimension(buf.dim[i]);
    }
    int min(int i) const {
        return dim(i).min();
    }
    int extent(int i) const {
        return dim(i).extent();
    }
    int stride(int i) const {
        return dim(i).stride();
    }
    /** @name Conventional names: x, y, channel. Dimensions that do not exist have extent 1. */
    /**@{*/
    int width() const {
        return dimensions() > 0 ? extent(0) : 1;
    }
    int height() const {
        return dimensions() > 1 ? extent(1) : 1;
    }
    int channels() const {
        return dimensions() > 2 ? extent(2) : 1;
    }
    int left() const {
        return dim(0).min();
    }
    int right() const {
        return dim(0).max();
    }
    int top() const {
        return dim(1).min();
    }
    int bottom() const {
        return dim(1).max();
    }
    /**@}*/

    /** Whether the element at these coordinates, the first ones of the dimensions, is inside. */
    bool contains(const std::vector<int> &coords) const {
        return contains_first(coords.data(), int(coords.size()));
    }
    template<typename... Args>
    bool contains(Args... args) const {
        const int coords[] = {int(args)..., 0};
        return contains_first(coords, int(sizeof...(args)));
    }

    /** Exchange two dimensions. The memory stays as it is. */
    void transpose(int d1, int d2) {
        assert(d1 >= 0 && d1 < dimensions() && d2 >= 0 && d2 < dimensions() && "no such dimension");
        std::swap(buf.dim[d1], buf.dim[d2]);
    }
    /** Put the dimensions into another order: dimension i becomes dimension `order[i]`. */
    void transpose(const std::vector<int> &order) {
        assert(is_order_of_dimensions(order) && "the order must name every dimension once");
        const std::vector<calotype_dimension_t> old(buf.dim, buf.dim + dimensions());
        for (size_t i = 0; i < order.size(); i++) {
            buf.dim[order[i]] = old[i];
        }
    }

    /** Move the coordinates of dimension d by delta. The memory stays as it is. */
    void translate(int d, int delta) {
        assert(d >= 0 && d < dimensions() && "no such dimension");
        buf.dim[d].min += delta;
    }
    void translate(const std::vector<int> &delta) {
        for (size_t i = 0; i < delta.size(); i++) {
            translate(int(i), delta[i]);
        }
    }

    /** Give the first dimensions other lowest coordinates. The memory stays as it is. */
    void set_min(const std::vector<int> &mins) {
        assert(int(mins.size()) <= dimensions() && "more numbers than dimensions");
        assert(!has_device_allocation() && "a buffer with a device copy cannot be moved");
        for (size_t i = 0; i < mins.size(); i++) {
            buf.dim[i].min = mins[i];
        }
    }
    template<typename... Args>
    void set_min(Args... args) {
        set_min(std::vector<int>{int(args)...});
    }

    /** Add a dimension of extent one, outside of all others in memory. */
    void add_dimension() {
        ptrdiff_t stride = 1;
        for (int d = 0; d < dimensions(); d++) {
            ptrdiff_t span = ptrdiff_t(buf.dim[d].extent) * buf.dim[d].stride;
            stride = span > stride ? span : stride;
        }
        add_dimension_with_stride(int(stride));
    }
    void add_dimension_with_stride(int stride) {
        const std::vector<calotype_dimension_t> old(buf.dim, buf.dim + dimensions());
        make_shape(int(old.size()) + 1);
        std::copy(old.begin(), old.end(), buf.dim);
        buf.dim[old.size()] = {0, 1, stride};
    }

protected:
    BufferShape() {
        buf.dim = storage;
    }
    ~BufferShape() {
        release_shape();
    }

    /** Make room for so many dimensions, in the place of those that there are. */
    void make_shape(int dimensions) {
        release_shape();
        if (dimensions > InClassDimStorage) {
            buf.dim = new calotype_dimension_t[size_t(dimensions)];
        }
        buf.dimensions = dimensions;
    }

    void release_shape() {
        if (buf.dim != storage) {
            delete[] buf.dim;
        }
        buf.dim = storage;
        buf.dimensions = 0;
    }

    /** Take over all fields of a raw buffer, its shape copied. Releases nothing. */
    void copy_raw(const calotype_buffer_t &from) {
        make_shape(from.dimensions);
        std::copy(from.dim, from.dim + from.dimensions, buf.dim);
        calotype_dimension_t *const dim = buf.dim;
        buf = from;
        buf.dim = dim;
    }

    /** Dense extents, the first dimension innermost. */
    void make_dense_shape(int count, const int *sizes) {
        make_shape(count);
        ptrdiff_t stride = 1;
        for (int d = 0; d < count; d++) {
            buf.dim[d] = {0, sizes[d], int(stride)};
            stride *= sizes[d];
        }
    }

    /** Dense in the order given: order[0] is innermost, and so on. */
    void make_dense_shape(const std::vector<int> &sizes, const std::vector<int> &order) {
        assert(order.size() == sizes.size() && "the order must name every dimension once");
        make_shape(int(sizes.size()));
        ptrdiff_t stride = 1;
        for (int d : order) {
            assert(d >= 0 && size_t(d) < sizes.size() && "no such dimension");
            buf.dim[d] = {0, sizes[size_t(d)], int(stride)};
            stride *= sizes[size_t(d)];
        }
    }

    /** Restrict dimension d in the host copy. */
    void crop_host(int d, int new_min, int new_extent) {
        assert(d >= 0 && d < dimensions() && "no such dimension");
        calotype_dimension_t &dim = buf.dim[d];
        assert(new_min >= dim.min && "the crop begins before the buffer");
        assert(ptrdiff_t(new_min) + new_extent <= ptrdiff_t(dim.min) + dim.extent &&
               "the crop ends after the buffer");
        if (buf.host) {
            buf.host += ptrdiff_t(new_min - dim.min) * dim.stride * buf.type.bytes();
        }
        dim.min = new_min;
        dim.extent = new_extent;
    }

    /** Fix dimension d at a coordinate in the host copy, and remove it. */
    void slice_host(int d, int pos) {
        crop_host(d, pos, 1);
        for (int i = d; i + 1 < dimensions(); i++) {
            buf.dim[i] = buf.dim[i + 1];
        }
        buf.dimensions--;
    }

    /** Insert a dimension of extent one at index d with this coordinate. */
    void embed_in_place(int d, int pos) {
        assert(d >= 0 && d <= dimensions() && "no such dimension");
        add_dimension();
        translate(dimensions() - 1, pos);
        for (int i = dimensions() - 1; i > d; i--) {
            transpose(i, i - 1);
        }
    }

    /** Whether these coordinates of the first dimensions are inside. */
    bool contains_first(const int *coords, int count) const {
        assert(count <= dimensions() && "more coordinates than dimensions");
        for (int d = 0; d < count; d++) {
            ptrdiff_t offset = ptrdiff_t(coords[d]) - buf.dim[d].min;
            if (offset < 0 || offset >= buf.dim[d].extent) {
                return false;
            }
        }
        return true;
    }

private:
    bool is_order_of_dimensions(const std::vector<int> &order) const {
        std::vector<bool> named(size_t(dimensions()), false);
        for (int d : order) {
            if (d < 0 || d >= dimensions() || named[size_t(d)]) {
                return false;
            }
            named[size_t(d)] = true;
        }
        return order.size() == named.size();
    }
};

}  // namespace internal
}  // namespace Runtime
}  // namespace calotype
