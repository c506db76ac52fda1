// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "call.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>
#include <map>

#include "ref.h"

namespace calotype::python {

std::string utf8(PyObject *text) {
    const char *chars = text ? PyUnicode_AsUTF8AndSize(text, nullptr) : nullptr;
    PyErr_Clear();
    return chars ? chars : "?";
}

namespace {

// In one line.
std::string repr_of(PyObject *object) {
    const Ref repr(PyObject_Repr(object));
    forget_python_error();
    const Ref words(repr.get() ? PyUnicode_Split(repr.get(), nullptr, -1) : nullptr);
    const Ref space(PyUnicode_FromString(" "));
    const bool has_lines = words.get() && utf8(repr.get()).find('\n') != std::string::npos;
    const Ref line(has_lines ? PyUnicode_Join(space.get(), words.get()) : nullptr);
    PyErr_Clear();
    return utf8(line.get() ? line.get() : repr.get());
}

}  // namespace

// "3 (int)"
std::string described(PyObject *object) {
    std::string text = repr_of(object);
    if (text.size() > 60) {
        size_t end = 57;
        while ((uint8_t(text[end]) & 0xc0) == 0x80) {
            end--;  // within a character
        }
        text = text.substr(0, end) + "...";
    }
    PyObject *name =
        PyObject_GetAttrString(reinterpret_cast<PyObject *>(Py_TYPE(object)), "__name__");
    text += " (" + utf8(name) + ")";
    Py_XDECREF(name);
    return text;
}

std::string array_advice(PyObject *object) {
    const Ref maker(PyType_Check(object) ? nullptr : attribute_of(object, "__array__"));
    return maker ? "; pass what numpy.asarray() makes of it" : "";
}

std::string quoted(const ParameterInfo &p) {
    return "argument '" + p.name + "'";
}

namespace {

template<typename T>
uint64_t bits_of(T value) {
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(value));
    return bits;
}

[[noreturn]] void is_no_number(PyObject *value, calotype_type_t type, const NumberName &what) {
    // Of one with a conversion of its own that raises, also what it raises.
    const bool is_other = PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_TypeError);
    const std::string raised = is_other ? "; its conversion raises " + take_python_error() : "";
    PyErr_Clear();
    throw ArrayError(what.text() + " is " + described(value) + ", must be a number (" +
                     type_text(type) + ")" + raised);
}

[[noreturn]] void does_not_fit(PyObject *value, calotype_type_t type, const NumberName &what) {
    PyErr_Clear();
    throw ArrayError(what.text() + " is " + described(value) + ", which does not fit in " +
                     type_text(type));
}

// Of a float of 16 bits, rounded to nearest, ties to even.
uint64_t half_bits(double value) {
    const uint64_t sign = std::signbit(value) ? 0x8000 : 0;
    const double size = std::abs(value);
    if (std::isnan(value)) {
        return sign | 0x7e00;
    }
    if (size == 0) {
        return sign;
    }
    if (size >= 65520) {
        return sign | 0x7c00;
    }
    int exponent = 0;
    std::frexp(size, &exponent);
    // Of the last bit; below 2^-14 it stays that of the smallest numbers.
    const int last = std::max(exponent - 11, -24);
    const auto digits = uint64_t(std::nearbyint(std::ldexp(size, -last)));
    return sign | (last == -24 ? digits : (uint64_t(last + 24) << 10) + digits);
}

// Rounded to nearest, ties to even.
uint64_t bfloat_bits(double value) {
    const auto bits = uint32_t(bits_of(float(value)));
    return std::isnan(value) ? 0x7fc0 : (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
}

// numpy's complex numbers have a __float__, which drops the imaginary part.
bool is_complex(PyObject *value) {
    if (PyFloat_Check(value) || PyLong_Check(value)) {
        return false;
    }
    const Ref dtype(attribute_of(value, "dtype"));
    const Ref kind(dtype ? attribute_of(dtype.get(), "kind") : nullptr);
    const bool is_it = kind && utf8(kind.get()) == "c";
    forget_python_error();
    return is_it;
}

uint64_t float_bits(PyObject *value, calotype_type_t type, const NumberName &what) {
    if (is_complex(value)) {
        is_no_number(value, type, what);
    }
    const double d = PyFloat_AsDouble(value);
    if (d == -1.0 && PyErr_Occurred()) {
        if (PyLong_Check(value) && PyErr_ExceptionMatches(PyExc_OverflowError)) {
            does_not_fit(value, type, what);
        }
        is_no_number(value, type, what);
    }
    if (type.bits == 64) {
        return bits_of(d);
    }
    if (type.bits == 32) {
        if (std::isfinite(d) && !std::isfinite(float(d))) {
            does_not_fit(value, type, what);
        }
        return bits_of(float(d));
    }
    return type.code == calotype_type_bfloat ? bfloat_bits(d) : half_bits(d);
}

// As Python's bool is, a bool of numpy is a number: its class alone has no __index__.
PyObject *index_of_bool(PyObject *value) {
    const Ref dtype(attribute_of(value, "dtype"));
    const Ref name(dtype ? PyObject_Str(dtype.get()) : nullptr);
    const Ref ndim(attribute_of(value, "ndim"));
    const bool is_bool = name && utf8(name.get()) == "bool" && ndim && PyLong_Check(ndim.get()) &&
                         PyLong_AsLong(ndim.get()) == 0;
    const Ref as_int(is_bool ? attribute_of(value, "__int__") : nullptr);
    PyObject *index = as_int ? PyObject_CallObject(as_int.get(), nullptr) : nullptr;
    forget_python_error();
    return index;
}

uint64_t integer_bits(PyObject *value, calotype_type_t type, const NumberName &what) {
    PyObject *index = PyNumber_Index(value);
    if (!index && PyErr_ExceptionMatches(PyExc_TypeError)) {
        PyErr_Clear();
        index = index_of_bool(value);
    }
    if (!index) {
        is_no_number(value, type, what);
    }
    int overflow = 0;
    const long long v = PyLong_AsLongLongAndOverflow(index, &overflow);
    uint64_t bits = uint64_t(v);
    bool fits = overflow == 0;
    if (overflow > 0 && type.bits == 64 && type.code != calotype_type_int) {
        bits = PyLong_AsUnsignedLongLong(index);
        fits = !PyErr_Occurred();
    } else if (fits && type.code == calotype_type_int) {
        fits = type.bits == 64 || (v >= -(1LL << (type.bits - 1)) && v < 1LL << (type.bits - 1));
    } else if (fits && type.code == calotype_type_uint) {
        fits = v >= 0 && (type.bits == 64 || v < 1LL << type.bits);
    }
    Py_DECREF(index);
    if (!fits) {
        does_not_fit(value, type, what);
    }
    return bits;
}

}  // namespace

std::string type_text(calotype_type_t t) {
    const char *names[] = {"int", "uint", "float", "handle", "bfloat"};
    if (t.code == calotype_type_uint && t.bits == 1) {
        return "bool";
    }
    return t.code == calotype_type_handle ? "handle" : names[t.code] + std::to_string(t.bits);
}

uint64_t number_bits(PyObject *value, calotype_type_t type, const NumberName &what) {
    if (type.code == calotype_type_float || type.code == calotype_type_bfloat) {
        return float_bits(value, type, what);
    }
    if (type.bits == 1) {
        if (!PyBool_Check(value) && !PyIndex_Check(value) && !PyFloat_Check(value) &&
            !Ref(attribute_of(value, "dtype"))) {
            throw ArrayError(what.text() + " is " + described(value) + ", must be a bool");
        }
        const int is_true = PyObject_IsTrue(value);
        if (is_true < 0) {
            is_no_number(value, type, what);
        }
        return uint64_t(is_true);
    }
    if (type.code == calotype_type_handle && value == Py_None) {
        return 0;
    }
    return integer_bits(value, type, what);
}

namespace {

std::string keyword_of(const std::string &name) {
    std::string result;
    for (size_t i = 0; i < name.size(); i++) {
        if (name[i] == '$') {
            while (i + 1 < name.size() && isdigit(uint8_t(name[i + 1]))) {
                i++;
            }
            continue;
        }
        result += name[i] == '.' ? '_' : name[i];
    }
    return result;
}

}  // namespace

void make_keywords(std::vector<ParameterInfo> &parameters) {
    std::map<std::string, int> count;
    for (const ParameterInfo &p : parameters) {
        count[keyword_of(p.name)]++;
    }
    for (ParameterInfo &p : parameters) {
        const std::string keyword = keyword_of(p.name);
        p.name = count[keyword] == 1 ? keyword : p.name;
    }
}

// ---- Signature ----

Signature::Signature(std::vector<ParameterInfo> parameters) : parameters_(std::move(parameters)) {
    for (ParameterInfo &p : parameters_) {
        p.interned_name = PyUnicode_InternFromString(p.name.c_str());
    }
    if (parameters_.size() > CallArguments::max_arguments) {
        throw ArrayError("a pipeline of " + std::to_string(parameters_.size()) +
                         " arguments cannot be called, at most " +
                         std::to_string(CallArguments::max_arguments));
    }
}

Signature::~Signature() {
    for (ParameterInfo &p : parameters_) {
        Py_XDECREF(p.interned_name);
    }
}

void Signature::bind(PyObject *args, PyObject *keywords, PyObject **bound,
                     PyObject **stream) const {
    const size_t given = size_t(PyTuple_Size(args));
    const size_t count = parameters_.size();
    if (given > count) {
        throw ArrayError("Expected at most " + std::to_string(count) +
                         " positional arguments, but saw " + std::to_string(given) +
                         ". The function takes " + text());
    }
    for (size_t i = 0; i < count; i++) {
        bound[i] = i < given ? PyTuple_GetItem(args, Py_ssize_t(i)) : nullptr;
    }
    const bool has_keywords = keywords && PyDict_Size(keywords) > 0;
    if (has_keywords) {
        bind_keywords(keywords, bound, stream);
    }
    for (size_t i = 0; i < count; i++) {
        if (!bound[i] && !parameters_[i].has_default) {
            throw ArrayError((has_keywords ? "" : count_text(given)) + "Argument " +
                             parameters_[i].name +
                             " was not specified by either positional or keyword argument. The "
                             "function takes " +
                             text());
        }
    }
}

// Of too few arguments by place, unless some may be left out.
std::string Signature::count_text(size_t given) const {
    for (const ParameterInfo &p : parameters_) {
        if (p.has_default) {
            return "";
        }
    }
    return "Expected exactly " + std::to_string(parameters_.size()) +
           " positional arguments, but saw " + std::to_string(given) + ". ";
}

void Signature::bind_keywords(PyObject *keywords, PyObject **bound, PyObject **stream) const {
    PyObject *key = nullptr, *value = nullptr;
    for (Py_ssize_t at = 0; PyDict_Next(keywords, &at, &key, &value);) {
        size_t i = 0;
        while (i < parameters_.size() && key != parameters_[i].interned_name) {
            i++;
        }
        for (size_t j = 0; i == parameters_.size() && j < parameters_.size(); j++) {
            i = PyUnicode_Compare(key, parameters_[j].interned_name) == 0 ? j : i;
        }
        if (i == parameters_.size() && PyUnicode_CompareWithASCIIString(key, "stream") == 0) {
            *stream = value;
            continue;
        }
        if (i == parameters_.size()) {
            throw ArrayError("Unknown argument '" + utf8(key) +
                             "' specified via keyword. The function takes " + text());
        }
        if (bound[i]) {
            throw ArrayError("Argument " + parameters_[i].name +
                             " specified multiple times. It is given by place and by name");
        }
        bound[i] = value;
    }
}

std::string Signature::text() const {
    std::string result = "(";
    for (const ParameterInfo &p : parameters_) {
        result += (result.size() > 1 ? ", " : "") + p.name + ": " + type_text(p.type);
        if (p.is_buffer) {
            result += "[" + std::to_string(p.dimensions) + "]";
        }
    }
    return result + ")";
}

}  // namespace calotype::python
