//! Conversion of unknowns of any structure to one real vector and back.

use super::optimizers::complex;
use crate::dtype::convert;
use backends::{
    Backend, DTypeKind, Float, Real, Result, Slice,
    grad::{MapArrays, Params},
};

/// Concatenates all elements of the arrays; a complex array contributes its real parts, followed by its imaginary
/// parts.
pub(super) fn flatten<B: Backend, P: Params<B, K>, K, U: Real>(b: &B, params: &P) -> Result<B::Array<U>> {
    let mut parts = Flatten { b, parts: Vec::new() };
    params.map(&mut parts)?;
    let mut parts = parts.parts;
    match parts.len() {
        0 => b.zeros::<U>([0]),
        1 => Ok(parts.swap_remove(0)),
        _ => b.concat(&parts),
    }
}

/// Splits a vector into arrays that have the structure, shapes and dtypes of `like`.
pub(super) fn unflatten<B: Backend, P: Params<B, K>, K, U: Real>(b: &B, x: &B::Array<U>, like: &P) -> Result<P::Grads> {
    like.map(&mut Unflatten { b, x, next: 0 })
}

struct Flatten<'f, B: Backend, U: Real> {
    b: &'f B,
    parts: Vec<B::Array<U>>,
}

impl<B: Backend, U: Real> MapArrays<B> for Flatten<'_, B, U> {
    fn map<T: Float>(&mut self, x: &B::Array<T>) -> Result<B::Array<T>> {
        let (b, n) = (self.b, self.b.size::<T>(x));
        let mut push = |part: B::Array<U>| b.reshape::<U>(part, [n]).map(|part| self.parts.push(part));
        if T::DTYPE.kind() == DTypeKind::Complex {
            push(convert::<B, U, T::Real>(b, b.real::<T>(x)?)?)?;
            push(convert::<B, U, T::Real>(b, b.imag::<T>(x)?)?)?;
        } else {
            push(convert::<B, U, T>(b, x.clone())?)?;
        }
        Ok(x.clone())
    }
}

struct Unflatten<'f, B: Backend, U: Real> {
    b: &'f B,
    x: &'f B::Array<U>,
    next: usize,
}

impl<B: Backend, U: Real> Unflatten<'_, B, U> {
    /// Returns the next elements of the vector as an array of this shape.
    fn take(&mut self, shape: &[usize]) -> Result<B::Array<U>> {
        let (from, n) = (self.next, shape.iter().product::<usize>());
        self.next += n;
        if self.b.shape(self.x) == [n] {
            return self.b.reshape::<U>(self.x, shape);
        }
        let part = self.b.getitem::<U>(self.x, [Slice::from(from as isize..self.next as isize)])?;
        self.b.reshape::<U>(part, shape)
    }
}

impl<B: Backend, U: Real> MapArrays<B> for Unflatten<'_, B, U> {
    fn map<T: Float>(&mut self, like: &B::Array<T>) -> Result<B::Array<T>> {
        let b = self.b;
        let shape = b.shape::<T>(like);
        if T::DTYPE.kind() == DTypeKind::Complex {
            let re = convert::<B, T::Real, U>(b, self.take(shape)?)?;
            let im = convert::<B, T::Real, U>(b, self.take(shape)?)?;
            return complex::<B, T>(b, &re, &im);
        }
        convert::<B, T, U>(b, self.take(shape)?)
    }
}
