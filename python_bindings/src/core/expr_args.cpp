// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From Python's values to Exprs, Tuples, loops and coordinates.
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "bindings.h"
#include "call.h"
#include "func_ref.h"

namespace calotype::python {

namespace {

bool is_number(nb::handle h) {
    return PyBool_Check(h.ptr()) || PyLong_Check(h.ptr()) || PyFloat_Check(h.ptr());
}

// numpy.uint8(3) and the like: an array without dimensions, or a number, that knows its type.
bool is_typed_number(nb::handle h) {
    if (nb::inst_check(h) || PyType_Check(h.ptr()) || PyUnicode_Check(h.ptr()) ||
        PyTuple_Check(h.ptr()) || PyList_Check(h.ptr()) || h.is_none()) {
        return false;
    }
    if (!has(h, "dtype") || !has(h, "item")) {
        return false;
    }
    const nb::object dtype = h.attr("dtype");
    if (PyUnicode_Check(dtype.ptr()) || !is_type_like(dtype)) {
        return false;
    }
    const nb::object ndim = nb::steal(PyObject_GetAttrString(h.ptr(), "ndim"));
    const bool is_it =
        ndim.is_valid() && PyLong_Check(ndim.ptr()) && PyLong_AsLong(ndim.ptr()) == 0;
    forget_python_error();
    return is_it;
}

// A class of the user's that stands for several values, as a complex number.
bool is_sequence_of_users(nb::handle h) {
    return !nb::inst_check(h) && !PyUnicode_Check(h.ptr()) && !PyDict_Check(h.ptr()) &&
           PySequence_Check(h.ptr()) && has(h, "__len__") && !has(h, "dtype");
}

bool is_language_value(nb::handle h) {
    return nb::isinstance<Expr>(h) || nb::isinstance<Var>(h) || nb::isinstance<RVar>(h) ||
           nb::isinstance<FuncRef>(h) || nb::isinstance<RDom>(h) || nb::isinstance<Param<>>(h) ||
           nb::isinstance<FuncTupleElementRef>(h) || nb::isinstance<PendingUpdate>(h);
}

Expr typed_number(nb::handle h) {
    const Type t = to_type(h.attr("dtype"));
    nb::object value = h.attr("item")();
    return t.is_float() ? float_constant(nb::cast<double>(nb::float_(value)), t)
                        : int_constant(nb::int_(value), t);
}

Expr from_int(nb::handle h) {
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(h.ptr(), &overflow);
    if (overflow > 0) {
        return int_constant(h, UInt(64));
    }
    call_assert(overflow == 0) << describe(h) << " fits in no integer type";
    return Int(32).can_represent(int64_t(value)) ? Expr(int32_t(value)) : Expr(int64_t(value));
}

}  // namespace

std::string describe(nb::handle h) {
    return described(h.ptr());
}

Expr float_constant(double value, const Type &type) {
    if (type == Float(64)) {
        return Expr(value);
    }
    if (type == Float(32)) {
        return Expr(float(value));
    }
    return cast(type, Expr(value));
}

Expr int_constant(nb::handle value, const Type &type) {
    if (type.is_uint()) {
        const unsigned long long bits = PyLong_AsUnsignedLongLong(value.ptr());
        if (PyErr_Occurred()) {
            PyErr_Clear();
            call_error << describe(value) << " does not fit in " << type;
        }
        return cast(type, Expr(uint64_t(bits)));
    }
    int overflow = 0;
    const long long bits = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
    call_assert(overflow == 0 && type.can_represent(int64_t(bits)))
        << describe(value) << " does not fit in " << type;
    return cast(type, Expr(int64_t(bits)));
}

nb::object plain_number(nb::handle h) {
    const bool is_plain = nb::inst_check(h) || PyLong_Check(h.ptr()) || PyFloat_CheckExact(h.ptr());
    if (!is_plain && is_typed_number(h)) {
        const nb::object dtype = h.attr("dtype");
        // What numpy's functions make of an Expr: an array without dimensions that holds it.
        if (nb::cast<std::string>(nb::str(dtype)) == "object") {
            return h.attr("item")();
        }
        const Type t = to_type(dtype);
        if (t == Int(64) || t == Float(64)) {
            return h.attr("item")();
        }
    }
    return nb::borrow(h);
}

std::optional<int> literal_shift(nb::handle object) {
    const nb::object h = plain_number(object);
    if (!PyLong_Check(h.ptr()) || PyBool_Check(h.ptr())) {
        return {};
    }
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(h.ptr(), &overflow);
    call_assert(overflow == 0 && Int(32).can_represent(int64_t(value)))
        << describe(h) << " is too far to shift";
    return int(value);
}

bool is_expr_like(nb::handle h, bool text) {
    return is_language_value(h) || is_number(h) || (text && PyUnicode_Check(h.ptr())) ||
           is_typed_number(h);
}

Expr to_expr(nb::handle object) {
    const nb::object h = plain_number(object);
    PyObject *p = h.ptr();
    if (nb::isinstance<Expr>(h)) {
        return nb::cast<Expr>(h);
    }
    if (nb::isinstance<Var>(h)) {
        return nb::cast<Var>(h);
    }
    if (PyBool_Check(p)) {
        return Expr(p == Py_True);
    }
    if (PyLong_Check(p)) {
        return from_int(h);
    }
    if (PyFloat_Check(p)) {
        return checked_float32(PyFloat_AsDouble(p));
    }
    if (nb::isinstance<FuncRef>(h)) {
        return nb::cast<const FuncRef &>(h);
    }
    if (nb::isinstance<FuncTupleElementRef>(h)) {
        return nb::cast<const FuncTupleElementRef &>(h);
    }
    if (nb::isinstance<PendingUpdate>(h)) {
        return nb::cast<const PendingUpdate &>(h).as_expr();
    }
    if (nb::isinstance<RVar>(h)) {
        return nb::cast<RVar>(h);
    }
    if (nb::isinstance<RDom>(h)) {
        return nb::cast<RDom>(h);
    }
    if (nb::isinstance<Param<>>(h)) {
        return nb::cast<Param<>>(h);
    }
    call_assert(is_typed_number(h)) << describe(h) << " is no expression";
    return typed_number(h);
}

// True if nine digits say what the number is: such a constant is meant to be rounded to float32.
static bool has_few_digits(double value) {
    char text[40];
    snprintf(text, sizeof(text), "%.9g", value);
    return strtod(text, nullptr) == value;
}

Expr checked_float32(double value) {
    const float rounded = float(value);
    user_assert(!std::isfinite(value) || std::isfinite(rounded))
        << "the constant " << value << " does not fit in float32; write f64(" << value << ")";
    if (std::isfinite(value) && double(rounded) != value && !has_few_digits(value)) {
        const std::string text = nb::cast<std::string>(nb::repr(nb::float_(value)));
        if (PyErr_WarnFormat(PyExc_RuntimeWarning, 1,
                             "the constant %s is rounded to float32; write f64(%s) for a double",
                             text.c_str(), text.c_str()) < 0) {
            nb::raise_python_error();
        }
    }
    return Expr(rounded);
}

Expr to_text(nb::handle h) {
    return PyUnicode_Check(h.ptr()) ? Expr(nb::cast<std::string>(h)) : to_expr(h);
}

static std::vector<Expr> convert_each(nb::handle sequence, Expr (*convert)(nb::handle)) {
    std::vector<Expr> result;
    for (nb::handle h : nb::iter(sequence)) {
        result.push_back(convert(h));
    }
    return result;
}

std::vector<Expr> to_exprs(nb::handle sequence) {
    return convert_each(sequence, to_expr);
}

std::vector<Expr> to_message(nb::handle sequence) {
    return convert_each(sequence, to_text);
}

bool is_tuple_like(nb::handle h) {
    return PyTuple_Check(h.ptr()) || PyList_Check(h.ptr()) || nb::isinstance<FuncRef>(h) ||
           is_sequence_of_users(h);
}

Tuple to_tuple(nb::handle h) {
    return nb::isinstance<FuncRef>(h) ? Tuple(nb::cast<const FuncRef &>(h)) : Tuple(to_exprs(h));
}

std::vector<Expr> to_values(nb::handle h) {
    if (is_expr_like(h) && !nb::isinstance<FuncRef>(h)) {
        return {to_expr(h)};
    }
    call_assert(is_tuple_like(h)) << describe(h) << " is no expression";
    return to_tuple(h).as_vector();
}

bool is_loop_like(nb::handle h) {
    return nb::isinstance<Var>(h) || nb::isinstance<RVar>(h) || nb::isinstance<RDom>(h) ||
           nb::isinstance<VarOrRVar>(h);
}

VarOrRVar to_loop(nb::handle h) {
    if (nb::isinstance<VarOrRVar>(h)) {
        return nb::cast<VarOrRVar>(h);
    }
    if (nb::isinstance<Var>(h)) {
        return nb::cast<Var>(h);
    }
    return nb::isinstance<RVar>(h) ? VarOrRVar(nb::cast<RVar>(h)) : VarOrRVar(nb::cast<RDom>(h));
}

std::vector<Expr> to_coordinates(nb::handle h) {
    std::vector<Expr> result;
    if (PyTuple_Check(h.ptr()) || PyList_Check(h.ptr())) {
        for (nb::handle item : nb::iter(h)) {
            call_assert(is_expr_like(item)) << describe(item) << " is no coordinate";
            result.push_back(to_expr(item));
        }
        return result;
    }
    if (nb::isinstance<RDom>(h) && nb::cast<const RDom &>(h).defined()) {
        const RDom &r = nb::cast<const RDom &>(h);
        for (int i = 0; i < r.dimensions(); i++) {
            result.push_back(r[i]);
        }
        return result;
    }
    call_assert(is_expr_like(h)) << describe(h) << " is no coordinate";
    return {to_expr(h)};
}

namespace {

// A float of Python's that is whole, as 6 / 2 is, stands for that integer.
Expr to_bound(nb::handle h) {
    if (PyFloat_Check(h.ptr())) {
        const double value = PyFloat_AsDouble(h.ptr());
        if (std::trunc(value) == value && std::abs(value) <= INT32_MAX) {
            return Expr(int32_t(value));
        }
    }
    return to_expr(h);
}

}  // namespace

Range to_range(nb::handle h) {
    if (nb::isinstance<Range>(h)) {
        return nb::cast<Range>(h);
    }
    call_assert((PyTuple_Check(h.ptr()) || PyList_Check(h.ptr())) && nb::len(h) == 2)
        << describe(h) << " is no pair of min and extent";
    Range r;
    r.min = h[0].is_none() ? Expr() : to_bound(h[0]);
    r.extent = h[1].is_none() ? Expr() : to_bound(h[1]);
    return r;
}

Region to_region(nb::handle h) {
    call_assert(!nb::inst_check(h)) << describe(h) << " is no list of pairs of min and extent";
    Region region;
    for (nb::handle item : nb::iter(h)) {
        region.push_back(to_range(item));
    }
    return region;
}

}  // namespace calotype::python
