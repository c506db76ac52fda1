// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Buffer: making one, and its shape.
#include "buffer.h"

#include <algorithm>
#include <new>

#include "array.h"
#include "bindings.h"
#include "call.h"

namespace calotype::python {

using namespace internal;

namespace {

// One dimension of a Buffer, which it keeps alive: what b.dim(d) of C++ gives refers to b.
struct Dim {
    Buffer<> buffer;
    int index;

    Runtime::Buffer<>::Dimension now() const {
        check_dimension(buffer, index);
        return buffer.dim(index);
    }
};

std::string describe_buffer(const Buffer<> &b) {
    if (!b.defined()) {
        return "<undefined calotype.Buffer>";
    }
    std::string shape;
    for (int i = 0; i < b.dimensions(); i++) {
        shape += (i > 0 ? ",[" : "[") + std::to_string(b.min(i)) + "," +
                 std::to_string(b.extent(i)) + "," + std::to_string(b.stride(i)) + "]";
    }
    return "<calotype.Buffer of type " + to_string(b.type()) + " shape:[" + shape + "]>";
}

}  // namespace

void check_bytes(const std::vector<int> &sizes, const Type &t) {
    user_assert(t.bits() > 0 && t.is_scalar())
        << "elements of a Buffer are of type " << t << ", must be of a type with one lane";
    // Of them are the memory that a pipeline has, other libraries' arrays and the loops over elements here.
    user_assert((t.bytes() & (t.bytes() - 1)) == 0)
        << "elements of a Buffer are of type " << t << ", of " << t.bytes()
        << " bytes, must be of a type of 1, 2, 4 or 8";
    int64_t bytes = t.bytes();
    for (const int size : sizes) {
        user_assert(!__builtin_mul_overflow(bytes, int64_t(size), &bytes))
            << "a Buffer of " << sizes.size() << " dimensions has more elements of " << t
            << " than there are addresses";
    }
}

void check_sizes(const std::vector<int> &sizes, const Type &t) {
    for (size_t i = 0; i < sizes.size(); i++) {
        user_assert(sizes[i] >= 0)
            << "size " << i << " of a Buffer is " << sizes[i] << ", must be at least 0";
    }
    check_bytes(sizes, t);
}

void check_order(const std::vector<int> &order, size_t dimensions) {
    std::vector<bool> seen(dimensions);
    for (const int d : order) {
        user_assert(d >= 0 && size_t(d) < dimensions && !seen[size_t(d)])
            << "an order of dimensions names " << d << ", must name each of 0 to "
            << int(dimensions) - 1 << " once";
        seen[size_t(d)] = true;
    }
    user_assert(order.size() == dimensions)
        << "an order of dimensions names " << order.size() << ", must name " << dimensions;
}

namespace {

// Becomes a MemoryError.
class NoMemory : public std::bad_alloc {
public:
    explicit NoMemory(const Buffer<> &b) {
        std::ostringstream text;
        text << "there is no memory for buffer " << b.name() << " of type " << b.type() << " and";
        for (int i = 0; i < b.dimensions(); i++) {
            text << (i == 0 ? " " : " times ") << b.dim(i).extent();
        }
        text << " elements";
        text_ = text.str();
    }
    const char *what() const noexcept override {
        return text_.c_str();
    }

private:
    std::string text_;
};

}  // namespace

Buffer<> with_memory(Buffer<> b) {
    if (!b.raw_buffer()->host && b.number_of_elements() > 0) {
        throw NoMemory(b);
    }
    return b;
}

namespace {

void bind_constructors(PythonClass<Buffer<>> &c) {
    c.def(nb::init<>())
        .def(
            "__init__",
            [](Buffer<> *b, const Buffer<> &other, const std::string &name) {
                new (b) Buffer<>(name.empty() || !other.defined()
                                     ? other
                                     : Buffer<>(other.shared_storage(), name));
            },
            "buffer"_a, "name"_a = "")
        .def(
            "__init__",
            [](Buffer<> *b, TypeArg type, SizesArg given, const std::string &name) {
                const std::vector<int> sizes = given;
                check_sizes(sizes, type.get());
                new (b) Buffer<>(with_memory(Buffer<>(type.get(), sizes, name)));
            },
            "type"_a, "sizes"_a, "name"_a = "")
        .def(
            "__init__",
            [](Buffer<> *b, TypeArg type, SizesArg given, const std::vector<int> &storage_order,
               const std::string &name) {
                const std::vector<int> sizes = given;
                check_sizes(sizes, type.get());
                check_order(storage_order, sizes.size());
                new (b) Buffer<>(with_memory(Buffer<>(type.get(), sizes, storage_order, name)));
            },
            "type"_a, "sizes"_a, "storage_order"_a, "name"_a = "")
        .def(
            "__init__",
            [](Buffer<> *b, nb::object array, const std::string &name, bool reverse_axes) {
                if (!is_array_like(array.ptr())) {
                    const std::string advice = nb::isinstance<Type>(array)
                                                   ? ": beside a type there must be a list of sizes"
                                                   : array_advice(array.ptr());
                    throw nb::type_error((describe(array) + " is no array" + advice).c_str());
                }
                new (b) Buffer<>(buffer_of_array(array, name, reverse_axes));
            },
            "buffer"_a.none(), "name"_a = "", "reverse_axes"_a = true,
            nb::sig("def __init__(self, buffer: object, name: str = '', "
                    "reverse_axes: bool = True) -> None"))
        .def_static(
            "make_scalar",
            [](TypeArg t, const std::string &name) {
                check_sizes({}, t.get());
                return Buffer<>::make_scalar(t.get(), name);
            },
            "type"_a, "name"_a = "")
        .def_static(
            "make_interleaved",
            [](TypeArg t, int width, int height, int channels, const std::string &name) {
                check_sizes({width, height, channels}, t.get());
                return with_memory(
                    Buffer<>::make_interleaved(t.get(), width, height, channels, name));
            },
            "type"_a, "width"_a, "height"_a, "channels"_a, "name"_a = "")
        .def_static(
            "make_with_shape_of",
            [](const Buffer<> &src, const std::string &name) {
                return Buffer<>::make_with_shape_of(src, name);
            },
            "src"_a, "name"_a = "")
        .def_static(
            "make_bounds_query",
            [](TypeArg t, SizesArg given, const std::string &name) {
                const std::vector<int> sizes = given;
                check_sizes(sizes, t.get());
                const Runtime::Buffer<> query(t.get().to_abi(), nullptr, sizes);
                return Buffer<>(query, name);
            },
            "type"_a, "sizes"_a, "name"_a = "");
}

void bind_dimension(PythonModule &m) {
    PythonClass<Dim>(m, "BufferDimension", "One dimension of a Buffer.")
        .def("min", [](const Dim &d) { return d.now().min(); })
        .def("max", [](const Dim &d) { return d.now().max(); })
        .def("extent", [](const Dim &d) { return d.now().extent(); })
        .def("stride", [](const Dim &d) { return d.now().stride(); })
        .def("__repr__",
             [](const Dim &d) {
                 return "<calotype.BufferDimension min: " + std::to_string(d.now().min()) +
                        ", extent: " + std::to_string(d.now().extent()) +
                        ", stride: " + std::to_string(d.now().stride()) + ">";
             })
        .def("__iter__", [](const Dim &d) {
            return nb::iter(builtin("range")(d.now().min(), int64_t(d.now().max()) + 1));
        });
}

void bind_queries(PythonClass<Buffer<>> &c) {
    c.def("set_name", &Buffer<>::set_name, "name"_a)
        .def("name", [](const Buffer<> &b) { return b.name(); })
        .def(
            "same_as", [](const Buffer<> &a, const Buffer<> &b) { return a.same_as(b); }, "other"_a)
        .def("defined", [](const Buffer<> &b) { return b.defined(); })
        .def("type", [](const Buffer<> &b) { return b.type(); })
        .def("channels", [](const Buffer<> &b) { return b.channels(); })
        .def("dimensions", [](const Buffer<> &b) { return b.dimensions(); })
        .def("width", [](const Buffer<> &b) { return b.width(); })
        .def("height", [](const Buffer<> &b) { return b.height(); })
        .def("number_of_elements", [](const Buffer<> &b) { return b.number_of_elements(); })
        .def("size_in_bytes", [](const Buffer<> &b) { return b.size_in_bytes(); })
        .def(
            "dim",
            [](const Buffer<> &b, int d) {
                check_dimension(b, d);
                return Dim{b, d};
            },
            "dimension"_a)
        .def(
            "contains",
            [](const Buffer<> &b, const std::vector<int> &at) { return b.contains(at); },
            "coords"_a)
        .def("__repr__", &describe_buffer);
    const std::pair<const char *, std::pair<int, bool>> edges[] = {
        {"left", {0, false}}, {"right", {0, true}}, {"top", {1, false}}, {"bottom", {1, true}}};
    for (const auto &[name, edge] : edges) {
        c.def(name, [d = edge.first, last = edge.second](const Buffer<> &b) {
            check_dimension(b, d);
            return last ? b.dim(d).max() : b.dim(d).min();
        });
    }
}

}  // namespace

void check_dimension(const Buffer<> &b, int d) {
    user_assert(d >= 0 && d < b.dimensions())
        << "buffer " << b.name() << " has " << b.dimensions() << " dimensions, there is no " << d;
}

nb::object builtin(const char *name) {
    return nb::borrow<nb::dict>(PyEval_GetBuiltins())[name];
}

bool is_buffer_like(nb::handle h) {
    return is_buffer(h) || is_array_like(h.ptr());
}

Buffer<> to_buffer(nb::handle h) {
    return is_buffer(h) ? nb::cast<Buffer<>>(h) : buffer_of_array(h, "", true);
}

void bind_buffer(PythonModule &m) {
    bind_dimension(m);
    PythonClass<Buffer<>> c(
        m, "Buffer", nb::type_slots(buffer_slots()),
        "An array, for use in pipelines and as their input and output. It shares "
        "memory with other libraries' arrays.");
    bind_constructors(c);
    bind_queries(c);
    bind_buffer_shape(c);
    bind_buffer_elements(c);
    bind_buffer_arrays(c);
    bind_buffer_dlpack(c);
    bind_buffer_state(c);
}

}  // namespace calotype::python
