# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calotype: a compiler for array and image pipelines.

    import calotype as ct

    x, y = ct.Var("x"), ct.Var("y")
    f = ct.Func("f")
    f[x, y] = x + 10 * y
    image = f.realize([640, 480]).numpy_view()

The compiler is loaded when a name of the language is first used: importing the package is quick,
and `calotype.runtime`, which runs compiled pipelines, needs no compiler at all.
"""

import importlib
import sys

from ._errors import (
    ArgumentError,
    CallError,
    CompileError,
    CompileWarning,
    Error,
    InternalError,
    RuntimeError,
)
from ._typing import Any

_submodules = ("halide", "imageio", "runtime", "torch")


def _names() -> Any:
    return importlib.import_module("._language", __name__)


def _submodule(name: str) -> Any:
    try:
        return importlib.import_module("." + name, __name__)
    except ModuleNotFoundError as e:
        # So that hasattr() and help() work. What is not there is not an attribute.
        lacks = e.name or ""
        if lacks.startswith("calotype"):
            lacks = "the compiler, and only calotype-runtime is installed here"
        raise AttributeError(f"calotype.{name} needs {lacks}") from e


def __getattr__(name: str) -> Any:
    if name in _submodules:
        return _submodule(name)
    if name == "__version__":
        return importlib.import_module(".runtime._runtime", __name__).__version__
    if name.startswith("__") and name != "__all__":
        raise AttributeError(name)
    try:
        value = getattr(_names(), name)
    except ModuleNotFoundError as e:
        if e.name not in ("calotype._language", "calotype._core"):
            raise
        raise AttributeError(
            f"calotype.{name} needs the compiler, and only calotype-runtime is installed here"
        ) from None
    except AttributeError:
        # With both, Python suggests a name that is alike.
        here = sys.modules[__name__]
        raise AttributeError(f"module 'calotype' has no attribute '{name}'", name=name, obj=here) from None
    globals()[name] = value
    return value


def __dir__() -> list:
    try:
        names = _names().__all__
    except ModuleNotFoundError:
        names = []
    return sorted({*globals(), *names, *_submodules})
