# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A CUDA driver without a GPU, and arrays on its devices. To be imported before anything calls a driver."""

import ctypes
import os
import pathlib

import pytest

library = pathlib.Path(os.environ.get("CALOTYPE_BUILD_DIR", ".")) / "lib" / "libfake_cuda.so"
if not library.exists():
    pytest.skip("the fake CUDA driver was not built", allow_module_level=True)
os.environ["CT_CUDA_DRIVER_LIBRARY"] = str(library)
# Kernels as PTX alone: of machine code this driver cannot tell the arguments.
os.environ["CT_NVJITLINK"] = os.environ["CT_KERNEL_CACHE_MODE"] = "off"
os.environ["CUDA_HOME"] = os.environ["CUDA_PATH"] = str(pathlib.Path(__file__).parent)
driver = ctypes.CDLL(str(library))
driver.fake_cuda_calls.restype = ctypes.c_long


class Argument(ctypes.Structure):
    _fields_ = [("value", ctypes.c_void_p), ("bytes", ctypes.c_size_t), ("memory", ctypes.c_void_p)]


class Launch(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("grid", ctypes.c_uint32 * 3),
        ("block", ctypes.c_uint32 * 3),
        ("args", ctypes.POINTER(Argument)),
        ("n_args", ctypes.c_uint32),
        ("queue", ctypes.c_void_p),
    ]


Kernel = ctypes.CFUNCTYPE(None, ctypes.POINTER(Launch))
kept = []


def call(name, *args):
    code = getattr(driver, name)(*args)
    assert code == 0, f"{name} answers {code}"


def calls(name):
    return driver.fake_cuda_calls(name.encode())


def copies():
    kinds = ["HtoDAsync", "DtoHAsync", "DtoDAsync", "2DAsync", "3DAsync"]
    return sum(calls("cuMemcpy" + kind) for kind in kinds)


def define_kernel(name, function):
    """`function(stream, pointers)` runs in place of the kernel."""

    def run(launch):
        arguments = launch.contents.args[: launch.contents.n_args]
        function(launch.contents.queue, [a.memory for a in arguments if a.memory])

    kept.append(Kernel(run))
    driver.fake_cuda_define_kernel(name.encode(), kept[-1])


class Context:
    """Makes the primary context of a device current."""

    def __init__(self, device=0):
        self.device = device
        self.handle = ctypes.c_void_p()
        call("cuInit", 0)
        call("cuDevicePrimaryCtxRetain", ctypes.byref(self.handle), device)

    def __enter__(self):
        call("cuCtxPushCurrent_v2", self.handle)
        return self.handle.value

    def __exit__(self, *_):
        popped = ctypes.c_void_p()
        call("cuCtxPopCurrent_v2", ctypes.byref(popped))


def new_stream(device=0):
    stream = ctypes.c_void_p()
    with Context(device):
        call("cuStreamCreate", ctypes.byref(stream), 1)
    return stream.value


class Memory:
    """Memory of a device, which with this driver the host can read."""

    def __init__(self, shape, letter, device=0):
        self.shape, self.letter, self.device = tuple(shape), letter, device
        self.type = {"f": ctypes.c_float, "B": ctypes.c_uint8, "i": ctypes.c_int32}[letter]
        self.size = 1
        for extent in self.shape:
            self.size *= extent
        address = ctypes.c_uint64()
        with Context(device):
            size = max(1, self.size * ctypes.sizeof(self.type))
            call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(size))
        self.address = address.value
        self.elements = (self.type * self.size).from_address(self.address)

    def strides(self):
        strides = [1] * len(self.shape)
        for i in range(len(self.shape) - 2, -1, -1):
            strides[i] = strides[i + 1] * self.shape[i + 1]
        return tuple(strides)


class InterfaceArray(Memory):
    """As CuPy's: the CUDA array interface, with a stream."""

    stream = None
    read_only = False
    version = 3

    @property
    def __cuda_array_interface__(self):
        kind = {"f": "<f4", "B": "|u1", "i": "<i4"}[self.letter]
        interface = {"shape": self.shape, "typestr": kind, "strides": None}
        interface["data"] = (self.address, self.read_only)
        interface["version"] = self.version
        if self.version >= 3:
            interface["stream"] = self.stream
        return interface


class DLDevice(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("id", ctypes.c_int32)]


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", DLDevice),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class DLManaged(ctypes.Structure):
    _fields_ = [
        ("version", ctypes.c_uint32 * 2),
        ("manager", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", DLTensor),
    ]


ctypes.pythonapi.PyCapsule_New.restype = ctypes.py_object
ctypes.pythonapi.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
ctypes.pythonapi.PyCapsule_GetPointer.restype = ctypes.c_void_p
ctypes.pythonapi.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]


def fill_tensor(array, tensor):
    n = len(array.shape)
    array.in_c = (ctypes.c_int64 * n)(*array.shape), (ctypes.c_int64 * n)(*array.strides())
    code = {"f": 2, "B": 1, "i": 0}[array.letter]
    bits = ctypes.sizeof(array.type) * 8
    tensor.data, tensor.device = array.address, DLDevice(2, array.device)
    tensor.ndim, tensor.code, tensor.bits, tensor.lanes = n, code, bits, 1
    tensor.shape, tensor.strides = array.in_c
    tensor.byte_offset = 0


Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
shared = {}  # arrays whose memory somebody has, by the address of what was given for it
_delete = Deleter(lambda address: shared.pop(address)[0] and None)


def share(array, flags=0):
    """What DLPack gives for an array: its address."""
    managed = DLManaged((1, 1), None, ctypes.cast(_delete, ctypes.c_void_p), flags)
    fill_tensor(array, managed.tensor)
    address = ctypes.addressof(managed)
    shared[address] = (array, managed)
    return address


class DLPackArray(Memory):
    """As JAX's: DLPack alone, told the stream of its consumer."""

    flags = 0

    def __dlpack_device__(self):
        return (2, self.device)

    def __dlpack__(self, *, stream=None, max_version=None):
        self.consumer = stream
        address = share(self, self.flags)
        return ctypes.pythonapi.PyCapsule_New(address, b"dltensor_versioned", None)


Look = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(DLTensor))
Share = ctypes.PYFUNCTYPE(
    ctypes.c_int, ctypes.py_object, ctypes.POINTER(ctypes.POINTER(DLManaged))
)
Current = ctypes.PYFUNCTYPE(
    ctypes.c_int, ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p)
)


class ExchangeApi(ctypes.Structure):
    _fields_ = [
        ("version", ctypes.c_uint32 * 2),
        ("previous", ctypes.c_void_p),
        ("allocate", ctypes.c_void_p),
        ("share", Share),
        ("to_python", ctypes.c_void_p),
        ("look", Look),
        ("current", Current),
    ]


class ExchangeArray(Memory):
    """As torch's: DLPack's functions for callers in C, and a current stream of the library."""

    current_stream = None


def _look(array, tensor):
    fill_tensor(array, tensor.contents)
    return 0


def _share(array, out):
    out[0] = ctypes.cast(share(array), ctypes.POINTER(DLManaged))
    return 0


def _current(_type, _device, out):
    out[0] = ExchangeArray.current_stream
    return 0


_table = ExchangeApi((1, 3), None, None, Share(_share), None, Look(_look), Current(_current))
_name = b"dlpack_exchange_api"  # of which a capsule keeps the address
ExchangeArray.__dlpack_c_exchange_api__ = ctypes.pythonapi.PyCapsule_New(
    ctypes.addressof(_table), _name, None
)
