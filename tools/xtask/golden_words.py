"""Words of the table's `golden` expressions that do not depend on `golden.py`: NumPy's functions, with the conventions
of our ops."""

import numpy as np


def _pad_to(x, size, axis, value):
    n = x.shape[axis]
    if size <= n:
        return np.take(x, range(size), axis)
    widths = [(0, 0)] * x.ndim
    widths[axis] = (0, size - n)
    return np.pad(x, widths, constant_values=value)


def _pad_stack(xs, value):
    longest = [max(lengths) for lengths in zip(*(x.shape for x in xs), strict=True)]
    behind = [[(0, most - n) for most, n in zip(longest, x.shape)] for x in xs]
    return np.stack([np.pad(x, w, constant_values=value) if w else x for x, w in zip(xs, behind)])


def _tile_to(x, size, axis):
    n = x.shape[axis]
    if size != 0 and (n == 0 or size % n):
        raise ValueError("no multiple of the length")
    repetitions = [1] * x.ndim
    repetitions[axis] = size // n if n else 1
    return np.tile(x, repetitions)


def _scatter_by(function, x, indices, values, axis):
    """Combines values with the elements at the indices by `function`. All values of a repeated index are combined."""
    if np.ndim(indices) != 1:
        raise ValueError("indices are 1-D")
    y = x.copy()
    target, source = np.moveaxis(y, axis, 0), np.moveaxis(values, axis, 0)
    for place, index in enumerate(indices):
        target[index] = function(target[index], source[place])
    return y


def _digitize(x, bins, right):
    if np.ndim(bins) != 1:
        raise ValueError("bins are 1-D")
    return np.digitize(x, bins, right).astype(np.int64)


def _histogramdd(x, edges, weights, density):
    if x.ndim != 2 or any(np.ndim(edge) != 1 for edge in edges):
        raise ValueError("points are rows, and edges are 1-D")
    if x.dtype == np.longdouble and weights is not None:
        # NumPy adds weights in float64
        weights = weights.astype(np.float64)
    counts = np.histogramdd(x, edges, weights=weights, density=density)[0]
    return counts.astype(np.int64 if weights is None and not density else x.dtype)


def _scatter_mean(x, indices, values, axis):
    sums = _scatter_by(np.add, np.zeros_like(x), indices, values, axis)
    shape = [1] * x.ndim
    shape[axis] = x.shape[axis]
    counts = np.bincount(np.asarray(indices) % max(x.shape[axis], 1), minlength=x.shape[axis]).reshape(shape)
    return np.where(counts > 0, sums / np.maximum(counts, 1), x).astype(x.dtype)


def _segments(x, segments, count, axis, how):
    shape = list(x.shape)
    shape[axis] = count
    if how == "mean":
        return _scatter_mean(np.full(shape, np.nan, x.dtype), segments, x, axis)
    if x.dtype.kind == "b":
        ends = False, True
    elif x.dtype.kind in "iu":
        ends = np.iinfo(x.dtype).min, np.iinfo(x.dtype).max
    else:
        ends = -np.inf, np.inf
    start, function = {"sum": (0, np.add), "prod": (1, np.multiply), "max": (ends[0], np.maximum), "min": (ends[1], np.minimum)}[how]
    return _scatter_by(function, np.full(shape, start, x.dtype), segments, x, axis)


def _indexed_segment_sum(x, indices, axis):
    if np.ndim(indices) != 1 or np.any(np.diff(indices) < 0):
        raise ValueError("the indices do not ascend")
    ends = [*indices[1:], x.shape[axis]]
    parts = [np.sum(np.take(x, range(first, end), axis), axis=axis, dtype=x.dtype) for first, end in zip(indices, ends)]
    return np.stack(parts, axis) if parts else np.take(x, [], axis)


def _set_op(x1, x2, choice):
    """The distinct elements of x1 and x2 that `choice` selects, given the masks of the elements in x1 and in x2. Each
    NaN is a distinct element."""
    every = np.unique(np.concatenate((np.unique(x1, equal_nan=False), np.unique(x2, equal_nan=False))), equal_nan=False)
    here, there = (np.array([bool(np.any(x == value)) for value in every], bool) for x in (x1, x2))
    nan = every != every
    if nan.any():
        # first the NaN of x1, then the NaN of x2
        first = np.count_nonzero(np.unique(x1, equal_nan=False) != np.unique(x1, equal_nan=False))
        here[nan] = np.arange(nan.sum()) < first
        there[nan] = ~here[nan]
    return every[choice(here, there)]


def _average(x, axis, weights, keepdims):
    if weights is None:
        return np.mean(x, axis=axis, keepdims=keepdims)
    return np.average(x, axis=axis, weights=weights, keepdims=keepdims)


def _bincount(x, weights, minlength, dtype):
    if np.ndim(x) != 1 or (weights is not None and weights.shape != x.shape):
        raise ValueError("numbers are 1-D, with a weight for each")
    sums = np.zeros(max(minlength, int(np.max(x)) + 1 if x.size else 0), dtype)
    np.add.at(sums, x, np.ones(x.shape, dtype) if weights is None else weights)
    return sums


def _cumulative_trapezoid(y, x, dx, axis, include_initial):
    d = np.diff(y, axis=axis) * 0 + dx
    if x is not None:
        d = np.diff(x, axis=axis) if x.ndim == y.ndim else np.diff(x)
        if x.ndim != y.ndim:
            shape = [1] * y.ndim
            shape[axis] = -1
            d = d.reshape(shape)
    n = y.shape[axis]
    areas = d * (np.take(y, range(1, n), axis) + np.take(y, range(n - 1), axis)) / 2
    return np.cumulative_sum(areas, axis=axis, include_initial=include_initial)


def _unwrap(x, discont, axis, period):
    period = 2 * np.pi if period is None else period
    return np.unwrap(x, discont, axis, period=x.dtype.type(period))


def _set(x, index, values):
    y = x.copy()
    y[index] = values
    return y


def _add_at(x, index, values):
    y = x.copy()
    np.add.at(y, index, values)
    return y


def _scatter_add(x, indices, values, axis):
    y = x.copy()
    np.add.at(np.moveaxis(y, axis, 0), indices, np.moveaxis(values, axis, 0))
    return y


def _scatter(x, indices, values, axis):
    y = x.copy()
    target, source = np.moveaxis(y, axis, 0), np.moveaxis(values, axis, 0)
    for place, index in enumerate(indices):
        target[index] = source[place]
    return y


def _dense_csr(values, indices, indptr, columns):
    """Makes a dense matrix from compressed sparse rows, with the checks of our ops."""
    if len(values) != len(indices) or len(indptr) == 0 or indptr[0] != 0 or indptr[-1] != len(indices) or np.any(np.diff(indptr) < 0):
        raise ValueError("pointers")
    if indices.ndim != 1 or indptr.ndim != 1 or np.any((indices < 0) | (indices >= columns)):
        raise ValueError("indices")
    matrix = np.zeros((len(indptr) - 1, columns), values.dtype)
    np.add.at(matrix, (np.repeat(np.arange(len(indptr) - 1), np.diff(indptr)), indices), values)
    return matrix


def _csr(values, indices, indptr, x):
    if x.ndim > 2:
        raise ValueError("axes")
    return np.matmul(_dense_csr(values, indices, indptr, len(x)), x)


def _csc(values, indices, indptr, x, rows):
    if x.ndim > 2:
        raise ValueError("axes")
    return np.matmul(_dense_csr(values, indices, indptr, rows).T, x)


def _sampled(indices, indptr, x1, x2):
    if x1.shape[1:] != x2.shape[1:] or x1.ndim > 2 or len(x1) != len(indptr) - 1:
        raise ValueError("shapes")
    _dense_csr(np.zeros(len(indices)), indices, indptr, len(x2))
    rows = np.repeat(np.arange(len(x1)), np.diff(indptr))
    terms = x1[rows] * x2[indices]
    return terms if x1.ndim == 1 else np.sum(terms, axis=1, dtype=terms.dtype)


def _argsort(x, axis, descending):
    """Indices that sort x. Ascending and descending sorts are stable, and put NaN last."""
    _, rank = np.unique(x, return_inverse=True)  # all NaN have one rank, the highest
    rank = rank.reshape(x.shape)
    key = np.where(x != x, x.size, -rank) if descending else rank
    return np.argsort(key, axis=axis, kind="stable")


def _sort(x, axis, descending):
    return np.take_along_axis(x, _argsort(x, axis, descending), axis)


def _topk(x, k, axis, largest):
    if k > x.shape[axis]:
        raise ValueError("more than there are")
    indices = np.take(_argsort(x, axis, largest), range(k), axis)
    return np.take_along_axis(x, indices, axis), indices
