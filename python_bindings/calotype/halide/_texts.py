# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Texts of objects and errors with the words that programs for Halide's module look for.

The classes of calotype.halide are those of calotype, so that importing it changes these texts in the whole process.
"""

from collections.abc import Callable

from .. import _core, _language
from .._errors import Error
from .._typing import Any


# Classes of the module ast by name: that and re are loaded when there is an error, as they take longer than
# all of this package's own modules.
_SYMBOLS = {
    "Add": "+",
    "Sub": "-",
    "Mult": "*",
    "Div": "/",
    "Mod": "%",
    "Lt": "<",
    "LtE": "<=",
    "Gt": ">",
    "GtE": ">=",
    "Eq": "==",
    "NotEq": "!=",
}


def _symbol(operator: Any) -> str:
    return _SYMBOLS.get(type(operator).__name__, "")


def _in_parentheses(node: Any) -> str:
    import ast

    if isinstance(node, ast.BinOp) and _symbol(node.op):
        return f"({_in_parentheses(node.left)} {_symbol(node.op)} {_in_parentheses(node.right)})"
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and _symbol(node.ops[0]):
        left, right = _in_parentheses(node.left), _in_parentheses(node.comparators[0])
        return f"({left} {_symbol(node.ops[0])} {right})"
    return ast.unparse(node)


def _with_parentheses(text: str) -> str:
    """`((x + y) < z)` of `x + y < z`: each operation in its own parentheses, as Halide writes an Expr."""
    import ast

    try:
        return _in_parentheses(ast.parse(text, mode="eval").body)
    except SyntaxError:  # an operator or a name that Python does not have
        return text


def _mixed_tuples(found: Any) -> str:
    return f"select(): Expected Tuple but got Expr: {_with_parentheses(found[1])}"


def _failed_requirement(found: Any) -> str:
    return f"Requirement Failed: (false) {found[2] or ''}".rstrip()


# What an error says here, and what programs look for in the error of Halide that corresponds to it.
_WORDS: list[tuple[str, str | Callable[[Any], str]]] = [
    (
        r"buffer \d+ for output func (\S+) has type (\S+), must have (\S+)",
        r"Output buffer \1 has type \3 but type of the buffer passed in is \2",
    ),
    (r"Bounds given for \S+ in \S+ \(from \S+ to \S+\) do not cover required region \(from \S+ to \S+\)", r"\g<0>"),
    (r"of func (\S+), which is not defined yet", r"Func \1 was asked, but it is undefined"),
    (r"func (\S+) has no type: it is not defined yet", r"Func \1 was asked, but it is undefined"),
    (
        r"func (\S+) is called before it is defined, for a value of func",
        r"Cannot use an unevaluated reference to '\1' to define an update at a different location.",
    ),
    (
        r"func (\S+) is called before it is defined",
        r'''Can't call Func "\1" because it has not yet been defined.''',
    ),
    (r"type of func (\S+), which has \d+ values", r"Func \1 has no single type: it returns a Tuple"),
    (
        r"func (\S+) is declared with (\d+) dimensions but defined with (\d+)",
        r"Func \1 is constrained to have exactly \2 dimensions, but is defined with \3 dimensions",
    ),
    (
        r"func (\S+) is declared with type (.+) but defined with type (.+)",
        r"Func \1 is constrained to only hold values of type \2 but is defined with values of type \3",
    ),
    (r"coordinate \d+ of .* has type (\w+), must fit in int32", r"Implicit cast from \1 to int"),
    (r"requirement failed: (.*?)(?:: (.*))?$", _failed_requirement),
    (
        r"unsupported operand type\(s\) for (\S+): 'PendingUpdate' and '(\w+)'",
        r"unsupported operand type(s) for \1: 'halide.halide_._UnevaluatedFuncRefExpr' and '\2'",
    ),
    (
        r"the update that defines func (\S+) is assigned twice",
        "Cannot use an unevaluated reference to '\\1' to define an update when a pure definition "
        "already exists.",
    ),
    (
        r"the result of (\S+)\[\.\.\.\] \S+ is assigned to another place",
        r"Cannot use an unevaluated reference to '\1' to define an update at a different location.",
    ),
    (r"generator '(\S+)' has no parameter '(\S+)'", r"Generator \1 has no GeneratorParam named \2"),
    (
        r"the values of a select have types (\S+) and (\S+),",
        r"The second and third arguments to a select do not have a matching type: \1 and \2",
    ),
    (r"select: condition <\w+\.Expr of type \S+ (.*)> \(Expr\) stands beside Tuples", _mixed_tuples),
    (
        r"select of Tuples of different sizes, (\d+) and (\d+)",
        r"select() on Tuples requires all Tuples to have identical sizes.",
    ),
]


def _text_of_error(error: Error) -> str:
    import re

    text = Exception.__str__(error)
    for pattern, words in _WORDS:
        found = re.search(pattern, text, re.DOTALL)
        if found:
            return f"{text}\nError: {words(found) if callable(words) else found.expand(words)}"
    return text


def _renamed(text_of: Callable[[Any], str]) -> Callable[[Any], str]:
    def text(self: Any) -> str:
        shown = text_of(self)
        for begin in ("<calotype.", "<undefined calotype."):
            if shown.startswith(begin):
                return begin.replace("calotype", "halide") + shown[len(begin) :]
        return shown

    return text


def change_texts() -> None:
    """Makes the texts those of Halide's module."""
    setattr(Error, "__str__", _text_of_error)
    classes = {value for module in (_core, _language) for value in vars(module).values() if isinstance(value, type)}
    for cls in classes:
        if cls.__module__.startswith("calotype") and "__repr__" in vars(cls):
            setattr(cls, "__repr__", _renamed(vars(cls)["__repr__"]))
