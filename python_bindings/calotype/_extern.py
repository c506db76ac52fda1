# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of Python that pipelines call, as if they were C functions."""

import builtins
from collections.abc import Callable

from . import _core
from ._errors import ArgumentError, CompileError
from ._typing import Any

__all__ = ["ExternFunction", "extern_function"]

_C_TYPES = {
    "bool": "c_bool",
    "int8": "c_int8",
    "uint8": "c_uint8",
    "int16": "c_int16",
    "uint16": "c_uint16",
    "int32": "c_int32",
    "uint32": "c_uint32",
    "int64": "c_int64",
    "uint64": "c_uint64",
    "float32": "c_float",
    "float64": "c_double",
}


def _type(what: str, given: Any) -> Any:
    try:
        return _core.Type(given)
    except (TypeError, CompileError):
        raise CompileError(f"{what} of an extern function has type {given!r}, must be a Type") from None


def _c_type(what: str, type: Any) -> Any:
    import ctypes  # here: programs without extern functions do without it

    found = "c_void_p" if type.is_handle() else _C_TYPES.get(str(type))
    if found is None:
        raise CompileError(f"{what} of an extern function has type {type}, which no C function has")
    return getattr(ctypes, found)


def _check_result(function: Callable, type: Any, c_type: Any, value: Any) -> None:
    """That the C type can hold what the function has returned; ctypes would take the low bits."""
    name = getattr(function, "__qualname__", repr(function))
    shown = f"the result of extern function '{name}' is {value!r} ({builtins.type(value).__name__})"
    try:
        kept = c_type(value).value
    except TypeError:
        raise ArgumentError(f"{shown}, must be a number ({type})") from None
    if type.is_int_or_uint() and not type.is_bool() and kept != value:
        raise ArgumentError(f"{shown}, which does not fit in {type}")


class ExternFunction:
    """What Pipeline.set_jit_externs takes for a name. What the function raises, the run raises that has
    called it; the pipeline goes on with `on_error`, by default 0, or -1 for a function that takes
    pointers, as extern stages do: then it ends there."""

    def __init__(
        self, function: Callable, result: Any, arguments: list[Any], on_error: int | None = None
    ) -> None:
        if not callable(function):
            raise CompileError(f"{function!r} is no extern function, must be callable")
        import ctypes

        if not isinstance(arguments, (list, tuple)):
            raise CompileError(f"the arguments of an extern function are {arguments!r}, must be a list of Types")
        names = [f"argument {i}" for i in range(len(arguments))]
        taken = [_type(name, t) for name, t in zip(names, arguments)]
        types = [_c_type(name, t) for name, t in zip(names, taken)]
        if on_error is None:
            on_error = -1 if ctypes.c_void_p in types else 0
        self.__wrapped__ = function
        result = _type("the result", result)
        result_type = _c_type("the result", result)
        self._signature = (result, taken)

        def call(*values: Any) -> Any:
            try:
                value = function(*values)
                _check_result(function, result, result_type, value)
                return value
            except BaseException as e:  # noqa: BLE001
                _core._keep_raised(e)
                return on_error

        self._as_parameter_ = ctypes.CFUNCTYPE(result_type, *types)(call)

    def __call__(self, *values: Any) -> Any:
        return self.__wrapped__(*values)


def extern_function(
    result: Any, arguments: list[Any], on_error: int | None = None
) -> Callable[[Callable], ExternFunction]:
    """A function of Python with the types of a C function:

    @ct.extern_function(ct.Int(32), [ct.Int(32)])
    def triple(i):
        return 3 * i

    pipeline.set_jit_externs({"triple": triple})
    """
    return lambda function: ExternFunction(function, result, arguments, on_error)
