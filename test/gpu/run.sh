#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# run.sh [--sanitize] [FOLDER]: run all that lies beside this script on this machine's GPU; logs,
# results.json and table.txt go to FOLDER (default: logs beside it). Ends with 1 if anything failed.
# --sanitize runs the tests once more under compute-sanitizer.
here=$(cd "$(dirname "$0")" && pwd)
sanitize=no
if [ "$1" = --sanitize ]; then
    sanitize=yes
    shift
fi
logs=${1:-$here/logs}
mkdir -p "$logs"
: > "$logs/table.txt"
failed=0

# The system's OpenCL loader finds NVIDIA's library by this file.
if [ ! -e /etc/OpenCL/vendors/nvidia.icd ] && [ -w /etc ] && ldconfig -p | grep -q libnvidia-opencl; then
    mkdir -p /etc/OpenCL/vendors && echo libnvidia-opencl.so.1 > /etc/OpenCL/vendors/nvidia.icd
fi
# Nothing that an earlier run left behind, and nothing left behind.
CT_KERNEL_CACHE_DIR=$(mktemp -d)
export CT_KERNEL_CACHE_DIR
trap 'rm -rf "$CT_KERNEL_CACHE_DIR"' EXIT

count() { grep -c "$1" "$2" 2>/dev/null || true; }
run() {  # NAME COMMAND...
    name=$1
    shift
    log="$logs/$name.log"
    begin=$(date +%s)
    timeout 240 "$@" > "$log" 2>&1
    code=$?
    seconds=$(($(date +%s) - begin))
    result=ok
    if [ $code -ne 0 ]; then
        result="exit $code"
        failed=1
    fi
    printf '%-36s %7s %7s %7s %5ss  %s\n' "$name" "$(count '^\[       OK' "$log")" \
        "$(count '^\[  FAILED  \].*(' "$log")" "$(count '^\[  SKIPPED \].*(' "$log")" \
        "$seconds" "$result" | tee -a "$logs/table.txt"
}

printf '%-36s %7s %7s %7s %6s  %s\n' name passed failed skipped time result | tee "$logs/table.txt"
for test in "$here"/test_*; do
    run "$(basename "$test")" "$test"
done
if [ $sanitize = yes ]; then
    for test in "$here"/test_*; do
        run "sanitizer_$(basename "$test")" compute-sanitizer --error-exitcode 77 "$test" \
            --gtest_filter='Cuda*'
    done
fi
for seed in 1 2 3 4; do
    run "soak_$seed" "$here/soak" "$seed" 30 "$((16 * seed))" 5
done
run soak_opencl "$here/soak" 5 30 16 5 opencl
for bench in "$here"/bench_*; do
    run "$(basename "$bench")" "$bench" "$logs/$(basename "$bench").json"
done
exit $failed
