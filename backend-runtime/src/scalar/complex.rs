//! Words of complex numbers, generic over the real dtype of the parts. Branch cuts are those of C99 and NumPy.

use crate::{Complex, Precision};

/// `x * y` by the schoolbook formula, as NumPy computes it.
#[inline(always)]
pub fn times<R: Precision>(x: Complex<R>, y: Complex<R>) -> Complex<R> {
    Complex::new(x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re)
}

/// `x / y` by Smith's formula, as NumPy computes it.
#[inline(always)]
pub fn over<R: Precision>(x: Complex<R>, y: Complex<R>) -> Complex<R> {
    let (a, b) = (y.re.abs(), y.im.abs());
    if a >= b {
        if a == R::ZERO && b == R::ZERO {
            return Complex::new(x.re / a, x.im / a);
        }
        let ratio = y.im / y.re;
        let scale = R::ONE / (y.re + y.im * ratio);
        Complex::new((x.re + x.im * ratio) * scale, (x.im - x.re * ratio) * scale)
    } else {
        let ratio = y.re / y.im;
        let scale = R::ONE / (y.im + y.re * ratio);
        Complex::new((x.re * ratio + x.im) * scale, (x.im * ratio - x.re) * scale)
    }
}

/// The magnitude, without overflow between.
#[inline(always)]
pub fn abs<R: Precision>(x: Complex<R>) -> R {
    x.re.hypot(x.im)
}

/// `x / |x|`; 0 of 0.
#[inline(always)]
pub fn sign<R: Precision>(x: Complex<R>) -> Complex<R> {
    let r = abs(x);
    if r == R::ZERO {
        Complex::new(R::ZERO, R::ZERO)
    } else {
        Complex::new(x.re / r, x.im / r)
    }
}

/// Each part to the nearest integer, halves to even.
#[inline(always)]
pub fn round<R: Precision>(x: Complex<R>) -> Complex<R> {
    Complex::new(x.re.round(), x.im.round())
}

/// The angle in [-pi, pi].
#[inline(always)]
fn angle<R: Precision>(x: Complex<R>) -> R {
    x.im.atan2(x.re)
}

/// `r * (cos t + i sin t)`, with an exact real result where `t` is 0.
#[inline(always)]
fn polar<R: Precision>(r: R, t: R) -> Complex<R> {
    if t == R::ZERO {
        Complex::new(r, t)
    } else {
        Complex::new(r * t.cos(), r * t.sin())
    }
}

/// e to the power of `x`.
#[inline(always)]
pub fn exp<R: Precision>(x: Complex<R>) -> Complex<R> {
    polar(x.re.exp(), x.im)
}

/// `exp(x) - 1`, accurate near 0.
#[inline(always)]
pub fn expm1<R: Precision>(x: Complex<R>) -> Complex<R> {
    let s = (x.im * R::of(0.5)).sin();
    Complex::new(
        x.re.expm1() * x.im.cos() - R::of(2.0) * s * s,
        x.re.exp() * x.im.sin(),
    )
}

/// Natural logarithm, imaginary part in [-pi, pi].
#[inline(always)]
pub fn log<R: Precision>(x: Complex<R>) -> Complex<R> {
    Complex::new(abs(x).log(), angle(x))
}

/// Logarithm to base 2.
#[inline(always)]
pub fn log2<R: Precision>(x: Complex<R>) -> Complex<R> {
    let l = R::of(std::f64::consts::LOG2_E);
    let y = log(x);
    Complex::new(y.re * l, y.im * l)
}

/// Logarithm to base 10.
#[inline(always)]
pub fn log10<R: Precision>(x: Complex<R>) -> Complex<R> {
    let l = R::of(std::f64::consts::LOG10_E);
    let y = log(x);
    Complex::new(y.re * l, y.im * l)
}

/// `log(1 + x)`, accurate near 0.
#[inline(always)]
pub fn log1p<R: Precision>(x: Complex<R>) -> Complex<R> {
    // |1 + x|^2 - 1 = re (2 + re) + im^2, small where x is.
    let small = x.re * (R::of(2.0) + x.re) + x.im * x.im;
    let one_plus = Complex::new(R::ONE + x.re, x.im);
    let re = if small.abs() < R::of(0.5) {
        small.log1p() * R::of(0.5)
    } else {
        abs(one_plus).log()
    };
    Complex::new(re, angle(one_plus))
}

/// Square root with a real part >= 0.
#[inline(always)]
pub fn sqrt<R: Precision>(x: Complex<R>) -> Complex<R> {
    if x.re == R::ZERO && x.im == R::ZERO {
        return Complex::new(R::ZERO, x.im);
    }
    let t = ((x.re.abs() + abs(x)) * R::of(0.5)).sqrt();
    let other = x.im.abs() / (R::of(2.0) * t);
    if x.re >= R::ZERO {
        Complex::new(t, other.copysign(x.im))
    } else {
        Complex::new(other, t.copysign(x.im))
    }
}

/// `x` to the power of `y`; 0 to the power of 0 is 1.
#[inline(always)]
pub fn pow<R: Precision>(x: Complex<R>, y: Complex<R>) -> Complex<R> {
    let zero = Complex::new(R::ZERO, R::ZERO);
    if y == zero {
        return Complex::new(R::ONE, R::ZERO);
    }
    if x == zero {
        let real = y.re > R::ZERO;
        return if real {
            zero
        } else {
            Complex::new(R::from_f64(f64::NAN), R::from_f64(f64::NAN))
        };
    }
    // small integer exponents by multiplication: exact where the products are
    let n = y.re.round();
    if y.im == R::ZERO && n == y.re && n.abs() < R::of(100.0) {
        return integer_power(x, n.to_f64() as i32);
    }
    exp(times(log(x), y))
}

fn integer_power<R: Precision>(x: Complex<R>, n: i32) -> Complex<R> {
    let (mut base, mut left, mut result) = (x, n.unsigned_abs(), Complex::new(R::ONE, R::ZERO));
    while left > 0 {
        if left & 1 == 1 {
            result = times(result, base);
        }
        base = times(base, base);
        left >>= 1;
    }
    if n < 0 {
        over(Complex::new(R::ONE, R::ZERO), result)
    } else {
        result
    }
}

/// Hyperbolic sine.
#[inline(always)]
pub fn sinh<R: Precision>(x: Complex<R>) -> Complex<R> {
    Complex::new(x.re.sinh() * x.im.cos(), x.re.cosh() * x.im.sin())
}

/// Hyperbolic cosine.
#[inline(always)]
pub fn cosh<R: Precision>(x: Complex<R>) -> Complex<R> {
    Complex::new(x.re.cosh() * x.im.cos(), x.re.sinh() * x.im.sin())
}

/// Hyperbolic tangent.
#[inline(always)]
pub fn tanh<R: Precision>(x: Complex<R>) -> Complex<R> {
    // Kahan's form: no overflow, and no cancellation near the zeros of the denominator
    if x.re.abs() > R::of(20.0) {
        let e = (-x.re.abs()).exp();
        let im = R::of(4.0) * x.im.sin() * x.im.cos() * e * e;
        return Complex::new(R::ONE.copysign(x.re), im);
    }
    let (t, s) = (x.im.tan(), x.re.sinh());
    let (beta, rho) = (R::ONE + t * t, (R::ONE + s * s).sqrt());
    let d = R::ONE + beta * s * s;
    Complex::new(beta * rho * s / d, t / d)
}

/// `-i x`, the rotation that turns a circular function into a hyperbolic one.
#[inline(always)]
fn turn_back<R: Precision>(x: Complex<R>) -> Complex<R> {
    Complex::new(x.im, -x.re)
}

/// `i x`
#[inline(always)]
fn turn<R: Precision>(x: Complex<R>) -> Complex<R> {
    Complex::new(-x.im, x.re)
}

/// Sine.
#[inline(always)]
pub fn sin<R: Precision>(x: Complex<R>) -> Complex<R> {
    turn_back(sinh(turn(x)))
}

/// Cosine.
#[inline(always)]
pub fn cos<R: Precision>(x: Complex<R>) -> Complex<R> {
    cosh(turn(x))
}

/// Tangent.
#[inline(always)]
pub fn tan<R: Precision>(x: Complex<R>) -> Complex<R> {
    turn_back(tanh(turn(x)))
}

/// Inverse sine, by Kahan's formulas.
#[inline(always)]
pub fn asin<R: Precision>(x: Complex<R>) -> Complex<R> {
    let (p, m) = (
        sqrt(Complex::new(R::ONE - x.re, -x.im)),
        sqrt(Complex::new(R::ONE + x.re, x.im)),
    );
    Complex::new(
        x.re.atan2((p.re * m.re) - (p.im * m.im)),
        (p.re * m.im - p.im * m.re).asinh(),
    )
}

/// Inverse cosine, by Kahan's formulas.
#[inline(always)]
pub fn acos<R: Precision>(x: Complex<R>) -> Complex<R> {
    let (p, m) = (
        sqrt(Complex::new(R::ONE - x.re, -x.im)),
        sqrt(Complex::new(R::ONE + x.re, x.im)),
    );
    Complex::new(
        R::of(2.0) * p.re.atan2(m.re),
        (m.re * p.im - m.im * p.re).asinh(),
    )
}

/// Inverse hyperbolic sine.
#[inline(always)]
pub fn asinh<R: Precision>(x: Complex<R>) -> Complex<R> {
    turn_back(asin(turn(x)))
}

/// Inverse hyperbolic cosine, by Kahan's formulas.
#[inline(always)]
pub fn acosh<R: Precision>(x: Complex<R>) -> Complex<R> {
    let (p, m) = (
        sqrt(Complex::new(x.re - R::ONE, x.im)),
        sqrt(Complex::new(x.re + R::ONE, x.im)),
    );
    Complex::new(
        (p.re * m.re + p.im * m.im).asinh(),
        R::of(2.0) * p.im.atan2(m.re),
    )
}

/// Inverse hyperbolic tangent.
#[inline(always)]
pub fn atanh<R: Precision>(x: Complex<R>) -> Complex<R> {
    let (one, four) = (R::ONE, R::of(4.0));
    let (d, y2) = (one - x.re, x.im * x.im);
    let re = (four * x.re / (d * d + y2)).log1p() / four;
    let im = (R::of(2.0) * x.im).atan2(d * (one + x.re) - y2) * R::of(0.5);
    Complex::new(re, im)
}

/// Inverse tangent.
#[inline(always)]
pub fn atan<R: Precision>(x: Complex<R>) -> Complex<R> {
    turn_back(atanh(turn(x)))
}
