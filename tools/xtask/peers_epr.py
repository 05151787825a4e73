"""The reconstruction of `examples/epr_reconstruct` by PyEPRI: run by `cargo xtask peers examples epr`.

    peers_epr.py numpy|torch THREADS OURS OUT

The script reads the data of the example, makes the same image and writes it to OUT/tv.npy. Unlike the example, it does
not compute the energy during the iterations.
"""

import pathlib
import sys
import time

import numpy as np
import pyepri.backends
import pyepri.processing

SHAPE, DELTA, WEIGHT, ITERATIONS, NUFFT_EPS = (400, 200), 0.008, 1.0, 1000, 1e-13


def main(library, _threads, _ours, out):
    if library == "torch":
        backend = pyepri.backends.create_torch_backend("cpu")
    else:
        backend = pyepri.backends.create_numpy_backend()
    data = np.load(pathlib.Path(__file__).parent.parent / "examples/data/phalanx.npz")
    start = time.perf_counter()
    proj, field, h, fgrad = (backend.from_numpy(data[name]) for name in ("proj", "B", "h", "fgrad"))
    # this tolerance also ends the power iteration; the iterations of the image end before they reach it
    tol = 1e-5
    image = pyepri.processing.tv_monosrc(
        proj, field, fgrad, DELTA, h, WEIGHT, SHAPE, backend=backend, tol=tol, nitermax=ITERATIONS, eps=NUFFT_EPS
    )
    image = backend.to_numpy(image)
    print("work", time.perf_counter() - start, sep="\t")
    np.save(f"{out}/tv.npy", image)


if __name__ == "__main__":
    main(*sys.argv[1:])
