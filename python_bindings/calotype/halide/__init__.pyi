# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
from typing import Any, Iterable

from .. import *
from .._errors import Error as Error
from .._language import _ as _
from .._language import _0 as _0
from .._language import _1 as _1
from .._language import _2 as _2
from .._language import _3 as _3
from .._language import _4 as _4
from .._language import _5 as _5
from .._language import _6 as _6
from .._language import _7 as _7
from .._language import _8 as _8
from .._language import _9 as _9

from .._arg_info import ArgInfo as ArgInfo
from .._arg_info import ArgInfoDirection as ArgInfoDirection
from .._arg_info import ArgInfoKind as ArgInfoKind
from . import halide_ as halide_
from ._members import InputBuffer as InputBuffer
from ._members import InputScalar as InputScalar
from ._members import OutputBuffer as OutputBuffer
from ._members import OutputScalar as OutputScalar

HalideError = Error

class Tuple(tuple[Any, ...]):
    def __new__(cls, values: Iterable[Any]) -> Tuple: ...
