# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of Python that pipelines call: what they raise is raised by the run."""

import os
import subprocess
import sys
import threading

import calotype as ct
import pytest

x, y, xi = ct.vars("x y xi")
opencl = ct.Target("host-opencl")
needs_opencl = pytest.mark.skipif(
    not ct.host_supports_target_device(opencl), reason="there is no OpenCL device"
)


class OddNumber(Exception):
    pass


def even_half(name, parallel=False):
    """A pipeline that calls a function, which refuses odd numbers."""

    @ct.extern_function(ct.Int(32), [ct.Int(32)])
    def half(i):
        if i % 2:
            raise OddNumber(i)
        return i // 2

    f, start = ct.Func(name), ct.Param(ct.Int(32), "start")
    f[x, y] = ct.extern_call("half_" + name, ct.Int(32), [2 * x + start])
    if parallel:
        f.parallel(y)
    p = ct.Pipeline(f)
    p.set_jit_externs({"half_" + name: half})
    return p, start


@pytest.mark.parametrize("parallel", [False, True])
def test_what_an_extern_function_raises(parallel):
    p, start = even_half(f"raises{parallel}", parallel)
    start.set(4)
    assert p.realize([3, 16])[2, 5] == 4
    start.set(1)
    with pytest.raises(OddNumber):
        p.realize([3, 16])
    call = p.compile_to_callable([start])
    out = ct.Buffer(ct.Int(32), [3, 16])
    with pytest.raises(OddNumber):
        call(3, out)
    call(4, out)
    assert out[1, 0] == 3


@pytest.mark.parametrize("parallel", [False, True])
def test_each_thread_gets_its_own(parallel):
    p, start = even_half(f"threads{parallel}", parallel)
    call = p.compile_to_callable([start])
    wrong = []

    def work(first):
        out = ct.Buffer(ct.Int(32), [4, 4])
        for _ in range(20):
            try:
                call(first, out)
                wrong.extend([first] if first % 2 else [])
            except OddNumber as e:
                wrong.extend([] if e.args[0] % 2 and first % 2 else [first])

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_a_pipeline_that_runs_in_another():
    p, start = even_half("inner")
    start.set(1)

    @ct.extern_function(ct.Int(32), [ct.Int(32)])
    def careful(i):
        try:
            p.realize([1, 1])
        except OddNumber:
            return 10 * i
        return -1

    f = ct.Func("outer")
    f[x] = ct.extern_call("careful", ct.Int(32), [x])
    outer = ct.Pipeline(f)
    outer.set_jit_externs({"careful": careful})
    assert list(outer.realize([3])) == [0, 10, 20]


def test_an_extern_stage_that_raises_ends_the_pipeline():
    @ct.extern_function(ct.Int(32), [ct.Handle()])
    def stage(buffer):
        raise KeyError(buffer)

    f = ct.Func("stage")
    f.define_extern("raising_stage", [], ct.Int(32), 1)
    p = ct.Pipeline(f)
    p.set_jit_externs({"raising_stage": stage})
    with pytest.raises(KeyError):
        p.realize([4])


def test_what_is_no_extern_function():
    with pytest.raises(ct.CompileError, match="argument 1 of an extern function has type float16"):
        ct.extern_function(ct.Int(32), [ct.Int(32), ct.Float(16)])(print)
    with pytest.raises(ct.CompileError, match="3 is no extern function, must be callable"):
        ct.ExternFunction(3, ct.Int(32), [])


SOURCE = b"int twice(int i) { return 2 * i; }"


def doubling(name, setup=None, teardown=None):
    code = ct.Linkable.from_bytes(ct.LinkableKind.OPENCL_C, SOURCE, "twice")
    f = ct.Func(name)
    code = code.callbacks(setup, teardown)
    f[x] = ct.pure_extern_device_call(code, "twice", ct.Int(32), [x]) + 1
    return f.gpu_tile(x, xi, 8)


@needs_opencl
def test_a_setup_is_told_what_is_loaded():
    seen = []

    def setup(event):
        seen.append((event.is_setup, event.reason, event.linkable, event.context != 0))
        seen.append(event)

    f = doubling("told", setup)
    assert list(f.realize([8], opencl)) == [2 * i + 1 for i in range(8)]
    assert seen[0] == (True, "load", "twice", True) and len(seen) == 2
    f.realize([8], opencl)
    assert len(seen) == 2
    with pytest.raises(ct.CompileError, match="used after the callback"):
        seen[1].module


@needs_opencl
def test_what_a_setup_raises():
    def setup(event):
        raise OddNumber(event.linkable)

    with pytest.raises(OddNumber, match="twice"):
        doubling("raising", setup).realize([8], opencl)
    call = doubling("raising_too", setup).compile_to_callable([], opencl)
    out = ct.Buffer(ct.Int(32), [8])
    with pytest.raises(OddNumber, match="twice"):
        call(out)


@needs_opencl
def test_a_setup_that_fails():
    with pytest.raises(ct.RuntimeError, match="twice"):
        doubling("failing", lambda event: 3).realize([8], opencl)
    with pytest.raises(ct.RuntimeError, match="a callback of a linkable gives 'no' .str., must give None or an int"):
        doubling("saying", lambda event: "no").realize([8], opencl)


def test_what_is_no_callback():
    code = ct.Linkable.from_bytes(ct.LinkableKind.OPENCL_C, SOURCE, "twice")
    with pytest.raises(ct.CompileError, match="no callback of a linkable, must be a function"):
        code.callbacks(3)


PROGRAM = """
import test_callbacks as t
def teardown(event):
    print(event.is_setup, event.reason, event.linkable, flush=True)
    if {raises}:
        raise t.OddNumber
f = t.doubling("ends", None, teardown)
f.realize([8], t.opencl)
"""


@needs_opencl
@pytest.mark.parametrize("raises", [False, True])
def test_teardowns_run_before_the_interpreter_ends(raises):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM.format(raises=raises)],
        cwd=os.path.dirname(__file__),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0 and done.stdout.split()[0::2] == ["False", "twice"], done
    assert ("OddNumber" in done.stderr) == raises


def test_functions_stay_when_the_dict_that_had_them_changes():
    def of(factor):
        return ct.extern_function(ct.Int(32), [ct.Int(32)])(lambda i: factor * i)

    f = ct.Func("f")
    f[x] = ct.extern_call("scaled_by", ct.Int(32), [x])
    p, externs = ct.Pipeline(f), {"scaled_by": of(2)}
    p.set_jit_externs(externs)
    externs["scaled_by"] = of(3)
    others = [of(i) for i in range(20)]
    assert list(p.realize([3])) == [0, 2, 4]
    externs.clear()
    del others
    assert list(p.realize([3])) == [0, 2, 4]


@pytest.mark.parametrize("t", [int, ct.Int(32), "int32"])
def test_what_stands_for_a_type_is_the_type_of_a_function(t):
    f = ct.Func("f")
    f[x] = ct.extern_call("next", ct.Int(32), [x])
    p = ct.Pipeline(f)
    p.set_jit_externs({"next": ct.extern_function(t, [t])(lambda i: i + 1)})
    assert list(p.realize([3])) == [1, 2, 3]
    with pytest.raises(ct.CompileError, match="argument 0 of an extern function has type 3, must be a Type"):
        ct.extern_function(t, [3])(abs)


def test_types_of_calls_are_those_of_the_function():
    def run(result, arguments, function):
        f = ct.Func("f")
        f[x] = ct.extern_call("typed", ct.Int(32), [x])
        p = ct.Pipeline(f)
        p.set_jit_externs({"typed": ct.extern_function(result, arguments)(function)})
        return list(p.realize([3]))

    for result, arguments, text in (
        (ct.Int(32), [ct.Int(32)] * 2, r"typed takes \(int32, int32\) and gives int32, it is called with \(int32\)"),
        (ct.Float(32), [ct.Int(32)], r"and gives float32, it is called with \(int32\) for int32"),
        (ct.Int(32), [ct.Int(64)], r"takes \(int64\)"),
        (ct.Int(32), [ct.Float(32)], r"takes \(float32\)"),
    ):
        with pytest.raises(ct.CompileError, match=text):
            run(result, arguments, lambda *_: 0)
    assert run(ct.UInt(32), [ct.UInt(32)], lambda i: i + 1) == [1, 2, 3]


def test_types_of_a_function_are_a_list():
    with pytest.raises(ct.CompileError, match="arguments of an extern function are <.*int32>, must be a list of Types"):
        ct.extern_function(ct.Int(32), ct.Int(32))(abs)
    with pytest.raises(ct.CallError, match="3 .int. is no type and no list of types"):
        ct.Func("f").define_extern("function", [], 3, 1)
