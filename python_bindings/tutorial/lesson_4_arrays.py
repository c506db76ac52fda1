# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lesson 4: arrays of others, without copies.

A pipeline with parameters is compiled once, to a function of arrays and numbers.
"""

import calotype as ct
import numpy

x, y = ct.vars("x y")

# What the function will take: an array of any size, and a number.
image = ct.ImageParam(ct.Float(32), 2, "image")
amount = ct.Param(ct.Float(32), "amount")

sharper = ct.Func("sharper")
edged = ct.BoundaryConditions.repeat_edge(image)
around = (edged[x - 1, y] + edged[x + 1, y] + edged[x, y - 1] + edged[x, y + 1]) / 4
sharper[x, y] = edged[x, y] + amount * (edged[x, y] - around)
sharper.parallel(y).vectorize(x, 8, ct.TailStrategy.GuardWithIf)

sharpen = sharper.compile_to_callable([image, amount])
print(sharpen)

# It reads and writes memory of numpy. Axis 1 of an array is x, axis 0 is y.
before = numpy.random.default_rng(1).random((100, 200), numpy.float32)
after = numpy.empty_like(before)
sharpen(before, 0.5, after)

neighbours = (before[0:-2, 1:-1] + before[2:, 1:-1] + before[1:-1, 0:-2] + before[1:-1, 2:]) / 4
expected = before[1:-1, 1:-1] * 1.5 - neighbours * 0.5
assert numpy.allclose(after[1:-1, 1:-1], expected, atol=1e-5)

# Arguments have names. Parts of arrays are as good as whole ones.
sharpen(amount=0.0, image=before[10:20, 30:60], sharper=after[10:20, 30:60])
assert numpy.array_equal(after[10:20, 30:60], before[10:20, 30:60])

# What does not fit is said before anything runs.
try:
    sharpen(before.astype(numpy.float64), 0.5, after)
except ct.ArgumentError as e:
    print("as it should be:", e)
else:
    raise AssertionError("a wrong type was taken")

# Buffers are arrays too, and have coordinates that begin anywhere.
tile = ct.Buffer(ct.Float(32), [16, 16])
tile.set_min([64, 32])
sharpen(before, 0.5, tile)
assert numpy.allclose(tile.numpy_view(), expected[31:47, 63:79], atol=1e-5)
print("all pixels are right")
