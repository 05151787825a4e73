"""Words of the table's `golden` expressions for ops of neural networks, and for distances."""

import numpy as np
from golden_random import _units


def _around(parameter, shape, axes):
    """Reshapes a weight or bias for the given axes; all other axes get length 1."""
    if parameter.shape != tuple(shape[k] for k in axes):
        raise ValueError("a weight or bias has the lengths of its axes")
    return parameter.reshape([n if k in axes else 1 for k, n in enumerate(shape)])


def _scaled(y, axes, weight, bias):
    if weight is not None:
        y = y * _around(weight, y.shape, axes)
    return y if bias is None else y + _around(bias, y.shape, axes)


def _axes(x, axis):
    axes = range(x.ndim) if axis is None else np.atleast_1d(axis)
    if any(not -max(x.ndim, 1) <= k < max(x.ndim, 1) for k in axes):
        raise ValueError("no such axis")
    return tuple(sorted(int(k) % x.ndim for k in axes)) if x.ndim else ()


def _layer_norm(x, axis, weight, bias, eps):
    axes = _axes(x, axis)
    y = (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + eps)
    return _scaled(y, axes, weight, bias)


def _rms_norm(x, axis, weight, eps, T):
    axes = _axes(x, axis)
    if eps is None:
        eps = float(np.finfo("float64" if T == "float64" else "float32").eps)
    return _scaled(x / np.sqrt((x * x).mean(axes, keepdims=True) + eps), axes, weight, None)


def _batch_norm(x, mean, var, weight, bias, eps):
    mean, var = _around(mean, x.shape, (1,)), _around(var, x.shape, (1,))
    return _scaled((x - mean) / np.sqrt(var + eps), (1,), weight, bias)


def _group_norm(x, groups, weight, bias, eps):
    batch, channels = x.shape[:2]
    if channels % groups:
        raise ValueError("groups are of equal size")
    parts = x.reshape(batch, groups, channels // groups * int(np.prod(x.shape[2:])))
    return _scaled(_layer_norm(parts, -1, None, None, eps).reshape(x.shape), (1,), weight, bias)


def _reduced(loss, reduction, weights=1):
    match reduction:
        case "each":
            return loss
        case "sum":
            return loss.sum()
    return loss.sum() / np.broadcast_to(weights, loss.shape).sum()


def _mse_loss(x, target, reduction):
    return _reduced((x - target) ** 2, reduction)


def _huber_loss(x, target, delta, reduction):
    if not delta > 0:
        raise ValueError("delta is positive")
    distance = np.abs(x - target)
    return _reduced(np.where(distance <= delta, distance * distance / 2, delta * (distance - delta / 2)), reduction)


def _nll_loss(x, target, weight, ignore_index, reduction, label_smoothing=0.0):
    axis = 0 if x.ndim == 1 else 1
    count = x.shape[axis]
    is_used = target != ignore_index
    if not 0 <= label_smoothing <= 1 or target.shape != x.shape[:axis] + x.shape[axis + 1 :]:
        raise ValueError("targets are classes of the rows")
    if np.any(is_used & ((target < 0) | (target >= count))):
        raise IndexError("no such class")
    weight = np.ones(count, x.dtype) if weight is None else weight
    if weight.shape != (count,):
        raise ValueError("each class has a weight")
    place = np.where(is_used, target, 0)
    share = weight[place] * is_used
    loss = np.where(is_used, -np.take_along_axis(x, np.expand_dims(place, axis), axis).squeeze(axis) * share, 0)
    if label_smoothing:
        even = np.where(is_used, -(x * _around(weight, x.shape, (axis,))).sum(axis), 0)
        loss = (1 - label_smoothing) * loss + label_smoothing / count * even
    return _reduced(loss, reduction, share)


def _cross_entropy(x, target, weight, ignore_index, label_smoothing, reduction):
    axis = 0 if x.ndim == 1 else 1
    top = x.max(axis, keepdims=True)
    log_softmax = x - top - np.log(np.exp(x - top).sum(axis, keepdims=True))
    return _nll_loss(log_softmax, target, weight, ignore_index, reduction, label_smoothing)


def _attention(query, key, value, mask, bias, causal, scale):
    if min(query.ndim, key.ndim, value.ndim) < 2:
        raise ValueError("arrays have rows and columns")
    scale = 1 / np.sqrt(max(query.shape[-1], 1)) if scale is None else scale
    scores = np.matmul(query, np.swapaxes(key, -1, -2)) * query.dtype.type(scale)
    allowed = np.ones(scores.shape, bool)
    if mask is not None:
        allowed = allowed & mask
    if bias is not None:
        scores = scores + bias
    if causal:
        allowed = allowed & np.tri(*scores.shape[-2:], dtype=bool)
    scores = np.where(allowed, scores, -np.inf)
    top = np.max(scores, -1, keepdims=True, initial=-np.inf)
    weights = np.exp(scores - np.where(np.isneginf(top), 0, top))
    sums = weights.sum(-1, keepdims=True)
    return np.matmul(weights / np.where(sums == 0, 1, sums), value)


def _cdist(x1, x2, p):
    if not p >= 0 or x1.ndim < 2 or x2.ndim < 2 or x1.shape[-1] != x2.shape[-1]:
        raise ValueError("no distances")
    distance = np.abs(x1[..., :, np.newaxis, :] - x2[..., np.newaxis, :, :])
    if p == 0:
        return (distance != 0).sum(-1).astype(x1.dtype)
    if p == np.inf:
        return distance.max(-1, initial=0)
    return (distance**p).sum(-1) ** (1 / x1.dtype.type(p))


def _dropout(x, p, seed):
    if not 0 <= p <= 1:
        raise ValueError("p is a probability")
    kept = _units(seed, x.size, np.float32).reshape(x.shape) >= p
    return np.where(kept, x * (0 if p == 1 else 1 / (1 - p)), 0).astype(x.dtype)
