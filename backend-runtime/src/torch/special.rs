//! Interpolation.

use super::{
    Torch, TorchArray,
    call::args,
    ops, sorting,
    tensor::{Number, Tensor},
};
use crate::{DType, Precision, Result, Side, rules};

/// Linear interpolation of points, in float64 as NumPy does it.
pub fn interp<T: Precision>(
    b: &Torch,
    x: &TorchArray<T>,
    xp: &TorchArray<T>,
    fp: &TorchArray<T>,
    left: Option<f64>,
    right: Option<f64>,
) -> Result<TorchArray<T>> {
    let on = b.on("interp");
    let n = rules::interpolated(on.op, xp.shape(), fp.shape())?;
    let after = sorting::searchsorted(b, xp, x, Side::Right).map_err(|e| e.within(on.op))?;
    let wide = |x: &TorchArray<T>| on.cast(x.tensor(), DType::Float64);
    let (x, xp, fp) = (wide(x)?, wide(xp)?, wide(fp)?);
    let end = |given: Option<f64>, at: usize| match given {
        Some(value) => on.number(Number::of(value)),
        None => on.call(&ops::SELECT, args![&fp, 0_i64, at]),
    };
    let (left, right) = (end(left, 0)?, end(right, n - 1)?);
    let at = |points: &Tensor, index: &Tensor| on.call(&ops::TAKE, args![points, index]);
    // the interval of each x: points low and low + 1, both the last one at the right end
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
    // NumPy's way out of infinite points: from the other end, then the value that both ends have
    y = on.select(&is_nan(&y)?, &line(&x1, &y1)?, &y)?;
    let level = on.call(&ops::EQ, args![&y0, &y1])?;
    y = on.select(&on.call(&ops::LOGICAL_AND, args![&is_nan(&y)?, &level])?, &y0, &y)?;
    y = on.select(&on.call(&ops::EQ, args![&x, &x0])?, &y0, &y)?;
    let point = |at: usize| on.call(&ops::SELECT, args![&xp, 0_i64, at]);
    y = on.select(&on.call(&ops::LT, args![&x, &point(0)?])?, &left, &y)?;
    y = on.select(&on.call(&ops::GT, args![&x, &point(n - 1)?])?, &right, &y)?;
    y = on.select(&is_nan(&x)?, &x, &y)?;
    on.array(on.cast(&y, T::DTYPE)?)
}
