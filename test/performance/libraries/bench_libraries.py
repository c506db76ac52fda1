#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""bench_libraries.py BUILD [--write-docs PAGE]: the apps gemm and fft against OpenBLAS and FFTW, in turns.

BUILD is a build tree that is a package for the apps, as `./dev build` makes it. OpenBLAS and FFTW (single precision) are the
distribution's libopenblas0-pthread and libfftw3-single3, called by ctypes; plans are made before the time begins (FFTW_MEASURE).
One thread and, for products, all processors. Every element is compared: with sums of doubles, and FFTW's results.
"""
import argparse
import ctypes
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

PERFORMANCE = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(PERFORMANCE), str(PERFORMANCE / "halide")]
from compare import ROOT, load_generated, machine, write_page  # noqa: E402
from raw_buffers import Buffer, Dimension, Type  # noqa: E402

ROUNDS = 25
PRODUCTS = (256, 512, 768, 1024, 2048)
TRANSFORMS = (64, 256, 1024)


def buffer_of(array):
    """The last dimension of the array is dimension 0. Array and dimensions must live as long."""
    dims = (Dimension * array.ndim)(*(Dimension(0, n, s // 4, 0) for n, s in zip(reversed(array.shape), reversed(array.strides))))
    return Buffer(0, None, array.ctypes.data, 0, Type(2, 32, 1), array.ndim, dims, None), dims  # of floats


def build(tree, folder):
    """A library with gemm and a function for each size of fft."""
    objects = []
    for app, variants in (("gemm", {"gemm": []}), ("fft", {f"fft_{n}": [f"size={n}"] for n in TRANSFORMS})):
        source = ROOT / "apps" / app
        subprocess.run(["cmake", "-S", source, "-B", folder / app, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                        f"-DCMAKE_PREFIX_PATH={tree}"], check=True, stdout=subprocess.DEVNULL)
        subprocess.run(["cmake", "--build", folder / app], check=True, stdout=subprocess.DEVNULL)
        for name, parameters in variants.items():
            subprocess.run([folder / app / f"{app}_generator", "-g", app, "-f", name, "-o", folder, "-e", "object",
                            "target=host-no_runtime", *parameters], check=True)
            objects.append(folder / f"{name}.o")
    return load_generated(folder / "apps.so", objects, tree)


def succeeds(code):
    if code != 0:
        raise RuntimeError(f"a pipeline fails with {code}")


def seconds(call, clock):
    begin = clock()
    call()
    return clock() - begin


def called_on(call):
    """A call after others of its kind, and those after a pause. Threads of OpenBLAS wait for work by looking for it, for some 100 ms,
    on the processors that ours would have; and where a thread that has slept runs first is the operating system's choice."""
    time.sleep(0.3)
    end = time.perf_counter() + 0.03
    while time.perf_counter() < end:
        call()
    return seconds(call, time.perf_counter)


def medians(ours, theirs, threads=1):
    """Of one thread processor time, which counts less of what else goes on; of several the time that passes."""
    def timed(call):
        return seconds(call, time.thread_time) if threads == 1 else called_on(call)

    times = [(timed(ours), timed(theirs)) for _ in range(ROUNDS)]
    return (statistics.median(t[side] for t in times) for side in (0, 1))


def product(library, blas, n, threads):
    """Times of ours and of OpenBLAS."""
    random = np.random.default_rng(1)
    a, b, c = (random.random((n, n), np.float32) for _ in range(3))
    out, peer = np.empty_like(c), c.copy()
    arrays = [buffer_of(x) for x in (a, b, c, out)]
    alpha, beta = ctypes.c_float(1.5), ctypes.c_float(0.5)
    args = (alpha, *(ctypes.byref(x[0]) for x in arrays[:2]), beta, *(ctypes.byref(x[0]) for x in arrays[2:]))
    row_major, no_transpose = 101, 111
    pointers = [x.ctypes.data_as(ctypes.c_void_p) for x in (a, b, peer)]

    def theirs():
        blas.cblas_sgemm(row_major, no_transpose, no_transpose, n, n, n, alpha, pointers[0], n, pointers[1], n, beta, pointers[2], n)

    library.calotype_set_num_threads(threads)
    blas.openblas_set_num_threads(threads)
    expected = 1.5 * (a.astype(np.float64) @ b.astype(np.float64)) + 0.5 * c
    succeeds(library.gemm(*args))
    theirs()
    for result in (out, peer):
        assert np.allclose(result, expected, rtol=1e-4, atol=0), "a product is wrong"
    return medians(lambda: succeeds(library.gemm(*args)), theirs, threads)


def transform(library, fftw, n):
    """Times of ours and of FFTW, of complex numbers on one thread; parts apart from each other, as in the app."""
    random = np.random.default_rng(1)
    values = random.random((2, n, n), np.float32)
    out = np.empty_like(values)
    arrays = [buffer_of(x) for x in (values, out)]
    interleaved = np.ascontiguousarray(values[0] + 1j * values[1]).astype(np.complex64)
    given, peer = np.empty_like(interleaved), np.empty_like(interleaved)
    forward, measure = -1, 0
    plan = ctypes.c_void_p(fftw.fftwf_plan_dft_2d(n, n, given.ctypes.data_as(ctypes.c_void_p), peer.ctypes.data_as(ctypes.c_void_p),
                                                  forward, measure))
    given[:] = interleaved
    run = getattr(library, f"fft_{n}")
    args = [ctypes.byref(x[0]) for x in arrays]
    library.calotype_set_num_threads(1)
    succeeds(run(*args))
    fftw.fftwf_execute(plan)
    assert np.abs(out[0] + 1j * out[1] - peer).max() < 1e-5 * n * n, "a transform is wrong"
    return medians(lambda: succeeds(run(*args)), lambda: fftw.fftwf_execute(plan))


def rows(library, blas, fftw):
    for n in PRODUCTS:
        for threads in sorted({1, os.cpu_count()}):
            ours, theirs = product(library, blas, n, threads)
            rate = 2e-9 * n**3
            yield f"| gemm | {n} x {n} | {threads} | OpenBLAS | {ours * 1e3:.3f} | {theirs * 1e3:.3f} | {theirs / ours:.2f} | {rate / ours:.0f} |"
    for n in TRANSFORMS:
        ours, theirs = transform(library, fftw, n)
        rate = 5e-9 * n * n * np.log2(n * n)
        yield f"| fft | {n} x {n} | 1 | FFTW | {ours * 1e3:.3f} | {theirs * 1e3:.3f} | {theirs / ours:.2f} | {rate / ours:.1f} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--write-docs", type=pathlib.Path, metavar="PAGE")
    args = parser.parse_args()
    blas, fftw = ctypes.CDLL("libopenblas.so.0"), ctypes.CDLL("libfftw3f.so.3")
    fftw.fftwf_plan_dft_2d.restype = ctypes.c_void_p
    blas.openblas_get_config.restype = ctypes.c_char_p
    version = ctypes.string_at(ctypes.addressof(ctypes.c_char.in_dll(fftw, "fftwf_version"))).decode()
    with tempfile.TemporaryDirectory() as folder:
        library = build(args.build.resolve(), pathlib.Path(folder))
        lines = [f"Machine: {machine()}. {blas.openblas_get_config().decode().strip()}; {version}. Medians of {ROUNDS} "
                 "calls in turns, of one thread processor time; above 1 means that Calotype is faster.", "",
                 "| app | size | threads | library | Calotype ms | library ms | of the library's speed | GFLOP/s |",
                 "|---|---|---|---|---|---|---|---|", *rows(library, blas, fftw)]
    text = "\n".join(lines)
    print(text)
    if args.write_docs:
        write_page(args.write_docs, "libraries", text)


if __name__ == "__main__":
    sys.exit(main())
