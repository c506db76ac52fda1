#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the apps with Halide: run time, generator run time, time to compile a generator's source.

Both sides are built from the same generator sources (shim/ maps the one API to the other), linked into one program,
and run in turns. Writes the tables of docs/benchmarks.md between its markers, and a JSON file with the raw figures.

    pip install halide
    ./dev build release
    test/performance/halide/compare.py --calotype build/release

On GPUs, where neither compiler needs to be: --build-gpu makes the program build/compare/compare_gpu; `compare.py --run-gpu PROGRAM
--json FILE` runs it on the machine with the GPU; `compare.py --gpu-json FILE` makes the table. Likewise --build-cpu makes
build/compare/compare, for another machine of the same kind of processor, --run-cpu runs it with several numbers of threads and in
two sizes, and --cpu-json makes the table. --autoscheduler compares the apps as Mullapudi2016 of either side schedules them.

Exit code 1 if the results of the two sides differ.
"""
import argparse
import ctypes
import importlib.util
import json
import os
import pathlib
import platform
import shutil
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
# Each pipeline: the largest difference of results (of floats as a part of 1 or of the value). Sizes are what the generators
# estimate. A table that falls to the other side of a rounding moves some by a few steps.
PIPELINES = {"blur": 0, "unsharp": 1e-3, "local_laplacian": 64, "bilateral_grid": 1e-3, "camera_pipe": 2, "interpolate": 1e-3,
             "harris": 1e-3, "nl_means": 1e-3, "lens_blur": 1e-2, "resize": 1e-3, "hist": 0, "fft": 1e-2, "gemm": 1e-4,
             "conv_layer": 1e-4, "depthwise_separable_conv": 1e-4, "max_filter": 0, "iir_blur": 1e-4, "stencil_chain": 0,
             "wavelet": 1e-4, "inverse_wavelet": 1e-4}
APP_OF = {"inverse_wavelet": "wavelet"}  # where that is not the app's name
LARGEST = {"blur": 4095, "camera_pipe": 1023, "stencil_chain": 255}  # of integers in inputs, beyond which sums wrap; else of 32 bits
# On a GPU: of a random image, rounding moves table lookups of several levels at once; Calotype's kernels are within 11 of its host code,
# Halide's within 506 of either.
DIFFERENCE_ON_GPU = {"local_laplacian": 1024}
LARGE_ON_GPU = {"blur": 4, "unsharp": 4}  # also this many times as wide and high, far beyond the cache
SMALL = 0.25  # of width and height: what it costs to share out little work
WITH_ONE_SIZE = {"fft", "conv_layer", "depthwise_separable_conv"}  # the sizes that their schedules are for
MARKS = "<!-- begin: {0} -->", "<!-- end: {0} -->"


def seconds(command, runs, **kwargs):
    """Median wall time of a command."""
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, **kwargs)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def halide_root():
    spec = importlib.util.find_spec("halide")
    if spec is None:
        sys.exit("compare.py: Python has no package halide; pip install halide")
    return pathlib.Path(spec.origin).parent


def named(pipeline, scale=1, on_gpu=False):
    difference = (DIFFERENCE_ON_GPU if on_gpu else {}).get(pipeline, PIPELINES[pipeline])
    return f"{pipeline}:{difference}:{scale}:{LARGEST.get(pipeline, 2**32 - 1)}"


def machine():
    name = platform.processor()
    for line in open("/proc/cpuinfo"):
        if line.startswith("model name"):
            name = line.split(":", 1)[1].strip()
            break
    return f"{name}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}"


def build(build_dir, calotype, halide, pipelines, *options, target="all"):
    shutil.rmtree(build_dir, ignore_errors=True)
    names = ";".join(f"{p}={APP_OF.get(p, p)}" for p in pipelines)
    subprocess.run(["cmake", "-S", HERE, "-B", build_dir, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                    f"-DCMAKE_PREFIX_PATH={calotype}", f"-DHALIDE_ROOT={halide}",
                    f"-DPIPELINES={names}", *options], check=True)
    subprocess.run(["cmake", "--build", build_dir, "--target", target], check=True)


def compile_seconds(pipeline, include, calotype_include, out, runs):
    app = APP_OF.get(pipeline, pipeline)
    source = ROOT / "apps" / app / f"{app}_generator.cpp"
    command = ["c++", "-std=c++17", "-O2", "-fno-rtti" if include else "-O2", "-c", source, "-o", out]
    for folder in include or calotype_include:
        command.append(f"-I{folder}")
    return seconds(command, runs)


def generator_seconds(generator, app, build_dir, runs, target="host"):
    out = build_dir / "timing"
    out.mkdir(exist_ok=True)
    return seconds([generator, "-g", app, "-f", f"{app}_timed", "-o", out, "-e", "object,c_header", f"target={target}"], runs)


def with_threads(threads):
    return dict(os.environ, CT_NUM_THREADS=str(threads), HL_NUM_THREADS=str(threads))


def run(pipeline, build_dir, threads, quick):
    done = subprocess.run([build_dir / "compare", *["--quick"][:quick], named(pipeline)], env=with_threads(threads),
                          stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"compare.py: the results of {pipeline} differ, or a call failed")
    return json.loads(done.stdout)


def measure(build_dir, calotype, halide, pipelines, quick):
    calotype_include = [calotype / "include", calotype / "include" / "calotype"]
    halide_include = [HERE / "shim", halide / "include"]
    rows, runs = [], 1 if quick else 3
    for app in pipelines:
        row = {"app": app}
        for threads in sorted({1, os.cpu_count()}):
            row[f"threads_{threads}"] = run(app, build_dir, threads, quick)
        program = APP_OF.get(app, app)
        row["generator_s"] = {
            "calotype": generator_seconds(build_dir / f"{program}_generator", app, build_dir, runs),
            "halide": generator_seconds(build_dir / f"{program}_halide_generator", app, build_dir, runs),
            "halide_without_runtime": generator_seconds(build_dir / f"{program}_halide_generator", app, build_dir, runs,
                                                        "host-no_runtime")}
        row["compile_s"] = {
            "calotype": compile_seconds(app, None, calotype_include, build_dir / "timed.o", runs),
            "halide": compile_seconds(app, halide_include, None, build_dir / "timed.o", runs)}
        rows.append(row)
    return rows


def heading(machine_name, version):
    return (f"Machine: {machine_name}. Halide {version} from PyPI. Medians of alternating runs; below 1 means that Calotype is "
            "faster.")


def table(rows, version):
    threads = sorted({1, os.cpu_count()})
    lines = [heading(machine(), version), "",
             "| app | size | threads | Calotype ms | Halide ms | ratio |", "|---|---|---|---|---|---|"]
    for row in rows:
        for n in threads:
            r = row[f"threads_{n}"]
            lines.append(f"| {row['app']} | {r['size']} | {n} | {r['calotype_ms']:.2f} | {r['halide_ms']:.2f} | "
                         f"{r['calotype_ms'] / r['halide_ms']:.2f} |")
    for n in threads:
        mean = statistics.geometric_mean(r[f"threads_{n}"]["calotype_ms"] / r[f"threads_{n}"]["halide_ms"] for r in rows)
        lines.append(f"| geometric mean | | {n} | | | {mean:.2f} |")
    lines += ["", "| app | generator run, Calotype s | Halide s | ratio | Halide without runtime s | ratio | "
              "compile the generator's source, Calotype s | Halide s | ratio |", "|---|---|---|---|---|---|---|---|---|"]
    for row in rows:
        g, c = row["generator_s"], row["compile_s"]
        alone = g["halide_without_runtime"]
        lines.append(f"| {row['app']} | {g['calotype']:.2f} | {g['halide']:.2f} | {g['calotype'] / g['halide']:.2f} | "
                     f"{alone:.2f} | {g['calotype'] / alone:.2f} | "
                     f"{c['calotype']:.2f} | {c['halide']:.2f} | {c['calotype'] / c['halide']:.2f} |")
    return "\n".join(lines)


def run_cpu(program, pipelines, counts, quick, scales=(1, SMALL)):
    """Each with these numbers of threads, in the size that is estimated and, by default, a small one."""
    rows, failed = [], []
    for threads in counts:
        for one in [named(p, s) for p in pipelines for s in scales if s == 1 or p not in WITH_ONE_SIZE]:
            done = subprocess.run([program.resolve(), *["--quick"][:quick], one], env=with_threads(threads), capture_output=True, text=True)
            print(f"{threads} threads: {done.stdout}{done.stderr}", end="", flush=True)
            if done.returncode:
                failed.append(one)
            else:
                rows.append(dict(json.loads(done.stdout), threads=threads))
    if failed:
        sys.exit(f"compare.py: the results of {', '.join(failed)} differ, or a call failed")
    return {"machine": machine(), "rows": rows}


def cpu_table(results, version):
    threads = sorted({r["threads"] for r in results["rows"]})
    lines = [heading(results["machine"], version), "",
             "| app | size | " + " | ".join(f"{n} threads, ms | ratio" for n in threads) + " |",
             "|---|---|" + "---|---|" * len(threads)]
    ratios = {n: [] for n in threads}
    for app, size in dict.fromkeys((r["app"], r["size"]) for r in results["rows"]):
        cells = []
        for n in threads:
            r = next(r for r in results["rows"] if (r["app"], r["size"], r["threads"]) == (app, size, n))
            ratios[n].append(r["calotype_ms"] / r["halide_ms"])
            cells += [f"{r['calotype_ms']:.3f}", f"{ratios[n][-1]:.2f}"]
        lines.append(f"| {app} | {size} | {' | '.join(cells)} |")
    means = " | ".join(f"| {statistics.geometric_mean(ratios[n]):.2f}" for n in threads)
    lines.append(f"| geometric mean | | {means} |")
    return "\n".join(lines)


def run_gpu(program, pipelines, quick):
    """Each in a process of its own: one that a side cannot run ends its process."""
    rows = []
    each = [named(p, on_gpu=True) for p in pipelines]
    each += [named(p, LARGE_ON_GPU[p], on_gpu=True) for p in pipelines if p in LARGE_ON_GPU]
    for one in each:
        done = subprocess.run([program.resolve(), *["--quick"][:quick], one], capture_output=True, text=True)
        print(done.stdout + done.stderr, end="", flush=True)
        lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
        if done.returncode == 0 and lines:
            rows.append(json.loads(lines[0]))
        elif lines:
            sys.exit(f"compare.py: the results of {one} differ, or a call failed")
        else:
            rows.append({"app": one.split(":")[0], "failure": ((done.stdout + done.stderr).strip().splitlines() or ["no output"])[-1]})
    gpu = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"], check=True,
                         capture_output=True, text=True).stdout.strip()
    return {"machine": gpu.replace(", ", ", driver "), "rows": rows}


def gpu_table(results, version):
    lines = [f"Machine: {results['machine']}. Halide {version} from PyPI, compute capability 8.6 (it knows none later), Calotype 9.0. "
             "Buffers stay on the device; a time is that of 20 calls and a wait, by call; medians of 20 alternating runs. The copy is "
             "cuMemcpyDtoD of as many bytes as an app reads and writes at least.", "",
             "| app | size | MB | Calotype ms | Halide ms | ratio | copy ms | of the copy's bandwidth |",
             "|---|---|---|---|---|---|---|---|"]
    for r in results["rows"]:
        if "failure" in r:
            lines.append(f"| {r['app']} | does not run: {r['failure']} | | | | | | |")
            continue
        lines.append(f"| {r['app']} | {r['size']} | {r['megabytes']:.0f} | {r['calotype_ms']:.4f} | "
                     f"{r['halide_ms']:.4f} | {r['calotype_ms'] / r['halide_ms']:.2f} | {r['copy_ms']:.4f} | "
                     f"{100 * r['copy_ms'] / r['calotype_ms']:.0f} % |")
    ratios = [r["calotype_ms"] / r["halide_ms"] for r in results["rows"] if "failure" not in r]
    lines.append(f"| geometric mean | | | | | {statistics.geometric_mean(ratios):.2f} | | |")
    return "\n".join(lines)


def load_generated(library, objects, calotype):
    """Links what generators wrote for targets without a runtime with the runtime of the tree, and loads it by ctypes."""
    subprocess.run([os.environ.get("CXX", "c++"), "-shared", "-o", library, *objects, "-Wl,--whole-archive",
                    calotype / "lib/libcalotype_runtime.a", "-Wl,--no-whole-archive", "-lpthread", "-ldl"], check=True)
    return ctypes.CDLL(str(library))


def write_page(page, subject, text):
    begin, end = (mark.format(subject) for mark in MARKS)
    head, rest = page.read_text().split(begin)
    page.write_text(f"{head}{begin}\n{text}\n{end}{rest.split(end)[1]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calotype", type=pathlib.Path, default=ROOT / "build/release", help="build or install tree")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/compare", help="where to build")
    parser.add_argument("--json", type=pathlib.Path, help="also write the raw figures here")
    parser.add_argument("--write-docs", action="store_true", help="put the tables into docs/benchmarks.md")
    parser.add_argument("--build-gpu", action="store_true", help="only build compare_gpu")
    parser.add_argument("--run-gpu", type=pathlib.Path, metavar="PROGRAM", help="only run compare_gpu")
    parser.add_argument("--gpu-json", type=pathlib.Path, metavar="FILE", help="only the table of what --run-gpu wrote")
    parser.add_argument("--build-cpu", action="store_true", help="only build compare")
    parser.add_argument("--run-cpu", type=pathlib.Path, metavar="PROGRAM", help="only run compare")
    parser.add_argument("--threads", type=int, nargs="+", metavar="N", help="for --run-cpu: these numbers of threads",
                        default=sorted({1, max(1, os.cpu_count() // 4), os.cpu_count()}))
    parser.add_argument("--cpu-json", type=pathlib.Path, metavar="FILE", help="only the table of what --run-cpu wrote")
    parser.add_argument("--autoscheduler", action="store_true", help="only run times, as Mullapudi2016 schedules the apps")
    parser.add_argument("--apps", nargs="+", choices=PIPELINES, default=list(PIPELINES), metavar="APP", help="only these")
    parser.add_argument("--quick", action="store_true", help="few repetitions: to see whether results agree")
    args = parser.parse_args()
    if args.run_gpu or args.run_cpu:
        results = (run_gpu(args.run_gpu, args.apps, args.quick) if args.run_gpu else
                   run_cpu(args.run_cpu, args.apps, args.threads, args.quick))
        if args.json:
            args.json.write_text(json.dumps(results, indent=2))
        return
    from importlib.metadata import version
    halide = halide_root()
    if args.build_gpu:
        build(args.build, args.calotype.resolve(), halide, args.apps, "-DCOMPARE_GPU=ON", target="compare_gpu")
        return
    if args.build_cpu:
        build(args.build, args.calotype.resolve(), halide, args.apps, target="compare")
        return
    if args.autoscheduler:
        build(args.build, args.calotype.resolve(), halide, args.apps, "-DAUTOSCHEDULER=Mullapudi2016", target="compare")
        results = run_cpu(args.build / "compare", args.apps, sorted({1, os.cpu_count()}), args.quick, scales=(1,))
        subject, text = "apps under Mullapudi2016", cpu_table(results, version("halide"))
    elif args.gpu_json:
        subject, text = "apps on a GPU against Halide", gpu_table(json.loads(args.gpu_json.read_text()), version("halide"))
    elif args.cpu_json:
        subject, text = "apps on many processors", cpu_table(json.loads(args.cpu_json.read_text()), version("halide"))
    else:
        build(args.build, args.calotype.resolve(), halide, args.apps)
        rows = measure(args.build, args.calotype.resolve(), halide, args.apps, args.quick)
        subject, text = "apps against Halide", table(rows, version("halide"))
        if args.json:
            args.json.write_text(json.dumps({"machine": machine(), "rows": rows}, indent=2))
    print(text)
    if args.write_docs:
        write_page(ROOT / "docs/benchmarks.md", subject, text)


if __name__ == "__main__":
    main()
