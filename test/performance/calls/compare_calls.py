#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""compare_calls.py BUILD [--write-docs PAGE]: what a call costs of a pipeline that was compiled in the process, beside Halide.

BUILD is a build tree; Halide is the package `halide` of this Python. Both sides are built from call_benchmark.cpp and run in
turns; a row is the median of the programs' figures, each the least of its rounds.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "halide"))
from compare import halide_root, machine, write_page  # noqa: E402

RUNS = 5
ROWS = {"pointers": "`Callable::call_argv_fast`: the generated function, by an array of pointers",
        "callable": "a Callable, with two buffers and a number",
        "realize_buffer": "`Func::realize` into a buffer",
        "realize_sizes": "`Func::realize` of given sizes, which makes a buffer"}


def compile_program(out, includes, library):
    subprocess.run(["c++", "-std=c++17", "-O2", HERE / "call_benchmark.cpp", *[f"-I{i}" for i in includes], "-o", out, library,
                    f"-Wl,-rpath,{library.parent}", "-lpthread", "-ldl"], check=True)


def build(tree, folder):
    halide, include = halide_root(), tree / "include/calotype"
    compile_program(folder / "calotype", [include / "generator/compat", include / "runtime/compat", tree / "include", include],
                    tree / "lib/libCalotype.so")
    compile_program(folder / "halide", [halide / "include"], next(halide.glob("lib*/libHalide.so")))


def figures(program):
    return json.loads(subprocess.run([program], check=True, capture_output=True, text=True).stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--write-docs", type=pathlib.Path, metavar="PAGE")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        build(args.build.resolve(), folder)
        runs = [(figures(folder / "calotype"), figures(folder / "halide")) for _ in range(RUNS)]
    lines = [f"Machine: {machine()}. Nanoseconds a call; the added time is that beyond the first row.", "",
             "| call | Calotype | added | Halide | added |", "|---|---|---|---|---|"]
    base = [statistics.median(run[side]["pointers"] for run in runs) for side in (0, 1)]
    for key, text in ROWS.items():
        ours, theirs = (statistics.median(run[side][key] for run in runs) for side in (0, 1))
        lines.append(f"| {text} | {ours:.0f} | {ours - base[0]:.0f} | {theirs:.0f} | {theirs - base[1]:.0f} |")
    text = "\n".join(lines)
    print(text)
    if args.write_docs:
        write_page(args.write_docs, "calls", text)


if __name__ == "__main__":
    sys.exit(main())
