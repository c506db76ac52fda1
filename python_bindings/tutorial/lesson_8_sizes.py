# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lesson 8: pictures of other sizes.

A Func has a value at any coordinate, so a picture of another size is a Func that looks elsewhere. What a
pipeline needs of its input for a result of some size can be asked for.
"""

import pathlib
import sys

import calotype as ct
from calotype import imageio

images = pathlib.Path(__file__).resolve().parents[2] / "apps" / "images"
photograph = imageio.imread(sys.argv[1] if len(sys.argv) > 1 else images / "coffee.png")

x, y, c = ct.vars("x y c")
image = ct.ImageParam(ct.UInt(8), 3, "image")
scale = ct.Param(ct.Float(32), "scale", 0.5)

# Between pixels: weighted by how near the four neighbours are.
at = ct.BoundaryConditions.repeat_edge(image)
there_x, there_y = (ct.f32(x) + 0.5) / scale - 0.5, (ct.f32(y) + 0.5) / scale - 0.5
left, top = ct.i32(ct.floor(there_x)), ct.i32(ct.floor(there_y))
dx, dy = there_x - left, there_y - top

resized = ct.Func("resized")
upper = ct.lerp(ct.f32(at[left, top, c]), ct.f32(at[left + 1, top, c]), dx)
lower = ct.lerp(ct.f32(at[left, top + 1, c]), ct.f32(at[left + 1, top + 1, c]), dx)
resized[x, y, c] = ct.u8_sat(ct.round(ct.lerp(upper, lower, dy)))
resized.reorder(c, x, y).unroll(c, 3).bound(c, 0, 3).parallel(y)

resize = resized.compile_to_callable([image, scale])
for factor in (0.5, 1.5):
    shape = [photograph.shape[0], *(int(extent * factor) for extent in photograph.shape[1:])]
    result = ct.Buffer(ct.UInt(8), shape[::-1])
    resize(photograph, factor, result)
    imageio.imwrite(f"times_{factor}.png", result)
    print(f"times_{factor}.png has {shape[2]} x {shape[1]} pixels")

# Without a boundary condition the pipeline would need more than there is, and says how much.
half, wide = ct.Func("half"), ct.ImageParam(ct.UInt(8), 1, "wide")
half[x] = wide[2 * x] / 2 + wide[2 * x + 1] / 2
half.infer_input_bounds([100])
assert wide.get().width() == 200
