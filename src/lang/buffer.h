// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// calotype::Buffer<T, Dims>: a shared handle to a Runtime::Buffer that can also be used inside
// pipelines.
#pragma once

#include "lang/buffer_views.h"
#include "lang/var.h"

namespace calotype {

namespace internal {
/// True for a list of ints, perhaps with a name behind it.
template<typename... Args>
struct IntsAndName : std::true_type {};
template<typename First, typename... Rest>
struct IntsAndName<First, Rest...>
    : std::bool_constant<std::is_convertible<First, int>::value
                             ? IntsAndName<Rest...>::value
                             : (sizeof...(Rest) == 0 &&
                                std::is_convertible<First, std::string>::value)> {};

/// Takes such a list apart.
struct SizesAndName {
    std::vector<int> sizes;
    std::string name;
    template<typename... Args>
    explicit SizesAndName(Args &&...args) {
        (add(args), ...);
    }

private:
    template<typename Arg>
    void add(const Arg &arg) {
        if constexpr (std::is_convertible<Arg, int>::value) {
            sizes.push_back(arg);
        } else {
            name = arg;
        }
    }
};
}  // namespace internal

/// Elements of type T (void: known at run time) in Dims dimensions (AnyDims: known at run time).
/// Copies share all.
///
///     Buffer<uint8_t, 2> im(640, 480);
///     im(3, 4) = 7;                     // coordinates that are ints: the element
///     f(x, y) = im(x, y) + 1;           // coordinates that are Exprs: a load inside the pipeline
///
/// A Buffer used in a pipeline that is compiled ahead of time is embedded in the object file.
template<typename T, int Dims>
class Buffer : public internal::BufferViews<T, Dims> {
    template<typename T2, int D2>
    friend class Buffer;
    template<typename T2, int D2>
    friend class internal::BufferViews;
    using Base = internal::BufferViews<T, Dims>;
    using Base::check_convertible;
    using Base::untyped;
    using Typed = Runtime::Buffer<T, Dims, 4>;
    using Untyped = Runtime::Buffer<>;
    using Shape = internal::SizesAndName;
    template<typename... Args>
    using IfShape = std::enable_if_t<internal::IntsAndName<Args...>::value>;
    template<typename... Args>
    static constexpr bool all_ints = (std::is_convertible<Args, int>::value && ...);

    static void *mutable_data(const void *data) {
        return const_cast<void *>(data);
    }
    static Type own_type() {
        return Type(static_calotype_type());
    }
    // With no bits where T is void: any type will do.
    static calotype_type_t runtime_type() {
        return has_static_calotype_type ? static_calotype_type() : calotype_type_t();
    }

public:
    using ElemType = T;
    static constexpr int AnyDims = calotype::AnyDims;
    static constexpr bool has_static_calotype_type = !std::is_void<std::remove_const_t<T>>::value;
    static constexpr bool has_static_dimensions = Dims != AnyDims;
    static constexpr calotype_type_t static_calotype_type() {
        return Typed::static_calotype_type();
    }
    static constexpr int static_dimensions() {
        return Dims;
    }

    Buffer() = default;
    /// A CompileError if the type or the number of dimensions differs.
    template<typename T2, int D2>
    Buffer(const Buffer<T2, D2> &other) : Base(other) {
        static_assert(std::is_const<T>::value || !std::is_const<T2>::value,
                      "a buffer of const elements cannot become one of elements to be written");
        check_convertible(runtime_type(), Dims);
    }
    /// Shares the memory of a Runtime::Buffer.
    template<typename T2, int D2, int S2>
    Buffer(const Runtime::Buffer<T2, D2, S2> &b, const std::string &name = "")
        : Base(internal::untyped_copy(b), name) {
        check_convertible(runtime_type(), Dims);
    }
    /// A handle to an existing image, as the data of a parameter.
    explicit Buffer(const internal::Image &image) : Base(image) {
        check_convertible(runtime_type(), Dims);
    }

    /// @name New memory. Behind the sizes there may be a name.
    /// @{
    template<typename... Args, typename = IfShape<Args...>>
    explicit Buffer(const Type &t, int first, Args... rest) : Buffer(t, Shape(first, rest...)) {
    }
    template<typename... Args, typename = IfShape<Args...>>
    explicit Buffer(int first, Args... rest) : Buffer(own_type(), Shape(first, rest...)) {
    }
    explicit Buffer(const Type &t, const std::vector<int> &sizes, const std::string &name = "")
        : Buffer(Untyped(t.to_abi(), sizes), name) {
    }
    explicit Buffer(const std::vector<int> &sizes, const std::string &name = "")
        : Buffer(own_type(), sizes, name) {
    }
    /// storage_order lists the dimensions from the innermost out.
    explicit Buffer(const Type &t, const std::vector<int> &sizes,
                    const std::vector<int> &storage_order, const std::string &name = "")
        : Buffer(Untyped(t.to_abi(), sizes, storage_order), name) {
    }
    explicit Buffer(const std::vector<int> &sizes, const std::vector<int> &storage_order,
                    const std::string &name = "")
        : Buffer(own_type(), sizes, storage_order, name) {
    }
    /// @}

    /// @name Memory that somebody else owns
    /// @{
    explicit Buffer(const calotype_buffer_t &raw, const std::string &name = "")
        : Buffer(Untyped(raw), name) {
    }
    template<typename Array, size_t N>
    explicit Buffer(Array (&values)[N], const std::string &name = "")
        : Buffer(internal::untyped_copy(Runtime::Buffer<std::remove_all_extents_t<Array>>(values)),
                 name) {
    }
    template<typename... Args, typename = IfShape<Args...>>
    explicit Buffer(const Type &t, T *data, int first, Args... rest)
        : Buffer(t, data, Shape(first, rest...)) {
    }
    template<typename... Args, typename = IfShape<Args...>>
    explicit Buffer(T *data, int first, Args... rest)
        : Buffer(own_type(), data, Shape(first, rest...)) {
    }
    explicit Buffer(const Type &t, T *data, const std::vector<int> &sizes,
                    const std::string &name = "")
        : Buffer(Untyped(t.to_abi(), mutable_data(data), sizes), name) {
    }
    explicit Buffer(T *data, const std::vector<int> &sizes, const std::string &name = "")
        : Buffer(own_type(), data, sizes, name) {
    }
    explicit Buffer(const Type &t, T *data, int d, const calotype_dimension_t *shape,
                    const std::string &name = "")
        : Buffer(Untyped(t.to_abi(), mutable_data(data), d, shape), name) {
    }
    explicit Buffer(T *data, int d, const calotype_dimension_t *shape, const std::string &name = "")
        : Buffer(own_type(), data, d, shape, name) {
    }
    /// @}

    /// @name As of Runtime::Buffer
    /// @{
    static Buffer make_scalar(const std::string &name = "") {
        return Buffer(Untyped::make_scalar(static_calotype_type()), name);
    }
    static Buffer make_scalar(const Type &t, const std::string &name = "") {
        return Buffer(Untyped::make_scalar(t.to_abi()), name);
    }
    static Buffer make_scalar(T *data, const std::string &name = "") {
        return Buffer(own_type(), data, std::vector<int>{}, name);
    }
    static Buffer make_interleaved(int width, int height, int channels,
                                   const std::string &name = "") {
        return Buffer(own_type(), {width, height, channels}, {2, 0, 1}, name);
    }
    static Buffer make_interleaved(const Type &t, int width, int height, int channels,
                                   const std::string &name = "") {
        return Buffer(t, {width, height, channels}, {2, 0, 1}, name);
    }
    static Buffer make_interleaved(T *data, int width, int height, int channels,
                                   const std::string &name = "") {
        return make_interleaved(own_type(), data, width, height, channels, name);
    }
    static Buffer make_interleaved(const Type &t, T *data, int width, int height, int channels,
                                   const std::string &name = "") {
        return Buffer(
            Untyped::make_interleaved(t.to_abi(), mutable_data(data), width, height, channels),
            name);
    }
    template<typename T2, int D2>
    static Buffer make_with_shape_of(const Buffer<T2, D2> &other, const std::string &name = "") {
        const calotype_type_t t =
            has_static_calotype_type ? static_calotype_type() : other.type().to_abi();
        return Buffer(internal::new_buffer_shaped_like(*other.raw_buffer(), t), name);
    }
    template<typename T2, int D2, int S2>
    static Buffer make_with_shape_of(const Runtime::Buffer<T2, D2, S2> &other,
                                     const std::string &name = "") {
        const calotype_type_t t = has_static_calotype_type ? static_calotype_type() : other.type();
        return Buffer(internal::new_buffer_shaped_like(*other.raw_buffer(), t), name);
    }
    /// @}

    /// The Runtime::Buffer inside. It lives as long as a handle does.
    Typed *get() const {
        return reinterpret_cast<Typed *>(&untyped());
    }
    T *data() const {
        return static_cast<T *>(static_cast<void *>(this->raw_buffer()->host));
    }
    T *begin() const {
        return static_cast<T *>(static_cast<void *>(this->raw_buffer()->begin()));
    }
    T *end() const {
        return static_cast<T *>(static_cast<void *>(this->raw_buffer()->end()));
    }

    /// The same buffer as one of another type; a CompileError where it is not.
    template<typename T2, int D2 = Dims>
    Buffer<T2, D2> as() const {
        return Buffer<T2, D2>(*this);
    }
    template<typename T2, int D2>
    static bool can_convert_from(const Buffer<T2, D2> &other) {
        return (!has_static_calotype_type || other.type() == own_type()) &&
               (Dims == AnyDims || other.dimensions() == Dims);
    }

    /// The element at int coordinates.
    template<typename... Args, typename U = T, typename = std::enable_if_t<all_ints<Args...>>>
    std::add_lvalue_reference_t<U> operator()(Args... coords) const {
        static_assert(has_static_calotype_type, "the element type is not known: use Buffer<T>");
        return (*get())(int(coords)...);
    }
    std::add_lvalue_reference_t<T> operator()(const int *pos) const {
        return (*get())(pos);
    }
    /// The element inside of a pipeline.
    template<typename... Args,
             typename =
                 std::enable_if_t<!all_ints<Args...> && (std::is_convertible_v<Args, Expr> && ...)>>
    Expr operator()(Args &&...coords) const {
        return this->call({Expr(std::forward<Args>(coords))...});
    }
    Expr operator()(const std::vector<Expr> &coords) const {
        return this->call(coords);
    }
    Expr operator()(const std::vector<Var> &coords) const {
        return this->call(std::vector<Expr>(coords.begin(), coords.end()));
    }

private:
    Buffer(const Type &t, const Shape &shape) : Buffer(t, shape.sizes, shape.name) {
    }
    Buffer(const Type &t, T *data, const Shape &shape) : Buffer(t, data, shape.sizes, shape.name) {
    }
};

}  // namespace calotype
