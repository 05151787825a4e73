//! Runs formulas in one pass over host memory, in one kernel of the backend, or op by op.

use super::{
    expression::{Call, Node, Row, Run, Typed, Valued},
    join::{Fits, Join, Single},
    leaf::{Array, Layout, Leaves, MAX_ARRAYS, Value, Visitor, is_dynamic},
    node::{Get, Head, Leaf, Op1, Op2, Op3, Tail},
    text::{begin_on, numbers, steps},
    values::{ComplexLiteral, Literal, Scalar, Whole},
};
use crate::{
    Arrays, Each, Element, Error, Highest, Lowest, Operand, Result,
    entry::ArrayRef,
    numpyish::formula::{Views, into, over},
};
use std::{any::Any, borrow::Cow};

/// A list of leaves from which the leaf at index `N` can be taken as a whole array or a number.
pub trait At<'a, B: Arrays, N>: Leaves<'a, B> {
    /// Type of the leaf's element.
    type Element: Valued;

    /// Returns the leaf at index `N`: a whole array or a number.
    fn whole(&self) -> <Self::Element as Valued>::Val<'a, B>;
}

impl<'a, B: Arrays, T: Element, R: Leaves<'a, B>> At<'a, B, Head> for (Array<'a, B, T>, R) {
    type Element = T;

    fn whole(&self) -> Cow<'a, B::Array<T>> {
        Cow::Borrowed(self.0.0)
    }
}

impl<'a, B: Arrays, T: Element, R: Leaves<'a, B>> At<'a, B, Head> for (Value<T>, R) {
    type Element = Scalar<T>;

    fn whole(&self) -> Scalar<T> {
        Scalar(self.0.0)
    }
}

impl<'a, B: Arrays, N, X: Leaves<'a, B>, R: At<'a, B, N>> At<'a, B, Tail<N>> for (X, R) {
    type Element = R::Element;

    fn whole(&self) -> <R::Element as Valued>::Val<'a, B> {
        self.1.whole()
    }
}

impl<'a, B, L, N, V> Run<'a, B, L> for Leaf<N, V>
where
    B: Arrays,
    L: At<'a, B, N, Element = V, Layout: Layout<Elements: Get<N, Item = V>>>,
    N: 'static,
    V: Copy + Valued + 'static,
{
    fn run(&self, _: &B, leaves: &L) -> Result<V::Val<'a, B>> {
        Ok(leaves.whole())
    }
}

macro_rules! written {
    ($($t:ty),*) => {$(
        impl<'a, B: Arrays, L: Leaves<'a, B>> Run<'a, B, L> for $t {
            fn run(&self, _: &B, _: &L) -> Result<$t> {
                Ok(*self)
            }
        }
    )*};
}
written!(Literal, ComplexLiteral, Whole, Lowest, Highest);

impl<'a, B, L, F, X, T, V> Run<'a, B, L> for Op1<F, X, T, V>
where
    B: Arrays,
    L: Leaves<'a, B>,
    X: Run<'a, B, L> + Typed<Out: Single<DType = T, With<F::Out> = V>>,
    F: Call<1, B, T> + Row,
    T: Element,
    V: Single + 'static,
{
    fn run(&self, b: &B, leaves: &L) -> Result<V::Val<'a, B>> {
        X::Out::call(b, &self.0, self.1.run(b, leaves)?)
    }
}

impl<'a, B, L, F, X, Y, T, V> Run<'a, B, L> for Op2<F, X, Y, T, V>
where
    B: Arrays,
    L: Leaves<'a, B>,
    X: Run<'a, B, L> + Typed<Out: Join<Y::Out, DType = T, With<F::Out> = V>>,
    Y: Run<'a, B, L>,
    F: Call<2, B, T> + Row,
    T: Element,
    V: Single + 'static,
{
    fn run(&self, b: &B, leaves: &L) -> Result<V::Val<'a, B>> {
        X::Out::call(b, &self.0, self.1.run(b, leaves)?, self.2.run(b, leaves)?)
    }
}

impl<'a, B, L, F, X, Y, Z, T, V> Run<'a, B, L> for Op3<F, X, Y, Z, T, V>
where
    B: Arrays,
    L: Leaves<'a, B>,
    X: Run<'a, B, L> + Typed<Out = T>,
    Y: Run<'a, B, L> + Typed<Out: Fits<T>>,
    Z: Run<'a, B, L> + Typed<Out: Fits<T>>,
    F: Call<3, B, T> + Each<3, T, Out = V> + Row,
    T: Element,
    V: Element,
{
    fn run(&self, b: &B, leaves: &L) -> Result<Cow<'a, B::Array<V>>> {
        let (x, y, z) = (self.1.run(b, leaves)?, self.2.run(b, leaves)?, self.3.run(b, leaves)?);
        let operands = [<T as Fits<T>>::operand(x), <Y::Out as Fits<T>>::operand(y), <Z::Out as Fits<T>>::operand(z)];
        self.0.call(b, operands).map(Cow::Owned)
    }
}

/// Runs a formula in one kernel if the backend has a kernel for it, otherwise in one pass if all arrays are in host
/// memory, and otherwise op by op.
#[inline]
pub fn run<'a, B: Arrays, L: Leaves<'a, B>, E, T: Element>(b: &B, e: &E, leaves: &L) -> Result<B::Array<T>>
where
    E: Run<'a, B, L> + Typed<Out = T>,
{
    e.check()?;
    if const { L::Layout::ARRAYS > MAX_ARRAYS && !is_dynamic::<L::Layout, T>() } {
        return Ok(e.run(b, leaves)?.into_owned());
    }
    if const { B::FUSES && L::Layout::ARRAYS <= MAX_ARRAYS }
        && let Some(result) = fused::<B, L, E, T>(b, e, leaves, None)
    {
        return result;
    }
    if const { L::Layout::IS_DYNAMIC } {
        return run_in_any_dtype(b, e, leaves);
    }
    T::by_dtype(|| run_on_host(b, e, leaves), || run_in_any_dtype(b, e, leaves))
}

/// Runs a formula over dtypes that are known only at run time, for which there are no compiled loops.
fn run_in_any_dtype<'a, B: Arrays, L: Leaves<'a, B>, E, T: Element>(b: &B, e: &E, leaves: &L) -> Result<B::Array<T>>
where
    E: Run<'a, B, L> + Typed<Out = T>,
{
    if const { B::TAKES_ANY_DTYPE && !B::HAS_ENTRIES } {
        return Ok(e.run(b, leaves)?.into_owned());
    }
    let mut arrays = Refs(Vec::with_capacity(L::Layout::ARRAYS));
    leaves.visit(&mut arrays);
    let numbers = numbers::<L::Layout, E>(e, &leaves.scalars());
    B::of_value(super::NAME, b.run_steps(&steps::<_, E>(), &numbers, &arrays.0)?)
}

/// Runs a formula in one pass if all arrays are in host memory, and otherwise op by op.
#[inline]
fn run_on_host<'a, B: Arrays, L: Leaves<'a, B>, E, T: Element>(b: &B, e: &E, leaves: &L) -> Result<B::Array<T>>
where
    E: Run<'a, B, L> + Typed<Out = T>,
{
    let mut arrays = OnHost { b, views: Views::default(), all: true };
    leaves.visit(&mut arrays);
    if !arrays.all {
        return Ok(e.run(b, leaves)?.into_owned());
    }
    // SAFETY: there is a view of each of the formula's arrays, in the order of the formula.
    let result = unsafe { over::<L::Layout, E, T>(e, leaves.scalars(), &arrays.views)? };
    b.of_loop(result)
}

/// The value of a subexpression that is computed before the rest of a formula: an array or a number.
pub trait Precomputed<'a, B: Arrays, L: Leaves<'a, B>, E> {
    /// Type of the computed value, which the rest of the formula uses as a leaf.
    type Made;

    /// Computes the value.
    fn compute(b: &B, e: &E, leaves: &L) -> Result<Self::Made>;
}

impl<'a, B: Arrays, L: Leaves<'a, B>, T: Element, E: Run<'a, B, L> + Typed<Out = T>> Precomputed<'a, B, L, E> for T {
    type Made = B::Array<T>;

    #[inline]
    fn compute(b: &B, e: &E, leaves: &L) -> Result<B::Array<T>> {
        b.formula(e, leaves)
    }
}

impl<'a, B, L, T, E> Precomputed<'a, B, L, E> for Scalar<T>
where
    B: Arrays,
    L: Leaves<'a, B>,
    T: Element,
    E: Run<'a, B, L> + Typed<Out = Scalar<T>>,
{
    type Made = T;

    fn compute(b: &B, e: &E, leaves: &L) -> Result<T> {
        e.check()?;
        Ok(e.run(b, leaves)?.0)
    }
}

/// Computes a subexpression of a formula that has too many arrays for one pass. A leaf with the value replaces it.
#[inline]
pub fn part<'a, B: Arrays, L: Leaves<'a, B>, E>(
    b: &B,
    e: &E,
    leaves: &L,
) -> Result<<E::Out as Precomputed<'a, B, L, E>>::Made>
where
    E: Typed<Out: Precomputed<'a, B, L, E>>,
{
    E::Out::compute(b, e, leaves)
}

/// Runs a formula, writes its result over the memory of `target`, and returns `None`. Returns a new array, like
/// [`run`], if `target` has another shape, or if neither a loop on the host nor a kernel of the backend can write to
/// `target`.
///
/// # Safety
/// The conditions of [`Arrays::formula_over`] hold.
#[inline]
pub unsafe fn run_over<'a, B: Arrays, L: Leaves<'a, B>, E, T: Element>(
    b: &B,
    e: &E,
    leaves: &L,
    target: &B::Array<T>,
) -> Result<Option<B::Array<T>>>
where
    E: Run<'a, B, L> + Typed<Out = T>,
{
    let takes = |b: &B| b.host_view(target).is_some() || (const { B::FUSES } && b.fused_input(target).is_some());
    if const { L::Layout::ARRAYS > MAX_ARRAYS } || !takes(b) {
        return b.formula(e, leaves).map(Some);
    }
    let begun = begin_on(b, T::dtype(), e, leaves)?;
    // SAFETY: the caller guarantees the conditions of `Arrays::formula_over`.
    let result = unsafe { written_over(b, e, leaves, target)? };
    begun.map_or(Ok(()), |begun| b.end_fused(begun, result.as_ref().unwrap_or(target)))?;
    Ok(result)
}

/// Runs the formula for [`run_over`], after the call was reported to a backend that watches calls. `target` must be in
/// host memory, or be an array that the backend's kernels can take as an operand.
///
/// # Safety
/// The conditions of [`Arrays::formula_over`] hold.
#[inline]
unsafe fn written_over<'a, B: Arrays, L: Leaves<'a, B>, E, T: Element>(
    b: &B,
    e: &E,
    leaves: &L,
    target: &B::Array<T>,
) -> Result<Option<B::Array<T>>>
where
    E: Run<'a, B, L> + Typed<Out = T>,
{
    if const { !is_dynamic::<L::Layout, T>() }
        && let Some(memory) = b.host_view(target)
    {
        e.check()?;
        let mut arrays = OnHost::new(b);
        leaves.visit(&mut arrays);
        if let Some(views) = arrays.views()
            // SAFETY: `views` has a view of each of the formula's arrays, in the order of the formula. The caller
            // guarantees that the result may overwrite the memory.
            && unsafe { into::<L::Layout, E, T>(e, leaves.scalars(), &views, memory) }
        {
            return Ok(None);
        }
    }
    if const { B::FUSES }
        && let Some(memory) = b.fused_input(target)
    {
        e.check()?;
        if let Some(result) = fused::<B, L, E, T>(b, e, leaves, Some(memory)) {
            return result.map(|_| None);
        }
    }
    run(b, e, leaves).map(Some)
}

/// Runs a formula in one kernel of the backend. If `over` is an array, the kernel writes the result over this array.
/// Returns `None` if the backend has no kernel for the formula.
fn fused<'a, B: Arrays, L: Leaves<'a, B>, E, T: Element>(
    b: &B,
    e: &E,
    leaves: &L,
    over: Option<&dyn Any>,
) -> Option<Result<B::Array<T>>>
where
    E: Node<<L::Layout as Layout>::Elements> + Typed<Out = T>,
{
    b.fused::<L::Layout, E, T>(e, leaves.scalars(), &inputs(b, leaves)?, over)
}

/// Returns the arrays of a formula, converted by [`Arrays::fused_input`] to operands of the backend's kernels; `None`
/// if the kernels cannot take one of the arrays.
pub(super) fn inputs<'a, B: Arrays, L: Leaves<'a, B>>(b: &B, leaves: &L) -> Option<Vec<&'a dyn Any>> {
    let mut inputs = Inputs { b, arrays: Some(Vec::with_capacity(L::Layout::ARRAYS)) };
    leaves.visit(&mut inputs);
    inputs.arrays
}

/// A visitor that collects the arrays of a formula as operands of a kernel. `arrays` becomes `None` if the kernels
/// cannot take one of them.
struct Inputs<'b, 'a, B> {
    b: &'b B,
    arrays: Option<Vec<&'a dyn Any>>,
}

impl<'a, B: Arrays> Visitor<'a, B> for Inputs<'_, 'a, B> {
    fn array<T: Element>(&mut self, x: &'a B::Array<T>) {
        match (self.b.fused_input(x), &mut self.arrays) {
            (Some(x), Some(arrays)) => arrays.push(x),
            _ => self.arrays = None,
        }
    }
}

/// A visitor that collects the arrays of a formula as arguments of entries.
struct Refs<'a>(Vec<ArrayRef<'a>>);

impl<'a, B: Arrays> Visitor<'a, B> for Refs<'a> {
    fn array<T: Element>(&mut self, x: &'a B::Array<T>) {
        self.0.extend(B::array_ref(x));
    }
}

/// A visitor that collects views of the arrays of a formula, if they are in host memory.
pub struct OnHost<'b, 'a, B> {
    b: &'b B,
    views: Views<'a>,
    all: bool,
}

impl<'b, 'a, B> OnHost<'b, 'a, B> {
    /// Creates a visitor that has not seen any array.
    #[inline(always)]
    pub fn new(b: &'b B) -> Self {
        OnHost { b, views: Views::default(), all: true }
    }

    /// Returns views of all visited arrays; `None` if one of them is not in host memory.
    #[inline(always)]
    pub fn views(self) -> Option<Views<'a>> {
        self.all.then_some(self.views)
    }
}

impl<'a, B: Arrays> Visitor<'a, B> for OnHost<'_, 'a, B> {
    #[inline(always)]
    fn array<T: Element>(&mut self, x: &'a B::Array<T>) {
        match self.b.host_view(x) {
            Some(view) if self.all => self.views.push(view.view()),
            _ => self.all = false,
        }
    }
}

/// Converts an operand to an array; a scalar becomes an array without axes.
pub fn whole<'a, B: Arrays, T: Element>(b: &B, x: Operand<'a, B, T>) -> Result<Cow<'a, B::Array<T>>> {
    match x {
        Operand::Array(x) => Ok(x),
        Operand::Scalar(x) => b.from_ndarray(ndarray::arr0(x).into_dyn().into_shared()).map(Cow::Owned),
    }
}

/// Returns `result`, the new value of the variable in `target += formula`, if it has the shape of `target`.
///
/// # Errors
/// Returns [`Error::Shape`], which names both shapes, if they differ.
pub fn same_shape<B: Arrays, T: Element>(b: &B, target: &B::Array<T>, result: B::Array<T>) -> Result<B::Array<T>> {
    let (before, after) = (b.shape(target), b.shape(&result));
    if before == after {
        return Ok(result);
    }
    Err(Error::shape(super::NAME, after, format!("does not fit the variable, whose shape is {before:?}")))
}
