#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""bench_tiles.py BUILD [--write-docs PAGE]: generators/tile_product_generator.cpp against torch's products (oneDNN), in turns.

BUILD is a build tree; a C++ compiler links what its calotype_generators makes. For x86 processors with AMX. One thread and all of them.
b lies in memory as the instruction reads it, before the time begins; torch arranges it in each call. Every element is compared.
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

import torch

PERFORMANCE = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(PERFORMANCE), str(PERFORMANCE / "halide")]
from compare import load_generated, machine, write_page  # noqa: E402
from torch_buffers import dense  # noqa: E402

ROUNDS = 15
SIZES = (256, 512, 1024, 2048)
TYPES = {torch.int8: ("int8", torch.int32), torch.bfloat16: ("bfloat16", torch.float32)}


def build(tree, folder):
    """A library with a function for each type."""
    objects = []
    for name, result in TYPES.values():
        subprocess.run([tree / "bin/calotype_generators", "-g", "tile_product", "-f", f"product_{name}", "-o", folder, "-e", "object",
                        "target=host-no_runtime", f"a.type={name}", f"b.type={name}",
                        f"product.type={str(result).split('.')[1]}"], check=True)
        objects.append(folder / f"product_{name}.o")
    return load_generated(folder / "products.so", objects, tree)


def seconds(call):
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def measure(library, dtype, n, threads):
    name, result = TYPES[dtype]
    packed = 4 // dtype.itemsize
    torch.manual_seed(1)
    a, b = (torch.randint(-8, 8, (n, n)).to(dtype) for _ in range(2))
    arranged = b.reshape(n // packed, packed, n // 16, 16).permute(2, 0, 3, 1).contiguous()
    out = torch.empty(n, n, dtype=result)
    arrays = [dense(a, (n, n)), dense(arranged, (packed, 16, n // packed, n // 16)), dense(out, (n, n))]
    run = getattr(library, f"product_{name}")

    def ours():
        if run(*(ctypes.byref(buffer) for buffer, _ in arrays)) != 0:
            raise RuntimeError(f"product_{name} fails")

    theirs = (lambda: torch._int_mm(a, b)) if dtype == torch.int8 else (lambda: a @ b)
    library.calotype_set_num_threads(threads)
    torch.set_num_threads(threads)
    ours()
    theirs()
    assert torch.equal(out.double(), a.double() @ b.double()), "the results differ"
    times = [(seconds(ours), seconds(theirs)) for _ in range(ROUNDS)]
    mine, peer = (statistics.median(t[i] for t in times) for i in (0, 1))
    return 2e-12 * n**3 / mine, 2e-12 * n**3 / peer


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--write-docs", type=pathlib.Path, metavar="PAGE")
    args = parser.parse_args()
    lines = [f"Machine: {machine()}. torch {torch.__version__}. Medians of {ROUNDS} runs in turns; 10^12 "
             "operations a second.", "", "| operands | size | threads | Calotype | torch | ratio |", "|---|---|---|---|---|---|"]
    with tempfile.TemporaryDirectory() as folder:
        library = build(args.build.resolve(), pathlib.Path(folder))
        for dtype, (name, *_) in TYPES.items():
            for n in SIZES:
                for threads in sorted({1, os.cpu_count()}):
                    mine, peer = measure(library, dtype, n, threads)
                    lines.append(f"| {name} | {n} | {threads} | {mine:.2f} | {peer:.2f} | {mine / peer:.2f} |")
    text = "\n".join(lines)
    print(text)
    if args.write_docs:
        write_page(args.write_docs, "tile registers", text)


if __name__ == "__main__":
    sys.exit(main())
