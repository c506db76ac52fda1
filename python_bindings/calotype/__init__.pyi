# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
from . import halide as halide
from . import imageio as imageio
from . import runtime as runtime
from . import torch as torch
from ._errors import ArgumentError as ArgumentError
from ._errors import CallError as CallError
from ._errors import CompileError as CompileError
from ._errors import CompileWarning as CompileWarning
from ._errors import Error as Error
from ._errors import InternalError as InternalError
from ._errors import RuntimeError as RuntimeError
from ._language import *
from ._language import _ as _
from ._language import _0 as _0
from ._language import _1 as _1
from ._language import _2 as _2
from ._language import _3 as _3
from ._language import _4 as _4
from ._language import _5 as _5
from ._language import _6 as _6
from ._language import _7 as _7
from ._language import _8 as _8
from ._language import _9 as _9

__version__: str

def __dir__() -> list[str]: ...
