# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The kernels of pipelines.py for Triton: one program a row, or a block of elements."""

import triton
import triton.language as tl


@triton.jit
def saxpy(a, b, out, n, block: tl.constexpr):
    i = tl.program_id(0) * block + tl.arange(0, block)
    inside = i < n
    tl.store(out + i, 2.5 * tl.load(a + i, inside) + tl.load(b + i, inside), inside)


@triton.jit
def black_scholes(s, k, t, out, n, block: tl.constexpr):
    i = tl.program_id(0) * block + tl.arange(0, block)
    inside = i < n
    price, strike, years = tl.load(s + i, inside, 1.0), tl.load(k + i, inside, 1.0), tl.load(t + i, inside, 1.0)
    root = 0.3 * tl.sqrt(years)
    d1 = (tl.log(price / strike) + 0.065 * years) / root
    d2 = d1 - root
    paid = strike * tl.exp(-0.02 * years) * 0.5 * (1 + tl.erf(d2 * 0.70710678))
    tl.store(out + i, price * 0.5 * (1 + tl.erf(d1 * 0.70710678)) - paid, inside)


@triton.jit
def row_sums(a, out, n, block: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, block)
    tl.store(out + row, tl.sum(tl.load(a + row * n + i, i < n, 0.0), 0))


@triton.jit
def row_argmax(a, out, n, block: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, block)
    tl.store(out + row, tl.argmax(tl.load(a + row * n + i, i < n, -float("inf")), 0))


@triton.jit
def softmax(a, out, n, block: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, block)
    value = tl.load(a + row * n + i, i < n, -float("inf"))
    e = tl.exp(value - tl.max(value, 0))
    tl.store(out + row * n + i, e / tl.sum(e, 0), i < n)


@triton.jit
def layer_norm(a, gain, bias, out, n, block: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, block)
    value = tl.load(a + row * n + i, i < n, 0.0).to(tl.float32)
    away = tl.where(i < n, value - tl.sum(value, 0) / n, 0.0)
    scaled = away / tl.sqrt(tl.sum(away * away, 0) / n + 1e-5)
    result = scaled * tl.load(gain + i, i < n).to(tl.float32) + tl.load(bias + i, i < n).to(tl.float32)
    tl.store(out + row * n + i, result.to(tl.float16), i < n)


@triton.jit
def matrix_vector(a, b, out, n, block: tl.constexpr):
    row = tl.program_id(0)
    sums = tl.zeros((block,), tl.float32)
    for begin in range(0, n, block):
        i = begin + tl.arange(0, block)
        sums += tl.load(a + row * n + i, i < n, 0.0).to(tl.float32) * tl.load(b + i, i < n, 0.0).to(tl.float32)
    tl.store(out + row, tl.sum(sums, 0).to(tl.float16))


@triton.jit
def total(a, out, n, each, block: tl.constexpr):
    sums = tl.zeros((block,), tl.float32)
    for begin in range(0, each, block):
        i = tl.program_id(0) * each + begin + tl.arange(0, block)
        sums += tl.load(a + i, i < n, 0.0)
    tl.atomic_add(out, tl.sum(sums, 0))


@triton.jit
def transpose(a, out, width, height, block: tl.constexpr):
    x = tl.program_id(0) * block + tl.arange(0, block)
    y = tl.program_id(1) * block + tl.arange(0, block)
    tile = tl.load(a + y[:, None] * width + x[None, :], (y[:, None] < height) & (x[None, :] < width))
    tl.store(out + x[:, None] * height + y[None, :], tl.trans(tile), (x[:, None] < width) & (y[None, :] < height))


@triton.jit
def five_points(a, out, width, height, columns: tl.constexpr, rows: tl.constexpr):
    x = (tl.program_id(0) * columns + tl.arange(0, columns))[None, :]
    y = (tl.program_id(1) * rows + tl.arange(0, rows))[:, None]
    inside = (x < width) & (y < height)
    left, right = tl.maximum(x - 1, 0), tl.minimum(x + 1, width - 1)
    above, below = tl.maximum(y - 1, 0), tl.minimum(y + 1, height - 1)
    around = tl.load(a + y * width + left, inside) + tl.load(a + y * width + right, inside)
    around += tl.load(a + above * width + x, inside) + tl.load(a + below * width + x, inside)
    tl.store(out + y * width + x, 0.5 * tl.load(a + y * width + x, inside) + 0.125 * around, inside)


@triton.jit
def gather_rows(table, rows, out, n, block: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, block)
    tl.store(out + row * n + i, tl.load(table + tl.load(rows + row) * n + i, i < n), i < n)
