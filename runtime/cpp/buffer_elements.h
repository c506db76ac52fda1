// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The elements of a Buffer: access by coordinates, and loops over all of them.
#pragma once

#include <type_traits>
#include <utility>

#include "buffer_loops.h"
#include "buffer_views.h"

namespace calotype {
namespace Runtime {
namespace internal {

template<typename Fn, typename Indices>
struct TakesInts;
template<typename Fn, size_t... I>
struct TakesInts<Fn, std::index_sequence<I...>> {
    static constexpr bool value = std::is_invocable<Fn, decltype(int(I))...>::value;
};
/** Whether Fn can be called with N ints. */
template<typename Fn, int N>
constexpr bool takes_ints = TakesInts<Fn, std::make_index_sequence<size_t(N)>>::value;

/** The smallest number of ints with which Fn can be called; -1 if it takes none up to 16. */
template<typename Fn, int N = 0>
constexpr int ints_taken_by() {
    if constexpr (N > 16) {
        return -1;
    } else if constexpr (takes_ints<Fn, N>) {
        return N;
    } else {
        return ints_taken_by<Fn, N + 1>();
    }
}

/** Whether Fn can be called with the coordinates of an element. */
template<typename Fn>
constexpr bool
    takes_position = ints_taken_by<Fn>() >= 0 || std::is_invocable<Fn, const int *>::value;

/** Loops over dimensions 0 to N - 1 of a shape, dimension 0 innermost, around f(coordinates...).
 * `outer` are the coordinates of the dimensions from N on. */
template<int N, typename Fn, typename... Ints>
void loop_with_ints(const calotype_buffer_t &shape, Fn &f, Ints... outer) {
    if constexpr (N == 0) {
        (void)shape;
        f(outer...);
    } else {
        const int min = shape.dim[N - 1].min, extent = shape.dim[N - 1].extent;
        for (int i = 0; i < extent; i++) {
            loop_with_ints<N - 1>(shape, f, min + i, outer...);
        }
    }
}

/** Call body(pos) for every coordinate of a shape, the first dimension innermost. */
template<typename Body>
void for_each_position(const calotype_buffer_t &shape, Body &&body) {
    const int dimensions = shape.dimensions;
    std::vector<int> pos(size_t(dimensions) + 1);
    for (int d = 0; d < dimensions; d++) {
        if (shape.dim[d].extent <= 0) {
            return;
        }
        pos[size_t(d)] = shape.dim[d].min;
    }
    int d = 0;
    while (d < dimensions || dimensions == 0) {
        body(pos.data());
        for (d = 0; d < dimensions; d++) {
            const calotype_dimension_t &dim = shape.dim[d];
            if (++pos[size_t(d)] < dim.min + dim.extent) {
                break;
            }
            pos[size_t(d)] = dim.min;
        }
        if (dimensions == 0) {
            return;
        }
    }
}

template<typename T, int Dims, int InClassDimStorage>
class BufferElements : public BufferViews<T, Dims, InClassDimStorage> {
    using Self = Buffer<T, Dims, InClassDimStorage>;

protected:
    using not_void_T =
        std::conditional_t<std::is_void<T>::value,
                           std::conditional_t<std::is_const<T>::value, const uint8_t, uint8_t>, T>;

public:
    /** Address of the element at the lowest coordinates. */
    T *data() const {
        return reinterpret_cast<T *>(this->buf.host);
    }
    /** Lowest address in use, and one past the highest. */
    T *begin() const {
        return reinterpret_cast<T *>(this->buf.begin());
    }
    T *end() const {
        return reinterpret_cast<T *>(this->buf.end());
    }

    /** @name Element access
     * The device copy must not be newer. Coordinates left out are the lowest, those beyond the last
     * dimension do not count. With
     * CALOTYPE_RUNTIME_BUFFER_CHECK_INDICES defined an assertion checks the coordinates. An element
     * that may be written to makes the host copy the newer one. */
    /**@{*/
    template<typename... Args>
    const not_void_T &operator()(int first, Args... rest) const {
        return *address_of_element(first, int(rest)...);
    }
    template<typename... Args>
    not_void_T &operator()(int first, Args... rest) {
        note_host_write();
        return *address_of_element(first, int(rest)...);
    }
    const not_void_T &operator()() const {
        return *address_of_element();
    }
    not_void_T &operator()() {
        note_host_write();
        return *address_of_element();
    }
    const not_void_T &operator()(const int *pos) const {
        return *address_of_element_at(pos);
    }
    not_void_T &operator()(const int *pos) {
        note_host_write();
        return *address_of_element_at(pos);
    }
    /**@}*/

    /** Whether every element equals `value`. */
    bool all_equal(not_void_T value) const {
        bool equal = true;
        for_each_value([&](const not_void_T &v) { equal = equal && v == value; });
        return equal;
    }

    /** Set every element. */
    Self &fill(not_void_T value) {
        this->set_host_dirty();
        assert_elements(*this->raw_buffer());
        internal::fill_elements(*this->raw_buffer(), elements_of(*this), value);
        return self();
    }
    /** Set every element to f(coordinates...), or, where f takes none, to what the next call of it
     * gives, in memory order. If f takes fewer coordinates than there are dimensions, only elements
     * at the lowest coordinates of the last dimensions are set. */
    template<typename Fn, typename = std::enable_if_t<takes_position<Fn>>>
    Self &fill(Fn &&f) {
        this->set_host_dirty();
        constexpr int N = number_of_ints<Fn>();
        if constexpr (N == 0) {
            for_each_value([&](not_void_T &v) { v = f(); });
        } else if constexpr (N > 0) {
            assert(N <= this->dimensions() && "the function takes too many coordinates");
            auto assign = [&](auto... pos) {
                (*this)(pos...) = f(pos...);
            };
            if (this->number_of_elements() > 0) {
                loop_with_ints<N>(this->buf, assign);
            }
        } else {
            for_each_position(this->buf, [&](const int *pos) { (*this)(pos) = f(pos); });
        }
        return self();
    }

    /** Call f(element, elements of the other Buffers at the same place...) for every element, in
     * memory order. The other Buffers must have the same extents; their mins do not matter. Of a
     * constant Buffer<T> f may write elements, but not of a Buffer<const T>. */
    template<typename Fn, typename... Others>
    Self &for_each_value(Fn &&f, Others &&...others) {
        note_host_write();
        call_for_each_value(std::forward<Fn>(f), others...);
        return self();
    }
    template<typename Fn, typename... Others>
    const Self &for_each_value(Fn &&f, Others &&...others) const {
        call_for_each_value(std::forward<Fn>(f), others...);
        return self();
    }

    /** Call f for the coordinates of every element, the first dimension innermost. f takes one int
     * a dimension, or a pointer to them. If it takes fewer ints than there are dimensions, there are
     * no loops over the last ones. */
    template<typename Fn>
    Self &for_each_element(Fn &&f) {
        call_for_each_element(f);
        return self();
    }
    template<typename Fn>
    const Self &for_each_element(Fn &&f) const {
        call_for_each_element(f);
        return self();
    }

private:
    Self &self() {
        return static_cast<Self &>(*this);
    }
    const Self &self() const {
        return static_cast<const Self &>(*this);
    }

    /** Where it is known already nothing is written, so that threads may share the buffer. */
    void note_host_write() {
        if constexpr (!std::is_const<T>::value) {
            if (!this->host_dirty()) {
                this->set_host_dirty();
            }
        }
    }

    template<typename... Args>
    not_void_T *address_of_element(Args... args) const {
        assert(!this->device_dirty() && "the device copy is newer: call copy_to_host first");
        static_assert(Dims == AnyDims || int(sizeof...(args)) <= (Dims == 0 ? 1 : Dims),
                      "more coordinates than dimensions");
        if (int(sizeof...(args)) > this->dimensions()) {
            const int pos[] = {int(args)..., 0};
            return reinterpret_cast<not_void_T *>(this->buf.address_of(pos));
        }
#ifdef CALOTYPE_RUNTIME_BUFFER_CHECK_INDICES
        assert(this->contains(args...) && "no element has these coordinates");
#endif
        ptrdiff_t offset = 0;
        const calotype_dimension_t *dim = this->buf.dim;
        ((offset += ptrdiff_t(dim->stride) * (ptrdiff_t(args) - dim->min), dim++), ...);
        return reinterpret_cast<not_void_T *>(this->buf.host) + offset;
    }

    not_void_T *address_of_element_at(const int *pos) const {
        assert(!this->device_dirty() && "the device copy is newer: call copy_to_host first");
#ifdef CALOTYPE_RUNTIME_BUFFER_CHECK_INDICES
        assert(this->contains_first(pos, this->dimensions()) && "no element has these coordinates");
#endif
        return reinterpret_cast<not_void_T *>(this->buf.address_of(pos));
    }

    /** How many ints a function of the coordinates takes; -1 if it takes a pointer to them. */
    template<typename Fn>
    static constexpr int number_of_ints() {
        if constexpr (Dims != AnyDims) {
            if constexpr (takes_ints<Fn, Dims>) {
                return Dims;
            }
        }
        return ints_taken_by<Fn>();
    }

    static void assert_elements([[maybe_unused]] const calotype_buffer_t &buffer) {
        assert((buffer.host || buffer.number_of_elements() == 0) &&
               "there is no host memory: call allocate first");
        assert(!buffer.device_dirty() && "the device copy is newer: call copy_to_host first");
    }

    template<typename Fn, typename... Others>
    void call_for_each_value(Fn &&f, const Others &...others) const {
        for (const calotype_buffer_t *buffer : {this->raw_buffer(), others.raw_buffer()...}) {
            assert_elements(*buffer);
            assert(buffer->dimensions == this->dimensions() && "the shapes differ");
            for (int d = 0; d < this->dimensions(); d++) {
                assert(buffer->dim[d].extent == this->buf.dim[d].extent && "the shapes differ");
            }
        }
        internal::for_each_value_in(std::forward<Fn>(f),
                                    {{this->raw_buffer(), others.raw_buffer()...}},
                                    elements_of(*this), elements_of(others)...);
    }

    /** The elements of a constant Buffer<T> may be written to, those of a Buffer<const T> not. */
    template<typename T2, int D2, int S2>
    static auto *elements_of(const BufferElements<T2, D2, S2> &buffer) {
        using Elem = typename BufferElements<T2, D2, S2>::not_void_T;
        return reinterpret_cast<Elem *>(buffer.data());
    }
    template<typename, int, int>
    friend class BufferElements;

    template<typename Fn>
    void call_for_each_element(Fn &f) const {
        constexpr int N = number_of_ints<Fn>();
        if constexpr (N >= 0) {
            assert(N <= this->dimensions() && "the function takes too many coordinates");
            loop_with_ints<N>(this->buf, f);
        } else {
            for_each_position(this->buf, [&](const int *pos) { f(pos); });
        }
    }
};

}  // namespace internal
}  // namespace Runtime
}  // namespace calotype
