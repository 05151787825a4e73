"""Schroedinger equation."""
import numpy as np


def schroedinger(psi, potential, dx, dt, steps):
    ky = 2 * np.pi * np.fft.fftfreq(psi.shape[0], dx)[:, None]
    kx = 2 * np.pi * np.fft.fftfreq(psi.shape[1], dx)
    half = np.exp(-0.5j * dt * potential)
    kinetic = np.exp(-0.5j * dt * (ky**2 + kx**2))
    for _ in range(steps):
        psi = half * psi
        psi = np.fft.ifft2(kinetic * np.fft.fft2(psi))
        psi = half * psi
    return np.abs(psi) ** 2
