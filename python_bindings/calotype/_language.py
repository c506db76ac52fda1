# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The names of the language: those of the extension module, and what is easier in Python."""

from . import _core, _extern, _generator, _notebook, _progress
from ._core import *  # noqa: F403
from ._core import BoundaryConditions, Func, RVar, Var, _, _0, _1, _2, _3, _4, _5, _6, _7, _8, _9
from ._errors import CallError
from ._extern import *  # noqa: F403
from ._generator import *  # noqa: F403
from ._notebook import Report, compile_stats, kernel_cache_stats  # noqa: F401
from ._package import install_dir  # noqa: F401
from ._progress import *  # noqa: F403
from ._typing import Any

_notebook.install()


def _split(names: str) -> list[str]:
    if not isinstance(names, str):
        raise CallError(f"the names are {names!r} ({type(names).__name__}), must be a str")
    return names.split()


def vars(names: str) -> tuple:
    """Vars of these names, which are separated by spaces: x, y = vars("x y")."""
    return tuple(Var(name) for name in _split(names))


def rvars(names: str) -> tuple:
    """RVars of these names, which are separated by spaces."""
    return tuple(RVar(name) for name in _split(names))


def funcs(names: str) -> tuple:
    """Funcs of these names, which are separated by spaces."""
    return tuple(Func(name) for name in _split(names))


def expr_array(values: Any) -> Any:
    """An array of numpy of these expressions, of which numpy's functions make others: a > 0, a.max(), numpy.where(a > 0, a, 0)."""
    from . import _ufuncs

    return _ufuncs.expr_array(values)


# Without RuntimeError: after `from calotype import *` that is still Python's, of which ours is one.
__all__ = [n for n in dir(_core) if not n.startswith("_") and n != "RuntimeError"]
__all__ += ["_", "_0", "_1", "_2", "_3", "_4", "_5", "_6", "_7", "_8", "_9"]
__all__ += ["vars", "rvars", "funcs", "expr_array", "install_dir"]
__all__ += _extern.__all__ + _generator.__all__ + _progress.__all__ + ["Report"]
