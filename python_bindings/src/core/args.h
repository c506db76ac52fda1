// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What functions of the module take in place of the classes of the language, so that Python's own
// values can be passed: numbers for Exprs, Vars and RVars for loops, lists for Tuples.
//
// Each holds the Python object, whose kind has been looked at, and converts it where it is used:
// there an error can be thrown. While kinds are looked at nothing is thrown but what ends programs, as
// KeyboardInterrupt that came while an attribute was asked for.
#pragma once

#include <optional>

#include <calotype/calotype.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>

#include "call_error.h"
#include "documented.h"
#include "gil.h"
#include "list_caster.h"
#include "text.h"

namespace calotype::python {

namespace nb = nanobind;
using namespace nb::literals;

/// True for Expr, Var, RVar, RDom, Param, a Func at coordinates, numbers and (with `text`) strings.
bool is_expr_like(nb::handle h, bool text = false);

/// The number of Python that a scalar of numpy's default types, int64 and float64, stands for; all
/// else as it is. What numpy computes from Python's numbers has these types: nobody chose them.
nb::object plain_number(nb::handle h);
/// The Expr that it stands for. Python's int is an int32 where it fits, else an int64; its float a
/// float32, with a warning where that loses digits.
Expr to_expr(nb::handle h);
std::vector<Expr> to_exprs(nb::handle sequence);
/// The same, and a str is a text, of a message.
Expr to_text(nb::handle h);
std::vector<Expr> to_message(nb::handle sequence);
/// A float constant of that value, double where `type` is.
Expr float_constant(double value, const Type &type);
Expr int_constant(nb::handle value, const Type &type);

/// How far to shift, where that is an int of Python's: the result has the type of what is shifted.
std::optional<int> literal_shift(nb::handle h);
/// Both operands of an operator: a number of Python takes the type of the other where it fits.
std::pair<Expr, Expr> operands(nb::handle x, nb::handle y);

bool is_tuple_like(nb::handle h);
/// A tuple or list of what to_expr takes, or a Func of several values at coordinates.
Tuple to_tuple(nb::handle h);
/// One Expr, or a Tuple, as a list.
std::vector<Expr> to_values(nb::handle h);

bool is_loop_like(nb::handle h);
VarOrRVar to_loop(nb::handle h);

/// A CompileError if it is no target. An empty text is this machine.
Target to_target(const std::string &text);

bool is_type_like(nb::handle h);
/// A Type, or bool, int and float for Bool(), Int(32) and Float(32), or numpy's dtypes.
Type to_type(nb::handle h);

/// A Range, or a pair of min and extent, of which None leaves the range open.
Range to_range(nb::handle h);
/// A list of these.
Region to_region(nb::handle h);

/// A Func, or what can be read as one: an ImageParam, a Buffer.
Func to_func(nb::handle h);

bool is_argument_like(nb::handle h);
/// An Argument, ImageParam, Param or constant Buffer.
Argument to_argument(nb::handle h);
std::vector<Argument> to_arguments(nb::handle sequence);

bool is_parameter_like(nb::handle h);
/// A Parameter, or that of a Param, ImageParam or OutputImageParam.
Parameter to_parameter(nb::handle h);

bool is_buffer_like(nb::handle h);
/// A Buffer, or any array: shared, its axes reversed.
Buffer<> to_buffer(nb::handle h);

/// Coordinates between brackets: one, a tuple of any number, or an RDom, which stands for its RVars.
std::vector<Expr> to_coordinates(nb::handle h);

/// Numbers of elements of dimensions: None, a tuple or list of integers.
bool are_sizes(nb::handle h);
/// A CompileError if one is no integer from 0 to INT32_MAX; `of` is what has them, in the message.
std::vector<int> to_sizes(nb::handle h, const char *of);
/// Any sequence that is no text.
bool is_sequence(nb::handle h);
std::vector<int> to_buffer_sizes(nb::handle h);

/// Classes that say no have None for their __iter__.
bool is_iterable(nb::handle h);
/// f(a, b) or f([a, b]): the one argument where that can be iterated over, else all of them.
nb::object list_or_arguments(const nb::args &args);

/// Whether it has that attribute. What ends programs and comes of asking is raised.
inline bool has(nb::handle h, const char *name) {
    return nb::steal(attribute_of(h.ptr(), name)).is_valid();
}

/// "3 (int)": an object in a message.
std::string describe(nb::handle h);

/// A wrapper of an object with its conversion.
template<typename Value, Value (*convert)(nb::handle)>
struct Converted {
    nb::object object;
    Value get() const {
        return convert(object);
    }
    operator Value() const {
        return convert(object);
    }
};

struct ExprArg : Converted<Expr, to_expr> {};
/// Also strings, for messages.
struct TextArg : Converted<Expr, to_text> {};
struct TupleArg : Converted<Tuple, to_tuple> {};
struct LoopArg : Converted<VarOrRVar, to_loop> {};
struct TypeArg : Converted<Type, to_type> {};
struct ArgumentArg : Converted<Argument, to_argument> {};
struct ParameterArg : Converted<Parameter, to_parameter> {};
struct BufferArg : Converted<Buffer<>, to_buffer> {};
struct SizesArg : Converted<std::vector<int>, to_buffer_sizes> {};

template<typename To, typename From>
std::vector<To> convert_all(const std::vector<From> &list) {
    return std::vector<To>(list.begin(), list.end());
}

}  // namespace calotype::python

namespace nanobind::detail {

#define CALOTYPE_ARG_CASTER(Arg, test, text)                                                       \
    template<>                                                                                     \
    struct type_caster<calotype::python::Arg> {                                                    \
        NB_TYPE_CASTER(calotype::python::Arg, const_name(text))                                    \
        bool from_python(handle h, uint32_t, cleanup_list *) {                                     \
            if (!(test)) {                                                                         \
                return false;                                                                      \
            }                                                                                      \
            value.object = borrow(h);                                                              \
            return true;                                                                           \
        }                                                                                          \
        static handle from_cpp(const calotype::python::Arg &a, rv_policy,                          \
                               cleanup_list *) noexcept {                                          \
            return a.object.inc_ref();                                                             \
        }                                                                                          \
    };
CALOTYPE_ARG_CASTER(ExprArg, calotype::python::is_expr_like(h), "calotype._types.ExprLike")
CALOTYPE_ARG_CASTER(TextArg, calotype::python::is_expr_like(h, true),
                    "calotype._types.ExprLike | str")
CALOTYPE_ARG_CASTER(TupleArg, calotype::python::is_tuple_like(h), "calotype._types.TupleLike")
CALOTYPE_ARG_CASTER(LoopArg, calotype::python::is_loop_like(h), "calotype._types.LoopLike")
CALOTYPE_ARG_CASTER(TypeArg, calotype::python::is_type_like(h), "calotype._types.TypeLike")
CALOTYPE_ARG_CASTER(ArgumentArg, calotype::python::is_argument_like(h),
                    "calotype._types.ArgumentLike")
CALOTYPE_ARG_CASTER(ParameterArg, calotype::python::is_parameter_like(h),
                    "calotype._types.ParameterLike")
CALOTYPE_ARG_CASTER(BufferArg, calotype::python::is_buffer_like(h), "calotype._types.BufferLike")
CALOTYPE_ARG_CASTER(SizesArg, calotype::python::is_sequence(h), "collections.abc.Sequence[int]")
#undef CALOTYPE_ARG_CASTER

// A Target, or its text where no function takes a text in that place: what is wrong with one is said,
// which implicit conversions of nanobind keep to themselves.
template<>
struct type_caster<calotype::Target> : type_caster_base<calotype::Target> {
    bool from_python(handle h, uint32_t flags, cleanup_list *cleanup) {
        if (!PyUnicode_Check(h.ptr())) {
            return type_caster_base::from_python(h, flags, cleanup);
        }
        if (!(flags & uint32_t(cast_flags::convert)) || !cleanup) {
            return false;
        }
        const object made =
            nanobind::cast(calotype::python::to_target(nanobind::cast<std::string>(h)));
        cleanup->append(made.inc_ref().ptr());
        return type_caster_base::from_python(made, flags, cleanup);
    }
};

}  // namespace nanobind::detail
