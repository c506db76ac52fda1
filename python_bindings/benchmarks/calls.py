# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a warm call from Python costs above the same call from C, in nanoseconds.

    PYTHONPATH=build/release/python python calls.py [calls]

Prints one line of JSON: the pipeline (one row of 16 pixels) called from C, as a runtime.Kernel and as a
Callable, each with numpy arrays, and with Buffers; a sum of Exprs; a Buffer of a megabyte that is filled and
copied, beside numpy; and the milliseconds of both imports.
"""

import ctypes
import json
import pathlib
import subprocess
import sys
import tempfile
import time

HELPER = """
#include <time.h>
double time_calls(int (*f)(void **), void **argv, int calls) {
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    for (int i = 0; i < calls; i++) f(argv);
    clock_gettime(CLOCK_MONOTONIC, &b);
    return ((b.tv_sec - a.tv_sec) * 1e9 + (b.tv_nsec - a.tv_nsec)) / calls;
}
"""

started = time.perf_counter()
import calotype as ct  # noqa: E402

imported = time.perf_counter()
ct.Var()  # loads the compiler
loaded = time.perf_counter()

import numpy  # noqa: E402
from calotype import runtime  # noqa: E402


def best(f, calls, repeats=5):
    times = []
    for _ in range(repeats):
        begin = time.perf_counter_ns()
        for _ in range(calls):
            f()
        times.append((time.perf_counter_ns() - begin) / calls)
    return min(times)


def main():
    calls = int(sys.argv[1]) if len(sys.argv) > 1 else 100000
    x, y = ct.vars("x y")
    image = ct.ImageParam(ct.UInt(8), 2, "image")
    gain = ct.Param(ct.Float(32), "gain")
    f = ct.Func("result")
    f[x, y] = ct.u8_sat(image[x, y] * gain)
    f.vectorize(x, 16, ct.TailStrategy.GuardWithIf)

    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        f.compile_to_static_library(str(folder / "bench"), [image, gain], "bench")
        (folder / "helper.c").write_text(HELPER)
        archive = ["-Wl,--whole-archive", str(folder / "bench.a"), "-Wl,--no-whole-archive"]
        link = ["cc", "-O2", "-shared", "-fPIC", "-o", str(folder / "bench.so")]
        subprocess.run(
            [*link, str(folder / "helper.c"), *archive, "-lpthread", "-ldl"], check=True
        )
        kernel = runtime.load(folder / "bench.so")
        library = ctypes.CDLL(str(folder / "bench.so"))

    a = numpy.arange(16, dtype=numpy.uint8).reshape(1, 16)
    out = numpy.zeros_like(a)
    callable_ = f.compile_to_callable([image, gain])
    buffer_in, buffer_out = ct.Buffer(a), ct.Buffer(out)

    class Dimension(ctypes.Structure):
        _fields_ = [(n, ctypes.c_int32) for n in ("min", "extent", "stride", "flags")]

    class RawBuffer(ctypes.Structure):
        _fields_ = [
            ("device", ctypes.c_uint64),
            ("device_interface", ctypes.c_void_p),
            ("host", ctypes.c_void_p),
            ("flags", ctypes.c_uint64),
            ("type", ctypes.c_uint32),
            ("dimensions", ctypes.c_int32),
            ("dim", ctypes.POINTER(Dimension)),
            ("padding", ctypes.c_void_p),
        ]

    shape = (Dimension * 2)(Dimension(0, 16, 1, 0), Dimension(0, 1, 16, 0))
    raw = [RawBuffer(0, None, p.ctypes.data, 0, 0x010801, 2, shape, None) for p in (a, out)]
    value = ctypes.c_float(2)
    pointers = [ctypes.addressof(v) for v in (raw[0], value, raw[1])]
    argv = (ctypes.c_void_p * 3)(*pointers)
    library.time_calls.restype = ctypes.c_double
    from_c = min(
        library.time_calls(ctypes.cast(library.bench_argv, ctypes.c_void_p), argv, calls)
        for _ in range(5)
    )
    assert out[0, 3] == 6
    kernel(a, 2.0, out)
    callable_(a, 2.0, out)
    e, pixels = ct.f32(x) * 2, numpy.zeros((1024, 1024), numpy.uint8)
    large = ct.Buffer(pixels)
    print(
        json.dumps(
            {
                "c_ns": round(from_c),
                "kernel_numpy_ns": round(best(lambda: kernel(a, 2.0, out), calls)),
                "callable_numpy_ns": round(best(lambda: callable_(a, 2.0, out), calls)),
                "callable_buffer_ns": round(
                    best(lambda: callable_(buffer_in, 2.0, buffer_out), calls)
                ),
                "sum_of_exprs_ns": round(best(lambda: e + e, calls)),
                "fill_us": round(best(lambda: large.fill(3), calls // 100) / 1e3, 1),
                "numpy_fill_us": round(best(lambda: pixels.fill(3), calls // 100) / 1e3, 1),
                "copy_us": round(best(large.copy, calls // 100) / 1e3, 1),
                "numpy_copy_us": round(best(pixels.copy, calls // 100) / 1e3, 1),
                "empty_lambda_ns": round(best(lambda: None, calls)),
                "import_calotype_ms": round((imported - started) * 1e3, 1),
                "import_compiler_ms": round((loaded - imported) * 1e3, 1),
            }
        )
    )


main()
