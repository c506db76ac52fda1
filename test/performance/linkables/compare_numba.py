#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The scenarios of callbacks and of the device runtime, on Calotype and on numba-cuda, on one GPU.

    compare_numba.py --run --bundle build/gpu_bundle results.json    on the machine with the GPU
    compare_numba.py --write-docs docs/benchmarks.md results.json

Ours are the tests of the bundle (test_scenarios_cuda, test_gpu_nrt), which also say whether the counts are what they
must be; numba-cuda's are numba_side.py, with the same device code in S40."""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TITLES = {
    "S01": "1 kernel, 1 linkable, 2 launches",
    "S02": "2 type variants, launches i, i, f",
    "S03": "2 kernels, 1 shared linkable",
    "S04": "4 combinations of setup and teardown",
    "S05": "setup writes 42, the kernel reads it",
    "S06": "one linkable by 3 routes",
    "S07": "4 threads, 1 cold kernel",
    "S08": "4 threads x (A, A, B)",
    "S40 a": "10 x alloc_aligned + decref",
    "S40 b": "alloc, incref, decref, decref",
    "S40 c": "5 x new_varsize + decref",
    "S40 d": "5 x new_varsize_dtor + decref",
    "S40 e": "Allocate + Free in a linked library",
    "S40 f": "a) on 64 threads",
    "S40 g": "statistics off, then on",
    "S40 h": "alignments 8 to 1024",
    "S40 i": "20 x 1 MiB in the default heap",
    "S40 j_2": "1,000,000 objects, 2 last holders",
    "S40 j_8": "8 last holders",
    "S40 j_132": "132 last holders",
    "S40 k": "heap size after first use",
    "S40 l": "two contexts",
}


def reports(executable, pattern):
    """name -> (properties, result) of the tests that match."""
    with tempfile.NamedTemporaryFile(suffix=".json") as report:
        run = subprocess.run(
            [executable, f"--gtest_filter={pattern}", f"--gtest_output=json:{report.name}"],
            capture_output=True, text=True, timeout=240)
        try:
            suites = json.load(report)["testsuites"]
        except ValueError:
            sys.exit(f"{executable} wrote no report: {run.stdout[-2000:]}{run.stderr[-2000:]}")
    return {t["name"]: t for s in suites for t in s["testsuite"]}


def ours(bundle):
    results = {}
    pattern = ":".join(f"*S0{i}_*" for i in range(1, 9))
    for name, test in reports(os.path.join(bundle, "test_scenarios_cuda"), pattern).items():
        counts = test.get("counts", "").split()
        passed = "" if "failures" not in test else " (failed)"
        if len(counts) == 5:
            results[name[:3]] = f"{counts[2]} {counts[3]}{passed}"
    if "S05" in results:
        results["S05"] += ", value 42"  # the test compares it
    kinds = {}
    for test in reports(os.path.join(bundle, "test_gpu_nrt"), "*").values():
        for key, value in test.items():
            if key.startswith("e_"):
                kinds[key[2:]] = value
            elif f"S40 {key}" in TITLES:
                results[f"S40 {key}"] = value + ("" if "failures" not in test else " (failed)")
    if kinds:
        same = len(set(kinds.values())) == 1
        results["S40 e"] = (f"{next(iter(kinds.values()))} by each of " + ", ".join(kinds) if same
                            else ", ".join(f"{k}: {v}" for k, v in kinds.items()))
    return results


def numba_of(name):
    try:
        run = subprocess.run([sys.executable, os.path.join(HERE, "numba_side.py"), name],
                             capture_output=True, text=True, timeout=60)
    except subprocess.TimeoutExpired:
        return "does not end"
    for line in run.stdout.splitlines():
        if line.startswith("{"):
            return json.loads(line)[name]
    print(f"{name}: {run.stderr[-1500:]}", file=sys.stderr)
    errors = [line for line in run.stderr.splitlines() if "rror" in line and not line.startswith(" ")]
    error = (errors or [f"exit {run.returncode}"])[-1]
    name = re.search(r"CUDA_ERROR_\w+", error)
    return "fails: " + (name.group() if name else error[:120])


def environment():
    gpu = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"],
                         capture_output=True, text=True).stdout.strip().split(", ")
    from importlib.metadata import version
    return {"gpu": gpu[0], "driver": gpu[1], "numba_cuda": version("numba-cuda")}


def run(bundle, only_numba):
    names = [f"s0{i}" for i in range(1, 9)] + [f"s40_{x}" for x in "abcdefghi"]
    names += ["s40_j_2", "s40_j_8", "s40_j_132"]
    mine = {} if only_numba else ours(bundle)
    theirs = {}
    for name in names:
        key = name.upper().replace("S40_", "S40 ")
        key = "S40 " + name[4:] if name.startswith("s40") else key
        theirs[key] = numba_of(name)
        print(key, "|", mine.get(key), "|", theirs[key], flush=True)
    theirs["S40 k"] = "no such call"
    theirs["S40 l"] = "one set of counters a process"
    return {"environment": environment(), "calotype": mine, "numba": theirs}


def table(results):
    e = results["environment"]
    peer = f"numba-cuda {e['numba_cuda']}." if results["numba"] else "numba-cuda has not been run."
    lines = [f"Machine: {e['gpu']}, driver {e['driver']}. {peer} S01 to S08: setups and teardowns, "
             "after the context was released. S40: alloc, free, mi_alloc, mi_free, if nothing else is said.", "",
             "| | scenario | Calotype | numba-cuda |", "|---|---|---|---|"]
    for key, title in TITLES.items():
        lines.append(f"| {key} | {title} | {results['calotype'].get(key, '-')} | {results['numba'].get(key, '-')} |")
    return "\n".join(lines)


def write_docs(path, text):
    begin, end = "<!-- begin: numba-cuda -->", "<!-- end: numba-cuda -->"
    with open(path, encoding="utf-8") as f:
        page = f.read()
    if begin not in page:
        page += ("\n## Callbacks and the device runtime beside numba-cuda\n\n`test/performance/linkables/compare_numba.py`, "
                 "the same scenarios on both, in one run.\n\n" + begin + "\n" + end + "\n")
    head, rest = page.split(begin)
    with open(path, "w", encoding="utf-8") as f:
        f.write(head + begin + "\n" + text + "\n" + end + rest.split(end)[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("json", help="results")
    parser.add_argument("--run", action="store_true", help="run both sides and write the results")
    parser.add_argument("--bundle", default="build/gpu_bundle", help="folder of calotype_gpu_bundle")
    parser.add_argument("--only-numba", action="store_true")
    parser.add_argument("--write-docs", metavar="FILE", help="put the table into the page")
    args = parser.parse_args()
    if args.run:
        with open(args.json, "w", encoding="utf-8") as f:
            json.dump(run(args.bundle, args.only_numba), f, indent=1)
    with open(args.json, encoding="utf-8") as f:
        text = table(json.load(f))
    print(text)
    if args.write_docs:
        write_docs(args.write_docs, text)


if __name__ == "__main__":
    main()
