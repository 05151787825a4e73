"""Measures the cases of `benches/nufft.rs` in FINUFFT: prints lines like that program.

    peers_nufft.py THREADS
"""

import sys
import time

import finufft
import numpy as np

THREADS, ROUNDS, MANY = int(sys.argv[1]), 4, 1_000_000
STEPS = [0.8191725133961644, 0.6710436067037892, 0.549700477901797]
CASES = [
    ("1-D 1e6, 1e-6", (1_000_000,), MANY, 1e-6),
    ("2-D 512, 1e-6", (512, 512), MANY, 1e-6),
    ("2-D 512, 1e-12", (512, 512), MANY, 1e-12),
    ("2-D 512, 1e-4, f32", (512, 512), MANY, 1e-4),
    ("3-D 64, 1e-6", (64, 64, 64), MANY, 1e-6),
    ("2-D 128, 2e4 points", (128, 128), 20_000, 1e-6),
]

for name, modes, count, eps in CASES:
    real, whole = (np.float32, np.complex64) if name.endswith("f32") else (np.float64, np.complex128)
    j = np.arange(count, dtype=np.float64)
    points = [((j * step) % 1 * 2 * np.pi - np.pi).astype(real) for step in STEPS[: len(modes)]]
    for kind, sign in ((1, 1), (2, -1)):
        k = np.arange(count if kind == 1 else np.prod(modes), dtype=np.float64)
        data = (np.cos(k) + 1j * np.sin(0.5 * k)).astype(whole)
        data = data if kind == 1 else data.reshape(modes)
        least = [float("inf")] * 2
        for _ in range(ROUNDS):
            start = time.perf_counter()
            plan = finufft.Plan(kind, modes, eps=eps, isign=sign, dtype=whole, nthreads=THREADS)
            plan.setpts(*points)
            planned = time.perf_counter()
            result = plan.execute(data)
            end = time.perf_counter()
            least = [min(least[0], end - start), min(least[1], end - planned)]
        for part, seconds in zip(("all", "execute"), least):
            print(f"FINUFFT\t{name} type {kind}\t{part}\t{seconds * 1e9:.0f}")
        print(f"FINUFFT\t{name} type {kind}\tsum\t{np.sum(np.abs(result.astype(np.complex128)) ** 2):e}")
