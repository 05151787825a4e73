#!/usr/bin/env bash
# Runs the tests or the measurements of this bundle on this machine's GPU, within a time budget:
#
#     bash gpu-bundle/run.sh correctness [OUT]     # 400 s at most
#     bash gpu-bundle/run.sh speed [OUT]           # 200 s at most
#
# After each step, all results so far are packed into one file, OUT/correctness.tar.gz or OUT/speed.tar.gz, which
# `cargo xtask gpu-results` reads. OUT is ./results by default. The script needs NVIDIA's driver and the libraries of
# CUDA 13, such as the libraries that PyTorch's package installs.
#
# Environment variables:
#     BUDGET                     the time limit of the whole run, in seconds
#     JOBS                       the number of processes that run tests at the same time
#     TEST_LIMIT                 the seconds without output after which a test counts as hung
#     OTHERS_TEST_LIMIT          the same for the step `others`
#     ROWS_LIMIT, OTHERS_LIMIT   the time limits of the steps `rows` and `others`, in seconds
#     CUDA_HOME                  the folder of the CUDA libraries
#     KERNELS                    a folder of compiled kernels, used instead of the bundle's kernels
set -u
umask 022
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
part=${1:-correctness}
case $part in
    correctness) budget=${BUDGET:-400} ;;
    speed) budget=${BUDGET:-200} ;;
    --queue) ;;
    *) echo "usage: run.sh correctness|speed [OUT]" >&2; exit 2 ;;
esac

# ---- tests in a queue: several processes of this script take files with names of tests from one folder ----

# watched SECONDS LOG COMMAND..: runs a command, and ends it if its logs, LOG and LOG.err, do not grow for so many
# seconds. Returns 124 if it ended the command, otherwise the command's status. stderr goes to LOG.err, because output
# of libraries would break the lines with the results of tests.
watched() {
    local quiet_most=$1 log=$2 pid size before=-1 quiet=0
    shift 2
    "$@" >"$log" 2>"$log.err" </dev/null &
    pid=$!
    while kill -0 "$pid" 2>/dev/null; do
        sleep 0.1
        size=$(stat -c %s "$log" "$log.err" 2>/dev/null | tr '\n' ' ')
        [ "$size" = "$before" ] && quiet=$((quiet + 1)) || quiet=0
        before=$size
        if [ "$quiet" -ge $((quiet_most * 10)) ]; then
            kill -9 "$pid" 2>/dev/null
            wait "$pid" 2>/dev/null
            return 124
        fi
    done
    wait "$pid"
}

# After such a fault of a kernel, every later call of the process fails, so the later tests of the process mean nothing.
STICKY='CUDA_ERROR_(ILLEGAL_ADDRESS|LAUNCH_FAILED|MISALIGNED_ADDRESS|ILLEGAL_INSTRUCTION|LAUNCH_TIMEOUT|INVALID_PC|HARDWARE_STACK_ERROR|ASSERT)'

# judge PROGRAM NAMES ALONE: runs the tests whose names are in the file NAMES, and writes the outcome of each to
# results.tsv: passed, failed, hung or crashed. Tests without a reliable outcome are put back into the queue. ALONE is 1
# for a test that runs again in its own process.
judge() {
    local program=$1 names=$2 alone=$3 log=$2.log name rc unfinished first why size part_file
    local label; label=$(basename "$program")
    local list; mapfile -t list <"$names"
    watched "${TEST_LIMIT:-30}" "$log" "$program" --exact --test-threads 1 "${list[@]}"
    rc=$?
    note() { printf '%s\t%s\t%s\n' "$1" "$label" "$2" >>"$results/results.tsv"; }
    sed -n 's/^test \(.*\) \.\.\. ok$/\1/p' "$log" | while read -r name; do note passed "$name"; done
    sed -n 's/^test \(.*\) \.\.\. FAILED$/\1/p' "$log" >"$names.failed"
    if [ "$rc" != 0 ] && [ "$rc" != 101 ]; then
        # the last test that has begun and not ended; output of the program may follow on its line
        unfinished=$(sed -n 's/^test \([^ ]*\) \.\.\. .*/\1/p' "$log" | tail -1)
        grep -qE "^test $unfinished \.\.\. .*(ok|FAILED|ignored.*)$" "$log" && unfinished=
        # without such a test, the first test without a result counts as hung or crashed; otherwise the same tests would
        # run again forever
        [ -n "$unfinished" ] || unfinished=$(without_result | head -1)
        if [ -n "$unfinished" ]; then
            [ "$rc" = 124 ] && note hung "$unfinished" || note crashed "$unfinished"
            why=$(tail -n 25 "$log.err")
            # a single write, so that lines of several processes do not mix
            printf '%s\n%s\n' "---- $label $unfinished: $([ "$rc" = 124 ] && echo hung || echo "ended with status $rc")" "$why" >>"$results/failures.log"
        fi
        without_result | grep -vxF -- "${unfinished:- }" >"$names.again"
        cat "$names.failed" >>"$names.again"
    elif [ -s "$names.failed" ]; then
        if [ "$alone" = 0 ] && grep -qE "$STICKY" "$log" "$log.err"; then
            first=$(head -1 "$names.failed")
            echo "$first" >"$queue/$label.alone.$(basename "$names").$$"
            tail -n +2 "$names.failed" >"$names.again"
        else
            while read -r name; do
                note failed "$name"
                why=$(awk -v head="---- $name stdout ----" '$0 == head {on = 1; next} /^---- |^failures:/ {on = 0} on && NF' "$log" |
                    grep -v '^note: \|^stack backtrace\|^ *[0-9]*: \|^ *at ' | head -n 20)
                printf '%s\n%s\n' "---- $label $name" "$why" >>"$results/failures.log"
            done <"$names.failed"
        fi
    fi
    if [ ! -e "$names.again" ]; then
        # the program ended normally, but did not report these tests
        without_result | while read -r name; do
            note crashed "$name"
            printf '%s\n%s\n' "---- $label $name" "the program ended without a result of this test" >>"$results/failures.log"
        done
    fi
    # these tests run after the tests that have not run yet, because tests of the same op may hang too. After a hang,
    # each test is a separate file of the queue, so that several processes can wait for hanging tests at the same time.
    if [ -s "$names.again" ]; then
        [ "$rc" = 124 ] && size=1 || size=1000
        split -l "$size" -a 4 -d "$names.again" "$names.part."
        for part_file in "$names.part."*; do mv "$part_file" "$queue/$label.later.$$.$RANDOM$RANDOM"; done
        rm -f "$names.again"
    fi
    if [ "$(stat -c %s "$results/tests.log" 2>/dev/null || echo 0)" -lt 1000000 ]; then
        cat "$log" "$log.err" | head -c 20000 >>"$results/tests.log"
    fi
    return 0
}

# Prints the names of the tests without a result in the log.
without_result() {
    sed -n 's/^test \(.*\) \.\.\. \(ok\|FAILED\|ignored.*\)$/\1/p' "$log" | grep -vxFf - "$names"
}

if [ "$part" = --queue ]; then
    results=$2 queue=$3 busy=$3-busy mine=$(mktemp -d "$3.XXXXXX")
    mkdir -p "$busy"
    while :; do
        : >"$busy/$$"
        # moving the file out of the queue ensures that no other process takes it
        taken=
        for file in "$queue"/*; do
            [ -f "$file" ] && mv "$file" "$mine/" 2>/dev/null && taken=$mine/$(basename "$file") && break
        done
        if [ -z "$taken" ]; then
            # a process that is still running tests may put tests back into the queue
            rm -f "$busy/$$"
            [ -n "$(ls -A "$busy")" ] || break
            sleep 0.2
            continue
        fi
        name=$(basename "$taken")
        case $name in
            *.alone.*) BACKENDS_CUDA_SYNC=1 judge "$here/tests/${name%%.*}" "$taken" 1 ;;
            *) judge "$here/tests/${name%%.*}" "$taken" 0 ;;
        esac
    done
    exit 0
fi

# ---- steps ----

out=${2:-${OUT:-$PWD/results}}
mkdir -p "$out" || exit 2
begin=$SECONDS
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
results=$work/$part
mkdir "$results" "$work/asked" || exit 2
steps=0 bad=0

say() {
    printf '%s\n' "[$((SECONDS - begin)) s] $*"
    printf '%s\n' "[$((SECONDS - begin)) s] $*" >>"$results/summary.txt" 2>/dev/null
}

# Packs all results so far into one file. The previous file is replaced only when the new file is complete.
pack() {
    local log
    for log in "$results"/*.log; do
        [ -f "$log" ] && [ "$(stat -c %s "$log")" -gt 1000000 ] || continue
        { head -c 500000 "$log"; echo; echo "(left out)"; tail -c 400000 "$log"; } >"$log.short" && mv "$log.short" "$log"
    done
    if tar -C "$work" -czf "$out/.$part.new" "$part" 2>/dev/null && mv "$out/.$part.new" "$out/$part.tar.gz"; then
        return 0
    fi
    rm -f "$out/.$part.new"
    say "the results cannot be packed into $out: is the disk full? ($(df -h "$out" 2>/dev/null | awk 'END {print $4 " left"}'))"
}

# step NAME MOST COMMAND..: runs a command for at most MOST seconds, and no longer than the budget allows
step() {
    local name=$1 most=$2 start=$SECONDS left rc how
    shift 2
    left=$((budget - (SECONDS - begin)))
    if [ "$left" -lt 2 ]; then
        say "$name: left out, as the budget of $budget s is used up"
        bad=1
        return 1
    fi
    [ "$most" -gt "$left" ] && most=$left
    steps=$((steps + 1))
    # limits the size of files, so that a program that writes without end does not fill the disk
    (ulimit -f ${FILE_LIMIT:-262144} 2>/dev/null; exec timeout -k 3 "$most" "$@") >"$results/$name.log" 2>&1 </dev/null
    rc=$?
    case $rc in
        0) how=passed ;;
        124 | 137) how="stopped after $most s" ;;
        *) [ $rc -gt 128 ] && how="ended by signal $((rc - 128))" || how="failed with status $rc" ;;
    esac
    [ $rc = 0 ] || bad=1
    say "$name: $how, $((SECONDS - start)) s"
    pack
    return $rc
}

kernels() {
    local asked compiled
    asked=$(find "$work/asked" -name '*.asked' 2>/dev/null | wc -l)
    compiled=$(find "$work/asked" -name '*.compiled' 2>/dev/null | wc -l)
    say "$compiled of $asked kernels were compiled here"
    grep -hs 'is not used' "$results"/*.log | sort -u | head -3 | while read -r why; do say "$why"; done
}

outcome() { grep -c "^$1	" "$results/results.tsv" 2>/dev/null || true; }

# tests NAME MOST PROGRAM..: runs the tests of the programs as one step, in several processes that share a queue
tests() {
    local name=$1 most=$2 queue=$work/queue-$1 program label
    shift 2
    mkdir -p "$queue"
    for program in "$@"; do
        label=$(basename "$program")
        timeout 20 "$program" --list --format terse 2>/dev/null | sed -n 's/: test$//p' >"$work/names"
        sed "s/^/$label	/" "$work/names" >>"$results/planned.tsv"
        # neighbouring tests use the same kernels, so a file has 20 of them, or 4 if the program has few, long tests
        if [ "$(wc -l <"$work/names")" -gt 500 ]; then size=20; else size=4; fi
        split -l "$size" -a 4 -d "$work/names" "$queue/$label."
    done
    step "$name" "$most" bash -c '
        for job in $(seq "$1"); do bash "$2" --queue "$3" "$4" & done; wait' _ "${JOBS:-8}" "$here/run.sh" "$results" "$queue"
    summarise "$@"
}

summarise() {
    local program label planned judged kind
    for program in "$@"; do
        label=$(basename "$program")
        planned=$(grep -c "^$label	" "$results/planned.tsv")
        judged=$(awk -F'\t' -v l="$label" '$2 == l' "$results/results.tsv" 2>/dev/null | wc -l)
        count() { awk -F'\t' -v l="$label" -v k="$1" '$2 == l && $1 == k' "$results/results.tsv" 2>/dev/null | wc -l; }
        say "$label: $(count passed) passed, $(count failed) failed, $(count hung) hung, $(count crashed) crashed, $((planned - judged)) not run, of $planned"
        for kind in failed hung crashed; do
            [ "$(count $kind)" = 0 ] || bad=1
            awk -F'\t' -v l="$label" -v k=$kind '$2 == l && $1 == k {print $3}' "$results/results.tsv" 2>/dev/null | sort | head -40 | while read -r test; do
                # conformance::add::float32 is the op `add` in float32
                why=$(awk -v head="---- $label $test" 'index($0, head) == 1 {on = 1; next} /^---- / {on = 0} on' "$results/failures.log" | grep -v '^thread ' | head -n 4 | tr '\n' ' ' | cut -c1-400)
                say "$kind: $label ${test#conformance::}: $why"
            done
        done
    done
    pack
}

# ---- the folder of the libraries, which must be named because another user may own the packages ----
if [ -z "${CUDA_HOME:-}" ]; then
    site=$(timeout 20 python3 -c 'import nvidia, os; print(os.path.dirname(list(nvidia.__path__)[0]))' 2>/dev/null)
    if [ -n "$site" ]; then export CUDA_HOME=$site; elif [ -d /usr/local/cuda ]; then export CUDA_HOME=/usr/local/cuda; fi
fi
# kernels are only loaded from folders to which no other user can write, so they are copied
mkdir -p "$work/cache"
cp -r "${KERNELS:-$here/kernels}/." "$work/cache/" && chmod -R go-w "$work/cache"
export BACKENDS_CACHE=$work/cache CARGO_MANIFEST_DIR=$here BACKENDS_REQUIRE=cuda,nvrtc BACKENDS_CUDA_KERNELS=$work/asked BACKENDS_ULPS=$results/ulps.tsv
export PATH=$PATH:/usr/local/cuda/bin:${CUDA_HOME:-/usr/local/cuda}/bin RUST_BACKTRACE=0

machine() {
    echo "date: $(date -u +%Y-%m-%d)"
    nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader | head -1 | awk -F', *' '{print "device: " $1 "\ndriver: " $2 "\nmemory: " $3}'
    echo "system: $(uname -srm), $(nproc) processors"
    echo "CUDA_HOME: ${CUDA_HOME:-not set}"
    df -h "$1" /tmp
    python3 -c 'import sys; print("python:", sys.version.split()[0])'
    for package in torch cupy; do python3 -c "import $package; print('$package:', $package.__version__)" 2>&1 | tail -1; done
    nvidia-smi -q -d CLOCK | head -20
    true
}
export -f machine
step machine 40 bash -c 'machine "$1"' _ "$out"
grep -E '^(date|device|driver|torch|cupy): ' "$results/machine.log" | while read -r line; do say "$line"; done

if [ "$part" = correctness ]; then
    # one op of each library and one kernel; if these tests fail, no other step runs
    smoke=(add::float32 matmul::float32 fft::complex64 cholesky::float64 svd::float64)
    step smoke 60 "$here/tests/cuda" --exact "${smoke[@]/#/conformance::}"
    if ! grep -q "^test result: ok. ${#smoke[@]} passed" "$results/smoke.log"; then
        tail -n 40 "$results/smoke.log" | while IFS= read -r line; do say "  $line"; done
        say "smoke failed: the rest is left out"
        pack
        exit 1
    fi
    kernels
    tests rows "${ROWS_LIMIT:-220}" "$here/tests/cuda"
    others=()
    for program in "$here"/tests/*; do
        [ -f "$program" ] && [ -x "$program" ] && [ "$(basename "$program")" != cuda ] && others+=("$program")
    done
    export TEST_LIMIT=${OTHERS_TEST_LIMIT:-${TEST_LIMIT:-30}}
    [ ${#others[@]} = 0 ] || tests others "${OTHERS_LIMIT:-120}" "${others[@]}"
    kernels
    if command -v compute-sanitizer >/dev/null; then
        export BACKENDS_CUDA_CACHE=0
        sample=(sort::float32 scatter_add::float32 cumulative_sum::float32 conv::float32 take::float32 label::bool)
        step memcheck 50 compute-sanitizer --tool memcheck --error-exitcode 9 "$here/tests/cuda" --exact "${sample[@]/#/conformance::}"
        sample=(sort::int64 cumulative_sum::int64 sum::float32 nonzero::bool)
        step racecheck 40 compute-sanitizer --tool racecheck --error-exitcode 9 "$here/tests/cuda" --exact "${sample[@]/#/conformance::}"
    else
        say "memcheck, racecheck: left out, as there is no compute-sanitizer"
    fi
else
    # GPU_BENCH_ARGS can select fewer sizes, for a device on which the large sizes take hours
    step ours 70 "$here/benches/gpu" --json "$results/ours.jsonl" ${GPU_BENCH_ARGS:-}
    kernels
    for library in cupy torch; do
        step $library 60 python3 "$here/peers_gpu.py" $library "$results/$library.jsonl"
    done
    if command -v ncu >/dev/null; then
        metrics=gpu__time_duration.sum,dram__throughput.avg.pct_of_peak_sustained_elapsed,sm__inst_issued.avg.pct_of_peak_sustained_active
        metrics+=,sm__warps_active.avg.pct_of_peak_sustained_active,launch__registers_per_thread
        step ncu 60 ncu --clock-control none --csv --launch-count 40 --metrics $metrics "$here/benches/gpu" --once
    else
        say "ncu: left out, as there is no ncu"
    fi
fi
say "done: $steps steps$([ $bad = 0 ] || echo ', not all is well')"
pack
exit $bad
