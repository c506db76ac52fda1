// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Views of a Buffer: the same memory with a smaller, moved or reordered shape. Each operation comes
// as a verb that changes the Buffer itself, and as a participle that leaves it and returns the
// view.
#pragma once

#include <type_traits>
#include <utility>
#include <vector>

#include "buffer_shape.h"

namespace calotype {
namespace Runtime {

template<typename T, int Dims, int InClassDimStorage>
class Buffer;

/** Number of dimensions of a Buffer that can have any number. */
constexpr int AnyDims = -1;

namespace internal {

/** The device copy of a view, which keeps alive what it is a view of. */
template<typename Whole>
struct CroppedAllocation final : DeviceAllocation {
    Whole whole;
    explicit CroppedAllocation(const Whole &whole)
        : DeviceAllocation(BufferDeviceOwnership::Cropped), whole(whole) {
    }
};

template<typename T, int Dims, int InClassDimStorage>
class BufferViews : public BufferShape<InClassDimStorage> {
    using Self = Buffer<T, Dims, InClassDimStorage>;
    using Sliced = Buffer<T, (Dims == AnyDims ? AnyDims : Dims - 1), InClassDimStorage>;
    using Embedded = Buffer<T, (Dims == AnyDims ? AnyDims : Dims + 1), InClassDimStorage>;

public:
    /** Restrict dimension d to new_min .. new_min + new_extent - 1, which must lie inside. */
    Self cropped(int d, int new_min, int new_extent) const {
        Self view = host_view();
        view.crop_host(d, new_min, new_extent);
        crop_device_for(view);
        return view;
    }
    /** The same for the first dimensions: pairs of min and extent. */
    Self cropped(const std::vector<std::pair<int, int>> &rect) const {
        Self view = host_view();
        for (size_t i = 0; i < rect.size(); i++) {
            view.crop_host(int(i), rect[i].first, rect[i].second);
        }
        crop_device_for(view);
        return view;
    }
    void crop(int d, int new_min, int new_extent) {
        if (this->has_device_allocation()) {
            self() = cropped(d, new_min, new_extent);
        } else {
            this->crop_host(d, new_min, new_extent);
        }
    }
    void crop(const std::vector<std::pair<int, int>> &rect) {
        assert(int(rect.size()) <= this->dimensions() && "more ranges than dimensions");
        self() = cropped(rect);
    }

    /** Move the coordinates of dimension d by delta. */
    Self translated(int d, int delta) const {
        Self view(self());
        view.translate(d, delta);
        return view;
    }
    Self translated(const std::vector<int> &delta) const {
        Self view(self());
        view.translate(delta);
        return view;
    }

    /** Exchange two dimensions. */
    Self transposed(int d1, int d2) const {
        Self view(self());
        view.transpose(d1, d2);
        return view;
    }
    Self transposed(const std::vector<int> &order) const {
        Self view(self());
        view.transpose(order);
        return view;
    }

    /** Fix dimension d at coordinate pos and remove it. */
    Sliced sliced(int d, int pos) const {
        static_assert(Dims == AnyDims || Dims > 0, "a buffer without dimensions has no slices");
        Buffer<T, AnyDims, InClassDimStorage> view(host_view());
        view.slice_host(d, pos);
        if (this->has_device_allocation() &&
            this->buf.device_interface->device_slice(nullptr, &this->buf, d, pos, &view.buf) == 0) {
            keep_alive_for(view);
        }
        return Sliced(std::move(view));
    }
    /** The same at the lowest coordinate. */
    Sliced sliced(int d) const {
        return sliced(d, this->dim(d).min());
    }
    void slice(int d, int pos) {
        static_assert(Dims == AnyDims, "the number of dimensions is fixed: use sliced()");
        if (this->has_device_allocation()) {
            self() = sliced(d, pos);
        } else {
            this->slice_host(d, pos);
        }
    }
    void slice(int d) {
        slice(d, this->dim(d).min());
    }

    /** Insert a dimension of extent one at index d, at coordinate pos: the inverse of slicing. */
    Embedded embedded(int d, int pos = 0) const {
        Buffer<T, AnyDims, InClassDimStorage> view(self());
        view.embed(d, pos);
        return Embedded(std::move(view));
    }
    void embed(int d, int pos = 0) {
        static_assert(Dims == AnyDims, "the number of dimensions is fixed: use embedded()");
        this->embed_in_place(d, pos);
    }

    void add_dimension() {
        static_assert(Dims == AnyDims, "the number of dimensions is fixed");
        BufferShape<InClassDimStorage>::add_dimension();
    }
    void add_dimension_with_stride(int stride) {
        static_assert(Dims == AnyDims, "the number of dimensions is fixed");
        BufferShape<InClassDimStorage>::add_dimension_with_stride(stride);
    }

private:
    Self &self() {
        return static_cast<Self &>(*this);
    }
    const Self &self() const {
        return static_cast<const Self &>(*this);
    }

    Self host_view() const {
        Self view;
        view.copy_raw(this->buf);
        view.share_host_memory(*this);
        return view;
    }

    /** Note that `view`, whose device fields are set, is a part of this Buffer. */
    template<typename View>
    void keep_alive_for(View &view) const {
        view.device_allocation = new CroppedAllocation<Self>(self());
        view.buf.set_device_dirty(this->device_dirty());
    }

    /** Give a view of the host copy the same part of the device copy. */
    void crop_device_for(Self &view) const {
        if (this->has_device_allocation() &&
            this->buf.device_interface->device_crop(nullptr, &this->buf, &view.buf) == 0) {
            keep_alive_for(view);
        }
    }

    template<typename, int, int>
    friend class BufferViews;
};

}  // namespace internal
}  // namespace Runtime
}  // namespace calotype
