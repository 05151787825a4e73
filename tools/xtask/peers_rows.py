"""Measures calls of `benches/peers.txt` in NumPy, SciPy, numexpr and PyTorch: run by `cargo xtask bench peers`.

    peers_rows.py THREADS

Each input line is `PEER TAB ARRAYS TAB CALL`. The answer is a line with the minimum time of a call in nanoseconds, or
after an error `! WHY`. The answer to the line `versions` is a line with the versions of the libraries.
"""

import sys
import time
import warnings

import numexpr as ne
import numpy as np
import scipy
import scipy.fft as sf
import scipy.linalg as sl
import scipy.ndimage as nd
import scipy.signal as sg
import scipy.sparse
import scipy.special as sp
import torch
import torch.nn.functional as tf
from peers_noise import noise

warnings.simplefilter("ignore")  # for example, that an op is in beta
threads = int(sys.argv[1])
torch.set_num_threads(threads)
ne.set_num_threads(threads)
N = 1_000_000


def arrays():
    x, y = noise(1, N), noise(2, N)
    a, c, many = noise(3, 90_000).reshape(300, 300), noise(4, 90_000).reshape(300, 300), noise(5, 64_000).reshape(1000, 8, 8)
    w = x.copy()
    w[::100] = np.nan
    v = x.reshape(100, 100, 100)
    turn = np.array([[np.cos(0.4), -np.sin(0.4)], [np.sin(0.4), np.cos(0.4)]])
    return dict(
        x=x, y=y, p=20 * x + 0.5, w=w, m=x.reshape(1000, 1000), r=y.reshape(1000, 1000), a=a, c=c, spd=a @ a.T + np.eye(300),
        many=many, many_spd=many @ many.swapaxes(1, 2) + np.eye(8), v=v, at=np.indices(v.shape) + 0.8 * v, i=(x * N).astype("i8"),
        k=(x * 100).astype("i8"), j=(y * 1000).astype("i8"), reps=(y * 4).astype("i8"), z=x + 1j * y, b1=x < 0.5,
        h=x.astype("f4"), q=np.linspace(0, 1, 1000), q2=noise(6, 9).reshape(3, 3), pc=np.array([25.0, 50.0, 75.0]),
        n3=x[:999_999].reshape(-1, 3), turn=turn,
        low=x.reshape(1000, 1000) < 0.5, imgs=noise(7, 16 * 8 * 64 * 64).reshape(16, 8, 64, 64),
        kernels=noise(8, 16 * 8 * 9).reshape(16, 8, 3, 3), kernels_t=noise(8, 16 * 8 * 9).reshape(8, 16, 3, 3),
        depthwise=noise(9, 8 * 9).reshape(8, 1, 3, 3),
    )  # fmt: skip


values = arrays()
values |= dict(rx=values["x"][:100_000], rm=values["x"][:800_000].reshape(-1, 8), lx=values["x"][:200_000])
stencil = np.clip(np.arange(200_000)[:, None] + [-450, -1, 0, 1, 450], 0, 199_999).ravel()
# sparse matrices: 100 000 rows with 10 elements in random columns, and the 5 diagonals of a stencil on 200 000 points
structures = dict(
    ra=((values["y"] * 100_000).astype("i8"), np.arange(0, N + 1, 10), 100_000), la=(stencil, np.arange(0, N + 1, 5), 200_000)
)
sparse, tensors = {}, {}
for name, (columns, rows, n) in structures.items():
    sparse[name] = scipy.sparse.csr_array((values["x"], columns, rows), (n, n))
    tensors[name] = torch.sparse_csr_tensor(*(torch.from_numpy(part) for part in (rows, columns, values["x"])), (n, n))
modules = dict(np=np, sp=sp, nd=nd, sl=sl, sg=sg, sf=sf, rng=np.random.default_rng(1), torch=torch, tf=tf, tl=torch.linalg, ts=torch.special, ne=ne)
modules |= dict(threads=threads, MU=0.3, S=1.5, A=1e-9, generator=torch.Generator().manual_seed(1))
of_numpy = modules | values | sparse
of_torch = modules | {name: torch.from_numpy(x.copy()) for name, x in values.items()} | tensors


def made(seed, item):
    """Makes an array of the list as the Rust program does: returns its name, and the array in NumPy and in PyTorch."""
    name, dtype, dims, below, layout = item.split()
    dims = [int(n) for n in dims.split(",")]
    step = int(layout) if layout.isdigit() else 1
    if layout == "T":
        dims.reverse()
    dims[-1] *= step
    count = int(np.prod(dims))
    x = noise(seed, count)
    if dtype == "bool":
        x = x < 0.5
    elif dtype.startswith("complex"):
        x = x + 1j * noise(seed + 100, count)
    elif not dtype.startswith("float"):
        x = x * int(below)
    x = x.astype(dtype).reshape(dims)
    both = [x, torch.from_numpy(x.copy())]
    if layout == "T":
        both = [x.T for x in both]
    elif step > 1:
        both = [x[..., ::step] for x in both]
    return name, *both


items, names = "", {"numpy": of_numpy, "numexpr": of_numpy, "torch": of_torch}
for line in sys.stdin:
    if line == "versions\n":
        print(f"Python {sys.version.split()[0]}, NumPy {np.__version__}, SciPy {scipy.__version__}, numexpr {ne.__version__}, PyTorch {torch.__version__}", flush=True)
        continue
    peer, wanted, text = line.rstrip("\n").split("\t")
    try:
        if wanted != items:
            names = items = None  # frees the memory of the last arrays first
            own = [made(seed + 1, item) for seed, item in enumerate(wanted.split(";")) if item]
            numpys = of_numpy | {name: x for name, x, _ in own}
            names, items = {"numpy": numpys, "numexpr": numpys, "torch": of_torch | {name: x for name, _, x in own}}, wanted
        # the loop is compiled with the call, so that nothing else is timed
        local = {}
        exec(f"def run(_times):\n for _ in range(_times):\n  {text}", names[peer], local)
        run, clock = local["run"], time.perf_counter_ns
        begin = clock()
        run(1)
        many = max(1, min(1000, 50_000 // max(1, clock() - begin)))
        least, rounds, begin = float("inf"), 0, clock()
        while rounds < 2 or clock() - begin < 15_000_000:
            start = clock()
            run(many)
            least, rounds = min(least, clock() - start), rounds + 1
        print(f"{least / many:.1f}", flush=True)
    except Exception as why:
        print("!", str(why).replace("\n", " ") or repr(why), flush=True)
