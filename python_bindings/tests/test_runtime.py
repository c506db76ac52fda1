# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""calotype.runtime: pipelines compiled ahead of time, without the compiler."""

import array
import contextlib
import copy
import importlib.util
import inspect
import io
import os
import pickle
import shutil
import subprocess
import sys
import sysconfig
import threading

import calotype as ct
import pytest
from calotype import runtime

x, y = ct.vars("x y")

compiler = shutil.which("c++") or shutil.which("cc")
pytestmark = pytest.mark.skipif(compiler is None, reason="there is no C++ compiler to link with")


def shared_library(folder, name, pipeline, args, file=None, target=ct.Target()):
    """What a build system does with a static library of generated code."""
    pipeline.compile_to_static_library(str(folder / name), args, name, target)
    out = folder / (file or f"{name}.so")
    subprocess.run(
        [compiler, "-shared", "-o", str(out), "-Wl,--whole-archive", str(folder / f"{name}.a")]
        + ["-Wl,--no-whole-archive", "-lpthread", "-ldl"],
        check=True,
    )
    return out


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    image = ct.ImageParam(ct.UInt(8), 2, "image")
    gain = ct.Param(ct.Float(32), "gain")
    offset = ct.Param(ct.Int(16), "offset", 3, -10, 10)
    f = ct.Func("result")
    f[x, y] = ct.u8_sat(image[x, y] * gain + offset)
    f.vectorize(x, 8, ct.TailStrategy.GuardWithIf).parallel(y)
    return shared_library(tmp_path_factory.mktemp("aot"), "scale", f, [image, gain, offset])


def bytes_of(rows):
    return memoryview(bytearray(sum(rows, []))).cast("B", (len(rows), len(rows[0])))


def test_a_kernel_is_a_function(path):
    scale = runtime.load(path)
    a, out = bytes_of([[1, 2, 3], [4, 5, 6]]), bytes_of([[0] * 3] * 2)
    scale(a, 2.0, 1, out)
    assert out.tolist() == [[3, 5, 7], [9, 11, 13]]
    scale(result=out, offset=0, gain=10, image=a)
    assert out.tolist() == [[10, 20, 30], [40, 50, 60]]


def test_what_a_kernel_says_of_itself(path):
    assert str(runtime.load(os.fsencode(path))) == str(runtime.load(path))
    scale = runtime.load(os.fspath(path), "scale")
    assert scale.__name__ == "scale" and scale.target.startswith("x86-64-")
    assert list(inspect.signature(scale).parameters) == ["image", "gain", "offset", "result"]
    assert [str(a) for a in scale.arguments][::3] == ["image: uint8[2]", "result: uint8[2]"]
    assert scale.arguments[3].kind == "output" and scale.arguments[1].kind == "scalar"
    expected = "scale(image: uint8[2], gain: float32, offset: int16, result: uint8[2])"
    assert repr(scale) == f"<calotype.runtime.Kernel {expected}>"


def test_numpy_and_any_strides(path):
    numpy = pytest.importorskip("numpy")
    scale = runtime.load(path)
    a = numpy.arange(48, dtype=numpy.uint8).reshape(6, 8)
    out = numpy.zeros((6, 8), numpy.uint8)
    scale(a, 1, 1, out)
    assert numpy.array_equal(out, a + 1)
    scale(a[::-1], 1, 1, out[:, :])
    assert numpy.array_equal(out, a[::-1] + 1)
    with pytest.raises(ct.RuntimeError, match="stride"):
        scale(a.T, 1, 1, out.T)
    out.flags.writeable = False
    with pytest.raises(ct.ArgumentError, match="argument 'result' is read-only"):
        scale(a, 1, 1, out)


def test_errors_of_calls(path):
    scale = runtime.load(path)
    a, out = bytes_of([[1, 2]]), bytes_of([[0, 0]])
    wrong = {
        "Argument gain was not specified by": lambda: scale(a),
        "Unknown argument 'color' specified via keyword": lambda: scale(a, 1, 0, out, color=1),
        "argument 'image' has elements of type float32, must have uint8": lambda: scale(
            array.array("f", [1]), 1, 0, out
        ),
        "argument 'image' is None": lambda: scale(None, 1, 0, out),
        "argument 'offset' is 40000 .int., which does not fit in int16": lambda: scale(
            a, 1, 40000, out
        ),
        "argument 'offset' is 1.5 .float., must be a number": lambda: scale(a, 1, 1.5, out),
    }
    for text, call in wrong.items():
        with pytest.raises(ct.ArgumentError, match=text):
            call()
    with pytest.raises(ct.RuntimeError, match="offset is 11"):
        scale(a, 1, 11, out)
    with pytest.raises(ct.RuntimeError, match="image covers"):
        scale(a, 1, 0, bytes_of([[0] * 5]))


def test_errors_of_loading(path, tmp_path):
    with pytest.raises(ct.ArgumentError, match="cannot load .*missing.so"):
        runtime.load(tmp_path / "missing.so")
    with pytest.raises(ct.ArgumentError, match="has no pipeline 'other'"):
        runtime.load(path, "other")
    (tmp_path / "wrong.so").write_text("no library")
    with pytest.raises(ct.ArgumentError, match="cannot load"):
        runtime.load(tmp_path / "wrong.so")


def test_tuples_printing_and_errors_in_parallel_loops(tmp_path):
    f = ct.Func("pair")
    limit = ct.Param(ct.Int(32), "limit")
    f[x] = (ct.print(x), ct.require(x < limit, x * 2, "x is", x))
    f.parallel(x)
    pair = runtime.load(shared_library(tmp_path, "pair", f, [limit], "libpair.so"))
    assert [a.name for a in pair.arguments] == ["limit", "pair_0", "pair_1"]
    first, second = array.array("i", [0] * 3), array.array("i", [0] * 3)
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        pair(5, first, second)
    assert sorted(text.getvalue().split()) == ["0", "1", "2"] and list(second) == [0, 2, 4]
    with contextlib.redirect_stdout(text), pytest.raises(ct.RuntimeError, match="x is 2"):
        pair(2, first, second)


def test_many_threads(path):
    scale = runtime.load(path)
    failures = []

    def work(k):
        a, out = bytes_of([[k] * 64] * 8), bytes_of([[0] * 64] * 8)
        for _ in range(200):
            scale(a, 2, 0, out)
        if out.tolist() != [[2 * k] * 64] * 8:
            failures.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


@pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="Python has its lock")
def test_without_the_lock_of_python(path):
    code = f"""if True:
        import calotype, sys, threading
        from calotype import runtime
        assert not sys._is_gil_enabled()
        scale = runtime.load({str(path)!r})
        def work(k):
            for i in range(500):
                a, out = (memoryview(bytearray([b] * 6)).cast("B", (2, 3)) for b in (k, 0))
                scale(a, 2.0, i % 3, out) if i % 2 else scale(image=a, gain=2, offset=i % 3, result=out)
                assert out.tolist() == [[2 * k + i % 3] * 3] * 2
                try:
                    scale(a, "x", 1, out)
                except calotype.ArgumentError as e:
                    assert "must be a number" in str(e)
        threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
        [t.start() for t in threads], [t.join() for t in threads]
        assert not sys._is_gil_enabled()
    """
    command = [sys.executable, "-W", "error", "-X", "faulthandler", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def compiled_module(folder, name, pipeline, args, function=None, target="host"):
    """By the emit type python_extension: one file, imported as any module."""
    base = str(folder / name)
    types = ct.OutputFileType
    outputs = {types.python_extension: base + ".py.cpp", types.static_library: base + ".a"}
    pipeline.compile_to(outputs, args, function or name, ct.Target(target))
    include = "-I" + sysconfig.get_paths()["include"]
    flags = ["-std=c++17", "-Wall", "-Werror", "-O1", "-shared", "-fPIC", include]
    files = ["-o", base + ".so", base + ".py.cpp", base + ".a"]
    subprocess.run([compiler, *flags, *files, "-lpthread", "-ldl"], check=True)
    spec = importlib.util.spec_from_file_location(name, base + ".so")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_an_extension_module(tmp_path):
    image, gain = ct.ImageParam(ct.UInt(8), 2, "image"), ct.Param(ct.Float(32), "gain")
    f = ct.Func("result")
    f[x, y] = ct.u8_sat(image[x, y] * gain)
    brighter = compiled_module(tmp_path, "brighter", f, [image, gain]).brighter
    a, out = bytes_of([[1, 2, 3], [4, 5, 6]]), bytes_of([[0] * 3] * 2)
    brighter(a, gain=2.0, result=out)
    assert out.tolist() == [[2, 4, 6], [8, 10, 12]]
    assert list(inspect.signature(brighter).parameters) == ["image", "gain", "result"]
    assert "image: uint8[2]" in brighter.__doc__
    with pytest.raises(ct.RuntimeError, match="image covers"):
        brighter(bytes_of([[0] * 5]), 1.0, out)
    assert brighter.cache_stats()["loads"] == 0


def test_an_extension_module_with_names_of_cpp(tmp_path):
    image = ct.ImageParam(ct.UInt(8), 1, "image")
    f = ct.Func("result")
    f[x] = image[x] + 1
    target = "host-c_plus_plus_name_mangling"
    module = compiled_module(tmp_path, "n__m__next_one", f, [image], "n::m::next_one", target)
    out = array.array("B", [0] * 3)
    module.next_one(array.array("B", [1, 2, 3]), out)
    assert out.tolist() == [2, 3, 4]
    loaded = runtime.load(module.__file__, "n::m::next_one")
    loaded(array.array("B", [4, 5, 6]), out)
    assert out.tolist() == [5, 6, 7]


def test_sources_that_cannot_be_made(tmp_path):
    image = ct.ImageParam(ct.UInt(8), 2, "image")
    f = ct.Func("result")
    f[x, y] = image[x, y]
    path = str(tmp_path / "out")
    with pytest.raises(ct.CompileError, match="pytorch_wrapper: target .* lacks the feature user_c"):
        f.compile_to({ct.OutputFileType.pytorch_wrapper: path}, [image], "f", ct.Target("host-cuda"))


def test_no_compiler_is_loaded(path):
    code = (
        "import sys, calotype.runtime as r\n"
        f"r.load({os.fspath(path)!r})\n"
        "assert 'calotype._core' not in sys.modules\n"
        "assert not any('LLVM' in line for line in open('/proc/self/maps'))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_buffers_keep_their_coordinates(tmp_path):
    f, first = ct.Func("ramp"), ct.Param(ct.Int(32), "first")
    f[x, y] = first + x + 100 * y
    ramp = runtime.load(shared_library(tmp_path, "ramp", f, [first]))
    b = ct.Buffer(ct.Int(32), [4, 3])
    b.set_min([-2, 7])
    ramp(0, b)
    assert b[-2, 7] == 698 and b[1, 9] == 901
    ramp(0, memoryview(b))
    assert b[-2, 7] == 0


def test_what_printing_raises(tmp_path, capsys):
    class Closed:
        def write(self, text):
            raise KeyboardInterrupt(text)

    f = ct.Func("printing")
    f[x] = ct.print(x)
    printing, out = runtime.load(shared_library(tmp_path, "printing", f, [])), array.array("i", [0] * 3)
    with contextlib.redirect_stdout(Closed()), pytest.raises(KeyboardInterrupt, match="0"):
        printing(out)
    printing(out)
    assert capsys.readouterr().out.split() == ["0", "1", "2"]


def test_a_context_of_the_user_may_stand_first(tmp_path):
    image = ct.ImageParam(ct.UInt(8), 1, "image")
    f = ct.Func("next")
    f[x] = image[x] + ct.u8(1)
    target = ct.Target("host-user_context")
    library = shared_library(tmp_path, "next", f, [image], target=target)
    after, out = runtime.load(library), bytearray(3)
    after(b"abc", out)
    assert out == b"bcd"
    after(None, b"bcd", out)
    assert out == b"cde"
    for wrong, shown in (("here", "'here' .str."), (2**70, "1180591620717411303424 .int.")):
        with pytest.raises(ct.ArgumentError, match=f"'__user_context' is {shown}, must be None or"):
            after(wrong, b"bcd", out)


def test_a_pipeline_without_device_code_has_nothing_to_load(path):
    scale = runtime.load(path)
    loading = scale.prefetch()
    assert loading.modules == 0 and loading.wait()
    with pytest.raises(ct.ArgumentError, match="device is 0, must be None: the pipeline was compiled"):
        scale.prefetch(0)


def test_copies_of_kernels(path, monkeypatch, tmp_path):
    monkeypatch.chdir(path.parent)
    scale = runtime.load(path.name, "scale")
    assert copy.copy(scale) is scale and copy.deepcopy([scale])[0] is scale
    data = pickle.dumps(scale)
    monkeypatch.chdir(tmp_path)
    again = pickle.loads(data)
    assert again is not scale and repr(again) == repr(scale)
    out = bytes_of([[0] * 3])
    again(bytes_of([[1, 2, 3]]), 2.0, 1, out)
    assert out.tolist() == [[3, 5, 7]]
