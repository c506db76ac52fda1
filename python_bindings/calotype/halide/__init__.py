# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The names that programs written for Halide's Python module use: import calotype.halide as hl."""

from pathlib import Path
from typing import Any, Iterable

from .._errors import Error as HalideError
from .._language import *  # noqa: F403
from .._language import __all__ as _names
from . import imageio


class Tuple(tuple):
    """Values of one Func. What the language gives are plain tuples, which it takes as well."""

    def __new__(cls, values: Iterable[Any]) -> "Tuple":
        return super().__new__(cls, values)


def install_dir() -> str:
    """The folder of the package."""
    return str(Path(__file__).parents[1])


__all__ = [*_names, "HalideError", "Tuple", "imageio", "install_dir"]
