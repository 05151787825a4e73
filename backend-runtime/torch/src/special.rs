//! Interpolation, and special functions that libtorch lacks or computes less accurately.

use super::{
    call::{OpContext, args},
    ops, sorting,
    strategy::DtypeStrategy,
    tensor::{Number, Tensor},
};
use backend_core::{
    DType, Result, Side,
    raw::{RawElement, RawOperand},
    rules,
};
use std::f64::consts::{FRAC_1_SQRT_2, PI};

/// Linear interpolation between points, computed in float64 as in NumPy.
pub fn interp(
    on: OpContext<'_>,
    x: &Tensor,
    xp: &Tensor,
    fp: &Tensor,
    left: Option<f64>,
    right: Option<f64>,
) -> Result<Tensor> {
    let n = rules::interpolated(on.op, xp.shape(), fp.shape())?;
    let after = sorting::searchsorted(on, xp, RawOperand::Array(x), Side::Right, None)?;
    let wide = |x: &Tensor| on.cast(x, DType::Float64);
    let (x, xp, fp) = (wide(x)?, wide(xp)?, wide(fp)?);
    let end = |given: Option<f64>, at: usize| match given {
        Some(value) => on.number(Number::of(value)),
        None => on.call(&ops::SELECT, args![&fp, 0_i64, at]),
    };
    let (left, right) = (end(left, 0)?, end(right, n - 1)?);
    let at = |points: &Tensor, index: &Tensor| on.call(&ops::TAKE, args![points, index]);
    // each x lies between the points with the indices low and low + 1; at the right end, both indices are that of the
    // last point
    let low = on.call(&ops::SUB, args![&after, Number::of(1_i64)])?;
    let low = on.call(&ops::CLAMP, args![&low, 0_i64, n - 1])?;
    let high = on.call(&ops::CLAMP, args![&on.call(&ops::ADD, args![&low, Number::of(1_i64)])?, 0_i64, n - 1])?;
    let (x0, x1, y0, y1) = (at(&xp, &low)?, at(&xp, &high)?, at(&fp, &low)?, at(&fp, &high)?);
    let sub = |a: &Tensor, b: &Tensor| on.call(&ops::SUB, args![a, b]);
    let slope = on.call(&ops::DIV, args![&sub(&y1, &y0)?, &sub(&x1, &x0)?])?;
    let line =
        |x0: &Tensor, y0: &Tensor| on.call(&ops::ADD, args![&on.call(&ops::MUL, args![&slope, &sub(&x, x0)?])?, y0]);
    let is_nan = |y: &Tensor| on.call(&ops::ISNAN, args![y]);
    let mut y = line(&x0, &y0)?;
    // if a point is infinite, the line from the left point may give NaN. As in NumPy, the line is then computed from
    // the right point, and if this also gives NaN and both points have the same `y`, the result is this `y`
    y = on.select(&is_nan(&y)?, &line(&x1, &y1)?, &y)?;
    let level = on.call(&ops::EQ, args![&y0, &y1])?;
    y = on.select(&on.call(&ops::LOGICAL_AND, args![&is_nan(&y)?, &level])?, &y0, &y)?;
    y = on.select(&on.call(&ops::EQ, args![&x, &x0])?, &y0, &y)?;
    let point = |at: usize| on.call(&ops::SELECT, args![&xp, 0_i64, at]);
    y = on.select(&on.call(&ops::LT, args![&x, &point(0)?])?, &left, &y)?;
    y = on.select(&on.call(&ops::GT, args![&x, &point(n - 1)?])?, &right, &y)?;
    y = on.select(&is_nan(&x)?, &x, &y)?;
    on.cast(&y, on.dtype)
}

/// `sin(pi x) / (pi x)`, computed from the distance to the nearest integer, so that it is exactly 0 at nonzero
/// integers.
pub fn sinc(on: OpContext<'_>, x: &Tensor) -> Result<Tensor> {
    let via = DtypeStrategy::Float32;
    let x = on.enter(via, x)?;
    let nearest = on.call(&ops::ROUND, args![&x])?;
    let sine = on.call(&ops::SIN, args![&on.scaled(&on.call(&ops::SUB, args![&x, &nearest])?, PI)?])?;
    let half = on.scaled(&nearest, 0.5)?;
    let odd = on.call(&ops::NE, args![&half, &on.call(&ops::ROUND, args![&half])?])?;
    let sine = on.select(&odd, &on.call(&ops::NEG, args![&sine])?, &sine)?;
    let value = on.call(&ops::DIV, args![&sine, &on.scaled(&x, PI)?])?;
    let zero = on.call(&ops::EQ, args![&x, Number::of(0_i64)])?;
    on.leave(via, on.select(&zero, &on.call(&ops::ONES_LIKE, args![&x])?, &value)?)
}

/// `x` where it is positive, else `negative_slope` times `x`. As in NumPy, the slope is rounded to the dtype in which
/// the function is computed.
pub fn leaky_relu(on: OpContext<'_>, x: &Tensor, negative_slope: f64) -> Result<Tensor> {
    let slope = computed(on, negative_slope);
    let x = on.enter(DtypeStrategy::Float32, x)?;
    on.leave(DtypeStrategy::Float32, on.call(&ops::LEAKY_RELU, args![&x, slope])?)
}

/// `x` where it is positive, else `alpha (exp(x) - 1)`. As in NumPy, `alpha` is rounded to the dtype in which the
/// function is computed. libtorch's own op gives 0 at 0 even if `alpha` is infinite or NaN.
pub fn elu(on: OpContext<'_>, x: &Tensor, alpha: f64) -> Result<Tensor> {
    let alpha = computed(on, alpha);
    let x = on.enter(DtypeStrategy::Float32, x)?;
    let value = if alpha.is_finite() {
        on.call(&ops::ELU, args![&x, alpha])?
    } else {
        let below = on.scaled(&on.call(&ops::EXPM1, args![&x])?, alpha)?;
        on.select(&on.call(&ops::GT, args![&x, Number::of(0_i64)])?, &x, &below)?
    };
    on.leave(DtypeStrategy::Float32, value)
}

/// `log(1 + exp(beta x)) / beta`. The product and the quotient are separate ops. So results follow the formula even if
/// they overflow, and for an infinite or zero `beta`. For `y` above 40, `log(1 + exp(y))` rounds to `y` in every dtype,
/// so 40 is passed as the threshold above which libtorch's op returns `y`.
pub fn softplus(on: OpContext<'_>, x: &Tensor, beta: f64) -> Result<Tensor> {
    let x = on.enter(DtypeStrategy::Float32, x)?;
    let value = on.call(&ops::SOFTPLUS, args![&on.scaled(&x, beta)?, 1.0, 40.0])?;
    let beta = Number::real(beta, value.is(DType::Float64));
    on.leave(DtypeStrategy::Float32, on.call(&ops::DIV, args![&value, beta])?)
}

/// Rounds a parameter of an activation function to the dtype in which the function is computed: float32 for 16-bit
/// floats, otherwise the dtype of the call.
fn computed(on: OpContext<'_>, number: f64) -> f64 {
    let dtype = if on.dtype.size() == 2 { DType::Float32 } else { on.dtype };
    RawElement::of(number).to(dtype).to_f64()
}

/// `x` times the standard normal distribution function at `x`. If `approximate` is true, the distribution function is
/// approximated by `tanh`. libtorch's own op suffers from cancellation for negative `x`.
pub fn gelu(on: OpContext<'_>, x: &Tensor, approximate: bool) -> Result<Tensor> {
    let via = DtypeStrategy::Float32;
    let x = on.enter(via, x)?;
    let plus_1 = |x: &Tensor| on.call(&ops::ADD, args![x, Number::of(1_i64)]);
    let twice_share = if approximate {
        let square = on.call(&ops::MUL, args![&x, &x])?;
        let cubic = on.call(&ops::MUL, args![&plus_1(&on.scaled(&square, 0.044715)?)?, &x])?;
        plus_1(&on.call(&ops::TANH, args![&on.scaled(&cubic, 0.797_884_560_802_865_4)?])?)?
    } else {
        on.call(&ops::ERFC, args![&on.scaled(&x, -FRAC_1_SQRT_2)?])?
    };
    on.leave(via, on.call(&ops::MUL, args![&on.scaled(&x, 0.5)?, &twice_share])?)
}
