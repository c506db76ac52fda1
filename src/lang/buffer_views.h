// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// BufferViews: the operations of Buffer<T, Dims> that give other buffers or go over the elements.
#pragma once

#include "lang/buffer_base.h"

namespace calotype {

constexpr int AnyDims = Runtime::AnyDims;

template<typename T = void, int Dims = AnyDims>
class Buffer;

namespace internal {

/// Another handle to the memory of a buffer. That T is const is known to Buffer<T> alone.
template<typename T, int Dims, int Storage>
Runtime::Buffer<> untyped_copy(const Runtime::Buffer<T, Dims, Storage> &b) {
    return Runtime::Buffer<>(
        reinterpret_cast<const Runtime::Buffer<std::remove_const_t<T>, Dims, Storage> &>(b));
}

/// Base of Buffer<T, Dims>; see Runtime::Buffer for what each does.
template<typename T, int Dims>
class BufferViews : public BufferBase {
    using Self = Buffer<T, Dims>;

public:
    /// Views of the same memory as new handles.
    Self cropped(int d, int min, int extent) const {
        return Self(untyped().cropped(d, min, extent), "");
    }
    Self cropped(const std::vector<std::pair<int, int>> &rect) const {
        return Self(untyped().cropped(rect), "");
    }
    Buffer<T, Dims == AnyDims ? AnyDims : Dims - 1> sliced(int d, int pos) const {
        return {untyped().sliced(d, pos), ""};
    }
    Buffer<T, Dims == AnyDims ? AnyDims : Dims - 1> sliced(int d) const {
        return sliced(d, min(d));
    }
    Buffer<T, Dims == AnyDims ? AnyDims : Dims + 1> embedded(int d, int pos = 0) const {
        return {untyped().embedded(d, pos), ""};
    }
    Self translated(int d, int delta) const {
        return Self(untyped().translated(d, delta), "");
    }
    Self translated(const std::vector<int> &delta) const {
        return Self(untyped().translated(delta), "");
    }
    Self transposed(int d1, int d2) const {
        return Self(untyped().transposed(d1, d2), "");
    }
    Self transposed(const std::vector<int> &order) const {
        return Self(untyped().transposed(order), "");
    }
    void slice(int d, int pos) {
        static_assert(Dims == AnyDims, "the number of dimensions is fixed: use sliced()");
        untyped().slice(d, pos);
    }
    void slice(int d) {
        slice(d, min(d));
    }
    void embed(int d, int pos = 0) {
        static_assert(Dims == AnyDims, "the number of dimensions is fixed: use embedded()");
        untyped().embed(d, pos);
    }
    void add_dimension() {
        static_assert(Dims == AnyDims, "the number of dimensions is fixed");
        untyped().add_dimension();
    }

    /// New memory with the same elements.
    Buffer<std::remove_const_t<T>, Dims> copy() const {
        return {untyped().copy(), ""};
    }
    template<typename T2, int D2>
    void copy_from(const Buffer<T2, D2> &other) {
        untyped().copy_from(other.shared_storage());
    }
    template<typename T2, int D2, int S2>
    void copy_from(const Runtime::Buffer<T2, D2, S2> &other) {
        untyped().copy_from(untyped_copy(other));
    }
    template<typename... Args>
    Self &fill(Args &&...args) {
        self().get()->fill(std::forward<Args>(args)...);
        return self();
    }
    template<typename V>
    bool all_equal(V value) const {
        return self().get()->all_equal(value);
    }
    template<typename Fn, typename... Others>
    const Self &for_each_value(Fn &&f, Others &&...others) const {
        self().get()->for_each_value(std::forward<Fn>(f), *others.get()...);
        return self();
    }
    template<typename Fn>
    const Self &for_each_element(Fn &&f) const {
        self().get()->for_each_element(std::forward<Fn>(f));
        return self();
    }

protected:
    using BufferBase::BufferBase;
    BufferViews() = default;
    explicit BufferViews(const BufferBase &other) : BufferBase(other) {
    }

private:
    Self &self() {
        return static_cast<Self &>(*this);
    }
    const Self &self() const {
        return static_cast<const Self &>(*this);
    }
};

}  // namespace internal
}  // namespace calotype
