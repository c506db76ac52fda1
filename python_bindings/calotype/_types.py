# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What functions take, for type checkers: the classes of the language and what stands for them."""

from typing import TYPE_CHECKING, Any, Protocol, Sequence, Union

if TYPE_CHECKING:
    from ._core import (
        Argument,
        Buffer,
        Expr,
        FuncRef,
        FuncTupleElementRef,
        OutputImageParam,
        Param,
        Parameter,
        PendingUpdate,
        RDom,
        RVar,
        Type,
        Var,
        VarOrRVar,
    )


class TypedNumber(Protocol):
    """A number that knows its type, as numpy.uint8(3)."""

    @property
    def dtype(self) -> Any: ...

    def item(self) -> Any: ...


ExprLike = Union[
    "Expr",
    "Var",
    "RVar",
    "RDom",
    "Param",
    "FuncRef",
    "FuncTupleElementRef",
    "PendingUpdate",
    int,
    float,
    TypedNumber,
]
TupleLike = Union["FuncRef", Sequence[ExprLike]]
ValueLike = Union[ExprLike, TupleLike]
LoopLike = Union["Var", "RVar", "RDom", "VarOrRVar"]
TypeLike = Any
"""A Type or its name, bool, int or float, a dtype or scalar type of numpy, or a dtype of torch."""
ArgumentLike = Union["Argument", "OutputImageParam", "Param"]
ParameterLike = Union["Parameter", "OutputImageParam", "Param"]
BufferLike = Any
"""A Buffer, or anything that has the buffer protocol, DLPack or __array_interface__."""
SizesOrBuffers = Any
"""A list of sizes, a Buffer or array, or a tuple of them."""
