//! Gradients of formulas. The gradient with respect to one array is another formula. For every element, it computes the
//! value of the original formula again, and then runs the backward pass. The tape, which records ops for the gradient,
//! thus keeps only the arrays of a formula, and no intermediate values.

use super::{
    expression::{Node, Row, Sink, Typed},
    leaf::{Layout, MAX_ARRAYS, OfArray, OfPair},
    sides::After,
    writer::{Numbers, Writer},
};
use crate::{
    Arrays, DType, DTypeKind, Element, Real, Result,
    numpyish::{
        formula::{Views, over},
        raw::View,
    },
    wrap::AnyTyped,
};
use std::{any::Any, marker::PhantomData};

/// Returns `x` as type `U` if `U` is the same type as `V`, and otherwise `None`. The compiler evaluates the comparison
/// of the types.
#[inline(always)]
pub(super) fn same<V: Copy + 'static, U: Copy + 'static>(x: V) -> Option<U> {
    (&x as &dyn Any).downcast_ref().copied()
}

/// Returns whether values of this dtype are constants, through which no gradient flows.
pub(super) const fn is_constant<T: Element>() -> bool {
    !matches!(T::DTYPE.kind(), DTypeKind::Real | DTypeKind::Complex)
}

pub(super) const fn is_real<T: Element>() -> bool {
    matches!(T::DTYPE.kind(), DTypeKind::Real)
}

/// Returns whether operand `k` of an op depends on the array with index `array`, and the gradient through this operand
/// can be written as text.
pub(super) fn has<F: Row, L, X: Node<L>>(k: usize, array: usize) -> bool {
    F::CUDA_PULLS.get(k).is_some_and(|text| !text.is_empty()) && X::has(array)
}

/// Writes, as text, the contribution of operand `k` of an op to an array's gradient. `of` is the op's dtype. `parts`
/// are the texts of the operands, of the result and of the gradient of the result.
pub(super) fn pulled<F: Row, L, X: Node<L>, W: Writer>(
    writer: &mut W,
    k: usize,
    of: DType,
    parts: &[W::Subexpression],
    array: usize,
) -> Option<W::Subexpression> {
    if !has::<F, L, X>(k, array) {
        return None;
    }
    let g = writer.pull::<F>(k, of, parts)?;
    X::write_pull(writer, g, array)
}

/// Collects the numbers that [`pulled`] passes to the writer.
pub(super) fn numbers_pulled<F: Row, L, X: Node<L>>(
    op: &F,
    k: usize,
    x: &X,
    leaves: &L,
    array: usize,
    numbers: &mut Numbers,
) {
    if has::<F, L, X>(k, array) {
        numbers.params(op);
        x.numbers_pull(leaves, array, numbers);
    }
}

/// Writes the text of the sum of `a` and `b`. If only one of the two exists, returns its text.
pub(super) fn sum<W: Writer>(
    writer: &mut W,
    a: Option<W::Subexpression>,
    b: Option<W::Subexpression>,
) -> Option<W::Subexpression> {
    match (a, b) {
        (Some(a), Some(b)) => Some(writer.sum(a, b)),
        (a, b) => a.or(b),
    }
}

/// The gradient of a formula `E` with respect to the array with index `K`. The formula's value and the array have the
/// dtype `T`. The gradient is itself a formula. Its first leaf is the gradient of the value of `E`, and all leaves of
/// `E` follow.
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

    fn write<W: Writer>(writer: &mut W) -> Option<W::Subexpression> {
        if !E::has(K) {
            return Some(writer.number(T::DTYPE));
        }
        let g = writer.element(0);
        E::write_pull(&mut After { writer, before: 1 }, g, K)
    }

    fn numbers(&self, (_, leaves): &(T, L), numbers: &mut Numbers) {
        if E::has(K) {
            self.0.numbers_pull(leaves, K, numbers);
        } else {
            numbers.number(T::ZERO);
        }
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

/// A handle of an array of any dtype, which is stored until the gradient of a formula is computed.
pub struct Kept<B>(Box<dyn Input<B>>);

trait Input<B>: Send + Sync {
    /// Returns a view of the elements if they are in host memory, and otherwise `None`.
    fn view<'a>(&'a self, b: &B) -> Option<View<'a>>;

    /// Returns the dtype, and the array as an operand of the backend's kernels; `None` if the kernels cannot take it.
    fn input<'a>(&'a self, b: &B) -> Option<(DType, &'a dyn Any)>;

    /// Returns the array, to report its dtype and shape to backends that watch calls ([`Arrays::WATCHES`]).
    fn typed(&self) -> &dyn AnyTyped;
}

struct KeptArray<B: Arrays, T: Element>(B::Array<T>);

impl<B: Arrays, T: Element> Input<B> for KeptArray<B, T> {
    fn view<'a>(&'a self, b: &B) -> Option<View<'a>> {
        b.host_view(&self.0).map(|view| view.view())
    }

    fn input<'a>(&'a self, b: &B) -> Option<(DType, &'a dyn Any)> {
        b.fused_input(&self.0).map(|x| (T::DTYPE, x))
    }

    fn typed(&self) -> &dyn AnyTyped {
        &self.0
    }
}

impl<B: Arrays> Kept<B> {
    /// Stores a handle of an array.
    pub fn of<T: Element>(x: B::Array<T>) -> Kept<B> {
        Kept(Box::new(KeptArray::<B, T>(x)))
    }

    /// Returns the array, to report its dtype and shape to backends that watch calls ([`Arrays::WATCHES`]).
    pub(super) fn typed(&self) -> &dyn AnyTyped {
        self.0.typed()
    }
}

/// Runs a formula over stored arrays, in a kernel of the backend or in one pass over host memory. `arrays` must be in
/// the order of the formula. Returns `None` if the number or the dtypes of the arrays differ from those in `L`, or if
/// neither a kernel nor a pass over host memory is possible.
pub fn run_kept<'k, B: Arrays, L: Layout, E: Node<L::Elements> + Typed<Out = T>, T: Element>(
    b: &B,
    e: &E,
    scalars: L::Scalars,
    arrays: impl IntoIterator<Item = &'k Kept<B>> + Clone,
) -> Option<Result<B::Array<T>>> {
    if L::ARRAYS > MAX_ARRAYS {
        return None;
    }
    if const { B::FUSES } {
        let inputs: Option<Vec<(DType, &dyn Any)>> = arrays.clone().into_iter().map(|x| x.0.input(b)).collect();
        if let Some(inputs) = inputs
            && inputs.iter().map(|(dtype, _)| dtype).eq(&L::DTYPES[..L::ARRAYS])
        {
            let inputs: Vec<&dyn Any> = inputs.into_iter().map(|(_, x)| x).collect();
            return b.fused::<L, E, T>(e, scalars, &inputs, None);
        }
    }
    let mut views = Views::default();
    let mut count = 0;
    for array in arrays {
        let view = array.0.view(b).filter(|view| count < L::ARRAYS && view.dtype == L::DTYPES[count])?;
        views.push(view);
        count += 1;
    }
    if count != L::ARRAYS {
        return None;
    }
    // SAFETY: there is one view for each array of the formula, and each view has the dtype of its array.
    Some(unsafe { over::<L, E, T>(e, scalars, &views) }.and_then(|result| b.of_loop(result)))
}

/// Computes the gradient of a formula with respect to the array with index `k`. `g` is the gradient of the formula's
/// value, and has the shape of this value. Returns `None` in the cases of [`run_kept`].
pub fn gradient_of<'k, B: Arrays, L: Layout, E: Node<L::Elements> + Typed<Out = T>, T: Real>(
    b: &B,
    e: &E,
    scalars: L::Scalars,
    k: usize,
    g: &'k Kept<B>,
    arrays: impl Iterator<Item = &'k Kept<B>> + Clone,
) -> Option<Result<B::Array<T>>> {
    let all = std::iter::once(g).chain(arrays);
    macro_rules! one_of {
        ($($k:literal)*) => {
            match k {
                // a `const` condition, so that indices beyond the formula's last array compile to no code
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
