"""Lattice Boltzmann method."""
import numpy as np

DIRECTIONS = np.array([[0, 0], [0, 1], [1, 0], [0, -1], [-1, 0], [1, 1], [1, -1], [-1, -1], [-1, 1]])
OPPOSITE = [0, 3, 4, 1, 2, 7, 8, 5, 6]
WEIGHTS = np.array([4 / 9] + 4 * [1 / 9] + 4 * [1 / 36])


def flow(obstacle, speed, viscosity, steps):
    rate = 1 / (3 * viscosity + 0.5)

    def equilibrium(density, velocity):
        along = 3 * np.einsum("ka,ayx->kyx", DIRECTIONS, velocity)
        square = 1.5 * np.sum(velocity**2, axis=0)
        return WEIGHTS[:, None, None] * density * (1 + along + along**2 / 2 - square)

    velocity = np.zeros((2, *obstacle.shape))
    velocity[1] = speed
    f = equilibrium(np.ones(obstacle.shape), velocity)
    inflow = f[:, :, 0]
    for _ in range(steps):
        density = f.sum(axis=0)
        velocity = np.einsum("ka,kyx->ayx", DIRECTIONS, f) / density
        collided = f + rate * (equilibrium(density, velocity) - f)
        bounced = np.where(obstacle, f[OPPOSITE], collided)
        f = np.stack([np.roll(bounced[k], DIRECTIONS[k], axis=(0, 1)) for k in range(9)])
        f[:, :, 0] = inflow
    return velocity
