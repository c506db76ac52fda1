# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Running: realize, Callable, parameters, errors, printing, threads."""

import array
import contextlib
import inspect
import io
import sys
import threading
import time
import warnings

import calotype as ct
import pytest

x, y = ct.vars("x y")


def scaled(name="scaled"):
    image = ct.ImageParam(ct.UInt(8), 2, "image")
    gain = ct.Param(ct.Float(32), "gain", 2.0)
    f = ct.Func(name)
    f[x, y] = ct.u8_sat(image[x, y] * gain)
    return image, gain, f


def test_inputs_are_set():
    image, gain, f = scaled()
    source = ct.Buffer(ct.UInt(8), [3, 2])
    source.fill(7)
    image.set(source)
    assert f.realize([3, 2]).all_equal(14)
    gain.set(3)
    assert gain.get() == 3.0
    out = ct.Buffer(ct.UInt(8), [2, 2])
    assert f.realize(out) is None and out.all_equal(21)
    image.reset()
    with pytest.raises(ct.RuntimeError, match="no buffer is set for input image"):
        f.realize([3, 2])


def test_the_target_of_the_environment_is_looked_at_when_something_is_compiled(monkeypatch):
    f = ct.Func("of_environment")
    f[x] = x + 3
    out = ct.Buffer(ct.Int(32), [4])
    f.realize(out)
    compiled = ct.compile_stats()["compiled"]
    monkeypatch.setenv("CT_JIT_TARGET", "nonsense")
    f.realize(out)
    assert ct.compile_stats()["compiled"] == compiled
    f.vectorize(x, 4)
    for _ in range(2):
        with pytest.raises(ct.CompileError, match="nonsense"):
            f.realize(out)
    monkeypatch.setenv("CT_JIT_TARGET", "host-no_asserts")
    f.realize(out)
    assert ct.compile_stats()["compiled"] == compiled + 1
    assert out[3] == 6


def test_sizes_in_an_array():
    numpy = pytest.importorskip("numpy")
    f, row = ct.Func("f"), ct.Func("row")
    f[x, y] = x + 10 * y
    assert f.realize(numpy.array([3, 2]))[2, 1] == 12
    assert f.realize(numpy.zeros((2, 3)).shape[::-1])[2, 1] == 12
    row[x] = x
    filled = numpy.zeros(3, numpy.int32)
    assert row.realize(filled) is None and filled[2] == 2
    for wrong in (numpy.array([3, 2, 1]), numpy.array([3.0, 2.0])):
        with pytest.raises(ct.CompileError, match="for output func .* has type"):
            f.realize(wrong)


def test_callable_arguments_by_place_and_by_name():
    image, gain, f = scaled("taken")
    image, gain, f = scaled("taken")
    c = f.compile_to_callable([image, gain])
    a, out = ct.Buffer(ct.UInt(8), [2, 2]), ct.Buffer(ct.UInt(8), [2, 2])
    a.fill(5)
    c(a, 1.5, out)
    assert out.all_equal(7)
    c(gain=4, taken=out, image=a)
    assert out.all_equal(20)
    c(a, taken=out, gain=1)
    assert out.all_equal(5)
    assert repr(c).endswith(".Callable (image: uint8[2], gain: float32, taken: uint8[2])>")
    said = "(image: 'uint8[2]', gain: 'float32', taken: 'uint8[2]')"
    assert str(inspect.signature(c)) == said


def test_callable_errors_name_argument_found_and_expected():
    image, gain, f = scaled()
    c = f.compile_to_callable([image, gain])
    a, out = ct.Buffer(ct.UInt(8), [2, 2]), ct.Buffer(ct.UInt(8), [2, 2])
    a.fill(1)
    wrong = {
        "at most 3 positional arguments, but saw 4. The function takes .image:": lambda: c(a, 1, out, 4),
        "Expected exactly 3 positional arguments, but saw 1. Argument gain was not": lambda: c(a),
        "^Argument image was not specified by either positional or": lambda: c(gain=1),
        "Unknown argument 'color' specified via keyword. The": lambda: c(a, 1, out, color=3),
        "Argument image specified multiple times. It is given": lambda: c(a, 1, out, image=a),
        "argument 'gain' is 'x' .str., must be a number .float32": lambda: c(a, "x", out),
        "'image' is 3 .int., must be an array of uint8 with 2 .*is not an instance": lambda: c(3, 1, out),
        "argument 'image' has elements of type int16, must have uint8": lambda: c(
            ct.Buffer(ct.Int(16), [2, 2]), 1, out
        ),
        "argument 'image' has 1 dimensions, must have 2": lambda: c(
            ct.Buffer(ct.UInt(8), [2]), 1, out
        ),
        "argument 'gain' is 1e.300 .float., which does not fit in float32": lambda: c(a, 1e300, out),
        "undefined Buffer": lambda: c(ct.Buffer(), 1, out),
    }
    for text, call in wrong.items():
        with pytest.raises(ct.ArgumentError, match=text):
            call()
    with pytest.raises(ct.RuntimeError, match="image"):
        c(a, 1, ct.Buffer(ct.UInt(8), [4, 4]))


@pytest.mark.parametrize(
    "t,good,bad",
    [
        (ct.UInt(8), [0, 255], [-1, 256, 1.5]),
        (ct.Int(8), [-128, 127], [-129, 128]),
        (ct.UInt(32), [0, 2**32 - 1], [-1, 2**32]),
        (ct.Int(64), [-(2**63), 2**63 - 1], [2**63]),
        (ct.UInt(64), [0, 2**64 - 1], [-1, 2**64]),
        (ct.Bool(), [True, False, 1], ["no"]),
        (ct.Float(64), [0.1, 3], [None, "1"]),
        (ct.Float(16), [1.5], [object()]),
    ],
)
def test_values_of_params(t, good, bad):
    p = ct.Param(t, "p")
    for v in good:
        p.set(v)
        assert p.get() == v
    for v in bad:
        with pytest.raises(ct.ArgumentError, match="p is "):
            p.set(v)
    f = ct.Func()
    f[x] = p
    p.set(good[0])
    assert f.realize([1])[0] == good[0]


def test_bools_of_numpy_are_numbers_as_those_of_python():
    numpy = pytest.importorskip("numpy")
    p, b = ct.Param(ct.Int(32), "p"), ct.Buffer(ct.UInt(8), [3], "b")
    f = ct.Func("f")
    f[x] = x + p
    call, out = f.compile_to_callable([p]), numpy.zeros(3, numpy.int32)
    for yes in (True, numpy.bool_(True), numpy.array(True)):
        p.set(yes)
        call(yes, out)
        b.fill(0)
        b[1] = yes
        assert p.get() == 1 and out.tolist() == [1, 2, 3] and list(b) == [0, 1, 0]
    for wrong in (numpy.array([True]), numpy.float32(1), numpy.array([True, False])):
        with pytest.raises(ct.ArgumentError, match="must be a number .int32."):
            p.set(wrong)


def test_float16_params_round_as_numpy_does():
    numpy = pytest.importorskip("numpy")
    p = ct.Param(ct.Float(16))
    values = [0.0, -0.0, 1.0, 0.1, -2.5, 65504, 65519.9, 6e-8, 2.9e-8, 6.1e-5, 1 / 3, 2049, 2051]
    for v in values:
        p.set(v)
        assert p.get() == float(numpy.float16(v)), v
    p.set(float("nan"))
    assert p.get() != p.get()


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("t", [ct.Float(16), ct.Float(32), ct.Float(64), ct.Int(32)])
def test_complex_numbers_of_numpy_are_no_numbers_here(t, dtype):
    np = pytest.importorskip("numpy")
    p, out = ct.Param(t, "p"), ct.Buffer(t, [2])
    f = ct.Func("f")
    f[x] = p
    call = f.compile_to_callable([p])
    for value in (np.dtype(dtype).type(2 + 3j), np.array(2 + 3j, dtype)):
        for use in (p.set, out.fill, lambda v: out.__setitem__(0, v), lambda v: call(v, out)):
            with pytest.raises(ct.ArgumentError, match=rf"is .*complex|is array.*, must be a number \({t}\)"):
                use(value)


def test_ranges_of_params():
    p = ct.Param(ct.Int(32), "p", 3, 0, 10)
    f = ct.Func()
    f[x] = p + x
    assert list(f.realize([2])) == [3, 4]
    p.set(11)
    with pytest.raises(ct.RuntimeError, match="p is 11|11"):
        f.realize([2])


def test_errors_are_exceptions_of_one_hierarchy():
    assert issubclass(ct.CompileError, ct.Error)
    assert issubclass(ct.RuntimeError, ct.Error) and issubclass(ct.RuntimeError, RuntimeError)
    assert issubclass(ct.ArgumentError, ValueError) and issubclass(ct.ArgumentError, TypeError)
    f = ct.Func("f")
    with pytest.raises(ct.CompileError, match="f"):
        f.realize([3])
    g = ct.Func("g")
    g[x] = ct.u8(x)
    with pytest.raises(ct.CompileError, match="has type uint16, must have uint8"):
        g.realize(ct.Buffer(ct.UInt(16), [3]))
    with pytest.raises(ct.CompileError, match="1 dimensions, but 2 sizes"):
        g.realize([3, 4])
    with pytest.raises(ct.CompileError, match="is no list of sizes"):
        g.realize("abc")


def test_printing_goes_to_sys_stdout():
    f = ct.Func("f")
    f[x] = ct.print(x * x, "at", x)
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        f.realize([3])
    assert text.getvalue() == "0 at 0\n1 at 1\n4 at 2\n"

    class Broken:
        def write(self, text):
            raise ZeroDivisionError("broken")

    with contextlib.redirect_stdout(Broken()), pytest.raises(ZeroDivisionError, match="broken"):
        f.realize([3])


def test_compiler_warnings_are_python_warnings(tmp_path):
    f, g = ct.funcs("f g")
    xi = ct.Var("xi")
    f[x] = x
    g[x] = f[x] + f[x + 1]
    f.compute_root().gpu_tile(x, xi, 8).store_in(ct.MemoryType.GPUTexture)
    g.gpu_tile(x, xi, 8)
    with pytest.warns(ct.CompileWarning, match="is stored in gpu_texture"):
        g.compile_to_lowered_stmt(str(tmp_path / "g"), [], target=ct.Target("host-cuda"))


def warns(k):
    """A pipeline whose compilation warns; no other has been compiled."""
    f, g = ct.funcs("f g")
    f[x] = x + k
    g[x] = f[x] + 1
    f.stream_stores()
    return g


@pytest.mark.filterwarnings("error")
def test_a_warning_that_is_an_error_ends_the_compilation():
    f = warns(71)
    with pytest.raises(ct.CompileWarning, match="func f.* is inlined, so it has no loads") as raised:
        f.realize([8])
    assert type(raised.value) is ct.CompileWarning
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert list(f.realize([2])) == [72, 73]


@pytest.mark.filterwarnings("error")
def test_each_thread_gets_the_exception_of_its_warning():
    raised = []

    def work(k):
        try:
            warns(k).compile_jit()
        except Exception as e:
            raised.append(type(e))

    threads = [threading.Thread(target=work, args=(80 + i // 2,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert raised == [ct.CompileWarning] * 8


def test_threads_compile_and_run_at_once():
    results, failures = {}, []

    def work(i):
        try:
            f = ct.Func()
            f[x] = x * i
            results[i] = list(f.realize([5]))
        except Exception as e:
            failures.append(e)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert all(results[i] == [k * i for k in range(5)] for i in range(8))


def test_other_threads_run_during_a_call():
    # A pipeline that waits for a Python thread would never end if the lock were held.
    f = ct.Func("f")
    f[x] = ct.print(x)
    went_on = threading.Event()
    other = threading.Thread(target=went_on.set)

    class Waits:
        def write(self, text):
            other.start()
            assert went_on.wait(60)

    with contextlib.redirect_stdout(Waits()):
        f.realize([1])
    other.join()


def test_one_callable_on_many_threads():
    image, gain, f = scaled()
    c = f.compile_to_callable([image, gain])
    a = ct.Buffer(ct.UInt(8), [64, 64])
    a.fill(2)
    failures = []

    def work(k):
        out = ct.Buffer(ct.UInt(8), [64, 64])
        for _ in range(200):
            c(a, k, out)
        if not out.all_equal(2 * k):
            failures.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(1, 7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_outputs_by_name_are_checked_too():
    numpy = pytest.importorskip("numpy")
    image = ct.ImageParam(ct.UInt(8), 1, "image")
    f = ct.Func("brighter")
    f[x] = image[x] + 1
    call = f.compile_to_callable([image])
    source, result = numpy.zeros(4, numpy.uint8), numpy.zeros(4, numpy.uint8)
    result.flags.writeable = False
    keyword = call.arguments()[1].name.split("$")[0]
    with pytest.raises(ct.Error, match="argument 'brighter' is read-only, and written by the pipeline"):
        call(source, **{keyword: ct.Buffer(result)})
    with pytest.raises(ct.ArgumentError, match="'image' is an undefined Buffer"):
        call(ct.Buffer(), numpy.zeros(4, numpy.uint8))


@pytest.mark.parametrize("step", range(4))
def test_what_changes_during_a_compilation_counts_for_the_next(step):
    f = ct.Func("f")
    f[x] = x + 5
    stages = []

    def change(at):
        if len(stages) == step:
            f.bound(x, 0, 2)
        stages.append(at.stage)

    with ct.progress(change):
        assert list(f.realize([3])) == [5, 6, 7]
    assert len(stages) > step
    with pytest.raises(ct.RuntimeError, match=r"in x \(from 0 to 1\) do not cover required region \(from 0 to 2\)"):
        f.realize([3])


def test_pipelines_are_changed_while_other_threads_compile_them():
    image, gain = ct.ImageParam(ct.Int(32), 2, "image"), ct.Param(ct.Int(32), "gain", 3)
    image.set(ct.Buffer(ct.Int(32), [40, 40]))
    stages = [ct.Func(f"stage{i}") for i in range(12)]
    stages[0][x, y] = image[x, y] * gain
    for before, after in zip(stages, stages[1:]):
        after[x, y] = before[x, y] + x
        before.compute_root()
    end = time.monotonic() + 2
    problems = []

    def compile_it(k):
        try:
            while time.monotonic() < end:
                if k == 0:
                    stages[-1].compile_jit()
                elif k == 1:
                    stages[-1].compile_to_module([image, gain], "module")
                else:
                    stages[-1].realize([8, 8])
        except Exception as e:  # any is one too many
            problems.append(e)

    def change_it(number):
        while time.monotonic() < end:
            number += 1
            stage = stages[number % 11]
            stage.add_trace_tag("tag" * 10)
            stage.set_estimates([(0, number), (0, 8)])
            gain.set_range(-number, number + 3)
            image.dim(1).set_bounds(0, 40)
            image.dim(0).set_estimate(0, number)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        threads = [threading.Thread(target=work, args=(k,)) for work in (compile_it, change_it) for k in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert problems == []


def test_arguments_with_any_names():
    """What Python cannot write is like it in the signature; `**` gives it as it is."""
    image = ct.ImageParam(ct.Int(32), 1, "from")
    params = [ct.Param(ct.Int(32), n) for n in ("class", "self", "1x", "a b", "a_b")]
    f = ct.Func("lambda")
    f[x] = sum(params, image[x])
    call = f.compile_to_callable([image, *params])
    names = list(inspect.signature(call).parameters)
    assert names == ["from_", "class_", "self", "_1x", "a_b", "a_b_", "lambda_"]
    a, out = array.array("i", [1, 2]), array.array("i", [0, 0])
    call(a, 1, 2, 3, 4, 5, out)
    assert out.tolist() == [16, 17]
    call(**{"from": a, "class": 0, "self": 0, "1x": 0, "a b": 7, "a_b": 0, "lambda": out})
    assert out.tolist() == [8, 9]


def test_many_arguments():
    images = [ct.ImageParam(ct.Int(32), 1, f"image{i}") for i in range(200)]
    f = ct.Func("total")
    f[x] = sum((i[x] for i in images), ct.i32(0))
    call = f.compile_to_callable(images)
    out = array.array("i", [0])
    call(*(array.array("i", [i]) for i in range(200)), out)
    assert out[0] == sum(range(200))
    params = [ct.Param(ct.Int(32), f"p{i}") for i in range(1024)]
    g = ct.Func("g")
    g[x] = x
    with pytest.raises(ct.ArgumentError, match="a pipeline of 1025 arguments cannot be called, at most 1024"):
        g.compile_to_callable(params)
