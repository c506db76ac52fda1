# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The scenarios as numba-cuda can express them: numba_side.py NAME... prints a JSON object of results, one by one.

Each name is run in a process of its own by compare_numba.py, since some of them leave the context broken."""

import concurrent.futures
import json
import os
import sys
import threading

# With its runtime and statistics on, kernels that have no use for them do not load.
if any(name.startswith("s40") for name in sys.argv[1:]):
    os.environ["NUMBA_CUDA_ENABLE_NRT"] = "1"
    os.environ["NUMBA_CUDA_NRT_STATS"] = "1"

import numpy as np  # noqa: E402

# Names that numba-cuda 0.30 asks for as it is imported, and NumPy 2.5 has no more.
for gone, instead in (("row_stack", np.vstack), ("in1d", np.isin), ("trapz", getattr(np, "trapezoid", None))):
    if not hasattr(np, gone):
        setattr(np, gone, instead)

from numba import cuda  # noqa: E402
from numba.cuda.cudadrv.linkable_code import CUSource  # noqa: E402
from numba.cuda.memory_management.nrt import get_include, rtsys  # noqa: E402

WORK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../gpu/nrt/work.cuh")


# ---- S01 to S08: setup and teardown -----------------------------------------------------------


class Calls:
    """A linkable that counts its setups and teardowns."""

    def __init__(self, code="", setup=True, teardown=True, on_setup=None):
        self.setups, self.teardowns = 0, 0
        self.lock = threading.Lock()
        self.on_setup = on_setup
        self.code = CUSource(
            code,
            setup_callback=self.set_up if setup else None,
            teardown_callback=self.tear_down if teardown else None,
        )

    def set_up(self, module):
        with self.lock:
            self.setups += 1
        if self.on_setup:
            self.on_setup(module)

    def tear_down(self, module):
        with self.lock:
            self.teardowns += 1


def release():
    cuda.synchronize()
    cuda.current_context().reset()


def setups_and_teardowns(*linkables):
    release()
    return f"{sum(x.setups for x in linkables)} {sum(x.teardowns for x in linkables)}"


def kernel_with(*linkables):
    @cuda.jit(link=[x.code for x in linkables])
    def kernel(a):
        pass

    return kernel


def in_threads(n, body):
    with concurrent.futures.ThreadPoolExecutor(n) as pool:
        for call in [pool.submit(body) for _ in range(n)]:
            call.result()


def s01():
    a = Calls()
    kernel = kernel_with(a)
    kernel[1, 1](1)
    kernel[1, 1](1)
    return setups_and_teardowns(a)


def s02():
    a = Calls()
    kernel = kernel_with(a)
    for value in (1, 2, 1.5):
        kernel[1, 1](value)
    return setups_and_teardowns(a)


def s03():
    a = Calls()
    kernels = kernel_with(a), kernel_with(a)
    for kernel in kernels:
        kernel[1, 1](1)
    return setups_and_teardowns(a)


def s04():
    linkables = [Calls(setup=s, teardown=t) for s in (True, False) for t in (True, False)]
    kernels = [kernel_with(x) for x in linkables]
    for kernel in kernels:
        kernel[1, 1](1)
    return setups_and_teardowns(*linkables)


NUM = """
__device__ int num = 0;
extern "C" __device__ int get_num(int *result) { *result = num; return 0; }
"""


def write_42(module):
    from cuda.bindings.driver import cuLibraryGetGlobal, cuMemcpyHtoD

    _, address, size = cuLibraryGetGlobal(getattr(module, "handle", module), b"num")
    value = np.array([42], np.int32)
    cuMemcpyHtoD(address, value.ctypes.data, size)


def s05():
    a = Calls(NUM, on_setup=write_42)
    get_num = cuda.declare_device("get_num", "int32()", link=[a.code])

    @cuda.jit
    def kernel(out):
        out[0] = get_num()

    out = np.zeros(1, np.int32)
    kernel[1, 1](out)
    return f"{setups_and_teardowns(a)}, value {out[0]}"


def s06():
    """By a parameter of the kernel and by two declared functions."""
    a = Calls(NUM + 'extern "C" __device__ int get_more(int *r) { *r = num + 1; return 0; }')
    get_num = cuda.declare_device("get_num", "int32()", link=[a.code])
    get_more = cuda.declare_device("get_more", "int32()", link=[a.code])

    @cuda.jit(link=[a.code])
    def kernel(out):
        out[0] = get_num() + get_more()

    kernel[1, 1](np.zeros(1, np.int32))
    return setups_and_teardowns(a)


def s07():
    a = Calls()
    kernel = kernel_with(a)
    in_threads(4, lambda: kernel[1, 1](1))
    return setups_and_teardowns(a)


def s08():
    a = Calls()
    kernel = kernel_with(a)

    def body():
        for value in (1, 2, 1.5):
            kernel[1, 1](value)

    in_threads(4, body)
    return setups_and_teardowns(a)


# ---- S40: the device runtime ------------------------------------------------------------------


def runtime_code():
    with open(WORK, encoding="utf-8") as f:
        text = f.read()
    library = 'S40 library_allocate_and_free(int *r) { NRT_Free(NRT_Allocate(1)); return *r = 0; }'
    return CUSource(f'#include "{get_include()}/nrt.cuh"\n{text}\n{library}\n', nrt=True)


def jit(f):
    """The runtime is linked for code that the kernel names, not for that of the functions it calls."""
    return cuda.jit(link=[runtime_code()])(f)


def counted(launch):
    """The counters that the launches move, as "alloc free mi_alloc mi_free"."""
    rtsys.ensure_initialized()
    rtsys.memsys_enable_stats()
    before = rtsys.get_allocation_stats()
    launch()
    cuda.synchronize()
    after = rtsys.get_allocation_stats()
    return " ".join(str(int(y) - int(x)) for x, y in zip(before, after))


def address_of(array):
    return np.uint64(array.__cuda_array_interface__["data"][0])


def with_count(name, threads=1):
    f = cuda.declare_device(name, "int32(int32)")

    @jit
    def kernel(n):
        f(n)

    return lambda n: counted(lambda: kernel[1, threads](np.int32(n)))


def s40_a():
    return with_count("s40_objects")(10)


def s40_b():
    return with_count("s40_references")(1)


def s40_c():
    return with_count("s40_varsize")(5)


def s40_d():
    f = cuda.declare_device("s40_varsize_dtor", "int32(int32, uint64)")

    @jit
    def kernel(n, counter):
        f(n, counter)

    ends = cuda.to_device(np.zeros(2, np.uint32))
    counts = counted(lambda: kernel[1, 1](np.int32(5), address_of(ends)))
    return f"{counts}, {ends.copy_to_host()[0]} element destructors"


def s40_e():
    f = cuda.declare_device("library_allocate_and_free", "int32()")

    @jit
    def kernel():
        f()

    return counted(lambda: kernel[1, 1]())


def s40_f():
    return with_count("s40_objects", 64)(10)


def s40_g():
    f = cuda.declare_device("s40_objects", "int32(int32)")

    @jit
    def kernel(n):
        f(n)

    def while_off():
        rtsys.memsys_disable_stats()
        kernel[1, 1](np.int32(10))
        cuda.synchronize()
        rtsys.memsys_enable_stats()

    return f"off: {counted(while_off)}; on: {counted(lambda: kernel[1, 1](np.int32(10)))}"


def s40_h():
    f = cuda.declare_device("s40_alignments", "int32(uint64)")

    @jit
    def kernel(counter):
        f(counter)

    wrong = cuda.to_device(np.zeros(2, np.uint32))
    kernel[1, 1](address_of(wrong))
    return f"{wrong.copy_to_host()[0]} misaligned"


def s40_i():
    f = cuda.declare_device("s40_exhaust", "int32(int32, uint64)")

    @jit
    def kernel(n, size):
        f(n, size)

    return f"alloc {counted(lambda: kernel[1, 1](np.int32(20), np.uint64(1 << 20))).split()[0]}"


def s40_j(holders):
    from cuda.bindings.driver import CUlimit, cuCtxSetLimit

    cuda.current_context()
    cuCtxSetLimit(CUlimit.CU_LIMIT_MALLOC_HEAP_SIZE, 2 << 30)
    create = cuda.declare_device("s40_create", "int32(uint64, uint64, int32, int32)")
    drop = cuda.declare_device("s40_drop", "int32(uint64, int32)")

    # One kernel, since each is a module of its own, and the address of a destructor is one of the module
    # that takes it: another that calls there ends with an invalid program counter.
    @jit
    def create_or_drop(objects, ends, n, holders, step):
        i = cuda.grid(1)
        if step == 0:
            if i < n:
                create(objects, ends, np.int32(i), holders)
        else:
            for k in range(cuda.threadIdx.x, n, cuda.blockDim.x):
                drop(objects, np.int32(k))

    n = 1000000
    objects = cuda.to_device(np.zeros(n, np.uint64))
    ends = cuda.to_device(np.zeros(n, np.uint32))
    args = (address_of(objects), address_of(ends), np.int32(n), np.int32(holders))
    create_or_drop[(n + 255) // 256, 256](*args, np.int32(0))
    cuda.synchronize()
    create_or_drop[holders, 1024](*args, np.int32(1))
    cuda.synchronize()
    return f"{int((ends.copy_to_host() != 1).sum())} wrong"


SCENARIOS = {f.__name__: f for f in (s01, s02, s03, s04, s05, s06, s07, s08)}
SCENARIOS |= {f.__name__: f for f in (s40_a, s40_b, s40_c, s40_d, s40_e, s40_f, s40_g, s40_h, s40_i)}
SCENARIOS |= {f"s40_j_{n}": (lambda n=n: s40_j(n)) for n in (2, 8, 132)}

if __name__ == "__main__":
    for name in sys.argv[1:]:
        print(json.dumps({name: SCENARIOS[name]()}), flush=True)
