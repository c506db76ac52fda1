// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// calotype::Runtime::Buffer<T, Dims>: a multi-dimensional array to hand to pipelines. Header only;
// C++17; needs nothing linked.
//
//     Buffer<uint8_t> image(640, 480, 3);              // allocates
//     image(x, y, c) = 7;
//     Buffer<const uint8_t> view = image.cropped(0, 10, 20);   // shares the memory
//     int error = blur(image, output);                 // converts to calotype_buffer_t *
//
// T = void leaves the element type, Dims = AnyDims (-1) the number of dimensions, to run time.
// Copies share the memory, which goes with the last of them; copy() copies elements. Misuse of the
// interface is caught by assert().
#pragma once

#include "../abi/type_of.h"
#include "buffer_copies.h"

namespace calotype {
namespace Runtime {

template<typename T = void, int Dims = AnyDims,
         int InClassDimStorage = (Dims == AnyDims ? 4 : (Dims > 1 ? Dims : 1))>
class Buffer : public internal::BufferCopies<T, Dims, InClassDimStorage> {
    using Base = internal::BufferCopies<T, Dims, InClassDimStorage>;
    using typename Base::not_void_T;
    using not_const_T = std::remove_const_t<T>;
    /** Data pointers of constructors that take a type: const where T is. */
    using data_T = std::conditional_t<std::is_const<T>::value, const void, void>;
    static constexpr bool T_is_void = std::is_void<T>::value;

    template<typename T2, int D2, int S2>
    friend class Buffer;
    template<typename T2, int D2, int S2>
    friend class internal::BufferViews;
    template<typename T2, int D2, int S2>
    friend class internal::BufferCopies;

    template<typename... Args>
    using IfInts = std::enable_if_t<(std::is_convertible<Args, int>::value && ...)>;

    /** Whether a Buffer<T2> may alias this object: more const, or with the type forgotten. */
    template<typename T2>
    static constexpr bool can_be_seen_as =
        !std::is_same<T2, T>::value && (std::is_const<T2>::value || !std::is_const<T>::value) &&
        (std::is_void<T2>::value || std::is_same<std::remove_const_t<T2>, not_const_T>::value);

public:
    using ElemType = T;
    static constexpr bool has_static_calotype_type = !T_is_void;
    static constexpr bool has_static_dimensions = Dims != AnyDims;

    static constexpr calotype_type_t static_calotype_type() {
        return calotype_type_of<std::remove_const_t<not_void_T>>();
    }
    static constexpr int static_dimensions() {
        return Dims;
    }

    Buffer() {
        this->buf.type = static_calotype_type();
        this->make_shape(Dims == AnyDims ? 0 : Dims);
    }
    ~Buffer() {
        this->release_memory();
    }

    /** A view of a raw buffer: the shape is copied, the memory stays somebody else's, unless
     * `ownership` says what to do with the device copy in the end. */
    explicit Buffer(const calotype_buffer_t &raw,
                    BufferDeviceOwnership ownership = BufferDeviceOwnership::Unmanaged) {
        assert((T_is_void || raw.type == static_calotype_type()) && "the element type differs");
        assert((Dims == AnyDims || raw.dimensions == Dims) && "the number of dimensions differs");
        this->copy_raw(raw);
        if (raw.device) {
            this->set_device_ownership(ownership);
        }
    }

    Buffer(const Buffer &other) {
        this->copy_raw(other.buf);
        this->share_memory(other);
    }
    Buffer(Buffer &&other) noexcept {
        take(other);
    }
    template<typename T2, int D2, int S2>
    Buffer(const Buffer<T2, D2, S2> &other) {
        assert_can_convert_from(other);
        this->copy_raw(other.buf);
        this->share_memory(other);
    }
    template<typename T2, int D2, int S2>
    Buffer(Buffer<T2, D2, S2> &&other) {
        assert_can_convert_from(other);
        take(other);
    }

    Buffer &operator=(const Buffer &other) {
        return *this = Buffer(other);
    }
    Buffer &operator=(Buffer &&other) noexcept {
        if (this != &other) {
            this->release_memory();
            take(other);
        }
        return *this;
    }
    template<typename T2, int D2, int S2>
    Buffer &operator=(const Buffer<T2, D2, S2> &other) {
        return *this = Buffer(other);
    }
    template<typename T2, int D2, int S2>
    Buffer &operator=(Buffer<T2, D2, S2> &&other) {
        return *this = Buffer(std::move(other));
    }

    /** @name New memory of the given sizes. If one of them is zero nothing is allocated: the Buffer
     * is a bounds query. */
    /**@{*/
    template<typename... Args, typename = IfInts<Args...>>
    Buffer(calotype_type_t t, int first, Args... rest)
        : Buffer(t, std::vector<int>{first, int(rest)...}) {
    }
    explicit Buffer(int first) : Buffer(std::vector<int>{first}) {
    }
    template<typename... Args, typename = IfInts<Args...>>
    Buffer(int first, int second, Args... rest) : Buffer(std::vector<int>{first, second, rest...}) {
    }
    Buffer(calotype_type_t t, const std::vector<int> &sizes) {
        this->init_dense(t, nullptr, sizes);
        this->allocate_unless_empty();
    }
    explicit Buffer(const std::vector<int> &sizes) : Buffer(static_calotype_type(), sizes) {
    }
    /** `storage_order` lists the dimensions from the innermost out. */
    Buffer(calotype_type_t t, const std::vector<int> &sizes,
           const std::vector<int> &storage_order) {
        this->init_ordered(t, sizes, storage_order);
        this->allocate_unless_empty();
    }
    Buffer(const std::vector<int> &sizes, const std::vector<int> &storage_order)
        : Buffer(static_calotype_type(), sizes, storage_order) {
    }
    /**@}*/

    /** @name Memory that somebody else owns */
    /**@{*/
    /** All of a built-in array, the last index innermost. */
    template<typename Array, size_t N>
    explicit Buffer(Array (&values)[N]) {
        std::vector<int> sizes;
        internal::append_array_sizes<Array[N]>(sizes);
        std::reverse(sizes.begin(), sizes.end());
        using Elem = std::remove_all_extents_t<Array>;
        this->init_dense(calotype_type_of<std::remove_const_t<Elem>>(), values, sizes);
    }
    template<typename... Args, typename = IfInts<Args...>>
    Buffer(calotype_type_t t, data_T *data, int first, Args... rest)
        : Buffer(t, data, std::vector<int>{first, int(rest)...}) {
    }
    template<typename... Args, typename = IfInts<Args...>>
    explicit Buffer(T *data, int first, Args... rest)
        : Buffer(data, std::vector<int>{first, int(rest)...}) {
    }
    Buffer(T *data, const std::vector<int> &sizes) : Buffer(static_calotype_type(), data, sizes) {
    }
    Buffer(calotype_type_t t, data_T *data, const std::vector<int> &sizes) {
        this->init_dense(t, data, sizes);
    }
    Buffer(calotype_type_t t, data_T *data, int d, const calotype_dimension_t *shape) {
        this->init_shaped(t, data, d, shape);
    }
    Buffer(calotype_type_t t, data_T *data, const std::vector<calotype_dimension_t> &shape)
        : Buffer(t, data, int(shape.size()), shape.data()) {
    }
    Buffer(T *data, int d, const calotype_dimension_t *shape)
        : Buffer(static_calotype_type(), data, d, shape) {
    }
    Buffer(T *data, const std::vector<calotype_dimension_t> &shape)
        : Buffer(data, int(shape.size()), shape.data()) {
    }
    /**@}*/

    /** @name Three dimensions with the channels of one pixel together in memory */
    /**@{*/
    static Buffer make_interleaved(calotype_type_t t, int width, int height, int channels) {
        static_assert(Dims == AnyDims || Dims == 3, "interleaved buffers have three dimensions");
        return Buffer(t, {width, height, channels}, {2, 0, 1});
    }
    static Buffer make_interleaved(int width, int height, int channels) {
        return make_interleaved(static_calotype_type(), width, height, channels);
    }
    static Buffer make_interleaved(calotype_type_t t, data_T *data, int width, int height,
                                   int channels) {
        static_assert(Dims == AnyDims || Dims == 3, "interleaved buffers have three dimensions");
        Buffer result;
        result.init_ordered(t, {width, height, channels}, {2, 0, 1});
        result.set_host(data);
        return result;
    }
    static Buffer make_interleaved(T *data, int width, int height, int channels) {
        return make_interleaved(static_calotype_type(), data, width, height, channels);
    }
    /**@}*/

    /** @name No dimensions: one element */
    /**@{*/
    static Buffer make_scalar(calotype_type_t t) {
        static_assert(Dims == AnyDims || Dims == 0, "scalar buffers have no dimensions");
        return Buffer(t, std::vector<int>{});
    }
    static Buffer make_scalar() {
        return make_scalar(static_calotype_type());
    }
    static Buffer make_scalar(T *data) {
        static_assert(Dims == AnyDims || Dims == 0, "scalar buffers have no dimensions");
        return Buffer(data, std::vector<int>{});
    }
    /**@}*/

    /** New memory with the mins and extents of `src` and its dimensions in the same order in
     * memory, without gaps. The elements are not set. */
    template<typename T2, int D2, int S2>
    static Buffer make_with_shape_of(const Buffer<T2, D2, S2> &src,
                                     void *(*allocate_fn)(size_t) = nullptr,
                                     void (*deallocate_fn)(void *) = nullptr) {
        Buffer result;
        result.init_like(T_is_void ? src.type() : static_calotype_type(), *src.raw_buffer());
        result.allocate(allocate_fn, deallocate_fn);
        return result;
    }

    /** Whether `other` has the type and dimensions that this kind of Buffer asks for. */
    template<typename T2, int D2, int S2>
    static bool can_convert_from(const Buffer<T2, D2, S2> &other) {
        if (std::is_const<T2>::value && !std::is_const<T>::value) {
            return false;
        }
        bool same_type = T_is_void || other.type() == static_calotype_type();
        return same_type && (Dims == AnyDims || other.dimensions() == Dims);
    }
    /** The same as an assertion, at compile time where that can be known. */
    template<typename T2, int D2, int S2>
    static void assert_can_convert_from(const Buffer<T2, D2, S2> &other) {
        static_assert(std::is_const<T>::value || !std::is_const<T2>::value,
                      "a buffer of const elements cannot become one of elements to be written");
        static_assert(T_is_void || std::is_void<T2>::value ||
                          std::is_same<not_const_T, std::remove_const_t<T2>>::value,
                      "the element types differ");
        static_assert(Dims == AnyDims || D2 == AnyDims || Dims == D2,
                      "the numbers of dimensions differ");
        assert(can_convert_from(other) && "the buffer has another type or number of dimensions");
        (void)other;
    }

    /** @name Seen as another kind of Buffer, without a copy. It must be convertible. */
    /**@{*/
    template<typename T2, int D2 = Dims, int S2 = InClassDimStorage>
    Buffer<T2, D2, S2> &as() & {
        static_assert(S2 == InClassDimStorage, "the storage for dimensions must be the same");
        Buffer<T2, D2, S2>::assert_can_convert_from(*this);
        return *reinterpret_cast<Buffer<T2, D2, S2> *>(this);
    }
    template<typename T2, int D2 = Dims, int S2 = InClassDimStorage>
    const Buffer<T2, D2, S2> &as() const & {
        static_assert(S2 == InClassDimStorage, "the storage for dimensions must be the same");
        Buffer<T2, D2, S2>::assert_can_convert_from(*this);
        return *reinterpret_cast<const Buffer<T2, D2, S2> *>(this);
    }
    template<typename T2, int D2 = Dims, int S2 = InClassDimStorage>
    Buffer<T2, D2, S2> as() && {
        return Buffer<T2, D2, S2>(std::move(*this));
    }
    Buffer<std::add_const_t<T>, Dims, InClassDimStorage> &as_const() & {
        return as<std::add_const_t<T>>();
    }
    const Buffer<std::add_const_t<T>, Dims, InClassDimStorage> &as_const() const & {
        return as<std::add_const_t<T>>();
    }
    Buffer<std::add_const_t<T>, Dims, InClassDimStorage> as_const() && {
        return std::move(*this).template as<std::add_const_t<T>>();
    }
    template<typename T2, typename = std::enable_if_t<can_be_seen_as<T2>>>
    operator Buffer<T2, Dims, InClassDimStorage> &() & {
        return as<T2>();
    }
    /**@}*/

private:
    /** Become what `other` was. Without dimensions no pipeline takes that for a bounds query. */
    template<typename T2, int D2, int S2>
    void take(Buffer<T2, D2, S2> &other) {
        this->copy_raw(other.buf);
        this->take_memory(other);
        other.release_shape();
    }
};

}  // namespace Runtime
}  // namespace calotype
