"""The clock of the programs that `cargo xtask peers` runs."""

import time


def measure(peer, formula, n, call):
    begin = time.perf_counter_ns()
    call()
    many = max(1, min(1000, 50_000 // max(1, time.perf_counter_ns() - begin)))
    least, rounds, begin = None, 0, time.perf_counter_ns()
    while time.perf_counter_ns() - begin < (2_000_000_000 if rounds < 8 else 300_000_000):
        start = time.perf_counter_ns()
        for _ in range(many):
            call()
        spent = (time.perf_counter_ns() - start) // many
        least, rounds = spent if least is None else min(least, spent), rounds + 1
    print(peer, formula, n, least, sep="\t", flush=True)
