# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which copy is the newest: what was written on the host arrives on a device, and the other way round."""

import array
import ctypes

import calotype as ct
import pytest

opencl = ct.Target("host-opencl")
pytestmark = pytest.mark.skipif(
    not ct.host_supports_target_device(opencl), reason="there is no OpenCL device"
)
x, y, xi = ct.vars("x y xi")


def doubled(source, target=opencl):
    """Twice the elements, computed on the device."""
    image = ct.ImageParam(ct.Int(32), 1, "image")
    f = ct.Func("doubled")
    f[x] = image[x] * 2
    f.gpu_tile(x, xi, 4)
    image.set(source)
    return list(f.realize([8], target))


expected = [2 * (i + 3) for i in range(8)]


def by_elements():
    b = ct.Buffer(ct.Int(32), [8])
    for i in range(8):
        b[i] = i + 3
    return b


def by_copy():
    b = ct.Buffer(ct.Int(32), [8])
    b.copy_from(by_elements())
    return b


def by_view():
    b = ct.Buffer(ct.Int(32), [8])
    view = memoryview(b)
    for i in range(8):
        view[i] = i + 3
    return b


def by_numpy():
    numpy = pytest.importorskip("numpy")
    b = ct.Buffer(ct.Int(32), [8])
    b.numpy_view()[:] = numpy.arange(8) + 3
    return b


def by_dlpack():
    numpy = pytest.importorskip("numpy")
    b = ct.Buffer(ct.Int(32), [8])
    numpy.from_dlpack(b)[:] = numpy.arange(8) + 3
    return b


def by_pipeline():
    f = ct.Func("ramp")
    f[x] = x + 3
    return f.realize([8])


def by_callable():
    f = ct.Func("ramp")
    f[x] = x + 3
    b = ct.Buffer(ct.Int(32), [8])
    f.compile_to_callable([])(b)
    return b


def of_an_array():
    return ct.Buffer(array.array("i", range(3, 11)))


WRITES = [by_elements, by_copy, by_view, by_numpy, by_dlpack, by_pipeline, by_callable, of_an_array]


@pytest.mark.parametrize("write", WRITES, ids=lambda w: w.__name__)
def test_what_the_host_wrote_arrives_on_the_device(write):
    assert doubled(write()) == expected


def test_a_filled_buffer_arrives_on_the_device():
    b = ct.Buffer(ct.Int(32), [8])
    b.fill(21)
    assert doubled(b) == [42] * 8
    b.fill(4)
    assert doubled(b) == [8] * 8


def test_an_array_as_input():
    assert doubled(array.array("i", range(3, 11))) == expected


def test_elements_written_between_runs_arrive():
    b = by_elements()
    assert doubled(b) == expected
    b[2] = 100
    assert doubled(b)[2] == 200
    memoryview(b)[3] = 50
    assert doubled(b)[3] == 100


def test_a_result_overwrites_what_the_host_wrote():
    f = ct.Func("ramp")
    f[x] = x * 7
    f.gpu_tile(x, xi, 4)
    b = ct.Buffer(ct.Int(32), [8])
    b.fill(1)
    f.realize(b, opencl)
    assert b.device_dirty() and not b.host_dirty()
    with pytest.raises(ct.CompileError, match="newer on its device: call copy_to_host"):
        b[0]
    assert memoryview(b).tolist() == [7 * i for i in range(8)]
    assert doubled(b) == [14 * i for i in range(8)]


def test_a_part_of_what_is_newer_on_its_device_is_not_filled():
    f = ct.Func("ramp")
    f[x] = x * 7
    f.gpu_tile(x, xi, 4)
    b = ct.Buffer(ct.Int(32), [8])
    f.realize(b, opencl)
    part = b.cropped(0, 2, 3)
    with pytest.raises(ct.CompileError, match="part of one that is newer on its device: call copy_to_host"):
        part.fill(1)
    assert b.copy_to_host() == 0 and part.copy_to_host() == 0
    part.fill(1)
    assert list(b) == [0, 7, 1, 1, 1, 35, 42, 49]


def test_copies_give_the_status_that_programs_compare_with_zero():
    b = by_elements()
    assert b.copy_to_host() == 0
    assert b.device_malloc(opencl) == 0
    b.set_host_dirty()
    assert b.copy_to_device(opencl) == 0
    assert b.device_sync() == 0
    assert b.device_free() == 0


def test_memory_of_another_is_wrapped():
    owner = by_elements()
    owner.set_host_dirty()
    owner.copy_to_device(opencl)
    device = ctypes.c_uint64.from_address(owner._get_raw_halide_buffer_t()).value
    memory = ctypes.c_uint64.from_address(device).value  # the cl_mem stands first there
    b = ct.Buffer(ct.Int(32), [8])
    assert b.device_wrap_native(ct.DeviceAPI.OpenCL, memory, opencl) == 0
    b.set_device_dirty()
    assert b.copy_to_host() == 0
    assert list(b) == list(owner)
    assert b.device_detach_native() == 0
    assert not b.has_device_allocation()
    assert doubled(owner) == expected


@pytest.mark.parametrize("ending", ["png", "npy"])
def test_a_picture_is_of_the_newest_copy(ending, tmp_path):
    pytest.importorskip("numpy")
    y, yi = ct.vars("y yi")
    f = ct.Func("slope")
    f[x, y] = ct.u8(x + 10 * y)
    f.gpu_tile(x, y, xi, yi, 4, 4)
    b = ct.Buffer(ct.UInt(8), [8, 8])
    b.fill(0)
    f.realize(b, opencl)
    path = tmp_path / f"slope.{ending}"
    ct.imageio.imwrite(path, b)
    assert ct.imageio.imread(path)[3].tolist() == list(range(30, 38))


def test_a_result_of_the_host_does_not_go_beside_a_newer_copy():
    f, ones = ct.Func("ramp"), ct.Func("ones")
    f[x] = x
    f.gpu_tile(x, xi, 4)
    ones[x] = 1
    b = ct.Buffer(ct.Int(32), [8])
    f.realize(b, opencl)
    for run in (lambda: ones.realize(b), lambda: ones.compile_to_callable([])(b)):
        with pytest.raises(ct.RuntimeError, match="output buffer ones is dirty on a device, must be copied"):
            run()
    b.copy_to_host()
    ones.realize(b)
    assert list(b) == [1] * 8
