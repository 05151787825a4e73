"""Gray-Scott model."""
import numpy as np


def gray_scott(u, v, feed, kill, steps):
    def laplacian(x):
        return np.roll(x, 1, 0) + np.roll(x, -1, 0) + np.roll(x, 1, 1) + np.roll(x, -1, 1) - 4 * x

    for _ in range(steps):
        reaction = u * v**2
        diffusion = laplacian(u), laplacian(v)
        u = u + 0.16 * diffusion[0] - reaction + feed * (1 - u)
        v = v + 0.08 * diffusion[1] + reaction - (feed + kill) * v
    return u, v
