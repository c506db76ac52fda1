# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pipelines that were compiled ahead of time, called from Python. No compiler is loaded.

    blur = calotype.runtime.load("blur.so")
    blur(image, result)                     # arrays, by place or by name
"""

import os
from collections import namedtuple
from collections.abc import Iterable

from . import _runtime
from .._typing import Any

__all__ = ["Argument", "Kernel", "load"]


_Argument = namedtuple("_Argument", "name kind type dimensions has_default")


class Argument(_Argument):
    """What a pipeline takes in one place."""

    __slots__ = ()

    name: str
    kind: str
    """"scalar", "input" or "output"."""
    type: str
    """As "uint8": of the scalar, or of the elements."""
    dimensions: int
    has_default: bool

    def __str__(self) -> str:
        shape = f"[{self.dimensions}]" if self.kind != "scalar" else ""
        return f"{self.name}: {self.type}{shape}"


def _identifiers(names: Iterable[str]) -> Iterable[str]:
    """As parameters can be named; what differs from the name itself only `**` can give."""
    import re
    from keyword import iskeyword

    taken: set[str] = set()
    for name in names:
        name = re.sub(r"\W|^(?=\d)", "_", name)
        while name in taken or iskeyword(name):
            name += "_"
        taken.add(name)
        yield name


def _signature(arguments: Iterable[tuple]) -> Any:
    """What inspect.signature says of a Kernel or Callable with these arguments."""
    import inspect  # here: it takes longer than the rest of this package

    given = [Argument(*a) for a in arguments]
    parameters = []
    for argument, name in zip(given, _identifiers(a.name for a in given)):
        text = str(argument).rpartition(": ")[2]
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        parameters.append(inspect.Parameter(name, kind, annotation=text))
    return inspect.Signature(parameters)


class Kernel(_runtime.Kernel):
    """A pipeline in a shared library, as a function of arrays and numbers.

    An array's axes are in the opposite order of the pipeline's dimensions: an image of shape (height,
    width) has x as its dimension 0. Nothing is copied; other threads of Python run meanwhile.
    """

    def __init__(self, path: str, name: str = "") -> None:
        super().__init__(path, name)
        self._file = os.path.abspath(path) if os.path.exists(path) else path
        self.__doc__ = (
            f"{self._name}{self._text()}\n\nA pipeline compiled for {self.target}.\n\n"
            "Arrays have their axes in the opposite order. With arrays on a CUDA device it works on the\n"
            "current stream of their library, or on stream=."
        )

    @property
    def __name__(self) -> str:
        return self._name

    @property
    def arguments(self) -> list[Argument]:
        """What it takes, in order: numbers and arrays, then those that it fills."""
        return [Argument(*a) for a in self._arguments()]

    @property
    def __signature__(self) -> Any:
        return _signature(self._arguments())

    def __repr__(self) -> str:
        return f"<calotype.runtime.Kernel {self._name}{self._text()}>"

    def __reduce__(self) -> tuple[Any, ...]:
        """The file and the name: what reads the pickle loads the library from there."""
        return type(self), (self._file, self._name)

    def __copy__(self) -> "Kernel":
        return self

    def __deepcopy__(self, memo: Any) -> "Kernel":
        return self


def load(path: str | bytes | os.PathLike, name: str | None = None) -> Kernel:
    """The pipeline `name` of a shared library; by default the one that the file is named for."""
    return Kernel(os.fsdecode(path), name or "")
