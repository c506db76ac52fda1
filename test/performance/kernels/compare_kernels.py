#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels that people write for Triton, numba-cuda, CuPy and torch, beside pipelines that do the same.

    compare_kernels.py FILE                                     on a machine with a GPU and these packages: times, as JSON
    compare_kernels.py --write-docs docs/benchmarks.md FILE     puts the table of them into the page

All work on tensors of torch in the GPU's memory. A time is the median of triton.testing.do_bench, which empties the
cache before each call. The results are compared: a difference ends the program with status 1.
"""

import argparse
import json
import pathlib
import sys

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1] / "halide"))
from compare import write_page  # noqa: E402


class Kernel:
    """One row: arguments of the pipeline, its result, and functions of others that compute the same.

    Those give the result, or fill `other`, which is like it.
    """

    def __init__(self, name, pipeline, arguments, result, others, work, unit="GB/s"):
        self.name, self.pipeline, self.arguments, self.result = name, pipeline, arguments, result
        self.others, self.work, self.unit = others, work, unit


def kernels():
    import cupy
    import numba_kernels as of_numba
    import pipelines
    import torch
    import triton_kernels as of_triton
    from numba import cuda as numba
    from triton import cdiv, next_power_of_2

    def normal(*shape):
        return torch.randn(*shape, device="cuda")

    def like(tensor):
        return torch.empty_like(tensor), torch.empty_like(tensor)

    def filled(function, out):
        def call():
            function()
            return out

        return call

    def by_rows(kernel, arguments, out, rows, width):
        return filled(lambda: kernel[(rows,)](*arguments, out, width, next_power_of_2(width)), out)

    n = 1 << 25
    a, b = normal(n), normal(n)
    out, other = like(a)
    of_cupy = cupy.ElementwiseKernel("float32 a, float32 b", "float32 o", "o = 2.5f * a + b", "saxpy")
    arrays = [cupy.asarray(t) for t in (a, b, other)]
    yield Kernel("saxpy", pipelines.saxpy, (a, b), out, {
        "Triton": filled(lambda: of_triton.saxpy[(cdiv(n, 1024),)](a, b, other, n, 1024), other),
        "torch": lambda: torch.add(b, a, alpha=2.5, out=other),
        "CuPy": filled(lambda: of_cupy(*arrays), other),
    }, 12 * n)

    n = 1 << 24
    s, k, t = (torch.rand(n, device="cuda") + 0.5 for _ in range(3))
    out, other = like(s)
    yield Kernel("black_scholes", pipelines.black_scholes, (s, k, t), out, {
        "Triton": filled(lambda: of_triton.black_scholes[(cdiv(n, 1024),)](s, k, t, other, n, 1024), other),
    }, 16 * n)

    rows, width = 8192, 4096
    a = normal(rows, width)
    out, other = like(a[:, 0].contiguous())
    for how in (pipelines.reduced_in_block, pipelines.reduced_by_atomics):
        name = "row_sums" if how is pipelines.reduced_in_block else "row_sums, atomic"
        yield Kernel(name, pipelines.row_sums(how), (a,), out, {
            "Triton": by_rows(of_triton.row_sums, (a,), other, rows, width),
            "torch": lambda: torch.sum(a, 1, out=other),
        }, 4 * a.numel())

    numbers, others = like(torch.empty(rows, dtype=torch.int32, device="cuda"))
    yield Kernel("row_argmax", pipelines.row_argmax, (a,), numbers, {
        "Triton": by_rows(of_triton.row_argmax, (a,), others, rows, width),
        "torch": lambda: torch.argmax(a, 1),
    }, 4 * a.numel())

    out = torch.empty(width, device="cuda")
    yield Kernel("column_sums", pipelines.column_sums, (a,), out, {"torch": lambda: torch.sum(a, 0)}, 4 * a.numel())

    for rows, width in ((4096, 4096), (8192, 1000)):
        a = normal(rows, width)
        out, other = like(a)
        for how in (pipelines.reduced_in_block, pipelines.reduced_by_atomics):
            name = "softmax" if how is pipelines.reduced_in_block else "softmax, atomic"
            yield Kernel(name, pipelines.softmax(how), (a,), out, {
                "Triton": by_rows(of_triton.softmax, (a,), other, rows, width),
                "torch": lambda: torch.softmax(a, 1),
            }, 8 * a.numel())

    rows, width = 8192, 4096
    a, gain, bias = normal(rows, width).half(), normal(width).half(), normal(width).half()
    out, other = like(a)
    yield Kernel("layer_norm", pipelines.layer_norm, (a, gain, bias), out, {
        "Triton": by_rows(of_triton.layer_norm, (a, gain, bias), other, rows, width),
        "torch": lambda: torch.nn.functional.layer_norm(a, (width,), gain, bias),
    }, 4 * a.numel())

    rows, width = 16384, 8192
    a, b = normal(rows, width).half(), normal(width).half()
    out, other = like(a[:, 0].contiguous())
    yield Kernel("matrix_vector", pipelines.matrix_vector, (a, b), out, {
        "Triton": filled(lambda: of_triton.matrix_vector[(rows,)](a, b, other, width, 1024), other),
        "torch": lambda: torch.mv(a, b, out=other),
    }, 2 * a.numel())

    n = 1 << 26
    a = normal(n)
    out, other = like(a.sum())
    each = cdiv(cdiv(n, 1056), 2048) * 2048

    def triton_total():
        other.zero_()
        of_triton.total[(1056,)](a, other, n, each, 2048)
        return other

    yield Kernel("total", pipelines.total, (a,), out, {
        "Triton": triton_total,
        "torch": lambda: torch.sum(a),
        "CuPy": lambda: torch.from_dlpack(cupy.asarray(a).sum()),
    }, 4 * n)

    n = 1 << 27
    a = torch.randint(0, 256, (n,), device="cuda", dtype=torch.uint8)
    out, other = like(torch.empty(256, dtype=torch.int32, device="cuda"))
    a_of_numba, other_of_numba = numba.as_cuda_array(a), numba.as_cuda_array(other)

    def numba_histogram():
        other.zero_()
        of_numba.histogram[1056, 256](a_of_numba, other_of_numba)
        return other

    yield Kernel("histogram", pipelines.histogram, (a,), out, {
        "numba": numba_histogram,
        "torch": lambda: torch.bincount(a, minlength=256),
    }, n)

    a = normal(8192, 8192)
    out, other = like(a)
    a_of_numba, other_of_numba = numba.as_cuda_array(a), numba.as_cuda_array(other)
    yield Kernel("transpose", pipelines.transpose, (a,), out, {
        "Triton": filled(lambda: of_triton.transpose[(128, 128)](a, other, 8192, 8192, 64), other),
        "numba": filled(lambda: of_numba.transpose[(256, 256), (32, 8)](a_of_numba, other_of_numba), other),
        "torch": lambda: other.copy_(a.T),
    }, 8 * a.numel())
    yield Kernel("five_points", pipelines.five_points, (a,), out, {
        "Triton": filled(lambda: of_triton.five_points[(64, 1024)](a, other, 8192, 8192, 128, 8), other),
        "numba": filled(lambda: of_numba.five_points[(128, 2048), (64, 4)](a_of_numba, other_of_numba), other),
    }, 8 * a.numel())

    table, numbers = normal(100000, 256), torch.randint(0, 100000, (131072,), device="cuda")
    out, other = like(torch.empty(131072, 256, device="cuda"))
    yield Kernel("gather_rows", pipelines.gather_rows, (table, numbers), out, {
        "Triton": by_rows(of_triton.gather_rows, (table, numbers), other, 131072, 256),
        "torch": lambda: torch.index_select(table, 0, numbers, out=other),
    }, 8 * out.numel())

    n = 32768
    p = normal(n, 4)
    out, other = like(torch.empty(n, 3, device="cuda"))
    p_of_numba, other_of_numba = numba.as_cuda_array(p), numba.as_cuda_array(other)
    yield Kernel("bodies", pipelines.bodies, (p,), out, {
        "numba": filled(lambda: of_numba.bodies[n // 256, 256](p_of_numba, other_of_numba), other),
    }, 20 * n * n, "GFLOP/s")


def difference(result, expected):
    result, expected = result.double(), expected.double()
    return ((result - expected).abs().max() / expected.abs().max().clamp(min=1)).item()


def measure():
    import calotype
    import torch
    from triton.testing import do_bench

    torch.manual_seed(1)
    rows, wrong = [], False
    for kernel in kernels():
        f, inputs = kernel.pipeline()
        compiled = f.compile_to_callable(inputs, calotype.Target("host-cuda"))

        def run(compiled=compiled, kernel=kernel):
            compiled(*kernel.arguments, kernel.result)

        run()
        largest = 4e-3 if kernel.result.dtype == torch.float16 else 1e-4
        differences = {name: difference(kernel.result, other()) for name, other in kernel.others.items()}
        wrong = wrong or max(differences.values()) > largest
        times = {}
        for name, function in {"Calotype": run, **kernel.others}.items():
            times[name] = do_bench(function, warmup=10, rep=60, return_mode="median") * 1e3
        row = {"kernel": kernel.name, "size": " x ".join(str(n) for n in kernel.arguments[0].shape), "us": times,
               "differences": differences, "rate": kernel.work / times["Calotype"] / 1e3, "unit": kernel.unit}
        print(json.dumps(row), flush=True)
        rows.append(row)
    return {"device": torch.cuda.get_device_name(), "rows": rows}, wrong


def table(results):
    lines = [f"Machine: {results['device']}. Microseconds; below 1 means that Calotype is faster than the fastest other.",
             "", "| kernel | first argument | Calotype | rate | Triton | torch | CuPy | numba | ratio |",
             "|---|---|---|---|---|---|---|---|---|"]
    for row in results["rows"]:
        us = row["us"]
        others = [f"{us[name]:.1f}" if name in us else "" for name in ("Triton", "torch", "CuPy", "numba")]
        best = min(time for name, time in us.items() if name != "Calotype")
        lines.append(f"| {row['kernel']} | {row['size']} | {us['Calotype']:.1f} | {row['rate']:.0f} {row['unit']} | "
                     + " | ".join(others) + f" | {us['Calotype'] / best:.2f} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("--write-docs", type=pathlib.Path, metavar="PAGE")
    arguments = parser.parse_args()
    if arguments.write_docs:
        write_page(arguments.write_docs, "kernels of other languages", table(json.loads(arguments.file.read_text())))
        return
    results, wrong = measure()
    arguments.file.write_text(json.dumps(results))
    sys.exit(wrong)


if __name__ == "__main__":
    main()
