"""Measures the calls of benches/gpu.rs in CuPy and PyTorch.

`peers_gpu.py cupy|torch OUT` writes one line of JSON for each call and size. The key `ns` is the time of a call in
nanoseconds: the minimum over rounds of a few milliseconds, each of which waits for the device once, at its end. TF32 is
off, as in our library.
"""

import json
import sys
import time

import numpy as np

# Approximate nanoseconds of one round, and of all rounds of a call.
ROUND = 5_000_000
TOTAL = 50_000_000

# The calls in CuPy and in PyTorch, by the name of the row in benches/gpu.rs; None if a library has no such call.
CALLS = {
    "add f32": ("cp.add(x, y)", "torch.add(x, y)"),
    "exp f32": ("cp.exp(x)", "torch.exp(x)"),
    "add f16": ("cp.add(h, h)", "torch.add(h, h)"),
    "m + row f32": ("m + row", "m + row"),
    "m + row f16": ("mh + rowh", "mh + rowh"),
    "m - column f32": ("m - column", "m - column"),
    "transpose copied f32": ("cp.ascontiguousarray(m.T)", "m.T.contiguous()"),
    "transpose copied u8": ("cp.ascontiguousarray(mb.T)", "mb.T.contiguous()"),
    "x + y.T f32": ("m + mt.T", "m + mt.T"),
    "sum f32": ("x.sum()", "x.sum()"),
    "sum f16": ("h.sum()", "h.sum()"),
    "sum rows 1024": ("m.sum(1)", "m.sum(1)"),
    "sum columns": ("m.sum(0)", "m.sum(0)"),
    "sum rows of 3": ("threes.sum(1)", "threes.sum(1)"),
    "var f32": ("x.var()", "x.var(correction=0)"),
    "argmax rows": ("m.argmax(1)", "m.argmax(1)"),
    "softmax rows 1024": (None, "torch.softmax(m, 1)"),
    "cumsum": ("cp.cumsum(x)", "torch.cumsum(x, 0)"),
    "cumsum rows": ("cp.cumsum(m, 1)", "torch.cumsum(m, 1)"),
    "sort f32": ("cp.sort(x)", "torch.sort(x).values"),
    "argsort f32": ("cp.argsort(x)", "torch.argsort(x)"),
    "sort rows 1024": ("cp.sort(m, 1)", "torch.sort(m, 1).values"),
    "sort rows 4096": ("cp.sort(m4, 1)", "torch.sort(m4, 1).values"),
    "topk 50 of rows 65536": (None, "torch.topk(m6, 50, 1)"),
    "unique i32": ("cp.unique(k)", "torch.unique(k)"),
    "boolean mask": ("x[b]", "x[b]"),
    "nonzero": ("cp.nonzero(b)", "torch.nonzero(b)"),
    "take random": ("cp.take(x, i)", "torch.take(x, i)"),
    "take rows": ("m[ir]", "m[ir]"),
    "scatter_add random": (None, "x.index_add(0, i, y)"),
    "scatter_add 256 places": (None, "few.index_add(0, i8, y)"),
    "histogram 256": ("cp.histogram(x, 256, (0, 1))", "torch.histc(x, 256, 0, 1)"),
    "matmul 4096 f32": ("cp.matmul(a, a)", "a @ a"),
    "matmul 4096 f16": ("cp.matmul(ah, ah)", "ah @ ah"),
    "matmul 2048 f64": ("cp.matmul(ad, ad)", "ad @ ad"),
    "matvec 4096 f32": ("cp.matmul(a, av)", "a @ av"),
    "dot": ("cp.dot(x, y)", "torch.dot(x, y)"),
    "bmm of 16x16": ("cp.matmul(q, q)", "q @ q"),
    "fft c64 rows 1024": ("cp.fft.fft(z)", "torch.fft.fft(z)"),
    "irfft rows 1024": ("cp.fft.irfft(z)", "torch.fft.irfft(z)"),
    "fft2 4096": ("cp.fft.fft2(z2)", "torch.fft.fft2(z2)"),
    "conv 3x3 64-64 56x56 b32 f32": (None, "torch.nn.functional.conv2d(ci, cw, padding=1)"),
    "conv 3x3 64-64 56x56 b32 f16": (None, "torch.nn.functional.conv2d(cih, cwh, padding=1)"),
    "conv weight gradient f32": (
        None,
        "torch.ops.aten.convolution_backward(ci, ci, cw, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1, [False, True, False])",
    ),
    "max_pool 2x2": (None, "torch.nn.functional.max_pool2d(ci, 2)"),
    "normal f32": ("rng.standard_normal(n, dtype='f4')", "torch.randn(n, device='cuda')"),
    "cholesky of 16": ("cp.linalg.cholesky(spd)", "torch.linalg.cholesky(spd)"),
    "svd 512 f32": ("cp.linalg.svd(s5)", "torch.linalg.svd(s5)"),
    "eigh 1024 f32": ("cp.linalg.eigh(e1)", "torch.linalg.eigh(e1)"),
    "solve 2048 f32": ("cp.linalg.solve(s2, s2)", "torch.linalg.solve(s2, s2)"),
    "qr of 8": ("cp.linalg.qr(q8)", "torch.linalg.qr(q8)"),
    "gaussian sigma 3": ("nd.gaussian_filter(m, 3)", None),
    "label": ("nd.label(mask2)", None),
}


def arrays(large):
    """Returns the operands of benches/gpu.rs by name, as NumPy arrays, and the number of elements."""
    r = np.random.default_rng(1)

    def uniform(*shape):
        return r.random(shape, dtype="f4")

    n = 1 << 24 if large else 1024
    inner = 1024 if large else 16
    side = 4096 if large else 16
    rows = n // inner
    images = (32, 64, 56, 56) if large else (1, 4, 8, 8)
    x, m, a, q = uniform(n), uniform(rows, inner), uniform(side, side), uniform(n // 1024, 16, 16)
    spectrum = (uniform(rows, inner) + 1j * uniform(rows, inner)).astype("c8")
    images_in, weights = uniform(*images), uniform(images[1], images[1], 3, 3)
    symmetric = uniform(side // 4, side // 4)
    columns = min(n, 4096), min(n, 65536)
    return dict(
        x=x, y=uniform(n), h=x.astype("f2"), m=m, mt=uniform(inner, rows), row=uniform(inner), column=uniform(rows, 1),
        mh=m.astype("f2"), rowh=uniform(inner).astype("f2"), mb=r.integers(0, 256, (rows, inner)).astype("u1"),
        threes=uniform(n // 3, 3), m4=uniform(n // columns[0], columns[0]), m6=uniform(n // columns[1], columns[1]),
        k=r.integers(0, 1000, n).astype("i4"), b=uniform(n) < 0.5, i=r.integers(0, n, n), i8=r.integers(0, 256, n),
        ir=r.integers(0, rows, rows), few=np.zeros(256, "f4"), a=a, ah=a.astype("f2"), ad=a[: side // 2, : side // 2].astype("f8"),
        av=uniform(side), q=q, z=spectrum, z2=(uniform(side, side) + 0j).astype("c8"), ci=images_in, cw=weights,
        cih=images_in.astype("f2"), cwh=weights.astype("f2"), spd=q @ q.swapaxes(1, 2) + np.eye(16, dtype="f4"),
        s5=uniform(side // 8, side // 8), e1=symmetric + symmetric.T, s2=uniform(side // 2, side // 2),
        q8=uniform(1000 if large else 8, 8, 8), mask2=uniform(rows, inner) < 0.5,
    ), n


def least(go, wait):
    """Returns the nanoseconds of one call, or None if no round ended in time. `go` takes the number of calls."""
    go(1)
    wait()
    begin = time.perf_counter_ns()
    go(1)
    wait()
    many = max(1, min(500, ROUND // max(1, time.perf_counter_ns() - begin)))
    best, stop = float("inf"), time.perf_counter_ns() + TOTAL
    while time.perf_counter_ns() < stop:
        begin = time.perf_counter_ns()
        go(many)
        wait()
        best = min(best, (time.perf_counter_ns() - begin) / many)
    return round(best) if best < float("inf") else None


def main(library, out):
    if library == "torch":
        import torch

        torch.backends.cuda.matmul.allow_tf32 = False
        torch.backends.cudnn.allow_tf32 = False
        names = dict(torch=torch)
        put, wait = lambda x: torch.from_numpy(np.ascontiguousarray(x)).cuda(), torch.cuda.synchronize
    elif library == "cupy":
        import cupy as cp
        import cupyx.scipy.ndimage as nd

        names = dict(cp=cp, nd=nd, rng=cp.random.default_rng(1))
        put, wait = cp.asarray, cp.cuda.Device().synchronize
    else:
        sys.exit("usage: peers_gpu.py cupy|torch OUT")
    with open(out, "w") as file:
        for size in ["small", "large"]:
            data, n = arrays(size == "large")
            names |= {name: put(x) for name, x in data.items()} | dict(n=n)
            for row, calls in CALLS.items():
                call = calls[library == "torch"]
                if call is None:
                    continue
                line = dict(lib=library, row=row, size=size)
                try:
                    scope = {}
                    exec(f"def go(times):\n for _ in range(times):\n  {call}", names, scope)
                    line["ns"] = least(scope["go"], wait)
                except Exception as why:  # the other calls still run if this version refuses one
                    line["error"] = str(why)[:200]
                file.write(json.dumps(line) + "\n")
                file.flush()


if __name__ == "__main__":
    main(*(sys.argv[1:3] if len(sys.argv) >= 3 else ["", ""]))
