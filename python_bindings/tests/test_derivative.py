# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gradients of pipelines, and schedules that others write."""

import calotype as ct
import numpy
import pytest

x, y = ct.vars("x y")


def loss():
    """5 p (f(0) + f(1) + f(2)), where f is b but for f(0)."""
    b = ct.Buffer(numpy.array([1, 2, 3], numpy.float32), "b")
    p = ct.Param(ct.Float(32), "p", 1)
    f, g, h = ct.funcs("f g h")
    f[x] = b[x]
    f[0] = 4.0
    g[x] = f[x] * 5.0 * p
    r = ct.RDom([(0, 3)])
    h[()] = 0.0
    h[()] += g[r.x]
    return b, p, f, h


def test_derivatives_of_funcs_updates_buffers_and_params():
    b, p, f, h = loss()
    d = ct.propagate_adjoints(h)
    assert list(d[f].realize([3])) == [0, 5, 5]
    assert list(d[f, 0].realize([3])) == [5, 5, 5]
    assert list(d(f, 0).realize([3])) == [5, 5, 5]
    assert list(d[b].realize([3])) == [0, 5, 5]
    assert list(d["b"].realize([3])) == [0, 5, 5]
    assert d[p].realize()[()] == 45


def test_derivatives_with_respect_to_an_adjoint():
    image = ct.ImageParam(ct.Float(32), 1, "image")
    f = ct.Func("f")
    f[x] = image[x] * image[x]
    image.set(numpy.array([1, 2, 3], numpy.float32))
    d = ct.propagate_adjoints(f, numpy.array([1, 10, 100], numpy.float32))
    assert list(d[image].realize([3])) == [2, 40, 600]
    weights = ct.Func("weights")
    weights[x] = 2.0
    d = ct.propagate_adjoints(f, weights, [(0, 3)])
    assert list(d[image].realize([3])) == [4, 8, 12]


def test_what_no_derivative_is_of():
    d = ct.propagate_adjoints(loss()[3])
    with pytest.raises(ct.CompileError, match=r"3 \(int\) is no Func, Buffer, Param or name"):
        d[3]
    with pytest.raises(ct.CompileError, match="is no pair of a Func and the number of an update"):
        d[loss()[2], "last"]


def test_an_autoscheduler_is_a_function(tmp_path):
    f = ct.Func("f")
    f[x, y] = x + y
    seen = {}

    def lanes(pipeline, target, params):
        seen.update(params.extra)
        for g in pipeline.outputs():
            g.vectorize(x, int(params.extra["lanes"]), ct.TailStrategy.GuardWithIf)
        return "vectorize x"

    ct.Pipeline.add_autoscheduler("lanes", lanes)
    params = ct.AutoschedulerParams("lanes", {"lanes": 4})
    results = ct.Pipeline(f).apply_autoscheduler(ct.get_host_target(), params)
    assert seen == {"lanes": "4"}
    assert results.schedule_source == "vectorize x"
    assert str(results.autoscheduler_params) == "autoscheduler=lanes autoscheduler.lanes=4"
    assert f.realize([5, 2])[4, 1] == 5
    module = f.compile_to_module([], "f")
    assert module.get_auto_scheduler_results() is None
    module.set_auto_scheduler_results(results)
    assert module.get_auto_scheduler_results().schedule_source == "vectorize x"
    module.compile({ct.OutputFileType.schedule: str(tmp_path / "f.schedule.h")})
    assert (tmp_path / "f.schedule.h").read_text() == "vectorize x"
    with pytest.raises(ct.CompileError, match="lanes"):
        ct.Pipeline.add_autoscheduler("lanes", lanes)


def test_an_autoscheduler_that_raises():
    def fails(pipeline, target, params):
        raise KeyError("no such loop")

    ct.Pipeline.add_autoscheduler("fails", fails)
    ct.Pipeline.add_autoscheduler("talks", lambda *_: 3)
    f = ct.Func("f")
    f[x] = x
    with pytest.raises(KeyError, match="no such loop"):
        ct.Pipeline(f).apply_autoscheduler(ct.get_host_target(), ct.AutoschedulerParams("fails"))
    with pytest.raises(ct.CompileError, match=r"gives 3 \(int\), must give the schedule as a str"):
        ct.Pipeline(f).apply_autoscheduler(ct.get_host_target(), ct.AutoschedulerParams("talks"))
    with pytest.raises(ct.CompileError, match="'unheard' is not known"):
        ct.Pipeline(f).apply_autoscheduler(ct.get_host_target(), ct.AutoschedulerParams("unheard"))


def test_plugins_are_loaded():
    with pytest.raises(ct.CompileError, match="no_such_plugin"):
        ct.load_plugin("no_such_plugin")


def test_the_autoscheduler_of_the_compiler():
    ct.load_plugin("autoschedule_mullapudi2016")
    f, g = ct.Func("f"), ct.Func("g")
    f[x, y] = x * y % 251
    g[x, y] = f[x, y] + f[x + 1, y] + f[x, y + 1]
    params = ct.AutoschedulerParams("Mullapudi2016", {"parallelism": 4})
    with pytest.raises(ct.CompileError, match=r"dimension 0 \(x\) of output g.* has no estimate"):
        ct.Pipeline(g).apply_autoscheduler(ct.get_host_target(), params)
    g.set_estimates([(0, 640), (0, 480)])
    results = ct.Pipeline(g).apply_autoscheduler(ct.get_host_target(), params)
    assert ".vectorize(" in results.schedule_source
    assert g.realize([13, 7])[12, 6] == 12 * 6 + 13 * 6 + 12 * 7
