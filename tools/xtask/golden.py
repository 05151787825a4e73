"""Computes the reference results of the conformance tests by NumPy: run by `cargo xtask golden`.

The script reads the rows (`cargo xtask table --json`), computes every row in every dtype for every case, and writes one
file for each group (or a single file for the table of another crate). Rows that promise exact results are computed in
their own dtype. Rows that promise a tolerance are computed in a wider dtype and rounded once, so that the whole
tolerance is left for the backend. bfloat16, which NumPy lacks, is computed in a wider dtype and rounded once.

The script writes the same bytes on every x86-64 Linux. On other systems the last bits may differ, because `longdouble`
depends on the machine.
"""

import argparse
import ast
import json
import keyword
import os
import struct
import sys
import warnings
from pathlib import Path

# NumPy chooses its loops by the CPU, and their results differ in the last bits. This variable, which must be set before
# the import, selects the same loops on every CPU.
os.environ["NPY_DISABLE_CPU_FEATURES"] = (
    "SSSE3 SSE41 POPCNT SSE42 AVX F16C FMA3 AVX2 AVX512F AVX512CD AVX512_KNL AVX512_KNM AVX512_SKX AVX512_CLX AVX512_CNL"
    " AVX512_ICL AVX512_SPR"
)
import numpy as np  # noqa: E402
import scipy.linalg  # noqa: E402
import scipy.signal  # noqa: E402
import scipy.special  # noqa: E402
from golden_convolution import _conv, _conv_transpose, _pool, _convolve, _fftconvolve, _trigonometric  # noqa: E402
from golden_images import (  # noqa: E402
    _narrow, _ndimage, _affine, _rigid, _zoom, _grid_sample, _extreme, _label, _distances, _peaks, _center_of_mass, _topleft_pad, _extract_center,
    _norm_scores,
)
from golden_networks import (  # noqa: E402
    _layer_norm, _rms_norm, _batch_norm, _group_norm, _mse_loss, _huber_loss, _nll_loss, _cross_entropy, _attention, _cdist, _dropout,
)  # fmt: skip
from golden_nufft import _nufft_spread, _nufft_interpolate  # noqa: E402
from golden_random import (  # noqa: E402
    _units, _random_integers, _random_permutation, _random_choice, _random_shuffle, _random_permutations, _random_subsets,
    _random_choice_weighted, _random_subsets_weighted, _random_multinomial, _random_exponential, _random_gamma, _random_beta, _random_poisson, _random_binomial, _random_truncated_normal,
)
from golden_words import (  # noqa: E402
    _pad_to, _pad_stack, _tile_to, _digitize, _histogramdd, _scatter_by, _scatter_mean, _segments, _indexed_segment_sum, _set_op, _average, _bincount,
    _cumulative_trapezoid, _unwrap, _set, _add_at, _scatter_add, _scatter, _csr, _csc, _sampled, _argsort, _sort, _topk,
)

# Cases that may fail: {(row, dtype, case): reason}. Any other failure is an error.
EXCUSED = {}

# ---- dtypes ----------------------------------------------------------------------------------------------------------

# The dtypes in the order of `DType::ALL`. Files store the index of a dtype in this list.
DTYPES = [
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "bfloat16", "float32", "float64", "complex64", "complex128",
]  # fmt: skip
WIDER = {
    "float16": np.float64, "bfloat16": np.float64, "float32": np.float64, "float64": np.longdouble,
    "complex64": np.complex128, "complex128": np.clongdouble,
}  # fmt: skip


def own(dtype):
    """Returns the NumPy dtype that this script uses for arrays of `dtype`."""
    return np.dtype("float32" if dtype == "bfloat16" else dtype)


def kind(dtype):
    return "b" if dtype == "bool" else dtype[0] if dtype[0] in "iuc" else "f"


def real_of(dtype):
    return {"complex64": "float32", "complex128": "float64"}.get(dtype, dtype)


def complex_of(dtype):
    return "complex128" if dtype in ("float64", "complex128") else "complex64"


def sum_of(dtype):
    return {"b": "int64", "i": "int64", "u": "uint64"}.get(kind(dtype), dtype)


def bfloat16_bits(x):
    """Rounds x to the nearest bfloat16, ties to even, and returns its bits."""
    x = np.asarray(x, np.float64)
    near = x.astype(np.float32)
    # x is first rounded to odd in float32, so that the second rounding gives the same result as a single rounding
    bits = near.view(np.uint32) - (np.abs(near.astype(np.float64)) > np.abs(x)).astype(np.uint32)
    bits |= (bits.view(np.float32).astype(np.float64) != x).astype(np.uint32)
    rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    return np.where(np.isnan(x), np.uint16(0x7FC0), rounded)


def from_bfloat16_bits(bits):
    return np.asarray(bits.astype(np.uint32) << 16).view(np.float32)


def rounded(x, dtype):
    """Rounds x to values of `dtype`, stored in the NumPy dtype `own(dtype)`."""
    if dtype == "bfloat16":
        return from_bfloat16_bits(bfloat16_bits(x))
    return np.asarray(x).astype(own(dtype))


# ---- samples ---------------------------------------------------------------------------------------------------------

SHAPES = {
    "m": (3, 4), "n": (3, 4), "v": (4,), "u": (3,), "row": (1, 4), "col": (3, 1), "t": (2, 3, 4), "mat": (4, 5),
    "tmat": (2, 4, 5), "col3": (3,), "e": (0, 4), "mt": (3, 4), "mstep": (3, 4), "mrev": (3, 4), "fp": (10,),
    "sq": (3, 3), "tsq": (2, 3, 3), "sqt": (3, 3), "mat5": (5, 2), "pd": (3, 3), "tpd": (2, 4, 4), "tall": (5, 3),
    "rank1": (3, 4), "e0": (0, 0), "img": (7, 8), "vol": (5, 6, 7), "at2": (2, 3, 4), "at3": (3, 5), "field": (1, 5, 6, 2),
    "field3": (2, 3, 4, 2, 1), "spots1": (2, 5, 1), "spots": (2, 4, 2), "spots3": (2, 5, 3), "holes": (6, 9),
    "pair": (2,), "pair2": (2, 2),
    "cx1": (2, 4, 9), "cw1": (6, 4, 3), "cg1": (6, 2, 3), "cd1": (4, 1, 3), "cx2": (2, 4, 6, 7), "cw2": (6, 4, 3, 2), "cg2": (4, 2, 2, 3),
    "cd2": (8, 1, 3, 3), "cx3": (1, 4, 4, 5, 6), "cw3": (5, 4, 2, 3, 2), "ct3": (4, 5, 2, 3, 2), "c4": (4,), "c6": (6,), "c8": (8,),
    "c0": (0, 4, 9), "ct1": (4, 3, 3),
}  # fmt: skip
INDICES = {
    "i": [0, 2, 1], "ii": [[2, 0], [1, 2]], "i0": [], "iv": [1, 0, 1, 2], "ix": [[0, 2], [1, 1], [2, 0]], "rise": [0, 1, 1, 3],
    "rise0": [0], "rows4": [0, 3, 3, 4], "classes": [[0, 2, 1, 1], [2, 0, -100, 2]],
}  # fmt: skip


def noise(seed, count):
    """Pseudorandom numbers in [0, 1), by splitmix64."""
    numbers = []
    for i in range(count):
        z = (seed * 0x632BE59BD9B4E019 + (i + 1) * 0x9E3779B97F4A7C15) % 2**64
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
        numbers.append((z ^ (z >> 31)) / 2**64)
    return np.array(numbers)


def ordinary(name, dtype):
    """A sample of small numbers, of both signs if the dtype has them."""
    seed, shape = 2 + 2 * list(SHAPES).index(name), SHAPES[name]
    count = int(np.prod(shape))
    x = noise(seed, count)
    match kind(dtype):
        case "b":
            x = x < 0.5
        case "i":
            x = np.floor(x * 19) - 9
        case "u":
            x = np.floor(x * 10)
        case "f":
            x = x * 6 - 3
        case "c":
            x = x * 4 - 2 + 1j * (noise(seed + 1, count) * 4 - 2)
    return rounded(x, dtype).reshape(shape)


def special_values(dtype):
    """Values for which functions and conversions are likely to be wrong."""
    match kind(dtype):
        case "b":
            return np.array([False, True, True])
        case "i" | "u":
            info = np.iinfo(dtype)
            ends = [info.min, info.max, info.min + 1, info.max - 1, info.max // 2, info.max // 2 + 1]
            few = [0, 1, 2, 3, 7, info.bits - 1, info.bits, 100] + ([-1, -2, -3, -100] if info.min < 0 else [])
            return np.array(ends + few, dtype)
        case "f":
            # bfloat16 has the exponents of float32 and 8 bits of precision
            info = np.finfo(own(dtype))
            largest, tiny = float(info.max), float(info.smallest_subnormal)
            if dtype == "bfloat16":
                largest, tiny = 2.0**127 * (2 - 2.0**-7), 2.0**-133
            ends = [largest, -largest, float(info.smallest_normal), tiny, -tiny]
            few = [0.5, 1.0, 1.5, 2.5, 3.0, 1000.0, -0.5, -1.0, -1.5, -2.5, -1000.0]
            return rounded(np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, *ends, *few]), dtype)
        case "c":
            # no infinite or NaN parts, because complex functions do not promise C99's results for them
            few = [0, 1, -1, 1j, 2.5, -2.5, 0.5 - 2j, -3 + 0.25j, -1.5 - 1.5j, 1e-3 + 1e-3j, 7 - 5j]
            return np.array(few, dtype)


def samples(dtype):
    x = {name: ordinary(name, dtype) for name in SHAPES}
    x["s"] = rounded(np.array(2 if kind(dtype) in "iu" else 1.5), dtype)
    x["n"][0, 1] = x["m"][0, 1]  # so that two elements are equal
    if kind(dtype) in "iuf":
        x["n"][1, 2], x["t"][0, 1, 2] = 100, 20
    if kind(dtype) in "if":
        x["n"][2, 0], x["t"][1, 2, 0] = -77, -12

    # Hermitian positive definite matrices, and a matrix of rank 1
    if kind(dtype) in "fc":
        for name in ("pd", "tpd"):
            wide = x[name].astype(np.complex128 if kind(dtype) == "c" else np.float64)
            x[name] = rounded(wide @ np.conj(np.matrix_transpose(wide)) + 2 * np.eye(wide.shape[-1]), dtype)
        x["rank1"] = np.outer(rounded([1, -2, 0.5], dtype), rounded([2, 4, -1, 0.5], dtype)).astype(own(dtype))

    # coordinates inside and outside images; regions of zeros; rotations
    for name in ("at2", "at3", "spots1", "spots", "spots3"):
        x[name] = rounded(np.real(x[name]) * 1.75 + 2.25, dtype)
    x["holes"] = rounded(np.where(np.real(x["holes"]) > -1, x["holes"], 0) if kind(dtype) != "b" else x["holes"], dtype)
    sin, cos = np.sin(0.4), np.cos(0.4)
    turn = np.array([[cos, -sin], [sin, cos]])
    first, second = np.eye(3), np.eye(3)
    first[:2, :2], second[1:, 1:] = turn, turn.T
    x["links"] = rounded([[0, 0, 1], [1, 1, 1], [1, 0, 0]], dtype)
    x["weights"] = rounded([1, 2, 3, 1, 2] if kind(dtype) not in "fc" else [0.5, 2, 1.25, 1, 3], dtype)
    x["spacing"] = rounded([0.5, 2.25, 1.25] if kind(dtype) in "fc" else [1, 1, 1], dtype)
    x["rot2"], x["rot3"] = rounded(turn, dtype), rounded(first @ second, dtype)

    # each special value is paired with itself, its neighbours and other values
    special = special_values(dtype)
    x["w"] = np.concatenate([special] * 4)
    x["wt"] = np.concatenate([special, np.roll(special, 1), np.roll(special, 5), special[::-1]])

    values = np.array([1, 0, -2, 3, 1, -2, 0, 5, 1, 3]) if kind(dtype) != "u" else np.array([1, 0, 2, 3, 1, 2, 0, 5, 1, 3])
    # special values in both parts of complex numbers
    x["wz"] = special
    if kind(dtype) == "c":
        ends = [0.0, -0.0, 1.0, -2.5, np.inf, -np.inf, np.nan]
        x["wz"] = np.array([complex(re, im) for re in ends for im in ends], dtype)

    x["dup"] = rounded(values * 0.5 if kind(dtype) in "fc" else values, dtype)
    x["wv"] = x["dup"].copy()
    if kind(dtype) in "fc":
        x["wv"] = rounded([1.5, np.nan, -2, np.inf, 0.0, 1.5, -np.inf, np.nan, -0.0, 3], dtype)
    # increasing values (strictly increasing if the dtype has enough values), some of which are in `m`
    ramp = np.linspace(-2.4, 2.4, 8) if kind(dtype) in "fc" else values[:8]
    x["sorted"] = np.sort(np.concatenate([x["m"][[0, 1], [0, 1]], rounded(ramp, dtype)]))
    x["falling"] = x["sorted"][::-1].copy()
    x["q"] = rounded([0, 0.25, 0.5, 0.9, 1] if kind(dtype) in "fc" else [0, 1, 0, 1, 1], dtype)
    if dtype == "int64":
        x |= {name: np.array(values, np.int64) for name, values in INDICES.items()}
    return x


# ---- words of the table's `golden` expressions that NumPy lacks ------------------------------------------------------


def _frombuffer(buffer, count, offset, T):
    """Reads `count` elements from a sample; `offset` is in bytes, and is a multiple of the element's size."""
    size = 2 if T == "bfloat16" else buffer.dtype.itemsize
    return buffer.ravel()[offset // size :][:count]


def _pow(x1, x2):
    """np.power, also with negative exponents of integers, which NumPy refuses."""
    if x1.dtype.kind != "i":
        return np.power(x1, x2)
    inverse = np.where(x1 == 1, 1, np.where(x1 == -1, 1 - 2 * (x2 % 2), 0))
    return np.where(x2 < 0, inverse, np.power(x1, np.maximum(x2, 0))).astype(x1.dtype)


def _astype(x, out_dtype):
    """Converts floats to integers by truncation and saturation, and NaN to 0. NumPy's results depend on the machine."""
    out_dtype = np.dtype(out_dtype)
    if x.dtype.kind == "c" and out_dtype.kind in "iuf":
        x = x.real
    if x.dtype.kind != "f" or out_dtype.kind not in "iu":
        return x.astype(out_dtype)
    info = np.iinfo(out_dtype)

    def one(value):
        if np.isnan(value):
            return 0
        return int(np.clip(value, -1e30, 1e30)) if np.isfinite(value) else info.max if value > 0 else info.min

    flat = [min(max(one(value), info.min), info.max) for value in x.ravel()]
    return np.array(flat, out_dtype).reshape(x.shape)


def _nextafter(x1, x2, T):
    """np.nextafter, also for bfloat16. If x1 and x2 are zeros, returns x2 as in C; NumPy returns x1 in float16."""
    if T not in ("float16", "bfloat16"):
        return np.nextafter(x1, x2)
    x1, x2 = np.broadcast_arrays(x1, x2)
    # for numbers of one sign, larger bits mean a larger magnitude
    bits = (bfloat16_bits(x1) if T == "bfloat16" else x1.copy().view(np.uint16)).astype(np.int64)
    away = (x2 > x1) == (x1 > 0)
    stepped = np.where(x1 == 0, np.where(np.signbit(x2), 0x8001, 1), np.where(away, bits + 1, bits - 1)).astype(np.uint16)
    result = from_bfloat16_bits(stepped) if T == "bfloat16" else stepped.view(np.float16)
    return np.where(np.isnan(x1) | np.isnan(x2), x1 + x2, np.where(x1 == x2, x2, result))


def _expm1(x):
    """np.expm1 with the Array API's results for infinite and NaN parts, where NumPy returns NaN."""
    result = np.array(np.expm1(x))
    if x.dtype.kind == "c":
        axis = x.imag == 0
        lost = np.isinf(x.real) & ~np.isfinite(x.imag)
        result.real = np.where(axis | lost, np.expm1(x.real), result.real)
        result.imag = np.where(lost, np.where(x.real < 0, np.copysign(0, x.imag), np.nan), result.imag)
        result.imag = np.where(axis, x.imag, result.imag)
    return result


def _reciprocal(x):
    """np.reciprocal, but 0 for complex numbers with two infinite parts, as in C99; NumPy returns NaN."""
    result = np.array(np.reciprocal(x))
    if x.dtype.kind == "c":
        result[np.isinf(x.real) & np.isinf(x.imag)] = 0
    return result


def _sum_as(x, axis, keepdims, out_dtype):
    """Sums floats in the widest dtype, and integers in their own dtype, in which overflow wraps."""
    y = _astype(x, out_dtype)
    return np.sum(y, axis, dtype={"f": np.longdouble, "c": np.clongdouble}.get(y.dtype.kind, y.dtype), keepdims=keepdims)


def _prod_as(x, axis, keepdims, out_dtype):
    y = _astype(x, out_dtype)
    return np.prod(y, axis, dtype={"f": np.longdouble, "c": np.clongdouble}.get(y.dtype.kind, y.dtype), keepdims=keepdims)


def _window(name, n, periodic, dtype, *beta):
    """A window of SciPy. NumPy has only symmetric windows."""
    return getattr(scipy.signal.windows, name)(n, *beta, sym=not periodic).astype(dtype)


def _vecdot(x1, x2, axis):
    """np.vecdot, computed in the dtype of the operands."""
    x1, x2 = np.moveaxis(x1, axis, -1), np.moveaxis(x2, axis, -1)
    if x1.shape[-1] != x2.shape[-1]:
        raise ValueError("the vectors differ in length")
    return np.sum(np.conj(x1) * x2, axis=-1, dtype=x1.dtype)


def _cross(x1, x2, axis):
    if x1.shape[axis] != 3 or x2.shape[axis] != 3:
        raise ValueError("the axis does not have length 3")
    return np.cross(x1, x2, axis=axis)


def _einsum(subscripts, operands):
    """np.einsum by its C loops, which add the products one after another in the dtype of the operands."""
    return np.einsum(subscripts, *operands, optimize=False)


def _vector_norm(x, axis, keepdims, ord):
    magnitude = np.abs(x)
    if ord == np.inf:
        return np.max(magnitude, axis=axis, keepdims=keepdims)
    if ord == -np.inf:
        return np.min(magnitude, axis=axis, keepdims=keepdims)
    if ord == 0:
        return np.count_nonzero(x, axis=axis, keepdims=keepdims).astype(magnitude.dtype)
    total = np.sum(magnitude ** magnitude.dtype.type(ord), axis=axis, keepdims=keepdims)
    return total ** (magnitude.dtype.type(1) / magnitude.dtype.type(ord))


def _linalg(name, *args, **options):
    """A function of np.linalg, in double precision, because np.linalg has no wider dtype."""
    narrow = {np.dtype("longdouble"): np.float64, np.dtype("clongdouble"): np.complex128}
    args = [x.astype(narrow.get(x.dtype, x.dtype)) if isinstance(x, np.ndarray) else x for x in args]
    if any(isinstance(x, np.ndarray) and not np.all(np.isfinite(x)) for x in args):
        raise ValueError("the samples are finite")
    return getattr(np.linalg, name)(*args, **options)


def _matrix_norm(x, ord, keepdims):
    by = {"fro": "fro", "nuc": "nuc", "one": 1, "minus_one": -1, "two": 2, "minus_two": -2, "infinity": np.inf, "minus_infinity": -np.inf}
    return _linalg("matrix_norm", x, ord=by[ord], keepdims=keepdims)


def _lstsq(x1, x2, rtol):
    """Least squares for stacks of matrices; the residuals of a stack are PyTorch's."""
    rtol = max(x1.shape[-2:]) * np.finfo(np.float64).eps if rtol is None else rtol
    columns = x2[..., None] if x2.ndim == 1 else x2
    u, s, vh = _linalg("svd", x1, full_matrices=False)
    kept = s > rtol * np.max(s, axis=-1, keepdims=True, initial=0)
    inverse = np.where(kept, 1 / np.where(kept, s, 1), 0)
    adjoint = lambda x: np.conj(np.matrix_transpose(x))
    solution = adjoint(vh) @ (inverse[..., None] * (adjoint(u) @ columns))
    residuals = np.sum(np.abs(x1 @ solution - columns) ** 2, axis=-2)
    if x1.shape[-2] <= x1.shape[-1] or not np.all(kept):
        residuals = np.zeros(0, residuals.dtype)
    if x2.ndim == 1:
        solution = solution[..., 0]
    return solution, residuals, np.sum(kept, axis=-1, dtype=np.int64), s


def _triangular(x1, x2, lower, unit_diagonal):
    triangle = np.tril(x1) if lower else np.triu(x1)
    if unit_diagonal:
        n = x1.shape[-1]
        triangle = np.where(np.eye(n, dtype=bool), 1, triangle)
    return _linalg("solve", triangle, x2)


def _cholesky_solve(x1, x2, upper):
    if x1.shape[-2] != x1.shape[-1]:
        raise ValueError("a factor is square")
    lower = np.conj(np.matrix_transpose(np.triu(x1))) if upper else np.tril(x1)
    return _linalg("solve", lower @ np.conj(np.matrix_transpose(lower)), x2)


def _expm(x):
    narrow = np.complex128 if x.dtype.kind == "c" else np.float64
    return scipy.linalg.expm(x.astype(narrow))


def _special(name, *args):
    """A function of scipy.special, in float64."""
    return getattr(scipy.special, name)(*(x.astype(np.float64) for x in args))


def _sinc(x):
    """sinc with a more precise pi than NumPy's (float64), so that the result is 0 at whole numbers."""
    pi = np.longdouble("3.14159265358979323846264338327950288")
    x = x.astype(np.longdouble)
    sign = 1 - 2 * np.remainder(np.round(x), 2)
    return np.where(x == 0, 1, np.sin((x - np.round(x)) * pi) * sign / (pi * np.where(x == 0, 1, x)))


def _nan_to_num(x, nan, posinf, neginf, T):
    """np.nan_to_num, also for bfloat16, whose largest number is below float32's."""
    largest = 2.0**127 * (2 - 2.0**-7) if T == "bfloat16" else float(np.finfo(x.dtype).max)
    posinf, neginf = largest if posinf is None else posinf, -largest if neginf is None else neginf
    return np.nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf)


def _softmax(x, axis):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def _logsumexp(x, axis, keepdims):
    top = x.max(axis, keepdims=True)
    top = np.where(np.isfinite(top), top, 0)
    return np.log(np.exp(x - top).sum(axis, keepdims=keepdims)) + (top if keepdims else top.max(axis))


def _made(T):
    """Returns the dtype in which random numbers are drawn, and how many of these numbers make up an element of `T`."""
    return np.dtype("float64" if real_of(T) == "float64" else "float32"), 2 if kind(T) == "c" else 1


def _elements(reals, shape, T):
    x = rounded(reals, real_of(T))
    return (x[0::2] + 1j * x[1::2]).astype(T).reshape(shape) if kind(T) == "c" else x.reshape(shape)


def _random_uniform(shape, low, high, T, seed):
    made, parts = _made(T)
    low, high = made.type(low), made.type(high)
    count = int(np.prod(shape, dtype=int)) * parts
    reals = low + (high - low) * _units(seed, count, made)
    # numbers that are rounded up to the end become the number below the end
    end = rounded(high, real_of(T))
    below = _nextafter(end, rounded(np.full((), -np.inf), real_of(T)), real_of(T))
    return _elements(np.where(rounded(reals, real_of(T)) == end, below, reals), shape, T)


def _random_normal(shape, mean, std, T, seed):
    """Normal numbers by the method of Box and Muller, which makes two of them from two uniform numbers."""
    made, parts = _made(T)
    count = int(np.prod(shape, dtype=int)) * parts
    # a block of four words makes two numbers in float64, or four in float32; the last block may be partly unused
    whole = -(-count // 4) * 4
    u = _units(seed, whole, made).astype(np.longdouble)
    radius, angle = np.sqrt(-2 * np.log1p(-u[0::2])), 2 * np.pi * np.longdouble(1) * u[1::2]
    z = np.stack([radius * np.cos(angle), radius * np.sin(angle)], -1).ravel()[:count]
    return _elements((mean + std * z).astype(np.float64), shape, T)


def _histogram(x, weights, bins, low, high, edges, density, T):
    """np.histogram, with edges that are rounded to the dtype before the elements are counted."""
    if weights is not None and weights.shape != x.shape:
        raise ValueError("not a weight for each element")
    if edges is not None and np.ndim(edges) != 1:
        raise ValueError("edges are 1-D")
    if edges is None:
        if x.size:
            low, high = np.min(x) if low is None else low, np.max(x) if high is None else high
        else:
            low, high = 0.0 if low is None else low, 1.0 if high is None else high
        if not np.isfinite(low) or not np.isfinite(high) or low > high or bins == 0:
            raise ValueError("no range of bins")
        if low == high:
            low, high = low - 0.5, high + 0.5
        edges = rounded(np.linspace(low, high, bins + 1), T).astype(x.dtype)
    x = x.ravel()
    last = len(edges) - 1
    bin = np.where(x == edges[-1], last, np.searchsorted(edges, x, "right"))
    one = np.ones(x.shape, np.int64) if weights is None else weights.ravel()
    sums = np.zeros(last + 2, one.dtype)
    np.add.at(sums, bin, one)
    sums = sums[1 : last + 1]
    if density:
        sums = sums / np.diff(edges) / np.sum(sums)
    return sums, edges


WORDS = {"np": np} | {
    word.__name__: word
    for word in (
        _frombuffer, _set, _add_at, _scatter_add, _scatter, _csr, _csc, _sampled, _argsort, _sort, _pow, _astype, _nextafter, _expm1, _reciprocal,
        _window, _sum_as, _prod_as, _vecdot, _cross, _einsum, _vector_norm, _linalg, _matrix_norm, _lstsq, _triangular, _cholesky_solve, _expm,
        _special, _sinc, _nan_to_num, _softmax, _logsumexp, _random_uniform, _random_normal, _random_integers, _random_permutation,
        _pad_to, _pad_stack, _tile_to, _digitize, _histogramdd, _scatter_by, _scatter_mean, _segments, _indexed_segment_sum, _topk, _set_op, _average, _histogram,
        _bincount, _cumulative_trapezoid, _unwrap,
        _narrow, _ndimage, _affine, _rigid, _zoom, _grid_sample, _extreme, _label, _distances, _peaks, _center_of_mass, _topleft_pad, _extract_center,
        _norm_scores,
        _random_choice, _random_shuffle, _random_permutations, _random_subsets, _random_choice_weighted, _random_subsets_weighted,
        _random_multinomial, _random_exponential, _random_gamma, _random_beta, _random_poisson, _random_binomial, _random_truncated_normal,
        _conv, _conv_transpose, _pool, _convolve, _fftconvolve, _trigonometric, _nufft_spread, _nufft_interpolate,
        _layer_norm, _rms_norm, _batch_norm, _group_norm, _mse_loss, _huber_loss, _nll_loss, _cross_entropy, _attention, _cdist, _dropout,
    )  # fmt: skip
}

# Ops that the key `compared` of rows may contain.
COMPARED = {
    name: getattr(np, name)
    for name in ("abs", "conj", "expand_dims", "matmul", "matrix_transpose", "multiply", "square", "tril", "triu")
} | {"inv": np.linalg.inv, "sum": lambda x, axis: np.sum(x, axis=axis), "prod": lambda x, axis: np.prod(x, axis=axis)} | {
    "sort": np.sort, "take_along_axis": np.take_along_axis, "pad_to": lambda x, size, axis: _pad_to(x, size, axis, 0),
}

# ---- the table -------------------------------------------------------------------------------------------------------


class Row:
    """A row of `cargo xtask table --json`."""

    def __init__(self, keys):
        self.name, self.group, self.dtypes, self.cases = keys["name"], keys["group"], keys["dtypes"], keys["cases"]
        self.params = [Param(param) for param in keys["params"]]
        self.results, self.is_list = keys["results"], keys["is_list"]
        self.types = keys["types"] or [None]
        self.shape_only, self.exact = keys["shape_only"], keys["exact"]
        self.raises, self.seed = keys["raises"], keys["seed"]
        self.compared, self.fields = keys["compared"], keys["fields"] or ["result"]
        self.golden, self.reference, self.signature = keys["golden"], keys["reference"], keys["signature"]

    def expression(self):
        if self.golden:
            return self.golden
        args = [param.name if param.positional else f"{param.name}={param.name}" for param in self.params]
        if not any(param.is_array for param in self.params):
            args.append("dtype=dtype")
        return f"{self.reference}({', '.join(args)})"

    def promised(self, dtype, to):
        """Returns the dtypes of the results, and whether the result is a list of arrays of one dtype."""
        of = {"T": dtype, "U": to, "real": real_of(dtype), "complex": complex_of(dtype), "sum": sum_of(dtype)}
        dtypes = [of.get(result, result) for result in self.results]
        return (dtypes[0], True) if self.is_list else (dtypes, False)


class Param:
    def __init__(self, keys):
        self.name, self.kind, self.of, self.default = keys["name"], keys["kind"], keys["of"], keys["default"]
        self.positional = self.default is None
        self.is_array = self.kind in ("array", "target", "operand", "host", "bytes")

    def value(self, node, dtype, hold):
        """Returns the value of an argument of a case. `hold` converts samples and scalars for the computation."""
        if self.is_array and isinstance(node, ast.Name):
            name = node.id
            of = {None: dtype, "T": dtype, "real": real_of(dtype), "complex": complex_of(dtype)}.get(self.of, self.of)
            return None if name in ("none", "all") else hold(SAMPLES[of][name], of)
        if self.kind == "arrays":
            return [hold(SAMPLES[dtype][element.id], dtype) for element in node.elts]
        if self.kind in ("scalar", "operand"):
            return hold(rounded(literal(node), dtype), dtype)[()]
        if self.kind == "slices":
            return eval(f"np.s_[{literal(node)}]", WORDS) if literal(node) else ()
        if self.kind == "index":
            # a name in INDICES is a sample of indices; any other name is a mask
            named = {name: SAMPLES["int64" if name in INDICES else "bool"][name] for name in SAMPLES["int64"]}
            index = literal(node)
            return eval(f"np.s_[{index}]", WORDS | named | {"NewAxis": None}) if index else ()
        return literal(node)


def literal(node):
    """Returns the value of a number, a string or a tuple. Other names than those of Python values are choices."""
    match node:
        case ast.Name(id=name):
            return {"all": None, "none": None, "true": True, "false": False, "inf": np.inf}.get(name, name)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Name(id="inf")):
            return -np.inf
        case ast.List(elts=elements):
            return tuple(literal(element) for element in elements)
        case _:
            return ast.literal_eval(node)


def arguments(row, case, dtype, hold):
    call = ast.parse(f"f({case})", mode="eval").body
    positional = [param for param in row.params if param.positional]
    if len(call.args) != len(positional):
        raise ValueError(f"{len(call.args)} arguments for {[param.name for param in positional]}")
    # the name of a choice may be a keyword of Python
    read = lambda text: ast.Name(id=text) if keyword.iskeyword(text) else ast.parse(text, mode="eval").body
    nodes = {param.name: read(param.default) for param in row.params if not param.positional}
    given = dict(zip((param.name for param in positional), call.args)) | {word.arg: word.value for word in call.keywords}
    if unknown := given.keys() - {param.name for param in row.params}:
        raise ValueError(f"no parameter {unknown}")
    return {param.name: param.value((nodes | given)[param.name], dtype, hold) for param in row.params}


# ---- results ---------------------------------------------------------------------------------------------------------


def compute(row, dtype, to, case):
    """Computes the results of one case: [(dtype, array)]."""
    wide = dtype in WIDER and not row.exact and not row.shape_only

    def hold(x, of):
        return x.astype(WIDER[of]) if wide and of in WIDER else x

    names = arguments(row, case, dtype, hold)
    names |= {"T": dtype, "dtype": np.dtype(WIDER[dtype]) if wide else own(dtype)}
    if row.seed is not None:
        names["seed"] = row.seed
    if to:
        names["out_dtype"] = np.dtype("float64") if to == "bfloat16" else own(to)
    results = eval(row.expression(), WORDS | names)
    if row.compared:
        results = [results] if len(row.fields) == 1 else results
        known = {name: x for name, x in names.items() if isinstance(x, (np.ndarray, int))} | dict(zip(row.fields, results, strict=True))
        results = [np.asarray(eval(part, COMPARED | known)) for part in row.compared]
        return [(of, fit(x, of, exact=False)) for x in results for of in [of_compared(x, dtype)]]
    promised, is_list = row.promised(dtype, to)
    if is_list:
        promised = [promised] * len(results)
    elif len(promised) == 1:
        results = [results]
    if len(results) != len(promised):
        raise TypeError(f"{len(results)} results instead of {len(promised)}")
    return [(of, fit(np.asarray(result), of, exact=row.exact and not to)) for result, of in zip(results, promised)]


def of_compared(x, dtype):
    """Returns the dtype of a compared value in a row of this dtype."""
    if x.dtype.kind in "biu":
        return x.dtype.name
    return complex_of(dtype) if x.dtype.kind == "c" else real_of(dtype)


def fit(result, dtype, exact):
    """Converts the result to the promised dtype. Raises an error if the conversion loses more than precision."""
    want = own(dtype)
    fits = result.dtype == want if exact else result.dtype.kind == want.kind or result.dtype.kind + want.kind == "fc"
    if not fits:
        raise TypeError(f"a {result.dtype} array where {dtype} is promised")
    return rounded(result, dtype)


# ---- files -----------------------------------------------------------------------------------------------------------


def block(content):
    return struct.pack("<I", len(content)) + content


def text(string):
    return block(string.encode())


def packed(dtype, x, with_elements=True):
    head = struct.pack("<BB", DTYPES.index(dtype), x.ndim) + b"".join(struct.pack("<I", length) for length in x.shape)
    if not with_elements:
        return head + b"\0"
    x = bfloat16_bits(x) if dtype == "bfloat16" else x
    # all NaN get the same bits, because NumPy's bits depend on the machine
    if x.dtype.kind == "f":
        x = np.where(np.isnan(x), np.array(np.nan, x.dtype), x)
    elif x.dtype.kind == "c":
        parts = np.stack([x.real, x.imag], -1)
        x = np.where(np.isnan(parts), np.array(np.nan, parts.dtype), parts)
    return head + b"\1" + np.ascontiguousarray(x).astype(x.dtype.newbyteorder("<")).tobytes()


def packed_row(row, failures):
    blocks = []
    for dtype in row.dtypes:
        for to in row.types:
            content = b""
            for case in row.cases:
                try:
                    results = compute(row, dtype, to, case)
                except Exception as why:
                    if (row.name, dtype, case) not in EXCUSED:
                        failures.append(f"{row.name}, {dtype}, case `{case}`: {type(why).__name__}: {why}")
                    results = []
                content += bytes([len(results)])
                content += b"".join(packed(of, x, not row.shape_only) for of, x in results)
            key = bytes([DTYPES.index(dtype), DTYPES.index(to) if to else 255])
            blocks.append(key + block(content))
    return text(row.signature) + bytes([len(row.cases)]) + b"".join(map(text, row.cases)) + b"".join(blocks)


def check_raises(row, failures):
    """Checks that NumPy refuses the cases in the row's key `raises`."""
    dtype = next((usual for usual in ("float64", "int64") if usual in row.dtypes), row.dtypes[0])
    for case in row.raises:
        try:
            compute(row, dtype, None, case)
            failures.append(f"{row.name}, case `{case}`: NumPy computes what `raises` says it refuses")
        except Exception:
            pass


def packed_rows(rows, failures):
    return b"backends-golden-1\n" + b"".join(block(packed_row(row, failures)) for row in rows)


def packed_samples():
    entries = [text(name) + packed(dtype, x) for dtype in DTYPES for name, x in SAMPLES[dtype].items()]
    return b"backends-samples-1\n" + b"".join(entries)


def show(rows):
    for row in rows:
        print(row.signature)
        for dtype in row.dtypes:
            for to in row.types:
                for case in row.cases:
                    results = compute(row, dtype, to, case)
                    print(f"\n{row.name}({case}) {dtype}{f' to {to}' if to else ''}")
                    print("\n".join(f"{of} {x.shape}\n{x}" for of, x in results))


def main():
    parser = argparse.ArgumentParser(prog="golden.py", description=__doc__.partition("\n")[0])
    parser.add_argument("table", type=Path, help="the rows, as `cargo xtask table --json` writes them")
    parser.add_argument("out", type=Path, help="the folder to write to")
    parser.add_argument("--name", help="name of the one file of another crate's table")
    parser.add_argument("--row", help="shows the results of this row, and writes nothing")
    options = parser.parse_args()
    table = json.loads(options.table.read_text())
    out = options.out

    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    SAMPLES.update((dtype, samples(dtype)) for dtype in DTYPES)
    if set(SAMPLES["int8"]) != set(table["samples"]) or set(INDICES) != set(table["indices"]):
        sys.exit("the samples are not those that backend-macros/op-table/src/samples.rs names")
    every = [Row(keys) for keys in table["rows"]]
    if options.row:
        return show([row for row in every if row.name == options.row] or sys.exit(f"no row `{options.row}`"))

    failures = [f"{row.name}: no cases" for row in every if row.cases is None]
    for row in every:
        check_raises(row, failures)
    rows = [row for row in every if row.cases]
    if options.name:
        files = {options.name: packed_rows(rows, failures)}
    else:
        groups = {group: [row for row in rows if row.group == group] for group in table["groups"]}
        files = {group: packed_rows(members, failures) for group, members in groups.items()}
        files["samples"] = packed_samples()
    if failures:
        print("\n".join(failures), file=sys.stderr)
        sys.exit(f"{len(failures)} results could not be computed; nothing was written")
    out.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (out / f"{name}.golden").write_bytes(content)
    size = sum(map(len, files.values()))
    print(f"{len(rows)} rows, {len(files)} files, {size / 1e6:.2f} MB in {out}")


SAMPLES = {}

if __name__ == "__main__":
    main()
