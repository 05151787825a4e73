"""Filtered back-projection."""
import numpy as np
from scipy.ndimage import map_coordinates


def back_projection(sums, angles):
    width = sums.shape[1]
    ramp = 2 * np.fft.rfftfreq(2 * width)
    filtered = np.fft.irfft(np.fft.rfft(sums, 2 * width) * ramp, 2 * width)[:, :width]
    centre = (width - 1) / 2
    y, x = np.meshgrid(np.arange(width) - centre, np.arange(width) - centre, indexing="ij")
    image = np.zeros((width, width))
    for row, angle in zip(filtered, angles):
        place = x * np.cos(angle) + y * np.sin(angle) + centre
        image += map_coordinates(row, [place], order=1)
    return image * np.pi / (2 * len(angles))
