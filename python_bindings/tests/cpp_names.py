# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The names that the compiler's public headers declare, by the class or namespace they are in.

Not a parser of C++: it knows the declarations that these headers have. Bodies of functions are skipped;
constructors, operators and what is private are left out.
"""

import pathlib
import re
from typing import Dict, Iterator, Set, Tuple

Names = Dict[str, Set[str]]

CLASS = re.compile(r"\b(class|struct)\s+([A-Z]\w*)\s*(?:final\s*)?(?::\s*(?!:)(.*))?$", re.S)
ENUM = re.compile(r"\benum\s+(?:class\s+)?(\w*)[^()]*$")
NAMESPACE = re.compile(r"\bnamespace\s+([\w:]*)\s*$")
FUNCTION = re.compile(r"(\w+)\s*\(")
NO_NAMES = ("using", "friend", "typedef", "static_assert", "extern template")


def names_in(folder: pathlib.Path, *headers: str) -> Names:
    names: Names = {}
    for header in headers:
        text = (folder / header).read_text()
        text = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S)
        text = re.sub(r"^\s*#(?:[^\n]*\\\n)*[^\n]*", "", text, flags=re.M)
        _collect(text, "", names)
    return names


def _statements(text: str) -> Iterator[Tuple[str, str]]:
    """What stands before each ; or {, and what is between the braces."""
    start = at = 0
    while at < len(text):
        if text[at] == ";":
            yield text[start:at].strip(), ""
            start = at + 1
        elif text[at] == "{":
            end = _after_brace(text, at)
            if text[:at].rstrip().endswith("="):  # a default argument
                at = end
                continue
            yield text[start:at].strip(), text[at + 1 : end - 1]
            start = at = end
            continue
        at += 1


def _after_brace(text: str, at: int) -> int:
    depth = 0
    while True:
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        at += 1
        if depth == 0:
            return at


def _collect(text: str, scope: str, names: Names) -> None:
    for head, body in _statements(text):
        head = _without_template(re.sub(r"^\s*(?:public|private|protected)\s*:(?!:)", "", head))
        namespace, cls = NAMESPACE.search(head), CLASS.search(head)
        if namespace:
            if namespace.group(1) and "internal" not in namespace.group(1):
                inner = "" if namespace.group(1) == "calotype" else namespace.group(1)
                _collect(body, inner, names)
        elif cls and body and "(" not in head[: cls.start(2)]:
            names.setdefault(scope, set()).add(cls.group(2))
            _collect(_public_part(body, cls.group(1) == "struct"), cls.group(2), names)
        elif ENUM.search(head) or not head or head.startswith(NO_NAMES):
            continue
        else:
            name = FUNCTION.search(head)
            is_special = re.search(r"\boperator\b|~", head.split("(")[0])
            if name and not is_special and name.group(1) not in (scope, "int", "void", "operator"):
                names.setdefault(scope, set()).add(name.group(1))


def _public_part(body: str, is_struct: bool) -> str:
    parts = re.split(r"\b(public|private|protected)\s*:(?!:)", body)
    text = parts[0] if is_struct else ""
    return text + "".join(b for a, b in zip(parts[1::2], parts[2::2]) if a == "public")


def _without_template(head: str) -> str:
    head = head.strip()
    while head.startswith("template"):
        depth, at = 0, head.index("<")
        for at in range(at, len(head)):
            depth += {"<": 1, ">": -1}.get(head[at], 0)
            if depth == 0:
                break
        head = head[at + 1 :].strip()
    return head
