# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The names that the compiler's public headers declare, by the class or namespace they are in, and the
comments that document them.

    python cpp_names.py OUT TEXT FOLDER...      # a table for the docstrings of the package

Not a parser of C++: it knows the declarations that these headers have. Bodies of functions are skipped;
constructors, operators and what is private are left out.
"""

import json
import pathlib
import re
import sys
from typing import Dict, Iterator, List, Tuple

# The comment before each name's first declaration that has one, by scope and name.
Names = Dict[str, Dict[str, str]]

CLASS = re.compile(r"\b(class|struct)\s+([A-Z]\w*)\s*(?:final\s*)?(?::\s*(?!:)(.*))?$", re.S)
ENUM = re.compile(r"\benum\s+(?:class\s+)?(\w*)[^()]*$")
NAMESPACE = re.compile(r"\bnamespace\s+([\w:]*)\s*$")
FUNCTION = re.compile(r"(\w+)\s*\(")
NO_NAMES = ("using", "friend", "typedef", "static_assert", "extern template")


def names_in(folder: pathlib.Path, *headers: str) -> Names:
    names: Names = {}
    for header in headers:
        text = (folder / header).read_text()
        comments: List[str] = []

        def marked(found: "re.Match[str]") -> str:
            comments.append(found[0])
            return f"\0{len(comments) - 1}\0"

        text = re.sub(r"(?:^[ \t]*///(?!<)[^\n]*\n)+", marked, text, flags=re.M)
        text = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S)
        text = re.sub(r"^\s*#(?:[^\n]*\\\n)*[^\n]*", "", text, flags=re.M)
        _collect(text, "", names, comments)
    return names


def _plain(comment: str) -> str:
    """Without slashes, and names spelled as in Python."""
    lines = [re.sub(r"^[ \t]*/// ?(?:@.*)?", "", line) for line in comment.splitlines()]
    # The heading of a group documents none of its members.
    return "" if "@name" in comment else "\n".join(lines).replace("::", ".").strip()


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


def _collect(text: str, scope: str, names: Names, comments: List[str]) -> None:
    def add(name: str, comment: str) -> None:
        known = names.setdefault(scope, {})
        known[name] = known.get(name) or comment

    for head, body in _statements(text):
        marks = re.findall("\0([0-9]+)\0", head)
        comment = _plain(comments[int(marks[-1])]) if marks else ""
        head = re.sub("\0[0-9]+\0", "", head)
        head = _without_template(re.sub(r"^\s*(?:public|private|protected)\s*:(?!:)", "", head))
        namespace, cls = NAMESPACE.search(head), CLASS.search(head)
        if namespace:
            if "internal" in namespace.group(1):
                _collect_bases(body, names, comments)
            elif namespace.group(1):
                inner = "" if namespace.group(1) == "calotype" else namespace.group(1)
                _collect(body, inner, names, comments)
        elif cls and body and "(" not in head[: cls.start(2)]:
            add(cls.group(2), comment)
            _collect(_public_part(body, cls.group(1) == "struct"), cls.group(2), names, comments)
        elif ENUM.search(head) or not head or head.startswith(NO_NAMES):
            continue
        else:
            name = FUNCTION.search(head)
            is_special = re.search(r"\boperator\b|~|::\w+\s*$", head.split("(")[0])  # or the definition of a member
            if name and not is_special and name.group(1) not in (scope, "int", "void", "operator"):
                add(name.group(1), comment)


def _collect_bases(text: str, names: Names, comments: List[str]) -> None:
    """Of what is internal: the directives that public classes inherit."""
    for head, body in _statements(text):
        cls = CLASS.search(_without_template(re.sub("\0[0-9]+\0", "", head)))
        if cls and body and cls.group(2).endswith("Directives"):
            _collect(_public_part(body, cls.group(1) == "struct"), cls.group(2), names, comments)


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


def _docstrings(text: str) -> Names:
    """Those of a file of lines NAME, CLASS.NAME, ...: TEXT; an indented line goes on with the text."""
    names: Names = {}
    for entry in re.split(r"\n(?! |\n)", text.rstrip())[2:]:
        listed, comment = re.split(r":\s", entry, maxsplit=1)
        for name in re.split(r",\s+", listed.strip()):
            scope, _, member = name.rpartition(".")
            names.setdefault(scope, {})[member] = re.sub(r"\n    ", "\n", comment).strip()
    return names


def _write_table(path: str, docstrings: str, folders: List[str]) -> None:
    headers = sorted(h for folder in folders for h in pathlib.Path(folder).rglob("*.h"))
    names = names_in(pathlib.Path(), *map(str, headers))
    for scope, of_members in _docstrings(pathlib.Path(docstrings).read_text()).items():
        names.setdefault(scope, {}).update(of_members)
    rows = [
        f"{{{json.dumps(scope)}, {json.dumps(name)}, {json.dumps(comment)}}},\n"
        for scope in sorted(names)
        for name, comment in sorted(names[scope].items())
        if comment
    ]
    pathlib.Path(path).write_text("".join(rows))


if __name__ == "__main__":
    _write_table(sys.argv[1], sys.argv[2], sys.argv[3:])
