"""Richardson-Lucy deconvolution."""
import numpy as np


def richardson_lucy(image, psf, steps):
    transfer = np.fft.rfft2(np.fft.ifftshift(psf))

    def blurred(x, transfer):
        return np.fft.irfft2(np.fft.rfft2(x) * transfer, s=image.shape)

    estimate = np.full_like(image, image.mean())
    for _ in range(steps):
        ratio = image / np.maximum(blurred(estimate, transfer), 1e-12)
        estimate = estimate * blurred(ratio, np.conj(transfer))
    return estimate
