// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Buffer: its elements, one by one and all at once.
#include <cstring>
#include <optional>

#include "bindings.h"
#include "buffer.h"
#include "scalar.h"

namespace calotype::python {

namespace {

// What stands between the brackets: a tuple, a list or one coordinate.
nb::tuple as_tuple(nb::handle key) {
    if (PyList_Check(key.ptr())) {
        return nb::tuple(nb::borrow<nb::list>(key));
    }
    return PyTuple_Check(key.ptr()) ? nb::borrow<nb::tuple>(key) : nb::make_tuple(key);
}

bool are_ints(const nb::tuple &key) {
    for (nb::handle h : key) {
        if (nb::inst_check(h) || !PyIndex_Check(h.ptr())) {
            return false;
        }
    }
    return true;
}

void check_host(const Buffer<> &b) {
    user_assert(b.raw_buffer()->host) << "buffer " << b.name() << " has no memory";
    user_assert(!b.device_dirty())
        << "buffer " << b.name() << " is newer on its device: call copy_to_host() first";
}

// As int64: what is asked for its value may do anything, also change the buffer.
std::vector<Py_ssize_t> to_integers(const nb::tuple &key) {
    std::vector<Py_ssize_t> pos;
    for (nb::handle h : key) {
        const Py_ssize_t i = PyNumber_AsSsize_t(h.ptr(), PyExc_IndexError);
        if (i == -1 && PyErr_Occurred()) {
            nb::raise_python_error();
        }
        pos.push_back(i);
    }
    return pos;
}

uint8_t *address_of(const Buffer<> &b, const std::vector<Py_ssize_t> &given) {
    user_assert(b.defined()) << "an undefined Buffer is used";
    call_assert(given.size() == size_t(b.dimensions()))
        << "buffer " << b.name() << " has " << b.dimensions() << " dimensions, " << given.size()
        << " coordinates are given";
    check_host(b);
    std::vector<int> pos;
    for (size_t d = 0; d < given.size(); d++) {
        const Py_ssize_t i = given[d];
        const auto dim = b.dim(int(d));
        if (i < dim.min() || i > dim.max()) {
            throw nb::index_error(("index " + std::to_string(i) + " is out of bounds for axis " +
                                   std::to_string(d) + " with min=" + std::to_string(dim.min()) +
                                   ", extent=" + std::to_string(dim.extent()))
                                      .c_str());
        }
        pos.push_back(int(i));
    }
    return b.raw_buffer()->address_of(pos.data());
}

nb::object get_item(const Buffer<> &b, nb::object key) {
    const nb::tuple coords = as_tuple(key);
    if (!are_ints(coords)) {
        const std::vector<Expr> at = to_coordinates(key);
        return nb::cast(with_call_errors([&] { return b.call(at); }));
    }
    uint64_t bits = 0;
    const uint8_t *from = address_of(b, to_integers(coords));
    std::memcpy(&bits, from, size_t(b.type().bytes()));
    return scalar_object(bits, b.type());
}

// Python alone would begin at 0, and end before where the first coordinate is another.
nb::object iterate(nb::handle self) {
    const Buffer<> &b = nb::cast<const Buffer<> &>(self);
    user_assert(b.defined()) << "an undefined Buffer is used";
    if (b.dimensions() != 1) {
        throw nb::type_error(("buffer " + b.name() + " has " + std::to_string(b.dimensions()) +
                              " dimensions, must have 1 to be iterated over: take its numpy_view()")
                                 .c_str());
    }
    const int64_t min = b.dim(0).min();
    return builtin("map")(self.attr("__getitem__"), builtin("range")(min, min + b.dim(0).extent()));
}

// Python's int and float would read the memory of the Buffer as text.
nb::object to_number(const Buffer<> &b) {
    user_assert(b.defined()) << "an undefined Buffer is used";
    if (b.dimensions() != 0) {
        throw nb::type_error(("buffer " + b.name() + " has " + std::to_string(b.dimensions()) +
                              " dimensions, must have 0 to be a number")
                                 .c_str());
    }
    return get_item(b, nb::make_tuple());
}

void set_item(const Buffer<> &b, nb::object key, nb::object value) {
    const nb::tuple coords = as_tuple(key);
    if (!are_ints(coords)) {
        throw nb::type_error("elements of a Buffer are at integers");
    }
    check_writable(b, "an assignment");
    const std::vector<Py_ssize_t> pos = to_integers(coords);
    const uint64_t bits = scalar_bits(value, b.type(), "an element of buffer " + b.name());
    uint8_t *to = address_of(b, pos);
    std::memcpy(to, &bits, size_t(b.type().bytes()));
    b.raw_buffer()->set_host_dirty(true);
}

// Lets other threads of Python run where there is so much to do that they would notice: to get its lock
// back from them can take longer than to fill a small buffer.
class GilForWork {
public:
    explicit GilForWork(const Buffer<> &b) {
        constexpr size_t many_bytes = 1 << 15;
        if (b.size_in_bytes() > many_bytes) {
            released_.emplace();
        }
    }

private:
    std::optional<ReleasedGil> released_;
};

// The buffer as one of unsigned integers of its size.
template<typename T>
Runtime::Buffer<T> as_integers(const Buffer<> &b) {
    calotype_buffer_t raw = *b.raw_buffer();
    raw.type = calotype_type_of<T>();
    raw.device = 0;
    raw.device_interface = nullptr;
    return Runtime::Buffer<T>(raw);
}

template<typename F>
auto with_integers(const Buffer<> &b, F f) {
    switch (b.type().bytes()) {
    case 1:
        return f(as_integers<uint8_t>(b));
    case 2:
        return f(as_integers<uint16_t>(b));
    case 4:
        return f(as_integers<uint32_t>(b));
    default:
        return f(as_integers<uint64_t>(b));
    }
}

void fill(const Buffer<> &b, nb::object value) {
    check_writable(b, "fill");
    user_assert(b.raw_buffer()->host) << "buffer " << b.name() << " has no memory";
    // The rest of what it is a part of is newer there, and would take the place of what is written.
    user_assert(!b.device_dirty() ||
                b.shared_storage().device_ownership() != Runtime::BufferDeviceOwnership::Cropped)
        << "buffer " << b.name()
        << " is a part of one that is newer on its device: call copy_to_host() of both first";
    const uint64_t bits = scalar_bits(value, b.type(), "fill of buffer " + b.name());
    b.raw_buffer()->set_device_dirty(false);
    const GilForWork without_gil(b);
    with_integers(b, [&](auto buffer) {
        buffer.fill(typename decltype(buffer)::ElemType(bits));
        return true;
    });
    b.raw_buffer()->set_host_dirty(true);
}

bool all_equal(const Buffer<> &b, nb::object value) {
    check_host(b);
    const uint64_t bits = scalar_bits(value, b.type(), "all_equal of buffer " + b.name());
    const GilForWork without_gil(b);
    return with_integers(b, [&](const auto &buffer) {
        using T = typename std::decay_t<decltype(buffer)>::ElemType;
        return buffer.all_equal(T(bits));
    });
}

void for_each_element(const Buffer<> &b, nb::callable f) {
    calotype_buffer_t raw = *b.raw_buffer();
    std::vector<int> pos;
    for (int d = 0; d < raw.dimensions; d++) {
        if (raw.dim[d].extent == 0) {
            return;
        }
        pos.push_back(raw.dim[d].min);
    }
    const std::vector<calotype_dimension_t> shape(raw.dim, raw.dim + raw.dimensions);
    for (;;) {
        f(nb::cast(pos));
        size_t d = 0;
        while (d < pos.size() && ++pos[d] == shape[d].min + shape[d].extent) {
            pos[d] = shape[d].min;
            d++;
        }
        if (d == pos.size()) {
            return;
        }
    }
}

void copy_from(Buffer<> &to, BufferArg from) {
    check_writable(to, "copy_from");
    const Buffer<> source = from;
    user_assert(source.type() == to.type() && source.dimensions() == to.dimensions())
        << "copy_from of a buffer of " << source.dimensions() << " dimensions of " << source.type()
        << " to one of " << to.dimensions() << " of " << to.type();
    check_host(source);
    user_assert(to.raw_buffer()->host) << "buffer " << to.name() << " has no memory";
    const GilForWork without_gil(source);
    to.copy_from(source);
}

Buffer<> copy(const Buffer<> &b) {
    check_host(b);
    const GilForWork without_gil(b);
    return b.copy();
}

}  // namespace

void bind_buffer_elements(PythonClass<Buffer<>> &c) {
    c.def("__getitem__", &get_item, "coords"_a.none(),
          nb::sig("def __getitem__(self, coords: typing.Any) -> typing.Any"))
        .def("__iter__", &iterate, "The elements of a Buffer of one dimension.",
             nb::sig("def __iter__(self) -> collections.abc.Iterator[typing.Any]"))
        .def("__int__", [](const Buffer<> &b) { return nb::int_(to_number(b)); })
        .def("__float__", [](const Buffer<> &b) { return nb::float_(to_number(b)); })
        .def("__setitem__", &set_item, "coords"_a.none(), "value"_a.none())
        .def("fill", &fill, "value"_a.none())
        .def("all_equal", &all_equal, "value"_a.none())
        .def("for_each_element", &for_each_element, "f"_a)
        .def("copy", &copy, "New memory with the same elements.")
        .def("copy_from", &copy_from, "src"_a);
}

}  // namespace calotype::python
