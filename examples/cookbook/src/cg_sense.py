"""CG-SENSE."""
import finufft
import numpy as np


def cg_sense(signals, ky, kx, coils, density, steps):
    def adjoint(signals):
        images = finufft.nufft2d1(ky, kx, signals * density, coils.shape[1:], eps=1e-9, isign=1)
        return np.sum(np.conj(coils) * images, axis=0)

    def normal(image):
        return adjoint(finufft.nufft2d2(ky, kx, coils * image, eps=1e-9, isign=-1))

    r = adjoint(signals)
    image, p, rr = np.zeros_like(r), r, np.vdot(r, r).real
    for _ in range(steps):
        q = normal(p)
        a = rr / np.vdot(p, q).real
        image, r = image + a * p, r - a * q
        rr, last = np.vdot(r, r).real, rr
        p = r + rr / last * p
    return image
