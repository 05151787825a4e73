//! Slices from one dtype to another, on the way into a computation and out of it.

use super::buffer;
use crate::{DType, Element, Result, bf16, element::same, f16};
use half::slice::HalfFloatSliceExt;
use multiversion::multiversion;
use std::any::TypeId;

/// Whether it is a 16-bit float: these are computed in `f32` and rounded once.
pub const fn is_half<T: Element>() -> bool {
    matches!(T::DTYPE, DType::Float16 | DType::BFloat16)
}

/// Converts a slice.
pub fn convert<T: Element, A: Element>(from: &[T], to: &mut [A]) {
    if let Some(ready) = same::<T, A>(from) {
        to[..from.len()].copy_from_slice(ready);
    } else if let Some(from) = same::<T, f16>(from)
        && let Some(to) = same_mut::<A, f32>(to)
    {
        from.convert_to_f32_slice(&mut to[..from.len()]);
    } else if let Some(from) = same::<T, bf16>(from)
        && let Some(to) = same_mut::<A, f32>(to)
    {
        from.convert_to_f32_slice(&mut to[..from.len()]);
    } else {
        convert_each(from, to, T::cast);
    }
}

/// Converts a slice back, to a dtype of no more precision.
pub fn narrow<A: Element, T: Element>(from: &[A], to: &mut [T]) {
    if let Some(ready) = same::<A, T>(from) {
        to[..from.len()].copy_from_slice(ready);
        return;
    }
    if let Some(from) = same::<A, f32>(from) {
        if let Some(to) = same_mut::<T, f16>(to) {
            return to[..from.len()].convert_from_f32_slice(from);
        }
        if let Some(to) = same_mut::<T, bf16>(to) {
            return to[..from.len()].convert_from_f32_slice(from);
        }
    }
    convert_each(from, to, A::cast);
}

/// As [`same`], of a slice to write to.
pub fn same_mut<T: Element, U: Element>(x: &mut [T]) -> Option<&mut [U]> {
    (TypeId::of::<T>() == TypeId::of::<U>()).then(|| {
        // SAFETY: equal type ids mean the same type, so the cast changes nothing.
        unsafe { std::slice::from_raw_parts_mut(x.as_mut_ptr().cast(), x.len()) }
    })
}

/// Converts a slice, element by element.
#[multiversion(targets("x86_64+avx2+fma"))]
pub fn convert_each<T: Element, A: Element>(from: &[T], to: &mut [A], f: impl Fn(T) -> A) {
    for (t, &x) in to.iter_mut().zip(from) {
        *t = f(x);
    }
}

/// A vector of another dtype.
pub fn converted<T: Element, A: Element>(op: &'static str, from: Vec<T>) -> Result<Vec<A>> {
    if TypeId::of::<T>() == TypeId::of::<A>() {
        let mut from = std::mem::ManuallyDrop::new(from);
        // SAFETY: both are one type, and the vector that owned the memory is not dropped.
        return Ok(unsafe { Vec::from_raw_parts(from.as_mut_ptr().cast(), from.len(), from.capacity()) });
    }
    let mut to = buffer::zeroed(op, from.len())?;
    narrow(&from, &mut to);
    Ok(to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_convert_exactly() {
        let x: Vec<f16> = (0..1000).map(|i| f16::from_bits(i * 31)).collect();
        let mut y = vec![0_f32; 1000];
        convert(&x, &mut y);
        assert!(x.iter().zip(&y).all(|(a, b)| a.to_f32() == *b || b.is_nan()));
        let x: Vec<bf16> = (0..1000).map(|i| bf16::from_bits(i * 31)).collect();
        convert(&x, &mut y);
        assert!(x.iter().zip(&y).all(|(a, b)| a.to_f32() == *b || b.is_nan()));
        let mut back = vec![bf16::ZERO; 1000];
        narrow(&y, &mut back);
        assert!(x.iter().zip(&back).all(|(a, b)| a == b || a.is_nan() && b.is_nan()));
        let half: Vec<f16> = converted("sum", y.clone()).unwrap();
        assert!(y.iter().zip(&half).all(|(a, b)| f16::from_f32(*a) == *b || a.is_nan()));
        assert_eq!(converted::<i32, i64>("sum", vec![1, -2]).unwrap(), [1, -2]);
        assert_eq!(converted::<i32, i32>("sum", vec![1, -2]).unwrap(), [1, -2]);
    }
}
