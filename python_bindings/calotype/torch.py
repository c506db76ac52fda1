# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pipelines as operators of torch.

    blur = calotype.torch.op(calotype.runtime.load("blur.so"))
    blurred = blur(photo, 2.0)                  # a new tensor; also inside of torch.compile
    torch.ops.calotype.blur(photo, 2.0)         # the same
"""

import inspect
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

import torch

from ._errors import ArgumentError, Error
from .runtime import _identifiers

__all__ = ["Op", "op"]

Shape = Tuple[int, ...]
_symbols = (torch.SymInt, torch.SymFloat, torch.SymBool)

_types: Dict[str, torch.dtype] = {
    "bool": torch.bool,
    "uint8": torch.uint8,
    "uint16": torch.uint16,
    "uint32": torch.uint32,
    "uint64": torch.uint64,
    "int8": torch.int8,
    "int16": torch.int16,
    "int32": torch.int32,
    "int64": torch.int64,
    "float16": torch.float16,
    "bfloat16": torch.bfloat16,
    "float32": torch.float32,
    "float64": torch.float64,
}


class _Parameter(NamedTuple):
    name: str
    kind: str
    type: str
    dimensions: int
    has_default: bool

    def schema(self) -> str:
        if self.kind != "scalar":
            return f"Tensor {self.name}"
        kind = self.type.rstrip("0123456789")
        return {"bool": "bool", "float": "float", "bfloat": "float"}.get(kind, "int") + (
            f" {self.name}"
        )


def _signature(inputs: List[_Parameter], outputs: int) -> inspect.Signature:
    kinds = {"bool": bool, "int": int, "float": float, "Tensor": torch.Tensor}
    parameters = [
        inspect.Parameter(
            p.name,
            inspect.Parameter.POSITIONAL_OR_KEYWORD,
            annotation=kinds[p.schema().split()[0]],
        )
        for p in inputs
    ]
    result: Any = torch.Tensor if outputs == 1 else Tuple[(torch.Tensor,) * outputs]
    return inspect.Signature(parameters, return_annotation=result)


class Op:
    """A pipeline as an operator of torch: takes its inputs, gives its results as new tensors.

    Made by op(). `name` is what torch calls it, as "calotype::blur"; `into`, beside it, fills tensors that
    follow the inputs: torch.ops.calotype.blur_into(photo, 2.0, result).
    """

    def __init__(
        self, kernel: Any, name: str, shapes: Optional[Callable[..., Any]], library: Any
    ) -> None:
        self.kernel = kernel
        given = [_Parameter(*a) for a in kernel._arguments()]
        names = _identifiers(p.name for p in given)
        self.parameters = [p._replace(name=n) for p, n in zip(given, names)]
        self.inputs = [p for p in self.parameters if p.kind != "output"]
        self.outputs = [p for p in self.parameters if p.kind == "output"]
        self.shapes = shapes
        self.name = name
        self.__name__ = name.split("::")[-1]
        self.__signature__ = _signature(self.inputs, len(self.outputs))
        self._order = _order_of(self.parameters)
        self._known: Dict[Any, List[Shape]] = {}
        self._check_types()
        self._define(library)

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        return self._op(*args, **keywords)

    def __repr__(self) -> str:
        return f"<calotype.torch.Op {self._op._schema}>"

    # A copy of a module that has an operator has the same one: torch knows it by its name.
    def __copy__(self) -> "Op":
        return self

    def __deepcopy__(self, memo: Any) -> "Op":
        return self

    def _check_types(self) -> None:
        for p in self.parameters:
            if p.kind != "scalar" and p.type not in _types:
                raise ArgumentError(f"argument '{p.name}' has elements of {p.type}, torch has none")
        if not any(p.kind == "input" for p in self.inputs):
            raise ArgumentError(
                f"{self.name} has no input that is a buffer: the device of its results is not known"
            )

    def _define(self, library: Any) -> None:
        namespace, name = self.name.split("::")
        given = ", ".join(p.schema() for p in self.inputs)
        filled = ", ".join(f"Tensor(a{i}!) {p.name}" for i, p in enumerate(self.outputs))
        results = ", ".join("Tensor" for _ in self.outputs)
        tags = (torch.Tag.pt2_compliant_tag, torch.Tag.needs_fixed_stride_order)
        library.define(f"{name}({given}) -> ({results})", tags=tags)
        library.define(f"{name}_into({given}, {filled}) -> ()", tags=tags)
        for key in ("CPU", "CUDA"):
            library.impl(name, self._compute, key)
            library.impl(name + "_into", self._fill, key)
        torch.library.register_fake(self.name, self._fake, lib=library)
        torch.library.register_fake(self.name + "_into", lambda *_: None, lib=library)
        ops = getattr(torch.ops, namespace)
        self._op = getattr(ops, name).default
        self.into = getattr(ops, name + "_into").default

    def _fill(self, *arguments: Any) -> None:
        rows = [_with_rows(a) if isinstance(a, torch.Tensor) else a for a in arguments]
        for p, given, row in zip(self.inputs + self.outputs, arguments, rows):
            if p.kind == "output" and row is not given:
                raise ArgumentError(
                    f"argument '{p.name}' has a stride of {given.stride(-1)} in its last dimension, "
                    "must be 1"
                )
        self.kernel(*[rows[i] for i in self._order])

    def _compute(self, *inputs: Any) -> Any:
        results = self._fake(*inputs)
        filled = results if isinstance(results, tuple) else (results,)
        if any(r.numel() for r in filled):
            self._fill(*inputs, *filled)
        return results

    def _fake(self, *inputs: Any) -> Any:
        """Tensors of the right shapes, with nothing in them."""
        like = next(i for p, i in zip(self.inputs, inputs) if p.kind == "input")
        results = [
            like.new_empty(shape, dtype=_types[p.type])
            for p, shape in zip(self.outputs, self._shapes_for(inputs))
        ]
        return results[0] if len(results) == 1 else tuple(results)

    def _shapes_for(self, inputs: Sequence[Any]) -> List[Any]:
        if self.shapes is not None:
            given = [tuple(i.shape) if isinstance(i, torch.Tensor) else i for i in inputs]
            shapes = self.shapes(*given)
            return [shapes] if len(self.outputs) == 1 else list(shapes)
        sizes = [tuple(i.shape) if isinstance(i, torch.Tensor) else i for i in inputs]
        return _symbolic_shapes(self, sizes) or self._known_shapes(_with_numbers(sizes, {}))

    def _known_shapes(self, given: Sequence[Any]) -> List[Shape]:
        key = tuple(given)
        found = self._known.get(key)
        if found is None:
            found = _find_shapes(self, given)
            if len(self._known) > 1000:
                self._known.clear()
            self._known[key] = found
        return found


def _order_of(parameters: Sequence[_Parameter]) -> List[int]:
    """Where each argument of the kernel stands among inputs and then outputs."""
    inputs = [i for i, p in enumerate(parameters) if p.kind != "output"]
    outputs = [i for i, p in enumerate(parameters) if p.kind == "output"]
    place = {number: i for i, number in enumerate(inputs + outputs)}
    return [place[i] for i in range(len(parameters))]


def _with_rows(t: torch.Tensor) -> torch.Tensor:
    """Pipelines want the elements of a row to be neighbours, unless they say otherwise."""
    return t if t.dim() == 0 or t.stride(-1) == 1 or t.shape[-1] == 1 else t.contiguous()


def _find_shapes(op: Op, given: Sequence[Any]) -> List[Shape]:
    """The shape of the first input with as many dimensions, if its inputs are enough for that; else the
    largest for which they are."""
    for p, g in zip(op.inputs, given):
        if p.kind == "input" and len(g) != p.dimensions:
            raise ArgumentError(f"argument '{p.name}' has {len(g)} dimensions, must have {p.dimensions}")
    scalars = tuple(g for p, g in zip(op.inputs, given) if p.kind == "scalar")
    buffers = [g for p, g in zip(op.inputs, given) if p.kind == "input"]
    shapes = []
    for p in op.outputs:
        like = [b for b in buffers if len(b) == p.dimensions]
        if not like:
            raise ArgumentError(
                f"no input of {op.name} has {p.dimensions} dimensions as its result '{p.name}': say "
                "shapes=, a function of the shapes and numbers that gives that of each result"
            )
        shapes.append(like[0])

    def is_enough(shapes: Sequence[Shape]) -> bool:
        needed = iter(op.kernel._bounds(tuple(shapes), scalars))
        ranges = [r for p, r in zip(_buffers(op), needed) if p.kind == "input"]
        return all(
            low >= 0 and low + extent <= have
            for range_, shape in zip(ranges, buffers)
            for (low, extent), have in zip(range_, shape)
        )

    if is_enough(shapes) or not all(all(b) for b in buffers):
        return shapes
    for number, p in enumerate(op.outputs):
        for axis in range(p.dimensions):
            shapes[number] = _largest_extent(shapes, number, axis, is_enough)
    if not is_enough(shapes) or not all(all(shape) for shape in shapes):
        raise ArgumentError(
            f"inputs of shapes {', '.join(map(str, buffers))} are not enough for any result of "
            f"{op.name}: say shapes="
        )
    return shapes


def _buffers(op: Op) -> List[_Parameter]:
    return [p for p in op.parameters if p.kind != "scalar"]


def _largest_extent(
    shapes: Sequence[Shape], number: int, axis: int, is_enough: Callable[[Sequence[Shape]], bool]
) -> Shape:
    """Of one axis, while all other extents are 1."""

    def with_extent(extent: int) -> List[Shape]:
        tried = [(1,) * len(s) for s in shapes]
        tried[number] = tuple(extent if i == axis else 1 for i in range(len(shapes[number])))
        return tried

    wanted = shapes[number][axis]
    enough, too_much = 0, wanted + 1
    while enough + 1 < too_much:
        middle = (enough + too_much) // 2
        if is_enough(with_extent(middle)):
            enough = middle
        else:
            too_much = middle
    return tuple(enough if i == axis else e for i, e in enumerate(shapes[number]))


def _symbolic_shapes(op: Op, sizes: Sequence[Any]) -> Optional[List[Any]]:
    """The shapes for sizes that torch leaves open while it traces: each extent a constant, or that of an
    input and a constant, as for all of several sizes that are tried. None if there is nothing open, or
    it is not so."""
    symbols = {s.node.expr: s for s in _flat(sizes) if isinstance(s, _symbols)}
    if not symbols:
        return None
    tried = [_with_numbers(sizes, values) for values in _values_to_try(symbols)]
    try:
        found = [op._known_shapes(given) for given in tried]
    except Error:
        return None
    shapes = []
    for number, p in enumerate(op.outputs):
        extents = [[f[number][axis] for f in found] for axis in range(p.dimensions)]
        shapes.append(tuple(_extent_in_symbols(sizes, tried, e) for e in extents))
    return None if any(e is None for e in _flat(shapes)) else shapes


def _extent_in_symbols(
    sizes: Sequence[Any], tried: Sequence[Sequence[Any]], extents: Sequence[int]
) -> Any:
    if len(set(extents)) == 1:
        return extents[0]
    for number, shape in enumerate(sizes):
        for axis in range(len(shape) if isinstance(shape, tuple) else 0):
            differences = {e - given[number][axis] for e, given in zip(extents, tried)}
            if len(differences) == 1:
                return shape[axis] + differences.pop()
    return None


def _values_to_try(symbols: Dict[Any, Any]) -> List[Dict[Any, Any]]:
    """One symbol at a time is changed, and then all of them."""
    usual = {s: v.node.hint if v.node.has_hint() else 64 for s, v in symbols.items()}
    others = {s: _other_numbers(v) for s, v in usual.items()}
    changed = [{**usual, s: n} for s, numbers in others.items() for n in numbers]
    return [usual, *changed, {s: numbers[-1] for s, numbers in others.items()}]


def _other_numbers(value: Any) -> List[Any]:
    if isinstance(value, bool):
        return [not value]
    return [value + 1, value + 7, 4 * value + 3]


def _with_numbers(sizes: Sequence[Any], values: Dict[Any, Any]) -> List[Any]:
    """Numbers in place of symbols: these, or those that torch then takes for granted."""

    def number_of(size: Any) -> Any:
        if not isinstance(size, _symbols):
            return size
        known = values.get(size.node.expr)
        return known if known is not None else size.node.pytype(size)

    return [tuple(map(number_of, s)) if isinstance(s, tuple) else number_of(s) for s in sizes]


def _flat(sizes: Sequence[Any]) -> List[Any]:
    return [e for s in sizes for e in (s if isinstance(s, tuple) else (s,))]


_libraries: Dict[str, Any] = {}


def op(
    kernel: Any,
    name: Optional[str] = None,
    *,
    shapes: Optional[Callable[..., Any]] = None,
) -> Op:
    """A pipeline as an operator of torch, which torch.compile takes whole.

    `kernel` is a runtime.Kernel or a Callable. `name`, "namespace::name", is by default "calotype::" and that
    of the kernel. A result has the shape of the first input with as many dimensions, or the largest
    for which the inputs are enough; `shapes`, if given, is called with the shapes of the inputs and
    the numbers, and gives its shape, or a list of them for several results.

    Gradients: torch.library.register_autograd(op.name, ...).
    """
    full = name or getattr(kernel, "__name__", "")
    if not full:
        raise ArgumentError("a Callable has no name: say name=")
    full = full if "::" in full else f"calotype::{full}"
    namespace, short = full.split("::")
    if not (namespace.isidentifier() and short.isidentifier()):
        raise ArgumentError(f"'{full}' is no name of an operator, must be as 'calotype::blur'")
    if hasattr(getattr(torch.ops, namespace), short):
        raise ArgumentError(f"there is an operator {full} already")
    if namespace not in _libraries:
        _libraries[namespace] = torch.library.Library(namespace, "FRAGMENT")
    return Op(kernel, full, shapes, _libraries[namespace])
