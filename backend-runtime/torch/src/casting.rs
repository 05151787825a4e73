//! Conversion to another dtype by the rules of `astype`.

use super::{
    call::{OpContext, args},
    ops,
    tensor::{Arg, Number, Tensor},
    with::computed_in,
};
use backend_core::{DType, DTypeKind, Result, rules};

/// Converts the array to another dtype.
pub fn astype(on: OpContext<'_>, x: &Tensor) -> Result<Tensor> {
    // an array without elements may have lengths that are too large for a wider dtype
    rules::count(on.op, x.shape(), on.to.size())?;
    convert(on, x, on.dtype, on.to)
}

/// Converts from one dtype to another by the rules of `astype`.
pub fn convert(on: OpContext<'_>, x: &Tensor, from: DType, to: DType) -> Result<Tensor> {
    match (from.kind(), to.kind()) {
        _ if from == to => Ok(x.clone()),
        // avoids libtorch's warning about dropped imaginary parts
        (DTypeKind::Complex, DTypeKind::Bool) => on.call(&ops::NE, args![x, Number::of(0_i64)]),
        (DTypeKind::Complex, k) if k != DTypeKind::Complex => {
            convert(on, &on.call(&ops::REAL, args![x])?, from.to_real(), to)
        }
        (DTypeKind::Real, DTypeKind::Signed | DTypeKind::Unsigned) => saturate(on, &on.cast(x, DType::Float64)?, to),
        (DTypeKind::Real, DTypeKind::Real) => narrow(on, x, to),
        // libtorch converts through float32, which represents exactly all 16-bit integers and all integers in the range
        // of float16. Only larger integers would be rounded twice on the way to bfloat16
        (DTypeKind::Signed | DTypeKind::Unsigned, _) if to == DType::BFloat16 && from.size() > 2 => {
            to_bfloat16(on, x, from)
        }
        _ => on.cast(x, to),
    }
}

/// Converts integers to bfloat16 with a single rounding, through a float64 whose last bit is set if digits were lost.
fn to_bfloat16(on: OpContext<'_>, x: &Tensor, from: DType) -> Result<Tensor> {
    let to = DType::BFloat16;
    if from.size() < 8 {
        return narrow(on, &on.cast(x, DType::Float64)?, to);
    }
    // numbers in the upper half of uint64 are negative as int64, so they are halved; if the bit that is lost was set,
    // the last bit of the half is set
    let (mut bits, mut is_halved) = (x.clone(), None);
    if from == DType::UInt64 {
        bits = on.call(&ops::VIEW_DTYPE, args![x, DType::Int64])?;
        let is_upper = on.call(&ops::LT, args![&bits, Number::of(0_i64)])?;
        let last = on.call(&ops::BITWISE_AND, args![&bits, Number::of(1_i64)])?;
        let half = on.call(&ops::SHIFT_RIGHT, args![&bits, Number::of(1_i64)])?;
        let half = on.call(&ops::BITWISE_AND, args![&half, Number::of(i64::MAX)])?;
        let half = on.call(&ops::BITWISE_OR, args![&half, &last])?;
        bits = on.select(&is_upper, &half, &bits)?;
        is_halved = Some(is_upper);
    }
    let low = on.call(&ops::BITWISE_AND, args![&bits, Number::of(0x7ff_i64)])?;
    let is_inexact = on.cast(&on.call(&ops::NE, args![&low, Number::of(0_i64)])?, DType::Int64)?;
    let sticky = on.call(&ops::MUL, args![&is_inexact, Number::of(0x800_i64)])?;
    let short = on.call(&ops::BITWISE_OR, args![&on.call(&ops::SUB, args![&bits, &low])?, &sticky])?;
    let is_small = on.call(&ops::LT, args![&on.call(&ops::ABS, args![&bits])?, Number::of(1_i64 << 53)])?;
    let rounded = narrow(on, &on.cast(&on.select(&is_small, &bits, &short)?, DType::Float64)?, to)?;
    match is_halved {
        Some(is_halved) => {
            let twice = on.call(&ops::MUL, args![&rounded, Number::of(2_i64)])?;
            on.select(&is_halved, &twice, &rounded)
        }
        None => Ok(rounded),
    }
}

/// Converts float64 to integers: numbers are truncated toward 0 and saturated, and NaN becomes 0. In C, the conversion
/// of out-of-range values and NaN is undefined.
fn saturate(on: OpContext<'_>, x: &Tensor, to: DType) -> Result<Tensor> {
    let zero = Number::of(0_f64);
    let nan = on.call(&ops::ISNAN, args![x])?;
    let x = on.select(&nan, zero, x)?;
    let (min, max, bits) = match (to.kind(), to.size() as i32 * 8) {
        (DTypeKind::Unsigned, bits) => (0.0, 2_f64.powi(bits), bits),
        (_, bits) => (-2_f64.powi(bits - 1), 2_f64.powi(bits - 1), bits),
    };
    if bits < 64 {
        // `max - 1` is exact in float64 for these dtypes
        let limited = on.call(&ops::CLAMP, args![&x, min, max - 1.0])?;
        return on.cast(&on.cast(&limited, DType::Int64)?, to);
    }
    let above = on.call(&ops::GE, args![&x, Number::of(max)])?;
    let safe = on.select(&above, zero, &on.call(&ops::CLAMP, args![&x, min, Arg::None])?)?;
    if to == DType::Int64 {
        return on.select(&above, Number::of(i64::MAX), &on.cast(&safe, DType::Int64)?);
    }
    // uint64 is computed in the bits of int64: a number in the upper half is represented by its excess over 2^63, with
    // the first bit set
    let half = Number::of(2_f64.powi(63));
    let upper = on.call(&ops::GE, args![&safe, half])?;
    let lower = on.select(&upper, &on.call(&ops::SUB, args![&safe, half])?, &safe)?;
    let lower = on.cast(&lower, DType::Int64)?;
    let with_bit = on.call(&ops::BITWISE_XOR, args![&lower, Number::of(i64::MIN)])?;
    let bits = on.select(&above, Number::of(-1_i64), &on.select(&upper, &with_bit, &lower)?)?;
    on.call(&ops::VIEW_DTYPE, args![&bits, DType::UInt64])
}

/// Converts reals and complex numbers to another precision with a single rounding. libtorch converts float64 to 16 bits
/// through float32, which would round twice. Here the intermediate float32 is rounded to odd: it is truncated, and its
/// last bit is set if digits were lost. Then the second rounding is correct.
pub fn narrow(on: OpContext<'_>, x: &Tensor, to: DType) -> Result<Tensor> {
    if !x.is(DType::Float64) || computed_in(to) == to {
        return on.cast(x, to);
    }
    let near = on.cast(x, DType::Float32)?;
    let back = on.cast(&near, DType::Float64)?;
    let inexact = on.cast(&on.call(&ops::NE, args![&back, x])?, DType::Int32)?;
    let [back, x] = [on.call(&ops::ABS, args![&back])?, on.call(&ops::ABS, args![x])?];
    let beyond = on.cast(&on.call(&ops::GT, args![&back, &x])?, DType::Int32)?;
    let bits = on.call(&ops::VIEW_DTYPE, args![&near, DType::Int32])?;
    let toward_zero = on.call(&ops::SUB, args![&bits, &beyond])?;
    let odd = on.call(&ops::BITWISE_OR, args![&toward_zero, &inexact])?;
    on.cast(&on.call(&ops::VIEW_DTYPE, args![&odd, DType::Float32])?, to)
}
