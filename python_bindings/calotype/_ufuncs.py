# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""numpy's functions of expressions: numpy.sqrt(e) is sqrt(e), and an array times e is an array."""

import functools
import math
import operator
from collections.abc import Callable, Sequence

from . import _core
from ._typing import Any


def _sign(e: Any) -> Any:
    e = _core.Expr(e)
    return _core.cast(e.type(), _core.select(e > 0, 1, e < 0, -1, 0))


def _times(factor: float) -> Callable[[Any], Any]:
    def product(e: Any) -> Any:
        e = _core.Expr(e)
        e = e if e.type().is_float() else _core.f32(e)
        return e * _core.cast(e.type(), _core.f64(factor))

    return product


_functions: dict[str, Callable[..., Any]] = {
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
    "cos": _core.cos,
    "cosh": _core.cosh,
    "deg2rad": _times(math.pi / 180),
    "degrees": _times(180 / math.pi),
    "equal": operator.eq,
    "exp": _core.exp,
    "floor": _core.floor,
    "greater": operator.gt,
    "greater_equal": operator.ge,
    "hypot": _core.hypot,
    "isfinite": _core.is_finite,
    "isinf": _core.is_inf,
    "isnan": _core.is_nan,
    "less": operator.lt,
    "less_equal": operator.le,
    "log": _core.log,
    "logical_and": operator.and_,
    "logical_not": _core.logical_not,
    "logical_or": operator.or_,
    "logical_xor": lambda a, b: _core.logical_not(a) != _core.logical_not(b),
    "maximum": _core.max,
    "minimum": _core.min,
    "not_equal": operator.ne,
    "rad2deg": _times(180 / math.pi),
    "radians": _times(math.pi / 180),
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


def _clip(e: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None) -> Any:
    for bound in (a_min, min):
        e = e if bound is None else _core.max(e, bound)
    for bound in (a_max, max):
        e = e if bound is None else _core.min(e, bound)
    return e


def _select(condlist: Sequence[Any], choicelist: Sequence[Any], default: Any = 0) -> Any:
    if len(condlist) != len(choicelist):
        raise ValueError(f"numpy.select has {len(condlist)} conditions and {len(choicelist)} values")
    return _core.select(*(v for pair in zip(condlist, choicelist) for v in pair), default)


def of_element(name: str, *operands: Any) -> Any:
    """What numpy's function of this name makes of an element of an array of expressions."""
    return _functions[name](*operands)


# Those of numpy's functions that are no ufuncs and whose own bodies cannot work on expressions.
_other_functions: dict[str, Callable[..., Any]] = {
    "around": _core.round,
    "clip": _clip,
    "round": _core.round,
    "select": _select,
    "where": _core.select,
}


def _boxed(operand: Any) -> Any:
    """As an array of objects, so that numpy calls its loops for them and not this again."""
    import numpy

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


def apply(ufunc: Any, method: str, inputs: Sequence[Any], options: dict[str, Any]) -> Any:
    """What __array_ufunc__ of expressions does."""
    import numpy

    operands = [_boxed(i) for i in inputs]
    name = ufunc.__name__
    function = _functions.get(name)
    if function:
        ufunc = numpy.frompyfunc(function, ufunc.nin, 1)
    elif name not in _operators and ufunc is getattr(numpy, name, None):
        raise TypeError(f"numpy.{name} has no counterpart for expressions of a pipeline")
    return getattr(ufunc, method)(*operands, **options)


def apply_function(function: Any, args: Sequence[Any], options: dict[str, Any]) -> Any:
    """What __array_function__ of expressions does: element by element where there are arrays."""
    import numpy

    ours = _other_functions.get(function.__name__)
    if ours is None:
        return function._implementation(*args, **options)
    if any(isinstance(a, numpy.ndarray) for a in args):
        ours = numpy.frompyfunc(functools.partial(ours, **options), len(args), 1)
        return ours(*map(_boxed, args))
    return ours(*args, **options)
