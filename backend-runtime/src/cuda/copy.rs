//! Copies: of one layout into another, into another dtype, and of one value into all places.

use super::{
    Cuda, CudaArray,
    array::Raw,
    check::Listed,
    kernel::{Instance, Program},
    map::{FLAT, Input, instances, map, map_into},
};
use crate::{DType, Element, Result};

/// `x`, as it is.
static COPY: Program = Program::each("copy", "x", &["x"]);

/// `x` in the dtype of the result.
static CAST: Program = Program::each("astype", "cast<U>(x)", &["x"]);

/// A dtype of the same size, for kernels that only move elements.
pub(super) const fn mover(dtype: DType) -> DType {
    match dtype.size() {
        1 => DType::UInt8,
        2 => DType::UInt16,
        4 => DType::UInt32,
        8 => DType::UInt64,
        _ => DType::Complex128,
    }
}

/// The dtypes that stand for all of their size.
pub(super) const MOVERS: [DType; 5] = [
    DType::UInt8,
    DType::UInt16,
    DType::UInt32,
    DType::UInt64,
    DType::Complex128,
];

/// The kernels of copies, listed for the check.
pub(super) const COPIES: Listed = (&COPY, || {
    MOVERS
        .iter()
        .flat_map(|&dtype| instances(&[dtype, dtype]).collect::<Vec<_>>())
        .collect()
});

/// The kernels of conversions, listed for the check; those for further numbers of axes differ in nothing that a dtype
/// matters to.
pub(super) const CASTS: Listed = (&CAST, || {
    let pairs = DType::ALL
        .into_iter()
        .flat_map(|to| DType::ALL.into_iter().map(move |from| [to, from]));
    pairs
        .map(|pair| Instance::new("flat", FLAT, &pair))
        .collect()
});

/// Copies `x`, broadcast, into an array that is there, converting its dtype if need be.
pub(crate) fn copy_into(b: &Cuda, op: &'static str, x: &Raw, out: &Raw) -> Result<()> {
    if x.dtype != out.dtype {
        return map_into(b, op, &CAST, &[], &[Input::Array(x)], out);
    }
    map_into(b, op, &COPY, &[], &[Input::Array(&moved(x))], &moved(out))
}

/// The same memory as elements that are only moved.
pub(super) fn moved(x: &Raw) -> Raw {
    Raw {
        dtype: mover(x.dtype),
        ..x.clone()
    }
}

/// Sets every element of `out` to one value of its dtype.
pub(crate) fn fill<T: Element>(b: &Cuda, op: &'static str, value: T, out: &Raw) -> Result<()> {
    debug_assert_eq!(out.dtype, T::DTYPE);
    map_into(b, op, &COPY, &[], &[Input::moved(value)], &moved(out))
}

/// A new array of another dtype, laid out as `x` is.
pub(crate) fn cast<U: Element>(b: &Cuda, x: &Raw) -> Result<CudaArray<U>> {
    Ok(CudaArray::of(map(
        b,
        "astype",
        &CAST,
        &[],
        &[Input::Array(x)],
        U::DTYPE,
    )?))
}

/// A new array with the elements of `x`, laid out as that is.
pub(crate) fn like(b: &Cuda, op: &'static str, x: &Raw) -> Result<Raw> {
    let out = map(
        b,
        op,
        &COPY,
        &[],
        &[Input::Array(&moved(x))],
        mover(x.dtype),
    )?;
    Ok(Raw {
        dtype: x.dtype,
        ..out
    })
}

/// A new array in C order with the elements of `x`.
pub(crate) fn copied(b: &Cuda, op: &'static str, x: &Raw) -> Result<Raw> {
    let out = b.uninit_raw(op, x.dtype, &x.shape)?;
    copy_into(b, op, x, &out)?;
    Ok(out)
}

/// `x`, or a copy of it in C order where it is in another.
pub(crate) fn contiguous(b: &Cuda, op: &'static str, x: &Raw) -> Result<Raw> {
    b.check(op, x)?;
    if x.is_contiguous() {
        Ok(x.clone())
    } else {
        copied(b, op, x)
    }
}
