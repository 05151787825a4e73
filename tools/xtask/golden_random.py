"""Words of the table's `golden` expressions for random numbers. The Philox streams and the sampling algorithms are
written from the published papers, independently of the crate's code."""

import math

import numpy as np


def _philox_block(key, counter, further=0):
    """One block of four words by Philox4x32-10 (Salmon et al., 2011). `further` counts the blocks of one counter."""
    x = [counter & 0xFFFFFFFF, counter >> 32, further, 0]
    low, high = key & 0xFFFFFFFF, key >> 32
    for _ in range(10):
        a, b = x[0] * 0xD2511F53, x[2] * 0xCD9E8D57
        x = [(b >> 32) ^ x[1] ^ low, b & 0xFFFFFFFF, (a >> 32) ^ x[3] ^ high, a & 0xFFFFFFFF]
        low, high = (low + 0x9E3779B9) & 0xFFFFFFFF, (high + 0xBB67AE85) & 0xFFFFFFFF
    return x


def _philox(key, count):
    """The first `count` 32-bit words of the stream of a key, in whole blocks of four."""
    return [word for counter in range(-(-count // 4)) for word in _philox_block(key, counter)]


def _bits(key, count):
    """`count` random 64-bit integers, each made of two words."""
    words = _philox(key, 2 * count)
    return [words[2 * i] << 32 | words[2 * i + 1] for i in range(count)]


def _units(key, count, made):
    """Numbers in [0, 1), with 53 random bits in float64, and 24 random bits in float32."""
    if made == np.float64:
        return np.array([(bits >> 11) / 2**53 for bits in _bits(key, count)], np.float64)
    return np.array([(word >> 8) / 2**24 for word in _philox(key, count)[:count]], np.float32)


def _random_integers(shape, low, high, T, seed):
    count = int(np.prod(shape, dtype=int))
    low, high = int(low), int(high)
    return np.array([low + (bits * (high - low) >> 64) for bits in _bits(seed, count)], T).reshape(shape)


def _random_permutation(n, T, seed):
    return np.argsort(np.array(_bits(seed, n), np.uint64), kind="stable").astype(T)


def _units_of(key, counter):
    """The stream of numbers in [0, 1) for one element."""
    further = 0
    while True:
        words = _philox_block(key, counter, further)
        for high, low in (words[:2], words[2:]):
            yield ((high << 32 | low) >> 11) / 2**53
        further += 1


def _normals(units):
    """Two normal numbers, by Marsaglia's polar method."""
    while True:
        x, y = 2 * next(units) - 1, 2 * next(units) - 1
        square = x * x + y * y
        if 0 < square < 1:
            scale = math.sqrt(-2 * math.log(square) / square)
            return x * scale, y * scale


def _log(x):
    return math.log(x) if x > 0 else -math.inf


def _gamma_parts(alpha, units):
    """A gamma distributed number by the method of Marsaglia and Tsang (2000), and the logarithm of the factor to
    multiply it by. If `alpha` is below 1, the number has the shape `alpha + 1`."""
    d = (alpha + 1 if alpha < 1 else alpha) - 1 / 3
    c = 1 / math.sqrt(9 * d)

    def large():
        while True:
            for x in _normals(units):
                if c * x <= -1:
                    continue
                v = (1 + c * x) ** 3
                u = 1 - next(units)
                if u < 1 - 0.0331 * x**4 or math.log(u) < x * x / 2 + d * (1 - v + math.log(v)):
                    return d * v

    x = large()
    return x, _log(1 - next(units)) / alpha if alpha < 1 else 0.0


def _gamma(alpha, units):
    if not 0 <= alpha < math.inf:
        return math.nan
    if alpha == 0:
        return 0.0
    x, boost = _gamma_parts(alpha, units)
    return x * math.exp(boost)


def _beta(alpha, beta, units):
    if not 1e-300 <= alpha < math.inf or not 1e-300 <= beta < math.inf:
        return math.nan
    x, x_boost = _gamma_parts(alpha, units)
    y, y_boost = _gamma_parts(beta, units)
    larger = max(x_boost, y_boost)
    x, y = x * math.exp(x_boost - larger), y * math.exp(y_boost - larger)
    return x / (x + y)


def _poisson(rate, units):
    """A Poisson number: by a search for rates below 10, otherwise by Hörmann's method PTRS (1993)."""
    if not 0 <= rate <= 9.223372006484771e18:
        return -1
    if rate < 10:
        u, k, p = next(units), 0, math.exp(-rate)
        while u >= p and (p >= 1e-17 or k < rate):
            u -= p
            k += 1
            p *= rate / k
        return k
    b = 0.931 + 2.53 * math.sqrt(rate)
    a = -0.059 + 0.02483 * b
    inverse_alpha, squeeze = 1.1239 + 1.1328 / (b - 3.4), 0.9277 - 3.6224 / (b - 2)
    while True:
        u, v = next(units) - 0.5, next(units)
        end = 0.5 - abs(u)
        if end == 0:
            continue
        k = math.floor((2 * a / end + b) * u + rate + 0.43)
        if end >= 0.07 and v <= squeeze:
            return k
        if k < 0 or (end < 0.013 and v > end):
            continue
        if _log(v * inverse_alpha / (a / end**2 + b)) <= k * math.log(rate) - rate - math.lgamma(k + 1):
            return k


def _binomial(n, given, units):
    """A binomial number: by a search for means below 10, otherwise by Hörmann's method BTRS (1993)."""
    if not 0 <= given <= 1:
        return -1
    p = 1 - given if given > 0.5 else given
    q = 1 - p
    k = _searched(n, p, next(units)) if n * p < 10 else _rejected(n, p, q, units)
    return n - k if given > 0.5 else k


def _searched(n, p, u):
    k, probability, odds = 0, math.exp(n * math.log1p(-p)), p / (1 - p)
    while k < n and u >= probability and (probability >= 1e-17 or k < n * p):
        u -= probability
        k += 1
        probability *= (n - k + 1) / k * odds
    return k


def _rejected(n, p, q, units):
    deviation = math.sqrt(n * p * q)
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * p
    alpha, squeeze = (2.83 + 5.1 / b) * deviation, 0.92 - 4.2 / b
    top = math.floor((n + 1) * p)

    def density(k):
        return k * math.log(p / q) - math.lgamma(k + 1) - math.lgamma(n - k + 1)

    while True:
        u, v = next(units) - 0.5, next(units)
        end = 0.5 - abs(u)
        if end == 0:
            continue
        k = math.floor((2 * a / end + b) * u + n * p + 0.5)
        if not 0 <= k <= n:
            continue
        if end >= 0.07 and v <= squeeze or _log(alpha * v / (a / end**2 + b)) <= density(k) - density(top):
            return k


def _truncated_normal(lower, upper, mean, std, units):
    """A truncated normal number. In the tail, proposals are truncated exponential numbers (Robert, 1995)."""
    if not lower <= upper or lower == math.inf or upper == -math.inf:
        return math.nan
    if lower == upper:
        return lower
    start, end = (lower - mean) / std, (upper - mean) / std
    if start >= 0 or end <= 0:
        nearest = start if start >= 0 else -end
        rate = (nearest + math.sqrt(nearest**2 + 4)) / 2
        while True:
            t = -math.log1p(next(units) * math.expm1(-rate * ((upper - lower) / std))) / rate
            # `t` minus the difference of the rate and the bound, without cancellation
            beyond = t - 2 / (nearest + math.sqrt(nearest**2 + 4))
            if -2 * _log(1 - next(units)) >= beyond**2:
                return min(max(lower + std * t if start >= 0 else upper - std * t, lower), upper)
    if (upper - lower) / std < 2.5:
        while True:
            x = lower + (upper - lower) * next(units)
            if -2 * _log(1 - next(units)) >= ((x - mean) / std) ** 2:
                return x
    while True:
        for z in _normals(units):
            if lower <= mean + std * z <= upper:
                return mean + std * z


def _each(f, shape, seed, *own, counts=False):
    """Draws one number for each element of the parameters, broadcast to `shape`. Like NumPy, raises an error if a
    parameter is out of range and no parameter is an array."""
    own = [np.asarray(x, np.float64) if isinstance(x, np.ndarray) else np.float64(x) for x in own]
    values = [f(*map(float, x), _units_of(seed, i)) for i, x in enumerate(zip(*(np.broadcast_to(x, shape).ravel() for x in own)))]
    wrong = all(not isinstance(x, np.ndarray) for x in own) and any(x == -1 if counts else math.isnan(x) for x in values)
    if wrong:
        raise ValueError("a parameter is out of range")
    return np.array(values, np.int64 if counts else np.float64).reshape(shape)


def _scale(scale):
    if not 0 <= scale < math.inf:
        raise ValueError("a scale is finite and not negative")
    return scale


def _random_exponential(shape, scale, seed):
    return _scale(scale) * _each(lambda _, units: 0.0 - math.log(1 - next(units)), shape, seed, 0.0)


def _random_gamma(shape, alpha, scale, seed):
    return _scale(scale) * _each(_gamma, shape, seed, alpha)


def _random_beta(shape, alpha, beta, seed):
    return _each(_beta, shape, seed, alpha, beta)


def _random_poisson(shape, rate, seed):
    return _each(_poisson, shape, seed, rate, counts=True)


def _random_binomial(shape, n, p, seed):
    if n < 0:
        raise ValueError("trials are not negative")
    return _each(lambda p, units: _binomial(n, p, units), shape, seed, p, counts=True)


def _random_truncated_normal(shape, lower, upper, mean, std, seed):
    lower, upper = -math.inf if lower is None else lower, math.inf if upper is None else upper
    return _each(lambda low, high, units: _truncated_normal(low, high, mean, std, units), shape, seed, lower, upper)


def _enough(n, size, replace):
    if size and (n == 0 or not replace and size > n):
        raise ValueError("there are not so many")


def _random_choice(x, shape, replace, axis, seed):
    n, size = x.shape[axis], int(np.prod(shape, dtype=int))
    _enough(n, size, replace)
    indices = _random_integers(shape, 0, n, "int64", seed) if replace else _random_permutation(n, "int64", seed)[:size].reshape(shape)
    return np.take(x, indices, axis)


def _random_shuffle(x, axis, seed):
    return np.take(x, _random_permutation(x.shape[axis], "int64", seed), axis)


def _random_permutations(count, n, T, seed):
    keys = _random_integers((count, n), -(2**63), 2**63 - 1, "int64", seed)
    return np.argsort(keys, axis=1, kind="stable").astype(T)


def _random_subsets(n, size, count, replace, T, seed):
    _enough(n, size, replace)
    if replace:
        return _random_integers((count, size), 0, n, "int64", seed).astype(T)
    return _random_permutations(count, n, T, seed)[:, :size]


def _random_choice_weighted(weights, shape, replace, seed):
    size = int(np.prod(shape, dtype=int))
    if not replace:
        return _random_subsets_weighted(weights, size, 1, False, seed).reshape(shape)
    (n,) = weights.shape
    _enough(n, size, True)
    weights = weights.astype(np.float64)
    units = _units(seed, size, np.float64).reshape(shape)
    if not (weights >= 0).all() or not 0 < weights.sum() < np.inf:
        return np.full(shape, n, np.int64)
    return np.searchsorted(np.cumsum(weights) / weights.sum(), units, "right").astype(np.int64)


def _random_subsets_weighted(weights, size, count, replace, seed):
    """Subsets without replacement: each element gets an exponentially distributed time, and the shortest times win."""
    (n,) = weights.shape
    _enough(n, size, replace)
    if replace:
        return _random_choice_weighted(weights, (count, size), True, seed)
    weights = weights.astype(np.float64)
    times = _random_exponential((count, n), 1.0, seed)
    usable = (weights >= 0).all() and (weights < np.inf).all()
    times = np.where((weights > 0) & usable, np.log(times) - np.log(np.where(weights > 0, weights, 1)), np.inf)
    order = np.argsort(times, axis=1, kind="stable")[:, :size]
    return np.where(np.take_along_axis(times, order, 1) < np.inf, order, n).astype(np.int64)


def _random_multinomial(shape, n, weights, seed):
    if n < 0 or weights.ndim != 1 or n > 0 and weights.size == 0:
        raise ValueError("trials are not negative, weights are 1-D and some")
    weights = [float(w) for w in weights]
    rests = np.cumsum(weights[::-1])[::-1]
    rows = []
    for i in range(int(np.prod(shape, dtype=int))):
        units, rest, row = _units_of(seed, i), n, []
        if not all(0 <= w < math.inf for w in weights) or not 0 < sum(weights) < math.inf:
            rows.append([-1] * len(weights))
            continue
        for weight, left in zip(weights, rests):
            row.append(_binomial(rest, weight / left if left > 0 else 0.0, units) if rest else 0)
            rest -= row[-1]
        rows.append(row)
    return np.array(rows, np.int64).reshape((*shape, len(weights)))
