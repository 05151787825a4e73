"""Measures formulas in NumPy, numexpr and PyTorch: prints lines like `benches/formulas.rs`, with minimum times.

    peers.py THREADS SIZE..
"""

import sys

import numexpr
import numpy as np
import torch
from peers_clock import measure

threads, sizes = int(sys.argv[1]), [int(n) for n in sys.argv[2:]]
numexpr.set_num_threads(threads)
torch.set_num_threads(threads)
MU, S, A = 0.3, 1.5, 1e-9


def gauss(lib, x, y):
    return 0.5 * lib.exp(-((x - MU) ** 2) / (2 * S * S)) + y


def add_to(y, x):
    y += A * x


def compiled(function, *args):
    function = torch.compile(function, dynamic=False)
    for _ in range(3):
        function(*args)
    return function


for n in sizes:
    x = (np.arange(n) % 1000) * 1e-3
    y = 1.5 - x
    side = int(n**0.5)
    tx, ty = torch.from_numpy(x), torch.from_numpy(y.copy())
    formulas = {
        "(x + y) * x - y": (lambda x, y: (x + y) * x - y, "(x + y) * x - y"),
        "0.5 * exp(-(x - mu)**2 / (2 s s)) + y": (None, "0.5 * exp(-(x - MU)**2 / (2 * S * S)) + y"),
        "sum((x - y)**2)": (lambda x, y: ((x - y) ** 2).sum(), "sum((x - y)**2)"),
    }
    for name, (formula, text) in formulas.items():
        of = lambda lib: formula or (lambda x, y, lib=lib: gauss(lib, x, y))
        measure("NumPy", name, n, lambda: of(np)(x, y))
        measure("numexpr", name, n, lambda: numexpr.evaluate(text))
        measure("PyTorch, eager", name, n, lambda: of(torch)(tx, ty))
        fused = compiled(of(torch), tx, ty)
        measure("PyTorch, compiled", name, n, lambda: fused(tx, ty))
    if side * side == n:
        m, row, column = x.reshape(side, side), y[:side].reshape(1, -1), y[:side].reshape(-1, 1)
        tm, trow, tcolumn = (torch.from_numpy(v.copy()) for v in (m, row, column))
        formula = lambda m, row, column: m * row + column
        measure("NumPy", "m * row + column", n, lambda: formula(m, row, column))
        measure("numexpr", "m * row + column", n, lambda: numexpr.evaluate("m * row + column"))
        measure("PyTorch, eager", "m * row + column", n, lambda: formula(tm, trow, tcolumn))
        fused = compiled(formula, tm, trow, tcolumn)
        measure("PyTorch, compiled", "m * row + column", n, lambda: fused(tm, trow, tcolumn))
    total = y.copy()
    measure("NumPy", "y += a * x", n, lambda: add_to(total, x))
    measure("numexpr", "y += a * x", n, lambda: numexpr.evaluate("total + A * x", out=total))
    measure("PyTorch, eager", "y += a * x", n, lambda: add_to(ty, tx))
    fused = compiled(add_to, ty, tx)
    measure("PyTorch, compiled", "y += a * x", n, lambda: fused(ty, tx))
