# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a warm call on a CUDA device costs from Python above the same call from C, in nanoseconds, with torch.

    python devices.py make FOLDER       on a machine with the compiler, c++ and the build's headers
                                        (CALOTYPE_BUILD_DIR): a library with the pipeline and its caller in C
    python devices.py run FOLDER        on a machine with a GPU, torch and calotype-runtime; with the compiler,
                                        a Callable is measured, too

`run` prints one line of JSON: for each way of calling the fastest and the middle one of thirty runs of
three hundred calls, on a stream of torch's; the milliseconds that the import takes, loading and the
first launch, in a process that has used torch; and the copies that a trace of the driver saw.
"""

import ctypes
import json
import os
import pathlib
import subprocess
import sys
import time

CALLER = """
#include <time.h>
#include <calotype/runtime.h>
#include <calotype/runtime/abi/runtime_cuda.h>
extern "C" int twice_argv(void **);
extern "C" double time_calls(uint64_t from, uint64_t to, int n, void *context, void *stream, int calls) {
    calotype_device_context on = CALOTYPE_DEVICE_CONTEXT(context, stream);
    calotype_device_context *user_context = &on;
    calotype_dimension_t shape[2] = {{0, n, 1}, {0, n, n}};
    calotype_buffer_t buffers[2] = {};
    for (int i = 0; i < 2; i++) {
        buffers[i].device = i == 0 ? from : to;
        buffers[i].device_interface = calotype_cuda_device_interface();
        buffers[i].type = {calotype_type_float, 32};
        buffers[i].dimensions = 2;
        buffers[i].dim = shape;
        buffers[i].set_device_dirty(true);
    }
    float gain = 2;
    void *argv[] = {&user_context, &buffers[0], &gain, &buffers[1]};
    timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (int i = 0; i < calls; i++) {
        if (twice_argv(argv) != 0) return -1;
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    return ((end.tv_sec - begin.tv_sec) * 1e9 + (end.tv_nsec - begin.tv_nsec)) / calls;
}
"""

FIRST_LAUNCH = """
import sys, time, torch
a = torch.rand(512, 512, device="cuda")
b = torch.empty_like(a)
torch.cuda.synchronize()
times = [time.perf_counter()]
import calotype.runtime
times.append(time.perf_counter())
twice = calotype.runtime.load(sys.argv[1])
times.append(time.perf_counter())
twice(a, 2.0, b)
torch.cuda.synchronize()
times.append(time.perf_counter())
print(*(round((y - x) * 1e3, 2) for x, y in zip(times, times[1:])))
"""


def pipeline(ct):
    x, y, xi, yi = ct.vars("x y xi yi")
    image, gain = ct.ImageParam(ct.Float(32), 2, "image"), ct.Param(ct.Float(32), "gain")
    f = ct.Func("twice")
    f[x, y] = image[x, y] * gain
    f.gpu_tile(x, y, xi, yi, 32, 8, ct.TailStrategy.GuardWithIf)
    return f, [image, gain]


def make(folder):
    import calotype as ct

    f, arguments = pipeline(ct)
    target = ct.Target("x86-64-linux-cuda-cuda_capability_80-cuda_capability_90-user_context")
    f.compile_to_static_library(str(folder / "twice"), arguments, "twice", target)
    (folder / "caller.cpp").write_text(CALLER)
    headers = os.path.join(os.environ["CALOTYPE_BUILD_DIR"], "include")
    command = ["c++", "-O2", "-shared", "-fPIC", "-I" + headers, "-o", str(folder / "twice.so")]
    archive = ["-Wl,--whole-archive", str(folder / "twice.a"), "-Wl,--no-whole-archive"]
    files = [str(folder / "caller.cpp"), *archive, "-lpthread", "-ldl"]
    subprocess.run([*command, *files], check=True)


def spread(times):
    times = sorted(times)
    return [round(times[0]), round(times[len(times) // 2])]


def compiled_here():
    """The pipeline as a Callable; None without the compiler."""
    import calotype as ct

    if not hasattr(ct, "Func"):
        return None
    f, arguments = pipeline(ct)
    return f.compile_to_callable(arguments, ct.Target("host-cuda"))


def run(folder):
    import calotype.torch
    import torch
    from calotype import runtime

    path = str(folder / "twice.so")
    twice, library = runtime.load(path), ctypes.CDLL(path)
    library.time_calls.restype = ctypes.c_double
    n, calls, runs = 32, 300, 30
    a = torch.rand(n, n, device="cuda")
    b = torch.empty_like(a)
    twice(a, 2.0, b)
    assert torch.equal(b, 2 * a)
    context = ctypes.c_void_p()
    ctypes.CDLL("libcuda.so.1").cuCtxGetCurrent(ctypes.byref(context))
    stream = torch.cuda.Stream()
    addresses = [ctypes.c_uint64(t.data_ptr()) for t in (a, b)]
    handle = ctypes.c_void_p(stream.cuda_stream)

    def measure(once):
        times = []
        for _ in range(runs):
            times.append(once())
            torch.cuda.synchronize()
        return spread(times)

    def of(function):
        def once():
            begin = time.perf_counter_ns()
            for _ in range(calls):
                function()
            return (time.perf_counter_ns() - begin) / calls

        return measure(once)

    operator = calotype.torch.op(twice)
    with torch.cuda.stream(stream):
        result = {
            "c": measure(lambda: library.time_calls(*addresses, n, context, handle, calls)),
            "kernel": of(lambda: twice(a, 2.0, b)),
            "kernel_by_name": of(lambda: twice(image=a, gain=2.0, twice=b)),
            "operator_into": of(lambda: operator.into(a, 2.0, b)),
            "operator": of(lambda: operator(a, 2.0)),
            "torch_mul": of(lambda: torch.mul(a, 2.0, out=b)),
        }
        called = compiled_here()
        if called:
            called(a, 2.0, b)
            result["callable"] = of(lambda: called(a, 2.0, b))
    activities = [torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=activities) as trace:
        twice(a, 2.0, b)
        torch.cuda.synchronize()
    seen = [e.key for e in trace.key_averages()]
    result["copies"] = sum("emcpy" in name or "Memset" in name for name in seen)
    command = [sys.executable, "-c", FIRST_LAUNCH, path]
    times = [subprocess.run(command, capture_output=True, text=True, check=True) for _ in range(3)]
    result["import_load_first_ms"] = [[float(t) for t in o.stdout.split()] for o in times]
    result["device"] = torch.cuda.get_device_name()
    print(json.dumps(result))


if __name__ == "__main__":
    command, where = sys.argv[1], pathlib.Path(sys.argv[2])
    where.mkdir(exist_ok=True)
    {"make": make, "run": run}[command](where)
