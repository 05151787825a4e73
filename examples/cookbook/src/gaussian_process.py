"""Gaussian process regression."""
import numpy as np
from scipy.linalg import cho_solve, cholesky
from scipy.optimize import minimize
from scipy.spatial.distance import cdist


def kernel(x1, x2, p):
    return np.exp(p[0]) * np.exp(-0.5 * (cdist(x1, x2) / np.exp(p[1])) ** 2)


def factor(x, p):
    return cholesky(kernel(x, x, p) + np.exp(p[2]) * np.eye(len(x)), lower=True)


def loss(p, x, y):
    l = factor(x, p)
    return 0.5 * np.sum(y * cho_solve((l, True), y)) + np.sum(np.log(np.diagonal(l)))


def fit_and_predict(x, y, new):
    p = minimize(loss, np.zeros(3), args=(x, y), method="BFGS").x
    l, cross = factor(x, p), kernel(new, x, p)
    mean = cross @ cho_solve((l, True), y)
    variance = np.exp(p[0]) - np.sum(cross.T * cho_solve((l, True), cross.T), axis=0)
    return np.exp(p), mean, np.sqrt(variance)
