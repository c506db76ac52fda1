// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Type.
#include "bindings.h"
#include "pickled.h"

namespace calotype::python {

using namespace internal;

namespace {

// 'f', 4 and the like, as numpy and __array_interface__ have them.
Type type_of_kind(char kind, int bytes) {
    switch (kind) {
    case 'b':
        return Bool();
    case 'i':
        return Int(bytes * 8);
    case 'u':
        return UInt(bytes * 8);
    case 'f':
        return Float(bytes * 8);
    default:
        return Type();
    }
}

bool has_kind_and_itemsize(nb::handle h) {
    return has(h, "kind") && has(h, "itemsize");
}

// Numpy's scalar types, as numpy.uint8: each has a dtype attribute only on instances.
bool is_numpy_scalar_type(nb::handle h) {
    return PyType_Check(h.ptr()) && has(h, "dtype") && has(h, "itemsize");
}

// Those of JAX, as jax.numpy.uint8, which are called as numpy's and are none: each has its dtype.
bool is_scalar_type_with_dtype(nb::handle h) {
    return PyType_Check(h.ptr()) && has(h, "dtype") && has_kind_and_itemsize(h.attr("dtype"));
}

// torch.float32: a tensor has an itemsize as well.
bool is_dtype_of_torch(nb::handle h) {
    return has(h, "itemsize") && has(h, "to_complex");
}

bool has_values(const Type &t) {
    if (t.is_float()) {
        return t.bits() == 16 || (!t.is_bfloat() && (t.bits() == 32 || t.bits() == 64));
    }
    return !t.is_int_or_uint() || (t.bits() >= 1 && t.bits() <= 64);
}

Type type_of_dtype(nb::handle dtype) {
    const std::string text = nb::cast<std::string>(nb::str(dtype));
    if (is_dtype_of_torch(dtype)) {
        Type t;
        user_assert(parse_type(text.substr(text.find('.') + 1), &t))
            << "there is no element type like " << text;
        return t;
    }
    if (text == "bfloat16") {
        return BFloat(16);
    }
    const std::string kind = nb::cast<std::string>(dtype.attr("kind"));
    const Type t = type_of_kind(kind.at(0), nb::cast<int>(dtype.attr("itemsize")));
    // Of numpy's: bytes in the other order.
    const bool is_swapped = has(dtype, "isnative") && !nb::cast<bool>(dtype.attr("isnative"));
    user_assert(t.bits() > 0 && has_values(t) && !is_swapped)
        << "there is no element type like " << text;
    return t;
}

// A Type has a byte for its bits and two for its lanes.
void check_size_of_type(int bits, int lanes) {
    user_assert(bits >= 1 && bits <= 64)
        << "a type of " << bits << " bits is asked for, must have from 1 to 64";
    user_assert(lanes >= 1 && lanes <= 65535)
        << "a type of " << lanes << " lanes is asked for, must have from 1 to 65535";
}

Type type_named(const std::string &name) {
    Type t;
    user_assert(parse_type(name, &t))
        << "'" << name << "' is no type: names are as 'uint8', 'float32' or 'bool'";
    return t;
}

const Type &with_limits(const Type &t) {
    user_assert((t.is_int_or_uint() || t.is_float()) && t.bits() > 0 && has_values(t))
        << "type " << t << " has no least and no greatest value";
    return t;
}

}  // namespace

// A name stands for a type wherever one is asked for: what is none is said to be none.
bool is_type_like(nb::handle h) {
    return nb::isinstance<Type>(h) || PyUnicode_Check(h.ptr()) ||
           h.ptr() == reinterpret_cast<PyObject *>(&PyBool_Type) ||
           h.ptr() == reinterpret_cast<PyObject *>(&PyLong_Type) ||
           h.ptr() == reinterpret_cast<PyObject *>(&PyFloat_Type) ||
           h.ptr() == reinterpret_cast<PyObject *>(&PyComplex_Type) || is_numpy_scalar_type(h) ||
           is_scalar_type_with_dtype(h) || has_kind_and_itemsize(h) || is_dtype_of_torch(h);
}

Type to_type(nb::handle h) {
    if (nb::isinstance<Type>(h)) {
        const Type t = nb::cast<Type>(h);
        user_assert(has_values(t)) << "there are no values of type " << t
                                   << ": integers have 1 to 64 bits, floats 16, 32 or 64";
        return t;
    }
    if (PyUnicode_Check(h.ptr())) {
        return type_named(nb::cast<std::string>(h));
    }
    if (h.ptr() == reinterpret_cast<PyObject *>(&PyBool_Type)) {
        return Bool();
    }
    if (h.ptr() == reinterpret_cast<PyObject *>(&PyLong_Type)) {
        return Int(32);
    }
    if (h.ptr() == reinterpret_cast<PyObject *>(&PyFloat_Type)) {
        return Float(32);
    }
    user_assert(h.ptr() != reinterpret_cast<PyObject *>(&PyComplex_Type))
        << "there is no element type like complex";
    if (is_numpy_scalar_type(h)) {
        return type_of_dtype(nb::module_::import_("numpy").attr("dtype")(h));
    }
    if (is_scalar_type_with_dtype(h)) {
        return type_of_dtype(h.attr("dtype"));
    }
    return type_of_dtype(h);
}

namespace {

void bind_constructors(PythonClass<Type> &c) {
    c.def(nb::init<>())
        .def(
            "__init__",
            [](Type *t, calotype_type_code_t code, int bits, int lanes) {
                check_size_of_type(bits, lanes);
                new (t) Type(code, bits, lanes);
            },
            "code"_a, "bits"_a, "lanes"_a = 1)
        .def(
            "__init__", [](Type *t, TypeArg like) { new (t) Type(like); }, "type"_a)
        .def(
            "__init__", [](Type *t, const std::string &name) { new (t) Type(type_named(name)); },
            "type"_a);
}

void bind_questions(PythonClass<Type> &c) {
    c.def("code", &Type::code)
        .def("bits", &Type::bits)
        .def("lanes", &Type::lanes)
        .def("bytes", &Type::bytes, "Bytes of one lane in memory.")
        .def("with_code", &Type::with_code, "code"_a)
        .def(
            "with_bits",
            [](const Type &t, int bits) {
                check_size_of_type(bits, 1);
                return t.with_bits(bits);
            },
            "bits"_a)
        .def(
            "with_lanes",
            [](const Type &t, int lanes) {
                check_size_of_type(64, lanes);
                return t.with_lanes(lanes);
            },
            "lanes"_a)
        .def_prop_ro(
            "dtype",
            [](const Type &t) {
                return nb::module_::import_("calotype._dtypes").attr("dtype_named")(to_string(t));
            },
            "numpy's dtype, so that numpy.empty(3, t) has elements of this type.")
        .def("element_of", &Type::element_of)
        .def("widen", &Type::widen)
        .def("narrow", &Type::narrow)
        .def("is_bool", &Type::is_bool)
        .def("is_vector", &Type::is_vector)
        .def("is_scalar", &Type::is_scalar)
        .def("is_float", &Type::is_float)
        .def("is_bfloat", &Type::is_bfloat)
        .def("is_int", &Type::is_int)
        .def("is_uint", &Type::is_uint)
        .def("is_int_or_uint", &Type::is_int_or_uint)
        .def("is_handle", &Type::is_handle)
        .def("same_handle_type", &Type::same_handle_type, "other"_a)
        .def("can_represent", nb::overload_cast<Type>(&Type::can_represent, nb::const_), "other"_a)
        .def("is_max", nb::overload_cast<uint64_t>(&Type::is_max, nb::const_), "value"_a)
        .def("is_max", nb::overload_cast<int64_t>(&Type::is_max, nb::const_), "value"_a)
        .def("is_min", nb::overload_cast<int64_t>(&Type::is_min, nb::const_), "value"_a)
        .def("max", [](const Type &t) { return with_limits(t).max(); })
        .def("min", [](const Type &t) { return with_limits(t).min(); });
}

void bind_operators(PythonClass<Type> &c) {
    c.def(
         "__eq__", [](const Type &a, const Type &b) { return a == b; }, nb::is_operator())
        .def(
            "__ne__", [](const Type &a, const Type &b) { return a != b; }, nb::is_operator())
        .def(
            "__lt__", [](const Type &a, const Type &b) { return a < b; }, nb::is_operator())
        .def("__hash__", [](const Type &t) { return size_t(t.to_abi().as_u32()); })
        .def("__str__", [](const Type &t) { return to_string(t); })
        .def("__repr__", [](const Type &t) { return "<calotype.Type " + to_string(t) + ">"; });
    make_picklable(
        c,
        [](const Type &t) {
            return std::vector{int(t.code()), t.bits(), t.lanes()};
        },
        [](Type *t, const std::vector<int> &state) {
            new (t) Type(calotype_type_code_t(state.at(0)), state.at(1), state.at(2));
        });
}

// Int(8), UInt(16, 4), Bool(), ...
void bind_makers(PythonModule &m) {
    for (const auto &[name, make] : {std::pair("Int", &Int), std::pair("UInt", &UInt),
                                     std::pair("Float", &Float), std::pair("BFloat", &BFloat)}) {
        m.def(
            name,
            [make = make](int bits, int lanes) {
                check_size_of_type(bits, lanes);
                return make(bits, lanes);
            },
            "bits"_a, "lanes"_a = 1);
    }
    for (const auto &[name, make] : {std::pair(
                                         "Bool", +[](int lanes) { return Bool(lanes); }),
                                     std::pair(
                                         "Handle", +[](int lanes) { return Handle(lanes); })}) {
        m.def(
            name,
            [make = make](int lanes) {
                check_size_of_type(64, lanes);
                return make(lanes);
            },
            "lanes"_a = 1);
    }
}

}  // namespace

void bind_type(PythonModule &m) {
    PythonClass<Type> c(m, "Type", "Code, bits and lanes of a value.");
    bind_constructors(c);
    bind_questions(c);
    bind_operators(c);
    m.def("_type_from_name", &type_named);
    bind_makers(m);
}

}  // namespace calotype::python
