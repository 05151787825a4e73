#!/usr/bin/env bash
# Runs the tests and benches of this bundle on this machine's GPU. Needs NVIDIA's driver and the libraries of CUDA 13 (NVRTC,
# cuBLAS, cuFFT, cuSOLVER); with libtorch also the Torch tests run. Logs and results come into ./results, or the folder named first.
# LIMIT is the most seconds that a program may take. TESTS and BENCHES choose among the programs, by names as the shell matches them.
set -u
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$PWD/results}
mkdir -p "$out"
export BACKENDS_CACHE=$here/kernels   # compiled ahead of time
export CARGO_MANIFEST_DIR=$here       # the tests' data
export BACKENDS_REQUIRE=cuda,nvrtc
failed=0

run() {
    local name=$1 start=$SECONDS
    shift
    timeout "${LIMIT:-1800}" "$@" >"$out/$name.log" 2>&1
    local status=$?
    echo "$name: exit $status, $((SECONDS - start)) s: $(grep -E '^test result' "$out/$name.log" | tail -1)"
    [ $status -eq 0 ] || failed=1
}

{ date -u; uname -srm; nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null; } | tee "$out/machine.txt"
for test in "$here"/tests/${TESTS:-*}; do
    [ -x "$test" ] && [ -f "$test" ] && run "$(basename "$test")" "$test"
done
for bench in "$here"/benches/${BENCHES:-*}; do
    [ -x "$bench" ] || continue
    (cd "$out" && run "bench-$(basename "$bench")" "$bench" --bench ${BENCH_ARGS:-}; exit $failed) || failed=1
done
exit $failed
