//! Conversions before and after a libtorch op, for dtypes that the op does not support. The elements stay on their
//! device.

use super::{
    call::{OpContext, args},
    ops,
    tensor::{Arg, Number, Tensor, Tensors},
};
use backend_core::{DType, Result, bf16, f16};

/// The treatment of dtypes that a libtorch op does not support, or computes differently from NumPy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DtypeStrategy {
    /// No conversion, because libtorch supports every dtype of the op.
    Direct,
    /// Computes uint16, uint32 and uint64 as the signed integers with the same bits. This is right for ops that only
    /// move elements, or whose results wrap on overflow.
    Wrap,
    /// Maps uint16, uint32 and uint64 to signed integers in the same order, by flipping the first bit.
    Order,
    /// Computes 16-bit floats in float32, with a single rounding at the end.
    Float32,
    /// Like `Wrap`, but complex numbers also become pairs of real numbers, because libtorch's own complex sum turns an
    /// infinite part into NaN.
    Parts,
}

/// The conversion of one dtype before an op, and back after the op. Each variant holds the dtype that it converts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detour {
    /// No conversion.
    None,
    /// Through the signed integer with the same bits.
    Bits(DType),
    /// Through a signed integer in the same order.
    Flipped(DType),
    /// Through float32.
    Float32(DType),
    /// Through real numbers, with the real and imaginary parts along a last axis of length 2.
    Parts(DType),
}

impl DtypeStrategy {
    /// The conversion of this dtype before the op, and back after the op.
    #[inline]
    pub fn detour(self, dtype: DType) -> Detour {
        match (self, dtype) {
            (DtypeStrategy::Direct, _) => Detour::None,
            (DtypeStrategy::Wrap | DtypeStrategy::Parts, DType::UInt16 | DType::UInt32 | DType::UInt64) => {
                Detour::Bits(dtype)
            }
            (DtypeStrategy::Order, DType::UInt16 | DType::UInt32 | DType::UInt64) => Detour::Flipped(dtype),
            (DtypeStrategy::Float32, DType::Float16 | DType::BFloat16) => Detour::Float32(dtype),
            (DtypeStrategy::Parts, DType::Complex64 | DType::Complex128) => Detour::Parts(dtype),
            _ => Detour::None,
        }
    }
}

/// The signed integer of the same size.
pub fn signed(dtype: DType) -> DType {
    match dtype.size() {
        1 => DType::Int8,
        2 => DType::Int16,
        4 => DType::Int32,
        _ => DType::Int64,
    }
}

/// An argument after the conversion by a detour; it owns the tensors that the conversion made.
pub enum Entered {
    /// The original argument.
    Same,
    /// A converted tensor.
    Tensor(Tensor),
    /// Converted tensors.
    Tensors(Vec<Option<Tensor>>),
    /// A converted number.
    Number(Number),
}

impl Entered {
    /// The argument to pass to the op.
    pub fn arg<'a>(&'a self, old: &Arg<'a>) -> Arg<'a> {
        match self {
            Entered::Same => old.clone(),
            Entered::Tensor(t) => Arg::Tensor(t),
            Entered::Tensors(list) => Arg::Tensors(Tensors::of(list.iter().map(Option::as_ref))),
            Entered::Number(n) => Arg::Number(*n),
        }
    }
}

impl Detour {
    /// Returns whether this detour converts arrays of this dtype.
    #[inline]
    pub fn is_of(self, dtype: DType) -> bool {
        match self {
            Detour::None => false,
            Detour::Bits(d) | Detour::Flipped(d) | Detour::Float32(d) | Detour::Parts(d) => d == dtype,
        }
    }

    /// Converts the tensor `x` for the op; a tensor that does not have the detour's dtype stays unchanged.
    pub fn enter(self, on: OpContext<'_>, x: &Tensor) -> Result<Tensor> {
        match self {
            Detour::Bits(d) if x.is(d) => on.call(&ops::VIEW_DTYPE, args![x, signed(d)]),
            Detour::Flipped(d) if x.is(d) => flip(on, &on.call(&ops::VIEW_DTYPE, args![x, signed(d)])?, d),
            Detour::Float32(d) if x.is(d) => on.cast(x, DType::Float32),
            Detour::Parts(d) if x.is(d) => on.call(&ops::VIEW_AS_REAL, args![x]),
            _ => Ok(x.clone()),
        }
    }

    /// Converts a result of libtorch's op back to the dtype of the call.
    pub fn leave(self, on: OpContext<'_>, x: Tensor) -> Result<Tensor> {
        match self {
            Detour::None => Ok(x),
            Detour::Bits(d) => on.call(&ops::VIEW_DTYPE, args![&x, d]),
            Detour::Flipped(d) => on.call(&ops::VIEW_DTYPE, args![&flip(on, &x, d)?, d]),
            Detour::Float32(d) => on.cast(&x, d),
            Detour::Parts(_) => join_parts(on, x),
        }
    }

    /// The dtype in which the op computes arrays of dtype `dtype`.
    pub fn carrier(self, dtype: DType) -> DType {
        match self {
            Detour::None => dtype,
            Detour::Bits(d) | Detour::Flipped(d) => signed(d),
            Detour::Float32(_) => DType::Float32,
            Detour::Parts(d) => d.to_real(),
        }
    }

    /// Converts a number of the call's dtype for libtorch's op. With `Parts`, the number stays unchanged, because a
    /// single number cannot represent two parts.
    pub fn enter_number(self, n: Number) -> Number {
        let code = |d: DType| super::ffi::code(signed(d));
        match self {
            Detour::Bits(d) => Number { code: code(d), ..n },
            Detour::Flipped(d) => Number { code: code(d), bytes: [n.bytes[0] ^ first_bit(d), 0] },
            Detour::Float32(DType::Float16) => Number::of(f16::from_bits(n.bytes[0] as u16).to_f32()),
            Detour::Float32(_) => Number::of(bf16::from_bits(n.bytes[0] as u16).to_f32()),
            Detour::None | Detour::Parts(_) => n,
        }
    }

    /// Converts an argument for the op.
    pub fn enter_arg(self, on: OpContext<'_>, arg: &Arg<'_>) -> Result<Entered> {
        Ok(match arg {
            Arg::Tensor(x) => Entered::Tensor(self.enter(on, x)?),
            Arg::Tensors(list) => {
                let entered = list.iter().map(|x| x.map(|x| self.enter(on, x)).transpose());
                Entered::Tensors(entered.collect::<Result<_>>()?)
            }
            Arg::Number(n) => match self {
                Detour::None => Entered::Same,
                Detour::Parts(_) => Entered::Tensor(self.enter(on, &on.number(*n)?)?),
                _ => Entered::Number(self.enter_number(*n)),
            },
            _ => Entered::Same,
        })
    }
}

/// The highest bit of an integer of this dtype.
fn first_bit(dtype: DType) -> u64 {
    1 << (8 * dtype.size() - 1)
}

/// Flips the first bit of each signed integer, which maps the order of unsigned integers to the order of signed
/// integers.
fn flip(on: OpContext<'_>, x: &Tensor, dtype: DType) -> Result<Tensor> {
    let first_bit = Number { code: super::ffi::code(signed(dtype)), bytes: [1 << (8 * dtype.size() - 1), 0] };
    on.call(&ops::BITWISE_XOR, args![x, first_bit])
}

/// Joins real and imaginary parts, along a last axis of length 2, to complex numbers.
pub fn join_parts(on: OpContext<'_>, x: Tensor) -> Result<Tensor> {
    let strides = x.strides();
    let pairs = strides.split_last().is_some_and(|(last, rest)| *last == 1 && rest.iter().all(|s| s % 2 == 0));
    let x = if pairs { x } else { on.call(&ops::CONTIGUOUS, args![&x])? };
    on.call(&ops::VIEW_AS_COMPLEX, args![&x])
}
