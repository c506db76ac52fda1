# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The names that programs written for Halide's Python module use: import calotype.halide as hl."""

from collections.abc import Iterable

from .. import _core
from .._errors import Error as HalideError
from .._errors import RuntimeError  # noqa: F401
from .._language import *  # noqa: F403
from .._language import __all__ as _names
from . import imageio
from .._arg_info import ArgInfo, ArgInfoDirection, ArgInfoKind  # noqa: F401
from ._members import InputBuffer, InputScalar, OutputBuffer, OutputScalar  # noqa: F401
from ._texts import change_texts
from .._typing import Any


class Tuple(tuple):
    """Values of one Func. What the language gives are plain tuples, which it takes as well."""

    def __new__(cls, values: Iterable[Any]) -> "Tuple":
        return super().__new__(cls, values)


def max(*args: Any) -> _core.Expr:
    """The greatest of two or more."""
    return _core._max_int32(*args)


def min(*args: Any) -> _core.Expr:
    """The least of two or more."""
    return _core._min_int32(*args)


# Python has no syntax for the name that Halide's module gives this member. A module that is reloaded finds it.
if "None" not in _core.DeviceAPI.__members__:
    setattr(_core.DeviceAPI, "None", _core.DeviceAPI.None_)
    _core.DeviceAPI._member_map_["None"] = _core.DeviceAPI.None_

change_texts()

__all__ = [*_names, "ArgInfo", "ArgInfoDirection", "ArgInfoKind", "HalideError", "Tuple", "imageio"]

from . import halide_  # noqa: E402, F401
