# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Schedule directives: each is there, gives its Func back, and leaves the result as it was."""

import calotype as ct
import pytest

x, y, xi, yi, xo, yo, t = ct.vars("x y xi yi xo yo t")


def blur():
    source, rows, f = ct.funcs("source rows f")
    source[x, y] = x * 3 + y * y
    rows[x, y] = source[x - 1, y] + source[x, y] + source[x + 1, y]
    f[x, y] = rows[x, y - 1] + rows[x, y] + rows[x, y + 1]
    return source, rows, f


def pixels(f):
    b = f.realize([24, 16])
    return [b[i, j] for j in range(16) for i in range(24)]


plain = pixels(blur()[2])

schedules = {
    "split": lambda s, r, f: f.split(x, xo, xi, 5, ct.TailStrategy.GuardWithIf),
    "fuse": lambda s, r, f: f.fuse(x, y, t).parallel(t, 16),
    "rename": lambda s, r, f: f.rename(x, t).vectorize(t, 8),
    "reorder": lambda s, r, f: f.reorder(y, x),
    "reorder_list": lambda s, r, f: f.reorder([y, x]),
    "tile": lambda s, r, f: f.tile(x, y, xi, yi, 8, 4).unroll(yi).serial(x),
    "tile_all": lambda s, r, f: f.tile(x, y, xo, yo, xi, yi, 8, 4),
    "tile_lists": lambda s, r, f: f.tile([x, y], [xo, yo], [xi, yi], [8, 4]),
    "partition": lambda s, r, f: f.never_partition(x, y).partition(x, ct.Partition.Auto),
    "partition_all": lambda s, r, f: f.always_partition_all().never_partition_all(),
    "compute_root": lambda s, r, f: r.compute_root().vectorize(x, 8),
    "compute_at": lambda s, r, f: r.store_at(f, y).compute_at(f, x).hoist_storage_root(),
    "loop_level": lambda s, r, f: r.compute_at(ct.LoopLevel(f, y)).store_root(),
    "inline": lambda s, r, f: r.compute_inline(),
    "storage": lambda s, r, f: r.compute_root()
    .reorder_storage(y, x)
    .align_storage(y, 32)
    .store_in(ct.MemoryType.Heap),
    "fold": lambda s, r, f: r.compute_at(f, y).store_root().fold_storage(y, 4),
    "bounds": lambda s, r, f: f.bound(x, 0, 24).align_bounds(x, 8).set_estimate(x, 0, 24),
    "estimates": lambda s, r, f: f.set_estimates([(0, 24), (0, 16)]),
    "wrapper": lambda s, r, f: s.in_(r).compute_root(),
    "clone": lambda s, r, f: s.clone_in(r).compute_root(),
    "specialize": lambda s, r, f: f.specialize(f.output_buffer().width() > 8).vectorize(x, 4),
    "prefetch": lambda s, r, f: (s.compute_root(), r.compute_root().prefetch(s, y, y, 2)),
    "stream": lambda s, r, f: r.compute_root().stream_stores(),
    "async": lambda s, r, f: r.compute_root().async_(),
    "eager_inline": lambda s, r, f: f.eager_inline(r),
    "compute_with": lambda s, r, f: (s.compute_root(), r.compute_root().compute_with(s, y)),
    "memoize": lambda s, r, f: r.compute_root().memoize(),
    "atomic": lambda s, r, f: f.allow_race_conditions(),
}


@pytest.mark.parametrize("name", schedules)
def test_schedules_keep_the_result(name):
    funcs = blur()
    given = schedules[name](*funcs)
    assert given is not None
    if name == "compute_with":
        return  # consumer and producer cannot be fused; that the call arrives is enough
    assert pixels(funcs[2]) == plain


def test_change_type_computes_in_another_type():
    f, g = ct.funcs("f g")
    r = ct.RDom([(0, 10)], "r")
    f[x] = 0.0
    f[x] += ct.cast(ct.Float(32), ct.clamp(x + r, 0, 20))
    g[x] = f[x] / 2
    narrow = f.change_type(ct.Int(16))
    assert (narrow.type(), f.type()) == (ct.Int(16), ct.Float(32))
    narrow.compute_root()
    assert list(g.realize([2])) == [22.5, 27.5]
    with pytest.raises(ct.CompileError, match="the sum of update 0 may not be one of its values"):
        narrow.change_type(ct.Int(8))
    assert narrow.change_type(ct.UInt(8), unsafe=True).type() == ct.UInt(8)


def test_directives_give_the_same_object():
    f = blur()[2]
    assert f.compute_root() is f and f.vectorize(x, 8) is f and f.parallel(y) is f
    s = f.specialize(f.output_buffer().height() > 3)
    assert isinstance(s, ct.Stage) and s.unroll(x, 2) is s


def test_compute_with():
    f, g, h = ct.funcs("f g h")
    f[x, y] = x + y
    g[x, y] = x - y
    h[x, y] = f[x, y] * g[x, y]
    f.compute_root()
    g.compute_root().compute_with(f, y, ct.LoopAlignStrategy.AlignStart)
    assert h.realize([4, 4])[3, 1] == 8


def test_update_stages():
    f = ct.Func("f")
    r = ct.RDom([(0, 32)], "r")
    ro, ri = ct.rvars("ro ri")
    f[x] = 0
    f[x] += x * r
    stage = f.update()
    assert stage.split(r, ro, ri, 4) is stage
    assert [type(v).__name__ for v in stage.split_vars()] == ["RVar", "RVar", "Var", "Var"]
    part = stage.rfactor(ro, t)
    part.compute_root().update().parallel(t)
    assert f.realize([3])[2] == 2 * sum(range(32))
    assert "update" in stage.name()


def test_factored_dimensions_are_in_the_order_of_the_loops():
    r = ct.RDom([(0, 3), (0, 4), (0, 5)], "r")
    t, u, v = ct.vars("t u v")
    for listed in ([(r[0], t), (r[1], u), (r[2], v)], [(r[2], v), (r[0], t), (r[1], u)]):
        f = ct.Func("f")
        f[x] = 0
        f[x] += x + r[0] + 10 * r[1] * r[2]
        part = f.update().rfactor(listed)
        part.compute_root()
        assert [a.name() for a in part.args()] == ["x", "t", "u", "v"]
        assert f.realize([2])[1] == sum(
            1 + i + 10 * j * k for i in range(3) for j in range(4) for k in range(5)
        )


def test_atomic_histogram():
    f, image = ct.funcs("f image")
    image[x] = (x * x) % 5
    r = ct.RDom([(0, 100)])
    f[x] = 0
    f[image[r]] += 1
    f.compute_root().update().atomic().parallel(r)
    counts = [sum((i * i) % 5 == v for i in range(100)) for v in range(5)]
    assert list(f.realize([5])) == counts


def test_errors_name_the_loop():
    f = blur()[2]
    with pytest.raises(ct.CompileError, match="xi"):
        f.vectorize(xi)
    with pytest.raises(ct.CompileError, match="factor is 0, must be at least 1|0"):
        f.split(x, xo, xi, 0)
    with pytest.raises(TypeError, match="vectorize.*incompatible function arg"):
        f.vectorize("x")
    with pytest.raises(ct.CompileError, match="'x' .str. is no loop"):
        f.reorder("x", "y")


def test_gpu_directives_need_a_gpu_in_the_target():
    f = blur()[2]
    assert f.gpu_tile(x, y, xi, yi, 8, 8) is f
    target = ct.Target("host")
    with pytest.raises(ct.CompileError, match="GPU"):
        f.compile_jit(target)


def test_gpu_code_can_be_written_for_cuda(tmp_path):
    f = blur()[2]
    f.gpu_tile(x, y, xo, yo, xi, yi, 8, 8)
    path = tmp_path / "f.stmt"
    f.compile_to_lowered_stmt(str(path), [], ct.StmtOutputFormat.Text, ct.Target("host-cuda"))
    assert "gpu_block" in path.read_text()


def test_what_is_no_list_of_loops_is_named():
    f = blur()[2]
    for use in (f.reorder, f.never_partition, f.always_partition):
        for value, text in ((3, "3 .int."), (None, "None .NoneType."), (ct.Int(8), "Type int8> .Type.")):
            with pytest.raises(ct.CallError, match=f"{text} is no loop: a Var or RVar is one"):
                use(value)
    with pytest.raises(ct.CallError, match="3 .int. is no Var"):
        f.reorder_storage(3)
    with pytest.raises(ct.CallError, match="3 .int. is no Func"):
        f.eager_inline(3)
    assert f.reorder(loop for loop in (y, x)) is f
