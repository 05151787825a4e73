//! Arrays, operands and numbers whose dtype is a run-time value. The functions of [`cuda`](crate::cuda) and
//! [`torch`](crate::torch) that ops call take and return them, so that these functions are compiled once for all
//! dtypes. The generated methods convert from and to arrays whose dtype is part of the type.

use crate::{Arrays, Complex, DType, Element, Operand, Result, dispatch};
use std::ops::Deref;

/// An array whose dtype is part of its type. It wraps a raw array, whose dtype is a run-time value.
pub trait TypedArray: Sized {
    /// The type of the raw array.
    type Raw: Clone;

    /// The raw array.
    fn raw(&self) -> &Self::Raw;

    /// The raw array, for an op that changes it.
    fn target(&mut self) -> RawTarget<'_, Self::Raw>;

    /// Wraps a raw array; returns an error that names the op if the array has another dtype.
    fn from_raw(op: &'static str, raw: Self::Raw) -> Result<Self>;
}

/// The context of one call of an op: the name for errors, the backend with its device, and the dtypes of the call.
pub struct OpContext<'b, B> {
    /// The backend.
    pub backend: &'b B,
    /// The op's name.
    pub op: &'static str,
    /// The dtype of the call, `T` of the method.
    pub dtype: DType,
    /// The second dtype of an op that has two, `U` of the method; otherwise the dtype of the call.
    pub to: DType,
}

// derived implementations would require that the backend is `Copy`
impl<B> Clone for OpContext<'_, B> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<B> Copy for OpContext<'_, B> {}

impl<'b, B> OpContext<'b, B> {
    /// Describes a call of the op `op` in this dtype.
    #[inline]
    pub fn new(backend: &'b B, op: &'static str, dtype: DType) -> Self {
        OpContext { backend, op, dtype, to: dtype }
    }

    /// Sets the second dtype of the call.
    #[inline]
    pub fn with_to(self, to: DType) -> Self {
        OpContext { to, ..self }
    }

    /// Sets both dtypes of the call, for a step on arrays of another dtype.
    pub fn with_dtype(self, dtype: DType) -> Self {
        OpContext { dtype, to: dtype, ..self }
    }
}

/// An array for an op that changes it. Nothing else uses this handle during the call, so the op may overwrite the
/// memory if there is no other handle.
#[derive(Debug)]
pub struct RawTarget<'a, A>(&'a mut A);

impl<'a, A> RawTarget<'a, A> {
    /// A target, which the op can read and whose memory it may overwrite.
    pub fn new(x: &'a mut A) -> RawTarget<'a, A> {
        RawTarget(x)
    }
}

// there is no `DerefMut`, because an op must not exchange the array for one of another dtype
impl<A> Deref for RawTarget<'_, A> {
    type Target = A;

    fn deref(&self) -> &A {
        self.0
    }
}

/// The raw array of a backend's array.
pub type RawOf<B, T> = <<B as Arrays>::Array<T> as TypedArray>::Raw;

/// An operand of an op: a raw array, or one element that is broadcast.
#[derive(Clone, Copy, Debug)]
pub enum RawOperand<'a, A> {
    /// An array.
    Array(&'a A),
    /// An element, in the dtype of the op.
    Scalar(RawElement),
}

/// Converts an operand to an operand whose dtype is a run-time value.
#[inline]
pub fn operand<'a, B: Arrays, T: Element>(x: &'a Operand<'_, B, T>) -> RawOperand<'a, RawOf<B, T>>
where
    B::Array<T>: TypedArray,
{
    match x {
        Operand::Array(x) => RawOperand::Array(x.raw()),
        Operand::Scalar(x) => RawOperand::Scalar(RawElement::of(*x)),
    }
}

/// The raw arrays of a list of arrays.
pub fn arrays<'a, A: TypedArray>(arrays: &[&'a A]) -> Vec<&'a A::Raw> {
    let mut all = Vec::with_capacity(arrays.len());
    for x in arrays {
        all.push(x.raw());
    }
    all
}

/// Wraps a list of raw arrays.
pub fn from_list<A: TypedArray>(op: &'static str, arrays: Vec<A::Raw>) -> Result<Vec<A>> {
    let mut all = Vec::with_capacity(arrays.len());
    for x in arrays {
        all.push(A::from_raw(op, x)?);
    }
    Ok(all)
}

/// One element of any dtype.
#[derive(Clone, Copy, Debug)]
pub struct RawElement {
    dtype: DType,
    /// The element's bytes, followed by zeros.
    bytes: [u64; 2],
}

impl RawElement {
    /// Stores an element together with its dtype.
    #[inline]
    pub fn of<T: Element>(x: T) -> RawElement {
        const { assert!(size_of::<T>() <= 16) };
        let mut bytes = [0_u64; 2];
        // SAFETY: an element is at most 16 bytes, without padding.
        unsafe {
            std::ptr::copy_nonoverlapping((&raw const x).cast::<u8>(), bytes.as_mut_ptr().cast(), size_of::<T>())
        };
        RawElement { dtype: T::DTYPE, bytes }
    }

    /// The element 0 of a dtype, or `false`.
    pub fn zero(dtype: DType) -> RawElement {
        RawElement { dtype, bytes: [0; 2] }
    }

    /// The dtype.
    pub fn dtype(self) -> DType {
        self.dtype
    }

    /// The element's bytes, followed by zeros.
    pub fn bytes(self) -> [u64; 2] {
        self.bytes
    }

    /// Converts the element to another dtype, like `astype`.
    pub fn cast<U: Element>(self) -> U {
        // SAFETY: `of` and `zero` wrote a valid element of this dtype.
        let cast: Result<U> = dispatch!(self.dtype, T => Ok(unsafe { self.bytes.as_ptr().cast::<T>().read() }.cast()));
        cast.unwrap_or_default()
    }

    /// The element in another dtype, converted like `astype`.
    pub fn to(self, dtype: DType) -> RawElement {
        if dtype == self.dtype {
            return self;
        }
        let to: Result<RawElement> = dispatch!(dtype, T => Ok(RawElement::of(self.cast::<T>())));
        to.unwrap_or(RawElement::zero(dtype))
    }

    /// The element as a real number; the imaginary part is dropped.
    pub fn to_f64(self) -> f64 {
        self.cast()
    }

    /// The element as a complex number.
    pub fn to_complex(self) -> Complex<f64> {
        self.cast()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::f16;

    #[test]
    fn elements_keep_their_dtype_and_their_value() {
        let x = RawElement::of(-3_i8);
        assert_eq!((x.dtype(), x.bytes(), x.cast::<i64>(), x.to_f64()), (DType::Int8, [0xfd, 0], -3, -3.0));
        let x = RawElement::of(Complex::new(1.5_f64, -2.0));
        assert_eq!((x.to_complex(), x.cast::<f32>()), (Complex::new(1.5, -2.0), 1.5));
        let half = RawElement::of(0.1_f64).to(DType::Float16);
        assert_eq!((half.dtype(), half.cast::<f16>()), (DType::Float16, f16::from_f64(0.1)));
        assert!(!RawElement::zero(DType::Bool).cast::<bool>());
        assert_eq!(RawElement::of(u64::MAX).cast::<u64>(), u64::MAX);
    }
}
