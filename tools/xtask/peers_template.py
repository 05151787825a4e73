"""The search of `examples/template_match` by pyTME: run by `cargo xtask peers examples template`.

    peers_template.py BACKEND THREADS OURS OUT

The script reads the volume and the template of the example, and the rotations from OURS/rotations.npy. It writes the
best scores to OUT/scores.npy, and the numbers of their rotations to OUT/rotation.npy. Unlike the example, it writes no
peaks and no pictures.
"""

import pathlib
import sys
import time

import numpy as np
from tme import Density
from tme.analyzer import MaxScoreOverRotations
from tme.backends import backend
from tme.matching_data import MatchingData
from tme.matching_exhaustive import MATCHING_EXHAUSTIVE_REGISTER, match_exhaustive

SCORE, ORDER = "FLCSphericalMask", 3


def sphere(shape):
    """1 within the largest sphere around the middle, else 0."""
    at = np.indices(shape) - (np.array(shape).reshape(-1, 1, 1, 1) - 1) / 2
    return ((at**2).sum(0) <= (min(shape) / 2) ** 2).astype(np.float32)


def main(library, threads, ours, out):
    backend.change_backend(library)
    rotations = np.load(f"{ours}/rotations.npy").astype(np.float32)
    start = time.perf_counter()
    data = pathlib.Path(__file__).parent.parent / "examples/data"
    # the axes of the files are x, y, z; the axes of the rotations are z, y, x
    files = (data / name for name in ("particles.mrc", "particle.mrc"))
    target, template = (np.ascontiguousarray(Density.from_file(str(file)).data.T, np.float32) for file in files)
    matching = MatchingData(
        target=target,
        template=template,
        template_mask=sphere(template.shape),
        rotations=rotations,
    )
    setup, score = MATCHING_EXHAUSTIVE_REGISTER[SCORE]
    found = match_exhaustive(
        matching_data=matching,
        matching_setup=setup,
        matching_score=score,
        callback_class=MaxScoreOverRotations,
        job_schedule=(1, int(threads)),
        interpolation_order=ORDER,
    )
    scores, _, best, matrices = found[:4]
    print("work", time.perf_counter() - start, sep="\t")
    # several processes number the rotations in the order in which they end, so the numbers are looked up
    numbers = {matrix.tobytes(): number for number, matrix in enumerate(rotations)}
    order = {found: numbers[np.asarray(matrix, np.float32).tobytes()] for found, matrix in matrices.items()}
    np.save(f"{out}/scores.npy", scores)
    np.save(f"{out}/rotation.npy", np.vectorize(order.get)(best).astype(np.int32))


if __name__ == "__main__":
    main(*sys.argv[1:])
