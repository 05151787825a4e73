"""Kalman filter."""
import numpy as np


def kalman_filter(positions, model, observed, model_noise, position_noise):
    x, p = np.zeros(model.shape[0]), np.eye(model.shape[0]) * 100
    states, deviations = [], []
    for z in positions:
        x = model @ x
        p = model @ p @ model.T + model_noise
        innovation = observed @ p @ observed.T + position_noise
        gain = np.linalg.solve(innovation, observed @ p).T
        x = x + gain @ (z - observed @ x)
        p = p - gain @ observed @ p
        states.append(x)
        deviations.append(np.sqrt(np.diagonal(p)))
    return np.stack(states), np.stack(deviations)
