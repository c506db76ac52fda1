# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels that people write in other languages, as pipelines with the schedules that come to mind first."""

import calotype as ct

F16, F32, U8, I32, I64 = ct.Float(16), ct.Float(32), ct.UInt(8), ct.Int(32), ct.Int(64)
GUARD = ct.TailStrategy.GuardWithIf
x, y, u, v, xo, xi, yo, yi = ct.vars("x y u v xo xi yo yi")


def matrix(name, of=F32):
    return ct.ImageParam(of, 2, name)


def vector(name, of=F32):
    return ct.ImageParam(of, 1, name)


def along(image):
    return ct.RDom([(0, image.dim(0).extent())])


def in_vectors(f):
    """256 threads a block, four neighbours each."""
    f.split(x, xo, xi, 1024, GUARD).split(xi, u, xi, 4).vectorize(xi).gpu_blocks(xo).gpu_threads(u)


def row_a_block(f):
    f.split(x, xo, xi, 256, GUARD).reorder(xo, xi, y).gpu_blocks(y).gpu_threads(xi)


def reduced_in_block(f, r, consumer, threads=256):
    """What each thread has of the sum, then sixteen parts, then all."""
    ro, ri, rj, rk = (ct.RVar(name) for name in ("ro", "ri", "rj", "rk"))
    f.update().split(r, ro, ri, threads, GUARD)
    first = f.update().rfactor([(ri, u)])
    f.update().split(ri, rj, rk, 16)
    second = f.update().rfactor([(rk, v)])
    for part, var in ((first, u), (second, v)):
        part.compute_at(consumer, y).gpu_threads(var)
        part.update().gpu_threads(var)
    f.compute_at(consumer, y)


def reduced_by_atomics(f, r, consumer, threads=256):
    """All threads add to one element in shared memory."""
    ro, ri = ct.RVar("ro"), ct.RVar("ri")
    f.compute_at(consumer, y).store_in(ct.MemoryType.GPUShared)
    f.update().split(r, ro, ri, threads, GUARD).reorder(ro, ri).atomic().gpu_threads(ri)


def saxpy():
    a, b, f = vector("a"), vector("b"), ct.Func("saxpy")
    f[x] = 2.5 * a[x] + b[x]
    in_vectors(f)
    return f, [a, b]


def black_scholes():
    s, k, t, f = vector("s"), vector("k"), vector("t"), ct.Func("call")

    def normal(d):
        return 0.5 * (1 + ct.erf(d * ct.f32(0.70710678)))

    d1 = (ct.log(s[x] / k[x]) + 0.065 * t[x]) / (0.3 * ct.sqrt(t[x]))
    d2 = d1 - 0.3 * ct.sqrt(t[x])
    f[x] = s[x] * normal(d1) - k[x] * ct.exp(-0.02 * t[x]) * normal(d2)
    in_vectors(f)
    return f, [s, k, t]


def row_sums(reduced):
    def pipeline():
        a, s, f = matrix("a"), ct.Func("s"), ct.Func("row_sums")
        r = along(a)
        s[y] = 0.0
        s[y] += a[r, y]
        f[y] = s[y]
        f.gpu_blocks(y)
        reduced(s, r.x, f)
        return f, [a]

    return pipeline


def row_argmax():
    a, s, f = matrix("a"), ct.Func("s"), ct.Func("row_argmax")
    r = along(a)
    s[y] = (0, F32.min())
    better = a[r, y] > s[y][1]
    s[y] = (ct.select(better, r, s[y][0]), ct.select(better, a[r, y], s[y][1]))
    f[y] = s[y][0]
    f.gpu_blocks(y)
    reduced_in_block(s, r.x, f)
    return f, [a]


def softmax(reduced):
    def pipeline():
        a = matrix("a")
        r = along(a)
        most, e, s, f = (ct.Func(name) for name in ("most", "e", "s", "softmax"))
        most[y] = F32.min()
        most[y] = ct.max(most[y], a[r, y])
        e[x, y] = ct.exp(a[x, y] - most[y])
        s[y] = 0.0
        s[y] += e[r, y]
        f[x, y] = e[x, y] / s[y]
        row_a_block(f)
        reduced(most, r.x, f)
        reduced(s, r.x, f)
        return f, [a]

    return pipeline


def layer_norm():
    a, gain, bias = matrix("a", F16), vector("gain", F16), vector("bias", F16)
    n, r = ct.cast(F32, a.dim(0).extent()), along(a)
    s, f = ct.Func("s"), ct.Func("layer_norm")

    def value(i):
        return ct.cast(F32, a[i, y])

    s[y] = (0.0, 0.0)
    s[y] = (s[y][0] + value(r), s[y][1] + value(r) * value(r))
    mean = s[y][0] / n
    scale = 1 / ct.sqrt(s[y][1] / n - mean * mean + 1e-5)
    f[x, y] = ct.cast(F16, (value(x) - mean) * scale * ct.cast(F32, gain[x]) + ct.cast(F32, bias[x]))
    row_a_block(f)
    reduced_in_block(s, r.x, f)
    return f, [a, gain, bias]


def matrix_vector():
    a, b, s, f = matrix("a", F16), vector("b", F16), ct.Func("s"), ct.Func("matrix_vector")
    r = along(a)
    s[y] = 0.0
    s[y] += ct.cast(F32, a[r, y]) * ct.cast(F32, b[r])
    f[y] = ct.cast(F16, s[y])
    f.gpu_blocks(y)
    reduced_in_block(s, r.x, f)
    return f, [a, b]


def column_sums():
    a, f = matrix("a"), ct.Func("column_sums")
    r = ct.RDom([(0, a.dim(1).extent())])
    ro, ri = ct.RVar("ro"), ct.RVar("ri")
    f[x] = 0.0
    f[x] += a[x, r]
    f.update().split(r, ro, ri, 64, GUARD)
    part = f.update().rfactor([(ro, u)])
    part.compute_root().split(x, xo, xi, 128, GUARD).gpu_blocks(xo, u).gpu_threads(xi)
    part.update().split(x, xo, xi, 128, GUARD).reorder(ri, xi, xo, u).gpu_blocks(xo, u).gpu_threads(xi)
    f.gpu_tile(x, xo, xi, 128, GUARD)
    f.update().gpu_tile(x, xo, xi, 128, GUARD)
    return f, [a]


def total():
    a, f = vector("a"), ct.Func("total")
    ro, ri, block = ct.RVar("ro"), ct.RVar("ri"), ct.RVar("block")
    r = along(a)
    f[()] = 0.0
    f[()] += a[r]
    f.gpu_single_thread()
    f.update().split(r, ro, ri, 256, GUARD).split(ro, ro, block, 1024, GUARD)
    f.update().reorder(ro, ri, block).atomic().gpu_blocks(block).gpu_threads(ri)
    return f, [a]


def histogram():
    a, f = vector("a", U8), ct.Func("histogram")
    ro, ri, rs, rt = (ct.RVar(name) for name in ("ro", "ri", "rs", "rt"))
    r = along(a)
    f[x] = 0
    f[ct.cast(I32, a[r])] += 1
    f.update().split(r, ro, ri, 1 << 17, GUARD)
    part = f.update().rfactor([(ro, u)])
    whole = part.in_()
    bin_, block = whole.args()
    whole.compute_root().bound(bin_, 0, 256).gpu_blocks(block).gpu_threads(bin_)
    part.compute_at(whole, block).store_in(ct.MemoryType.GPUShared).gpu_threads(x)
    part.update().split(ri, rs, rt, 256).reorder(rs, rt, u).atomic().gpu_threads(rt)
    f.compute_root().gpu_tile(x, xo, xi, 256)
    f.update().gpu_tile(x, xo, xi, 256)
    return f, [a]


def transpose():
    a, f = matrix("a"), ct.Func("transpose")
    f[x, y] = a[y, x]
    f.tile(x, y, xo, yo, xi, yi, 32, 32, GUARD).split(yi, v, yi, 8).reorder(v, xi, yi, xo, yo)
    f.gpu_blocks(xo, yo).gpu_threads(xi, yi)
    tile = a.in_(f)
    i, j = tile.args()
    tile.compute_at(f, xo).store_in(ct.MemoryType.GPUShared).align_storage(i, 33)
    tile.split(j, v, j, 8).reorder(v, i, j).gpu_threads(i, j)
    return f, [a]


def five_points():
    a, f = matrix("a"), ct.Func("five_points")
    at = ct.BoundaryConditions.repeat_edge(a)
    f[x, y] = 0.5 * at[x, y] + 0.125 * (at[x - 1, y] + at[x + 1, y] + at[x, y - 1] + at[x, y + 1])
    f.split(y, y, v, 4, GUARD).unroll(v).gpu_tile(x, y, xi, yi, 64, 4, GUARD)
    return f, [a]


def gather_rows():
    table, rows, f = matrix("table"), vector("rows", I64), ct.Func("gather_rows")
    last = table.dim(1).extent() - 1
    f[x, y] = table[x, ct.cast(I32, ct.clamp(rows[y], 0, last))]
    f.split(x, xo, xi, 4, GUARD).vectorize(xi).split(xo, xo, u, 64, GUARD)
    f.reorder(xi, u, y, xo).gpu_blocks(y, xo).gpu_threads(u)
    return f, [table, rows]


def bodies():
    """Of bodies with coordinates and a mass, the accelerations."""
    p, acceleration, f = matrix("p"), ct.Func("acceleration"), ct.Func("bodies")
    r = ct.RDom([(0, p.dim(1).extent())])
    away = [p[k, r] - p[k, x] for k in range(3)]
    near = ct.fast_inverse_sqrt(away[0] * away[0] + away[1] * away[1] + away[2] * away[2] + 1e-3)
    force = p[3, r] * near * near * near
    acceleration[x] = (0.0, 0.0, 0.0)
    acceleration[x] = tuple(acceleration[x][k] + away[k] * force for k in range(3))
    f[y, x] = ct.mux(y, [acceleration[x][k] for k in range(3)])
    f.bound(y, 0, 3).unroll(y).gpu_tile(x, xo, xi, 128, GUARD).reorder(y, xi, xo)
    acceleration.compute_at(f, xi)
    acceleration.update().unroll(r.x, 4, GUARD)
    return f, [p]
