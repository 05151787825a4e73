"""Registration of images."""
import numpy as np


def wrapped(index, n):
    return (index + n // 2) % n - n // 2


def shift_between(reference, moved, upsampling):
    product = np.fft.fft2(moved) * np.conj(np.fft.fft2(reference))
    product /= np.maximum(np.abs(product), 1e-12)
    rows, columns = product.shape
    peak = np.argmax(np.abs(np.fft.ifft2(product)))
    y, x = wrapped(peak // columns, rows), wrapped(peak % columns, columns)
    # the inverse transform at steps of 1 / upsampling, only within a pixel of the peak (Guizar-Sicairos et al., 2008)
    steps = np.linspace(-1, 1, 2 * upsampling + 1)
    left = np.exp(2j * np.pi * np.outer(y + steps, np.fft.fftfreq(rows)))
    right = np.exp(2j * np.pi * np.outer(np.fft.fftfreq(columns), x + steps))
    peak = np.argmax(np.abs(left @ product @ right))
    return y + steps[peak // steps.size], x + steps[peak % steps.size]


def shifted(image, shift):
    y, x = np.fft.fftfreq(image.shape[0])[:, None], np.fft.fftfreq(image.shape[1])
    phase = -2 * np.pi * (y * shift[0] + x * shift[1])
    return np.fft.ifft2(np.fft.fft2(image) * np.exp(1j * phase)).real
