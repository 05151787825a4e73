//! Gradient rules of special functions whose derivatives are differences of nearly equal numbers; the rules avoid this
//! cancellation.

use super::in_float32;
use crate::{
    Backend, DType, Real, Result, grad::recording::whole as whole_operand, runtime::Operand, segments::is_16_bit,
};

/// Gradient of `beta` with respect to the first argument: `y (digamma(x1) - digamma(x1 + x2))`.
pub fn beta_x1<B: Backend, T: Real>(
    b: &B,
    g: &B::Array<T>,
    y: &B::Array<T>,
    x1: Operand<'_, B, T>,
    x2: Operand<'_, B, T>,
) -> Result<B::Array<T>> {
    beta(b, g, y, &*whole_operand(b, &x1)?, &*whole_operand(b, &x2)?)
}

/// Gradient of `beta` with respect to the second argument.
pub fn beta_x2<B: Backend, T: Real>(
    b: &B,
    g: &B::Array<T>,
    y: &B::Array<T>,
    x1: Operand<'_, B, T>,
    x2: Operand<'_, B, T>,
) -> Result<B::Array<T>> {
    beta_x1(b, g, y, x2, x1)
}

fn beta<B: Backend, T: Real>(
    b: &B,
    g: &B::Array<T>,
    y: &B::Array<T>,
    x1: &B::Array<T>,
    x2: &B::Array<T>,
) -> Result<B::Array<T>> {
    if is_16_bit::<T>() {
        // `beta` may exceed the range of 16-bit floats although the derivative does not
        return in_float32::<B, T, 3>(b, [g, x1, x2], |[g, x1, x2]| {
            beta::<B, T::InFloat32>(b, g, &b.beta(x1, x2)?, x1, x2)
        });
    }
    // multiplies in an order that does not overflow; at `y == 0` the gradient is 0, because the other factor, which is
    // like the logarithm of `y`, grows more slowly than `y` goes to 0
    let factor = expr!(b, where(abs(x2) < 1.0, y * x2, x2))?;
    let rise = rise_of_digamma(b, x1, x2, &factor)?;
    expr!(b, -g * where(y == 0.0, T::ZERO, rise * where(abs(x2) < 1.0, T::ONE, y)))
}

/// Gradient of `betaln` with respect to the first argument: `digamma(x1) - digamma(x1 + x2)`.
pub fn betaln_x1<B: Backend, T: Real>(
    b: &B,
    g: &B::Array<T>,
    x1: Operand<'_, B, T>,
    x2: Operand<'_, B, T>,
) -> Result<B::Array<T>> {
    betaln(b, g, &*whole_operand(b, &x1)?, &*whole_operand(b, &x2)?)
}

/// Gradient of `betaln` with respect to the second argument.
pub fn betaln_x2<B: Backend, T: Real>(
    b: &B,
    g: &B::Array<T>,
    x1: Operand<'_, B, T>,
    x2: Operand<'_, B, T>,
) -> Result<B::Array<T>> {
    betaln_x1(b, g, x2, x1)
}

fn betaln<B: Backend, T: Real>(b: &B, g: &B::Array<T>, x1: &B::Array<T>, x2: &B::Array<T>) -> Result<B::Array<T>> {
    if is_16_bit::<T>() {
        return in_float32::<B, T, 3>(b, [g, x1, x2], |[g, x1, x2]| betaln::<B, T::InFloat32>(b, g, x1, x2));
    }
    b.negative(b.multiply(g, rise_of_digamma(b, x1, x2, x2)?)?)
}

/// Computes `times (digamma(x + by) - digamma(x)) / by`. If `x` and `x + by` are positive, the computation uses sums of
/// positive terms; otherwise, it uses the difference of the two values of digamma.
fn rise_of_digamma<B: Backend, T: Real>(
    b: &B,
    x: &B::Array<T>,
    by: &B::Array<T>,
    times: &B::Array<T>,
) -> Result<B::Array<T>> {
    /// Number of unit steps from `x` to the range in which the series below is accurate to float64.
    const STEPS: usize = 12;
    let is_plain = expr!(b, (x > 0.0) & (x + by > 0.0) & (x < f64::INFINITY) & (by < f64::INFINITY))?;
    let (low, step) = (b.r#where(&is_plain, x, T::ONE)?, b.r#where(&is_plain, by, T::ONE)?);
    let high = expr!(b, low + step)?;
    // uses digamma(x + 1) = digamma(x) + 1 / x
    let mut sum = expr!(b, times / low / high)?;
    for k in 1..STEPS {
        let k = T::of(k as f64);
        sum = expr!(b, sum + times / (low + k) / (high + k))?;
    }
    // the asymptotic series is log(x) - 1 / (2 x) - sum of B(2 k) / (2 k x^(2 k)); differences of its terms are written
    // as products
    let steps = T::of(STEPS as f64);
    let (from, to) = (expr!(b, low + steps)?, expr!(b, high + steps)?);
    let ratio = expr!(b, step / from)?;
    let log = expr!(b, where(abs(ratio) < 1e-30, T::ONE, log1p(ratio) / where(ratio == 0.0, T::ONE, ratio)) / from)?;
    let (u, v) = (expr!(b, 1.0 / (from * from))?, expr!(b, 1.0 / (to * to))?);
    // (u^n - v^n) / (u - v) = u (u^(n - 1) - v^(n - 1)) / (u - v) + v^(n - 1)
    let (mut series, mut quotient, mut power) = (b.zeros_like::<T>(&u)?, b.ones_like::<T>(&u)?, b.ones_like::<T>(&u)?);
    for c in [1.0 / 12.0, -1.0 / 120.0, 1.0 / 252.0, -1.0 / 240.0, 1.0 / 132.0, -691.0 / 32760.0] {
        let c = T::of(c);
        series = expr!(b, series + c * quotient)?;
        power = b.multiply(&power, &v)?;
        quotient = expr!(b, u * quotient + power)?;
    }
    // (u - v) / by = (1 / from + 1 / to) / (from to)
    let stable = expr!(b, sum + times * (log + (0.5 + series * (1.0 / from + 1.0 / to)) / from / to))?;
    // the sum of the arguments may overflow although its logarithm does not
    let (x, by) = (b.r#where(&is_plain, T::ONE, x)?, b.r#where(&is_plain, T::ONE, by)?);
    let log_of_2 = T::of(std::f64::consts::LN_2);
    let whole = expr!(b, where(isinf(x + by), log(x * 0.5 + by * 0.5) + log_of_2, digamma(x + by)))?;
    let other = expr!(b, where(by == 0.0, T::ZERO, (whole - digamma(x)) * where(times == by, T::ONE, times / by)))?;
    b.r#where(is_plain, stable, other)
}

/// Coefficients of `1 - I1(x) / I0(x)` as a series in `1 / x`, beginning with the first power. With `c0 = 1`, the
/// recurrence is `2 c(m) = (m - 2) c(m - 1) - sum of c(i) c(m - i)`.
fn fall_of_ratio() -> [f64; 12] {
    let mut c = [0.0; 13];
    c[0] = 1.0;
    for m in 1..c.len() {
        let products: f64 = (1..m).map(|i| c[i] * c[m - i]).sum();
        c[m] = ((m as f64 - 2.0) * c[m - 1] - products) / 2.0;
    }
    std::array::from_fn(|k| -c[k + 1])
}

/// The magnitude above which the series of `fall_of_ratio` is used, for real dtypes of 32 and 64 bits. For a smaller
/// magnitude x, the direct computation of the difference loses fewer than 2 x units in the last place.
fn far<T: Real>() -> T {
    T::of(if T::dtype() == DType::Float64 { 40.0 } else { 10.0 })
}

/// `1 - I1(s) / I0(s)` and `1 / s` for magnitudes `s` of at least `far`. Smaller magnitudes are replaced by `far`.
#[allow(clippy::type_complexity)] // a pair of results
fn ratio_at<B: Backend, T: Real>(b: &B, x: &B::Array<T>) -> Result<(B::Array<T>, B::Array<T>)> {
    let far = far::<T>();
    let inverse = expr!(b, 1.0 / maximum(abs(x), far))?;
    let mut sum = b.zeros_like::<T>(&inverse)?;
    for c in fall_of_ratio().into_iter().rev().map(T::of) {
        sum = expr!(b, (sum + c) * inverse)?;
    }
    Ok((sum, inverse))
}

/// Gradient of `i0e`: `i1e(x) - sign(x) y`.
pub fn i0e<B: Backend, T: Real>(b: &B, g: &B::Array<T>, y: &B::Array<T>, x: &B::Array<T>) -> Result<B::Array<T>> {
    if is_16_bit::<T>() {
        return in_float32::<B, T, 2>(b, [g, x], |[g, x]| i0e::<B, T::InFloat32>(b, g, &b.i0e(x)?, x));
    }
    let ((ratio, _), far) = (ratio_at(b, x)?, far::<T>());
    expr!(b, g * where(abs(x) > far, -sign(x) * y * ratio, i1e(x) - sign(x) * y))
}

/// Gradient of `i1e`: `i0e(x) - y / x - sign(x) y`, and one half at 0.
pub fn i1e<B: Backend, T: Real>(b: &B, g: &B::Array<T>, y: &B::Array<T>, x: &B::Array<T>) -> Result<B::Array<T>> {
    if is_16_bit::<T>() {
        return in_float32::<B, T, 2>(b, [g, x], |[g, x]| i1e::<B, T::InFloat32>(b, g, &b.i1e(x)?, x));
    }
    let ((ratio, inverse), far) = (ratio_at(b, x)?, far::<T>());
    let divisor = b.r#where(b.equal(x, T::ZERO)?, T::ONE, x)?;
    let near = expr!(b, where(x == 0.0, 0.5, i0e(x) - y / divisor - sign(x) * y))?;
    expr!(b, g * where(abs(x) > far, abs(y) * (ratio / (1.0 - ratio) - inverse), near))
}
