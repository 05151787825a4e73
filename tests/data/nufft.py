"""Makes nufft.npz: inputs and results of FINUFFT at eps = 1e-14. Complex arrays have a last axis (real, imaginary).

    pip install numpy finufft && python nufft.py
"""

import pathlib

import finufft
import numpy as np

rng = np.random.default_rng(7)
arrays = {}


def parts(z):
    return np.stack([z.real, z.imag], axis=-1)


for modes in [(7, 10), (24, 15), (1, 3), (5, 6, 4), (9, 1, 8)]:
    dims, points = len(modes), 40
    # some points are outside the first period
    x = rng.uniform(-3 * np.pi, 3 * np.pi, (dims, points))
    x[:, 0], x[:, 1], x[:, 2] = 0, np.pi, -np.pi
    c = rng.normal(size=points) + 1j * rng.normal(size=points)
    f = rng.normal(size=modes) + 1j * rng.normal(size=modes)
    name = "x".join(map(str, modes))
    arrays |= {f"{name}_points": x, f"{name}_c": parts(c), f"{name}_f": parts(f)}
    for isign in (1, -1):
        one = {2: finufft.nufft2d1, 3: finufft.nufft3d1}[dims]
        two = {2: finufft.nufft2d2, 3: finufft.nufft3d2}[dims]
        sign = "plus" if isign > 0 else "minus"
        arrays[f"{name}_type1_{sign}"] = parts(one(*x, c, modes, eps=1e-14, isign=isign))
        arrays[f"{name}_type2_{sign}"] = parts(two(*x, f, eps=1e-14, isign=isign))

np.savez(pathlib.Path(__file__).with_name("nufft.npz"), **arrays)
