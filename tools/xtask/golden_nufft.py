"""Words of the `golden` expressions for spreading and interpolation, two steps of non-uniform Fourier transforms, used
by `golden.py`."""

import numpy as np


def _bessel(x):
    """The modified Bessel function I0, by its power series, whose terms are all positive."""
    term = total = np.ones_like(x)
    for k in range(1, 200):
        term = term * (x / (2 * k)) ** 2
        total = total + term
    return total


def _weights(places, length, width, beta, derived):
    """Returns the kernel's weights: one row for each point, and one column for each grid point, summed over periods."""
    half = width / 2
    weights = np.zeros((len(places), length), places.dtype)
    first = np.floor(places - half).astype(np.int64) + 1
    top = _bessel(np.asarray(beta, places.dtype))
    for step in range(width):
        z = (first + step - places) / half
        root = np.sqrt(np.maximum(1 - z * z, 0))
        if derived:
            # the derivative of I0(beta root) by the position; I1(x) / x = (sum of (x / 2)^(2 k) / (k! (k + 1)!)) / 2
            ratio, term = np.zeros_like(root), np.full_like(root, 0.5)
            for k in range(1, 200):
                ratio = ratio + term
                term = term * (beta * root / 2) ** 2 / (k * (k + 1))
            value = beta * beta * ratio * z / half / top * length / (2 * np.pi)
        else:
            value = _bessel(beta * root) / top
        np.add.at(weights, (np.arange(len(places)), (first + step) % length), value)
    return weights


def _kernels(points, grid, width, beta, axis):
    if points.ndim != 2 or points.shape[1] != len(grid) or not 1 <= len(grid) <= 3 or 0 in grid:
        raise ValueError("points and grid do not fit")
    if not 2 <= width <= 16 or not beta > 0 or not -1 <= axis < len(grid):
        raise ValueError("no kernel")
    # the widest precision, because the weights are ill-conditioned near the ends of the kernel
    points = points.astype(np.longdouble)
    places = points / (2 * np.longdouble(np.pi)) * np.array(grid)
    return [_weights(places[:, k], n, width, np.longdouble(beta), k == axis) for k, n in enumerate(grid)]


def _nufft_spread(points, values, grid, width, beta, axis):
    kernels = _kernels(points, grid, width, beta, axis)
    if values.shape[-1] != len(points):
        raise ValueError("not a value for each point")
    return np.einsum("...p," + ",".join("p" + "xyz"[k] for k in range(len(grid))) + "->..." + "xyz"[: len(grid)], values, *kernels)


def _nufft_interpolate(points, grid, width, beta, axis):
    if points.ndim != 2 or grid.ndim < points.shape[1]:
        raise ValueError("points and grid do not fit")
    lengths = grid.shape[grid.ndim - points.shape[1] :]
    kernels = _kernels(points, lengths, width, beta, axis)
    axes = "xyz"[: len(lengths)]
    return np.einsum("..." + axes + "," + ",".join("p" + a for a in axes) + "->...p", grid, *kernels)
