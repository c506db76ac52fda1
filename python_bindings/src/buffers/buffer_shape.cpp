// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Buffer: views of parts of it.
#include "bindings.h"
#include "buffer.h"

namespace calotype::python {

namespace {

using Pairs = std::vector<std::pair<int, int>>;

void check_crop(const Buffer<> &b, int d, int min, int extent) {
    check_dimension(b, d);
    user_assert(extent >= 0 && min >= b.dim(d).min() &&
                int64_t(min) + extent <= int64_t(b.dim(d).min()) + b.dim(d).extent())
        << "a crop of buffer " << b.name() << " covers [" << min << ", "
        << int64_t(min) + extent - 1 << "] in dimension " << d << ", which has [" << b.dim(d).min()
        << ", " << b.dim(d).max() << "]";
}

void check_crop(const Buffer<> &b, const Pairs &rect) {
    for (size_t d = 0; d < rect.size(); d++) {
        check_crop(b, int(d), rect[d].first, rect[d].second);
    }
}

void check_slice(const Buffer<> &b, int d, int pos) {
    check_crop(b, d, pos, 1);
}

void check_new_dimension(const Buffer<> &b, int d) {
    user_assert(d >= 0 && d <= b.dimensions()) << "buffer " << b.name() << " has " << b.dimensions()
                                               << " dimensions, a new one cannot be " << d;
}

void check_count(const Buffer<> &b, size_t count, const char *what) {
    user_assert(count <= size_t(b.dimensions()))
        << what << " gives " << count << " numbers, buffer " << b.name() << " has "
        << b.dimensions() << " dimensions";
}

void check_order(const Buffer<> &b, const std::vector<int> &order) {
    user_assert(order.size() == size_t(b.dimensions()))
        << "an order of dimensions names " << order.size() << ", buffer " << b.name() << " has "
        << b.dimensions();
    std::vector<bool> seen(order.size());
    for (const int d : order) {
        check_dimension(b, d);
        user_assert(!seen[size_t(d)]) << "an order of dimensions names " << d << " twice";
        seen[size_t(d)] = true;
    }
}

void bind_crops(PythonClass<Buffer<>> &c) {
    c.def(
         "crop",
         [](Buffer<> &b, int d, int min, int extent) {
             check_crop(b, d, min, extent);
             b.crop(d, min, extent);
         },
         "dimension"_a, "min"_a, "extent"_a)
        .def(
            "crop",
            [](Buffer<> &b, const Pairs &rect) {
                check_crop(b, rect);
                b.crop(rect);
            },
            "rect"_a)
        .def(
            "cropped",
            [](const Buffer<> &b, int d, int min, int extent) {
                check_crop(b, d, min, extent);
                return b.cropped(d, min, extent);
            },
            "dimension"_a, "min"_a, "extent"_a)
        .def(
            "cropped",
            [](const Buffer<> &b, const Pairs &rect) {
                check_crop(b, rect);
                return b.cropped(rect);
            },
            "rect"_a);
}

void bind_slices(PythonClass<Buffer<>> &c) {
    c.def(
         "slice",
         [](Buffer<> &b, int d, int pos) {
             check_slice(b, d, pos);
             b.slice(d, pos);
         },
         "dimension"_a, "pos"_a)
        .def(
            "slice",
            [](Buffer<> &b, int d) {
                check_dimension(b, d);
                b.slice(d, b.min(d));
            },
            "dimension"_a)
        .def(
            "sliced",
            [](const Buffer<> &b, int d, int pos) {
                check_slice(b, d, pos);
                return b.sliced(d, pos);
            },
            "dimension"_a, "pos"_a)
        .def(
            "sliced",
            [](const Buffer<> &b, int d) {
                check_dimension(b, d);
                return b.sliced(d);
            },
            "dimension"_a)
        .def(
            "embed",
            [](Buffer<> &b, int d, int pos) {
                check_new_dimension(b, d);
                b.embed(d, pos);
            },
            "dimension"_a, "pos"_a = 0)
        .def(
            "embedded",
            [](const Buffer<> &b, int d, int pos) {
                check_new_dimension(b, d);
                return b.embedded(d, pos);
            },
            "dimension"_a, "pos"_a = 0)
        .def("add_dimension", [](Buffer<> &b) { b.add_dimension(); });
}

void bind_moves(PythonClass<Buffer<>> &c) {
    c.def(
         "set_min",
         [](Buffer<> &b, const std::vector<int> &mins) {
             check_count(b, mins.size(), "set_min");
             user_assert(!b.has_device_allocation())
                 << "buffer " << b.name() << " has a device copy and cannot be moved";
             b.set_min(mins);
         },
         "mins"_a)
        .def(
            "translate",
            [](Buffer<> &b, int d, int dx) {
                check_dimension(b, d);
                b.translate(d, dx);
            },
            "dimension"_a, "dx"_a)
        .def(
            "translate",
            [](Buffer<> &b, const std::vector<int> &delta) {
                check_count(b, delta.size(), "translate");
                b.translate(delta);
            },
            "delta"_a)
        .def(
            "translated",
            [](const Buffer<> &b, int d, int dx) {
                check_dimension(b, d);
                return b.translated(d, dx);
            },
            "dimension"_a, "dx"_a)
        .def(
            "translated",
            [](const Buffer<> &b, const std::vector<int> &delta) {
                check_count(b, delta.size(), "translated");
                return b.translated(delta);
            },
            "delta"_a);
}

void bind_orders(PythonClass<Buffer<>> &c) {
    c.def(
         "transpose",
         [](Buffer<> &b, int d1, int d2) {
             check_dimension(b, d1);
             check_dimension(b, d2);
             b.transpose(d1, d2);
         },
         "d1"_a, "d2"_a)
        .def(
            "transpose",
            [](Buffer<> &b, const std::vector<int> &order) {
                check_order(b, order);
                b.transpose(order);
            },
            "order"_a)
        .def(
            "transposed",
            [](const Buffer<> &b, int d1, int d2) {
                check_dimension(b, d1);
                check_dimension(b, d2);
                return b.transposed(d1, d2);
            },
            "d1"_a, "d2"_a)
        .def(
            "transposed",
            [](const Buffer<> &b, const std::vector<int> &order) {
                check_order(b, order);
                return b.transposed(order);
            },
            "order"_a)
        .def("reverse_axes", &with_reversed_axes,
             "A view with the dimensions in the opposite order.");
}

}  // namespace

Buffer<> with_reversed_axes(const Buffer<> &b) {
    std::vector<int> order;
    for (int d = b.dimensions() - 1; d >= 0; d--) {
        order.push_back(d);
    }
    return b.transposed(order);
}

void bind_buffer_shape(PythonClass<Buffer<>> &c) {
    bind_crops(c);
    bind_slices(c);
    bind_moves(c);
    bind_orders(c);
}

}  // namespace calotype::python
