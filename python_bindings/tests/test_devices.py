# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays on CUDA devices, without a GPU: where kernels run, on which memory, and that nothing is copied."""

import ctypes
import gc
import os
import shutil
import subprocess
import sys
import threading
import weakref

import fake_cuda
import pytest
from fake_cuda import DLPackArray, ExchangeArray, InterfaceArray, calls, copies, new_stream

fake_cuda.driver.fake_cuda_set_devices(2)

import calotype as ct  # noqa: E402
from calotype import runtime  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:.*no CUDA toolkit was found")
cuda = ct.Target("host-cuda")
x, y = ct.vars("x y")
compiler = shutil.which("c++") or shutil.which("cc")
needs_compiler = pytest.mark.skipif(compiler is None, reason="there is no C++ compiler")
shape, size = (8, 16), 128
count = 0


class Doubling:
    """A pipeline with one kernel, which doubles, and what its launches saw."""

    def __init__(self, folder=None, target=cuda):
        global count
        count += 1
        self.name = f"twice{count}"
        self.launches = []
        self.image = ct.ImageParam(ct.Float(32), 2, "image")
        self.func = ct.Func(self.name)
        self.func[x, y] = self.image[x, y] * 2
        self.func.gpu_tile(x, y, ct.Var(), ct.Var(), 16, 8)
        fake_cuda.define_kernel(self.name + "_s0", self.run)
        if folder is None:
            self.call = self.func.compile_to_callable([self.image], target)
        else:
            self.call = runtime.load(self.library(folder, target))

    def library(self, folder, target):
        base = str(folder / self.name)
        self.func.compile_to_static_library(base, [self.image], self.name, target)
        archive = ["-Wl,--whole-archive", base + ".a", "-Wl,--no-whole-archive"]
        command = [compiler, "-shared", "-o", base + ".so", *archive, "-lpthread", "-ldl"]
        subprocess.run(command, check=True)
        return base + ".so"

    def run(self, stream, pointers):
        """The kernel. The first pointer is that of the input."""
        self.launches.append((stream, pointers))
        source, result = [(ctypes.c_float * size).from_address(p) for p in pointers]
        for i in range(size):
            result[i] = 2 * source[i]

    def check(self, source, result, stream):
        """The last launch was on these and that stream, and computed."""
        assert self.launches[-1] == (stream, [source.address, result.address])
        assert list(result.elements) == [2 * i for i in range(size)]


def filled(kind, device=0):
    array = kind(shape, "f", device)
    for i in range(size):
        array.elements[i] = i
    return array


@pytest.fixture(scope="module")
def twice():
    return Doubling()


@pytest.fixture(scope="module")
def loaded(tmp_path_factory):
    if compiler is None:
        pytest.skip("there is no C++ compiler to link with")
    return Doubling(tmp_path_factory.mktemp("aot"), ct.Target("host-cuda-user_context"))


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    if compiler is None:
        pytest.skip("there is no C++ compiler to link with")
    return Doubling(tmp_path_factory.mktemp("plain"))


@pytest.fixture(params=["jit", "aot"])
def doubling(request, twice, loaded):
    return twice if request.param == "jit" else loaded


@pytest.mark.parametrize("kind", [InterfaceArray, DLPackArray, ExchangeArray])
def test_kernels_work_on_the_memory_of_arrays(doubling, kind):
    source, result = filled(kind), kind(shape, "f")
    before = copies()
    doubling.call(source, result)
    doubling.check(source, result, None)
    assert copies() == before and fake_cuda.driver.fake_cuda_misuse() == 0


def test_the_current_stream_of_the_library_without_asking(doubling):
    source, result = filled(ExchangeArray), ExchangeArray(shape, "f")
    doubling.call(source, result)
    events = calls("cuEventRecord")
    for stream in (new_stream(), None, 2):
        ExchangeArray.current_stream = stream
        doubling.call(source, result)
        doubling.check(source, result, stream)
    ExchangeArray.current_stream = None
    assert calls("cuEventRecord") == events


def test_the_stream_that_the_interface_names(doubling):
    source, result = filled(InterfaceArray), InterfaceArray(shape, "f")
    source.stream = result.stream = new_stream()
    doubling.call(source, result)
    doubling.check(source, result, source.stream)
    source.stream = result.stream = 1
    doubling.call(source, result)
    doubling.check(source, result, None)
    source.stream = 0
    with pytest.raises(ct.ArgumentError, match="argument 'image': the array's stream is 0, must"):
        doubling.call(source, result)


def test_dlpack_is_told_the_stream(doubling):
    source, result = filled(DLPackArray), ExchangeArray(shape, "f")
    ExchangeArray.current_stream = stream = new_stream()
    doubling.call(source, result)
    ExchangeArray.current_stream = None
    doubling.check(source, result, stream)
    assert source.consumer == stream
    doubling.call(source, result)
    assert source.consumer == 1
    # The library of a result that knows of no stream must find it done.
    result, waits = DLPackArray(shape, "f"), calls("cuStreamSynchronize")
    doubling.call(source, result)
    assert calls("cuStreamSynchronize") == waits + 1


def test_other_streams_wait_and_are_waited_for(doubling):
    source, result = filled(InterfaceArray), ExchangeArray(shape, "f")
    source.stream, ExchangeArray.current_stream = new_stream(), new_stream()
    records, waits = calls("cuEventRecord"), calls("cuStreamWaitEvent")
    doubling.call(source, result)
    ExchangeArray.current_stream = None
    doubling.check(source, result, source.stream)
    # Once before the kernel, once after it.
    assert calls("cuEventRecord") == records + 2 and calls("cuStreamWaitEvent") == waits + 2


def test_a_stream_that_is_asked_for(doubling):
    source, result = filled(ExchangeArray), ExchangeArray(shape, "f")
    handle = new_stream()

    class ByMethod:
        def __cuda_stream__(self):
            return (0, handle)

    class ByProperty:
        __cuda_stream__ = (0, handle)

    class OfTorch:
        cuda_stream = handle

    for stream in (ByMethod(), ByProperty(), OfTorch(), handle):
        doubling.call(source, result, stream=stream)
        doubling.check(source, result, handle)
    doubling.call(source, result, stream=None)
    doubling.check(source, result, None)
    with pytest.raises(ct.ArgumentError, match="stream is 2.5 .float., must be a stream of CUDA"):
        doubling.call(source, result, stream=2.5)


def test_arrays_of_the_host_on_a_stream(doubling):
    numpy = pytest.importorskip("numpy")
    source = numpy.arange(size, dtype=numpy.float32).reshape(shape)
    result, handle, before = numpy.zeros_like(source), new_stream(), copies()
    doubling.call(source, result, stream=handle)
    assert doubling.launches[-1][0] == handle and copies() == before + 3
    assert numpy.array_equal(result, 2 * source)
    mixed = ExchangeArray(shape, "f")
    doubling.call(source, mixed)
    assert list(mixed.elements) == [2 * i for i in range(size)]


def test_the_device_of_the_arrays(doubling):
    source, result = filled(ExchangeArray, 1), ExchangeArray(shape, "f", 1)
    contexts = []

    def run(stream, pointers):
        current = ctypes.c_void_p()
        fake_cuda.call("cuCtxGetCurrent", ctypes.byref(current))
        contexts.append(current.value)
        doubling.run(stream, pointers)

    fake_cuda.define_kernel(doubling.name + "_s0", run)
    doubling.call(source, result)
    fake_cuda.define_kernel(doubling.name + "_s0", doubling.run)
    doubling.check(source, result, None)
    assert contexts == [fake_cuda.Context(1).handle.value]
    other = filled(InterfaceArray, 0)
    expected = "argument 'twice.*' is on CUDA device 1, argument 'image' on device 0: all must"
    with pytest.raises(ct.ArgumentError, match=expected):
        doubling.call(other, result)


def test_without_user_context_the_default_stream_is_joined(plain):
    source, result = filled(ExchangeArray), ExchangeArray(shape, "f")
    ExchangeArray.current_stream = new_stream()
    records = calls("cuEventRecord")
    plain.call(source, result)
    ExchangeArray.current_stream = None
    plain.check(source, result, None)
    assert calls("cuEventRecord") == records + 2
    source, result = filled(ExchangeArray, 1), ExchangeArray(shape, "f", 1)
    expected = "argument 'image' is on CUDA device 1, and the pipeline, compiled without the"
    with pytest.raises(ct.ArgumentError, match=expected):
        plain.call(source, result)


def test_what_is_wrong_with_an_array_is_said(doubling):
    good, wrong = filled(InterfaceArray), InterfaceArray(shape, "i")
    errors = {
        "argument 'image' has elements of type int32, must have float32": (wrong, good),
        "argument 'image' has 1 dimensions, must have 2": (InterfaceArray((4,), "f"), good),
        "argument 'image' is 3 .int., must be an array of float32": (3, good),
    }
    for text, arguments in errors.items():
        with pytest.raises(ct.ArgumentError, match=text):
            doubling.call(*arguments)
    read_only = InterfaceArray(shape, "f")
    read_only.read_only = True
    shared = DLPackArray(shape, "f")
    shared.flags = 1
    for array in (read_only, shared):
        with pytest.raises(ct.ArgumentError, match="'twice.*' is read-only, and written by"):
            doubling.call(good, array)
        doubling.call(array, good)
    dead = InterfaceArray(shape, "f")
    dead.address = 4096
    with pytest.raises(ct.ArgumentError, match="'image': its address is none that the CUDA driver"):
        doubling.call(dead, good)
    with pytest.raises(ct.RuntimeError, match="image covers"):
        doubling.call(InterfaceArray((8, 8), "f"), good)


def test_strides_of_an_array_on_a_device(doubling):
    class Strided(InterfaceArray):
        @property
        def __cuda_array_interface__(self):
            return {**super().__cuda_array_interface__, "strides": self.byte_strides}

    source = filled(Strided)
    source.byte_strides = (64, 4)
    result = ExchangeArray(shape, "f")
    doubling.call(source, result)
    doubling.check(source, result, None)
    source.byte_strides = (4, 32)
    with pytest.raises(ct.RuntimeError, match="stride"):
        doubling.call(source, result)
    source.byte_strides = (63, 4)
    with pytest.raises(ct.ArgumentError, match="'image': the array has a stride of 63 bytes in dim"):
        doubling.call(source, result)


def test_a_pipeline_without_kernels_takes_no_arrays_of_a_device():
    image = ct.ImageParam(ct.Float(32), 2, "image")
    f = ct.Func("on_host")
    f[x, y] = image[x, y] * 2
    call = f.compile_to_callable([image], ct.Target("host"))
    source = filled(ExchangeArray)
    expected = "argument 'image' is on CUDA device 0, must be on the host: the pipeline was compiled"
    with pytest.raises(ct.ArgumentError, match=expected):
        call(source, source)


def test_arrays_without_elements(doubling):
    empty = InterfaceArray((0, 16), "f")
    empty.address = 0
    with pytest.raises(ct.RuntimeError):
        doubling.call(empty, ExchangeArray(shape, "f"))


def test_calls_in_a_capture(doubling):
    source, result = filled(ExchangeArray), ExchangeArray(shape, "f")
    doubling.call(source, result)
    ExchangeArray.current_stream = stream = new_stream()
    launches, graph = len(doubling.launches), ctypes.c_void_p()
    with fake_cuda.Context():
        fake_cuda.call("cuStreamBeginCapture_v2", ctypes.c_void_p(stream), 0)
        doubling.call(source, result)
        fake_cuda.call("cuStreamEndCapture", ctypes.c_void_p(stream), ctypes.byref(graph))
    ExchangeArray.current_stream = None
    assert len(doubling.launches) == launches and graph.value
    execution = ctypes.c_void_p()
    with fake_cuda.Context():
        instantiate = fake_cuda.driver.cuGraphInstantiateWithFlags
        assert instantiate(ctypes.byref(execution), graph, ctypes.c_ulonglong(0)) == 0
        fake_cuda.call("cuGraphLaunch", execution, ctypes.c_void_p(stream))
    assert len(doubling.launches) == launches + 1


def test_the_driver_says_what_is_wrong(doubling):
    source, result = filled(InterfaceArray), ExchangeArray(shape, "f")
    source.stream = new_stream()
    fake_cuda.driver.fake_cuda_fail(b"cuEventRecord", 400)
    with pytest.raises(ct.ArgumentError, match="cuEventRecord answers with CUDA_ERROR_INVALID_HANDLE"):
        doubling.call(source, result)
    doubling.call(source, result)
    assert list(result.elements) == [2 * i for i in range(size)]


def test_many_threads_and_other_threads_run_meanwhile(doubling):
    failures = []

    def work():
        source, result = filled(ExchangeArray), InterfaceArray(shape, "f")
        result.stream = new_stream()
        for _ in range(20):
            doubling.call(source, result)
        if list(result.elements) != [2 * i for i in range(size)]:
            failures.append(list(result.elements))

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_a_buffer_of_an_array_on_a_device(twice):
    source, result = filled(ExchangeArray), ExchangeArray(shape, "f")
    before = copies()
    b = ct.Buffer(source, "b")
    assert b.has_device_allocation() and b.device_dirty() and b.width() == 16
    twice.call(b, result)
    twice.check(source, result, None)
    twice.image.set(source)
    twice.func.realize(result, cuda)
    twice.check(source, result, None)
    assert copies() == before
    with pytest.raises(BufferError, match="buffer b has no memory on the host|could not be copied"):
        memoryview(b)
    gone = weakref.ref(source)
    del source
    gc.collect()
    assert gone() is not None
    twice.image.reset()
    del b
    gc.collect()
    assert gone() is None


def test_buffers_work_in_the_order_of_the_default_stream(twice):
    source, result = filled(ExchangeArray), ct.Buffer(ct.Float(32), [16, 8])
    ExchangeArray.current_stream = stream = new_stream()
    records = calls("cuEventRecord")
    twice.call(source, result)
    ExchangeArray.current_stream = None
    assert twice.launches[-1][0] == stream and calls("cuEventRecord") == records + 2


def capsule_tensor(capsule):
    address = ctypes.pythonapi.PyCapsule_GetPointer(capsule, b"dltensor_versioned")
    return fake_cuda.DLManaged.from_address(address).tensor


def on_device(doubling):
    result = ct.Buffer(ct.Float(32), [16, 8])
    doubling.call(filled(ExchangeArray), result)
    return result


def test_results_are_given_to_other_libraries_where_they_are(twice):
    result = on_device(twice)
    assert result.__dlpack_device__() == (2, 0) and result.device_dirty()
    before, events = copies(), calls("cuEventRecord")
    stream = new_stream()
    capsule = result.__dlpack__(stream=stream, max_version=(1, 1))
    assert calls("cuEventRecord") == events + 1
    tensor = capsule_tensor(capsule)
    interface = result.__cuda_array_interface__
    assert tensor.data == interface["data"][0] and (tensor.device.type, tensor.ndim) == (2, 2)
    assert list(tensor.shape[:2]) == [8, 16] and list(tensor.strides[:2]) == [16, 1]
    assert interface["shape"] == (8, 16) and interface["typestr"] == "<f4"
    assert interface["version"] == 3 and interface["stream"] == 1
    elements = (ctypes.c_float * size).from_address(tensor.data)
    assert list(elements) == [2 * i for i in range(size)] and copies() == before
    del result, interface
    gc.collect()
    assert list(elements) == [2 * i for i in range(size)]
    del capsule, elements


def test_a_result_can_be_asked_for_on_the_host(twice):
    result = on_device(twice)
    capsule = result.__dlpack__(max_version=(1, 1), dl_device=(1, 0))
    assert capsule_tensor(capsule).device.type == 1
    assert result.__dlpack_device__() == (1, 0) and not hasattr(result, "__cuda_array_interface__")
    with pytest.raises(BufferError, match="in memory of the host"):
        result.__dlpack__(dl_device=(2, 0))
    result = on_device(twice)
    with pytest.raises(BufferError, match="in memory of CUDA device 0"):
        result.__dlpack__(dl_device=(2, 1))
    with pytest.raises(BufferError, match="stream is 0, must be None"):
        result.__dlpack__(stream=0)


def test_without_a_driver_it_is_said():
    code = (
        "import fake_cuda, os\n"
        "os.environ['CT_CUDA_DRIVER_LIBRARY'] = '/nowhere/libcuda.so'\n"
        "import calotype as ct\n"
        "f, x = ct.Func('f'), ct.Var('x')\n"
        "f[x] = 1\n"
        "f.gpu_tile(x, ct.Var(), 8)\n"
        "f.compile_to_callable([], ct.Target('host-cuda'))(fake_cuda.ExchangeArray((8,), 'i'))\n"
    )
    here = os.path.dirname(os.path.abspath(__file__))
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=here, capture_output=True, text=True, check=False
    )
    assert "ArgumentError: there is no CUDA driver: /nowhere/libcuda.so" in done.stderr


@pytest.mark.parametrize("device", [None, 0, 1])
@pytest.mark.parametrize("target", ["host-cuda-user_context", "host-cuda"])
def test_device_code_is_loaded_ahead(tmp_path, target, device):
    if compiler is None:
        pytest.skip("there is no C++ compiler to link with")
    doubling = Doubling(tmp_path, ct.Target(target))
    assert doubling.call.cache_stats()["loads"] == 0
    loading = doubling.call.prefetch(device)
    assert loading.modules == 1 and loading.wait() and loading.wait(0)
    assert repr(loading) == "<calotype Prefetch of 1 modules: loaded>"
    assert doubling.call.cache_stats()["loads"] == 1
    if target == "host-cuda" and device == 1:
        return  # its calls work on the runtime's device
    source, result = filled(ExchangeArray, device or 0), ExchangeArray(shape, "f", device or 0)
    doubling.call(source, result)
    doubling.check(source, result, None)
    assert doubling.call.cache_stats()["loads"] == 1


@pytest.mark.parametrize("device", [None, 0, 1])
def test_device_code_of_a_callable_is_loaded_ahead(device):
    doubling = Doubling()
    loads = ct.kernel_cache_stats()["loads"]
    loading = doubling.call.prefetch(device)
    assert loading.modules == 1 and loading.wait()
    assert ct.kernel_cache_stats()["loads"] == loads + 1
    source, result = filled(ExchangeArray, device or 0), ExchangeArray(shape, "f", device or 0)
    doubling.call(source, result)
    doubling.check(source, result, None)
    assert ct.kernel_cache_stats()["loads"] == loads + 1


def test_callables_without_device_code_are_loaded():
    f = ct.Func("plain")
    f[x] = x
    loading = f.compile_to_callable([]).prefetch()
    assert loading.modules == 0 and loading.wait(0)
    with pytest.raises(ct.ArgumentError, match="the pipeline was compiled for .* without cuda"):
        f.compile_to_callable([], ct.get_host_target()).prefetch(0)


def test_a_prefetch_that_nobody_waits_for(tmp_path):
    if compiler is None:
        pytest.skip("there is no C++ compiler to link with")
    doubling = Doubling(tmp_path)
    doubling.call.prefetch()
    source, result = filled(ExchangeArray), ExchangeArray(shape, "f")
    doubling.call(source, result)
    doubling.check(source, result, None)
    doubling.call.prefetch()


def test_prefetches_that_cannot_be(tmp_path):
    if compiler is None:
        pytest.skip("there is no C++ compiler to link with")
    doubling = Doubling(tmp_path)
    with pytest.raises(ct.ArgumentError, match="there is no CUDA device 7"):
        doubling.call.prefetch(7)
    with pytest.raises(TypeError):
        doubling.call.prefetch("cuda:0")
    fake_cuda.driver.fake_cuda_fail(b"cuModuleLoadDataEx", 209)
    loading = doubling.call.prefetch()
    with pytest.raises(ct.RuntimeError, match="device code cannot be loaded: "):
        loading.wait()
