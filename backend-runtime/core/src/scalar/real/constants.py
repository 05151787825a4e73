"""Writes ../float32/constants.rs and ../float64/constants.rs: minimax polynomials, and constants as sums of numbers.

Run this script (with mpmath and numpy installed) after each change, then run rustfmt on the two files.
"""

import os
import struct
import sys

import mpmath as mp
import numpy as np

mp.mp.dps = 60


def solve(f, weight, xs, degree):
    """Returns the coefficients of the polynomial whose weighted errors at `xs` have one size and alternating signs."""
    n = degree + 2
    a, b = mp.matrix(n, n), mp.matrix(n, 1)
    for i, x in enumerate(xs):
        for j in range(degree + 1):
            a[i, j] = x**j
        a[i, degree + 1] = (-1) ** i / weight(x)
        b[i] = f(x)
    s = mp.lu_solve(a, b)
    return [s[j] for j in range(degree + 1)]


def remez(f, weight, low, high, degree):
    """Minimises max |weight (p - f)| over [low, high]; returns the coefficients, lowest power first, and the error."""
    low, high, n = mp.mpf(low), mp.mpf(high), degree + 2
    points = 40 * n
    chebyshev = lambda i, n: (low + high) / 2 - (high - low) / 2 * mp.cos(mp.pi * i / n)
    xs = [chebyshev(i, n - 1) for i in range(n)]
    grid = [chebyshev(i, points) for i in range(points + 1)]
    values, weights = [f(x) for x in grid], [weight(x) for x in grid]
    for _ in range(12):
        c = solve(f, weight, xs, degree)
        errors = [w * (mp.polyval(c[::-1], x) - v) for x, v, w in zip(grid, values, weights)]
        # the position of the largest error between two changes of sign
        extremes, i = [], 0
        while i < len(grid):
            j = best = i
            while j < len(grid) and (errors[j] >= 0) == (errors[i] >= 0):
                best = j if abs(errors[j]) > abs(errors[best]) else best
                j += 1
            extremes.append(best)
            i = j
        while len(extremes) > n:
            extremes.pop(0 if abs(errors[extremes[0]]) < abs(errors[extremes[-1]]) else -1)
        sizes = [abs(errors[i]) for i in extremes]
        if len(extremes) < n or max(sizes) < min(sizes) * mp.mpf("1.02"):
            break
        xs = [grid[i] for i in extremes]
    return c, max(abs(e) for e in errors)


class Format:
    def __init__(self, name, digits, exponent):
        self.name, self.digits, self.exponent, self.lines = name, digits, exponent, []

    def round(self, x):
        """Rounds `x` to the nearest number of the format; `x` must be in the range of normal numbers."""
        if x == 0:
            return mp.mpf(0)
        with mp.workprec(self.digits):
            return +mp.mpf(x)

    def text(self, x):
        return repr(float(x)) if self.digits == 53 else str(np.float32(float(x)))

    def poly(self, name, doc, f, weight, low, high, degree, fixed=0, words=1):
        """Writes a polynomial whose `fixed` lowest coefficients are rounded before the other coefficients are fitted.

        With `words` = 2, the first coefficient is written separately, as a sum of two constants.
        """
        done = []
        for k in range(fixed + 1):
            rest = lambda x: (f(x) - mp.polyval(done[::-1], x) if done else f(x)) / x ** len(done)
            c, e = remez(rest, lambda x: weight(x) * x ** len(done), low or high * mp.mpf("1e-9"), high, degree - k)
            if k < fixed:
                done.append(self.round(c[0]))
        c = done + [v if words == 2 and i == 0 else self.round(v) for i, v in enumerate(c)]
        print(f"{self.name} {name}: 2^{float(mp.log(e, 2)):.1f}", file=sys.stderr)
        if words == 2:
            self.words(f"{name}_FIRST {name}_FIRST_LOW", doc + "\n/// This constant is the first coefficient.", c[0])
            c, doc = [self.round(v) for v in c[1:]], doc + "\n/// The array has the other coefficients."
        body = "".join(f"    {self.text(v)},\n" for v in c)
        self.lines.append(f"/// {doc}\npub const {name}: [{self.name}; {len(c)}] = [\n{body}];\n")

    def number(self, name, doc, x):
        self.lines.append(f"/// {doc}\npub const {name}: {self.name} = {self.text(x)};\n")

    def words(self, names, doc, x, bits=None):
        """Writes x as a sum of numbers, one for each name. The first number has at most `bits` bits."""
        for i, name in enumerate(names.split()):
            word = self.round(x)
            if i == 0 and bits:
                with mp.workprec(bits):
                    word = +mp.mpf(x)
            self.number(name, doc if i == 0 else "Low-order part of the constant above.", word)
            x -= word

    def bits(self, name, doc, x):
        code, kind = (("<d", "<Q"), "u64") if self.digits == 53 else (("<f", "<I"), "u32")
        (value,) = struct.unpack(code[1], struct.pack(code[0], float(x)))
        self.lines.append(f"/// {doc}\npub const {name}: {kind} = {value:#x};\n")


def odd(f, first):
    """Returns (f(x) - x) / x^3 as a function of z = x^2; `first` is its value at 0."""
    return lambda z: (f(mp.sqrt(z)) - mp.sqrt(z)) / mp.sqrt(z) ** 3 if z > 1e-16 else mp.mpf(first)


def write(t, degrees):
    d64 = t.digits == 53
    small = mp.mpf("1e-10")
    by_z, by_z2 = (lambda z: z + small), (lambda z: z * z + small)
    ln2 = mp.log(2)
    # exponentials
    t.number("ROUNDER", "Adding and then subtracting this constant rounds to an integer, which is in the low bits of the sum.", 1.5 * 2 ** (t.digits - 1))
    t.words("LN_2_HIGH LN_2_LOW", "ln 2, rounded to so few bits that its product with any exponent is exact.", ln2, t.digits - 11 if d64 else t.digits - 9)
    t.number("EXP_MIN", "`exp(x)` is 0 if `x` is at or below this limit.", -746 if d64 else -104)
    t.number("EXP_MAX", "`exp(x)` is infinite if `x` is at or above this limit.", 710 if d64 else 89)
    t.number("SINH_MAX", "`exp(x) / 2` is infinite if `x` is at or above this limit.", 711 if d64 else 90)
    t.poly("EXP", "Polynomial for `(e^r - 1 - r - r^2 / 2) / r^3` in powers of `r`, for `|r| <= ln(2) / 2`.",
        lambda r: (mp.exp(r) - 1 - r - r * r / 2) / r**3 if abs(r) > 1e-8 else mp.mpf(1) / 6,
        lambda r: r * r + small, -ln2 / 2 * 1.001, ln2 / 2 * 1.001, degrees["EXP"])
    t.poly("SINH", "Polynomial for `(sinh(x) - x) / x^3` in powers of `x^2`, for `|x| <= 1`.", odd(mp.sinh, "1/6"), by_z, 0, 1, degrees["SINH"], 2)
    t.poly("TANH", "Polynomial for `(tanh(x) - x) / x^3` in powers of `x^2`, for `|x| <= 5/8`.", odd(mp.tanh, "-1/3"), by_z, 0, mp.mpf(25) / 64, degrees["TANH"], 1)
    # logarithms
    zmax = (mp.sqrt(2) - 1) ** 2 / (mp.sqrt(2) + 1) ** 2 * 1.001
    series = lambda z: (mp.log1p(mp.sqrt(z)) - mp.log1p(-mp.sqrt(z)) - 2 * mp.sqrt(z)) / mp.sqrt(z) ** 3 if z > 1e-16 else mp.mpf(2) / 3
    t.bits("HALF_ROOT", "Bits of sqrt(1/2), the smallest mantissa to which the logarithms reduce their argument.", mp.sqrt(mp.mpf(1) / 2))
    t.poly("LOG", "Polynomial for `(log(m) - 2 s) / s^3` in powers of `s^2`, with `m = (1 + s) / (1 - s)` in [sqrt(1/2), sqrt(2)].", series, by_z, 0, zmax, degrees["LOG"], 2)
    t.poly("LOG_NEXT", "Polynomial for `(f - 2/3) / s^2` in powers of `s^2`, where `f = (log(m) - 2 s) / s^3` is the function that `LOG`\n/// approximates. It is for logarithms that are computed as a sum of two numbers.",
        lambda z: (series(z) - mp.mpf(2) / 3) / z if z > 1e-10 else mp.mpf(2) / 5, lambda z: z * z + mp.mpf("1e-14"), 0, zmax, degrees["LOG_NEXT"])
    t.words("TWO_THIRDS TWO_THIRDS_LOW", "2/3.", mp.mpf(2) / 3)
    t.number("LOG2_E_LOW", "Low-order part of `LOG2_E`.", 1 / ln2 - t.round(1 / ln2))
    t.number("LOG10_E_LOW", "Low-order part of `LOG10_E`.", 1 / mp.log(10) - t.round(1 / mp.log(10)))
    t.words("LOG10_2_HIGH LOG10_2_LOW", "log10(2), rounded to so few bits that its product with any exponent is exact.", mp.log10(2), t.digits - 11 if d64 else t.digits - 9)
    # the cube root
    t.number("CBRT_2", "The cube root of 2.", mp.cbrt(2))
    t.poly("INVERSE_CBRT", "Polynomial for a first approximation of `(1 + f)^(-1/3)` in powers of `f`, for `1 + f` in [sqrt(1/2), sqrt(2)].", lambda f: 1 / mp.cbrt(1 + f), lambda f: mp.cbrt(1 + f),
        mp.sqrt(mp.mpf(1) / 2) * mp.mpf("0.9999") - 1, mp.sqrt(2) * mp.mpf("1.0001") - 1, degrees["INVERSE_CBRT"])
    # circular functions
    t.number("FAR", "From this magnitude on, sines and cosines need more bits of pi/2 than `FRAC_PI_2` and its two low-order parts hold.", 2**30 if d64 else 2**17)
    t.number("FRAC_PI_2_LOW", "Low-order part of `FRAC_PI_2`.", mp.pi / 2 - t.round(mp.pi / 2))
    rest = mp.pi / 2 - t.round(mp.pi / 2)
    t.number("FRAC_PI_2_LOWEST", "Low-order part of the constant above.", rest - t.round(rest))
    t.number("PI_LOW", "Low-order part of `PI`.", 2 * rest)
    if d64:
        with mp.workprec(1400):
            words = [f"    {int(mp.floor(2 / mp.pi * mp.mpf(2) ** (64 * (i + 1)))) % 2**64:#018x},\n" for i in range(20)]
        t.lines.append(f"/// Bits of 2/pi. The highest bit of the first word has the weight 1/2.\npub const FRAC_2_PI_BITS: [u64; 20] = [\n{''.join(words)}];\n")
    quarter = (mp.pi / 4 * mp.mpf("1.01")) ** 2
    t.poly("SIN", "Polynomial for `(sin(r) - r) / r^3` in powers of `r^2`, for `|r| <= pi/4`.", odd(mp.sin, "-1/6"), by_z, 0, quarter, degrees["SIN"], 2)
    t.poly("COS", "Polynomial for `(cos(r) - 1 + r^2 / 2) / r^4` in powers of `r^2`, for `|r| <= pi/4`.",
        lambda z: (mp.cos(mp.sqrt(z)) - 1 + z / 2) / z**2 if z > 1e-12 else mp.mpf(1) / 24, by_z2, 0, quarter, degrees["COS"], 2)
    t.poly("ASIN", "Polynomial for `(asin(x) - x) / x^3` in powers of `x^2`, for `|x| <= 1/2`.", odd(mp.asin, "1/6"), by_z, 0, mp.mpf("0.2501"), degrees["ASIN"], 2)
    t.poly("ATAN", "Polynomial for `(atan(t) - t) / t^3` in powers of `t^2`, for `|t| <= 7/16`.", odd(mp.atan, "-1/3"), by_z, 0, mp.mpf("0.1915"), degrees["ATAN"], 2)
    t.poly("ATAN_NEXT", "Polynomial for `(f + 1/3) / t^2` in powers of `t^2`, where `f = (atan(t) - t) / t^3` is the function that `ATAN`\n/// approximates. It is for angles that are computed as a sum of two numbers.",
        lambda z: (odd(mp.atan, "-1/3")(z) + mp.mpf(1) / 3) / z if z > 1e-10 else mp.mpf(1) / 5, lambda z: z * z + mp.mpf("1e-14"), 0, mp.mpf("0.1915"), degrees["ATAN_NEXT"])
    t.words("THIRD THIRD_LOW", "1/3.", mp.mpf(1) / 3)
    t.words("ATAN_1_2 ATAN_1_2_LOW", "atan(1/2).", mp.atan(mp.mpf(1) / 2))
    t.words("ATAN_3_2 ATAN_3_2_LOW", "atan(3/2).", mp.atan(mp.mpf(3) / 2))
    # the error function
    scaled = lambda x: mp.exp(x * x) * mp.erfc(x)
    root = lambda z: mp.erf(mp.sqrt(z)) / mp.sqrt(z) if z > 1e-20 else 2 / mp.sqrt(mp.pi)
    t.poly("ERF", "Polynomial for `erf(x) / x - 1` in powers of `x^2`, for `|x| <= 1`.", lambda z: root(z) - 1, lambda z: 1 / root(z), 0, 1, degrees["ERF"])
    one, t.erf_max = mp.mpf(1), 6 if d64 else 4
    middle = mp.mpf("2.5") if d64 else mp.mpf(2)
    at = lambda u, middle: middle * (1 + u) / (1 - u)
    t.number("ERF_MAX", "`erf(x)` is 1 if `x` is at or above this limit.", t.erf_max)
    t.number("ERF_MIDDLE", "The constant M of the polynomial `ERF_TAIL`.", middle)
    t.poly("ERF_TAIL", "Polynomial for `exp(x^2) erfc(x) (x + M)` in powers of `(x - M) / (x + M)`, for `x` from 1 to `ERF_MAX`.\n/// Its coefficients minimise the absolute error of `erfc(x)`.",
        lambda u: scaled(at(u, middle)) * (at(u, middle) + middle), lambda u: mp.exp(-at(u, middle) ** 2) / (at(u, middle) + middle),
        (one - middle) / (one + middle), (t.erf_max - middle) / (t.erf_max + middle), degrees["ERF_TAIL"])
    top = mp.mpf(28) if d64 else mp.mpf("10.5")
    wide = mp.mpf(4) if d64 else mp.mpf(3)
    t.number("ERFC_MAX", "`erfc(x)` is 0 if `x` is at or above this limit.", mp.mpf("27.3") if d64 else mp.mpf("10.15"))
    t.number("ERFC_MIDDLE", "The constant M of the polynomial `ERFC`.", wide)
    low = (mp.mpf("0.49") - wide) / (mp.mpf("0.49") + wide)
    f = lambda u: scaled(at(u, wide)) * (2 * at(u, wide) + 1)
    t.poly("ERFC", "Polynomial for `exp(x^2) erfc(x) (2 x + 1)` in powers of `(x - M) / (x + M)`, for `x` from 1/2 to `ERFC_MAX`.", f, lambda u: 1 / f(u), low, (top - wide) / (top + wide), degrees["ERFC"], words=2)
    # powers of 2 that keep squares and products in range
    t.number("SQUARE_HUGE", "The sum of the squares of two numbers above this limit may overflow.", mp.mpf(2) ** (510 if d64 else 62))
    t.number("SQUARE_DOWN", "Numbers above `SQUARE_HUGE` are multiplied by this factor before they are squared.", mp.mpf(2) ** (-600 if d64 else -70))
    t.number("SQUARE_TINY", "The square of a number below this limit is so small that it may lose bits.", mp.mpf(2) ** (-450 if d64 else -50))
    t.number("SQUARE_UP", "Numbers below `SQUARE_TINY` are multiplied by this factor before they are squared.", mp.mpf(2) ** (600 if d64 else 100))
    t.number("ANGLE_HUGE", "A coordinate above this limit is scaled down, because products in `atan2` and `log` might overflow otherwise.", mp.mpf(2) ** (1000 if d64 else 120))
    t.number("ANGLE_DOWN", "Factor for both coordinates if one exceeds `ANGLE_HUGE`. If the smaller one then loses bits, the ratio is 0 anyway.", mp.mpf(2) ** (-100 if d64 else -24))
    t.number("ANGLE_TINY", "If both coordinates are below this limit, they are scaled up, so that `atan2` and `log` lose no bits.", mp.mpf(2) ** (-900 if d64 else -90))
    t.number("ANGLE_UP", "Factor for both coordinates if both are below `ANGLE_TINY`.", mp.mpf(2) ** (100 if d64 else 60))

    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "float" + t.name[1:], "constants.rs")
    with open(path, "w") as file:
        file.write(f"//! Constants of the formulas in `real`, for `{t.name}`. Generated by `real/constants.py`.\n//!\n//! Each minimax polynomial is an array of its coefficients, lowest power first.\n\n")
        file.write(f"pub use std::{t.name}::consts::{{FRAC_2_PI, FRAC_PI_2, FRAC_PI_4, LN_2, LOG2_E, LOG10_E, PI}};\n\n")
        file.write("\n".join(t.lines))


if __name__ == "__main__":
    write(Format("f64", 53, 11), {"EXP": 9, "SINH": 7, "TANH": 10, "LOG": 6, "LOG_NEXT": 7, "INVERSE_CBRT": 6, "SIN": 5, "COS": 5, "ASIN": 11, "ATAN": 10, "ATAN_NEXT": 11, "ERF": 12, "ERF_TAIL": 11, "ERFC": 22})
    write(Format("f32", 24, 8), {"EXP": 4, "SINH": 3, "TANH": 4, "LOG": 2, "LOG_NEXT": 2, "INVERSE_CBRT": 3, "SIN": 2, "COS": 2, "ASIN": 4, "ATAN": 4, "ATAN_NEXT": 4, "ERF": 6, "ERF_TAIL": 5, "ERFC": 9})
