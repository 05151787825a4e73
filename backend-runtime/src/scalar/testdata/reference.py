"""Writes the reference values of the scalar tests: float32.txt, float64.txt, complex64.txt and complex128.txt.

A line is a word, its arguments and its correctly rounded result, as the bits of the numbers in hexadecimal; of complex
numbers the real and then the imaginary part. Needs mpmath. The arguments are the same at every run.
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
    """The nearest number of the format, ties to even, as a float; its overflow is infinite."""
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
    """The function with enough digits for arguments of any size."""
    with mp.workprec(2600):
        return f(*[mp.mpc(v) if isinstance(v, complex) else mp.mpf(v) for v in x])


UNARY = {
    "exp": mp.exp, "expm1": mp.expm1, "log": mp.log, "log2": lambda x: mp.log(x) / mp.log(2), "log10": lambda x: mp.log(x) / mp.log(10),
    "log1p": lambda x: mp.log(1 + x), "sqrt": mp.sqrt, "sin": mp.sin, "cos": mp.cos, "tan": mp.tan, "asin": mp.asin, "acos": mp.acos,
    "atan": mp.atan, "sinh": mp.sinh, "cosh": mp.cosh, "tanh": mp.tanh, "asinh": mp.asinh, "acosh": mp.acosh, "atanh": mp.atanh,
}
REAL = UNARY | {"erf": mp.erf, "erfc": mp.erfc}
BINARY = {"pow": mp.power, "hypot": lambda x, y: mp.sqrt(x * x + y * y), "atan2": mp.atan2}


def spread(low, high, n, both=False):
    """n numbers evenly spaced by their logarithms."""
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
    if word == "erf":
        return even(-4, 4, 44) + spread(bottom, 1, 14, True) + [5.9, 30.0]
    if word == "erfc":
        return even(-4, 4, 24) + even(4, {32: 10, 64: 27}[width], 24) + spread(bottom, 1, 12, True)
    raise KeyError(word)


def pairs(word, width, dice):
    top, bottom = TOP[width], BOTTOM[width]
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
    """Points of all sizes, near 1, -1, i and the unit circle, and in the far reaches of the function."""
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
