#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""tables.py bench_gpu.json: the figures as the tables of docs/benchmarks.md."""
import json
import sys

THREADS = (1, 4, 8, 16)


def row(figures, title, prefix):
    cells = " | ".join(f"{figures[f'{prefix}_{n}']:.3g}" for n in THREADS)
    return f"| {title} | {cells} |"


def main():
    with open(sys.argv[1]) as file:
        figures = json.load(file)
    print("| | 1 thread | 4 | 8 | 16 |\n|---|---|---|---|---|")
    print(row(figures, "initialize + finalize on a hit, ns a call", "hold_and_release_ns"))
    print(row(figures, "the same, million a second", "hold_and_release_M_per_s"))
    for title, name in (("one stream", "one_stream"), ("a stream a thread", "stream_each")):
        print(row(figures, f"raw cuLaunchKernel, {title}, million a second", f"raw_launch_M_per_s_{name}"))
        print(row(figures, f"one-kernel call, {title}, million a second", f"call_M_per_s_{name}"))


if __name__ == "__main__":
    main()
