"""Computes the bins for the tests of random numbers, by SciPy: `python3 reference.py > distributions.txt`.

Each line has a distribution, the parameters of its sampler, its mean and standard deviation, and the edges and the
probabilities of the bins. A number is in the first bin whose edge it does not exceed.
"""

import numpy as np
from scipy import stats

CASES = [
    ("exponential", (0, 0), (2.5, 0), stats.expon(scale=2.5)),
    *[("gamma", (a, 0), (1.5, 0), stats.gamma(a, scale=1.5)) for a in (1e-3, 0.1, 0.5, 0.999, 1.0, 1.7, 30.0, 1e6, 1e12)],
    *[
        ("beta", (a, b), (0, 0), stats.beta(a, b))
        for a, b in ((1e-2, 2e-2), (0.3, 0.7), (0.5, 0.5), (1.0, 1.0), (2.0, 5.0), (0.2, 30.0), (1e5, 3e5))
    ],
    *[("poisson", (r, 0), (0, 0), stats.poisson(r)) for r in (0.1, 3.3, 9.9, 10.1, 37.0, 1e3, 1e6, 1e9)],
    *[
        ("binomial", (p, 0), (n, 0), stats.binom(n, p))
        for n, p in (
            (10, 0.3), (10, 0.9), (19, 0.5), (21, 0.5), (50, 0.21), (1000, 0.999), (1000, 0.4), (10**9, 3e-9), (10**9, 2e-8),
            (10**9, 0.5), (10**9, 0.123),
        )
    ],
    *[
        ("truncated_normal", (lower, upper), (mean, std), stats.truncnorm((lower - mean) / std, (upper - mean) / std, mean, std))
        for lower, upper, mean, std in (
            (-2.0, 2.0, 0.0, 1.0), (-0.5, 1.0, 0.0, 1.0), (0.0, np.inf, 0.0, 1.0), (-np.inf, 0.0, 0.0, 1.0),
            (5.0, np.inf, 0.0, 1.0), (30.0, 31.0, 0.0, 1.0), (-31.0, -30.0, 0.0, 1.0), (4.0, 4.001, 0.0, 1.0),
            (-0.1, 8.0, 0.0, 1.0), (1.0, 9.0, 3.0, 2.0), (-np.inf, np.inf, -1.0, 0.5),
        )
    ],
]  # fmt: skip

BINS = 20

for name, own, shared, d in CASES:
    edges = np.unique(d.ppf(np.arange(1, BINS) / BINS))
    # numbers that are rounded to 0 are in the first bin, and numbers that are rounded to 1 are in the last bin
    edges = edges[edges > 1e-300] if name in ("gamma", "beta") else edges
    edges = edges[edges < 1 - 1e-10] if name == "beta" else edges
    probabilities = np.diff(np.concatenate(([0], d.cdf(edges), [1])))
    kept = probabilities[:-1] > 1e-6
    edges = edges[kept]
    probabilities = np.diff(np.concatenate(([0], d.cdf(edges), [1])))
    if probabilities[-1] < 1e-6:
        edges, probabilities = edges[:-1], np.append(probabilities[:-2], probabilities[-2:].sum())
    parts = [own, shared, (d.mean(), d.std()), edges, probabilities]
    print(name, "|", " | ".join(" ".join(repr(float(x)) for x in part) for part in parts))
