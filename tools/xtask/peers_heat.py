"""Measures the rows of `benches/ranks.rs` in Heat: rank 0 prints lines like that program.

    mpiexec -n RANKS python peers_heat.py [PART OF A ROW]
"""

import os
import sys
import time
import warnings

import numpy as np

warnings.simplefilter("ignore")  # Heat's packages warn about each other
import heat as ht
import torch
from mpi4py import MPI

torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
comm = MPI.COMM_WORLD
FEW, MANY = (10, 1000), 1 << 22


def numbers(start, n):
    h = np.arange(start, start + n, dtype=np.uint32)
    h = (h ^ (h >> 16)) * np.uint32(0x85EBCA6B)
    h = (h ^ (h >> 13)) * np.uint32(0xC2B2AE35)
    return ((h ^ (h >> 16)) >> 8).astype(np.float32) / np.float32(1 << 24)


def vector(n, start=0):
    return ht.array(numbers(start, n), split=0)


def matrix(n, start=0):
    return ht.array(numbers(start, n).reshape(-1, 1 << ((n.bit_length() - 1) // 2)), split=0)


def heat(u):
    inner = u[1:-1, 1:-1]
    around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
    return inner + (around - inner * 4.0) * 0.1


def add(n):
    x, y = vector(n), vector(n, n)
    return lambda: x + y


def formula(n):
    x, y = vector(n), vector(n, n)
    return lambda: ht.exp(-ht.sqrt(x)) * y


def product(n):
    a, w = matrix(n), matrix(n, n)
    return lambda: a @ w


def of_vector(call):
    def prepare(n):
        x = vector(n)
        return lambda: call(x)

    return prepare


def of_matrix(call):
    def prepare(n):
        m = matrix(n)
        return lambda: call(m)

    return prepare


# name, sizes, and the function that returns the call; Heat has no formulas, so rows with `expr!` run op by op
ROWS = [
    ("x + y", FEW, add),
    ("sum(x)", FEW, of_vector(lambda x: ht.sum(x))),
    ("x[1:-1]", FEW, of_vector(lambda x: x[1:-1])),
    ("x + y", (MANY,), add),
    ("exp(-sqrt(x)) * y", (MANY,), formula),
    ("exp(-sqrt(x)) * y, expr!", (MANY,), formula),
    ("sum(x)", (MANY,), of_vector(lambda x: ht.sum(x))),
    ("sum(m, axis=0)", (MANY,), of_matrix(lambda m: ht.sum(m, axis=0))),
    ("sum(m, axis=1)", (MANY,), of_matrix(lambda m: ht.sum(m, axis=1))),
    ("a @ w", (1 << 20,), product),
    ("fft(m, axis=1)", (1 << 21,), of_matrix(lambda m: ht.fft.fft(m, axis=1))),
    ("fft2(m)", (1 << 20,), of_matrix(lambda m: ht.fft.fft2(m))),
    ("sort(x)", (1 << 20,), of_vector(lambda x: ht.sort(x)[0])),
    ("x[:-1] + x[1:]", (MANY,), of_vector(lambda x: x[:-1] + x[1:])),
    ("heat equation", (1 << 22,), of_matrix(heat)),
    ("heat equation, expr!", (1 << 22,), of_matrix(heat)),
]


def slowest(calls, call):
    comm.Barrier()
    start = time.perf_counter_ns()
    for _ in range(calls):
        call()
    return comm.allreduce(time.perf_counter_ns() - start, MPI.MAX)


def checksum(x):
    x = x.numpy().ravel()
    x = x.real.astype(np.float64) + 2.0 * x.imag if np.iscomplexobj(x) else x.astype(np.float64)
    terms = x * (1.0 + np.arange(x.size) % 1009 / 1009)
    return terms.sum(), np.abs(terms).sum()


def measure(row, n, call):
    slowest(1, call)
    many = min(2000, max(1, 200_000 // max(1, slowest(1, call))))
    least, spent, rounds = None, 0, 0
    while spent < (2_000_000_000 if rounds < 8 else 300_000_000):
        time = slowest(many, call)
        least = time // many if least is None else min(least, time // many)
        spent, rounds = spent + time, rounds + 1
    result = call()
    if result.dtype not in (ht.float32, ht.complex64):
        raise TypeError(f"{row}: {result.dtype}")
    total, scale = checksum(result)
    if comm.rank == 0:
        print("Heat", row, n, least, total, scale, sep="\t", flush=True)


for row, sizes, prepare in ROWS:
    if all(part in row for part in sys.argv[1:]):
        for n in sizes:
            measure(row, n, prepare(n))
