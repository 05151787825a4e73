"""Words of the `golden` expressions for images, computed by SciPy because NumPy lacks them, used by `golden.py`."""

import numpy as np
import scipy.ndimage


def _narrow(x):
    """Converts extended precision to double precision, because SciPy has no loops for extended precision."""
    narrow = {np.dtype("longdouble"): np.float64, np.dtype("clongdouble"): np.complex128}
    return x.astype(narrow.get(x.dtype, x.dtype))


def _reflected_coefficients(x, order, axes):
    """The coefficients of a spline through x, mirrored about its edges, by a linear system. SciPy's recursion begins
    with an approximate sum, which changes the coefficients of short axes."""
    beside = {2: [6, 1], 3: [4, 1], 4: [230, 76, 1], 5: [66, 26, 1]}[order]
    weights = np.array(beside[:0:-1] + beside) / (beside[0] + 2 * sum(beside[1:]))
    for axis in axes:
        n = x.shape[axis]
        matrix = np.zeros((n, n))
        for i in range(n):
            for k, weight in enumerate(weights, i - len(beside) + 1):
                matrix[i, min(k % (2 * n), 2 * n - 1 - k % (2 * n))] += weight
        x = np.moveaxis(np.tensordot(np.linalg.inv(matrix), x, (1, axis)), 0, axis)
    return x


def _ndimage(name, x, *args, mode=None, **options):
    """A function of scipy.ndimage."""
    x = _narrow(x)
    order = options.get("order", 0)
    if mode == "reflect" and order > 1 and options.get("prefilter", name == "spline_filter"):
        x = _reflected_coefficients(x, order, options.get("axes", range(x.ndim)))
        if name == "spline_filter":
            return x
        options["prefilter"] = False
    if mode is not None:
        options["mode"] = mode.replace("_", "-")
    return getattr(scipy.ndimage, name)(x, *args, **options)


def _affine(x, matrix, offset, shape, order, mode, cval, prefilter):
    """SciPy's affine transform of each array of a stack; the matrix may contain the offset."""
    matrix, n = _narrow(matrix), matrix.shape[0]
    if matrix.shape[0] == matrix.shape[1] and n <= x.ndim:
        offset = np.zeros(n) if offset is None else _narrow(offset)
    elif offset is not None:
        raise ValueError("two offsets")
    else:
        n = min(n, matrix.shape[1] - 1)
        matrix, offset = matrix[:n, :n], matrix[:n, n]
    if matrix.shape != (n, n) or n > x.ndim:
        raise ValueError("the matrix does not fit")
    before = x.shape[: x.ndim - n]
    shape = x.shape[x.ndim - n :] if shape is None else shape
    options = {"output_shape": tuple(shape), "order": order, "cval": cval, "prefilter": prefilter}
    parts = [_ndimage("affine_transform", part, matrix, offset, mode=mode, **options) for part in x.reshape(-1, *x.shape[x.ndim - n :])]
    return np.reshape(parts, (*before, *shape))


def _rigid(x, rotation, translation, center, order, mode, cval, prefilter):
    n = rotation.shape[0]
    if rotation.shape != (n, n) or n > x.ndim:
        raise ValueError("the matrix does not fit")
    center = (np.array(x.shape[x.ndim - n :]) - 1) / 2 if center is None else center
    translation = np.zeros(n) if translation is None else translation
    return _affine(x, rotation, center - rotation @ center - translation, None, order, mode, cval, prefilter)


def _zoom(x, shape, order, mode, cval, prefilter, grid_mode):
    if len(shape) != x.ndim:
        raise ValueError("another number of axes")
    if 0 in shape:
        return np.zeros(shape, _narrow(x).dtype)
    if x.dtype.kind == "c":
        # SciPy ignores `grid_mode` for complex numbers
        parts = (_zoom(x.real, shape, order, mode, cval, prefilter, grid_mode), _zoom(x.imag, shape, order, mode, 0.0, prefilter, grid_mode))
        return parts[0] + 1j * parts[1]
    factors = [to / of for to, of in zip(shape, x.shape)]
    return _ndimage("zoom", x, factors, order=order, mode=mode, cval=cval, prefilter=prefilter, grid_mode=grid_mode)


def _grid_sample(grid, coordinates, mode, cval):
    batch, channels = max(grid.shape[0], coordinates.shape[0]), grid.shape[-1]
    grid, coordinates = np.broadcast_to(grid, (batch, *grid.shape[1:])), np.broadcast_to(coordinates, (batch, *coordinates.shape[1:]))
    read = lambda x, at: _ndimage("map_coordinates", x, _narrow(np.moveaxis(at, -1, 0)), order=1, mode=mode, cval=cval)
    return np.stack([np.stack([read(x[..., k], at) for k in range(channels)], -1) for x, at in zip(grid, coordinates)])


def _extreme(name, x, size, mode, cval):
    """A minimum or maximum filter. float16, which SciPy's loops lack, is computed in float64."""
    wide = x.astype(np.float64) if x.dtype == np.float16 else x
    size = size[0] if len(size) == 1 else size
    if np.min(size) < 1:
        raise ValueError("an empty window")
    if x.size == 0:
        return x
    return _ndimage(name, wide, size=size, mode=mode, cval=cval).astype(x.dtype)


def _label(x, connectivity, structure):
    """Returns the labels and the number of regions, in the dtypes that the row promises."""
    if structure is None:
        if connectivity == 0:
            raise ValueError("no neighbours")
        structure = scipy.ndimage.generate_binary_structure(x.ndim, connectivity)
    labels, count = scipy.ndimage.label(x != 0, structure)
    return labels.astype(np.int64), np.array(count, np.int64)


def _distances(x, sampling, dtype):
    if sampling is not None:
        sampling = float(sampling) if sampling.ndim == 0 else _narrow(sampling)
    return scipy.ndimage.distance_transform_edt(x, sampling).astype(dtype).reshape(x.shape)


def _peaks(x, min_distance, min_score):
    peaks = x == _extreme("maximum_filter", x, (min_distance,), "constant", 0.0)
    if min_score is not None:
        peaks &= x >= min_score
    return np.argwhere(peaks)


def _center_of_mass(x, cutoff):
    if cutoff is not None:
        x = np.where(np.abs(x) > cutoff, np.abs(x), 0)
    return np.array([np.sum(x * index) / np.sum(x) for index in np.indices(x.shape)], x.dtype)


def _topleft_pad(x, shape, value):
    if len(shape) != x.ndim:
        raise ValueError("another number of axes")
    y = np.full(shape, value, x.dtype)
    part = tuple(slice(min(a, b)) for a, b in zip(x.shape, shape))
    y[part] = x[part]
    return y


def _extract_center(x, shape):
    if len(shape) != x.ndim or any(to > of for to, of in zip(shape, x.shape)):
        raise ValueError("no part of the array")
    return x[tuple(slice((of - to) // 2, (of - to) // 2 + to) for of, to in zip(x.shape, shape))]


def _norm_scores(scores, squares, sums, n, eps):
    deviation = np.sqrt(np.maximum(squares / n - (sums / n) ** 2, 0))
    return scores / (np.where(deviation < eps, 1, deviation) * n)
