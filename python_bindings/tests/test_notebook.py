# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What notebooks show: pictures of Buffers, loops of Funcs, tables of counts."""

import struct

import calotype as ct

x, y, c = ct.vars("x y c")


def size_of(png):
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    return struct.unpack(">II", png[16:24])


def test_pictures_of_buffers():
    assert size_of(ct.Buffer(ct.UInt(8), [6, 4])._repr_png_()) == (6, 4)
    assert size_of(ct.Buffer(ct.UInt(16), [6, 4, 3])._repr_png_()) == (6, 4)
    assert size_of(ct.Buffer.make_interleaved(ct.UInt(8), 6, 4, 3)._repr_png_()) == (6, 4)
    for other in ([6], [6, 4, 7], [6, 4, 3, 2], [0, 4]):
        assert ct.Buffer(ct.UInt(8), other)._repr_png_() is None
    assert ct.Buffer(ct.Float(32), [6, 4])._repr_png_() is None and ct.Buffer()._repr_png_() is None


def test_loops_of_funcs():
    f, g = ct.Func("shown"), ct.Func("before")
    assert "shown" in f._repr_html_()
    g[x] = x
    f[x] = g[x] + g[x + 1]
    g.compute_root()
    f.parallel(x)
    for shown in (f, ct.Pipeline(f)):
        html = shown._repr_html_()
        assert html.startswith("<pre>") and "parallel" in html and "before" in html
    f.compute_at(g, ct.Var("nowhere"))
    assert "shown" in f._repr_html_()


def test_tables_of_counts():
    stats = ct.compile_stats()
    assert stats["compiled"] >= 0 and "<th>compiled</th><td>" in stats._repr_html_()
    assert "<td>" in ct.kernel_cache_stats()._repr_html_()
