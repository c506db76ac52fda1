# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What notebooks show of objects."""

import os

from . import _core
from ._errors import Error
from ._typing import Any


# html and tempfile are loaded where they are used: they take longer than the rest of this package.
def _escaped(text: str) -> str:
    import html

    return html.escape(text)


class Report(dict[str, int]):
    """Counts by name, which notebooks show as a table."""

    def _repr_html_(self) -> str:
        rows = (f"<tr><th>{_escaped(k)}</th><td>{v}</td></tr>" for k, v in self.items())
        return f"<table>{''.join(rows)}</table>"


def compile_stats() -> Report:
    """How many pipelines this process has compiled, and found compiled."""
    return Report(_core.compile_stats())


def kernel_cache_stats() -> Report:
    """Counts of the cache of device code of pipelines in this process."""
    return Report(_core.kernel_cache_stats())


def _png_of(buffer: _core.Buffer) -> bytes | None:
    """A picture of what can be one: 8 or 16 bits, grey or with up to four channels."""
    from . import imageio

    if not buffer.defined() or buffer.type() not in (_core.UInt(8), _core.UInt(16)):
        return None
    extents = [buffer.dim(i).extent() for i in range(buffer.dimensions())]
    channels = 0 if imageio._is_interleaved(buffer) else 2
    if len(extents) not in (2, 3) or 0 in extents or (len(extents) == 3 and extents[channels] > 4):
        return None
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "buffer.png")
        try:
            imageio.imwrite(path, buffer)
        except Error:
            return None
        with open(path, "rb") as file:
            return file.read()


def _html_of(f: Any) -> str:
    """The loops that the schedule makes, or why there are none."""
    if not f.defined():
        return f"<pre>{_escaped(repr(f))}</pre>"
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "loops.stmt")
        try:
            f.compile_to_conceptual_stmt(path, f.infer_arguments())
        except Error as e:
            return f"<pre>{_escaped(repr(f))}\n{_escaped(str(e))}</pre>"
        with open(path) as file:
            return f"<pre>{_escaped(file.read())}</pre>"


def install() -> None:
    """Gives the classes of the extension module what notebooks ask for."""
    for cls, name, function in (
        (_core.Buffer, "_repr_png_", _png_of),
        (_core.Func, "_repr_html_", _html_of),
        (_core.Pipeline, "_repr_html_", _html_of),
    ):
        setattr(cls, name, function)
