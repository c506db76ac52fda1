#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares random pipelines under random schedules with Halide: values, and processor time to compile and of a call.

random_pipelines.cpp, or with --program layers random_layers.cpp, is compiled against each side's Halide.h; each seed is a
process, the sides take turns. Nobody has tuned these programs, so what is slow among them is a class to be found. With
--targets the pipelines are for a GPU; with --plain no schedule is drawn; with more than one thread the time of a call is
that of a clock. --jobs runs several seeds at a time, on a machine with as many processors.

    pip install halide
    ./dev build release
    test/performance/halide/random/compare_random.py --seeds 1 60

Exit code 1 if values differ, or if one side alone refuses a schedule.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[3]
sys.path.insert(0, str(HERE.parent))
from compare import halide_root, machine, write_page  # noqa: E402


def compile_program(out, includes, library, *libraries):
    program = HERE / f"random_{out.parent.name}.cpp"
    command = ["c++", "-std=c++17", "-O1", program, *[f"-I{i}" for i in includes], "-o", out, library,
               f"-Wl,-rpath,{library.parent}", *libraries]
    subprocess.run(command, check=True)


def build(folder, calotype):
    """The two programs, of which the folder's name says what they make; calotype is an install tree."""
    folder.mkdir(parents=True, exist_ok=True)
    halide = halide_root()
    include = calotype / "include" / "calotype"
    compile_program(folder / "calotype", [include / "generator/compat", include / "runtime/compat", calotype / "include", include],
                    calotype / "lib/libCalotype.so", "-lpthread", "-ldl")
    compile_program(folder / "halide", [halide / "include"], next(halide.glob("lib*/libHalide.so")))


def run(program, seed, args):
    limit = args.limit
    env = dict(os.environ, CT_NUM_THREADS=str(args.threads), HL_NUM_THREADS=str(args.threads))
    if args.plain:
        env["PLAIN"] = "1"
    if args.targets:
        env["HL_JIT_TARGET"] = args.targets[program.name == "halide"]
    try:
        done = subprocess.run([program, str(seed), *map(str, args.size or [])], env=env, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return {"error": f"over {limit} s"}
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    return json.loads(lines[0]) if lines else {"error": f"ended with {done.returncode}: {done.stderr.strip()[-200:]}"}


def best(side, seed, args, rounds):
    """The fastest of some runs."""
    runs = [run(args.build / args.program / side, seed, args) for _ in range(rounds)]
    failed = [r for r in runs if "error" in r]
    return failed[0] if failed else min(runs, key=lambda r: r["run_ms"])


def one(seed, args):
    ours = best("calotype", seed, args, 1)
    theirs = best("halide", seed, args, 1)
    if "error" in ours or "error" in theirs:
        return {"seed": seed, "calotype": ours, "halide": theirs}
    if ours["run_ms"] > 1.05 * theirs["run_ms"]:  # look again before this is said
        ours = min(ours, best("calotype", seed, args, 2), key=lambda r: r["run_ms"])
        theirs = min(theirs, best("halide", seed, args, 2), key=lambda r: r["run_ms"])
    return {"seed": seed, "calotype": ours, "halide": theirs}


def same(a, b):
    if isinstance(a, str) or isinstance(b, str):  # not finite
        return a == b
    return abs(a - b) <= 1e-4 * max(abs(a), abs(b), 1.0)


def describe(row):
    """A line about a seed, and whether it is one to look at."""
    ours, theirs = row["calotype"], row["halide"]
    if "error" in ours and "error" in theirs:
        return f"{row['seed']:6} refused by both", False
    if "error" in ours or "error" in theirs:
        side = "Calotype" if "error" in ours else "Halide"
        return f"{row['seed']:6} {side} ALONE: {(ours.get('error') or theirs['error'])[:300]}", True
    differ = not same(ours["sum"], theirs["sum"])
    ratio = ours["run_ms"] / theirs["run_ms"]
    marks = " VALUES DIFFER" * differ + " slower" * (ratio > 1.05)
    return (f"{row['seed']:6} {ours['run_ms']:9.3f} ms {theirs['run_ms']:9.3f} ms {ratio:5.2f}, compiled in "
            f"{ours['compile_ms'] / theirs['compile_ms']:5.2f}{marks}"), differ


def halide_version():
    """Where the programs were built; unknown on a machine that they were taken to."""
    from importlib.metadata import PackageNotFoundError, version
    try:
        return version("halide")
    except PackageNotFoundError:
        return None


def how_measured(figures):
    if figures["targets"]:
        return (f"{figures['gpu']}, targets {' and '.join(figures['targets'])}. Time of a call among ten that follow one another, the least of "
                "eight")
    beside = f"{figures['jobs']} at a time, " if figures.get("jobs", 1) > 1 else ""
    clock = "Processor time of a call" if figures["threads"] == 1 else "Time of a call"
    return f"{clock}, {figures['threads']} thread(s), {beside}the least of several calls"


def summary(figures):
    """The table of docs/benchmarks.md: how the ratios are spread, and the largest by seed."""
    rows = figures["rows"]
    good = [r for r in rows if "error" not in r["calotype"] and "error" not in r["halide"]]
    run_time = sorted((r["calotype"]["run_ms"] / r["halide"]["run_ms"], r["seed"]) for r in good)
    compiled = [r["calotype"]["compile_ms"] / r["halide"]["compile_ms"] for r in good]
    ratios = [ratio for ratio, _ in run_time]
    last = ", ".join(f"{ratio:.2f} ({seed})" for ratio, seed in run_time[:-6:-1])
    return "\n".join([
        f"Machine: {figures['machine']}. Halide {figures['halide'] or halide_version()} from PyPI. {how_measured(figures)}; below 1 means that "
        "Calotype is faster.", "",
        "| seeds | run by both | geometric mean | median | above 1.05 | largest (seed) | time to compile, geometric mean |",
        "|---|---|---|---|---|---|---|",
        f"| {rows[0]['seed']} to {rows[-1]['seed']} | {len(good)} of {len(rows)} | {statistics.geometric_mean(ratios):.2f} | "
        f"{statistics.median(ratios):.2f} | {sum(r > 1.05 for r in ratios)} | {last} | {statistics.geometric_mean(compiled):.2f} |"])


def measure(args):
    """The figures of all seeds, and whether there is one to look at."""
    gpu = ""
    if args.targets:
        names = subprocess.run(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"], capture_output=True, text=True).stdout
        gpu = (names.splitlines() or ["an unnamed GPU"])[0]
    figures = {"machine": machine(), "gpu": gpu, "halide": halide_version(), "targets": args.targets, "threads": args.threads,
               "program": args.program, "plain": args.plain, "jobs": args.jobs, "rows": []}
    wrong = False
    with ThreadPoolExecutor(args.jobs) as pool:
        for row in pool.map(lambda seed: one(seed, args), range(args.seeds[0], args.seeds[1] + 1)):
            figures["rows"].append(row)
            line, bad = describe(row)
            wrong |= bad
            print(line, flush=True)
            if args.json:  # after each, as a run may be cut off
                args.json.write_text(json.dumps(figures, indent=2))
    return figures, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calotype", type=pathlib.Path, default=ROOT / "build/install", help="install tree")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/compare_random", help="where to build")
    parser.add_argument("--seeds", type=int, nargs=2, default=(1, 40), metavar=("FIRST", "LAST"))
    parser.add_argument("--program", choices=["pipelines", "layers"], default="pipelines", help="what is made of a seed")
    parser.add_argument("--plain", action="store_true", help="without their schedules")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1, help="seeds that run at a time")
    parser.add_argument("--targets", nargs=2, metavar=("OURS", "HALIDES"), help="to compile for, if not for the host")
    parser.add_argument("--size", type=int, nargs=2, metavar=("WIDTH", "HEIGHT"), help="of the images")
    parser.add_argument("--limit", type=int, default=120, metavar="SECONDS", help="for one run of one side")
    parser.add_argument("--write-docs", action="store_true", help="put the table into docs/benchmarks.md")
    parser.add_argument("--no-build", action="store_true", help="the programs are there")
    parser.add_argument("--json", type=pathlib.Path, help="also write the raw figures here")
    parser.add_argument("--read-json", type=pathlib.Path, help="measure nothing: these are the figures")
    args = parser.parse_args()
    wrong = False
    if args.read_json:
        figures = json.loads(args.read_json.read_text())
    else:
        if not args.no_build:
            build(args.build / args.program, args.calotype.resolve())
        figures, wrong = measure(args)
    text = summary(figures)
    print(text)
    if args.write_docs:
        where = " on a GPU" if figures["targets"] else "" if figures["threads"] == 1 else " on many processors"
        what = figures["program"] + " without schedules" * figures.get("plain", False)
        write_page(ROOT / "docs/benchmarks.md", f"random {what} against Halide{where}", text)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
