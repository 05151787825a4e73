"""Particle filter."""
import numpy as np


def particle_filter(observations, particles, noise, offsets):
    x, n = particles, particles.size
    means = []
    for t, y in enumerate(observations):
        x = x / 2 + 25 * x / (1 + x**2) + 8 * np.cos(1.2 * t) + noise[t]
        likelihood = -((y - x**2 / 20) ** 2) / 2
        weights = np.exp(likelihood - likelihood.max())
        weights /= weights.sum()
        means.append(np.sum(weights * x))
        # systematic resampling: particles of large weight are taken several times
        chosen = np.searchsorted(np.cumsum(weights), (np.arange(n) + offsets[t]) / n)
        x = x[np.minimum(chosen, n - 1)]
    return np.stack(means)
