"""Pseudorandom numbers in 0..1, the same as in `benches/noise.rs`: splitmix64."""

import numpy as np


def noise(seed, count):
    """The first `count` numbers of a seed."""
    z = np.uint64(seed * 0x632BE59BD9B4E019 % 2**64) + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return ((z ^ (z >> np.uint64(31))) >> np.uint64(11)) / 2.0**53
