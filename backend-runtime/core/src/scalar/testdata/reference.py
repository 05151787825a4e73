"""Writes the reference values of the scalar tests: float32.txt, float64.txt, complex64.txt and complex128.txt.

Each line has a word (a scalar function), its arguments and its correctly rounded result. Numbers are written as their
bits in hexadecimal, and complex numbers as the real part and then the imaginary part. The script needs mpmath. The
arguments are the same at every run.
"""

import os
import random
import struct

import mpmath as mp

DIGITS, LEAST, LARGEST = {32: 24, 64: 53}, {32: -149, 64: -1074}, {32: 128, 64: 1024}
CODE = {32: ("<f", "<I"), 64: ("<d", "<Q")}
TOP = {32: 3.4e38, 64: 1.7e308}
BOTTOM = {32: 1.5e-45, 64: 5e-324}


def nearest(x, width):
    """Rounds to the nearest number of the format, ties to even, and returns it as a float. An overflow is infinite."""
    x = mp.mpf(x)
    if x == 0:
        return 0.0
    unit = mp.ldexp(1, max(mp.frexp(abs(x))[1] - DIGITS[width], LEAST[width]))
    quotient = abs(x) / unit
    whole = mp.floor(quotient)
    rest = quotient - whole
    if rest > 0.5 or rest == 0.5 and whole % 2 == 1:
        whole += 1
    value = whole * unit
    value = float("inf") if value >= mp.ldexp(1, LARGEST[width]) else float(value)
    return value if x > 0 else -value


def bits(x, width):
    code = CODE[width]
    return f"{struct.unpack(code[1], struct.pack(code[0], x))[0]:0{width // 4}x}"



def precise(f, *x):
    """Computes the function with enough digits for arguments of any size."""
    with mp.workprec(2600):
        return f(*[mp.mpc(v) if isinstance(v, complex) else mp.mpf(v) for v in x])


def near(f, *x):
    """Like `precise`, but with fewer digits: for slow functions whose arguments are not huge."""
    with mp.workdps(120):
        return mp.re(f(*[mp.mpf(v) for v in x]))


UNARY = {
    "exp": mp.exp, "expm1": mp.expm1, "log": mp.log, "log2": lambda x: mp.log(x) / mp.log(2), "log10": lambda x: mp.log(x) / mp.log(10),
    "log1p": lambda x: mp.log(1 + x), "sqrt": mp.sqrt, "sin": mp.sin, "cos": mp.cos, "tan": mp.tan, "asin": mp.asin, "acos": mp.acos,
    "atan": mp.atan, "sinh": mp.sinh, "cosh": mp.cosh, "tanh": mp.tanh, "asinh": mp.asinh, "acosh": mp.acosh, "atanh": mp.atanh,
}
REAL = UNARY | {"erf": mp.erf, "erfc": mp.erfc}
SPECIAL = {
    "exp2": lambda x: mp.power(2, x), "cbrt": lambda x: mp.sign(x) * mp.cbrt(abs(x)), "gamma": mp.gamma,
    "lgamma": lambda x: mp.log(abs(mp.gamma(x))) if x < 1000 else mp.loggamma(x), "digamma": lambda x: mp.psi(0, x),
    "logit": lambda x: mp.log(x / (1 - x)), "erfinv": mp.erfinv, "erfcinv": lambda y: erfcinv(y), "j0": lambda x: mp.besselj(0, x), "j1": lambda x: mp.besselj(1, x),
    "i0": lambda x: mp.besseli(0, x), "i1": lambda x: mp.besseli(1, x), "i0e": lambda x: mp.besseli(0, x) * mp.exp(-abs(x)),
    "i1e": lambda x: mp.besseli(1, x) * mp.exp(-abs(x)),
}
PAIRS = {
    "beta": mp.beta, "betaln": lambda x, y: mp.log(abs(mp.beta(x, y))),
    "gammainc": lambda a, x: mp.gammainc(a, 0, x, regularized=True), "gammaincc": lambda a, x: mp.gammainc(a, x, regularized=True),
}


def erfcinv(y):
    if y > 0.01:
        return mp.erfinv(1 - y)
    start = mp.sqrt(-mp.log(y) - mp.log(-mp.pi * mp.log(y)) / 2)
    return mp.findroot(lambda t: mp.log(mp.erfc(t)) - mp.log(y), start)


BINARY = {"pow": mp.power, "hypot": lambda x, y: mp.sqrt(x * x + y * y), "atan2": mp.atan2}


def spread(low, high, n, both=False):
    """`n` numbers with evenly spaced logarithms."""
    ratio = mp.mpf(high) / low
    values = [float(mp.mpf(low) * ratio ** (mp.mpf(i) / (n - 1))) for i in range(n)]
    return [v if i % 2 else -v for i, v in enumerate(values)] if both else values


def even(low, high, n):
    return [low + (high - low) * (i + 0.5) / n for i in range(n)]


def arguments(word, width):
    top, bottom = TOP[width], BOTTOM[width]
    large = {32: 88.7, 64: 709.7}[width]
    least = {32: -103.9, 64: -745.1}[width]
    if word == "exp":
        return even(-2, 2, 20) + even(least, large, 30) + even(least, least * 0.96, 6) + spread(bottom, 1, 6, True)
    if word == "expm1":
        return even(-2, 2, 24) + even(-38, large, 24) + spread(bottom, 1, 14, True)
    if word in ("log", "log2", "log10", "sqrt"):
        return spread(bottom, top, 30) + even(0.5, 2, 22) + [1 + s * 2.0**-k for k in (3, 8, 14, 20) for s in (1, -1)]
    if word == "log1p":
        return spread(bottom, top, 22) + spread(-bottom, -0.9999, 16) + even(-0.9, 2, 24)
    if word in ("sin", "cos", "tan"):
        turns = [k * float(mp.pi) / 2 for k in (1, 2, 3, 7, 100, 12345, 5000000)]
        famous = [6381956970095103 * 2.0**797] if width == 64 else [16367173 * 2.0**72]
        return even(-8, 8, 24) + spread(bottom, 1e4, 16, True) + turns + spread(1e4, top, 14, True) + famous
    if word in ("asin", "acos", "atanh"):
        ends = [s * (1 - 2.0**-k) for k in (2, 5, 9, 15, 22) for s in (1, -1)]
        return even(-1, 1, 32) + spread(bottom, 0.5, 16, True) + ends + ([1.0, -1.0] if word != "atanh" else [])
    if word == "atan":
        return even(-4, 4, 36) + spread(bottom, top, 24, True)
    if word in ("sinh", "cosh"):
        return even(-3, 3, 26) + even(-large - 0.6, large + 0.6, 22) + spread(bottom, 1, 12, True)
    if word == "tanh":
        return even(-3, 3, 30) + even(-25, 25, 16) + spread(bottom, 1, 14, True)
    if word == "asinh":
        return even(-3, 3, 30) + spread(bottom, top, 30, True)
    if word == "acosh":
        return [1.0] + [1 + 2.0**-k for k in range(1, 23)] + even(1, 5, 20) + spread(5, top, 17)
    if word == "exp2":
        return even(-3, 3, 24) + even(*{32: (-149, 128), 64: (-1074, 1024)}[width], 30) + spread(bottom, 1, 8, True)
    if word == "cbrt":
        return even(-9, 9, 24) + spread(bottom, top, 34, True)
    if word == "gamma":
        return even(-6, 9, 40) + even(9, {32: 35, 64: 171.6}[width], 16) + even({32: -36, 64: -170}[width], -6, 12) + spread(bottom * 1e3, 1, 12, True)
    if word == "lgamma":
        return even(0, 4, 30) + even(4, 30, 16) + spread(bottom, 1, 8) + spread(30, 1e30, 8) + [-0.5, -1.5, -0.1, -3.5, -7.25, -20.5, 1 + 2.0**-20, 2 - 2.0**-20, 1 - 2.0**-15]
    if word == "digamma":
        return even(0, 4, 30) + even(4, 30, 16) + spread(bottom * 8, 1, 8, True) + spread(30, 1e30, 8) + [-0.25, -1.375, -3.5, -7.25, -20.875, 1.46875, 1.453125]
    if word == "logit":
        return even(0, 1, 40) + spread(bottom, 0.5, 12) + [0.5 + s * 2.0**-k for k in (2, 5, 9, 15, 22) for s in (1, -1)] + [1 - 2.0**-k for k in (3, 8, 14, 22)] + ([0.5 + s * 2.0**-k for k in (30, 44, 52) for s in (1, -1)] + [1 - 2.0**-k for k in (30, 37, 45, 53)] if width == 64 else [])
    if word == "erfinv":
        ends = [s * (1 - 2.0**-k) for k in (2, 4, 7, 11, 15, 20, 24) for s in (1, -1)]
        return even(-1, 1, 36) + spread(bottom, 0.5, 10, True) + ends + ([1 - 2.0**-k for k in (30, 36, 42, 48, 53)] if width == 64 else [])
    if word == "erfcinv":
        return even(0, 2, 30) + spread(bottom * 8, 1, 30)
    if word in ("j0", "j1"):
        return even(-8, 8, 30) + even(8, 60, 20) + spread(bottom * 8, 1, 8, True) + spread(60, 1e30, 8)
    if word in ("i0", "i1", "i0e", "i1e"):
        return even(-8, 8, 30) + even(8, {32: 91, 64: 713}[width], 20) + spread(bottom * 8, 1, 8, True) + (spread(60, 1e30, 8) if word[-1] == "e" else [])
    if word == "erf":
        return even(-4, 4, 44) + spread(bottom, 1, 14, True) + [5.9, 30.0]
    if word == "erfc":
        return even(-4, 4, 24) + even(4, {32: 10, 64: 27}[width], 24) + spread(bottom, 1, 12, True)
    raise KeyError(word)


def pairs(word, width, dice):
    top, bottom = TOP[width], BOTTOM[width]
    if word in ("beta", "betaln"):
        out = [(dice.uniform(0, 9), dice.uniform(0, 9)) for _ in range(30)]
        out += [(2.0 ** dice.uniform(-30, 6), 2.0 ** dice.uniform(-30, 6)) for _ in range(16)]
        out += [(2.0 ** dice.uniform(6, 40), dice.uniform(0.1, 3)) for _ in range(10)]
        return out + [(-0.5, 2.25), (-1.5, 0.75), (-2.25, -3.625), (-7.375, 9.25), (3.0, 4.0), (1.0, 7.5)]
    if word in ("gammainc", "gammaincc"):
        out = [(dice.uniform(0, 9), dice.uniform(0, 9)) for _ in range(24)]
        out += [(2.0 ** dice.uniform(-20, 4), 2.0 ** dice.uniform(-12, 4)) for _ in range(20)]
        for a in (15.0, 60.0, 99.0, 120.0, 400.0, 3000.0, 1e5):
            out += [(a, a * (1 + s / a**0.5)) for s in (-3, -0.75, 0, 0.5, 4)]
        return out
    if word == "pow":
        out = [(x, y) for x, y in zip(even(0.1, 9, 24), even(-9, 9, 24)[::-1])]
        while len(out) < 60:
            x = 2.0 ** dice.uniform(-120, 120)
            out.append((x, dice.uniform(-1, 1) * {32: 128, 64: 1050}[width] / abs(float(mp.log(x, 2)))))
        return out + [(1 + 2.0**-20, 1e7), (1 - 2.0**-20, 3e7), (-2.0, 7.0), (-1.5, -4.0), (bottom, 0.25), (top, -0.9)]
    out = [(dice.uniform(-9, 9), dice.uniform(-9, 9)) for _ in range(24)]
    wide = spread(bottom, top / 2, 22, True)
    shuffled = wide[:]
    dice.shuffle(shuffled)
    near = [(v, v * dice.uniform(0.3, 3)) for v in spread(bottom * 8, top / 4, 14, True)]
    return out + list(zip(wide, shuffled)) + near


def complex_arguments(word, width, dice):
    """Points of all magnitudes, near 1, -1, i and the unit circle, and close to overflow."""
    small = {32: -30, 64: -200}[width]
    part = lambda low, high: 2.0 ** dice.uniform(low, high) * dice.choice([-1, 1])
    points = [complex(dice.uniform(-4, 4), dice.uniform(-4, 4)) for _ in range(16)]
    points += [complex(part(small, 5), part(small, 5)) for _ in range(6)]
    points += [centre + complex(part(-22, -1), part(-22, -1)) for centre in (1, -1, 1j) for _ in range(3)]
    for _ in range(3):
        angle = dice.uniform(-3, 3)
        points.append(complex(float(mp.cos(angle)), float(mp.sin(angle))))
    if word in ("exp", "expm1", "sinh", "cosh"):
        edge = {32: 88.0, 64: 709.0}[width]
        points += [complex(s * dice.uniform(edge - 1, edge + 2), y) for s in (1, -1) for y in (1.5, -0.3)]
    elif word not in ("sin", "cos", "tan", "tanh", "log1p"):
        far = {32: 125, 64: 1020}[width]
        points += [complex(part(-far, far), part(-far, far)) for _ in range(6)]
    return points


def write(width, dice):
    lines = []
    short = lambda x: nearest(x, width)
    for word, f in REAL.items():
        for x in map(short, arguments(word, width)):
            lines.append(f"{word} {bits(x, width)} {bits(short(precise(f, x).real), width)}")
    for word, f in BINARY.items():
        for x, y in pairs(word, width, dice):
            x, y = short(x), short(y)
            lines.append(f"{word} {bits(x, width)} {bits(y, width)} {bits(short(precise(f, x, y).real), width)}")
    for word, f in SPECIAL.items():
        for x in map(short, arguments(word, width)):
            lines.append(f"{word} {bits(x, width)} {bits(short(near(f, x)), width)}")
    others = random.Random(21)
    for word, f in PAIRS.items():
        for x, y in pairs(word, width, others):
            x, y = short(x), short(y)
            lines.append(f"{word} {bits(x, width)} {bits(y, width)} {bits(short(near(f, x, y)), width)}")
    save(f"float{width}.txt", lines)

    lines = []
    shorten = lambda z: complex(short(z.real), short(z.imag))
    both = lambda z: f"{bits(z.real, width)} {bits(z.imag, width)}"
    for word, f in UNARY.items():
        for z in map(shorten, complex_arguments(word, width, dice)):
            lines.append(f"{word} {both(z)} {both(shorten(mp.mpc(precise(f, z))))}")
    for x, y in zip(complex_arguments("pow", width, dice), complex_arguments("exp", width, dice)):
        x, y = shorten(x), shorten(complex(y.real % 9, y.imag % 9))
        result = mp.mpc(precise(mp.power, x, y))
        if 2.0**-100 < abs(result) < 2.0**100:
            lines.append(f"pow {both(x)} {both(y)} {both(shorten(result))}")
    for n in (2, 3, 7, 20, 99, -1, -2, -5, -40):
        x = shorten(complex(dice.uniform(-2, 2), dice.uniform(-2, 2)))
        lines.append(f"pow {both(x)} {both(complex(n))} {both(shorten(precise(lambda z: z**n, x)))}")
    save(f"complex{2 * width}.txt", lines)


def save(name, lines):
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), name), "w") as file:
        file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    dice = random.Random(20)
    write(64, dice)
    write(32, dice)
