# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lesson 3: a histogram, and a picture with better contrast.

An update gives a Func new values at some coordinates, over and over along a reduction domain.
"""

import pathlib
import sys

import calotype as ct
import numpy
from calotype import imageio

images = pathlib.Path(__file__).resolve().parents[2] / "apps" / "images"
photograph = imageio.imread(sys.argv[1] if len(sys.argv) > 1 else images / "chelsea.png")
source = ct.Buffer(photograph)
x, y, i = ct.vars("x y i")

grey = ct.Func("grey")
red, green, blue = (ct.f32(source[x, y, k]) for k in range(3))
grey[x, y] = ct.u8(0.299 * red + 0.587 * green + 0.114 * blue)

# First zero everywhere, then one more for each pixel of the picture: at coordinates that are values.
histogram = ct.Func("histogram")
r = ct.RDom([(0, source.width()), (0, source.height())], "r")
histogram[i] = 0
histogram[ct.i32(grey[r.x, r.y])] += 1

# Each entry depends on the one before: updates along r run in order.
sums = ct.Func("sums")
values = ct.RDom([(1, 255)], "values")
sums[i] = histogram[i]
sums[values] = sums[values - 1] + histogram[values]

# A grey value becomes the share of pixels that are no brighter.
equalized = ct.Func("equalized")
equalized[x, y] = ct.u8(sums[ct.i32(grey[x, y])] * 255.0 / (source.width() * source.height()))

grey.compute_root().vectorize(x, 16, ct.TailStrategy.GuardWithIf).parallel(y)
histogram.compute_root()
sums.compute_root()

result = equalized.realize([source.width(), source.height()])
imageio.imwrite("equalized.png", result)

counts = histogram.realize([256]).numpy_view()
assert counts.sum() == photograph.shape[1] * photograph.shape[2]
assert result.numpy_view().max() == 255

# Sums, products, largest values and the like also stand in expressions.
brightest = ct.evaluate(ct.maximum(ct.i32(grey[r.x, r.y])))
assert numpy.flatnonzero(counts).max() == brightest
print("equalized.png is written; the brightest grey was", brightest)
