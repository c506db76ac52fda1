// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The operators of Python on everything that can be used as an Expr.
#include <optional>
#include <tuple>

#include "bindings.h"
#include "func_ref.h"

namespace calotype::python {

namespace {

// An operand that is a number of Python takes the type of the other one, as in C++: an int if it
// fits, a float if the other is a double.
Expr operand(nb::handle object, nb::handle other) {
    const nb::object h = plain_number(object);
    PyObject *p = h.ptr();
    const bool is_int = PyLong_Check(p) && !PyBool_Check(p);
    const bool is_float = PyFloat_Check(p);
    if (!is_int && !is_float) {
        return to_expr(h);
    }
    const Type like = to_expr(other).type();
    if (is_float) {
        return like.element_of() == Float(64) ? Expr(PyFloat_AsDouble(p))
                                              : checked_float32(PyFloat_AsDouble(p));
    }
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(p, &overflow);
    const Type t = like.element_of();
    const bool fits = overflow == 0 ? t.can_represent(int64_t(value)) : t == UInt(64);
    if (t.is_int_or_uint() && !t.is_bool() && fits) {
        return int_constant(h, t);
    }
    if (t.is_float() && overflow == 0) {
        return float_constant(double(value), t);
    }
    user_assert(!t.is_int_or_uint() || t.is_bool() || !Int(32).can_represent(int64_t(value)))
        << "the constant " << nb::str(h).c_str() << " does not fit in the " << t
        << " of the other operand";
    return to_expr(h);
}

struct Operands {
    Expr a, b;
    Operands(const ExprArg &x, const ExprArg &y) {
        std::tie(a, b) = operands(x.object, y.object);
    }
    bool are_bools() const {
        return a.type().is_bool() && b.type().is_bool();
    }
};

// All of them by name, until every class has got them.
nb::dict *made = nullptr;

template<typename F>
void define(const char *name, F f) {
    (*made)[name] = nb::cpp_function(f, nb::is_method(), nb::is_operator(), nb::name(name));
}

// The operator, and the one for a left operand that is none of ours.
template<typename F>
void define_both(const std::string &name, F f) {
    define(("__" + name + "__").c_str(), f);
    define(("__r" + name + "__").c_str(), [f](ExprArg a, ExprArg b) { return f(b, a); });
}

Expr floor_divide(const ExprArg &x, const ExprArg &y) {
    Operands o(x, y);
    const Expr quotient = o.a / o.b;
    return quotient.type().is_float() ? floor(quotient) : quotient;
}

void define_arithmetic() {
    define_both("add", [](ExprArg x, ExprArg y) {
        Operands o(x, y);
        return o.a + o.b;
    });
    define_both("sub", [](ExprArg x, ExprArg y) {
        Operands o(x, y);
        return o.a - o.b;
    });
    define_both("mul", [](ExprArg x, ExprArg y) {
        Operands o(x, y);
        return o.a * o.b;
    });
    define_both("truediv", [](ExprArg x, ExprArg y) {
        Operands o(x, y);
        return o.a / o.b;
    });
    define_both("floordiv", [](ExprArg x, ExprArg y) { return floor_divide(x, y); });
    define_both("mod", [](ExprArg x, ExprArg y) {
        Operands o(x, y);
        return o.a % o.b;
    });
    define_both("divmod", [](ExprArg x, ExprArg y) {
        Operands o(x, y);
        return std::make_pair(floor_divide(x, y), o.a % o.b);
    });
    define_both("pow", [](ExprArg x, ExprArg y) { return pow(x, y); });
}

void define_bits() {
    define_both("and", [](ExprArg x, ExprArg y) {
        Operands o(x, y);
        return o.are_bools() ? o.a && o.b : o.a & o.b;
    });
    define_both("or", [](ExprArg x, ExprArg y) {
        Operands o(x, y);
        return o.are_bools() ? o.a || o.b : o.a | o.b;
    });
    define_both("xor", [](ExprArg x, ExprArg y) {
        Operands o(x, y);
        return o.a ^ o.b;
    });
    define_both("lshift", [](ExprArg x, ExprArg y) {
        const std::optional<int> n = literal_shift(y.object);
        return n ? x.get() << *n : x.get() << y.get();
    });
    define_both("rshift", [](ExprArg x, ExprArg y) {
        const std::optional<int> n = literal_shift(y.object);
        return n ? x.get() >> *n : x.get() >> y.get();
    });
}

void define_comparisons() {
    define("__lt__", [](ExprArg x, ExprArg y) {
        Operands o(x, y);
        return o.a < o.b;
    });
    define("__le__", [](ExprArg x, ExprArg y) {
        Operands o(x, y);
        return o.a <= o.b;
    });
    define("__gt__", [](ExprArg x, ExprArg y) {
        Operands o(x, y);
        return o.a > o.b;
    });
    define("__ge__", [](ExprArg x, ExprArg y) {
        Operands o(x, y);
        return o.a >= o.b;
    });
    define("__eq__", [](ExprArg x, ExprArg y) {
        Operands o(x, y);
        return o.a == o.b;
    });
    define("__ne__", [](ExprArg x, ExprArg y) {
        Operands o(x, y);
        return o.a != o.b;
    });
}

void define_unary() {
    define("__neg__", [](ExprArg x) { return -x.get(); });
    define("__pos__", [](ExprArg x) { return x.get(); });
    define("__abs__", [](ExprArg x) { return abs(x); });
    // Not __trunc__, by which int() would ask.
    define("__floor__", [](ExprArg x) { return floor(x); });
    define("__ceil__", [](ExprArg x) { return ceil(x); });
    // No operator: with a number of digits this raises.
    (*made)["__round__"] = nb::cpp_function([](ExprArg x) { return round(x); }, nb::is_method(),
                                            nb::name("__round__"));
    define("__invert__", [](ExprArg x) {
        const Expr e = x;
        return e.type().is_bool() ? !e : ~e;
    });
    (*made)["logical_not"] =
        nb::cpp_function([](ExprArg x) { return !x.get(); }, nb::is_method(),
                         nb::name("logical_not"), header_comment("", "logical_not"));
    define("__bool__", [](nb::handle x) -> bool {
        throw nb::value_error(
            ("an expression of a pipeline cannot be converted to a bool: it has "
             "no value yet. Write a & b, a | b, logical_not(a) and select(c, a, "
             "b) for and, or, not and if; for x < y < z write (x < y) & (y < z)"));
    });
}

// Asked by numpy, for its functions of operands that are not all its own.
void define_numpy() {
    define("__array_ufunc__", [](nb::handle, nb::handle ufunc, nb::handle method, nb::args inputs,
                                 nb::kwargs options) {
        return nb::module_::import_("calotype._ufuncs")
            .attr("apply")(ufunc, method, inputs, options);
    });
    define("__array_function__",
           [](nb::handle, nb::handle function, nb::handle, nb::handle args, nb::handle options) {
               return nb::module_::import_("calotype._ufuncs")
                   .attr("apply_function")(function, args, options);
           });
    // Of the elements of an array of expressions numpy calls methods with the names of its functions.
    for (const char *name :
         {"arccos",  "arccosh", "arcsin",  "arcsinh", "arctan", "arctan2", "arctanh", "cos",
          "cosh",    "deg2rad", "degrees", "exp",     "fabs",   "hypot",   "log",     "rad2deg",
          "radians", "rint",    "sin",     "sinh",    "sqrt",   "tan",     "tanh"}) {
        const std::string doc = std::string("numpy.") + name + "() of this, for arrays of numpy.";
        (*made)[name] = nb::cpp_function(
            [name](nb::handle x, nb::args others) {
                return nb::module_::import_("calotype._ufuncs")
                    .attr("of_element")(name, x, *others);
            },
            nb::is_method(), nb::name(name), doc.c_str());
    }
}

}  // namespace

std::pair<Expr, Expr> operands(nb::handle x, nb::handle y) {
    for (nb::handle h : {x, y}) {
        call_assert(is_expr_like(h)) << describe(h) << " is no expression";
    }
    return {operand(x, y), operand(y, x)};
}

void add_operators(nb::handle cls) {
    if (!made) {
        made = new nb::dict;
        define_arithmetic();
        define_bits();
        define_comparisons();
        define_unary();
        define_numpy();
    }
    for (auto [name, f] : *made) {
        nb::setattr(cls, name, f);
    }
}

void bind_operators(PythonModule &m) {
    delete made;
    made = nullptr;
    m.def(
        "logical_not", [](ExprArg x) { return !x.get(); }, "a"_a);
}

}  // namespace calotype::python
