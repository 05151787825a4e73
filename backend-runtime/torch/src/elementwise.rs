//! Elementwise ops that libtorch lacks for some dtypes, or defines differently from NumPy. If the op table defines an
//! op by an expression and names no op of libtorch for it, the functions `each1` and so on compute the expression in a
//! loop over host memory.

pub use super::loops::{each_of1, each_of2, each_of3, each1, each2, each3};

use super::{
    call::{OpContext, args},
    ops,
    strategy::{DtypeStrategy, join_parts},
    tensor::{Number, Tensor},
    with::is_wide_unsigned,
};
use backend_core::{
    Complex, DType, DTypeKind, Result,
    raw::{RawElement, RawOperand},
};

/// The number 0 as an integer scalar, which libtorch converts to the dtype of the other operand.
const ZERO: i64 = 0;

/// The quotient rounded toward minus infinity; 0 for a zero integer divisor.
pub fn floor_divide(on: OpContext<'_>, x1: RawOperand<'_, Tensor>, x2: RawOperand<'_, Tensor>) -> Result<Tensor> {
    if on.dtype.kind() == DTypeKind::Real {
        let [x, y] = on.operands(DtypeStrategy::Float32, [x1, x2])?;
        return on.leave(DtypeStrategy::Float32, on.call(&ops::FLOOR_DIVIDE, args![&x, &y])?);
    }
    let (x, y) = integers(on, x1, x2)?;
    from_integers(on, quotient(on, &x, &y)?)
}

/// The remainder of `floor_divide`, with the sign of the divisor.
pub fn remainder(on: OpContext<'_>, x1: RawOperand<'_, Tensor>, x2: RawOperand<'_, Tensor>) -> Result<Tensor> {
    if on.dtype.kind() == DTypeKind::Real {
        let [x, y] = on.operands(DtypeStrategy::Float32, [x1, x2])?;
        // C's remainder is exact and has the sign of x; a remainder of zero gets the sign of y, as in NumPy
        let rest = real_fmod(on, &x, &y)?;
        let zero = on.call(&ops::EQ, args![&rest, Number::of(ZERO)])?;
        let sign = |x: &Tensor| on.call(&ops::LT, args![x, Number::of(ZERO)]);
        let other_sign = on.call(&ops::NE, args![&sign(&rest)?, &sign(&y)?])?;
        let moved = on.select(&other_sign, &on.call(&ops::ADD, args![&rest, &y])?, &rest)?;
        return on
            .leave(DtypeStrategy::Float32, on.select(&zero, &on.call(&ops::COPYSIGN, args![&rest, &y])?, &moved)?);
    }
    let (x, y) = integers(on, x1, x2)?;
    from_integers(on, integer_remainder(on, &x, &y)?)
}

/// The remainder of the floored quotient, for operands that [`integers`] has converted. The result is 0 if `y` is 0.
fn integer_remainder(on: OpContext<'_>, x: &Tensor, y: &Tensor) -> Result<Tensor> {
    let product = on.call(&ops::MUL, args![&quotient(on, x, y)?, y])?;
    let rest = on.call(&ops::SUB, args![x, &product])?;
    let no_divisor = on.call(&ops::EQ, args![y, Number::of(ZERO)])?;
    on.select(&no_divisor, &on.call(&ops::ZEROS_LIKE, args![&rest])?, &rest)
}

/// The remainder of the quotient rounded toward 0, with the sign of the dividend.
pub fn fmod(on: OpContext<'_>, x1: RawOperand<'_, Tensor>, x2: RawOperand<'_, Tensor>) -> Result<Tensor> {
    if on.dtype.kind() == DTypeKind::Real {
        let [x, y] = on.operands(DtypeStrategy::Float32, [x1, x2])?;
        return on.leave(DtypeStrategy::Float32, real_fmod(on, &x, &y)?);
    }
    let (x, y) = integers(on, x1, x2)?;
    let rest = integer_remainder(on, &x, &y)?;
    if on.dtype.kind() == DTypeKind::Unsigned {
        return from_integers(on, rest);
    }
    // if the signs differ and the remainder is not 0, the floored quotient is one less than the truncated quotient
    let below = |x: &Tensor| on.call(&ops::LT, args![x, Number::of(ZERO)]);
    let other_sign = on.call(&ops::NE, args![&below(&rest)?, &below(&x)?])?;
    let some = on.call(&ops::NE, args![&rest, Number::of(ZERO)])?;
    let moved = on.call(&ops::SUB, args![&rest, &y])?;
    from_integers(on, on.select(&on.call(&ops::LOGICAL_AND, args![&other_sign, &some])?, &moved, &rest)?)
}

/// C's remainder. libtorch returns NaN on the CPU if the quotient overflows. So `x` is first replaced by its remainders
/// modulo large multiples of `y`, which does not change the result. If a multiple is infinite or larger than `x`, `x`
/// stays unchanged.
fn real_fmod(on: OpContext<'_>, x: &Tensor, y: &Tensor) -> Result<Tensor> {
    let step = |x: &Tensor, y: &Tensor| on.call(&ops::FMOD, args![x, y]);
    if on.backend.index() >= 0 {
        return step(x, y);
    }
    if x.is(DType::Float32) {
        let rest = step(&on.cast(x, DType::Float64)?, &on.cast(y, DType::Float64)?)?;
        return on.cast(&rest, DType::Float32);
    }
    let large = on.call(&ops::MUL, args![y, Number::of(2_f64.powi(950))])?;
    let larger = on.call(&ops::MUL, args![&large, Number::of(2_f64.powi(950))])?;
    step(&step(&step(x, &larger)?, &large)?, y)
}

/// Converts integer operands to a dtype that libtorch can divide: uint16 and uint32 to int64, and uint64 to the int64
/// with the same bits.
fn integers(on: OpContext<'_>, x1: RawOperand<'_, Tensor>, x2: RawOperand<'_, Tensor>) -> Result<(Tensor, Tensor)> {
    let [x, y] = on.operands(DtypeStrategy::Direct, [x1, x2])?;
    match on.dtype {
        DType::UInt64 => Ok((
            on.call(&ops::VIEW_DTYPE, args![&x, DType::Int64])?,
            on.call(&ops::VIEW_DTYPE, args![&y, DType::Int64])?,
        )),
        DType::UInt16 | DType::UInt32 => Ok((on.cast(&x, DType::Int64)?, on.cast(&y, DType::Int64)?)),
        _ => Ok((x, y)),
    }
}

/// Converts back from the dtype of [`integers`], keeping the low bits.
fn from_integers(on: OpContext<'_>, x: Tensor) -> Result<Tensor> {
    match on.dtype {
        DType::UInt64 => on.call(&ops::VIEW_DTYPE, args![&x, DType::UInt64]),
        other => on.cast(&x, other),
    }
}

/// The floored integer quotient, for operands that [`integers`] has converted. Divisors 0 and -1 are replaced first,
/// because the processor traps on a division by 0, and on a division of the smallest number by -1.
fn quotient(on: OpContext<'_>, x: &Tensor, y: &Tensor) -> Result<Tensor> {
    let zero = on.call(&ops::EQ, args![y, Number::of(ZERO)])?;
    let one = on.call(&ops::ONES_LIKE, args![y])?;
    let q = match on.dtype {
        DType::UInt64 => unsigned_quotient(on, x, &on.select(&zero, &one, y)?)?,
        dtype if dtype.kind() == DTypeKind::Unsigned => {
            on.call(&ops::FLOOR_DIVIDE, args![x, &on.select(&zero, &one, y)?])?
        }
        _ => {
            let minus_one = on.call(&ops::EQ, args![y, Number::of(-1_i64)])?;
            let special = on.call(&ops::BITWISE_OR, args![&zero, &minus_one])?;
            let q = on.call(&ops::FLOOR_DIVIDE, args![x, &on.select(&special, &one, y)?])?;
            on.select(&minus_one, &on.call(&ops::NEG, args![x])?, &q)?
        }
    };
    on.select(&zero, &on.call(&ops::ZEROS_LIKE, args![&q])?, &q)
}

/// `x / y` for uint64 numbers that are given as the int64 with the same bits; `y` must not be 0.
fn unsigned_quotient(on: OpContext<'_>, x: &Tensor, y: &Tensor) -> Result<Tensor> {
    let at_least = |x: &Tensor, y: &Tensor| {
        let [x, y] = [flip_first(on, x)?, flip_first(on, y)?];
        on.cast(&on.call(&ops::GE, args![&x, &y])?, DType::Int64)
    };
    // half of x fits in int64; twice the quotient of that half is exact or one too small
    let huge = on.call(&ops::LT, args![y, Number::of(ZERO)])?;
    let small = on.select(&huge, &on.call(&ops::ONES_LIKE, args![y])?, y)?;
    let half = on.call(&ops::FLOOR_DIVIDE, args![&half(on, x)?, &small])?;
    let q = on.call(&ops::SHIFT_LEFT, args![&half, Number::of(1_i64)])?;
    let rest = on.call(&ops::SUB, args![x, &on.call(&ops::MUL, args![&q, &small])?])?;
    let q = on.call(&ops::ADD, args![&q, &at_least(&rest, &small)?])?;
    // for a divisor of 2^63 or more, the quotient is 0 or 1
    on.select(&huge, &at_least(x, y)?, &q)
}

/// uint64 in the bits of int64, with the first bit flipped so that comparing as int64 gives the unsigned order.
fn flip_first(on: OpContext<'_>, x: &Tensor) -> Result<Tensor> {
    on.call(&ops::BITWISE_XOR, args![x, Number::of(i64::MIN)])
}

/// Half of a uint64, in the bits of int64.
fn half(on: OpContext<'_>, x: &Tensor) -> Result<Tensor> {
    let shifted = on.call(&ops::SHIFT_RIGHT, args![x, Number::of(1_i64)])?;
    on.call(&ops::BITWISE_AND, args![&shifted, Number::of(i64::MAX)])
}

/// 0 for negative `x1`, 1 for positive `x1`, and `x2` at 0. NaN gives NaN, whereas libtorch returns 0.
pub fn heaviside(on: OpContext<'_>, x1: RawOperand<'_, Tensor>, x2: RawOperand<'_, Tensor>) -> Result<Tensor> {
    let [x, at_zero] = on.operands(DtypeStrategy::Direct, [x1, x2])?;
    let step = on.call(&ops::HEAVISIDE, args![&x, &at_zero])?;
    on.select(&on.call(&ops::ISNAN, args![&x])?, &x, &step)
}

/// The cube root, computed as the power 1/3 and corrected for the rounding error of 1/3.
pub fn cbrt(on: OpContext<'_>, x: &Tensor) -> Result<Tensor> {
    let via = DtypeStrategy::Float32;
    let x = on.enter(via, x)?;
    let (third, lost) = match on.dtype {
        DType::Float64 => (Number::of(1.0 / 3.0_f64), 1.850_371_707_708_594e-17),
        _ => (Number::of(1.0 / 3.0_f32), -9.934_107_462_565_104e-9),
    };
    let size = on.call(&ops::ABS, args![&x])?;
    let root = on.call(&ops::POW, args![&size, &on.number(third)?])?;
    let log = on.call(&ops::LOG, args![&size])?;
    let correction = on.call(&ops::MUL, args![&on.scaled(&log, lost)?, &root])?;
    let value = on.call(&ops::ADD, args![&root, &correction])?;
    // 0 and infinity are their own roots
    let finite = on.call(&ops::ISFINITE, args![&log])?;
    let value = on.select(&finite, &value, &size)?;
    on.leave(via, on.call(&ops::COPYSIGN, args![&value, &x])?)
}

/// Linear interpolation from `x1` to `x2`: weight 0 gives `x1`, and weight 1 gives `x2`.
pub fn lerp(
    on: OpContext<'_>,
    x1: RawOperand<'_, Tensor>,
    x2: RawOperand<'_, Tensor>,
    weight: RawOperand<'_, Tensor>,
) -> Result<Tensor> {
    let [x1, x2, weight] = on.operands(DtypeStrategy::Float32, [x1, x2, weight])?;
    on.leave(DtypeStrategy::Float32, on.call(&ops::LERP, args![&x1, &x2, &weight])?)
}

/// Tests for each element whether `|x1 - x2| <= atol + rtol |x2|`. Negative tolerances, which libtorch refuses, make
/// only equal elements close.
pub fn isclose(
    on: OpContext<'_>,
    x1: RawOperand<'_, Tensor>,
    x2: RawOperand<'_, Tensor>,
    rtol: f64,
    atol: f64,
    equal_nan: bool,
) -> Result<Tensor> {
    let [x, y] = on.operands(DtypeStrategy::Direct, [x1, x2])?;
    let both = |op, x: &Tensor, y: &Tensor| {
        on.call(&ops::LOGICAL_AND, args![&on.call(op, args![x])?, &on.call(op, args![y])?])
    };
    let distance = on.call(&ops::ABS, args![&on.call(&ops::SUB, args![&x, &y])?])?;
    let size = on.call(&ops::ABS, args![&y])?;
    let [rtol, atol] = [rtol, atol].map(|x| Number::from(RawElement::of(x).to(on.dtype.to_real())));
    let allowed = on.call(&ops::ADD, args![&on.call(&ops::MUL, args![&size, rtol])?, atol])?;
    let near = on.call(&ops::LE, args![&distance, &allowed])?;
    let near = on.call(&ops::LOGICAL_AND, args![&near, &both(&ops::ISFINITE, &x, &y)?])?;
    let close = on.call(&ops::LOGICAL_OR, args![&on.call(&ops::EQ, args![&x, &y])?, &near])?;
    match equal_nan {
        true => on.call(&ops::LOGICAL_OR, args![&close, &both(&ops::ISNAN, &x, &y)?]),
        false => Ok(close),
    }
}

/// `x1` to the power `x2`; integers wrap.
pub fn pow(on: OpContext<'_>, x1: RawOperand<'_, Tensor>, x2: RawOperand<'_, Tensor>) -> Result<Tensor> {
    match on.dtype {
        DType::UInt64 => {
            let [x, y] = on.operands(DtypeStrategy::Wrap, [x1, x2])?;
            // the exponent `y` is twice its half, which fits in int64, plus its last bit
            let square = on.call(&ops::POW, args![&on.call(&ops::MUL, args![&x, &x])?, &half(on, &y)?])?;
            let bit = on.call(&ops::BITWISE_AND, args![&y, Number::of(1_i64)])?;
            on.leave(DtypeStrategy::Wrap, on.call(&ops::MUL, args![&square, &on.call(&ops::POW, args![&x, &bit])?])?)
        }
        DType::UInt16 | DType::UInt32 => {
            let [x, y] = on.operands(DtypeStrategy::Direct, [x1, x2])?;
            let power = on.call(&ops::POW, args![&on.cast(&x, DType::Int64)?, &on.cast(&y, DType::Int64)?])?;
            on.cast(&power, on.dtype)
        }
        // libtorch's complex power is inaccurate, so powers of complex64 are computed in complex128 and rounded
        DType::Complex64 | DType::Complex128 => {
            let [x, y] = on.operands(DtypeStrategy::Direct, [x1, x2])?;
            let [x, y] = [on.cast(&x, DType::Complex128)?, on.cast(&y, DType::Complex128)?];
            let power = on.call(&ops::POW, args![&x, &y])?;
            on.cast(&powers_of_zero(on, &x, &y, &power)?, on.dtype)
        }
        _ => {
            let [x, y] = on.operands(DtypeStrategy::Float32, [x1, x2])?;
            on.leave(DtypeStrategy::Float32, on.call(&ops::POW, args![&x, &y])?)
        }
    }
}

/// The complex power, with NumPy's powers of 0: exponent 0 gives 1, an exponent with a positive real part gives 0, and
/// any other exponent gives NaN.
fn powers_of_zero(on: OpContext<'_>, x: &Tensor, y: &Tensor, power: &Tensor) -> Result<Tensor> {
    let number = |x: f64, y: f64| on.number(Number::of(Complex::new(x, y)));
    let zero = |x: &Tensor| on.call(&ops::EQ, args![x, Number::of(ZERO)]);
    let positive = on.call(&ops::GT, args![&on.call(&ops::REAL, args![y])?, Number::of(ZERO)])?;
    let of_zero = on.select(&positive, &number(0.0, 0.0)?, &number(f64::NAN, f64::NAN)?)?;
    let of_zero = on.select(&zero(y)?, &number(1.0, 0.0)?, &of_zero)?;
    on.select(&zero(x)?, &of_zero, power)
}

/// The real and imaginary parts.
fn parts(on: OpContext<'_>, x: &Tensor) -> Result<(Tensor, Tensor)> {
    Ok((on.call(&ops::REAL, args![x])?, on.call(&ops::IMAG, args![x])?))
}

/// `1 / x`. For complex numbers, the conjugate divided by the squared magnitude, because libtorch's quotient loses the
/// signs of zeros and overflows.
pub fn reciprocal(on: OpContext<'_>, x: &Tensor) -> Result<Tensor> {
    if on.dtype.kind() != DTypeKind::Complex {
        return on.call(&ops::RECIPROCAL, args![x]);
    }
    // scale both parts to avoid overflow and lost bits
    let (huge, tiny, down, up) = match on.dtype {
        DType::Complex128 => (2_f64.powi(510), 2_f64.powi(-450), 2_f64.powi(-600), 2_f64.powi(600)),
        _ => (2_f64.powi(62), 2_f64.powi(-50), 2_f64.powi(-70), 2_f64.powi(100)),
    };
    let real = on.call(&ops::VIEW_AS_REAL, args![x])?;
    let last = [x.ndim() as i64];
    let larger = on.call(&ops::AMAX, args![&on.call(&ops::ABS, args![&real])?, last, true])?;
    let beyond = |limit: f64, op| on.call(op, args![&larger, Number::of(limit)]);
    let scale = |x: f64| -> Result<Tensor> { on.cast(&on.number(Number::of(x))?, on.dtype.to_real()) };
    let scale = on.select(
        &beyond(huge, &ops::GT)?,
        &scale(down)?,
        &on.select(&beyond(tiny, &ops::LT)?, &scale(up)?, &scale(1.0)?)?,
    )?;
    let scaled = on.call(&ops::MUL, args![&real, &scale])?;
    let square = on.call(&ops::SUM, args![&on.call(&ops::MUL, args![&scaled, &scaled])?, last, true])?;
    let quotient = on.call(&ops::MUL, args![&on.call(&ops::DIV, args![&scaled, &square])?, &scale])?;
    // the reciprocal of infinity is 0, whose parts keep their signs
    let zeros = on.call(&ops::COPYSIGN, args![&on.call(&ops::ZEROS_LIKE, args![&real])?, &real])?;
    let limited = on.select(&on.call(&ops::ISINF, args![&larger])?, &zeros, &quotient)?;
    on.call(&ops::CONJ_PHYSICAL, args![&join_parts(on, limited)?])
}

/// `exp(x) - 1`. For complex numbers with an infinite real part, the result is corrected, because libtorch returns NaN.
pub fn expm1(on: OpContext<'_>, x: &Tensor) -> Result<Tensor> {
    let value = on.call(&ops::EXPM1, args![x])?;
    if on.dtype.kind() != DTypeKind::Complex {
        return Ok(value);
    }
    let ((re, im), (x, angle)) = (parts(on, &value)?, parts(on, x)?);
    let no_angle = on.call(&ops::EQ, args![&angle, Number::of(ZERO)])?;
    let known = on.call(&ops::ISFINITE, args![&angle])?;
    // for an infinite real part, the limit is -1 or infinity, even if the angle is infinite or NaN
    let infinite = on.call(&ops::ISINF, args![&x])?;
    let lost = on.call(&ops::GT, args![&infinite, &known])?;
    let re = on.select(&on.call(&ops::BITWISE_OR, args![&no_angle, &lost])?, &on.call(&ops::EXPM1, args![&x])?, &re)?;
    let below = on.call(&ops::LT, args![&x, Number::of(ZERO)])?;
    let zero = on.call(&ops::COPYSIGN, args![&on.call(&ops::ZEROS_LIKE, args![&angle])?, &angle])?;
    let im = on.select(&on.call(&ops::LOGICAL_AND, args![&lost, &below])?, &zero, &im)?;
    let im = on.select(&no_angle, &angle, &im)?;
    on.call(&ops::COMPLEX, args![&re, &im])
}

/// The inverse cosine. For complex numbers, the imaginary part has the sign opposite to that of `x`'s imaginary part,
/// even if `x`'s imaginary part is 0.
pub fn acos(on: OpContext<'_>, x: &Tensor) -> Result<Tensor> {
    let value = on.call(&ops::ACOS, args![x])?;
    if on.dtype.kind() != DTypeKind::Complex {
        return Ok(value);
    }
    let ((re, im), (_, sign)) = (parts(on, &value)?, parts(on, x)?);
    let im = on.call(&ops::COPYSIGN, args![&im, &on.call(&ops::NEG, args![&sign])?])?;
    on.call(&ops::COMPLEX, args![&re, &im])
}

/// Limits `x` to `low .. high`: `minimum(high, maximum(x, low))`.
pub fn clip(
    on: OpContext<'_>,
    x: RawOperand<'_, Tensor>,
    low: RawOperand<'_, Tensor>,
    high: RawOperand<'_, Tensor>,
) -> Result<Tensor> {
    let [x, low, high] = on.operands(DtypeStrategy::Order, [x, low, high])?;
    let raised = on.call(&ops::MAXIMUM, args![&x, &low])?;
    on.leave(DtypeStrategy::Order, on.call(&ops::MINIMUM, args![&raised, &high])?)
}

/// Left shift; 0 if the shift is negative, or at least the width of the dtype.
pub fn bitwise_left_shift(on: OpContext<'_>, x1: RawOperand<'_, Tensor>, x2: RawOperand<'_, Tensor>) -> Result<Tensor> {
    let [x, by] = on.operands(DtypeStrategy::Wrap, [x1, x2])?;
    on.leave(DtypeStrategy::Wrap, on.call(&ops::SHIFT_LEFT, args![&x, &by])?)
}

/// Arithmetic right shift; only sign bits remain if the shift is negative, or at least the width of the dtype.
pub fn bitwise_right_shift(
    on: OpContext<'_>,
    x1: RawOperand<'_, Tensor>,
    x2: RawOperand<'_, Tensor>,
) -> Result<Tensor> {
    let (x, by) = integers(on, x1, x2)?;
    if on.dtype != DType::UInt64 {
        return from_integers(on, on.call(&ops::SHIFT_RIGHT, args![&x, &by])?);
    }
    // the number is first shifted by one bit, so that its sign bit is 0; a shift of 2^63 or more is negative here, and
    // acts like a shift of 64
    let less = on.call(&ops::SUB, args![&by, Number::of(1_i64)])?;
    let shifted = on.call(&ops::SHIFT_RIGHT, args![&half(on, &x)?, &less])?;
    let none = on.call(&ops::EQ, args![&by, Number::of(ZERO)])?;
    from_integers(on, on.select(&none, &x, &shifted)?)
}

/// Magnitude of each element.
pub fn abs(on: OpContext<'_>, x: &Tensor) -> Result<Tensor> {
    if is_wide_unsigned(on.dtype) {
        return Ok(x.clone());
    }
    on.call(&ops::ABS, args![x])
}

/// -1, 0 or 1 for reals, `x / |x|` for complex numbers, and NaN for NaN.
pub fn sign(on: OpContext<'_>, x: &Tensor) -> Result<Tensor> {
    match on.dtype.kind() {
        _ if is_wide_unsigned(on.dtype) => on.cast(&on.is_nonzero(x)?, on.dtype),
        DTypeKind::Real => on.select(&on.call(&ops::ISNAN, args![x])?, x, &on.call(&ops::SGN, args![x])?),
        DTypeKind::Complex => complex_sign(on, x),
        _ => on.call(&ops::SGN, args![x]),
    }
}

/// NumPy's sign of complex numbers: with one infinite part, the sign points along the axis of that part; with two
/// infinite parts, the sign is NaN.
fn complex_sign(on: OpContext<'_>, x: &Tensor) -> Result<Tensor> {
    let parts = on.call(&ops::VIEW_AS_REAL, args![x])?;
    let radius = on.call(&ops::UNSQUEEZE, args![&on.call(&ops::ABS, args![x])?, -1_i64])?;
    let quotient = on.call(&ops::DIV, args![&parts, &radius])?;
    // an infinite part becomes 1 with its sign, and a finite part becomes 0 with its sign
    let infinite = on.call(&ops::ISINF, args![&parts])?;
    let direction = on.call(&ops::MUL, args![&infinite, &on.call(&ops::SGN, args![&parts])?])?;
    let both = on.call(&ops::ALL_DIM, args![&infinite, -1_i64, true])?;
    let direction = on.select(&both, Number::of(f32::NAN), &direction)?;
    let sign = on.select(&on.call(&ops::ISINF, args![&radius])?, &direction, &quotient)?;
    let zero = on.call(&ops::EQ, args![&radius, Number::of(ZERO)])?;
    join_parts(on, on.select(&zero, &on.call(&ops::ZEROS_LIKE, args![&parts])?, &sign)?)
}

/// Rounds to the nearest integer, and halves to even; the parts of complex numbers are rounded separately.
pub fn round(on: OpContext<'_>, x: &Tensor) -> Result<Tensor> {
    match on.dtype.kind() {
        DTypeKind::Real | DTypeKind::Complex => {
            on.leave(DtypeStrategy::Parts, on.call(&ops::ROUND, args![&on.enter(DtypeStrategy::Parts, x)?])?)
        }
        _ => Ok(x.clone()),
    }
}

/// The real part.
pub fn real(on: OpContext<'_>, x: &Tensor) -> Result<Tensor> {
    part(on, x, 0)
}

/// The imaginary part; zeros for reals.
pub fn imag(on: OpContext<'_>, x: &Tensor) -> Result<Tensor> {
    part(on, x, 1)
}

/// The real (0) or imaginary (1) part of the elements.
fn part(on: OpContext<'_>, x: &Tensor, index: i64) -> Result<Tensor> {
    match (on.dtype.kind(), index) {
        (DTypeKind::Complex, _) => on.call(&ops::SELECT, args![&on.call(&ops::VIEW_AS_REAL, args![x])?, -1_i64, index]),
        (_, 0) => Ok(x.clone()),
        _ => on.call(&ops::ZEROS_LIKE, args![x]),
    }
}

/// The complex conjugate.
pub fn conj(on: OpContext<'_>, x: &Tensor) -> Result<Tensor> {
    match on.dtype.kind() {
        DTypeKind::Complex => on.call(&ops::CONJ_PHYSICAL, args![x]),
        _ => Ok(x.clone()),
    }
}

/// The angle of each number: pi for negative reals, including -0.0.
pub fn angle(on: OpContext<'_>, x: &Tensor) -> Result<Tensor> {
    let [re, im] = [part(on, x, 0)?, part(on, x, 1)?];
    on.call(&ops::ATAN2, args![&im, &re])
}

/// Complex numbers from real and imaginary parts.
pub fn complex(on: OpContext<'_>, re: RawOperand<'_, Tensor>, im: RawOperand<'_, Tensor>) -> Result<Tensor> {
    let [re, im] = on.operands(DtypeStrategy::Float32, [re, im])?;
    on.call(&ops::COMPLEX, args![&re, &im])
}

/// `log(1 + x)`. For complex numbers, the real part is the real logarithm of `|1 + x|`, computed so that it is accurate
/// near 0.
pub fn log1p(on: OpContext<'_>, x: &Tensor) -> Result<Tensor> {
    if on.dtype.kind() != DTypeKind::Complex {
        return on.call(&ops::LOG1P, args![x]);
    }
    let one = Number::of(1_i64);
    let [re, im] = [part(on, x, 0)?, part(on, x, 1)?];
    let shifted = on.call(&ops::ADD, args![&re, one])?;
    let angle = on.call(&ops::ATAN2, args![&im, &shifted])?;
    let far = on.call(&ops::LOG, args![&on.call(&ops::HYPOT, args![&shifted, &im])?])?;
    // |1 + x|^2 - 1 = re (2 + re) + im^2, which is small if x is small
    let product = on.call(&ops::MUL, args![&re, &on.call(&ops::ADD, args![&re, Number::of(2_i64)])?])?;
    let excess = on.call(&ops::ADD, args![&product, &on.call(&ops::MUL, args![&im, &im])?])?;
    let near = on.call(&ops::MUL, args![&on.call(&ops::LOG1P, args![&excess])?, Number::of(0.5_f32)])?;
    let is_near = on.call(&ops::LT, args![&on.call(&ops::ABS, args![&excess])?, Number::of(0.5_f32)])?;
    on.call(&ops::COMPLEX, args![&on.select(&is_near, &near, &far)?, &angle])
}
