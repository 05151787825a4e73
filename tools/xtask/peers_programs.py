"""Measures the programs of `benches/programs/` in NumPy and PyTorch: run by `cargo xtask peers programs`.

    peers_programs.py THREADS

Each input line is `PEER TAB PROGRAM TAB N`, where the peer is `numpy`, `torch` or `compiled`. The answer is a line
`NANOSECONDS TAB CHECKSUM TAB SCALE`, or after an error `! WHY`. The answer to the line `versions` is a line with the
versions of the libraries.
"""

import logging
import sys
import time
import warnings

import numpy as np
import scipy
import scipy.ndimage as nd
import torch
import torch.nn.functional as tf
from peers_noise import noise

warnings.simplefilter("ignore")  # for example, that complex numbers are not compiled
logging.disable(logging.WARNING)
np.seterr(all="ignore")  # numbers of the Mandelbrot program overflow
torch.set_num_threads(int(sys.argv[1]))
torch.set_grad_enabled(False)
rng = np.random.default_rng(1)


def numbers(dtype, seed, *shape):
    """Numbers in 0..1."""
    return noise(seed, int(np.prod(shape))).reshape(shape).astype(dtype)


def levels(n, limit):
    return (numbers("f8", 1, n, n) * limit).astype("u1")


def shifted(n):
    x = numbers("f4", 1, n, n)
    return np.roll(x, (5, 9), (0, 1)) + np.float32(0.1) * numbers("f4", 2, n, n), x


def network(n):
    sizes = [784, 256, 128, 10]
    arrays = [numbers("f4", 1, n, sizes[0])]
    for seed, (a, b) in enumerate(zip(sizes, sizes[1:]), 2):
        arrays += [(numbers("f4", s, *shape) - np.float32(0.5)) * np.float32(4 / a**0.5) for s, shape in ((seed, (a, b)), (seed + 10, (b,)))]
    return arrays


def samples(n):
    x = 2 * numbers("f8", 1, n, 32) - 1
    return x, (x[:, :2].sum(1) + numbers("f8", 2, n) - 0.5 > 0).astype("f8")


def links(n):
    x = numbers("f8", 1, n, n)
    return (x / x.sum(0),)


# the arrays or sizes that are the arguments of each program
DATA = {
    "heat equation": lambda n: (numbers("f8", 1, n, n),),
    "Poisson, 3-D": lambda n: (numbers("f4", 1, n, n, n), numbers("f4", 2, n, n, n)),
    "game of life": lambda n: (levels(n, 2),),
    "Mandelbrot set": lambda n: (np.linspace(-2, 0.5, n) + 1j * np.linspace(-1.25, 1.25, n)[:, None],),
    "k-means": lambda n: (numbers("f4", 1, n, 8), numbers("f4", 2, 16, 8)),
    "nearest neighbours": lambda n: (numbers("f4", 1, n // 4, 16), numbers("f4", 2, n, 16)),
    "n bodies": lambda n: (numbers("f8", 1, n, 3), numbers("f8", 2, n)),
    "edges": lambda n: (numbers("f4", 1, n, n),),
    "unsharp mask": lambda n: (numbers("f4", 1, n, n),),
    "histogram equalisation": lambda n: (levels(n, 200),),
    "low-pass filter": lambda n: (numbers("f8", 1, n, n),),
    "phase correlation": shifted,
    "pi by chance": lambda n: (n,),
    "option price": lambda n: (n,),
    "network": network,
    "logistic regression": samples,
    "PageRank": links,
}


def blurred(x, sigma):
    """A Gaussian filter by convolutions along each axis, because PyTorch has none; `x` has batch and channel axes."""
    radius = int(4 * sigma + 0.5)
    weights = torch.exp(-0.5 / sigma**2 * torch.arange(-radius, radius + 1, dtype=x.dtype) ** 2)
    weights = weights / weights.sum()
    x = tf.conv2d(tf.pad(x, (0, 0, radius, radius), mode="reflect"), weights[None, None, :, None])
    return tf.conv2d(tf.pad(x, (radius, radius, 0, 0), mode="reflect"), weights[None, None, None, :])


SOBEL = torch.tensor([[[-1.0, -2, -1], [0, 0, 0], [1, 2, 1]], [[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]]])[:, None]


def programs(lib, on):
    """The programs in one of the libraries; `on` is applied to a step of each, and may compile it."""
    ours = lib is np
    copy = (lambda x: x.copy()) if ours else (lambda x: x.clone())

    @on
    def heat_step(u):
        u[1:-1, 1:-1] += 0.1 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1])

    def heat(u):
        u = copy(u)
        for _ in range(5):
            heat_step(u)
        return u

    @on
    def poisson_step(u, f):
        sides = u[:-2, 1:-1, 1:-1] + u[2:, 1:-1, 1:-1] + u[1:-1, :-2, 1:-1] + u[1:-1, 2:, 1:-1] + u[1:-1, 1:-1, :-2] + u[1:-1, 1:-1, 2:]
        u[1:-1, 1:-1, 1:-1] = (sides - f[1:-1, 1:-1, 1:-1]) / 6

    def poisson(u, f):
        u = copy(u)
        for _ in range(3):
            poisson_step(u, f)
        return u

    @on
    def life_step(x):
        rows = x + lib.roll(x, 1, 0) + lib.roll(x, -1, 0)
        count = rows + lib.roll(rows, 1, 1) + lib.roll(rows, -1, 1)
        alive = (count == 3) | ((count == 4) & (x == 1))
        return alive.astype("u1") if ours else alive.to(torch.uint8)

    def life(x):
        for _ in range(3):
            x = life_step(x)
        return x

    @on
    def mandelbrot_step(z, c, count):
        z = z * z + c
        count += abs(z) <= 2
        return z

    def mandelbrot(c):
        z, count = lib.zeros_like(c), lib.zeros(c.shape, dtype=lib.int32)
        for _ in range(20):
            z = mandelbrot_step(z, c, count)
        return count

    @on
    def k_means_step(x, c):
        nearest = ((x[:, None] - c) ** 2).sum(2).argmin(1)
        if ours:
            sums = np.stack([np.bincount(nearest, column, len(c)) for column in x.T], 1)
            return (sums / np.bincount(nearest, minlength=len(c))[:, None]).astype("f4")
        counts = torch.bincount(nearest, minlength=len(c))
        return torch.zeros_like(c).index_add_(0, nearest, x) / counts[:, None]

    def k_means(x, c):
        for _ in range(3):
            c = k_means_step(x, c)
        return c

    @on
    def neighbours(places, points):
        squares = (places**2).sum(1)[:, None] + (points**2).sum(1) - 2 * (places @ points.T)
        if ours:
            nearest = np.argpartition(squares, 4, axis=1)[:, :5]
            return np.sqrt(np.maximum(np.sort(np.take_along_axis(squares, nearest, 1), axis=1), 0))
        return torch.topk(squares, 5, largest=False).values.clamp(min=0).sqrt()

    @on
    def bodies_step(at, velocity, masses):
        d = at - at[:, None]
        pull = masses / ((d**2).sum(2) + 1e-3) ** 1.5
        velocity = velocity + 1e-4 * (d * pull[..., None]).sum(1)
        return at + 1e-4 * velocity, velocity

    def bodies(at, masses):
        velocity = lib.zeros_like(at)
        for _ in range(2):
            at, velocity = bodies_step(at, velocity, masses)
        return at

    @on
    def edges(x):
        if ours:
            x = nd.gaussian_filter(x, 1, mode="mirror")
            down, right = nd.sobel(x, 0, mode="mirror"), nd.sobel(x, 1, mode="mirror")
        else:
            down, right = tf.conv2d(tf.pad(blurred(x[None, None], 1), (1, 1, 1, 1), mode="reflect"), SOBEL)[0]
        return lib.sqrt(down**2 + right**2)

    @on
    def unsharp(x):
        details = x - (nd.gaussian_filter(x, 2, mode="mirror") if ours else blurred(x[None, None], 2)[0, 0])
        return (x + 1.5 * details).clip(0, 1)

    @on
    def equalised(x):
        if ours:
            ranks = np.bincount(x.ravel(), minlength=256).cumsum()
            return np.round(255 / x.size * ranks).astype("u1")[x]
        ranks = torch.bincount(x.ravel(), minlength=256).cumsum(0)
        return torch.round(255 / x.numel() * ranks.double()).to(torch.uint8)[x.long()]

    @on
    def low_pass(x):
        down, right = lib.fft.fftfreq(len(x)), lib.fft.rfftfreq(len(x))
        if not ours:
            down, right = down.double(), right.double()
        gain = lib.exp(-0.5 / 0.1**2 * (down[:, None] ** 2 + right**2))
        return lib.fft.irfft2(lib.fft.rfft2(x) * gain)

    @on
    def shift(x, y):
        product = lib.fft.rfft2(x) * lib.fft.rfft2(y).conj()
        correlation = lib.fft.irfft2(product / abs(product).clip(1e-6))
        row, column = lib.unravel_index(correlation.argmax(), correlation.shape)
        return np.array([row, column, correlation.max()]) if ours else torch.stack([row, column, correlation.max()])

    @on
    def pi(n):
        x, y = (rng.random(n), rng.random(n)) if ours else (torch.rand(n, dtype=torch.float64), torch.rand(n, dtype=torch.float64))
        return 4 * lib.count_nonzero(x**2 + y**2 <= 1) / n

    @on
    def option(n):
        z = rng.standard_normal(n) if ours else torch.randn(n, dtype=torch.float64)
        payoff = (100 * lib.exp(0.2 * z + (0.05 - 0.5 * 0.2**2)) - 105).clip(0)
        return np.exp(-0.05) * payoff.mean()

    @on
    def classes(x, w1, b1, w2, b2, w3, b3):
        if not ours:
            return tf.softmax(tf.relu(tf.relu(x @ w1 + b1) @ w2 + b2) @ w3 + b3, -1)
        x = np.maximum(np.maximum(x @ w1 + b1, 0) @ w2 + b2, 0) @ w3 + b3
        x = np.exp(x - x.max(-1, keepdims=True))
        return x / x.sum(-1, keepdims=True)

    @on
    def logistic_step(w, x, y):
        p = 1 / (1 + np.exp(-(x @ w))) if ours else torch.sigmoid(x @ w)
        return w - 0.5 / len(y) * (x.T @ (p - y))

    def logistic(x, y):
        w = lib.zeros(x.shape[1], dtype=x.dtype)
        for _ in range(20):
            w = logistic_step(w, x, y)
        return w

    @on
    def page_rank_step(links, rank):
        return 0.85 * (links @ rank) + (1 - 0.85) / len(rank)

    def page_rank(links):
        rank = lib.ones(len(links), dtype=links.dtype) / len(links)
        for _ in range(20):
            rank = page_rank_step(links, rank)
        return rank

    functions = [heat, poisson, life, mandelbrot, k_means, neighbours, bodies, edges, unsharp, equalised, low_pass, shift, pi, option]
    return dict(zip(DATA, functions + [classes, logistic, page_rank]))


def compiled(function):
    return torch.compile(function, dynamic=False)


PEERS = {
    "numpy": programs(np, lambda step: step),
    "torch": programs(torch, lambda step: step),
    "compiled": programs(torch, compiled),
}


def checksum(result):
    """The checksum and its scale, as in the Rust program."""
    result = np.asarray(result, dtype="f8").ravel()
    terms = result * noise(99, result.size)
    return f"{float(terms.sum())!r}\t{float(abs(terms).sum())!r}"


def least(run):
    """Returns the minimum time of a run in nanoseconds. Short runs are timed in groups."""

    def timed(many):
        start = time.perf_counter_ns()
        for _ in range(many):
            run()
        return (time.perf_counter_ns() - start) / many

    begin = time.perf_counter_ns()
    least, rounds = timed(1), 1
    many = int(max(1, min(1000, 100_000 / least)))
    while rounds < 2 or time.perf_counter_ns() - begin < 30_000_000:
        least, rounds = min(least, timed(many)), rounds + 1
    return least


last, ready = None, {}
for line in sys.stdin:
    if line == "versions\n":
        print(f"Python {sys.version.split()[0]}, NumPy {np.__version__}, SciPy {scipy.__version__}, PyTorch {torch.__version__}", flush=True)
        continue
    peer, name, n = line.rstrip("\n").split("\t")
    try:
        if (name, n) != last:
            ready, data = {}, None  # frees the memory of the last program's data first
            data, last = DATA[name](int(n)), (name, n)
        if peer not in ready:
            own = data if peer == "numpy" else [torch.from_numpy(x.copy()) if isinstance(x, np.ndarray) else x for x in data]
            function = PEERS[peer][name]
            run = lambda function=function, own=own: function(*own)
            ready[peer] = run, checksum(run())
        run, sums = ready[peer]
        print(f"{least(run):.1f}", sums, sep="\t", flush=True)
    except Exception as why:
        print("!", (str(why) or repr(why)).replace("\n", " "), flush=True)
