"""Writes ../float32/special.rs, ../float64/special.rs and ../../cuda/kernels/polynomials.cuh: minimax polynomials of special functions.

Run it (with mpmath and numpy installed) after a change here; rustfmt the results. The functions are those of mpmath; the
expansions for large arguments are in chapters 5, 7 and 10 of the NIST Digital Library of Mathematical Functions.
"""

import os

import mpmath as mp
from constants import Format

mp.mp.dps = 45
HERE = os.path.dirname(os.path.abspath(__file__))


def near(f, x, at, limit):
    """f(x), and its limit where x is `at`."""
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


def bessel_near(order, next):
    """Without the factors of the roots, and of the next ones, whose squares are given: what is left is flat."""
    def f(u):
        x = mp.sqrt(32 * (1 + u))
        # beside a root, or 0, the limit is near enough
        x = x + mp.mpf("1e-18") if x == 0 or min(abs(x - r) for r in ROOTS[order]) < mp.mpf("1e-19") else x
        value = mp.besselj(order, x) / x**order
        for r in ROOTS[order]:
            value /= (x - r) * (x + r)
        for square in next:
            value /= square - x * x
        return value

    return f


def modulus(order):
    """The factors of the cosine and of the sine at 8 / sqrt(y)."""
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
            # the asymptotic series, of whose terms ten are many
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
    """erfinv(x) / x as a function of w = -log(1 - x^2)."""
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
    """The coefficients of 8.12.12 of the Digital Library, a list of powers of eta for each power of 1 / a."""
    count = degree + 2 * terms + 4
    # x / a - 1 by powers of eta, and eta times its inverse
    mu = [mp.mpf(0), mp.mpf(1)]
    for n in range(2, count + 1):
        mu.append((mu[n - 1] - sum(mu[i] * (n + 1 - i) * mu[n + 1 - i] for i in range(2, n))) / (n + 1))
    inverse = [mp.mpf(1)]
    for n in range(1, count):
        inverse.append(-sum(mu[i + 1] * inverse[n - i] for i in range(1, n + 1)))
    # gamma(a) over the first term of Stirling's formula, by powers of 1 / a
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
        file.write("//! Temme's expansion of the incomplete gamma functions. Written by `real/special_constants.py`.\n\n")
        file.write("/// For each power of `1 / a` the coefficients of the powers of eta.\n")
        file.write(f"pub const TEMME: [[f64; {len(rows[0])}]; {len(rows)}] = [\n{nested},\n];\n")
    steps = []
    for k in reversed(range(len(rows))):
        steps.append(f"    p = {float(rows[k][-1])!r};\n" + "".join(f"    p = fma(p, eta, {float(v)!r});\n" for v in rows[k][-2::-1]))
        steps.append("    sum = fma(sum, inverse, p);\n")
    return "// Temme's expansion: powers of 1 / a, each with powers of eta.\ninline double temme(double eta, double inverse) {\n    double p, sum = 0;\n" + "".join(steps) + "    return sum;\n}\n"


# ---- files -----------------------------------------------------------------------------------------------------------


class Both(Format):
    """As Format, with the polynomials in CUDA C++ too."""

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
    t.number("GAMMA_MAX", "From here up the gamma function is infinite.", 172 if t.digits == 53 else 36)
    t.number("GAMMA_MIN", "Below minus this it is 0.", 186 if t.digits == 53 else 44)
    t.number("LGAMMA_MAX", "From here up its logarithm is infinite.", mp.mpf("2.5563484e305") if t.digits == 53 else mp.mpf("4.0850034e36"))
    t.fit("GAMMA", "`(gamma(2 + t) - 1) / t` for `|t| <= 1/2`.", gamma, lambda x: abs(x) + tiny, -half, half, degrees["GAMMA"])
    t.fit("LGAMMA", "`log(gamma(2 + t)) / t` for `|t| <= 1/2`.", lgamma, relative(lgamma), -half, half, degrees["LGAMMA"], True)
    t.fit("STIRLING", "What Stirling's formula leaves of `log(gamma(x))`, times `x`, by powers of `1 / x^2`, from 8 on.", stirling, mp.sqrt, mp.mpf("1e-12"), mp.mpf(1) / 64, degrees["STIRLING"], True)
    t.words("DIGAMMA_ROOT DIGAMMA_ROOT_LOW", "The positive root of the digamma function.", ROOT)
    t.fit("DIGAMMA", "The digamma function of `1.625 + t` over the distance from its root, for `|t| <= 1/2`.", digamma, relative(digamma), -half, half, degrees["DIGAMMA"], True)
    t.fit("DIGAMMA_TAIL", "`x^2 (log(x) - 1 / (2 x) - digamma(x))` by powers of `1 / x^2`, from 8 on.", digamma_tail, lambda z: z, mp.mpf("1e-9"), mp.mpf(1) / 64, degrees["DIGAMMA_TAIL"], True)
    for order in (0, 1):
        for k, root in enumerate(ROOTS[order]):
            t.words(f"J{order}_ROOT_{k + 1} J{order}_ROOT_{k + 1}_LOW", f"Root {k + 1} of `J{order}`.", root)
        next = [t.round(mp.besseljzero(order, k) ** 2) for k in (3, 4)]
        for k, square in enumerate(next):
            t.number(f"J{order}_SQUARE_{k + 3}", f"The square of root {k + 3} of `J{order}`.", square)
        f = bessel_near(order, next)
        t.fit(f"J{order}_NEAR", f"`J{order}(x) / x^{order}` over its roots and factors of the next ones, by powers of `x^2 / 32 - 1`, up to 8.", f, relative(f), -1, 1, degrees["J_NEAR"], True)
        f = modulus(order)
        t.fit(f"J{order}_COSINE", f"The factor of the cosine in `J{order}(x) sqrt(pi x / 2)`, by powers of `64 / x^2`, from 8 on.", lambda y: f(y)[0], lambda y: 1, mp.mpf("1e-6"), 1, degrees["J_COSINE"], True)
        t.fit(f"J{order}_SINE", f"That of minus the sine, times `x`.", lambda y: f(y)[1], lambda y: mp.mpf(1) / 8, mp.mpf("1e-6"), 1, degrees["J_SINE"], True)
        f = modified_near(order)
        t.fit(f"I{order}_NEAR", f"`I{order}(x) / x^{order}` by powers of `x^2 / 64`, up to 8.", f, relative(f), 0, 1, degrees["I_NEAR"], True)
        f = modified_far(order)
        t.fit(f"I{order}_FAR", f"`I{order}(x) exp(-x) sqrt(x)` by powers of `8 / x`, from 8 on.", f, relative(f), 0, 1, degrees["I_FAR"], True)
    t.number("I_MAX", "From here up `I0` and `I1` are infinite.", 715 if t.digits == 53 else 93)
    t.number("FRAC_1_SQRT_PI", "1 / sqrt(pi).", 1 / mp.sqrt(mp.pi))
    ends = [(mp.mpf(0), mp.mpf("6.25")), (mp.mpf("2.5"), mp.mpf(4)), (mp.mpf(4), mp.mpf("6.01")), (mp.mpf("6.01"), mp.mpf("27.3"))]
    if t.digits == 24:
        ends = [(mp.mpf(0), mp.mpf("6.25")), (mp.mpf("2.5"), mp.mpf(4)), (mp.mpf(4), mp.mpf(5)), (mp.mpf(5), mp.mpf("10.2"))]
    low, high = ends.pop()
    middle = mp.sqrt(low * high)
    t.number("INVERSE_3_START", "The least `sqrt(w)` of `INVERSE_3`.", low)
    t.number("INVERSE_3_MIDDLE", "The M of `INVERSE_3`.", middle)
    f = lambda u: inverse((middle * (1 + u) / (1 - u)) ** 2) / (middle * (1 + u) / (1 - u))
    t.fit("INVERSE_3", "`erfinv(x) / (x sqrt(w))` by powers of `(sqrt(w) - M) / (sqrt(w) + M)`, for the least `1 - x`.", f, relative(f), (low - middle) / (low + middle), (high - middle) / (high + middle), degrees["INVERSE"][3])
    for k, (low, high) in enumerate(ends):
        of, what = (lambda w: w, "w") if k == 0 else (lambda s: s * s, "sqrt(w)")
        middle = (low + high) / 2
        f = lambda x, of=of, middle=middle: inverse(of(x + middle))
        t.number(f"INVERSE_{k}_MIDDLE", "The middle of the range of the polynomial below.", middle)
        t.fit(f"INVERSE_{k}", f"`erfinv(x) / x` by powers of `{what}` less the middle, where `w = -log(1 - x^2)`, from {mp.nstr(low, 4)} to {mp.nstr(high, 4)}.", f, relative(f), low - middle, high - middle, degrees["INVERSE"][k])

    for line in t.lines:
        if "pub const J" in line and "[" not in line.split("=")[0]:
            name, value = line.split("pub const ")[1].split(": f64 = ") if t.digits == 53 else ("", "")
            t.cuda.insert(0, f"#define {name} {value.rstrip().rstrip(';')}\n")

    path = os.path.join(HERE, "..", "float" + t.name[1:], "special.rs")
    with open(path, "w") as file:
        file.write(f"//! The numbers of the special functions in `real`, for `{t.name}`. Written by `real/special_constants.py`.\n\n")
        file.write("\n".join(t.lines))
    if t.digits == 53:
        with open(os.path.join(HERE, "..", "..", "cuda", "kernels", "polynomials.cuh"), "w") as file:
            file.write("// Minimax polynomials of special functions. Written by scalar/real/special_constants.py.\n\n" + "\n".join(t.cuda + [write_temme()]))


if __name__ == "__main__":
    write(Both("f32", 24, 8), {"GAMMA": 9, "LGAMMA": 8, "STIRLING": 1, "DIGAMMA": 10, "DIGAMMA_TAIL": 1, "J_NEAR": 7, "J_COSINE": 4, "J_SINE": 4, "I_NEAR": 10, "I_FAR": 9, "INVERSE": [11, 8, 5, 6]})
    write(Both("f64", 53, 11), {"GAMMA": 19, "LGAMMA": 18, "STIRLING": 5, "DIGAMMA": 21, "DIGAMMA_TAIL": 6, "J_NEAR": 12, "J_COSINE": 13, "J_SINE": 12, "I_NEAR": 15, "I_FAR": 22, "INVERSE": [25, 20, 18, 22]})
