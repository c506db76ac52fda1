# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Buffers and the arrays of other libraries: shared memory, order of axes, strides, lifetimes."""

import array
import ctypes
import gc
import hashlib
import io
import re
import weakref

import calotype as ct
import pytest

numpy = pytest.importorskip("numpy")
x, y = ct.vars("x y")


def test_an_array_is_shared_with_its_axes_reversed():
    a = numpy.arange(12, dtype=numpy.int32).reshape(3, 4)
    b = ct.Buffer(a, "name")
    assert b.name() == "name" and b.width() == 4 and b.height() == 3
    assert [b.dim(i).stride() for i in range(2)] == [1, 4]
    b[3, 2] = 77
    assert a[2, 3] == 77
    c = ct.Buffer(a, reverse_axes=False)
    assert c.width() == 3 and c.dim(0).stride() == 4


def test_a_buffer_is_shared_as_an_array():
    b = ct.Buffer(ct.Int(16), [4, 6])
    b.fill(0)
    view = b.numpy_view()
    assert view.shape == (6, 4) and view.dtype == numpy.int16
    view[2, 1] = 42
    assert b[1, 2] == 42
    assert b.numpy_view(reverse_axes=False)[1, 2] == 42
    assert numpy.asarray(b)[2, 1] == 42
    assert numpy.from_dlpack(b)[2, 1] == 42
    assert memoryview(b).strides == (8, 2)


@pytest.mark.parametrize(
    "dtype",
    "bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 float16 float32 float64".split(),
)
def test_all_types_there_and_back(dtype):
    a = numpy.array([[0, 1, 1], [1, 0, 1]], dtype=dtype)
    b = ct.Buffer(a)
    assert str(b.type()) == ("bool" if dtype == "bool" else dtype)
    assert b[2, 1] == a[1, 2]
    assert b.numpy_view().dtype == a.dtype
    assert numpy.array_equal(numpy.from_dlpack(b), a)
    f = ct.Func()
    f[x, y] = b[x, y]
    out = numpy.zeros_like(a)
    f.realize(out)
    assert numpy.array_equal(out, a)


def test_a_type_is_a_dtype_of_numpy():
    for name in ("bool", "int8", "uint16", "int64", "float16", "float32", "float64"):
        t = ct.Type(name)
        assert numpy.dtype(t) == name and numpy.zeros(3, t).dtype == name and t.dtype == name
    for none in (ct.UInt(24), ct.Handle(), ct.UInt(8, 4)):
        assert not hasattr(none, "dtype")
        with pytest.raises(TypeError, match="Cannot interpret '<.*Type .*>' as a data type"):
            numpy.dtype(none)


def test_bfloat16_of_ml_dtypes():
    bfloat16 = pytest.importorskip("ml_dtypes").bfloat16
    assert numpy.dtype(ct.BFloat(16)) == bfloat16
    a = numpy.array([[0, 1, 1.5], [2, 3, -4]], bfloat16)
    b = ct.Buffer(a)
    assert b.type() == ct.BFloat(16) and b[2, 1] == -4
    for view in (b.numpy_view(), numpy.asarray(b), numpy.array(b)):
        assert view.dtype == bfloat16 and (view == a).all()
    numpy.asarray(b)[0, 0] = 7
    assert a[0, 0] == 7
    image = ct.ImageParam(ct.BFloat(16), 2, "image")
    f = ct.Func()
    f[x, y] = image[x, y] * 2
    out = numpy.zeros_like(a)
    f.compile_to_callable([image])(a, out)
    assert (out == a * 2).all()
    # The memory of a scalar is not its own.
    with pytest.raises(TypeError, match="is no array"):
        ct.Buffer(bfloat16(3))
    with pytest.raises(ct.ArgumentError, match="the array of float8_e4m3fn gives no view"):
        ct.Buffer(numpy.zeros(3, pytest.importorskip("ml_dtypes").float8_e4m3fn))


@pytest.mark.parametrize("shape", [(0, 5), (5, 0), (0, 0), (1, 0, 3)])
def test_arrays_without_elements(shape):
    coordinates = ct.vars("x y z")[: len(shape)]
    image = ct.ImageParam(ct.UInt(8), len(shape), "image")
    f = ct.Func()
    f[tuple(coordinates)] = image[tuple(coordinates)]
    f.compile_to_callable([image])(numpy.zeros(shape, numpy.uint8), numpy.zeros(shape, numpy.uint8))


def test_weak_references_to_buffers():
    b = ct.Buffer(ct.Int(16), [4])
    reference = weakref.ref(b)
    assert reference() is b
    del b
    assert reference() is None


@pytest.mark.parametrize(
    "letter, element",
    [("b", ctypes.c_int8), ("H", ctypes.c_uint16), ("q", ctypes.c_int64), ("d", ctypes.c_double)],
)
def test_arrays_of_ctypes_and_of_the_standard_library(letter, element):
    """Those of ctypes tell no strides."""
    image = ct.ImageParam(numpy.dtype(letter), 2)
    f = ct.Func()
    f[x, y] = image[x, y] * 2
    c = f.compile_to_callable([image])
    rows = ((element * 4) * 3)(*[(element * 4)(*range(i, i + 4)) for i in (0, 10, 20)])
    doubled = ((element * 4) * 3)()
    c(rows, doubled)
    assert [list(row) for row in doubled] == [[2 * (i + k) for k in range(4)] for i in (0, 10, 20)]
    assert [ct.Buffer(rows).dim(i).stride() for i in range(2)] == [1, 4]
    flat = array.array(letter, range(12))
    view = memoryview(flat).cast("B").cast(letter, (3, 4))
    c(view, doubled)
    assert list(doubled[2]) == [16, 18, 20, 22]
    line = ct.Buffer((element * 5)(*range(5)))
    assert [line[i] for i in range(5)] == list(range(5))


def test_the_array_interface_of_a_buffer():
    b = ct.Buffer(ct.UInt(16), [3, 2])
    b.fill(5)
    b[2, 1] = 7

    class View:
        def __init__(self, buffer):
            self.__array_interface__, self.buffer = buffer.__array_interface__, buffer

    a = numpy.asarray(View(b))
    assert a.dtype == numpy.uint16 and a.tolist() == [[5, 5, 5], [5, 5, 7]]
    a[0, 0] = 9
    assert b[0, 0] == 9 and b.__array_interface__["strides"] is None
    assert numpy.asarray(View(b.transposed(0, 1))).tolist() == a.T.tolist()
    assert b.tobytes() == a.tobytes() and b.transposed(0, 1).tobytes() == a.T.tobytes()
    assert ct.Buffer(ct.Bool(), [2]).__array_interface__["typestr"] == "|b1"
    assert not numpy.asarray(View(ct.Buffer(b"abc"))).flags.writeable
    for none in (ct.Buffer(), ct.Buffer(ct.BFloat(16), [3]), ct.Buffer.make_bounds_query(ct.Int(8), [3])):
        assert not hasattr(none, "__array_interface__")


def test_what_numpy_can_make_an_array_of():
    class Column:
        def __array__(self, dtype=None, copy=None):
            return numpy.zeros(3, numpy.float32)

        def __repr__(self):
            return "0  0.0\n1  0.0"

    image = ct.ImageParam(ct.Float(32), 1, "image")
    f = ct.Func("f")
    f[x] = image[x]
    said = r"0 0.0 1 0.0 \(Column\).*; pass what numpy.asarray\(\) makes of it"
    with pytest.raises(TypeError, match=said):
        ct.Buffer(Column())
    with pytest.raises(ct.ArgumentError, match=said):
        f.compile_to_callable([image])(Column(), numpy.zeros(3, numpy.float32))


class Picture:
    """As those of PIL: the bytes are made when they are asked for."""

    def __init__(self, rows, **more):
        self.rows, self.more = rows, more

    @property
    def __array_interface__(self):
        memory = b"".join(bytes(row) for row in self.rows)
        shape = (len(self.rows), len(self.rows[0]))
        return {"shape": shape, "typestr": "|u1", "data": memory, "version": 3, **self.more}


def test_interfaces_with_an_object_as_memory():
    rows = [[1, 2, 3], [4, 5, 6]]
    image = ct.ImageParam(ct.UInt(8), 2, "image")
    f = ct.Func("f")
    f[x, y] = image[x, y] + 1
    c = f.compile_to_callable([image])
    out = numpy.zeros((2, 3), numpy.uint8)
    c(Picture(rows), out)
    assert numpy.array_equal(out, numpy.array(rows) + 1)
    b = ct.Buffer(Picture(rows))
    gc.collect()
    assert [b[i, k] for k in range(2) for i in range(3)] == [1, 2, 3, 4, 5, 6]
    lower = ct.Buffer(Picture(rows, shape=(1, 3), offset=3))
    assert [lower[i, 0] for i in range(3)] == [4, 5, 6]
    assert ct.Buffer(Picture(rows, strides=(-3, 1), offset=3))[0, 1] == 1
    with pytest.raises(ct.ArgumentError, match="'f' is read-only, and written by the pipeline"):
        c(out, Picture(rows))


def views(a):
    yield a
    yield a.T
    yield a[::-1]
    yield a[:, ::-2]
    yield a[1:, 2:]
    yield numpy.broadcast_to(a[:1], (5, a.shape[1]))
    yield numpy.asfortranarray(a)
    yield a[:0]


def test_any_strides_as_input():
    for a in views(numpy.arange(35, dtype=numpy.uint8).reshape(5, 7)):
        image = ct.ImageParam(ct.UInt(8), 2)
        image.dim(0).set_stride(None)
        f = ct.Func()
        f[x, y] = image[x, y] + 1
        c = f.compile_to_callable([image])
        out = numpy.zeros(a.shape, numpy.uint8)
        c(a, out)
        assert numpy.array_equal(out, a + 1), a.strides


def test_any_strides_as_output():
    f = ct.Func()
    f[x, y] = ct.u8(x + 10 * y)
    f.output_buffer().dim(0).set_stride(None)
    c = f.compile_to_callable([])
    plain = numpy.add.outer(numpy.arange(0, 50, 10), numpy.arange(4)).astype(numpy.uint8)
    base = numpy.zeros((10, 16), numpy.uint8)
    for out in (base[::2, ::4], base[::-2, ::-4], numpy.zeros((4, 5), numpy.uint8).T):
        c(out)
        assert numpy.array_equal(out, plain)


def test_memory_lives_as_long_as_a_view_of_it():
    a = numpy.ones(1000)
    alive = weakref.ref(a)
    part = ct.Buffer(a).cropped(0, 10, 20).translated(0, 5)
    del a
    gc.collect()
    assert alive() is not None and part.all_equal(1)
    view = part.numpy_view()
    del part
    gc.collect()
    assert alive() is not None and view.sum() == 20
    del view
    gc.collect()
    assert alive() is None


def test_a_buffer_outlives_its_handle():
    b = ct.Buffer(ct.UInt(8), [100])
    b.fill(3)
    views = [b.numpy_view(), memoryview(b), numpy.from_dlpack(b)]
    b.deallocate()
    del b
    gc.collect()
    assert all(v[99] == 3 for v in views)


def test_other_exporters():
    assert ct.Buffer(array.array("f", [1, 2, 3]))[2] == 3.0
    assert ct.Buffer(bytearray(b"abc"))[1] == ord("b")

    class Interface:
        def __init__(self, a):
            self.a = a
            self.__array_interface__ = a.__array_interface__

    class OldDlpack:
        def __init__(self, a):
            self.a = a

        def __dlpack__(self):
            return self.a.__dlpack__()

        def __dlpack_device__(self):
            return self.a.__dlpack_device__()

    a = numpy.arange(6, dtype=numpy.int16).reshape(2, 3)
    for source in (Interface(a), OldDlpack(a)):
        b = ct.Buffer(source)
        b[1, 1] += 10
    assert a[1, 1] == 24


def test_read_only_arrays_can_be_read_alone():
    a = numpy.arange(4, dtype=numpy.int32)
    a.flags.writeable = False
    b = ct.Buffer(a)
    assert b[2] == 2
    f = ct.Func()
    f[x] = b[x] + 1
    assert list(f.realize([4])) == [1, 2, 3, 4]
    for write in (
        lambda: b.fill(0),
        lambda: b.__setitem__(0, 1),
        lambda: f.realize(b),
        lambda: f.realize(a),
        lambda: f.compile_to_callable([])(b),
        lambda: f.compile_to_callable([])(a),
    ):
        with pytest.raises(ct.Error, match="read-only"):
            write()
    assert memoryview(b).readonly
    assert not numpy.from_dlpack(b).flags.writeable


@pytest.mark.parametrize(
    "wrong,text",
    [
        (numpy.zeros(3, ">i4"), "big-endian"),
        (numpy.zeros(3, "c8"), "no type of pipelines"),
        (numpy.zeros(3, [("a", "i1"), ("b", "i4")])["b"], "multiple of the 4 bytes"),
        (numpy.zeros([1] * 20), "20 dimensions, at most 16"),
        (numpy.array(["a"]), "no type of pipelines"),
    ],
)
def test_arrays_that_cannot_be_viewed(wrong, text):
    with pytest.raises(ct.ArgumentError, match=text):
        ct.Buffer(wrong)


def structure(*fields):
    return type("Structure", (ctypes.Structure,), {"_fields_": list(fields)})


@pytest.mark.parametrize(
    "wrong, name",
    [
        (numpy.zeros(3, "c8"), "type complex64"),
        (numpy.zeros(3, "c16"), "type complex128"),
        (numpy.zeros(3, [("a", "<i4"), ("b", "<f4")]), r"type \[\('a', '<i4'\), \('b', '<f4'\)\]"),
        (numpy.array([None]), "type object"),
        (numpy.array(["a"]), "type <U1"),
        ((structure(("a", ctypes.c_int32)) * 3)(), "format 'T{<i:a:}'"),
    ],
)
def test_elements_of_another_type_are_called_by_their_name(wrong, name):
    """The one that their library has for them, or else that of the protocol."""
    with pytest.raises(ct.ArgumentError, match=f"has elements of {name}, which is no type of pipelines"):
        ct.Buffer(wrong)
    image = ct.ImageParam(ct.Float(32), 1, "image")
    f = ct.Func("f")
    f[x] = image[x]
    with pytest.raises(ct.ArgumentError, match=f"argument 'image': .* elements of {name}"):
        f.compile_to_callable([image])(wrong, numpy.zeros(3, numpy.float32))


@pytest.mark.parametrize("type", [ct.UInt(24), ct.Int(40)], ids=str)
def test_elements_of_three_or_five_bytes_are_refused(type):
    """Code would step over them as over those of four or eight."""
    f = ct.Func("f")
    f[x] = ct.cast(type, x)
    for make in (
        lambda: ct.Buffer(type, [3]),
        lambda: ct.Buffer.make_scalar(type),
        lambda: ct.Buffer.make_interleaved(type, 2, 2, 3),
        lambda: f.realize([3]),
    ):
        with pytest.raises(ct.CompileError, match=f"of type {type}, of . bytes, must be of a type of 1, 2, 4 or 8"):
            make()
    f.compute_root()
    g = ct.Func("g")
    g[x] = ct.i64(f[x]) + f[x + 1]
    assert list(g.realize([3])) == [1, 3, 5]


@pytest.mark.parametrize("type", [ct.UInt(3), ct.Int(7), ct.UInt(12)], ids=str)
def test_elements_that_do_not_fill_their_bytes(type):
    b = ct.Buffer(type, [3])
    b.fill(2)
    b[1] = 5
    assert list(b) == [2, 5, 2] and not b.all_equal(2)
    assert not hasattr(b, "__array_interface__")
    for view in (memoryview, bytes, numpy.asarray, numpy.from_dlpack, lambda b: b.numpy_view()):
        with pytest.raises((BufferError, TypeError), match=f"has no (letter|type) for {type}"):
            view(b)


def test_nothing_is_no_array():
    for make in (lambda: ct.Buffer(None), lambda: ct.Buffer(buffer=None)):
        with pytest.raises(TypeError, match=r"^None \(NoneType\) is no array$"):
            make()


def test_a_buffer_of_no_dimensions_is_a_number():
    assert int(ct.Buffer(numpy.array(-5, numpy.int8))) == -5
    assert float(ct.Buffer(numpy.array(2.5))) == 2.5
    assert int(ct.Buffer.make_scalar(ct.UInt(8))) in range(256)
    text = ct.Buffer(b"12", "text")
    for number in (int, float):
        with pytest.raises(TypeError, match="buffer text has 1 dimensions, must have 0 to be a number"):
            number(text)
        with pytest.raises(ct.CompileError, match="an undefined Buffer is used"):
            number(ct.Buffer())


def test_extents_that_do_not_fit():
    huge = numpy.broadcast_to(numpy.uint8(0), (2**31,))
    text = "^Out of range dimensions in buffer conversion: .* must fit in 32 bits"
    with pytest.raises(ct.ArgumentError, match=text):
        ct.Buffer(huge)


def test_elements_out_of_bounds():
    b = ct.Buffer(ct.Int(16), [4, 6])
    b.set_min([10, 0])
    b.fill(1)
    for at in ((9, 0), (14, 0), (10, -1), (10, 6)):
        with pytest.raises(IndexError, match="is out of bounds for axis"):
            b[at]
        with pytest.raises(IndexError, match="is out of bounds for axis"):
            b[at] = 1
    with pytest.raises(ct.CompileError, match="has 2 dimensions, 1 coordinates"):
        b[10]
    with pytest.raises(ct.ArgumentError, match="does not fit in int16"):
        b[10, 0] = 40000


def test_elements_one_after_another():
    b = ct.Buffer(numpy.arange(4, dtype=numpy.int16))
    assert list(b) == [0, 1, 2, 3]
    b.set_min([7])
    assert list(b) == [0, 1, 2, 3] and 3 in b and 4 not in b
    assert list(ct.Buffer(ct.UInt(8), [0])) == []
    with pytest.raises(TypeError, match="buffer square has 2 dimensions, must have 1 to be iterated over"):
        iter(ct.Buffer(ct.UInt(8), [2, 2], "square"))
    with pytest.raises(ct.CompileError, match="an undefined Buffer"):
        iter(ct.Buffer())


def test_shapes():
    b = ct.Buffer(ct.UInt(8), [4, 5, 3], "image")
    assert [b.sliced(2, 1).dimensions(), b.embedded(0).dimensions()] == [2, 4]
    # Dimension i becomes dimension order[i].
    assert [d.extent() for d in map(b.transposed([2, 0, 1]).dim, range(3))] == [5, 3, 4]
    assert b.reverse_axes().dim(0).extent() == 3
    assert ct.Buffer.make_interleaved(ct.UInt(8), 4, 5, 3).dim(2).stride() == 1
    assert list(b.dim(2)) == [0, 1, 2]
    assert repr(b).endswith(".Buffer of type uint8 shape:[[0,4,1],[0,5,4],[0,3,20]]>")
    assert repr(b.dim(2)).endswith(".BufferDimension min: 0, extent: 3, stride: 20>")
    assert repr(ct.Buffer()).startswith("<undefined ") and repr(ct.Buffer()).endswith(".Buffer>")
    for wrong, text in (
        (lambda: b.cropped(0, 2, 5), "a crop of buffer image covers"),
        (lambda: b.crop([(0, 1), (-1, 2)]), "a crop of buffer image covers"),
        (lambda: b.sliced(3, 0), "has 3 dimensions, there is no 3"),
        (lambda: b.transposed([0, 0, 1]), "names 0 twice"),
        (lambda: b.transposed(0, 7), "has 3 dimensions, there is no 7"),
        (lambda: b.dim(3), "has 3 dimensions, there is no 3"),
        (lambda: b.translate([1, 2, 3, 4]), "translate gives 4 numbers"),
        (lambda: ct.Buffer(ct.UInt(8), [-1]), "size 0 of a Buffer is -1"),
        (lambda: ct.Buffer(ct.UInt(8), [3, 4], [1, 1]), "must name each of 0 to 1 once"),
        (lambda: ct.Buffer().width(), "an undefined buffer is used"),
    ):
        with pytest.raises(ct.CompileError, match=text):
            wrong()


def test_copies_and_elements():
    b = ct.Buffer(ct.Float(32), [3, 2])
    b.fill(1.5)
    c = b.copy()
    c[1, 1] = 2.5
    assert b.all_equal(1.5) and not c.all_equal(1.5)
    b.copy_from(c)
    seen = []
    b.for_each_element(lambda pos: seen.append((tuple(pos), b[tuple(pos)])))
    assert seen[4] == ((1, 1), 2.5) and len(seen) == 6
    b.copy_from(numpy.zeros((2, 3), numpy.float32))
    assert b.all_equal(0)


def test_bounds_queries():
    image = ct.ImageParam(ct.UInt(8), 1)
    f = ct.Func()
    f[x] = image[x - 1] + image[x + 2]
    c = f.compile_to_callable([image])
    asked = ct.Buffer.make_bounds_query(ct.UInt(8), [1])
    c(asked, ct.Buffer.make_bounds_query(ct.UInt(8), [20]))
    assert (asked.dim(0).min(), asked.dim(0).extent()) == (-1, 23)
    f.infer_input_bounds([10])
    assert image.get().dim(0).extent() == 13


def test_calls_see_what_an_array_is_now():
    image = ct.ImageParam(ct.UInt(8), 2, "image")
    f = ct.Func("shown_now")
    f[x, y] = image[x, y] + 1
    call = f.compile_to_callable([image])
    out, a = numpy.zeros((4, 6), numpy.uint8), numpy.ones((4, 6), numpy.uint8)
    for _ in range(2):
        call(a, out)
        assert (out == 2).all()
    a.setflags(write=False)
    call(a, out)
    with pytest.raises(ct.ArgumentError, match="is read-only"):
        call(out, a)
    with pytest.raises(ct.ArgumentError, match="elements of type int8, must have uint8"):
        call(a.view(numpy.int8), out)
    with pytest.raises(ct.ArgumentError, match="has 1 dimensions, must have 2"):
        call(a.ravel(), out)
    with pytest.raises(ct.ArgumentError, match="big-endian"):
        call(a.astype(">u2"), out)

    class Own(numpy.ndarray):
        pass

    call(a.view(Own), out.view(Own))


def test_dtypes_that_come_and_go():
    image = ct.ImageParam(ct.Int(16), 1, "image")
    f = ct.Func("many_dtypes")
    f[x] = image[x]
    call, out = f.compile_to_callable([image]), numpy.zeros(3, numpy.int16)
    for i in range(100):
        one = numpy.dtype(numpy.int16, metadata={"number": i})
        other = numpy.dtype(numpy.int32, metadata={"number": i})
        call(numpy.full(3, i, one), out)
        assert out[2] == i
        with pytest.raises(ct.ArgumentError, match="of type int32, must have int16"):
            call(numpy.full(3, i, other), out)


def test_arrays_with_one_coordinate_in_a_dimension():
    """A call takes them, or not, as what the buffer protocol makes of them."""
    np = pytest.importorskip("numpy")
    image = ct.ImageParam(ct.UInt(8), 2, "image")
    x, y = ct.vars("x y")
    f = ct.Func("f")
    f[x, y] = image[x, y] + 1
    call = f.compile_to_callable([image])
    call(np.zeros((2, 2), np.uint8), np.zeros((2, 2), np.uint8))  # numpy's arrays are known from now on
    whole = np.arange(48, dtype=np.uint8).reshape(6, 8)
    views = [whole, whole.T, np.asfortranarray(whole), whole[::2], whole[:, ::2], whole[::-1]]
    cuts = [np.s_[:1, :], np.s_[:, :1], np.s_[:1, :1], np.s_[2:3, ::3], np.s_[::3, 2:3], np.s_[4:5, ::-1], np.s_[:0, :1]]

    def outcome(array):
        out = np.zeros(array.shape, np.uint8)
        try:
            call(array, out)
        except ct.Error as error:
            return str(error)
        return out.tolist()

    for array in [view[cut] for view in views for cut in cuts]:
        assert outcome(array) == outcome(memoryview(array)), (array.shape, array.strides)


def test_what_a_consumer_asks_of_dlpack():
    numpy = pytest.importorskip("numpy")
    array = numpy.arange(6, dtype=numpy.int16)
    array.flags.writeable = False
    b = ct.Buffer(array)
    with pytest.raises(BufferError, match="is read-only"):
        b.__dlpack__()
    b.__dlpack__(copy=True)  # a copy is not
    copy = numpy.from_dlpack(b, copy=True)
    copy[0] = 9
    assert copy.tolist() == [9, 1, 2, 3, 4, 5] and array[0] == 0
    assert not numpy.from_dlpack(b).flags.writeable
    for wrong in ({"max_version": "1.0"}, {"max_version": 1}, {"dl_device": 1}, {"dl_device": "cpu"}, {"copy": "no"}):
        with pytest.raises(TypeError, match="max_version: tuple"):
            b.__dlpack__(**wrong)


def test_many_elements_are_filled_and_copied():
    numpy = pytest.importorskip("numpy")
    for dtype in (numpy.uint8, numpy.int16, numpy.float32, numpy.float64):
        a = numpy.zeros((300, 400), dtype)
        b, part = ct.Buffer(a), ct.Buffer(a[1:-1:2, 3:-5:3])
        b.fill(7)
        assert (a == 7).all() and b.all_equal(7)
        part.fill(9)
        assert (a[1:-1:2, 3:-5:3] == 9).all() and (a == 9).sum() == a[1:-1:2, 3:-5:3].size
        assert part.all_equal(9) and not b.all_equal(9)
        assert numpy.array_equal(part.copy(), a[1:-1:2, 3:-5:3])


def test_bytes_of_several_dimensions():
    """Who asks for bytes alone is told of one dimension, as of numpy's arrays."""
    a = numpy.arange(12, dtype=numpy.int32).reshape(3, 4)
    b = ct.Buffer(a)
    assert hashlib.md5(b).digest() == hashlib.md5(a).digest()
    read = ct.Buffer(ct.Int(32), [4, 3])
    assert io.BytesIO(a.tobytes()).readinto(read) == a.nbytes and read.tobytes() == b.tobytes()
    with pytest.raises(BufferError, match="do not follow one another"):
        hashlib.md5(ct.Buffer(a[:, ::2]))


def test_bytes_and_types_without_a_letter():
    b = ct.Buffer(ct.BFloat(16), [3])
    b.fill(1.5)
    assert b.tobytes() == bytes([0xC0, 0x3F] * 3)
    small = pytest.importorskip("ml_dtypes")
    for t in (small.float8_e5m2, small.float8_e4m3fn):
        with pytest.raises(ct.CompileError, match="there is no element type like float8"):
            ct.Type(t)


def test_there_are_no_complex_numbers():
    for use in (ct.Type, lambda t: ct.ImageParam(t, 1), lambda t: ct.Buffer(t, [3]), lambda t: ct.cast(t, x)):
        with pytest.raises(ct.CompileError, match="^there is no element type like complex"):
            use(complex)


def test_dates_are_no_bytes():
    """numpy's scalars of them say that they are eight bytes."""
    image = ct.ImageParam(ct.UInt(8), 1, "image")
    for value in (numpy.datetime64("2026-01-01"), numpy.timedelta64(3, "s")):
        for use in (ct.Buffer, image.set):
            with pytest.raises(ct.ArgumentError, match=re.escape(f"type {value.dtype}, which is no type")):
                use(value)
    assert ct.Buffer(numpy.bytes_(b"abc")).width() == 3


def test_what_a_property_with_an_interface_raises_is_said():
    def raising(name):
        def get(self):
            raise ValueError("busy")

        return type("Odd", (), {name: property(get)})()

    f = ct.Func("f")
    f[x] = 1
    for name in ("__array_interface__", "__cuda_array_interface__"):
        for use in (ct.Buffer, f.realize, f.compile_to_callable([])):
            with pytest.raises(ct.ArgumentError, match="the array gives no view of its memory: busy"):
                use(raising(name))
    device = {"__dlpack__": lambda self, **_: None, "__dlpack_device__": lambda self: "cpu"}
    with pytest.raises(ct.ArgumentError, match="__dlpack_device__ gives 'cpu' .str., must be a tuple"):
        ct.Buffer(type("Odd", (), device)())
