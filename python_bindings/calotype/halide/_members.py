# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Inputs and outputs of generators that are ImageParams, Params and Funcs, also outside of a generator."""


from .. import _core, _generator
from .._typing import Any


class InputBuffer(_generator.InputBuffer, _core.ImageParam):
    """A buffer that a generator takes; outside of one an ImageParam."""

    def __init__(self, type: Any, dimensions: int | None) -> None:
        _generator.InputBuffer.__init__(self, type, dimensions)
        types = self._types if dimensions is not None else None
        _core.ImageParam.__init__(self, *([types[0], dimensions] if types else []))


class InputScalar(_generator.InputScalar, _core.Param):
    """A number that a generator takes; outside of one a Param."""

    def __init__(self, type: Any) -> None:
        _generator.InputScalar.__init__(self, type)
        _core.Param.__init__(self, self._types[0] if self._types else _core.Int(32))


class OutputBuffer(_generator.OutputBuffer, _core.Func):
    """What a generator computes; outside of one a Func."""

    def __init__(self, types: Any, dimensions: int | None) -> None:
        _generator.OutputBuffer.__init__(self, types, dimensions)
        _init_func(self)


class OutputScalar(_generator.OutputScalar, _core.Func):
    """What a generator computes, without dimensions; outside of one a Func."""

    def __init__(self, types: Any) -> None:
        _generator.OutputScalar.__init__(self, types)
        _init_func(self)


def _init_func(output: Any) -> None:
    name = _core._unique_name("output")
    wanted = (output._types, output._dimensions, name) if output._types else (name,)
    _core.Func.__init__(output, *wanted)
