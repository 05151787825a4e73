"""Fourier shell correlation."""
import numpy as np


def fourier_shell_correlation(first, second):
    n = len(first)
    f, g = np.fft.fftn(first), np.fft.fftn(second)
    k = np.fft.fftfreq(n, 1 / n)
    z, y, x = np.meshgrid(k, k, k, indexing="ij")
    shells = np.round(np.sqrt(z**2 + y**2 + x**2)).astype(np.int64).ravel()

    def sums(values):
        return np.bincount(shells, values.ravel())[: n // 2]

    return sums((f * np.conj(g)).real) / np.sqrt(sums(np.abs(f) ** 2) * sums(np.abs(g) ** 2))
