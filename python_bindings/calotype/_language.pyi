# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import typing

from ._core import *
from ._core import _ as _
from ._core import _0 as _0
from ._core import _1 as _1
from ._core import _2 as _2
from ._core import _3 as _3
from ._core import _4 as _4
from ._core import _5 as _5
from ._core import _6 as _6
from ._core import _7 as _7
from ._core import _8 as _8
from ._core import _9 as _9
from ._core import Func as Func
from ._core import RVar as RVar
from ._core import Var as Var
from ._extern import *
from ._generator import *
from ._notebook import Report as Report
from ._notebook import compile_stats as compile_stats
from ._notebook import kernel_cache_stats as kernel_cache_stats
from ._package import install_dir as install_dir
from ._progress import *

def vars(names: str) -> tuple[Var, ...]: ...
def rvars(names: str) -> tuple[RVar, ...]: ...
def funcs(names: str) -> tuple[Func, ...]: ...
def expr_array(values: object) -> typing.Any: ...
