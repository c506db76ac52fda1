#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""tables.py [--write-docs PAGE] bench_gpu.json bench_first.json bench_gemm.json bench_graphs.json bench_lanes.json bench_matmul.json bench_conv.json:
tables of docs/benchmarks.md.

Each figure of the kernel cache stands beside the gate that it is held to. Figures of bench_lanes, bench_matmul or bench_conv alone, or of the
others without them, write their own table. With --write-docs the tables are put between the page's markers, or at its end if there are none yet.
"""
import argparse
import json
import pathlib
import statistics

THREADS = (1, 4, 8, 16)
CACHE_TITLE = """
## The kernel cache on CUDA

`test/performance/gpu/tables.py --write-docs docs/benchmarks.md FILE.json...`, with the figures of
`bench_gpu`, `bench_first` and `bench_gemm`, which are part of the folder that the target `calotype_gpu_bundle` makes. Raw launches are calls of
the driver in the same run, cuBLAS is timed in turns with the kernel.

"""
LANES_TITLE = """
## What lanes of a warp share

`test/performance/gpu/tables.py --write-docs docs/benchmarks.md bench_lanes.json`. Pipelines of `test/gpu/corpus/lanes_generator.cpp`
with values that lanes take from each other in registers, by shuffles, and with the same schedule and these values in shared
memory: in turns, on images of 4096 x 4096. The results are compared.

"""

MATMUL_TITLE = """
## Matrix products

`test/performance/gpu/tables.py --write-docs docs/benchmarks.md bench_matmul.json`. `generators/matmul_generator.cpp` against cuBLAS
(`cublasGemmEx`), in turns, on square matrices; every element is compared. float16 and TF32 give float32, bfloat16 and what has a bias
their own type, int8 int32. What has a bias is compared with cuBLAS's product without one. The code for 9.0a multiplies by warpgroups
(`wgmma`), that for 8.0 by warps (`mma.sync`). Operations of integers are counted as those of floats are.

"""
CONV_TITLE = """
## Convolutions

`test/performance/gpu/tables.py --write-docs docs/benchmarks.md bench_conv.json`. `generators/conv_generator.cpp`, a layer with 3 x 3
filters, a bias and a rectifier, against torch's `conv2d` (cuDNN) without the rectifier, in turns, channels innermost; every element is
compared. By `test/performance/gpu/conv/bench_conv.py`.

"""


def graph_gates(f):
    """51 tiny kernels that need one another and a wait, by bench_graphs."""
    us = f["pipeline_graph_updated_us"]
    yield "51 kernels generated for cuda_graphs, an argument of each updated, us", us, "< 85", us < 85
    for name, title in (("pipeline_graph_us", "the same, nothing updated, us"),
                        ("pipeline_launches_us", "the same without cuda_graphs, us"),
                        ("raw_launches_us", "51 raw launches, us"),
                        ("raw_graph_us", "one raw graph, us"),
                        ("raw_graph_updated_us", "one raw graph, its nodes updated, us"),
                        ("raw_update_alone_us", "updating its nodes alone, us")):
        if name in f:
            yield title, f[name], "", None


# What a first or a warm call does, and the functions of the driver that do it.
SHARES = (("memory", ("cuMemPoolCreate", "cuMemPoolSetAttribute", "cuMemAllocFromPoolAsync", "cuMemFreeAsync",
                      "cuMemAlloc", "cuMemFree")),
          ("loading the cubin", ("cuModuleLoadDataEx",)),
          ("finding 51 functions", ("cuModuleGetFunction", "cuFuncGetAttribute", "cuFuncSetAttribute")),
          ("51 launches", ("cuLaunchKernel",)),
          ("copies and waiting", ("cuMemcpyHtoDAsync", "cuStreamSynchronize")))
RUNS = (("pipeline", "the pipeline"), ("raw_pool", "the driver alone, memory of a pool"),
        ("raw", "the driver alone, cuMemAlloc"))


def shares(f, run, call):
    """us of all, of each share, of other calls of the driver, and outside it."""
    spent = [sum(f.get(f"{run}_{call}.{name}_us", 0) for name in names) for _, names in SHARES]
    driver = f[f"{run}_{call}_in_driver_us"]
    return [f[f"{run}_{call}_us"], *spent, driver - sum(spent), f[f"{run}_{call}_us"] - driver]


# What a call does besides launching, and, to compare with, code that the driver's own has driven out of the caches.
PARTS = (("id", "asking for the context's identity"), ("capturing", "asking whether the stream is captured"),
         ("pair", "initialize + finalize"), ("begin_end", "the same as generated code calls them"),
         ("16_lines", "a jump in each of 16 lines of code"), ("64_lines", "in each of 64"),
         ("256_lines", "in each of 256"), ("call", "the whole call"))


def part_table(f):
    lines = ["", "| added to a raw launch by, ns | 1 thread | 4 |", "|---|---|---|"]
    for name, title in PARTS:
        lines.append(f"| {title} | " + " | ".join(f"{f[f'added_by_{name}_ns_{n}']:.0f}" for n in (1, 4)) + " |")
    return lines


def core_table(f):
    """What each thread takes when it has a processor, cores first."""
    numbers = [n for n in (1, 2, 4, 8, 16, 32) if f"pinned_pair_ns_{n}" in f]
    if not numbers:
        return []
    lines = ["", "| each thread on a processor, cores first, ns | " + " | ".join(map(str, numbers)) + " |",
             "|---|" + "---|" * len(numbers)]
    for name, title in (("pinned_pair_ns", "initialize + finalize"), ("pinned_get_id_ns", "cuCtxGetId alone"),
                        ("pinned_work_ns", "64 additions that use nothing but registers")):
        lines.append(f"| {title} | " + " | ".join(f"{f[f'{name}_{n}']:.3g}" for n in numbers) + " |")
    return lines


def share_table(f):
    columns = [(f"{title}, {call}", shares(f, run, call)) for call in ("first", "warm") for run, title in RUNS]
    lines = ["", "| 51 kernels, us | " + " | ".join(title for title, _ in columns) + " |",
             "|---|" + "---|" * len(columns)]
    titles = ("all", *(title for title, _ in SHARES), "other calls of the driver", "outside the driver")
    for i, title in enumerate(titles):
        lines.append(f"| {title} | " + " | ".join(f"{max(us[i], 0):.3g}" for _, us in columns) + " |")
    return lines


def linked_table(f):
    """One kernel's first call, without a linkable and with one, and what the linkable adds."""
    names = ("one", "one_linked")
    lines = ["", "| one kernel, first call of a process, us | without a linkable | with one, linked by the generator | added |",
             "|---|---|---|---|"]
    for title, key in (("all", "first_us"), ("loading the cubin", "first.cuModuleLoadDataEx_us"),
                       ("all calls of the driver", "first_in_driver_us"), ("warm", "warm_us")):
        without, linked = (f[f"{name}_{key}"] for name in names)
        lines.append(f"| {title} | {without:.4g} | {linked:.4g} | {linked - without:.3g} |")
    return lines


def gates(f):
    """What, figure, gate, whether it holds."""
    # The lesser one is that of a thread which had a processor to itself.
    pair = min(f["hold_and_release_ns_1"], f["pair_default_ns_current"])
    yield "initialize + finalize on a hit, 1 thread, ns", pair, "< 30", pair < 30
    scaling = f["hold_and_release_M_per_s_16"] * pair / 1e3
    yield "the same, 16 threads against 1", scaling, "16", scaling >= 15
    if "pinned_work_ns_16" in f:
        machine = 16 * f["pinned_work_ns_1"] / f["pinned_work_ns_16"]
        yield "of it, what 16 loops of additions do, against 1", machine, "", None
    added = 1e3 / f["call_M_per_s_stream_each_1"] - 1e3 / f["raw_launch_M_per_s_stream_each_1"]
    yield "one-kernel call, added to a raw launch, ns", added, "< 300", added < 300
    for n in THREADS:
        part = f[f"call_of_raw_stream_each_{n}"]
        yield f"one-kernel calls, a stream a thread, {n} threads, of raw", part, ">= 0.95", part >= 0.95
    ratio = f["P1_eight_by_eight_ms"] / f["P1_one_compile_ms"]
    ms = f["generated_51_first_us"] / 1e3
    yield "51 kernels with a cubin, first call, in a context that has device memory, ms", ms, "< 10", ms < 10
    if "pipeline_first_us" in f:
        ms = f["pipeline_first_us"] / 1e3
        yield "the same as the first that a process does in its context, ms", ms, "< 10", ms < 10
    yield "the same, warm, us", f["generated_51_warm_us"], "< 275", f["generated_51_warm_us"] < 275
    yield "32 modules linked at load, 16 threads against 1", f["link_32_ms_1"] / f["link_32_ms_16"], "", None
    yield "P1: 8 threads x 8 kernels, against one compile", ratio, "< 2", ratio < 2
    yield "P2: 32 modules from a warm disk, ms", f["P2_disk_32_ms"], "< 25", f["P2_disk_32_ms"] < 25
    yield "P3: launch while another context compiles, p99.9, us", f["P3_p999_us"], "< 20", f["P3_p999_us"] < 20
    yield "P5: first launch after prefetch beside a kernel of 300 ms, ms", f["P5_first_launch_ms"], "< 1", \
        f["P5_first_launch_ms"] < 1
    if "pipeline_graph_updated_us" in f:
        yield from graph_gates(f)
    if "ratio" in f:
        yield "float32 matrix product of 4096, of cuBLAS without TF32", f["ratio"], ">= 0.75", f["ratio"] >= 0.75
    for name, title in (("copy_GB_per_s", "copy kernel, GB/s read and written"),
                        ("gemm_tflops", "float32 matrix product of 4096, TFLOP/s"),
                        ("cublas_tflops", "cuBLAS, TFLOP/s"),
                        ("pipeline_51_first_us", "pipeline of 51 kernels in PTX, first call, us"),
                        ("pipeline_51_warm_us", "pipeline of 51 kernels, warm, us"),
                        ("host_warm_us", "the pipeline with a cubin on a driver that does nothing, warm, us"),
                        ("P1_one_compile_ms", "one compile of P1, ms"),
                        ("P3_median_us", "median launch of P3, us"),
                        ("P3_max_us", "slowest launch of P3, us"),
                        ("P3_raw_p999_us", "raw launches beside the same compile, p99.9, us"),
                        ("P3_raw_quiet_p999_us", "raw launches beside nothing, p99.9, us"),
                        ("P3_hold_p999_us", "initialize + finalize beside a compile, p99.9, us"),
                        ("driver_get_id_ns_current", "cuCtxGetId alone, ns"),
                        ("acquire_default_ns_current", "finding the context, with that, ns"),
                        ("locked_pair_ns", "two locked instructions on a line of one's own, ns"),
                        ("stored_pair_ns", "two plain stores there, ns"),
                        ("link_32_ms_16", "32 modules linked at load by 16 threads, ms")):
        if name in f:
            yield title, f[name], "", None


def row(figures, title, prefix):
    cells = " | ".join(f"{figures[f'{prefix}_{n}']:.3g}" for n in THREADS)
    return f"| {title} | {cells} |"


def text(figures):
    lines = ["| | measured | gate | |", "|---|---|---|---|"]
    for what, figure, gate, holds in gates(figures):
        lines.append(f"| {what} | {figure:.3g} | {gate} | {'' if holds is None else 'holds' if holds else 'missed'} |")
    lines += ["", "| | 1 thread | 4 | 8 | 16 |", "|---|---|---|---|---|",
              row(figures, "initialize + finalize on a hit, ns a call", "hold_and_release_ns"),
              row(figures, "the same, million a second", "hold_and_release_M_per_s")]
    for title, name in (("one stream", "one_stream"), ("a stream a thread", "stream_each")):
        lines.append(row(figures, f"raw cuLaunchKernel, {title}, million a second", f"raw_launch_M_per_s_{name}"))
        lines.append(row(figures, f"one-kernel call, {title}, million a second", f"call_M_per_s_{name}"))
        lines.append(row(figures, "calls, of raw launches in turns with them", f"call_of_raw_{name}"))
        lines.append(row(figures, "raw launches after cuCtxGetId, of those without", f"asking_of_raw_{name}"))
    lines += core_table(figures) + part_table(figures)
    if "pipeline_first_us" in figures:
        lines += share_table(figures)
    if "one_first_us" in figures:
        lines += linked_table(figures)
    return "\n".join(lines)


def lanes_text(figures):
    lines = ["| | shuffles, us | shared memory, us | ratio |", "|---|---|---|---|"]
    for name, title in (("lanes_tile", "3 x 3 taps on a tile of 32 x 8 with its border, float32"),
                        ("lanes_sums", "rows less their mean, float32"),
                        ("lanes_butterfly", "sums of 32 by exchange, int64")):
        us, shared = figures[f"{name}_us"], figures[f"{name}_shared_us"]
        lines.append(f"| {title} | {us:.4g} | {shared:.4g} | {us / shared:.2f} |")
    return "\n".join(lines)


def matmul_text(figures):
    lines = ["| operands | size | code for | TFLOP/s | cuBLAS | of cuBLAS |", "|---|---|---|---|---|---|"]
    for f in figures["products"]:
        lines.append(f"| {f['operands']} | {f['size']} | {f['target']} | {f['tflops']:.0f} | {f['cublas_tflops']:.0f} | "
                     f"{f['ratio']:.2f} |")
    return "\n".join(lines)


def conv_text(figures):
    lines = ["| operands | layer | TFLOP/s | torch | of torch |", "|---|---|---|---|---|"]
    for f in figures["layers"]:
        lines.append(f"| {f['operands']} | {f['layer']} | {f['tflops']:.0f} | {f['torch_tflops']:.0f} | {f['ratio']:.2f} |")
    return "\n".join(lines)


# What the page's markers are called, what stands before them where there are none, a figure of it, and the tables.
SECTIONS = (("kernel cache on CUDA", CACHE_TITLE, "hold_and_release_ns_1", text),
            ("lanes of a warp", LANES_TITLE, "lanes_tile_us", lanes_text),
            ("matrix products", MATMUL_TITLE, "products", matmul_text),
            ("convolutions", CONV_TITLE, "layers", conv_text))


def write_page(page, name, title, tables):
    begin, end = f"<!-- begin: {name} -->", f"<!-- end: {name} -->"
    old = page.read_text()
    if begin not in old:
        old = f"{old.rstrip()}\n{title}{begin}\n{end}\n"
    head, rest = old.split(begin)
    page.write_text(f"{head}{begin}\n{tables}\n{end}{rest.split(end)[1]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("figures", type=pathlib.Path, nargs="+", help="what the bench executables wrote")
    parser.add_argument("--machine", default="", help="what to say of the machine")
    parser.add_argument("--write-docs", type=pathlib.Path, metavar="PAGE", help="put the tables into this page")
    args = parser.parse_args()
    runs = [json.loads(file.read_text()) for file in args.figures]
    products = [product for run in runs if isinstance(run, list) for product in run]
    runs = [run for run in runs if isinstance(run, dict)]
    layers = [layer for run in runs for layer in run.pop("layers", ())]
    figures = {name: statistics.median(run[name] for run in runs if name in run) for run in runs for name in run}
    if layers:
        figures["layers"] = layers
    if products:
        figures["products"] = products
    for name, title, figure, make in SECTIONS:
        if figure not in figures:
            continue
        tables = (f"Machine: {args.machine}.\n\n" if args.machine else "") + make(figures)
        print(tables)
        if args.write_docs:
            write_page(args.write_docs, name, title, tables)


if __name__ == "__main__":
    main()
