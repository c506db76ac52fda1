# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lesson 2: the same picture, computed faster.

What is computed stands apart from how: the order of the loops, which of them are vectors or threads,
and where values are kept. A schedule never changes the result.
"""

import pathlib
import sys
import time

import calotype as ct
from calotype import imageio

images = pathlib.Path(__file__).resolve().parents[2] / "apps" / "images"
source = ct.Buffer(imageio.imread(sys.argv[1] if len(sys.argv) > 1 else images / "chelsea.png"))
size = [source.width(), source.height(), source.channels()]


def blur():
    """A blur of 5 x 5 pixels in two steps: along the rows, then along the columns."""
    x, y, c = ct.vars("x y c")
    # Coordinates outside of the photograph read its edge.
    edged = ct.BoundaryConditions.repeat_edge(source)
    rows, blurred = ct.funcs("rows blurred")
    rows[x, y, c] = sum((ct.u16(edged[x + i, y, c]) for i in range(-2, 3)), ct.u16(0))
    blurred[x, y, c] = ct.u8(sum((rows[x, y + i, c] for i in range(-2, 3)), ct.u16(0)) / 25)
    return rows, blurred, (x, y, c)


def measured(name, blurred):
    blurred.compile_jit()
    start = time.perf_counter()
    result = blurred.realize(size)
    print(f"{name:45} {(time.perf_counter() - start) * 1e3:7.2f} ms")
    return result


# Without a schedule `rows` is computed anew for each use: 25 loads a pixel.
rows, blurred, _ = blur()
plain = measured("as it stands", blurred)

# All of `rows` first, into memory; then the blur. Less arithmetic, more memory.
rows, blurred, _ = blur()
rows.compute_root()
stored = measured("rows first", blurred)

# Bands of 32 lines at once on all processors, 32 pixels in a vector, and in each band only the rows that
# it needs, kept from line to line.
rows, blurred, (x, y, c) = blur()
yi = ct.Var("yi")
blurred.split(y, y, yi, 32, ct.TailStrategy.GuardWithIf).parallel(y)
blurred.vectorize(x, 32, ct.TailStrategy.GuardWithIf)
rows.store_at(blurred, y).compute_at(blurred, yi).vectorize(x, 16)
fast = measured("in bands, with threads and vectors", blurred)

# The loops that the schedule makes, to be looked at.
blurred.print_loop_nest()

import numpy  # noqa: E402

assert numpy.array_equal(plain, stored) and numpy.array_equal(plain, fast)
imageio.imwrite("blurred.png", fast)
print("blurred.png is written; all three are alike")
