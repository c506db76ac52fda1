# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a generator takes and gives, as tools that make calls of Halide's generators ask for it."""

import enum
from collections.abc import Sequence

from ._typing import Any


class ArgInfoDirection(enum.Enum):
    """Whether an ArgInfo is of an input or of an output."""

    Input = 0
    Output = 1


class ArgInfoKind(enum.Enum):
    """What a generator takes or gives in one place."""

    Scalar = 0
    Function = 1
    Buffer = 2


class ArgInfo:
    """An input or output of a generator, as tools for them describe it."""

    def __init__(
        self,
        name: str = "",
        dir: ArgInfoDirection = ArgInfoDirection.Input,
        kind: ArgInfoKind = ArgInfoKind.Scalar,
        types: Sequence[Any] = (),
        dimensions: int = 0,
    ) -> None:
        self.name, self.dir, self.kind = name, dir, kind
        self.types, self.dimensions = list(types), dimensions
