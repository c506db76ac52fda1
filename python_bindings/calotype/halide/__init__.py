# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The names that programs written for Halide's Python module use: import calotype.halide as hl."""

from .._errors import Error as HalideError
from .._language import *  # noqa: F403
from .._language import __all__ as _names
from . import imageio

__all__ = [*_names, "HalideError", "imageio"]
