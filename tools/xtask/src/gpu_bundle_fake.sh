#!/usr/bin/env bash
# Replaces a test program of the bundle in the tests of the bundle's script. The name of a test determines its outcome.
if [ "$1" = --list ]; then
    for test in add::float32 add::int32 matmul::float32 fft::complex64 cholesky::float64 svd::float64 \
        sum::wrong tril::faulty pad::after exp::after scan::hangs sin::after2 label::crashes cos::after3; do
        echo "conformance::$test: test"
    done
    [ "${FAKE:-}" = many ] && for i in $(seq 600); do echo "conformance::many::n$i: test"; done
    exit 0
fi
[ "${FAKE:-}" = "no device" ] && { echo "no cuda. there is no driver"; exit 101; }
[ "${FAKE:-}" = writes ] && head -c 3000000 /dev/zero
faulty= failed= passed=0
for test in "$@"; do
    case $test in --exact | --test-threads | 1) continue ;; esac
    printf 'test %s ... ' "$test"
    [ -n "${BACKENDS_CUDA_KERNELS:-}" ] && : >"$BACKENDS_CUDA_KERNELS/${test//:/_}.asked"
    # a driver may print in the middle of a line of a test
    case $test in *faulty) echo "driver: an illegal access" >&2 ;; esac
    why=
    [ -n "$faulty" ] && why="a later call: DriverError(CUDA_ERROR_ILLEGAL_ADDRESS)"
    case $test in
        *wrong) why="case \`x\`: 1 of 2 elements: [0]: expected 1.0, got 2.0" ;;
        *faulty) why="tril: DriverError(CUDA_ERROR_ILLEGAL_ADDRESS)" faulty=1 ;;
        *hangs) sleep 100 ;;
        *crashes) kill -SEGV $$ ;;
    esac
    if [ -z "$why" ]; then echo ok; passed=$((passed + 1)); else echo FAILED; failed+="---- $test stdout ----"$'\n'"$why"$'\n\n'; fi
done
if [ -n "$failed" ]; then
    printf '\nfailures:\n\n%s\nfailures:\n\n' "$failed"
    exit 101
fi
echo; echo "test result: ok. $passed passed; 0 failed"
