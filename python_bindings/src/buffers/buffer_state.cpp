// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Buffers as values: what is pickled and copied of them is coordinates and elements.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <numeric>

#include "bindings.h"
#include "buffer.h"
#include "pickled.h"

namespace calotype::python {

namespace {

// From the dimension whose elements follow one another to the one with the largest steps.
std::vector<int> storage_order(const Buffer<> &b) {
    std::vector<int> order(size_t(b.dimensions()));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int c) {
        return std::abs(b.dim(a).stride()) < std::abs(b.dim(c).stride());
    });
    return order;
}

Buffer<> dense(const Type &t, const std::vector<int> &mins, const std::vector<int> &extents,
               const std::vector<int> &order, const std::string &name) {
    Buffer<> b = with_memory(Buffer<>(t, extents, order, name));
    b.set_min(mins);
    return b;
}

nb::tuple get_state(const Buffer<> &b) {
    if (!b.defined()) {
        return nb::make_tuple();
    }
    user_assert(!b.type().is_handle()) << "a Buffer of handles cannot be pickled or copied";
    const std::string problem = why_not_shown(b);
    user_assert(problem.empty()) << problem;
    std::vector<int> mins, extents;
    for (int d = 0; d < b.dimensions(); d++) {
        mins.push_back(b.dim(d).min());
        extents.push_back(b.dim(d).extent());
    }
    const std::vector<int> order = storage_order(b);
    Buffer<> copy = dense(b.type(), mins, extents, order, b.name());
    {
        const ReleasedGil without_gil;
        copy.copy_from(b);
    }
    const auto *elements = reinterpret_cast<const char *>(copy.raw_buffer()->host);
    return nb::make_tuple(b.type(), mins, extents, order, b.name(),
                          nb::bytes(elements, copy.size_in_bytes()));
}

void set_state(Buffer<> *b, const nb::tuple &state) {
    if (nb::len(state) == 0) {
        new (b) Buffer<>();
        return;
    }
    user_assert(nb::len(state) == 6) << "this is no state of a Buffer";
    const auto elements = nb::cast<nb::bytes>(state[5]);
    const auto extents = nb::cast<std::vector<int>>(state[2]);
    const auto type = nb::cast<Type>(state[0]);
    const auto mins = nb::cast<std::vector<int>>(state[1]);
    const auto order = nb::cast<std::vector<int>>(state[3]);
    check_sizes(extents, type);
    check_order(order, extents.size());
    user_assert(mins.size() == extents.size()) << "a state of a Buffer has " << mins.size()
                                               << " mins and " << extents.size() << " extents";
    const Buffer<> made = dense(type, mins, extents, order, nb::cast<std::string>(state[4]));
    user_assert(made.size_in_bytes() == elements.size())
        << "this state of a Buffer has " << elements.size() << " bytes of elements, must have "
        << made.size_in_bytes();
    if (elements.size() > 0) {
        std::memcpy(made.raw_buffer()->host, elements.data(), elements.size());
    }
    new (b) Buffer<>(made);
}

}  // namespace

void bind_buffer_state(PythonClass<Buffer<>> &c) {
    make_picklable(c, &get_state, &set_state);
}

}  // namespace calotype::python
