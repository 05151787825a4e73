"""Measures SciPy on the systems of `crates/solvers/examples/poisson.rs`: run by `cargo xtask peers solvers`."""

import time

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as linalg


def timed(run):
    """Returns the minimum time of several runs, in milliseconds, and the result of the last run."""
    shortest, runs, begin = float("inf"), 0, time.perf_counter()
    while runs < 5 and time.perf_counter() - begin < 10:
        start = time.perf_counter()
        result = run()
        shortest = min(shortest, time.perf_counter() - start)
        runs += 1
    return shortest * 1e3, result


def neighbours(shape):
    """Returns a function that applies the five-point Laplacian with boundary values of 0, by slices."""

    def product(v):
        p = np.pad(v.reshape(shape), 1)
        return (p[2:, 1:-1] + p[:-2, 1:-1] + p[1:-1, 2:] + p[1:-1, :-2] - 4 * p[1:-1, 1:-1]).ravel()

    return product


def main():
    for n in (16, 64, 256):
        y = np.random.default_rng(1).standard_normal(n * n)
        line, one = sp.diags([1.0, -2.0, 1.0], [-1, 0, 1], (n, n)), sp.eye(n)
        matrix = (sp.kron(line, one) + sp.kron(one, line)).tocsr()
        function = linalg.LinearOperator(matrix.shape, matvec=neighbours((n, n)), dtype=float)
        for name, operator in (("", function), (", sparse matrix", matrix)):
            steps = []

            def solve():
                steps.clear()
                return linalg.cg(operator, y, rtol=1e-8, maxiter=4000, callback=lambda _: steps.append(1))[0]

            took, x = timed(solve)
            residual = np.linalg.norm(y - matrix @ x)
            print(f"SciPy {n}^2 CG{name}: {took:.2f} ms, {len(steps)} iterations, residual {residual:.1e}")
        columns = matrix.tocsc()
        took, x = timed(lambda: linalg.spsolve(columns, y))
        print(f"SciPy {n}^2 spsolve: {took:.2f} ms, residual {np.linalg.norm(y - matrix @ x):.1e}")
    y = np.ones(10)
    function = linalg.LinearOperator((10, 10), matvec=lambda v: np.convolve(v, [1.0, -2.0, 1.0], "same"), dtype=float)
    steps = []
    linalg.cg(function, y, rtol=1e-8, callback=lambda _: steps.append(1))
    took, _ = timed(lambda: [linalg.cg(function, y, rtol=1e-8) for _ in range(200)])
    print(f"SciPy 10 CG: {took * 1e3 / 200 / len(steps):.2f} us for each of {len(steps)} iterations")


if __name__ == "__main__":
    main()
