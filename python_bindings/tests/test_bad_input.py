# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is no argument, array or object: each an exception that says so, and no crash."""

import ctypes
import os
import pathlib
import subprocess
import sys
import threading

import calotype as ct
import pytest

x, y = ct.vars("x y")
here = pathlib.Path(__file__).parent


class Interface:
    """An array by __array_interface__ alone, of 4 times 4 bytes unless told otherwise."""

    def __init__(self, **changes):
        self.memory = bytearray(64)
        address = ct.Buffer(self.memory).numpy_view().ctypes.data if "data" not in changes else 0
        self.__array_interface__ = {
            "shape": (4, 4),
            "typestr": "|u1",
            "data": (address, False),
            "version": 3,
            **changes,
        }


class Dlpack:
    def __init__(self, device=(1, 0), capsule=None):
        self.device, self.capsule = device, capsule

    def __dlpack_device__(self):
        if isinstance(self.device, Exception):
            raise self.device
        return self.device

    def __dlpack__(self, **_):
        if isinstance(self.capsule, Exception):
            raise self.capsule
        return self.capsule


pytestmark = pytest.mark.filterwarnings("ignore:.*uninitialized instance:RuntimeWarning")


@pytest.fixture(scope="module")
def copy():
    image = ct.ImageParam(ct.UInt(8), 2, "image")
    f = ct.Func("copied")
    f[x, y] = image[x, y]
    return f.compile_to_callable([image])


def result():
    return memoryview(bytearray(16)).cast("B", (4, 4))


def check_refused(copy, array, text):
    """As an argument, which the message names, and as a Buffer."""
    with pytest.raises(ct.ArgumentError, match=f"argument 'image'.*{text}"):
        copy(array, result())
    with pytest.raises(ct.ArgumentError, match=text):
        ct.Buffer(array)


@pytest.mark.parametrize(
    "changes, text",
    [
        ({"typestr": "<fX"}, "format '<fX', which is no type"),
        ({"typestr": "<f0", "strides": (8, 4)}, "format '<f0', which is no type"),
        ({"typestr": "<f99"}, "format '<f99', which is no type"),
        ({"typestr": "<i3"}, "format '<i3', which is no type"),
        ({"typestr": 3}, "no shape, data or typestr"),
        ({"shape": (4, "4")}, "the array's interface is wrong"),
        ({"shape": (-4, 4)}, "extent -4 in dimension 0, must be at least 0"),
        ({"shape": [4, 4]}, "no shape, data or typestr"),
        ({"data": ("here", False)}, "the array's interface is wrong"),
        ({"data": (0, False)}, "its elements are at address 0"),
        ({"data": 3}, "no shape, data or typestr"),
        ({"data": b"123"}, "names 3 bytes, its elements are from 0 to 16"),
        ({"data": bytes(16), "offset": 4}, "names 16 bytes, its elements are from 4 to 20"),
        ({"data": bytes(16), "strides": (-4, 1)}, "names 16 bytes, .* from -12 to 4"),
        ({"data": bytes(8), "typestr": "<u8", "shape": (2**30 + 1,) * 2, "strides": (2**33,) * 2}, "more bytes than"),
        ({"data": bytes(8), "shape": (2**62, 2**62)}, "more bytes than there are addresses"),
        ({"data": bytes(8), "shape": (4, 2**62)}, "more bytes than there are addresses"),
        ({"strides": (1,)}, "no stride for each dimension"),
        ({"strides": [4, 1]}, "no stride for each dimension"),
        ({"mask": True}, "has a mask"),
    ],
)
def test_interfaces(copy, changes, text):
    pytest.importorskip("numpy")
    check_refused(copy, Interface(**changes), text)


def test_an_interface_that_is_none(copy):
    class Odd:
        __array_interface__ = 3

    with pytest.raises(ct.ArgumentError, match="argument 'image' is <.*Odd.*, must be an array"):
        copy(Odd(), result())


@pytest.mark.parametrize("use", ["input", "output", "Buffer", "realize", "set"])
def test_arrays_with_a_mask(copy, use):
    np = pytest.importorskip("numpy")
    masked = np.ma.masked_equal(np.arange(16, dtype=np.uint8).reshape(4, 4), 5)
    f, image = ct.Func("f"), ct.ImageParam(ct.UInt(8), 2)
    f[x, y] = ct.u8(x + y)
    take = {
        "input": lambda a: copy(a, result()),
        "output": lambda a: copy(result(), a),
        "Buffer": ct.Buffer,
        "realize": f.realize,
        "set": image.set,
    }[use]
    with pytest.raises(ct.ArgumentError, match="the array has a mask, which pipelines do not know"):
        take(masked)
    take(masked.data)
    take(masked.filled(0))
    take(np.ma.array(masked.data))  # nothing was ever masked: an array as others


@pytest.mark.parametrize(
    "array, text",
    [
        (Dlpack(capsule=None), "gives no DLPack capsule"),
        (Dlpack(capsule=3), "gives no DLPack capsule"),
        (Dlpack(capsule=ValueError("not now")), "no view of its memory: not now"),
        (Dlpack(capsule=KeyError("k")), "no view of its memory: 'k'"),
        (Dlpack(RuntimeError("it was deleted")), "no view of its memory: it was deleted"),
    ],
)
def test_dlpack(copy, array, text):
    check_refused(copy, array, text)


@pytest.mark.parametrize("device", [3, ("a", "b"), (1,), ValueError("no device")])
def test_odd_devices_of_dlpack(copy, device):
    with pytest.raises(ct.ArgumentError, match="'image'"):
        copy(Dlpack(device), result())


class Ending(BaseException):
    """As KeyboardInterrupt and SystemExit: about the program, not about the object that was asked."""


def raising(name, **others):
    """An object with a property, or for what is called a method, that raises."""

    def end(*_, **__):
        raise Ending(name)

    is_property = name.strip("_") in ("array_interface", "cuda_array_interface", "dtype", "array", "cuda_stream")
    return type("Raising", (), {name: property(end) if is_property else end, **others})()


def test_what_ends_a_program_is_not_taken_for_a_wrong_argument(copy):
    numbers = {}
    for name, kind in {"__index__": ct.Int(32), "__float__": ct.Float(32), "__bool__": ct.Bool()}.items():
        p, f = ct.Param(kind, "p"), ct.Func("f")
        f[x] = ct.i32(p) + x
        numbers[name] = (p, f.compile_to_callable([p]))
    arrays = [
        raising("__array_interface__"),
        raising("__cuda_array_interface__"),
        raising("__dlpack_device__", __dlpack__=lambda *_, **__: None),
        raising("__dlpack__", __dlpack_device__=lambda _: (1, 0)),
        raising("__repr__"),
    ]
    f = ct.Func("f")
    f[x, y] = ct.u8(x + y)
    for array in arrays:
        for use in (lambda a: copy(a, result()), lambda a: copy(result(), a), ct.Buffer, f.realize):
            with pytest.raises(Ending):
                use(array)
    with pytest.raises(Ending):
        ct.Buffer(raising("__array__"))
    for name, (p, call) in numbers.items():
        number = raising(name, **({"__index__": lambda _: 1} if name == "__bool__" else {}))
        for use in (p.set, lambda n: call(n, memoryview(bytearray(16)).cast("i"))):
            with pytest.raises(Ending):
                use(number)
    for name in ("__cuda_stream__", "cuda_stream"):
        with pytest.raises(Ending):
            copy(result(), result(), stream=raising(name))


def test_arrays_without_elements(copy):
    numpy = pytest.importorskip("numpy")
    empty = numpy.zeros((0, 4), numpy.uint8)
    copy(empty, numpy.zeros((0, 4), numpy.uint8))
    # Not taken for a question of what is needed.
    for array in (empty, Interface(shape=(0, 4), data=(0, False))):
        with pytest.raises(ct.RuntimeError, match="image covers"):
            copy(array, result())
    assert ct.Buffer(Interface(shape=(0, 4), data=(0, False))).number_of_elements() == 0


def test_results_that_cannot_be_written_are_errors_of_python_too():
    numpy = pytest.importorskip("numpy")
    f = ct.Func("f")
    f[x, y] = ct.u8(x + y)
    constant = numpy.zeros((4, 4), numpy.uint8)
    constant.flags.writeable = False
    shared = numpy.lib.stride_tricks.as_strided(numpy.zeros(4, numpy.uint8), (4, 4), (0, 1))
    for wrong, text in ((constant, "read-only array"), (shared, "stride 0"), (ct.Buffer(), "an undefined Buffer")):
        with pytest.raises(ct.CallError, match=text):
            f.realize(wrong)
    b = ct.Buffer(constant)
    for write in (lambda: b.fill(1), lambda: b.__setitem__((0, 0), 1), lambda: b.copy_from(ct.Buffer(b.copy()))):
        with pytest.raises(ValueError, match="read-only array"):
            write()


def test_arrays_of_torch():
    torch = pytest.importorskip("torch")
    image = ct.ImageParam(ct.Float(32), 2, "image")
    f = ct.Func("halved")
    f[x, y] = image[x, y] / 2
    call, out = f.compile_to_callable([image]), torch.zeros(4, 4)
    wrong = {
        "covers": torch.empty(0, 4),
        "float64, must have float32": torch.zeros(4, 4, dtype=torch.float64),
        "must be on the host|no view": torch.zeros(4, 4, device="meta"),
        "no view of its memory": torch.zeros(4, 4).to_sparse(),
        "no view of its memory|no type of": torch.zeros(4, 4, dtype=torch.complex64),
    }
    for text, array in wrong.items():
        with pytest.raises(ct.Error, match=text):
            call(array, out)
    call(torch.ones(4, 4, requires_grad=True).detach(), out)
    assert out.sum() == 8


def uninitialized(cls):
    return cls.__new__(cls)


def test_objects_that_were_never_initialized(copy):
    from calotype import runtime

    class Careless(runtime.Kernel):
        def __init__(self):
            pass

    text = "whose __init__ was never called"
    for call in (uninitialized(type(copy)), uninitialized(runtime.Kernel), Careless()):
        with pytest.raises(ct.ArgumentError, match=text):
            call(1)
    buffer = uninitialized(ct.Buffer)
    with pytest.raises(ct.ArgumentError, match=text):
        copy(buffer, result())
    with pytest.raises(BufferError, match=text):
        memoryview(buffer)
    uses = (
        lambda: buffer[0, 0],
        lambda: buffer.numpy_view(),
        lambda: buffer.__dlpack__(),
        lambda: ct.Func("f").realize(buffer),
        lambda: uninitialized(ct.Func).realize([1]),
        lambda: uninitialized(ct.Func)[x],
        lambda: x + uninitialized(ct.Expr),
        lambda: uninitialized(ct.ImageParam)[x, y],
        lambda: uninitialized(ct.Pipeline).realize([1]),
    )
    for use in uses:
        with pytest.raises((TypeError, ct.Error, BufferError, RuntimeError)):
            use()


def test_elements_in_order_where_that_is_asked_for(tmp_path):
    b = ct.Buffer(ct.UInt(8), [4, 3])
    b.for_each_element(lambda at: b.__setitem__(tuple(at), at[0] + 10 * at[1]))
    with open(tmp_path / "a", "wb") as file:
        file.write(b)
    assert (tmp_path / "a").read_bytes() == bytes([0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23])
    part = b.cropped(0, 1, 2)
    assert memoryview(part).tolist() == [[1, 2], [11, 12], [21, 22]]
    with open(tmp_path / "b", "wb") as file:
        with pytest.raises(BufferError, match="do not follow one another in memory"):
            file.write(part)
        with pytest.raises(BufferError, match="do not follow one another in memory"):
            file.write(b.transposed([1, 0]))


def run(code):
    """In a process of its own, which must end well."""
    env = {**os.environ, "PYTHONWARNINGS": "ignore"}
    command = [sys.executable, "-X", "faulthandler", "-c", "import calotype as ct\n" + code]
    done = subprocess.run(
        command, cwd=here, env=env, capture_output=True, text=True, timeout=200, check=False
    )
    assert done.returncode == 0, done
    return done.stdout.split()


def test_sizes_that_are_none():
    f = ct.Func("f")
    f[x, y] = x + y
    refused = ([1.5, 2], ["a", 2], 3, [None, 1], [-1, 2], [2**40, 2], [[1], [2]])
    for sizes in refused:
        with pytest.raises(ct.CompileError, match="is no size, which|is no list of sizes|must be an integer from 0"):
            f.realize(sizes)
    with pytest.raises(ct.CompileError, match="4.0 .float. is no size, which is an int, and no Buffer"):
        f.realize([4.0, 3.0])
    numpy = pytest.importorskip("numpy")
    with pytest.raises(ct.CompileError, match="5.* .int64. is no list of sizes, no Buffer"):
        f.realize(numpy.int64(5))
    for make in (
        lambda: ct.Buffer(ct.UInt(8), [2**40]),
        lambda: ct.Buffer(ct.Int(64), [2**31 - 1, 2**31 - 1]),
        lambda: f.realize([2**31 - 1, 2**31 - 1]),
        lambda: ct.Buffer(ct.Type(), [3]),
    ):
        with pytest.raises(ct.CompileError, match="must be an integer from 0|than there are addr|must be a type with"):
            make()


def test_buffers_without_memory(tmp_path):
    query, gone = ct.Buffer.make_bounds_query(ct.UInt(8), [3, 3]), ct.Buffer(ct.UInt(8), [3, 3])
    gone.deallocate()
    for b in (query, gone):
        f = ct.Func("f")
        f[x, y] = b[x, y]
        for use in (
            lambda: ct.imageio.imwrite(tmp_path / "none.png", b),
            lambda: ct.imageio.imwrite(tmp_path / "none.npy", b),
            lambda: ct.serialize_pipeline(ct.Pipeline(f)),
            lambda: f.compile_to_module([], "f"),
            lambda: f.compile_to_c(tmp_path / "f.c", [], "f"),
            lambda: f.compile_to_callable([]),
            lambda: ct.Module("m", ct.Target("host")).append(b),
        ):
            with pytest.raises(ct.CompileError, match="has no memory on the host"):
                use()
        assert b._repr_png_() is None


def test_memory_that_there_is_not():
    f = ct.Func("large")
    f[x, y] = x + y
    for make in (lambda: ct.Buffer(ct.Int(32), [2**30, 2**30], "large"), lambda: f.realize([2**30, 2**30])):
        with pytest.raises(MemoryError, match=r"no memory for buffer \S+ of type int32 and 1073741824 times 1073741824"):
            make()


def test_extern_functions_that_are_none():
    f = ct.Func("f")
    f[x] = ct.extern_call("called", ct.Int(32), [x])
    p = ct.Pipeline(f)
    for none in (2**70, 0, 3, None, "text", 3.5, print, ctypes.c_void_p(None), ctypes.c_int(3)):
        with pytest.raises(ct.CompileError, match="extern function called is .*, must be an ExternFunction"):
            p.set_jit_externs({"called": none})
    with pytest.raises(ct.CompileError, match="3 .int. is no name of an extern function"):
        p.set_jit_externs({3: f})
    called = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)(lambda i: i + 1)
    for function in (called, ctypes.cast(called, ctypes.c_void_p), ctypes.cast(called, ctypes.c_void_p).value):
        p.set_jit_externs({"called": function})
        assert list(p.realize([3])) == [1, 2, 3]


def test_exceptions_of_functions_that_are_called():
    class Own(Exception):
        pass

    def raises(*_):
        raise Own

    b = ct.Buffer(ct.UInt(8), [2, 2])
    with pytest.raises(Own):
        b.for_each_element(raises)
    f = ct.Func("scheduled")
    f[x] = x
    ct.Pipeline.add_autoscheduler("raising", raises)
    with pytest.raises(Own):
        ct.Pipeline(f).apply_autoscheduler(
            ct.Target("host"), ct.AutoschedulerParams("raising", {})
        )
    files = {ct.OutputFileType.static_library: "never.a"}
    for factory, expected in ((raises, Own), (lambda *_: 3, ct.CompileError)):
        with pytest.raises(expected):
            ct.compile_multitarget("never", files, [ct.Target("host")], ["one"], factory)


def test_what_an_extern_function_returns_is_checked():
    def run(value, t):
        f = ct.Func("called")
        f[x] = ct.extern_call("gives", t, [x])
        p = ct.Pipeline(f)

        @ct.extern_function(t, [ct.Int(32)])
        def gives(i):
            return value

        p.set_jit_externs({"gives": gives})
        return p.realize([1])[0]

    for value, t in (("text", ct.Int(32)), (2.5, ct.UInt(8)), ("1", ct.Float(32))):
        with pytest.raises(ct.ArgumentError, match=f"gives' is .*{value}.*, must be a number \\({t}"):
            run(value, t)
    for value, t in ((2**40, ct.Int(32)), (-1, ct.UInt(8)), (256, ct.UInt(8))):
        with pytest.raises(ct.ArgumentError, match=f"is {value} .*, which does not fit in {t}"):
            run(value, t)
    assert run(255, ct.UInt(8)) == 255 and run(3, ct.Float(32)) == 3.0 and run(0.1, ct.Float(64)) == 0.1


def test_types_that_have_no_values():
    none = [ct.Float(8), ct.Float(24), ct.BFloat(32), ct.Int(64).widen(), ct.Int(1).narrow()]
    for t in none:
        for use in (
            lambda: ct.cast(t, x),
            lambda: ct.reinterpret(t, x),
            lambda: ct.Param(t),
            lambda: ct.ImageParam(t, 1),
            lambda: ct.Buffer(t, [3]),
            lambda: ct.Func(t, 1, "f"),
            lambda: ct.extern_call("g", t, []),
        ):
            with pytest.raises(ct.CompileError, match=f"there are no values of type {t}: integers have"):
                use()
    for make in (lambda: ct.UInt(8).with_bits(300), lambda: ct.Type(ct.TypeCode.Int, 0)):
        with pytest.raises(ct.CompileError, match="bits is asked for, must have from 1 to 64"):
            make()
    for make in (lambda: ct.UInt(8).with_lanes(0), lambda: ct.Type(ct.TypeCode.Int, 8, 70000)):
        with pytest.raises(ct.CompileError, match="lanes is asked for, must have from 1 to 65535"):
            make()


def test_types_that_there_are_not():
    for make in (ct.Int, ct.UInt, ct.Float):
        for bits in (0, -8, 65, 264):
            with pytest.raises(ct.CompileError, match=f"type of {bits} bits is asked for, must have"):
                make(bits)
        with pytest.raises(ct.CompileError, match="type of 100000 lanes is asked for, must have"):
            make(8, 100000)
    for t in (ct.Int(8, 4), ct.Type()):
        with pytest.raises(ct.CompileError, match="elements of a Buffer are of type"):
            ct.Buffer(t, [3])


def test_an_argument_that_is_given_twice():
    image = ct.ImageParam(ct.UInt(8), 1, "image")
    f = ct.Func("f")
    f[x] = image[x]
    with pytest.raises(ct.CompileError, match="argument image is given twice, in places 0 and 1"):
        f.compile_to_callable([image, image])


def test_without_a_stdout(monkeypatch):
    f = ct.Func("f")
    f[x] = ct.print(x)
    monkeypatch.setattr(sys, "stdout", None)
    f.realize([2])


def test_modules_are_imported_anew():
    """As notebooks do: the classes are those of before, and their errors those of now."""
    out = run(
        "import sys, calotype.runtime\n"
        "f, x = ct.Func('f'), ct.Var('x')\n"
        "f[x] = x\n"
        "for name in [m for m in sys.modules if m.startswith('calotype')]:\n"
        "    del sys.modules[name]\n"
        "import calotype as again, calotype.runtime\n"
        "assert again is not ct and again.Func is ct.Func\n"
        "print(list(f.realize([3]))[2])\n"
        "try:\n"
        "    again.Func().realize([3])\n"
        "except again.CompileError:\n"
        "    print('caught')\n"
    )
    assert out == ["2", "caught"]


def test_expressions_nested_too_deeply():
    p = ct.Param(ct.Int(32), "p")
    e = ct.i32(x)
    for _ in range(20000):
        e = e * 3 + p
    errors = []

    def define():
        try:
            ct.Func("deep")[x] = e
        except ct.CompileError as error:
            errors.append(str(error))

    before = threading.stack_size(1 << 20)
    try:
        thread = threading.Thread(target=define)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    assert len(errors) == 1 and "is nested too deeply for the" in errors[0]


def test_expressions_are_freed_however_deep():
    e = ct.i32(x)
    for _ in range(300000):
        e = e + y
    del e


def test_results_whose_elements_share_memory(copy):
    np = pytest.importorskip("numpy")
    row, source = np.zeros(4, np.uint8), np.ones((4, 4), np.uint8)
    shared = np.lib.stride_tricks.as_strided(row, (4, 4), (0, 1))
    text = "stride 0 in dimension 1 of extent 4, its elements share memory"
    for out in (shared, ct.Buffer(shared)):
        with pytest.raises(ct.ArgumentError, match=f"argument 'copied' has {text}"):
            copy(source, out)
        f = ct.Func("f")
        f[x, y] = ct.u8(x + y)
        with pytest.raises(ct.Error, match=text):
            f.realize(out)
    out = np.zeros((4, 4), np.uint8)
    copy(shared + 1, out)
    assert out.sum() == 16
    copy(np.lib.stride_tricks.as_strided(row, (1, 4), (0, 1)), out[:1])
    # Without elements none are in one place.
    f = ct.Func("f")
    f[x, y] = ct.u8(x + y)
    f.realize(np.lib.stride_tricks.as_strided(row, (3, 0), (0, 1)))


def test_types_that_buffers_and_arguments_cannot_have():
    f = ct.Func("f")
    f[x] = x
    for t in (ct.Int(32, 4), ct.Type()):
        with pytest.raises(ct.CompileError, match=f"the extern definition of func .* has a value of type {t}"):
            ct.Func().define_extern("fill_it", [], t, 1)
        argument = ct.Argument("lanes", ct.ArgumentKind.InputScalar, t, 0, ct.ArgumentEstimates())
        with pytest.raises(ct.CompileError, match=f"argument lanes of a pipeline has type {t}"):
            f.compile_to_callable([argument])


def test_elements_that_are_none():
    b = ct.Buffer(ct.UInt(8), [3], "b")
    for name, what in (("fill", "fill of"), ("all_equal", "all_equal of")):
        with pytest.raises(ct.ArgumentError, match=f"{what} buffer b is None .NoneType., must be a number"):
            getattr(b, name)(None)


def test_undefined_objects_are_refused_by_all_their_members():
    image, parameter = ct.ImageParam(), ct.Parameter()
    uses = (
        lambda: image.type(),
        lambda: image.dimensions(),
        lambda: image.host_alignment(),
        lambda: image.set_host_alignment(16),
        lambda: image.set_estimates([]),
        lambda: image.store_in(ct.MemoryType.Heap),
        lambda: ct.RDom(image),
        lambda: ct.ExternFuncArgument(image),
        lambda: ct.Pipeline(ct.lambda_func(x, x)).compile_to_callable([image]),
    )
    for use in uses:
        with pytest.raises(ct.CompileError, match="an undefined ImageParam is used"):
            use()
    for name in ("set_scalar", "set_min_value", "set_max_value", "set_estimate", "set_default_value"):
        with pytest.raises(ct.CompileError, match="an undefined Parameter is used"):
            getattr(parameter, name)(1)
    for name in ("min_constraint", "extent_constraint", "stride_constraint"):
        with pytest.raises(ct.CompileError, match="an undefined Parameter is used"):
            getattr(parameter, name)(-1)


def test_limits_and_places_that_are_not_there():
    from calotype import runtime

    f = ct.Func("f")
    f[x] = (x, x + 1)
    for use, error, text in (
        (lambda: ct.Handle().max(), ct.CompileError, "type handle has no least and no greatest value"),
        (lambda: f[x][2], IndexError, "func f.* has 2 values, there is no 2"),
        (lambda: ct.RDom([(0, 4)])[1], KeyError, "the RDom has 1 dimensions, there is no 1"),
        (lambda: ct.memoize_tag(x, ct.Expr()), ct.CompileError, "memoize_tag"),
        (lambda: f[None], ct.CompileError, "None .NoneType. is no coordinate"),
        (lambda: ct.Target("host").natural_lanes(0), ct.CompileError, "0 bits has no natural vector size"),
        (lambda: runtime.load(""), ct.ArgumentError, "cannot load ''"),
    ):
        with pytest.raises(error, match=text):
            use()


def test_what_a_call_cannot_take_is_an_error_of_python_too():
    f, image, b = ct.Func("f"), ct.ImageParam(ct.UInt(8), 2, "image"), ct.Buffer(ct.UInt(8), [2, 2])
    defined = ct.lambda_func(x, x)
    for use, text in (
        (lambda: f["x"], "'x' .str. is no coordinate"),
        (lambda: image[None], "None .NoneType. is no coordinate"),
        (lambda: b[0], "has 2 dimensions, 1 coordinates are given"),
        (lambda: ct.RDom("x"), "'x' .str. is no pair of min and extent"),
        (lambda: ct.evaluate("x"), "'x' .str. is no expression"),
        (lambda: f.reorder("x"), "'x' .str. is no loop"),
        (lambda: defined.realize("x"), "is no list of sizes"),
        (lambda: ct.sqrt(2**64), "does not fit in uint64"),
        (lambda: ct.max(x), "max needs at least two values, 1 given"),
        (lambda: ct.select(x > 0, 1), "select has 2 arguments, must have pairs"),
    ):
        for error in (ct.CallError, ct.CompileError, ct.ArgumentError, TypeError, ValueError):
            with pytest.raises(error, match=text):
                use()


@pytest.mark.parametrize("name, says", [("a\0b", r"a\\x00b contains a zero byte"), ("\udcff", r"\\xff is not UTF-8")])
def test_names_that_cannot_be_written(name, says, tmp_path):
    f = ct.Func("f")
    f[x] = x

    things = [
        ("func", lambda: ct.Func(name)),
        ("Var", lambda: ct.Var(name)),
        ("RVar", lambda: ct.RVar(name)),
        ("Param", lambda: ct.Param(ct.Int(32), name)),
        ("ImageParam", lambda: ct.ImageParam(ct.Int(32), 1, name)),
        ("RDom", lambda: ct.RDom([(0, 3)], name)),
        ("extern function", lambda: ct.extern_call(name, ct.Int(32), [x])),
        ("extern function", lambda: ct.Func("g").define_extern(name, [], ct.Int(32), 1)),
        ("function", lambda: f.compile_to_c(str(tmp_path / "f.c"), [], name)),
    ]
    for thing, make in things:
        with pytest.raises(ct.CompileError, match=f"the name of {thing} {says}"):
            make()


def test_names_of_files_may_hold_any_bytes(tmp_path):
    f = ct.Func("f")
    f[x] = x
    path = str(tmp_path / "\udcff.c")
    f.compile_to_c(path, [], "f")
    assert os.path.exists(path)
    with pytest.raises(ct.CompileError, match=r"cannot read \\xfe"):
        ct.deserialize_pipeline("\udcfe")


class Raises:
    def __index__(self):
        raise KeyError("mine")

    def __float__(self):
        raise KeyError("mine")


def test_conversions_that_raise():
    p, q = ct.Param(ct.Int(32), "p"), ct.Param(ct.Float(32), "q")
    f = ct.Func("f")
    f[x] = p + q
    call = f.compile_to_callable([p, q])
    out = memoryview(bytearray(12)).cast("f")
    for name, use in {
        "argument 'p'": lambda: call(Raises(), 1.0, out),
        "argument 'q'": lambda: call(1, Raises(), out),
        "q": lambda: q.set(Raises()),
    }.items():
        with pytest.raises(ct.ArgumentError, match=f"{name} is .*Raises.*; its conversion raises .*mine"):
            use()
    with pytest.raises(KeyError, match="mine"):
        f.realize([Raises()])
    with pytest.raises(KeyError, match="mine"):
        ct.Buffer(ct.UInt(8), [3, Raises()])
    with pytest.raises(ct.ArgumentError, match="argument 'q' is 1.* does not fit in float32"):
        call(1, 1 << 2000, out)


@pytest.mark.parametrize("size", [1 << 200, -(1 << 200), -1, 1 << 31])
def test_sizes_that_are_none(size):
    f = ct.Func("f")
    f[x] = x
    for use, of in ((lambda: f.realize([size]), "realization"), (lambda: ct.Buffer(ct.UInt(8), [size]), "Buffer")):
        with pytest.raises(ct.CompileError, match=f"size 0 of a {of} is {str(size)[:20]}.*, must be an integer from 0"):
            use()


@pytest.mark.parametrize("size", [2.5, float("nan"), "3", None])
def test_sizes_of_a_buffer_that_are_no_integers(size):
    with pytest.raises(ct.CompileError, match=f"size 1 of a Buffer is '?{size}'? .*, must be an integer from 0"):
        ct.Buffer(ct.UInt(8), [3, size])


@pytest.mark.parametrize("factor", [2.5, float("nan")])
def test_factors_are_integers(factor):
    f = ct.Func("f")
    f[x] = x
    with pytest.raises(ct.CompileError, match="split of f.*: the factor of x has type float32, must fit in int32"):
        f.vectorize(x, factor)


def test_what_is_no_array():
    for value in ([[1, 2], [3, 4]], "text", 3):
        with pytest.raises(TypeError, match="is no array"):
            ct.Buffer(value)


def test_types_of_numpy_that_are_none_here():
    np = pytest.importorskip("numpy")
    for dtype in (np.dtype(">i4"), np.longdouble, np.complex64, np.dtype("S3")):
        with pytest.raises(ct.CompileError, match="there is no element type like"):
            ct.ImageParam(dtype, 2)


def test_long_texts_are_cut_between_characters():
    with pytest.raises(ct.ArgumentError, match="is '.*\\.\\.\\. .str., must be a number"):
        ct.Param(ct.Int(32), "p").set("\N{SNOWMAN}" * 100)


def test_errors_of_arguments_are_of_every_class_that_is_expected():
    assert issubclass(ct.ArgumentError, (ct.Error,))
    for cls in (ValueError, TypeError, RuntimeError):
        assert issubclass(ct.ArgumentError, cls)


def test_printed_bytes_that_are_no_text(capsys):
    f = ct.Func("f")
    f[x] = ct.print(x, "\udcff")
    f.realize([1])
    assert capsys.readouterr().out == "0 \\xff\n"


@pytest.mark.parametrize("ndim", ["none", 1.5, None, 1 << 200, 0])
def test_objects_that_look_like_numbers(ndim):
    class Number:
        dtype, item = "uint8", 3

        def __init__(self):
            self.ndim = ndim

    f = ct.Func("f")
    for use in (lambda: x + Number(), lambda: ct.sqrt(Number()), lambda: f[Number()], lambda: ct.Expr(Number())):
        text = "unsupported operand|incompatible function arg|is no coordinate|is no expression"
        with pytest.raises((TypeError, ct.CompileError), match=text):
            use()


def test_arrays_in_the_place_of_a_bool():
    np = pytest.importorskip("numpy")
    p = ct.Param(ct.Bool(), "p")
    f = ct.Func("f")
    f[x] = ct.select(p, 1, 2)
    call, out = f.compile_to_callable([p]), np.zeros(1, np.int32)
    with pytest.raises(ct.ArgumentError, match="argument 'p' is .*; its conversion raises .*ambiguous"):
        call(np.array([True, False]), out)
    with pytest.raises(ct.ArgumentError, match="p is .*; its conversion raises .*ambiguous"):
        p.set(np.array([True, False]))
    call(np.array(True), out)
    assert out[0] == 1


def test_a_buffer_of_a_read_only_array_as_a_result(copy):
    out = ct.Buffer(memoryview(bytes(16)).cast("B", (4, 4)))
    with pytest.raises(ct.ArgumentError, match="argument 'copied' is read-only, and written by the pipeline"):
        copy(result(), out)


def test_errors_of_arrays_say_what_they_must_be(copy):
    with pytest.raises(ct.ArgumentError, match="it must be an array of uint8 with 2 dimensions"):
        copy(Interface(typestr="<c8"), result())


def test_what_is_wrong_with_the_text_of_a_target_is_said(tmp_path, capfd):
    f, x = ct.Func("f"), ct.Var("x")
    f[x] = x
    uses = [
        lambda: f.realize([2], "x86-64-linux-nosuch"),
        lambda: f.compile_jit("x86-64-linux-nosuch"),
        lambda: f.compile_to_callable([], "x86-64-linux-nosuch"),
        lambda: f.compile_to_object(str(tmp_path / "f.o"), [], "f", "x86-64-linux-nosuch"),
        lambda: f.compile_to_multitarget_static_library(str(tmp_path / "f"), [], ["host", "x86-64-linux-nosuch"]),
        lambda: ct.Module("m", "x86-64-linux-nosuch"),
    ]
    for use in uses:
        with pytest.raises(ct.Error, match="'nosuch' is not a known"):
            use()
    f.compile_to_object(str(tmp_path / "f.o"), [], "nosuch")
    f.compile_to_object(str(tmp_path / "f.o"), [], "f", "host")
    assert f.realize([2], "host")[1] == 1 and capfd.readouterr().err == ""
