# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How far a compilation is."""

import sys
from collections import namedtuple
from collections.abc import Callable

from . import _core
from ._errors import CallError
from ._typing import Any

__all__ = ["CompileStep", "progress"]


_CompileStep = namedtuple("_CompileStep", "pipeline stage detail number total")


class CompileStep(_CompileStep):
    """A step of compiling, which begins."""

    __slots__ = ()

    pipeline: str
    stage: str
    """"lower", then "device code" if there are kernels, "host code", and in process "load"."""
    detail: str
    """The pass of lowering, or how many kernels."""
    number: int
    """Of the pass, from 0."""
    total: int
    """How many passes there are."""

    def __str__(self) -> str:
        part = f" {self.number + 1}/{self.total}" if self.total else ""
        return f"{self.pipeline}: {self.stage}{part}{' ' if self.detail else ''}{self.detail}"


def _overwrites_lines(stream: Any) -> bool:
    """Of notebooks, too, which do not call themselves terminals."""
    is_notebook = type(stream).__module__.partition(".")[0] == "ipykernel"
    return stream is not None and (is_notebook or stream.isatty())


class progress:
    """Tells of what is compiled in a with statement, by this thread.

        with ct.progress():                             # one line of a terminal or notebook
            blur.compile_jit()
        with ct.progress(lambda step: print(step)):     # a function of a CompileStep
            blur.compile_jit()

    What the function raises ends the compilation, and the with statement raises it. What is found
    compiled takes no steps.
    """

    def __init__(self, function: Callable[[CompileStep], Any] | None = None) -> None:
        if function is not None and not callable(function):
            raise CallError(f"progress is told to {function!r}, must be a function of a CompileStep")
        self._line = 0
        self._function = function or self._show
        # While it is entered: what C++ has of Python is not seen by the garbage collector.
        self._told: Any = None

    def __enter__(self) -> "progress":
        told = self._told or _core._Progress(lambda *step: self._function(CompileStep(*step)))
        told.enter()
        self._told = told
        return self

    def __exit__(self, *_: Any) -> None:
        if self._told is None:
            raise CallError("progress is left that was not entered")
        raised: Any = self._told.exit()
        self._told = None
        self._clear("")
        if raised is not None:
            raise raised

    def _show(self, step: CompileStep) -> None:
        if _overwrites_lines(sys.stderr):
            self._clear(str(step)[:79])

    def _clear(self, text: str) -> None:
        """Writes over the line that is there."""
        if self._line or text:
            sys.stderr.write(f"\r{text:<{self._line}}" + ("" if text else "\r"))
            sys.stderr.flush()
        self._line = len(text)
