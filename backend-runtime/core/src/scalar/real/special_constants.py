"""Writes ../float32/special.rs, ../float64/special.rs and ../../cuda/kernels/polynomials.cuh: minimax polynomials of special functions.

Run this script (with mpmath and numpy installed) after each change, then run rustfmt on the Rust files. mpmath computes the
functions; the expansions for large arguments are in chapters 5, 7 and 10 of the NIST Digital Library of Mathematical
Functions.
"""

import os

import mpmath as mp
from constants import Format

mp.mp.dps = 45
HERE = os.path.dirname(os.path.abspath(__file__))


def near(f, x, at, limit):
    """Returns f(x), or `limit` if x is within 1e-20 of `at`."""
    return limit if abs(x - at) < mp.mpf("1e-20") else f(x)


# ---- gamma functions -------------------------------------------------------------------------------------------------

ROOT = mp.findroot(lambda x: mp.psi(0, x), 1.46)


def gamma(t):
    return near(lambda t: (mp.gamma(2 + t) - 1) / t, t, 0, mp.psi(0, 2))


def lgamma(t):
    return near(lambda t: mp.loggamma(2 + t) / t, t, 0, mp.psi(0, 2))


def stirling(z):
    x = 1 / mp.sqrt(z)
    return mp.mpf(1) / 12 if z < mp.mpf("1e-13") else (mp.loggamma(x) - (x - 0.5) * mp.log(x) + x - mp.log(2 * mp.pi) / 2) * x


def digamma(t):
    return near(lambda x: mp.psi(0, x) / (x - ROOT), t + mp.mpf("1.625"), ROOT, mp.psi(1, ROOT))


def digamma_tail(z):
    x = 1 / mp.sqrt(z)
    return mp.mpf(1) / 12 if z < mp.mpf("1e-10") else (mp.log(x) - 0.5 / x - mp.psi(0, x)) / z


# ---- Bessel functions ------------------------------------------------------------------------------------------------

ROOTS = {order: [mp.besseljzero(order, k) for k in (1, 2)] for order in (0, 1)}


ORDINALS = ["First", "Second", "Third", "Fourth"]


def bessel_near(order, next):
    """Divides the function by the factors of its first roots, and of the next roots, given by their squares.

    The quotient varies little.
    """
    def f(u):
        x = mp.sqrt(32 * (1 + u))
        # a root, or 0, is replaced by a number so close to it that the value is near enough to the limit
        x = x + mp.mpf("1e-18") if x == 0 or min(abs(x - r) for r in ROOTS[order]) < mp.mpf("1e-19") else x
        value = mp.besselj(order, x) / x**order
        for r in ROOTS[order]:
            value /= (x - r) * (x + r)
        for square in next:
            value /= square - x * x
        return value

    return f


def modulus(order):
    """Returns the factors of the cosine and of the sine for x = 8 / sqrt(y). The factor of the sine is multiplied by -x."""
    def parts(y):
        x = 8 / mp.sqrt(y)
        angle, scale = x - mp.pi * (2 * order + 1) / 4, mp.sqrt(mp.pi * x / 2)
        j, y, cos, sin = mp.besselj(order, x), mp.bessely(order, x), mp.cos(angle), mp.sin(angle)
        return scale * (j * cos + y * sin), scale * (y * cos - j * sin) * x

    return parts


def modified_near(order):
    return lambda w: near(lambda w: mp.besseli(order, 8 * mp.sqrt(w)) / (8 * mp.sqrt(w)) ** order, w, 0, mp.mpf(1) / (1 + order))


def modified_far(order):
    def f(v):
        if v < mp.mpf("1e-3"):
            # the asymptotic series; ten terms are more than enough
            term = total = 1 / mp.sqrt(2 * mp.pi)
            for k in range(1, 11):
                term *= -(4 * order**2 - (2 * k - 1) ** 2) * v / (64 * k)
                total += term
            return total
        x = 8 / v
        return mp.besseli(order, x) * mp.exp(-x) * mp.sqrt(x)

    return f


# ---- the inverse of the error function -------------------------------------------------------------------------------


def inverse(w):
    """Returns erfinv(x) / x as a function of w = -log(1 - x^2)."""
    if w < mp.mpf("1e-12"):
        return mp.sqrt(mp.pi) / 2
    with mp.workdps(60):
        x = mp.sqrt(-mp.expm1(-w))
        if w < 6:
            return mp.erfinv(x) / x
        rest = mp.log(mp.exp(-w) / (1 + x))
        guess = mp.sqrt(-rest - mp.log(mp.pi * -rest) / 2)
        return mp.findroot(lambda t: mp.log(mp.erfc(t)) - rest, guess) / x


# ---- Temme's expansion of the incomplete gamma functions ---------------------------------------------------------------


def temme(terms, degree):
    """Returns the coefficients of 8.12.12 of the Digital Library: for each power of 1 / a, a list for the powers of eta."""
    count = degree + 2 * terms + 4
    # the coefficients of x / a - 1 in powers of eta, and of eta / (x / a - 1)
    mu = [mp.mpf(0), mp.mpf(1)]
    for n in range(2, count + 1):
        mu.append((mu[n - 1] - sum(mu[i] * (n + 1 - i) * mu[n + 1 - i] for i in range(2, n))) / (n + 1))
    inverse = [mp.mpf(1)]
    for n in range(1, count):
        inverse.append(-sum(mu[i + 1] * inverse[n - i] for i in range(1, n + 1)))
    # the quotient of gamma(a) and the first term of Stirling's formula, in powers of 1 / a
    log = [mp.bernoulli(n + 1) / (n * (n + 1)) if n % 2 else mp.mpf(0) for n in range(1, terms + 1)]
    g = [mp.mpf(1)]
    for n in range(1, terms + 1):
        g.append(sum(k * log[k - 1] * g[n - k] for k in range(1, n + 1)) / n)
    c = [inverse[1:]]
    for k in range(1, terms):
        before = c[-1]
        quotient = [(n + 1) * before[n + 1] + (-1) ** k * g[k] * inverse[n] for n in range(len(before) - 1)]
        c.append(quotient[1:])
    return [row[: degree + 1] for row in c]


def write_temme():
    rows = temme(8, 19)
    nested = ",\n".join("    [" + ", ".join(repr(float(v)) for v in row) + "]" for row in rows)
    with open(os.path.join(HERE, "..", "float64", "temme.rs"), "w") as file:
        file.write("//! Temme's expansion of the incomplete gamma functions. Generated by `real/special_constants.py`.\n\n")
        file.write("/// Each row belongs to one power of `1 / a` and has the coefficients of the powers of eta. The lowest powers are first.\n")
        file.write(f"pub const TEMME: [[f64; {len(rows[0])}]; {len(rows)}] = [\n{nested},\n];\n")
    steps = []
    for k in reversed(range(len(rows))):
        steps.append(f"    p = {float(rows[k][-1])!r};\n" + "".join(f"    p = fma(p, eta, {float(v)!r});\n" for v in rows[k][-2::-1]))
        steps.append("    sum = fma(sum, inverse, p);\n")
    return "// Temme's expansion: a polynomial in inverse = 1 / a, with coefficients that are polynomials in eta.\ninline double temme(double eta, double inverse) {\n    double p, sum = 0;\n" + "".join(steps) + "    return sum;\n}\n"


# ---- files -----------------------------------------------------------------------------------------------------------


class Both(Format):
    """A `Format` that also writes the polynomials in CUDA C++."""

    def __init__(self, name, digits, exponent):
        super().__init__(name, digits, exponent)
        self.cuda = []

    def fit(self, name, doc, f, weight, low, high, degree, cuda=False):
        before = len(self.lines)
        self.poly(name, doc, f, weight, low, high, degree)
        if cuda:
            coefficients = [line.strip().rstrip(",") for line in self.lines[before].split("\n")[2:-2]]
            steps = [f"    double p = {coefficients[-1]};\n"] + [f"    p = fma(p, x, {c});\n" for c in coefficients[-2::-1]]
            self.cuda.append(f"// {doc.replace('`', '')}\ninline double poly_{name.lower()}(double x) {{\n{''.join(steps)}    return p;\n}}\n")


def write(t, degrees):
    tiny = mp.mpf("1e-12")
    half = mp.mpf("0.5")
    relative = lambda f: lambda x: 1 / f(x)
    t.words("HALF_LN_2_PI HALF_LN_2_PI_LOW", "log(2 pi) / 2.", mp.log(2 * mp.pi) / 2)
    t.number("LN_PI", "log(pi).", mp.log(mp.pi))
    t.number("GAMMA_MAX", "`gamma(x)` is infinite if `x` is at or above this limit.", 172 if t.digits == 53 else 36)
    t.number("GAMMA_MIN", "`gamma(x)` is 0 if `x` is below `-GAMMA_MIN`.", 186 if t.digits == 53 else 44)
    t.number("LGAMMA_MAX", "`log(gamma(x))` is infinite if `x` is at or above this limit.", mp.mpf("2.5563484e305") if t.digits == 53 else mp.mpf("4.0850034e36"))
    t.fit("GAMMA", "Polynomial for `(gamma(2 + t) - 1) / t` in powers of `t`, for `|t| <= 1/2`.", gamma, lambda x: abs(x) + tiny, -half, half, degrees["GAMMA"])
    t.fit("LGAMMA", "Polynomial for `log(gamma(2 + t)) / t` in powers of `t`, for `|t| <= 1/2`.", lgamma, relative(lgamma), -half, half, degrees["LGAMMA"], True)
    t.fit("STIRLING", "Polynomial for `x (log(gamma(x)) - S(x))` in powers of `1 / x^2`, for `x >= 8`, where S is Stirling's formula.", stirling, mp.sqrt, mp.mpf("1e-12"), mp.mpf(1) / 64, degrees["STIRLING"], True)
    t.words("DIGAMMA_ROOT DIGAMMA_ROOT_LOW", "Positive root of the digamma function.", ROOT)
    t.fit("DIGAMMA", "Polynomial for `digamma(x) / (x - DIGAMMA_ROOT)` in powers of `t = x - 1.625`, for `|t| <= 1/2`.", digamma, relative(digamma), -half, half, degrees["DIGAMMA"], True)
    t.fit("DIGAMMA_TAIL", "Polynomial for `x^2 (log(x) - 1 / (2 x) - digamma(x))` in powers of `1 / x^2`, for `x >= 8`.", digamma_tail, lambda z: z, mp.mpf("1e-9"), mp.mpf(1) / 64, degrees["DIGAMMA_TAIL"], True)
    for order in (0, 1):
        for k, root in enumerate(ROOTS[order]):
            t.words(f"J{order}_ROOT_{k + 1} J{order}_ROOT_{k + 1}_LOW", f"{ORDINALS[k]} positive root of `J{order}`.", root)
        next = [t.round(mp.besseljzero(order, k) ** 2) for k in (3, 4)]
        for k, square in enumerate(next):
            t.number(f"J{order}_SQUARE_{k + 3}", f"Square of the {ORDINALS[k + 2].lower()} positive root of `J{order}`.", square)
        f = bessel_near(order, next)
        t.fit(f"J{order}_NEAR", f"Polynomial for `J{order}(x){' / x' * order}`, divided by the factors of four roots, in powers of `x^2 / 32 - 1`, for `x` up to 8.", f, relative(f), -1, 1, degrees["J_NEAR"], True)
        f = modulus(order)
        t.fit(f"J{order}_COSINE", f"Polynomial for P, where `J{order}(x) sqrt(pi x / 2)` is `P cos(a) - Q sin(a)`, in powers of `64 / x^2`, for `x` from 8 on.", lambda y: f(y)[0], lambda y: 1, mp.mpf("1e-6"), 1, degrees["J_COSINE"], True)
        t.fit(f"J{order}_SINE", f"Polynomial for `x Q` in powers of `64 / x^2`, for `x` from 8 on. `J{order}(x) sqrt(pi x / 2)` is `P cos(a) - Q sin(a)`.", lambda y: f(y)[1], lambda y: mp.mpf(1) / 8, mp.mpf("1e-6"), 1, degrees["J_SINE"], True)
        f = modified_near(order)
        t.fit(f"I{order}_NEAR", f"Polynomial for `I{order}(x){' / x' * order}` in powers of `x^2 / 64`, for `x <= 8`.", f, relative(f), 0, 1, degrees["I_NEAR"], True)
        f = modified_far(order)
        t.fit(f"I{order}_FAR", f"Polynomial for `I{order}(x) exp(-x) sqrt(x)` in powers of `8 / x`, for `x >= 8`.", f, relative(f), 0, 1, degrees["I_FAR"], True)
    t.number("I_MAX", "`I0(x)` and `I1(x)` are infinite if `x` is at or above this limit.", 715 if t.digits == 53 else 93)
    t.number("FRAC_1_SQRT_PI", "1 / sqrt(pi).", 1 / mp.sqrt(mp.pi))
    ends = [(mp.mpf(0), mp.mpf("6.25")), (mp.mpf("2.5"), mp.mpf(4)), (mp.mpf(4), mp.mpf("6.01")), (mp.mpf("6.01"), mp.mpf("27.3"))]
    if t.digits == 24:
        ends = [(mp.mpf(0), mp.mpf("6.25")), (mp.mpf("2.5"), mp.mpf(4)), (mp.mpf(4), mp.mpf(5)), (mp.mpf(5), mp.mpf("10.2"))]
    low, high = ends.pop()
    middle = mp.sqrt(low * high)
    t.number("INVERSE_3_START", "Smallest `sqrt(w)` for which `INVERSE_3` is used.", low)
    t.number("INVERSE_3_MIDDLE", "The constant M of the polynomial `INVERSE_3`.", middle)
    f = lambda u: inverse((middle * (1 + u) / (1 - u)) ** 2) / (middle * (1 + u) / (1 - u))
    t.fit("INVERSE_3", "Polynomial for `erfinv(x) / (x sqrt(w))` in powers of `(sqrt(w) - M) / (sqrt(w) + M)`, for the `x` nearest to 1.", f, relative(f), (low - middle) / (low + middle), (high - middle) / (high + middle), degrees["INVERSE"][3])
    for k, (low, high) in enumerate(ends):
        of, what = (lambda w: w, "w") if k == 0 else (lambda s: s * s, "sqrt(w)")
        middle = (low + high) / 2
        f = lambda x, of=of, middle=middle: inverse(of(x + middle))
        t.number(f"INVERSE_{k}_MIDDLE", "The constant M of the polynomial below, which is the middle of its interval.", middle)
        t.fit(f"INVERSE_{k}", f"Polynomial for `erfinv(x) / x` in powers of `{what} - M`, `{mp.nstr(low, 4)} <= {what} <= {mp.nstr(high, 4)}`, where `w = -log(1 - x^2)`.", f, relative(f), low - middle, high - middle, degrees["INVERSE"][k])

    for line in t.lines:
        if "pub const J" in line and "[" not in line.split("=")[0]:
            name, value = line.split("pub const ")[1].split(": f64 = ") if t.digits == 53 else ("", "")
            t.cuda.insert(0, f"#define {name} {value.rstrip().rstrip(';')}\n")

    path = os.path.join(HERE, "..", "float" + t.name[1:], "special.rs")
    with open(path, "w") as file:
        file.write(f"//! Constants of the special functions in `real`, for `{t.name}`. Generated by `real/special_constants.py`.\n//!\n//! Each minimax polynomial is an array of its coefficients, lowest power first.\n//!\n//! In the comments on the Bessel functions `Jn`, where n is 0 or 1, a is `x - (2 n + 1) pi / 4`. If r1 to r4 are the\n//! first four positive roots of `Jn`, the factors of the roots are `x^2 - r1^2`, `x^2 - r2^2`, `r3^2 - x^2` and\n//! `r4^2 - x^2`. In the comments on the inverse of the error function, w is `-log(1 - x^2)`.\n\n")
        file.write("\n".join(t.lines))
    if t.digits == 53:
        with open(os.path.join(HERE, "..", "..", "cuda", "kernels", "polynomials.cuh"), "w") as file:
            file.write("// Minimax polynomials of special functions. Generated by scalar/real/special_constants.py.\n\n" + "\n".join(t.cuda + [write_temme()]))


if __name__ == "__main__":
    write(Both("f32", 24, 8), {"GAMMA": 9, "LGAMMA": 8, "STIRLING": 1, "DIGAMMA": 10, "DIGAMMA_TAIL": 1, "J_NEAR": 7, "J_COSINE": 4, "J_SINE": 4, "I_NEAR": 10, "I_FAR": 9, "INVERSE": [11, 8, 5, 6]})
    write(Both("f64", 53, 11), {"GAMMA": 19, "LGAMMA": 18, "STIRLING": 5, "DIGAMMA": 21, "DIGAMMA_TAIL": 6, "J_NEAR": 12, "J_COSINE": 13, "J_SINE": 12, "I_NEAR": 15, "I_FAR": 22, "INVERSE": [25, 20, 18, 22]})
