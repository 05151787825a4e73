"""Kuramoto-Sivashinsky equation."""
import numpy as np


def kuramoto_sivashinsky(u, length, dt, steps, every):
    n = u.size
    k = 2 * np.pi / length * np.arange(n // 2 + 1)
    linear = dt * (k**2 - k**4)
    # the coefficients are means over a circle, because their formulas lose accuracy near 0
    z = linear[:, None] + np.exp(1j * np.pi * (np.arange(32) + 0.5) / 32)
    full, half = np.exp(linear), np.exp(linear / 2)
    q = dt * np.mean((np.exp(z / 2) - 1) / z, axis=1).real
    f1 = dt * np.mean((-4 - z + np.exp(z) * (4 - 3 * z + z**2)) / z**3, axis=1).real
    f2 = dt * np.mean((2 + z + np.exp(z) * (z - 2)) / z**3, axis=1).real
    f3 = dt * np.mean((-4 - 3 * z - z**2 + np.exp(z) * (4 - z)) / z**3, axis=1).real

    def nonlinear(v):
        return -0.5j * k * np.fft.rfft(np.fft.irfft(v, n) ** 2)

    v = np.fft.rfft(u)
    history = [u]
    for step in range(1, steps + 1):
        nv = nonlinear(v)
        a = half * v + q * nv
        na = nonlinear(a)
        nb = nonlinear(half * v + q * na)
        nc = nonlinear(half * a + q * (2 * nb - nv))
        v = full * v + f1 * nv + 2 * f2 * (na + nb) + f3 * nc
        if step % every == 0:
            history.append(np.fft.irfft(v, n))
    return np.stack(history)
