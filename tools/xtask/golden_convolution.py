"""Words of the `golden` expressions for convolutions, pools, and cosine and sine transforms, used by `golden.py`."""

import numpy as np
import scipy.fft
import scipy.signal
from numpy.lib.stride_tricks import sliding_window_view


def _numbers(given, rank, default):
    """Returns one number for each axis. `given` has one number for each axis, or a single number for all axes."""
    given = (default,) if given is None else given
    numbers = given * rank if len(given) == 1 else given
    if len(numbers) != rank:
        raise ValueError("another number of axes")
    return numbers


def _windows(x, taps, stride, padding, dilation, value=0):
    """The elements under each window; the last axes are the taps of the window."""
    rank = len(taps)
    x = np.pad(x, [(0, 0), (0, 0)] + [(p, p) for p in padding], constant_values=value)
    extent = tuple((k - 1) * d + 1 for k, d in zip(taps, dilation))
    view = sliding_window_view(x, extent, axis=tuple(range(2, 2 + rank)))
    every = lambda steps: tuple(slice(None, None, step) for step in steps)
    return view[(slice(None), slice(None), *every(stride), *every(dilation))]


def _conv(x, weight, bias, stride, padding, dilation, groups):
    """PyTorch's convolution: sums over the windows of each group of channels."""
    rank = x.ndim - 2
    stride, padding, dilation = _numbers(stride, rank, 1), _numbers(padding, rank, 0), _numbers(dilation, rank, 1)
    channels, results = x.shape[1], weight.shape[0]
    if weight.ndim != x.ndim or channels % groups or results % groups or weight.shape[1] != channels // groups:
        raise ValueError("the kernel does not fit")
    windows = _windows(x, weight.shape[2:], stride, padding, dilation)
    places, taps = "defz"[:rank], "uvw"[:rank]
    windows = windows.reshape(x.shape[0], groups, channels // groups, *windows.shape[2:])
    kernels = weight.reshape(groups, results // groups, *weight.shape[1:])
    y = np.einsum(f"ngc{places}{taps},gmc{taps}->ngm{places}", windows, kernels)
    y = y.reshape(x.shape[0], results, *y.shape[3:])
    if bias is None:
        return y
    if bias.shape != (results,):
        raise ValueError("the bias does not fit")
    return y + bias.reshape(-1, *[1] * rank)


def _conv_transpose(x, weight, bias, stride, padding, output_padding, dilation, groups):
    """PyTorch's transposed convolution: adds the products of each element and each tap at the tap's positions."""
    rank = x.ndim - 2
    stride, padding, dilation = _numbers(stride, rank, 1), _numbers(padding, rank, 0), _numbers(dilation, rank, 1)
    further = _numbers(output_padding, rank, 0)
    channels, results = x.shape[1], weight.shape[1] * groups
    if weight.ndim != x.ndim or channels % groups or weight.shape[0] != channels:
        raise ValueError("the kernel does not fit")
    if any(f >= max(s, d) for f, s, d in zip(further, stride, dilation)):
        raise ValueError("too much padding of the result")
    parts = x.reshape(x.shape[0], groups, channels // groups, *x.shape[2:])
    kernels = weight.reshape(groups, channels // groups, *weight.shape[1:])
    full = [(n - 1) * s + (k - 1) * d + 1 + f for n, s, k, d, f in zip(x.shape[2:], stride, weight.shape[2:], dilation, further)]
    y = np.zeros((x.shape[0], groups, results // groups, *full), x.dtype)
    for tap in np.ndindex(*weight.shape[2:]):
        at = tuple(slice(t * d, t * d + (n - 1) * s + 1, s) for t, d, n, s in zip(tap, dilation, x.shape[2:], stride))
        y[(..., *at)] += np.einsum("ngc...,gcm->ngm...", parts, kernels[(..., *tap)])
    y = y[(..., *(slice(p, n - p) for p, n in zip(padding, full)))].reshape(x.shape[0], results, *(n - 2 * p for p, n in zip(padding, full)))
    return y if bias is None else y + bias.reshape(-1, *[1] * rank)


def _pool(x, kernel, stride, padding, dilation, reduce):
    rank = x.ndim - 2
    if rank < 1:
        raise ValueError("no axes behind batch and channels")
    kernel = _numbers(kernel, rank, 1)
    stride, padding, dilation = _numbers(stride or kernel, rank, 1), _numbers(padding, rank, 0), _numbers(dilation, rank, 1)
    if any(p > k // 2 for p, k in zip(padding, kernel)):
        raise ValueError("more padding than half of the window")
    taps = tuple(range(-rank, 0))
    if reduce == "max":
        return _windows(x, kernel, stride, padding, dilation, -np.inf).max(taps)
    sums = _windows(x, kernel, stride, padding, dilation).sum(taps)
    if reduce == "mean":
        return sums / np.prod(kernel)
    return sums / _windows(np.ones_like(x), kernel, stride, padding, dilation).sum(taps)


def _convolve(x1, x2, mode, correlates):
    """NumPy's convolution or correlation of 1-D arrays; SciPy's of arrays with more axes."""
    if x1.ndim != x2.ndim or x1.ndim == 0 or 0 in x1.shape + x2.shape:
        raise ValueError("not two arrays of as many axes")
    if x1.ndim == 1:
        return np.correlate(x1, x2, mode) if correlates else np.convolve(x1, x2, mode)
    if correlates:
        x2 = np.conj(np.flip(x2))
    return scipy.signal.convolve(x1, x2, mode, method="direct")


def _fftconvolve(x1, x2, mode, axes):
    """Convolution along some axes, one slice at a time, because SciPy's direct method has no parameter for axes."""
    axes = range(x1.ndim) if axes is None else [axis % x1.ndim for axis in axes]
    if x1.ndim != x2.ndim or 0 in x1.shape + x2.shape:
        raise ValueError("not two arrays of as many axes")
    others = [axis for axis in range(x1.ndim) if axis not in axes]
    shapes = [np.broadcast_shapes(x1.shape[axis], x2.shape[axis])[0] for axis in others]
    batch = lambda x: np.broadcast_to(
        np.moveaxis(x, others, range(len(others))), (*shapes, *(x.shape[axis] for axis in range(x.ndim) if axis in axes))
    )
    x1, x2 = batch(x1), batch(x2)
    parts = [scipy.signal.convolve(x1[i], x2[i], mode, method="direct") for i in np.ndindex(*shapes)]
    return np.moveaxis(np.reshape(parts, (*shapes, *parts[0].shape)), range(len(others)), others)


def _trigonometric(name, x, kind, n, axis, norm):
    """A function of scipy.fft."""
    return getattr(scipy.fft, name)(x, type=kind, n=n, axis=axis, norm=norm)
