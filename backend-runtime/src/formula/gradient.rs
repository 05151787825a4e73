//! The gradients of a formula: one more formula for each array that it is over, whose value is computed again at every place, and gone back
//! from at once. So a tape keeps the arrays of a formula, and none of what is between them and its value.

use super::{
    leaf::{Layout, MOST, OfArray, OfPair},
    node::{Node, Typed},
};
use crate::{
    Arrays, DTypeKind, Element, Real, Result,
    numpyish::{
        formula::{Views, over},
        raw::View,
    },
};
use std::{any::Any, marker::PhantomData};

/// Takes the gradients of the arrays of a formula, at one place.
pub trait Sink {
    /// One more part of the gradient of an array, of which `array` are before it.
    fn add<V: Copy + 'static>(&mut self, array: usize, g: V);
}

/// A value as one of another type that is the same: what generic code cannot know. The compiler removes the question.
#[inline(always)]
pub(super) fn same<V: Copy + 'static, U: Copy + 'static>(x: V) -> Option<U> {
    (&x as &dyn Any).downcast_ref().copied()
}

/// Whether no gradient goes through values of this dtype.
pub(super) const fn is_constant<T: Element>() -> bool {
    !matches!(T::DTYPE.kind(), DTypeKind::Real | DTypeKind::Complex)
}

pub(super) const fn is_real<T: Element>() -> bool {
    matches!(T::DTYPE.kind(), DTypeKind::Real)
}

/// The gradient of array number `K` of a formula `E`, where both have the dtype `T`: a formula over the gradient of its value, and all that it is over.
#[derive(Debug)]
pub struct Gradient<E, T, const K: usize>(E, PhantomData<fn() -> T>);

impl<E: Copy, T, const K: usize> Clone for Gradient<E, T, K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<E: Copy, T, const K: usize> Copy for Gradient<E, T, K> {}

impl<E: Typed<Out = T>, T: Real, const K: usize> Typed for Gradient<E, T, K> {
    type Out = T;
    const GAINS_FROM_AVX512: bool = E::GAINS_FROM_AVX512;
}

impl<L, E: Node<L, Out = T>, T: Real, const K: usize> Node<(T, L)> for Gradient<E, T, K> {
    const NEEDS_RANGE_REDUCTION: bool = E::NEEDS_RANGE_REDUCTION;

    #[inline(always)]
    fn at(&self, (g, leaves): &(T, L)) -> T {
        let mut found = Found::<T, K>(T::ZERO);
        self.0.pull(leaves, *g, &mut found);
        found.0
    }

    #[inline(always)]
    fn needs_range_reduction(&self, (_, leaves): &(T, L)) -> bool {
        self.0.needs_range_reduction(leaves)
    }
}

struct Found<T, const K: usize>(T);

impl<T: Real, const K: usize> Sink for Found<T, K> {
    #[inline(always)]
    fn add<V: Copy + 'static>(&mut self, array: usize, g: V) {
        if array == K
            && let Some(g) = same::<V, T>(g)
        {
            self.0 = self.0.plus(g);
        }
    }
}

/// An array that is kept for a formula, whatever its dtype is.
pub struct Kept<B>(Box<dyn OnHost<B>>);

trait OnHost<B>: Send + Sync {
    /// The elements, if they are in the host's memory.
    fn view<'a>(&'a self, b: &B) -> Option<View<'a>>;
}

struct Of<B: Arrays, T: Element>(B::Array<T>);

impl<B: Arrays, T: Element> OnHost<B> for Of<B, T> {
    fn view<'a>(&'a self, b: &B) -> Option<View<'a>> {
        b.host_view(&self.0).map(|view| view.view())
    }
}

impl<B: Arrays> Kept<B> {
    /// A handle of the array.
    pub fn of<T: Element>(x: B::Array<T>) -> Kept<B> {
        Kept(Box::new(Of::<B, T>(x)))
    }
}

/// Runs a formula over arrays that were kept, in order; none where these are not the formula's, or not all in the host's memory.
pub fn run_kept<'k, B: Arrays, L: Layout, E: Node<L::Elements> + Typed<Out = T>, T: Element>(
    b: &B,
    e: &E,
    scalars: L::Scalars,
    arrays: impl IntoIterator<Item = &'k Kept<B>>,
) -> Option<Result<B::Array<T>>> {
    let mut views = Views::default();
    let mut count = 0;
    for array in arrays {
        let view = array.0.view(b).filter(|view| count < L::ARRAYS.min(MOST) && view.dtype == L::DTYPES[count])?;
        views.push(view);
        count += 1;
    }
    if count != L::ARRAYS {
        return None;
    }
    // SAFETY: the views are as many as the formula has arrays, each of its dtype.
    Some(unsafe { over::<L, E, T>(e, scalars, &views) }.and_then(|result| b.of_loop(result)))
}

/// The gradient of array number `k` of a formula, of the gradient `g` of its value, as an array of that shape.
pub fn gradient_of<'k, B: Arrays, L: Layout, E: Node<L::Elements> + Typed<Out = T>, T: Real>(
    b: &B,
    e: &E,
    scalars: L::Scalars,
    k: usize,
    g: &'k Kept<B>,
    arrays: impl IntoIterator<Item = &'k Kept<B>>,
) -> Option<Result<B::Array<T>>> {
    let all = std::iter::once(g).chain(arrays);
    macro_rules! one_of {
        ($($k:literal)*) => {
            match k {
                // what is not among the arrays is not compiled
                $($k => if const { $k < L::ARRAYS } {
                    let gradient = Gradient::<E, T, $k>(*e, PhantomData);
                    run_kept::<B, OfPair<OfArray<T>, L>, _, T>(b, &gradient, ((), scalars), all)
                } else {
                    None
                },)*
                _ => None,
            }
        };
    }
    one_of!(0 1 2 3 4 5 6)
}
