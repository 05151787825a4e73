"""Computes the reference gradients of the tests by PyTorch's autograd: run by `cargo xtask golden-torch`.

The script computes all cases, in float64 and complex128, of the rows that name libtorch's op (`aten`) and of the rows in
ROWS. The lines of its output have one of two kinds:

- `at`: for each input, the inner product of the gradient and a direction, at random points without kinks. Points and
  directions are the same as in the tests.
- `ties`, for the first case of elementwise rows and reductions: the gradient of each input at elements -1, 0 and 1,
  where elements are equal or at the ends of ranges.

Gradients of complex numbers are conjugated, as in the results of `vjp`.
"""

import re
import sys
import tomllib
import json
from pathlib import Path

import golden
import numpy as np
import torch

DTYPES = {"float64": torch.float64, "complex128": torch.complex128}

def axes(x, axis):
    """Returns all axes if `axis` is None, because PyTorch's functions treat None differently."""
    if axis is None:
        return tuple(range(x.ndim))
    return tuple(axis) if isinstance(axis, tuple) else (axis,)


def flat(x, axis):
    return (x.reshape(-1), 0) if axis is None else (x, axis)


def products(x, axis, keepdims):
    for k in sorted((a % max(x.ndim, 1) for a in axes(x, axis)), reverse=True):
        x = torch.prod(x, k, keepdim=keepdims)
    return x


def is_last(x, axis):
    """Returns whether the axes are the last axes, in order."""
    axes = np.atleast_1d(range(x.ndim) if axis is None else axis)
    return x.ndim > 0 and list(axes % x.ndim) == list(range(x.ndim - len(axes), x.ndim))


def reduced(reduction):
    return "none" if reduction == "each" else reduction


# For each row, PyTorch's expression with the row's parameters.
ROWS = {
    "abs": "torch.abs(x)", "sign": "torch.sgn(x)", "real": "torch.real(x) if x.is_complex() else x * 1", "imag": "torch.imag(x)",
    "conj": "torch.conj(x) * 1", "angle": "torch.angle(x)", "complex": "torch.complex(re, im)", "pow": "torch.pow(x1, x2)",
    "remainder": "torch.remainder(x1, x2)", "reciprocal": "torch.reciprocal(x)", "acos": "torch.acos(x)", "rsqrt": "torch.rsqrt(x)",
    "expm1": "torch.expm1(x)", "log1p": "torch.log1p(x)", "clip": "torch.clamp(x, low, high)", "softplus": "torch.nn.functional.softplus(x, beta)",
    "gelu": "torch.nn.functional.gelu(x, approximate='tanh' if approximate else 'none')", "sinc": "torch.sinc(x)", "logit": "torch.logit(x)", "elu": "torch.nn.functional.elu(x, alpha)", "leaky_relu": "torch.nn.functional.leaky_relu(x, negative_slope)",
    "heaviside": "torch.heaviside(x1, x2)",
    "sum": "torch.sum(x, axes(x, axis), keepdim=keepdims)", "mean": "torch.mean(x, axes(x, axis), keepdim=keepdims)",
    "prod": "products(x, axis, keepdims)",
    "max": "torch.amax(x, axes(x, axis), keepdim=keepdims)", "min": "torch.amin(x, axes(x, axis), keepdim=keepdims)",
    "var": "torch.var(x, axes(x, axis), correction=correction, keepdim=keepdims)",
    "std": "torch.std(x, axes(x, axis), correction=correction, keepdim=keepdims)",
    "logsumexp": "torch.logsumexp(x, axes(x, axis), keepdim=keepdims)", "softmax": "torch.softmax(x, axis) if np.isscalar(axis) else None",
    "log_softmax": "torch.log_softmax(x, axis) if np.isscalar(axis) else None",
    "cumulative_sum": "torch.cumsum(*flat(x, axis)) if not include_initial else None",
    "cumulative_prod": "torch.cumprod(*flat(x, axis)) if not include_initial else None",
    "sort": "torch.sort(x, dim=axis, descending=descending).values", "tril": "torch.tril(x, k)", "triu": "torch.triu(x, k)",
    "matmul": "torch.matmul(x1, x2)", "outer": "torch.outer(x1, x2)", "trace": "torch.trace(x) if x.ndim == 2 and not offset else None",
    "vecdot": "torch.linalg.vecdot(x1, x2, dim=axis)",
    "diagonal": "torch.diagonal(x, offset, axis1, axis2)", "det": "torch.linalg.det(x)", "inv": "torch.linalg.inv(x)",
    "solve": "torch.linalg.solve(x1, x2)", "cholesky": "torch.linalg.cholesky(x, upper=upper)", "svdvals": "torch.linalg.svdvals(x)",
    "eigvalsh": "torch.linalg.eigvalsh(x)", "matrix_exp": "torch.linalg.matrix_exp(x)", "pinv": "torch.linalg.pinv(x, rtol=rtol)",
    "matrix_power": "torch.linalg.matrix_power(x, n)",
    "fft": "torch.fft.fft(x, n, axis, norm)", "ifft": "torch.fft.ifft(x, n, axis, norm)", "rfft": "torch.fft.rfft(x, n, axis, norm)",
    "irfft": "torch.fft.irfft(x, n, axis, norm)", "hfft": "torch.fft.hfft(x, n, axis, norm)", "ihfft": "torch.fft.ihfft(x, n, axis, norm)",
    "fftshift": "torch.fft.fftshift(x, axes_)", "ifftshift": "torch.fft.ifftshift(x, axes_)",
    "flip": "torch.flip(x, axes(x, axis))", "roll": "torch.roll(x, shift, axis) if axis is not None or np.isscalar(shift) else None",
    "layer_norm": "torch.nn.functional.layer_norm(x, x.shape[x.ndim - len(axes(x, axis)) :], weight, bias, eps) if is_last(x, axis) else None",
    "rms_norm": "torch.nn.functional.rms_norm(x, x.shape[x.ndim - len(axes(x, axis)) :], weight, eps) if is_last(x, axis) else None",
    "group_norm": "torch.nn.functional.group_norm(x, groups, weight, bias, eps)",
    "mse_loss": "torch.nn.functional.mse_loss(*torch.broadcast_tensors(x, target), reduction=reduced(reduction))",
    "huber_loss": "torch.nn.functional.huber_loss(*torch.broadcast_tensors(x, target), reduction=reduced(reduction), delta=delta)",
    "nll_loss": "torch.nn.functional.nll_loss(x, target, weight, ignore_index=ignore_index, reduction=reduced(reduction))",
    "cross_entropy": "torch.nn.functional.cross_entropy(x, target, weight, ignore_index=ignore_index, label_smoothing=label_smoothing, reduction=reduced(reduction))",
    "scaled_dot_product_attention": "torch.nn.functional.scaled_dot_product_attention(query, key, value, mask, is_causal=causal, scale=scale) if bias is None else torch.nn.functional.scaled_dot_product_attention(query, key, value, bias, scale=scale) if mask is None else None",
    "cdist": "torch.cdist(x1, x2, p)",
    "where": "torch.where(condition, x1, x2)", "permute_dims": "torch.permute(x, axes_)", "squeeze": "torch.squeeze(x, axis)",
}  # fmt: skip


# Rows that are left out because PyTorch's gradient differs by convention, with a case if only this case differs.
DIFFER = {
    ("at", "hard_sigmoid"): "PyTorch multiplies by 1/6 in float32",
    ("at", "eigvalsh", "sq"): "the matrix is not symmetric; our gradient is for the triangle that the op reads",
    ("at", "eigvalsh", "sqt"): "the same",
    ("at", "eigvalsh", "tsq"): "the same",
    ("at", "pinv", "mrev, rtol = 0.3"): "PyTorch's formula is for a matrix of low rank, not for a matrix whose small singular values are cut off",
    ("ties", "acosh"): "outside the domain, PyTorch has an infinity, and ours is NaN",
    ("ties", "entr"): "outside the domain, and at its end, PyTorch has NaN and infinity, and ours is 0",
    ("ties", "logit"): "outside the domain, PyTorch has infinities, and ours are values of the formula",
    ("ties", "atan2"): "at the origin, PyTorch has 0, and ours is NaN",
    ("ties", "hypot"): "at the origin, PyTorch has NaN, and ours is 0",
    ("ties", "xlogy"): "at 0, ours is the value of the derivative's expression",
    ("ties", "xlog1py"): "the same",
    ("ties", "clip"): "on a bound, PyTorch has 0 or 1, and ours is divided among the array and the bound",
    ("ties", "fmax"): "of two equal elements, PyTorch's first gets the whole gradient; in ours, each gets half, as in `maximum`",
    ("ties", "fmin"): "the same",
    ("ties", "hard_sigmoid"): "PyTorch multiplies by 1/6 in float32",
    ("ties", "hard_tanh"): "on a bound, PyTorch has 0, and ours is the slope inside",
    ("ties", "relu"): "at 0, PyTorch has the slope below 0, and ours is the slope above 0",
    ("ties", "relu6"): "the same",
    ("ties", "leaky_relu"): "the same",
}  # fmt: skip


class Numbers:
    """Pseudorandom numbers in [0, 1) that depend on a name. The tests draw the same numbers."""

    def __init__(self, name):
        state = 0xCBF29CE484222325
        for byte in name.encode():
            state = ((state ^ byte) * 0x100000001B3) % 2**64
        self.state = state

    def next(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) % 2**64
        z = self.state
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
        return ((z ^ (z >> 31)) >> 11) / 2**53

    def array(self, shape, low, high):
        count = int(np.prod(shape))
        values = [complex(low + (high - low) * self.next(), low + (high - low) * self.next()) for _ in range(count)]
        return np.array(values, np.complex128).reshape(shape)


def like(sample, x, is_point):
    """Makes x symmetric or increasing if the sample is, as in the tests."""
    shape = sample.shape
    if len(shape) >= 2 and shape[-1] == shape[-2] > 1:
        turned = np.conj(np.swapaxes(sample, -1, -2))
        if np.all(np.abs(sample - turned) <= 1e-12 * (np.abs(sample) + np.abs(turned))):
            x = (x + np.conj(np.swapaxes(x, -1, -2))) * 0.5
            if is_point:
                k = np.arange(shape[-1])
                x[..., k, k] += 2.0 * (1 + k)
    if len(shape) == 1 and shape[0] > 1 and is_point and np.all(np.real(sample[:-1]) < np.real(sample[1:])):
        x = x[np.argsort(np.real(x), kind="stable")]
    return x


def gradients(row, text, dtype, expression, domain, ties):
    """Returns the gradient and the direction for each input, or `None` if PyTorch has no gradient."""
    numbers = Numbers(f"{row.name} {text}")
    inputs = []

    def hold(x, of):
        x = np.asarray(x)
        if all(x is not sample for sample in golden.SAMPLES[of].values()):
            return x  # a number of the case
        if of not in DTYPES:
            return torch.from_numpy(x.copy())
        low, high = domain
        at, along = (numbers.array(x.shape, low, high), numbers.array(x.shape, -1, 1))
        if of == "float64":
            at, along = at.real + 0j, along.real + 0j
        at, along = like(x, at, True), like(x, along, False)
        if ties:
            third = lambda part: np.floor((part - low) / (high - low) * 3) - 1
            at = third(at.real) + (1j * third(at.imag) if of == "complex128" else 0)
        tensor = torch.from_numpy(np.array(at.real if of == "float64" else at)).requires_grad_()
        inputs.append((tensor, along))
        return tensor

    names = golden.arguments(row, text, dtype, hold)
    names["axes_"] = names.get("axes")
    result = eval(expression, globals() | {"axes": axes} | {k: v for k, v in names.items() if k != "axes"})
    if result is None or not inputs:
        return None
    loss = 0
    for k, y in enumerate([result] if isinstance(result, torch.Tensor) else result):
        u = Numbers(f"{row.name} {text} {k}").array(tuple(y.shape), -1, 1)
        halves = lambda part: np.sign(part) * np.floor(np.abs(part) * 64 + 0.5) / 64
        u = halves(u.real) + (1j * halves(u.imag) if y.is_complex() else 0)
        loss = loss + (torch.from_numpy(np.array(u)) * y).real.sum()
    if not loss.requires_grad:
        return None
    found = torch.autograd.grad(loss, [x for x, _ in inputs], allow_unused=True)
    zero = lambda g, x: np.zeros(x.shape) if g is None else np.conj(g.resolve_conj().numpy())
    return [(zero(g, x), along) for g, (x, along) in zip(found, inputs)]


def aten(text):
    """Converts the text of a libtorch call, such as `add.Tensor(x1, x2)`, to a call in Python."""
    name, overload, args = re.fullmatch(r"(\w+)(?:\.(\w+))?\((.*)\)", text).groups()
    return f"torch.ops.aten.{name}.{overload or 'default'}({args})"


def main():
    table, ops, out = (Path(arg) for arg in sys.argv[1:])
    golden.SAMPLES.update({dtype: golden.samples(dtype) for dtype in golden.DTYPES})
    known = tomllib.loads(ops.read_text())["op"]
    lines, left_out = [], []
    for row in map(golden.Row, json.loads(table.read_text())["rows"]):
        keys = known.get(row.name, {})
        column = keys.get("torch", {})
        expression = ROWS.get(row.name) or (aten(column["aten"]) if isinstance(column, dict) and "aten" in column else None)
        if expression is None or row.compared or row.cases is None:
            continue
        domain = keys.get("domain", [0.1, 0.9])
        for dtype in DTYPES:
            if dtype not in row.dtypes:
                continue
            for number, text in enumerate(row.cases):
                try:
                    found = gradients(row, text, dtype, expression, domain, False)
                    ties = None
                    if number == 0 and dtype == "float64" and row.group in ("elementwise", "reduction", "special"):
                        ties = gradients(row, text, dtype, expression, domain, True)
                except Exception as why:
                    left_out.append(f"{row.name}({text}) in {dtype}: {str(why).splitlines()[0]}")
                    continue
                # if PyTorch's gradients are all zero, as for `floor`, the row may have no gradient at all
                if found is None or not any(np.any(g) for g, _ in found):
                    continue
                differs = lambda kind: (kind, row.name) in DIFFER or (kind, row.name, text) in DIFFER
                paired = [np.sum(g * along).real for g, along in found]
                # a NaN is not compared: it comes from the derivative of an unused branch
                if not differs("at") and np.all(np.isfinite(paired)):
                    lines.append(f"at|{row.name}|{text}|{dtype}|{' '.join(f'{x:.15g}' for x in paired)}")
                if ties and not differs("ties"):
                    values = ";".join(" ".join(f"{x:.12g}" for x in np.real(g).ravel()) for g, _ in ties)
                    lines.append(f"ties|{row.name}|{text}|{dtype}|{values}")
    header = [
        f"# Gradients by PyTorch {torch.__version__.split('+')[0]}: made by `cargo xtask golden-torch`.",
        "# at|row|case|dtype|for each input, the inner product of the gradient and a direction",
        "# ties|row|case|dtype|for each input, the gradient at elements -1, 0 and 1",
        "# These lines are left out, because conventions differ:",
        *(f"# {' '.join(key)}: {why}" for key, why in DIFFER.items()),
    ]
    out.write_text("\n".join(header + lines) + "\n")
    print(f"{len(lines)} lines; left out:", *left_out, sep="\n")


if __name__ == "__main__":
    main()
