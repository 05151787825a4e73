//! Arrays, operands and numbers whose dtype is a run-time value. Ops call functions of the libraries' backends that take and return these types, so that each function is
//! compiled only once, for all dtypes. The generated methods convert between these types and arrays whose dtype is part
//! of the type.

use crate::{Arrays, Complex, DType, Element, Operand, Result, dispatch};
use std::ops::Deref;

/// An array whose dtype is part of its type. It wraps a raw array, whose dtype is a run-time value.
pub trait TypedArray: Sized {
    /// The type of the raw array.
    type Raw: RawHandle;

    /// Returns the raw array, for reading.
    fn raw(&self) -> &Self::Raw;

    /// Returns a handle to the raw array for an op that changes the array in place.
    fn target(&mut self) -> RawTarget<'_, Self::Raw>;

    /// Wraps a raw array; returns an error that names the op if the array has another dtype.
    fn from_raw(op: &'static str, raw: Self::Raw) -> Result<Self>;
}

/// Defines `OpContext`, the context of one call of an op on the backend `$backend`.
#[doc(hidden)]
#[macro_export]
macro_rules! op_context {
    ($backend:ty) => {
        /// The context of one call of an op: the name for errors, the backend with its device, and the dtypes of the
        /// call.
        #[derive(Clone, Copy)]
        pub struct OpContext<'b> {
            /// The backend that runs the op.
            pub backend: &'b $backend,
            /// The op's name.
            pub op: &'static str,
            /// The dtype of the call: the type parameter `T` of the backend's method.
            pub dtype: $crate::DType,
            /// The second dtype of an op that has two: the method's type parameter `U`. For all other ops, the dtype of
            /// the call.
            pub to: $crate::DType,
        }

        impl<'b> OpContext<'b> {
            /// Describes a call of the op `op` on arrays of this dtype.
            #[inline]
            pub fn new(backend: &'b $backend, op: &'static str, dtype: $crate::DType) -> Self {
                OpContext { backend, op, dtype, to: dtype }
            }

            /// Sets the second dtype of the call.
            #[inline]
            #[must_use]
            pub fn with_to(self, to: $crate::DType) -> Self {
                OpContext { to, ..self }
            }

            /// Sets both dtypes of the call to `dtype`, for an intermediate computation on arrays of this dtype.
            #[must_use]
            pub fn with_dtype(self, dtype: $crate::DType) -> Self {
                OpContext { dtype, to: dtype, ..self }
            }
        }
    };
}

/// An exclusive reference to a raw array that an op changes. If no other raw array shares the memory, the op may
/// overwrite the memory.
#[derive(Debug)]
pub struct RawTarget<'a, A>(&'a mut A);

impl<'a, A> RawTarget<'a, A> {
    /// Makes a target from a reference to a raw array.
    pub fn new(x: &'a mut A) -> RawTarget<'a, A> {
        RawTarget(x)
    }
}

// there is no `DerefMut`, because an op must not replace the array by an array of another dtype
impl<A> Deref for RawTarget<'_, A> {
    type Target = A;

    fn deref(&self) -> &A {
        self.0
    }
}

/// An array whose dtype is part of its type, as an argument of a library's functions.
pub trait Argument {
    /// The type of an array parameter.
    type Array<'a>: Copy
    where
        Self: 'a;

    /// The type of a parameter that is an array or a number.
    type Operand<'a>
    where
        Self: 'a;

    /// The type of a parameter that the function changes in place.
    type Target<'a>
    where
        Self: 'a;

    /// Returns the array as an argument.
    fn array(&self) -> Self::Array<'_>;

    /// Returns the array as an argument that the function changes in place.
    fn target(&mut self) -> Self::Target<'_>;

    /// Returns the array as an operand.
    fn operand(&self) -> Self::Operand<'_>;

    /// Returns an element as an operand.
    fn scalar<'a, T: Element>(x: &'a T) -> Self::Operand<'a>
    where
        Self: 'a;
}

impl<A: TypedArray> Argument for A {
    type Array<'a>
        = &'a A::Raw
    where
        A: 'a;

    type Operand<'a>
        = RawOperand<'a, A::Raw>
    where
        A: 'a;

    type Target<'a>
        = RawTarget<'a, A::Raw>
    where
        A: 'a;

    #[inline(always)]
    fn array(&self) -> &A::Raw {
        self.raw()
    }

    #[inline(always)]
    fn target(&mut self) -> RawTarget<'_, A::Raw> {
        TypedArray::target(self)
    }

    #[inline(always)]
    fn operand(&self) -> RawOperand<'_, A::Raw> {
        RawOperand::Array(self.raw())
    }

    #[inline(always)]
    fn scalar<'a, T: Element>(x: &'a T) -> RawOperand<'a, A::Raw>
    where
        A: 'a,
    {
        RawOperand::Scalar(RawElement::of(*x))
    }
}

/// The result of a library's function. It becomes an array of the type `A`, which contains the dtype. The result can
/// share its memory with the first argument that is an array or a list of arrays; `X` is a reference to this argument,
/// or `()`.
pub trait Finish<A, X> {
    /// Makes the array. Returns an error that names the op if the result has another dtype.
    fn finish(self, op: &'static str, first: X) -> Result<A>;
}

impl<A: TypedArray<Raw = R>, R: RawHandle, X> Finish<A, X> for R {
    #[inline(always)]
    fn finish(self, op: &'static str, _: X) -> Result<A> {
        A::from_raw(op, self)
    }
}

/// The result of a library's function that changes an array of the type `A` in place.
pub trait FinishTarget<A> {
    /// Stores the result in `x`, if the function has not changed the array itself. Returns an error that names the op
    /// if the result has another dtype.
    fn finish_target(self, op: &'static str, x: &mut A) -> Result<()>;
}

impl<A> FinishTarget<A> for () {
    #[inline(always)]
    fn finish_target(self, _: &'static str, _: &mut A) -> Result<()> {
        Ok(())
    }
}

impl<A: TypedArray<Raw = R>, R: RawHandle> FinishTarget<A> for R {
    fn finish_target(self, op: &'static str, x: &mut A) -> Result<()> {
        *x = A::from_raw(op, self)?;
        Ok(())
    }
}

/// A type of raw arrays, which the arrays of a library wrap.
pub trait RawHandle: Clone {}

/// An operand of an op: a raw array, or one element that is broadcast.
#[derive(Clone, Copy, Debug)]
pub enum RawOperand<'a, A> {
    /// An array.
    Array(&'a A),
    /// An element, in the dtype of the op.
    Scalar(RawElement),
}

/// Converts an operand to an operand whose dtype is a run-time value.
#[inline(always)]
pub fn operand<'a, B: Arrays, T: Element>(x: &'a Operand<'_, B, T>) -> <B::Array<T> as Argument>::Operand<'a>
where
    B::Array<T>: Argument,
{
    match x {
        Operand::Array(x) => x.operand(),
        Operand::Scalar(x) => B::Array::<T>::scalar(x),
    }
}

/// Returns each array of a list as an argument.
pub fn arrays<'a, A: Argument>(arrays: &[&'a A]) -> Vec<A::Array<'a>> {
    let mut all = Vec::with_capacity(arrays.len());
    for x in arrays {
        all.push(x.array());
    }
    all
}

/// Makes an array of each result in a list; returns an error that names the op if a result has another dtype.
pub fn finish_all<A, R: Finish<A, X>, X: Copy>(op: &'static str, results: Vec<R>, first: X) -> Result<Vec<A>> {
    let mut all = Vec::with_capacity(results.len());
    for x in results {
        all.push(x.finish(op, first)?);
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
        if const { T::IS_DYNAMIC } {
            return x.to_raw();
        }
        // the compiler evaluates this also for types of `dynamic`, which do not get here
        const { assert!(size_of::<T>() <= 16 || T::IS_DYNAMIC) };
        let mut bytes = [0_u64; 2];
        // SAFETY: an element is at most 16 bytes, without padding.
        unsafe {
            std::ptr::copy_nonoverlapping((&raw const x).cast::<u8>(), bytes.as_mut_ptr().cast(), size_of::<T>())
        };
        RawElement { dtype: T::DTYPE, bytes }
    }

    /// Returns the number 0 in a dtype; `false` for bool.
    pub fn zero(dtype: DType) -> RawElement {
        RawElement { dtype, bytes: [0; 2] }
    }

    /// Returns the dtype of the element.
    pub fn dtype(self) -> DType {
        self.dtype
    }

    /// Returns a reference to the element's bytes, which are followed by zeros.
    pub(crate) fn bytes_ref(&self) -> &[u64; 2] {
        &self.bytes
    }

    /// Returns the element's bytes, followed by zeros.
    pub fn bytes(self) -> [u64; 2] {
        self.bytes
    }

    /// Makes an element from the bytes that [`RawElement::byte_array`] returned for an element of this dtype.
    pub(crate) fn of_bytes(dtype: DType, bytes: [u8; 16]) -> RawElement {
        let half = |at: usize| u64::from_ne_bytes(std::array::from_fn(|i| bytes[at + i]));
        RawElement { dtype, bytes: [half(0), half(8)] }
    }

    /// Returns the element's bytes, followed by zeros.
    pub(crate) fn byte_array(self) -> [u8; 16] {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&self.bytes[0].to_ne_bytes());
        bytes[8..].copy_from_slice(&self.bytes[1].to_ne_bytes());
        bytes
    }

    /// Converts the element to the type `U`, like `astype`.
    pub fn cast<U: Element>(self) -> U {
        // SAFETY: `of` and `zero` wrote a valid element of this dtype.
        let cast: Result<U> = dispatch!(self.dtype, T => Ok(unsafe { self.bytes.as_ptr().cast::<T>().read() }.cast()));
        cast.unwrap_or_default()
    }

    /// Converts the element to another dtype, like `astype`.
    pub fn to(self, dtype: DType) -> RawElement {
        if dtype == self.dtype {
            return self;
        }
        let to: Result<RawElement> = dispatch!(dtype, T => Ok(RawElement::of(self.cast::<T>())));
        to.unwrap_or(RawElement::zero(dtype))
    }

    /// Converts the element to a real number; the imaginary part is dropped.
    pub fn to_f64(self) -> f64 {
        self.cast()
    }

    /// Converts the element to a complex number.
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
