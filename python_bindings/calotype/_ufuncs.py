# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""numpy's functions of expressions: numpy.sqrt(e) is sqrt(e), and an array times e is an array."""

import functools
import math
import operator
import sys
from collections.abc import Callable, Sequence

import numpy

from . import _composed, _core
from ._composed import expression, real, times
from ._typing import Any


class ExprArray(numpy.ndarray):
    """An array of expressions. numpy's own functions of arrays of objects ask these for their values."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return apply(ufunc, method, inputs, options)

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        return apply_function(function, args, options)


def expr_array(values: Any) -> ExprArray:
    """What of `values` is no expression becomes one."""
    array = _boxed(numpy.asarray(values))
    return numpy.vectorize(_core.Expr, otypes=[object])(array).view(ExprArray)


def _sign(e: Any) -> Any:
    e = expression(e)
    if e.type().is_float():
        return _core.select(e > 0, 1, e < 0, -1, e)  # NaN of NaN
    return _core.cast(e.type(), _core.select(e > 0, 1, e < 0, -1, 0))


def _truth(e: Any) -> Any:
    e = expression(e)
    return e if e.type().is_bool() else e != 0


def _logarithm(base: float) -> Callable[[Any], Any]:
    factor = times(1 / math.log(base))
    return lambda e: factor(_core.log(e))


def _clip(e: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None) -> Any:
    for bound in (a_min, min):
        e = e if bound is None else _core.max(e, bound)
    for bound in (a_max, max):
        e = e if bound is None else _core.min(e, bound)
    return e


_functions: dict[str, Callable[..., Any]] = {
    **_composed.functions,
    "absolute": _core.abs,
    "fabs": _core.abs,
    "arccos": _core.acos,
    "arccosh": _core.acosh,
    "arcsin": _core.asin,
    "arcsinh": _core.asinh,
    "arctan": _core.atan,
    "arctan2": _core.atan2,
    "arctanh": _core.atanh,
    "ceil": _core.ceil,
    "clip": _clip,
    "conjugate": _core.Expr,
    "cos": _core.cos,
    "cosh": _core.cosh,
    "deg2rad": times(math.pi / 180),
    "degrees": times(180 / math.pi),
    "equal": operator.eq,
    "exp": _core.exp,
    "exp2": lambda e: _core.exp(times(math.log(2))(e)),
    "floor": _core.floor,
    "greater": operator.gt,
    "greater_equal": operator.ge,
    "hypot": lambda a, b: _core.hypot(real(a), real(b)),
    "isfinite": _core.is_finite,
    "isinf": _core.is_inf,
    "isnan": _core.is_nan,
    "less": operator.lt,
    "less_equal": operator.le,
    "log": _core.log,
    "log10": _logarithm(10),
    "log2": _logarithm(2),
    "logical_and": lambda a, b: _truth(a) & _truth(b),
    "logical_not": lambda e: _core.logical_not(_truth(e)),
    "logical_or": lambda a, b: _truth(a) | _truth(b),
    "logical_xor": lambda a, b: _truth(a) != _truth(b),
    "maximum": _core.max,
    "minimum": _core.min,
    "not_equal": operator.ne,
    "rad2deg": times(180 / math.pi),
    "radians": times(math.pi / 180),
    "rint": _core.round,
    "sign": _sign,
    "sin": _core.sin,
    "sinh": _core.sinh,
    "sqrt": _core.sqrt,
    "square": lambda e: e * e,
    "tan": _core.tan,
    "tanh": _core.tanh,
    "trunc": _core.trunc,
}

# Those whose loops for objects are Python's operators.
_operators = frozenset(
    "add bitwise_and bitwise_or bitwise_xor divide floor_divide invert left_shift matmul mod multiply "
    "negative positive power reciprocal remainder right_shift subtract true_divide".split()
)


def _elementwise(function: Callable[..., Any], *operands: Any) -> Any:
    if not any(isinstance(a, (numpy.ndarray, list)) for a in operands):
        return function(*operands)
    return _as_exprs(numpy.frompyfunc(function, len(operands), 1)(*map(_boxed, operands)))


def _each(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args, **options: _elementwise(functools.partial(function, **options), *args)


def _choose(*parts: Any) -> Any:
    """The select of these conditions and values; as in sums, a float makes of integers floats."""
    values = [*parts[1::2], parts[-1]]
    if any(isinstance(v, float) for v in values):
        if all(isinstance(v, float) or not _core.Expr(v).type().is_float() for v in values):
            values = [_core.f32(v) for v in values]
    return _core.select(*(p for pair in zip(parts[:-1:2], values) for p in pair), values[-1])


def _select(condlist: Sequence[Any], choicelist: Sequence[Any], default: Any = 0) -> Any:
    if len(condlist) != len(choicelist):
        raise ValueError(f"numpy.select has {len(condlist)} conditions and {len(choicelist)} values")
    return _elementwise(_choose, *(v for pair in zip(condlist, choicelist) for v in pair), default)


def _where(condition: Any, *values: Any) -> Any:
    if len(values) != 2:
        raise TypeError("numpy.where of an expression must be given the values to choose from")
    return _elementwise(_choose, condition, *values)


def _round(e: Any, decimals: int = 0) -> Any:
    if not decimals:
        return _core.round(e)
    e = real(e)
    scale = _core.cast(e.type(), _core.f64(10.0**decimals))
    return _core.round(e * scale) / scale


_largest = {
    "bfloat16": 255 * 2.0**120,
    "float16": 65504.0,
    "float32": 0xFFFFFF * 2.0**104,
    "float64": sys.float_info.max,
}


def _nan_to_num(e: Any, copy: bool = True, nan: float = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    e = expression(e)
    t = e.type()
    if not t.is_float():
        return e
    most = _largest[str(t)] if posinf is None else posinf
    least = -_largest[str(t)] if neginf is None else neginf

    def value(v: Any) -> Any:
        return _core.cast(t, _core.f64(v))

    infinite = _core.select(e > 0, value(most), value(least))
    return _core.select(_core.is_nan(e), value(nan), _core.is_inf(e), infinite, e)


def of_element(name: str, *operands: Any) -> Any:
    """What numpy's function of this name makes of an element of an array of expressions."""
    return _functions[name](*operands)


def of_values(ref: Any, dtype: Any) -> Any:
    """An array of the value of a FuncRef, without dimensions, or of those of a Tuple."""
    values = _core.Expr(ref) if ref.size() == 1 else [_core.Expr(v) for v in ref]
    array = numpy.empty(() if ref.size() == 1 else ref.size(), object)
    array[...] = values
    return array if dtype is None else array.astype(dtype)


# Those of numpy's functions that are no ufuncs and whose own bodies cannot work on expressions.
_other_functions: dict[str, Callable[..., Any]] = {
    "around": _each(_round),
    "clip": _each(_clip),
    "nan_to_num": _each(_nan_to_num),
    "round": _each(_round),
    "select": _select,
    "where": _where,
}


def _boxed(operand: Any) -> Any:
    """As an array of objects, so that numpy calls its loops for them and not this again."""
    if isinstance(operand, ExprArray):
        return operand.view(numpy.ndarray)
    if isinstance(operand, (list, tuple)):
        operand = numpy.asarray(operand)
    if isinstance(operand, (numpy.ndarray, numpy.generic)):
        values = numpy.asanyarray(operand)
        # As Exprs they keep their type, but for those that numpy makes of Python's numbers.
        if values.dtype.type in (numpy.object_, numpy.int64, numpy.float64):
            return values.astype(object)
        boxes = numpy.empty(values.shape, object)
        for index, value in numpy.ndenumerate(values):
            boxes[index] = _core.Expr(value)
        return boxes
    box = numpy.empty(1, object)
    box[0] = operand
    return box.reshape(())


def _as_exprs(result: Any) -> Any:
    if isinstance(result, tuple):
        return tuple(map(_as_exprs, result))
    is_plain = type(result) is numpy.ndarray and result.dtype == object and result.ndim > 0
    return result.view(ExprArray) if is_plain else result


def apply(ufunc: Any, method: str, inputs: Sequence[Any], options: dict[str, Any]) -> Any:
    """What __array_ufunc__ of expressions does."""
    operands = [_boxed(i) for i in inputs]
    name = ufunc.__name__
    function = _functions.get(name)
    if function:
        ufunc = numpy.frompyfunc(function, ufunc.nin, ufunc.nout)
    elif name not in _operators and ufunc is getattr(numpy, name, None):
        raise TypeError(f"numpy.{name} has no counterpart for expressions of a pipeline")
    results = options.get("out")
    if results is None:
        return _as_exprs(getattr(ufunc, method)(*operands, **options))
    options = {**options, "out": tuple(r.view(numpy.ndarray) for r in results)}
    getattr(ufunc, method)(*operands, **options)
    return results[0] if len(results) == 1 else results


def apply_function(function: Any, args: Sequence[Any], options: dict[str, Any]) -> Any:
    """What __array_function__ of expressions does: element by element where there are arrays."""
    ours = _other_functions.get(function.__name__)
    if ours is None:
        return _as_exprs(function._implementation(*args, **options))
    return ours(*args, **options)
