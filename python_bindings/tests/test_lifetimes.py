# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What lives longer than it should, or not as long: at the end of the interpreter, in children, beside calls."""

import array
import enum
import gc
import os
import pathlib
import shutil
import subprocess
import sys
import weakref

import calotype as ct
import pytest
from calotype import runtime

here = pathlib.Path(__file__).parent
compiler = shutil.which("c++") or shutil.which("cc")

PIPELINE = """
import os, sys, threading, time
import calotype as ct
x, y = ct.vars("x y")
image = ct.ImageParam(ct.Float(32), 2, "image")
def pipeline(target="host"):
    f = ct.Func()
    f[x, y] = image[x, y] * 2
    if "cuda" in target:
        f.gpu_tile(x, y, ct.Var(), ct.Var(), 16, 8)
    else:
        f.parallel(y)
    return f, f.compile_to_callable([image], ct.Target(target))
"""
FAKE = "import fake_cuda\n" + PIPELINE


def run(code, expected=0):
    """In a process of its own, which must end well and say nothing on stderr."""
    env = {**os.environ, "PYTHONWARNINGS": "ignore"}
    command = [sys.executable, "-X", "faulthandler", "-c", code]
    done = subprocess.run(
        command, cwd=here, env=env, capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stderr) == (expected, ""), done
    return done.stdout


needs_driver = pytest.mark.skipif(
    not (pathlib.Path(os.environ.get("CALOTYPE_BUILD_DIR", ".")) / "lib/libfake_cuda.so").exists(),
    reason="the fake CUDA driver was not built",
)


def test_the_interpreter_ends_while_things_live():
    run(
        PIPELINE
        + "f, call = pipeline()\n"
        + "a, b = ct.Buffer(ct.Float(32), [16, 8]), ct.Buffer(ct.Float(32), [16, 8])\n"
        + "call(a, b)\n"
        + "view = memoryview(b)\n"
        + "capsule = b.__dlpack__(max_version=(1, 1))\n"
        + "image.set(bytearray(512)) if False else None\n"
        + "kept = [ct.Buffer(bytearray(16)), view, capsule]\n"
        + "kept.append(kept)\n"
    )


@needs_driver
def test_the_interpreter_ends_while_memory_of_a_device_lives():
    run(
        FAKE
        + "f, call = pipeline('host-cuda')\n"
        + "out = ct.Buffer(ct.Float(32), [16, 8])\n"
        + "source = fake_cuda.ExchangeArray((8, 16), 'f')\n"
        + "call(source, out)\n"
        + "held = ct.Buffer(source)\n"
        + "capsule = out.__dlpack__(max_version=(1, 1))\n"
        + "image.set(source)\n"
        + "f.realize(out, ct.Target('host-cuda'))\n"
        + "kept = [held, capsule, out, call]\n"
        + "kept.append(kept)\n"
    )


def test_the_interpreter_ends_while_threads_call():
    run(
        PIPELINE
        + "f, call = pipeline()\n"
        + "def work():\n"
        + "    a, b = ct.Buffer(ct.Float(32), [512, 512]), ct.Buffer(ct.Float(32), [512, 512])\n"
        + "    while True:\n"
        + "        call(a, b)\n"
        + "for _ in range(4):\n"
        + "    threading.Thread(target=work, daemon=True).start()\n"
        + "time.sleep(0.2)\n"
    )


@pytest.mark.parametrize(
    "work",
    [
        "p.realize([64, 64])",  # an extern function
        "g.realize([64, 64])",  # print
        "with ct.progress(lambda *_: busy(8)):\n            made().compile_jit()",
        "call(Picture(), memoryview(bytearray(128)).cast('f', (8, 4)))",
        "b.for_each_element(lambda at: busy(8))",
    ],
)
def test_the_interpreter_ends_while_threads_are_in_functions_of_python(work):
    """Python ends such a thread within the function, whose caller is code of C++."""
    run(
        PIPELINE
        + "f, call = pipeline()\n"
        + "def busy(n):\n"
        + "    return sum(i * i for i in range(n * 50)) * 0 + n\n"
        + "class Out:\n"
        + "    def write(self, text):\n"
        + "        busy(8)\n"
        + "    def flush(self):\n"
        + "        pass\n"
        + "class Picture:\n"
        + "    @property\n"
        + "    def __array_interface__(self):\n"
        + "        busy(8)\n"
        + "        return {'shape': (8, 4), 'typestr': '<f4', 'data': bytes(128), 'version': 3}\n"
        + "extern = ct.extern_function(ct.Int(32), [ct.Int(32)])(busy)\n"
        + "e = ct.Func()\n"
        + "e[x, y] = ct.extern_call('busy', ct.Int(32), [x])\n"
        + "e.parallel(y)\n"
        + "p = ct.Pipeline(e)\n"
        + "p.set_jit_externs({'busy': extern})\n"
        + "g = ct.Func()\n"
        + "g[x, y] = ct.print(x)\n"
        + "b = ct.Buffer(ct.UInt(8), [64, 64])\n"
        + "def made():\n"
        + "    h = ct.Func()\n"
        + "    h[x] = x\n"
        + "    return h\n"
        + "sys.stdout = Out()\n"
        + "def work():\n"
        + "    while True:\n"
        + f"        {work}\n"
        + "for _ in range(4):\n"
        + "    threading.Thread(target=work, daemon=True).start()\n"
        + "time.sleep(0.5)\n"
    )


@pytest.mark.parametrize("is_told", [False, True])
def test_the_interpreter_ends_while_threads_compile(is_told):
    """Destructors of the compiler run when the process ends; what was registered first comes last: there
    the process stays a while, so that what compiles without its tables is seen to crash."""
    told = "with ct.progress(lambda *_: None): " if is_told else ""
    run(
        "import ctypes\n"
        + "libc = ctypes.CDLL(None)\n"
        + "libc.__cxa_atexit(libc.usleep, ctypes.c_void_p(300000), None)\n"
        + PIPELINE
        + "def work():\n"
        + "    while True:\n"
        + "        f = ct.Func()\n"
        + "        f[x] = ct.sqrt(ct.f32(x)) + len(f.name())\n"
        + f"        {told}f.compile_jit()\n"
        + "for _ in range(4):\n"
        + "    threading.Thread(target=work, daemon=True).start()\n"
        + "time.sleep(0.5)\n"
    )


def test_a_child_calls_what_its_parent_has_compiled():
    out = run(
        PIPELINE
        + "f, call = pipeline()\n"
        + "a, b = ct.Buffer(ct.Float(32), [64, 64]), ct.Buffer(ct.Float(32), [64, 64])\n"
        + "a.fill(3)\n"
        + "call(a, b)\n"
        + "child = os.fork()\n"
        + "if child == 0:\n"
        + "    b.fill(0)\n"
        + "    call(a, b)\n"
        + "    g, other = pipeline()\n"
        + "    other(a, b)\n"
        + "    os._exit(0 if b[63, 63] == 6 else 1)\n"
        + "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
    )
    assert out.strip() == "0"


def test_children_of_a_pool_run_pipelines():
    out = run(
        "import calotype as ct\n"
        "import multiprocessing\n"
        "x, y = ct.vars('x y')\n"
        "f = ct.Func('f')\n"
        "f[x, y] = x + y\n"
        "f.parallel(y)\n"
        "f.realize([64, 64])\n"
        "def work(k):\n"
        "    g = ct.Func()\n"
        "    g[x] = x * k\n"
        "    return f.realize([64, 64])[k, 1] + g.realize([4])[2]\n"
        "with multiprocessing.get_context('fork').Pool(3) as pool:\n"
        "    print(*pool.map(work, range(6)))\n"
    )
    assert out.split() == [str(3 * k + 1) for k in range(6)]


def test_a_child_compiles_what_a_thread_of_its_parent_was_compiling():
    out = run(
        "import os, signal, threading\n"
        "import calotype as ct\n"
        "x, y = ct.vars('x y')\n"
        "f = ct.Func('f')\n"
        "f[x, y] = ct.sin(x * 1.0) * y\n"
        "f.parallel(y)\n"
        "steps = threading.Semaphore(0)\n"
        "def work():\n"
        "    with ct.progress(lambda step: steps.release()):\n"
        "        f.compile_jit()\n"
        "thread = threading.Thread(target=work)\n"
        "thread.start()\n"
        "for _ in range(20):\n"
        "    steps.acquire()\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    signal.alarm(30)\n"
        "    g = ct.Func('g')\n"
        "    g[x] = x + 1\n"
        "    os._exit(0 if f.realize([4, 4])[0, 1] == 0 and g.realize([2])[1] == 2 else 1)\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
        "thread.join()\n"
    )
    assert out.strip() == "0"


def test_extern_functions_live_as_long_as_what_calls_them():
    out = run(
        "import gc, weakref\n"
        "import calotype as ct\n"
        "x = ct.Var('x')\n"
        "called = []\n"
        "class Function:\n"
        "    def __init__(self, k):\n"
        "        self.k = k\n"
        "    def __call__(self, i):\n"
        "        return i + self.k\n"
        "def pipeline(k):\n"
        "    function = Function(k)\n"
        "    called.append(weakref.ref(function))\n"
        "    f = ct.Func(f'f{k}')\n"
        "    f[x] = ct.extern_call('plus', ct.Int(32), [x])\n"
        "    p = ct.Pipeline(f)\n"
        "    p.set_jit_externs({'plus': ct.ExternFunction(function, ct.Int(32), [ct.Int(32)])})\n"
        "    return p\n"
        "p = pipeline(0)\n"
        "c = pipeline(1).compile_to_callable([])\n"
        "gc.collect()\n"
        "out = ct.Buffer(ct.Int(32), [2])\n"
        "c(out)\n"
        "print(*p.realize([2]), *out)\n"
        "pipeline(2)\n"
        "pipeline(3)  # frees what nobody calls\n"
        "gc.collect()\n"
        "print(*p.realize([2]), *(function() is not None for function in called[:3]))\n"
    )
    assert out.split() == "0 1 1 2 0 1 True True False".split()


def test_an_array_that_nobody_else_keeps_lives_as_long_as_the_call():
    run(
        PIPELINE
        + "import ctypes\n"
        + "arrays = [bytearray(64) for _ in range(2)]\n"
        + "image = ct.ImageParam(ct.UInt(8), 1, 'image')\n"
        + "Callback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)\n"
        + "def forget(i):\n"
        + "    arrays.clear()\n"
        + "    return 7\n"
        + "callback = Callback(forget)\n"
        + "f = ct.Func()\n"
        + "f[x] = ct.u8(image[x] + ct.extern_call('forget', ct.Int(32), [x]))\n"
        + "p = ct.Pipeline(f)\n"
        + "p.set_jit_externs({'forget': callback})\n"
        + "call = p.compile_to_callable([image])\n"
        + "call(memoryview(arrays[0]), arrays[1])\n"
        + "assert not arrays\n"
    )


def test_an_input_stays_for_the_run_that_has_begun_with_it():
    numpy = pytest.importorskip("numpy")
    image, x = ct.ImageParam(ct.Int(32), 1, "image"), ct.Var("x")
    f, first = ct.funcs("f first")
    first[()] = ct.extern_call("set_another", ct.Int(32), [0])
    f[x] = image[x] + first[()]
    first.compute_root()
    alive = []

    @ct.extern_function(ct.Int(32), [ct.Int(32)])
    def set_another(i):
        image.set(numpy.zeros(1000, numpy.int32))
        gc.collect()
        alive.append(first_array() is not None)
        return i

    p, whole = ct.Pipeline(f), numpy.full(1000, 7, numpy.int32)
    p.set_jit_externs({"set_another": set_another})
    first_array = weakref.ref(whole)
    image.set(whole)
    del whole
    assert set(p.realize([1000])) == {7} and alive == [True]
    gc.collect()
    assert first_array() is None and set(p.realize([1000])) == {0}


def test_memory_that_a_call_uses_cannot_be_resized():
    image = ct.ImageParam(ct.UInt(8), 1, "image")
    f, x = ct.Func("f"), ct.Var("x")
    f[x] = image[x]
    data = bytearray(8)
    held = ct.Buffer(data)
    with pytest.raises(BufferError, match="object cannot be re-sized"):
        data.append(1)
    del held
    data.append(1)
    f.compile_to_callable([image])(data, bytearray(9))
    data.append(1)


@pytest.mark.skipif(compiler is None, reason="there is no C++ compiler")
@pytest.mark.parametrize("version, text", [(99, "has metadata of version 99, must be"), (1, "")])
def test_a_library_of_another_version_is_refused(tmp_path, version, text):
    header = pathlib.Path(os.environ.get("CALOTYPE_BUILD_DIR", ".")) / "include"
    if not header.exists():
        pytest.skip("there are no headers of Calotype")
    (tmp_path / "other.cpp").write_text(
        "#include <calotype/runtime/abi/metadata.h>\n"
        f"static const calotype_filter_metadata_t m = {{{version}, 0, nullptr, \"host\", \"other\"}};\n"
        'extern "C" int other_argv(void **) { return 0; }\n'
        'extern "C" const calotype_filter_metadata_t *other_metadata() { return &m; }\n'
    )
    library = str(tmp_path / "other.so")
    source = str(tmp_path / "other.cpp")
    command = [compiler, "-shared", "-fPIC", f"-I{header}", "-o", library, source]
    subprocess.run(command, check=True)
    if text:
        with pytest.raises(ct.ArgumentError, match=text):
            runtime.load(library)
    else:
        runtime.load(library)()


def test_what_printing_raises_is_carried_through(capsys):
    class Closed:
        def write(self, text):
            raise ZeroDivisionError(text)

    f, x = ct.Func("f"), ct.Var("x")
    f[x] = ct.print(x)
    call = f.compile_to_callable([])
    out = array.array("i", [0] * 3)
    before = sys.stdout
    try:
        sys.stdout = Closed()
        with pytest.raises(ZeroDivisionError):
            call(out)
    finally:
        sys.stdout = before
    call(out)
    assert capsys.readouterr().out.split() == ["0", "1", "2"]


def test_weak_references():
    f, x = ct.Func(), ct.Var("x")
    f[x] = x
    things = [f, x, x + 1, ct.ImageParam(ct.UInt(8), 1), ct.Param(ct.Int(32)), ct.Pipeline(f)]
    things.append(f.compile_to_callable([]))
    references = [weakref.ref(thing) for thing in things]
    assert [r() for r in references[:1]] == [f]
    notes = weakref.WeakKeyDictionary({f: "kept"})
    assert notes[f] == "kept"
    del f, x, things
    gc.collect()
    assert [r() for r in references] == [None] * len(references) and not notes


def test_objects_of_all_classes_have_weak_references():
    from calotype import _core

    classes = [c for c in vars(_core).values() if isinstance(c, type) and c.__module__ == "calotype._core"]
    others = [c for c in classes if not issubclass(c, (BaseException, enum.Enum))]
    assert len(others) > 20 and [c for c in others if not c.__weakrefoffset__] == []
    f, x = ct.Func(), ct.Var("x")
    f[x] = x
    image = ct.ImageParam(ct.UInt(8), 1)
    things = [ct.UInt(8), ct.Target("host"), ct.RDom([(0, 3)]), f[x], ct.Argument(image), image.dim(0)]
    references = [weakref.ref(thing) for thing in things]
    assert [r() for r in references][1:3] == things[1:3]
    names = weakref.WeakKeyDictionary({things[0]: "a byte"})
    assert names[ct.UInt(8)] == "a byte"
    del things
    gc.collect()
    assert [r() for r in references] == [None] * len(references) and not names


def gone(make):
    """What make() gives, after its memory has had time to be used for something else."""
    result = make()
    gc.collect()
    junk = [ct.Buffer(ct.UInt(8), [d + 1, 3, 5]) for d in range(64)]
    del junk
    return result


def test_parts_keep_what_they_are_parts_of():
    x, y = ct.vars("x y")

    def func():
        f = ct.Func("owner")
        f[x, y] = x + y
        f[x, y] += ct.RDom([(0, 3)], "r").x
        return f

    data = bytearray(range(35))
    dim = gone(lambda: ct.Buffer(memoryview(data).cast("B", (5, 7))).dim(1))
    assert (dim.min(), dim.max(), dim.extent(), dim.stride(), list(dim)) == (0, 4, 5, 7, [0, 1, 2, 3, 4])
    assert [ct.Buffer(ct.UInt(8), [7, 5]).dim(d).extent() for d in (0, 1)] == [7, 5]
    assert [i for i in ct.Buffer(ct.UInt(8), [3]).dim(0)] == [0, 1, 2]
    rvar = gone(lambda: ct.RDom([(0, 10), (3, 4)], "gone")[1])
    assert rvar.name() == "gone$y" and gone(lambda: ct.RDom([(0, 10)], "lost").x).name() == "lost$x"
    assert [v.name() for v in gone(lambda: func().args())] == ["x", "y"]
    assert gone(lambda: func().update(0)).name().startswith("owner")
    assert gone(lambda: func().output_buffer().dim(1)).extent().type() == ct.Int(32)
    assert gone(lambda: func().output_buffers()[0].set_host_alignment(32)).host_alignment() == 32
    assert gone(lambda: func()[x, y]).type() == ct.Int(32)
    assert "+" in str(gone(lambda: func().value()))
    assert gone(lambda: ct.Pipeline(func()).outputs()[0]).name().startswith("owner")
    assert gone(lambda: ct.ImageParam(ct.UInt(8), 2, "image").set_host_alignment(16)).name() == "image"
    assert gone(lambda: ct.ImageParam(ct.UInt(8), 2, "image").parameter()).name() == "image"
    image = ct.ImageParam(ct.UInt(8), 2, "image")
    copied = ct.Func("copied")
    copied[x, y] = image[x, y]
    assert [a.name for a in gone(lambda: copied.infer_arguments())] == ["image"]
    module = gone(lambda: copied.compile_to_module([image], "copied"))
    assert gone(lambda: module.target()) == module.target()
    call = gone(lambda: copied.compile_to_callable([image]))
    assert [a.name for a in gone(lambda: call.arguments())][0] == "image"


def test_a_dimension_is_the_one_of_now():
    b = ct.Buffer(ct.UInt(8), [7, 5])
    first, second = b.dim(0), b.dim(1)
    b.set_min([3, 4])
    b.crop(0, 4, 2)
    assert (first.min(), first.extent(), second.min()) == (4, 2, 4)
    b.slice(0, 4)
    assert first.extent() == 5
    with pytest.raises(ct.Error, match="has 1 dimensions, there is no 1"):
        second.extent()


def test_what_an_index_changes_is_looked_at_afterwards():
    class Slicing:
        def __index__(self):
            b.slice(0, 0)
            return 1

    b = ct.Buffer(ct.UInt(8), [7, 5])
    with pytest.raises(ct.Error, match="has 1 dimensions, 2 coordinates are given"):
        b[Slicing(), 1]
    b = ct.Buffer(ct.UInt(8), [7, 5])
    with pytest.raises(ct.Error, match="has 1 dimensions, 2 coordinates are given"):
        b[1, Slicing()] = 3


def test_arrays_and_buffers_that_refer_to_each_other_are_freed():
    np = pytest.importorskip("numpy")

    class Named(np.ndarray):
        pass

    class OwnBuffer(ct.Buffer):
        pass

    def cycle(cls):
        array = np.arange(4, dtype=np.int32).view(Named)
        array.buffer = cls(array)
        if cls is OwnBuffer:
            array.buffer.me = array.buffer
        return array.buffer, weakref.ref(array)

    for cls in (ct.Buffer, OwnBuffer):
        gc.collect()
        buffer, array = cycle(cls)
        view, image = buffer.numpy_view(), ct.ImageParam(ct.Int(32), 1)
        del buffer
        gc.collect()
        assert array() is not None and list(view) == [0, 1, 2, 3]
        image.set(array().buffer)
        del view
        gc.collect()
        assert array() is not None
        del image
        gc.collect()
        assert array() is None


def test_pipelines_run_while_the_interpreter_ends():
    out = run(f"""{PIPELINE}
f = ct.Func()
f[x] = x
f.realize([2])
class Last:
    def __del__(self):
        b = f.realize([3])
        print(list(b), list(b.dim(0)), b.fill(7), b[1])
last = Last()
""")
    assert out == "[0, 1, 2] [0, 1, 2] None 7\n"


@pytest.mark.parametrize("call", ["callable(inputs, out)", "image.set(inputs); f.realize(out)"])
def test_memory_stays_while_another_thread_deallocates_it(call):
    out = run(f"""{PIPELINE}
f = ct.Func()
r = ct.RDom([(0, 200)])
f[x, y] = image[x, y]
f[x, y] += image[x, y] * r
callable = f.compile_to_callable([image])
for i in range(4):
    inputs, out = (ct.Buffer(ct.Float(32), [1000, 1000]) for _ in range(2))
    inputs.fill(1)
    def deallocate():
        time.sleep(0.01)
        inputs.deallocate()
        out.deallocate()
    other = threading.Thread(target=deallocate)
    other.start()
    try:
        {call}
    except ct.Error:
        pass  # it was deallocated before the call
    other.join()
print("done")
""")
    assert out == "done\n"


def test_other_interpreters_are_refused():
    out = run(
        "import importlib, sys\n"
        "name = '_interpreters' if sys.version_info >= (3, 13) else '_xxsubinterpreters'\n"
        "interpreters = importlib.import_module(name)\n"
        "code = '\\n'.join((\n"
        "    'for module in (\"calotype._core\", \"calotype.runtime._runtime\"):',\n"
        "    '    try:',\n"
        "    '        __import__(module)',\n"
        "    '    except ImportError as error:',\n"
        "    '        print(error, flush=True)'))\n"
        "def elsewhere():\n"
        "    other = interpreters.create()\n"
        "    interpreters.run_string(other, code)\n"
        "    interpreters.destroy(other)\n"
        "elsewhere()\n"
        "import calotype as ct, calotype.runtime\n"
        "x, f = ct.Var('x'), ct.Func('f')\n"
        "f[x] = x\n"
        "print(f.realize([3])[2], flush=True)\n"
        "elsewhere()\n"
        "print(f.realize([4])[3])\n"
    )
    lines = out.splitlines()
    refused = [i for i in lines if "main interpreter alone" in i or "subinterpreters" in i]
    assert len(refused) == 4 and [i for i in lines if i not in refused] == ["2", "3"]


def test_arrays_that_pipelines_had_are_freed(tmp_path):
    np = pytest.importorskip("numpy")

    class Named(np.ndarray):
        pass

    def array_of(use):
        array = np.arange(4, dtype=np.int32).view(Named)
        image, f, x = ct.ImageParam(ct.Int(32), 1), ct.Func(), ct.Var()
        source = image if use != "constant" else ct.Buffer(array)
        f[x] = source[x] + 1
        if use in ("run", "written"):
            image.set(array)
        if use == "written":
            f.compile_to_file(tmp_path / "f", [image])
        else:
            assert list(f.realize([4])) == [1, 2, 3, 4]
        return weakref.ref(array)

    for use in ("run", "written", "constant"):
        array = array_of(use)
        gc.collect()
        assert array() is None, use
