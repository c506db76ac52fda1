# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""numpy's functions that the language does not have, made of what it has."""

import math
from collections.abc import Callable

from . import _core
from ._errors import CallError
from ._typing import Any


def expression(e: Any) -> Any:
    """Of all but a text, of which Expr itself makes one for messages."""
    if isinstance(e, str):
        raise CallError(f"{e!r} ({type(e).__name__}) is no expression")
    return _core.Expr(e)


def real(e: Any) -> Any:
    """As a float, as numpy's functions take integers."""
    e = expression(e)
    return e if e.type().is_float() else _core.f32(e)


def _real_pair(a: Any, b: Any) -> tuple[Any, Any]:
    """Two floats of one type, that of their sum."""
    t = (a + b).type()
    t = t if t.is_float() else _core.Float(32)
    return _core.cast(t, a), _core.cast(t, b)


def times(factor: float) -> Callable[[Any], Any]:
    """The function that multiplies by a factor."""

    def product(e: Any) -> Any:
        e = real(e)
        return e * _core.cast(e.type(), _core.f64(factor))

    return product


def _wide(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Of floats with 16 bits the result for 32, rounded once."""

    def of_real(e: Any) -> Any:
        e = real(e)
        t = e.type()
        return function(e) if t.bits() > 16 else _core.cast(t, function(_core.f32(e)))

    return of_real


def _cbrt(e: Any) -> Any:
    """By the logarithm, whose error one step of Newton's method removes."""
    a = _core.abs(e)
    near = _core.exp(_core.log(a) / 3)
    root = near - (near - a / (near * near)) / 3
    return _core.select((e == 0) | _core.is_inf(e), e, e < 0, -root, root)


def _log1p(e: Any) -> Any:
    """log(u) for u = 1 + e, times what rounding to u has changed e by."""
    u = _core.strict_float(1 + e)
    stays = (u == 1) | (_core.is_inf(u) & (u > 0))
    return _core.select(stays, e, _core.log(u) * (e / _core.strict_float(u - 1)))


def _expm1(e: Any) -> Any:
    """u - 1 for u = exp(e), times what rounding to u has changed e by."""
    u = _core.strict_float(_core.exp(e))
    less = _core.strict_float(u - 1)
    return _core.select(u == 1, e, (less == -1) | _core.is_inf(u), less, less * (e / _core.log(u)))


def fmod(a: Any, b: Any) -> Any:
    """The language's remainder, with the sign of a."""
    t = (a % b).type()
    a, b = _core.cast(t, a), _core.cast(t, b)
    rest = _core.cast(t, _core.abs(a) % _core.abs(b))
    if t.is_float():
        rest = _core.select(_core.abs(a) < _core.abs(b), _core.abs(a), rest)
    return rest if t.is_uint() else _core.select(a < 0, -rest, rest)


def _unless_nan(chosen: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def function(a: Any, b: Any) -> Any:
        choice = chosen(a, b)
        if not choice.type().is_float():
            return choice
        a, b = _real_pair(a, b)
        return _core.select(_core.is_nan(a), b, _core.is_nan(b), a, choice)

    return function


def _bits(e: Any) -> tuple[Any, Any]:
    """The bits of a float, and the one for its sign."""
    t = _core.UInt(e.type().bits())
    return _core.reinterpret(t, e), _core.cast(t, 1) << (t.bits() - 1)


def signbit(e: Any) -> Any:
    """Whether the sign is -, also of 0."""
    e = expression(e)
    if not e.type().is_float():
        return e < 0
    bits, sign = _bits(e)
    return (bits & sign) != 0


def copysign(a: Any, b: Any) -> Any:
    """a with the sign of b."""
    a, b = _real_pair(a, b)
    (bits, sign), (others, _) = _bits(a), _bits(b)
    return _core.reinterpret(a.type(), (bits & ~sign) | (others & sign))


def heaviside(e: Any, at_zero: Any) -> Any:
    """0 below 0 and 1 above."""
    e, at_zero = _real_pair(e, at_zero)
    return _core.select(e < 0, 0, e > 0, 1, e == 0, at_zero, e)


def _logarithm_of_sum(a: Any, b: Any, scale: float) -> Any:
    """log(exp(a * scale) + exp(b * scale)) / scale, where exp might overflow."""
    a, b = _real_pair(a, b)
    t = a.type()
    if t.bits() == 16:
        return _core.cast(t, _logarithm_of_sum(_core.f32(a), _core.f32(b), scale))
    less = times(1 / scale)(_log1p(_core.exp(times(-scale)(_core.abs(a - b)))))
    # The difference of two infinities is none.
    doubled = a + _core.cast(t, _core.f64(math.log(2) / scale))
    return _core.select(a == b, doubled, _core.select(a > b, a, b) + less)


def modf(e: Any) -> tuple[Any, Any]:
    """What is behind the point, and what is before it."""
    e = real(e)
    whole = _core.trunc(e)
    return _core.select(_core.is_inf(e), 0, e - whole), whole


functions: dict[str, Callable[..., Any]] = {
    "bitwise_count": lambda e: _core.u8(_core.popcount(_core.abs(expression(e)))),
    "cbrt": _wide(_cbrt),
    "copysign": copysign,
    "divmod": lambda a, b: (a // b, a % b),
    "expm1": _wide(_expm1),
    "float_power": lambda a, b: _core.pow(_core.f64(a), _core.f64(b)),
    "fmax": _unless_nan(_core.max),
    "fmin": _unless_nan(_core.min),
    "fmod": fmod,
    "heaviside": heaviside,
    "log1p": _wide(_log1p),
    "logaddexp": lambda a, b: _logarithm_of_sum(a, b, 1),
    "logaddexp2": lambda a, b: _logarithm_of_sum(a, b, math.log(2)),
    "modf": modf,
    "signbit": signbit,
}
