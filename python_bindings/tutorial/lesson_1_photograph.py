# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lesson 1: a photograph made brighter.

A pipeline says what each pixel of a picture is, in terms of others. Nothing is computed until the
picture is asked for.
"""

import pathlib
import sys

import calotype as ct
from calotype import imageio

images = pathlib.Path(__file__).resolve().parents[2] / "apps" / "images"
photograph = imageio.imread(sys.argv[1] if len(sys.argv) > 1 else images / "astronaut.png")
print("an array of", photograph.dtype, "and the axes (channel, y, x):", photograph.shape)

# A Buffer shares the array's memory. Its dimensions are in the opposite order: x, y, channel.
source = ct.Buffer(photograph)
assert source.width() == photograph.shape[2]

# A Func is a function of integer coordinates. Vars name them; they have no values of their own.
x, y, c = ct.vars("x y c")
brighter = ct.Func("brighter")

# Pixels are of 8 bits, which a product would overflow: compute with more bits, and come back to 8 by
# the cast that keeps what is too large at 255.
brighter[x, y, c] = ct.u8_sat(ct.f32(source[x, y, c]) * 1.5)

# Now compute it, for all coordinates of this size. The pipeline is compiled for this machine first.
result = brighter.realize([source.width(), source.height(), source.channels()])
imageio.imwrite("brighter.png", result)

assert result[5, 7, 1] == min(255, int(photograph[1, 7, 5] * 1.5))
print("brighter.png is written")
