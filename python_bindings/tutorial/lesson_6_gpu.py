# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lesson 6: kernels for a GPU.

A schedule maps loops to blocks and threads; the target says for which device. Kernels can be looked at
on any machine, and run where there is a GPU.
"""

import pathlib

import calotype as ct

x, y, xi, yi = ct.vars("x y xi yi")


def mandelbrot():
    """How many steps a point takes to leave a circle, at most 64."""
    steps, count = ct.funcs("steps count")
    t = ct.Var("t")
    real, imaginary = ct.f32(x) / 128 - 2.0, ct.f32(y) / 128 - 1.0
    steps[x, y, t] = (ct.f32(0), ct.f32(0))
    r = ct.RDom([(1, 63)], "r")
    a, b = steps[x, y, r - 1]
    a, b = ct.Expr(a), ct.Expr(b)
    steps[x, y, r] = (a * a - b * b + real, 2 * a * b + imaginary)
    escaped = ct.RDom([(0, 64)], "escaped")
    a, b = steps[x, y, escaped]
    a, b = ct.Expr(a), ct.Expr(b)
    count[x, y] = ct.argmax(escaped, ct.i32(a * a + b * b > 4.0))[0]
    return steps, count


# For a processor: threads and vectors.
steps, count = mandelbrot()
steps.compute_at(count, x)
count.parallel(y)
on_host = count.realize([384, 256])

# For a GPU: each thread computes its own pixel, and keeps its 64 steps for itself.
steps, count = mandelbrot()
steps.compute_at(count, xi)
count.gpu_tile(x, y, xi, yi, 16, 8)

cuda = ct.Target("host-cuda")
count.compile_to({ct.OutputFileType.ptx: "mandelbrot.ptx"}, [], "mandelbrot", cuda)
kernels = [line for line in pathlib.Path("mandelbrot.ptx").read_text().splitlines() if ".entry" in line]
assert kernels
print("the kernel:", kernels[0].strip())

if ct.host_supports_target_device(cuda):
    on_device = count.realize([384, 256], cuda)
    different = sum(on_host[i, j] != on_device[i, j] for i in range(384) for j in range(256))
    print("pixels that differ between processor and GPU:", different)
    assert different < 384 * 256 / 1000
else:
    print("there is no CUDA GPU here to run it on")

picture = ct.Func("picture")
picture[x, y] = ct.u8(on_host[x, y] * 4)
ct.imageio.imwrite("mandelbrot.png", picture.realize([384, 256]))
print("mandelbrot.png is written")
