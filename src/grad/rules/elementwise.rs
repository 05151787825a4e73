//! Gradient rules of elementwise ops that cannot be derived from the ops' expressions: functions that are not
//! holomorphic, and functions with several cases.

use super::{i, in_float32, number, rounded, whole};
use crate::{
    Backend, DTypeKind, Float, Real, Result, grad::recording::whole as whole_operand, runtime::Operand,
    segments::is_16_bit,
};

/// Gradient of `abs`: the output gradient times `conj(sign(x))`, which is 0 at 0.
pub fn abs<B: Backend, T: Float>(b: &B, g: &B::Array<T::Real>, x: &B::Array<T>) -> Result<B::Array<T>> {
    b.multiply(whole::<B, T>(b, g)?, b.conj::<T>(b.sign::<T>(x)?)?)
}

/// Gradient of `real`: the output gradient, converted to the dtype of the input.
pub fn real<B: Backend, T: Float>(b: &B, g: &B::Array<T::Real>) -> Result<B::Array<T>> {
    whole::<B, T>(b, g)
}

/// Gradient of `imag`: the output gradient times `-i`; 0 for a real array.
pub fn imag<B: Backend, T: Float>(b: &B, g: &B::Array<T::Real>) -> Result<B::Array<T>> {
    b.multiply(whole::<B, T>(b, g)?, T::ZERO.minus(i::<T>()))
}

/// Gradient of `angle`: the output gradient times `-i / x`; 0 for a real array.
pub fn angle<B: Backend, T: Float>(b: &B, g: &B::Array<T::Real>, x: &B::Array<T>) -> Result<B::Array<T>> {
    if T::dtype().kind() != DTypeKind::Complex {
        return b.zeros_like::<T>(x);
    }
    b.divide(imag::<B, T>(b, g)?, x)
}

/// Gradient of `sign`. For complex numbers, `sign(x)` is `x / |x|`. For real numbers, the gradient is 0.
pub fn sign<B: Backend, T: Float>(b: &B, g: &B::Array<T>, y: &B::Array<T>, x: &B::Array<T>) -> Result<B::Array<T>> {
    if T::dtype().kind() != DTypeKind::Complex {
        return b.zeros_like::<T>(x);
    }
    let across = b.subtract(g, b.conj::<T>(b.multiply(b.multiply(g, y)?, y)?)?)?;
    let half = b.multiply(across, number::<T>(0.5))?;
    b.divide(half, whole::<B, T>(b, &b.abs::<T>(x)?)?)
}

/// Gradient of `complex` with respect to the real part.
pub fn complex_re<B: Backend, T: Real>(b: &B, g: &B::Array<T::Complex>) -> Result<B::Array<T>> {
    b.astype::<T, _>(b.real(g)?)
}

/// Gradient of `complex` with respect to the imaginary part.
pub fn complex_im<B: Backend, T: Real>(b: &B, g: &B::Array<T::Complex>) -> Result<B::Array<T>> {
    b.negative(b.astype::<T, _>(b.imag(g)?)?)
}

/// Gradient of `atan`: `1 / (1 + x^2)`. For large elements it is computed from `1 / x`, because the square may exceed
/// the range of the dtype.
pub fn atan<B: Backend, T: Float>(b: &B, g: &B::Array<T>, x: &B::Array<T>) -> Result<B::Array<T>> {
    expr!(b,
        let large = abs(x) > 1.0;
        let inverse = reciprocal(where(large, x, T::ONE));
        let rest = where(large, T::ONE, x);
        g * (inverse * inverse / (inverse * inverse + rest * rest)))
}

/// Gradient of `asinh`: `1 / sqrt(1 + x^2)`. For large elements it is computed from `1 / |x|`, because the square may
/// exceed the range of the dtype.
pub fn asinh<B: Backend, T: Float>(b: &B, g: &B::Array<T>, x: &B::Array<T>) -> Result<B::Array<T>> {
    expr!(b,
        let large = abs(x) > 1.0;
        let inverse = reciprocal(where(large, x, T::ONE)) * where(large, sign(x), T::ONE);
        let rest = where(large, sign(x), x);
        g * (inverse / sqrt(rest * rest + inverse * inverse)))
}

/// Gradient of `atan2` with respect to the first operand: `x2 / (x1^2 + x2^2)`, computed from the quotient of the
/// smaller and the larger operand.
pub fn atan2_x1<B: Backend, T: Real>(
    b: &B,
    g: &B::Array<T>,
    x1: Operand<'_, B, T>,
    x2: Operand<'_, B, T>,
) -> Result<B::Array<T>> {
    let (x1, x2) = (&*whole_operand(b, &x1)?, &*whole_operand(b, &x2)?);
    expr!(b,
        let steep = abs(x1) > abs(x2);
        let larger = where(steep, x1, x2);
        let t = where(steep, x2, x1) / larger;
        g * where(steep, t, T::ONE) / (t * t + 1.0) / larger)
}

/// Gradient of `atan2` with respect to the second operand: `-x1 / (x1^2 + x2^2)`.
pub fn atan2_x2<B: Backend, T: Real>(
    b: &B,
    g: &B::Array<T>,
    x1: Operand<'_, B, T>,
    x2: Operand<'_, B, T>,
) -> Result<B::Array<T>> {
    b.negative(atan2_x1(b, g, x2, x1)?)
}

/// Gradient of `hypot` with respect to the first operand: `x1 / hypot(x1, x2)`, and 0 if both operands are 0. It is
/// computed from the quotient of the smaller and the larger operand, because `hypot` may exceed the range of the dtype.
pub fn hypot_x1<B: Backend, T: Real>(
    b: &B,
    g: &B::Array<T>,
    x1: Operand<'_, B, T>,
    x2: Operand<'_, B, T>,
) -> Result<B::Array<T>> {
    let (x1, x2) = (&*whole_operand(b, &x1)?, &*whole_operand(b, &x2)?);
    expr!(b,
        let first = abs(x1) > abs(x2);
        let larger = where(first, x1, x2);
        let t = where(first, x2, x1) / where(larger == 0.0, T::ONE, larger);
        g * (where(first, T::ONE, t) * sign(larger) / sqrt(t * t + 1.0)))
}

/// Gradient of `hypot` with respect to the second operand.
pub fn hypot_x2<B: Backend, T: Real>(
    b: &B,
    g: &B::Array<T>,
    x1: Operand<'_, B, T>,
    x2: Operand<'_, B, T>,
) -> Result<B::Array<T>> {
    hypot_x1(b, g, x2, x1)
}

/// Gradient of `pow` with respect to the base: `x2 x1^(x2 - 1)`, and 0 if the exponent is 0. If the dtype cannot
/// represent `x2 - 1` for a large exponent, rounding might turn an odd exponent into an even one. The power is then
/// computed as `x1^x2 / x1`.
pub fn pow_x1<B: Backend, T: Float>(
    b: &B,
    g: &B::Array<T>,
    y: &B::Array<T>,
    x1: Operand<'_, B, T>,
    x2: Operand<'_, B, T>,
) -> Result<B::Array<T>> {
    let x1 = &*whole_operand(b, &x1)?;
    if is_16_bit::<T>() {
        let x2 = &*whole_operand(b, &x2)?;
        return in_float32::<B, T, 4>(b, [g, y, x1, x2], |[g, y, x1, x2]| {
            pow_x1::<B, T::InFloat32>(b, g, y, Operand::array(x1), Operand::array(x2))
        });
    }
    if let Operand::Scalar(x2) = x2 {
        let x2 = rounded(x2);
        let before = rounded(x2.minus(T::ONE));
        if x2 == T::ZERO {
            return b.zeros_like::<T>(g);
        }
        if rounded(x2.minus(before)) == T::ONE || T::dtype().kind() == DTypeKind::Complex {
            return b.multiply(b.multiply(g, x2)?, b.pow(x1, before)?);
        }
    }
    let x2 = &*whole_operand(b, &x2)?;
    if T::dtype().kind() == DTypeKind::Complex {
        // if the exponent is 0, the base is replaced by 1: for a base of 0, the power would be infinite, and its
        // product with the exponent NaN. So the derivative of this expression with respect to `g` is not NaN either
        return expr!(b, g * x2 * pow(where(x2 == 0.0, T::ONE, x1), x2 - 1.0));
    }
    expr!(b,
        let before = x2 - 1.0;
        let is_held = (x2 - before == 1.0) | (x1 == 0.0) | !isfinite(y);
        let power = where(is_held, pow(x1, before), y / where(x1 == 0.0, T::ONE, x1));
        where(x2 == 0.0, T::ZERO, g * x2 * power))
}

/// Gradient of `pow` with respect to the exponent: `y log(x1)`. The gradient is 0 if the base is 0, or if the base is
/// infinite and the power is 0.
pub fn pow_x2<B: Backend, T: Float>(
    b: &B,
    g: &B::Array<T>,
    y: &B::Array<T>,
    x1: Operand<'_, B, T>,
    x2: Operand<'_, B, T>,
) -> Result<B::Array<T>> {
    let x1 = &*whole_operand(b, &x1)?;
    if is_16_bit::<T>() {
        let x2 = &*whole_operand(b, &x2)?;
        return in_float32::<B, T, 3>(b, [g, x1, x2], |[g, x1, x2]| {
            pow_x2::<B, T::InFloat32>(b, g, &b.pow(x1, x2)?, Operand::array(x1), Operand::array(x2))
        });
    }
    // if the gradient is defined as 0, both factors are replaced by 0, because a product of 0 and infinity would be
    // NaN, also in the derivative with respect to `g`
    expr!(b,
        let has_none = (x1 == 0.0) | (isinf(x1) & (y == 0.0));
        g * where(has_none, T::ZERO, y) * log(where(has_none, T::ONE, x1)))
}

/// Gradient of `gammainc` with respect to the second operand: the density of the gamma distribution.
pub fn gammainc<B: Backend, T: Real>(
    b: &B,
    g: &B::Array<T>,
    x1: Operand<'_, B, T>,
    x2: Operand<'_, B, T>,
) -> Result<B::Array<T>> {
    density(b, g, &*whole_operand(b, &x1)?, &*whole_operand(b, &x2)?)
}

/// Computes `g` times the density at `x2` of the gamma distribution of order `x1`.
fn density<B: Backend, T: Real>(b: &B, g: &B::Array<T>, x1: &B::Array<T>, x2: &B::Array<T>) -> Result<B::Array<T>> {
    if is_16_bit::<T>() {
        return in_float32::<B, T, 3>(b, [g, x1, x2], |[g, x1, x2]| density::<B, T::InFloat32>(b, g, x1, x2));
    }
    // The density is `x2^(x1 - 1) exp(-x2) / gamma(x1)`. For large orders `x1`, the factors exceed the range of the
    // dtype, and their logarithms cancel. By Stirling's series, minus the logarithm of the density is the divergence
    // `kl_div(x1, x2)` plus smaller terms.
    let large = expr!(b, (x1 >= 16.0) & (x2 > 0.0) & (x2 < f64::INFINITY))?;
    let (order, point) = (b.r#where(&large, x1, number::<T>(16.0))?, b.r#where(&large, x2, number::<T>(16.0))?);
    let term = expr!(b,
        let r = reciprocal(order);
        let s = r * r;
        r * (1.0 / 12.0 - s * (1.0 / 360.0 - s * (1.0 / 1260.0 - s * (1.0 / 1680.0 - s * (1.0 / 1188.0))))))?;
    let of_large = expr!(b, exp(-kl_div(order, point) - term) / point * sqrt(order) * 0.398_942_280_401_432_7)?;
    let (order, point) = (b.r#where(&large, T::ONE, x1)?, b.r#where(&large, T::ONE, x2)?);
    let direct = expr!(b, exp(xlogy(order - 1.0, point) - point - lgamma(order)))?;
    // at infinity the exponential function goes to 0 faster than the power grows, so the density is 0
    let direct = expr!(b, where(point < f64::INFINITY, direct, T::ZERO))?;
    b.multiply(g, b.r#where(large, of_large, direct)?)
}

/// Gradient of `gammaincc` with respect to the second operand.
pub fn gammaincc<B: Backend, T: Real>(
    b: &B,
    g: &B::Array<T>,
    x1: Operand<'_, B, T>,
    x2: Operand<'_, B, T>,
) -> Result<B::Array<T>> {
    b.negative(gammainc(b, g, x1, x2)?)
}

/// Gradient of `gelu`. With `approximate`, the function is the approximation by `tanh`.
pub fn gelu<B: Backend, T: Real>(b: &B, g: &B::Array<T>, x: &B::Array<T>, approximate: bool) -> Result<B::Array<T>> {
    // outside of this range the derivative is 0 or 1 in every dtype; within this range squares do not overflow
    let x = &b.clip(x, T::of(-40.0), T::of(40.0))?;
    let square = b.square(x)?;
    let slope = if approximate {
        // y = x / 2 (1 + tanh(u)), u = sqrt(2 / pi) (x + 0.044715 x^3)
        let (c, k) = (0.797_884_560_802_865_4, 0.044715);
        let u = b.multiply(b.multiply(x, c)?, b.add(b.multiply(&square, k)?, 1.0)?)?;
        let tanh = b.tanh(u)?;
        let along = b.multiply(x, b.multiply(b.add(b.multiply(&square, 3.0 * k)?, 1.0)?, 0.5 * c)?)?;
        let bend = b.multiply(b.subtract(1.0, b.square(&tanh)?)?, along)?;
        b.add(b.multiply(b.add(tanh, 1.0)?, 0.5)?, bend)?
    } else {
        let below = b.multiply(b.erfc(b.multiply(x, -std::f64::consts::FRAC_1_SQRT_2)?)?, 0.5)?;
        let density = b.multiply(b.exp(b.multiply(square, -0.5)?)?, 0.398_942_280_401_432_7)?;
        b.add(below, b.multiply(x, density)?)?
    };
    b.multiply(g, slope)
}
