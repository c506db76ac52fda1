# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Some of the kernels of pipelines.py for numba-cuda."""

import math

import numpy

if not hasattr(numpy, "row_stack"):  # which some versions of numba ask for
    numpy.row_stack = numpy.vstack
from numba import cuda, float32, int32


@cuda.jit
def histogram(a, out):
    counts = cuda.shared.array(256, int32)
    counts[cuda.threadIdx.x] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), a.shape[0], cuda.gridsize(1)):
        cuda.atomic.add(counts, a[i], 1)
    cuda.syncthreads()
    cuda.atomic.add(out, cuda.threadIdx.x, counts[cuda.threadIdx.x])


@cuda.jit
def transpose(a, out):
    tile = cuda.shared.array((32, 33), float32)
    x, y, t = cuda.blockIdx.x * 32, cuda.blockIdx.y * 32, cuda.threadIdx.x
    for row in range(cuda.threadIdx.y, 32, 8):
        tile[row, t] = a[y + row, x + t]
    cuda.syncthreads()
    for row in range(cuda.threadIdx.y, 32, 8):
        out[x + row, y + t] = tile[t, row]


@cuda.jit
def five_points(a, out):
    x, y = cuda.grid(2)
    height, width = a.shape
    if x < width and y < height:
        around = a[y, max(x - 1, 0)] + a[y, min(x + 1, width - 1)]
        around += a[max(y - 1, 0), x] + a[min(y + 1, height - 1), x]
        out[y, x] = float32(0.5) * a[y, x] + float32(0.125) * around


@cuda.jit(fastmath=True)
def bodies(p, out):
    tile = cuda.shared.array((256, 4), float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    x, y, z = p[i, 0], p[i, 1], p[i, 2]
    ax = ay = az = float32(0)
    for begin in range(0, p.shape[0], 256):
        for k in range(4):
            tile[t, k] = p[begin + t, k]
        cuda.syncthreads()
        for j in range(256):
            dx, dy, dz = tile[j, 0] - x, tile[j, 1] - y, tile[j, 2] - z
            near = float32(1) / math.sqrt(dx * dx + dy * dy + dz * dz + float32(1e-3))
            force = tile[j, 3] * near * near * near
            ax += dx * force
            ay += dy * force
            az += dz * force
        cuda.syncthreads()
    out[i, 0], out[i, 1], out[i, 2] = ax, ay, az
