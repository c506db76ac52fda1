# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lesson 7: borders, and stages that keep a few rows.

A blur reads beyond the borders of its picture, so what is there has to be said. And where one stage is
computed within another, only what is needed next has to be kept.
"""

import pathlib
import sys

import calotype as ct
from calotype import imageio

images = pathlib.Path(__file__).resolve().parents[2] / "apps" / "images"
photograph = imageio.imread(sys.argv[1] if len(sys.argv) > 1 else images / "astronaut.png")
source = ct.Buffer(photograph)
width, height, channels = (source.dim(i).extent() for i in range(3))

x, y, c = ct.vars("x y c")


def blur(schedule):
    """Weights 1 4 6 4 1, first along the rows, then along the columns."""
    rows, result = ct.funcs("rows blurred")
    at = ct.BoundaryConditions.mirror_interior(source)
    weights = [1, 4, 6, 4, 1]
    rows[x, y, c] = sum(w * ct.u16(at[x + i - 2, y, c]) for i, w in enumerate(weights))
    columns = sum(w * ct.u32(rows[x, y + i - 2, c]) for i, w in enumerate(weights))
    result[x, y, c] = ct.u8(columns / 256)
    schedule(rows, result)
    return result


def whole(rows, result):
    rows.compute_root()


def sliding(rows, result):
    """Each row is computed once, when it is first needed; five are kept."""
    result.vectorize(x, 16)
    rows.store_at(result, c).compute_at(result, y).fold_storage(y, 8).vectorize(x, 16)


plain = blur(whole).realize([width, height, channels])
smooth = blur(sliding).realize([width, height, channels])
assert all(plain[i, i, 1] == smooth[i, i, 1] for i in range(0, min(width, height), 7))

# A picture of one colour stays what it is, at the borders too.
assert abs(int(smooth[0, 0, 0]) - int(source[0, 0, 0])) < 32
imageio.imwrite("blurred.png", smooth)
print("blurred.png is written")
