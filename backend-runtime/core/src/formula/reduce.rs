//! Reductions of formulas. Loops on the host and kernels reduce the formula's values without storing them. If neither a
//! loop nor a kernel is possible, an array of the values is computed first, and then reduced.

use super::{
    expression::{Run, Typed},
    leaf::{Layout, Leaves, MAX_ARRAYS, is_dynamic},
    product::factors,
    reduction::{Reduction, ReductionKind},
    run::{OnHost, inputs},
    text::{begin_reduction, ended, numbers, steps},
};
use crate::{
    Arrays, Axes, Element, Error, Result,
    numpyish::{formula::reduced, raw::RawArray, source::Source, steps::reduce as reduce_in_steps, typed::typed},
};

/// An op that reduces an array, or the values of a formula, over axes.
#[diagnostic::on_unimplemented(message = "there is no reduction `{Self}` of a formula of `{T}`")]
pub trait Reduce<B: Arrays, T: Element> {
    /// Dtype of the result.
    type Out: Element;

    /// Name of the op.
    const NAME: &'static str;

    /// True if the op works along a single axis, so that a reduction over all axes must flatten the array first.
    const ROW: bool = false;

    /// Describes the reduction and its parameters as data, for kernels.
    fn kind(&self) -> ReductionKind;

    /// Reduces the elements of `source`, which have dtype `T`, on the host. Each element is read once.
    fn fused(&self, source: Source<'_>, axis: Axes, keepdims: bool) -> Result<RawArray>;

    /// Calls the backend's method for the op.
    fn call(&self, b: &B, x: B::Array<T>, axis: Axes, keepdims: bool) -> Result<B::Array<Self::Out>>;
}

/// Returns the axis of an op that works along exactly one axis.
///
/// # Errors
/// Returns an error unless `axes` is a list of exactly one axis.
pub fn one_axis(op: &'static str, axes: Axes) -> Result<isize> {
    match axes {
        Axes::List(list) => list.one(op),
        Axes::All => Err(Error::argument(op, "exactly one axis must be given")),
    }
}

/// Returns the axis of an op that works along one axis; `None` for all axes, for which the op flattens the array.
///
/// # Errors
/// Returns an error if `axes` is a list that does not have exactly one axis.
pub fn axis_or_all(op: &'static str, axes: Axes) -> Result<Option<isize>> {
    match axes {
        Axes::List(list) => list.one(op).map(Some),
        Axes::All => Ok(None),
    }
}

/// Reduces the values of a formula. The result equals, bit for bit, the op's result for an array of these values.
#[inline]
pub fn reduce<'a, B: Arrays, L: Leaves<'a, B>, E, T: Element, R: Reduce<B, T>>(
    b: &B,
    op: &R,
    e: &E,
    leaves: &L,
    axis: Axes,
    keepdims: bool,
) -> Result<B::Array<R::Out>>
where
    E: Run<'a, B, L> + Typed<Out = T>,
{
    e.check()?;
    if const { E::IS_LEAF } {
        return op.call(b, e.run(b, leaves)?.into_owned(), axis, keepdims);
    }
    if let Some(result) = in_one_pass(b, op, e, leaves, axis, keepdims)? {
        return Ok(result);
    }
    op.call(b, b.formula(e, leaves)?, axis, keepdims)
}

/// Reduces a formula without an array of its values, in kernels of the backend or in a loop over host memory. Returns
/// `None` if both are impossible.
fn in_one_pass<'a, B: Arrays, L: Leaves<'a, B>, E, T: Element, R: Reduce<B, T>>(
    b: &B,
    op: &R,
    e: &E,
    leaves: &L,
    axis: Axes,
    keepdims: bool,
) -> Result<Option<B::Array<R::Out>>>
where
    E: Run<'a, B, L> + Typed<Out = T>,
{
    // the loop of a `ROW` op works along an axis; to flatten, it needs an array of the values
    if const { L::Layout::ARRAYS > MAX_ARRAYS } || (const { R::ROW } && axis == Axes::All) {
        return Ok(None);
    }
    let begin = || begin_reduction(b, R::NAME, T::dtype(), e, leaves, (&axis, keepdims));
    if const { B::FUSES }
        && let Some(inputs) = inputs(b, leaves)
    {
        let reduction = Reduction { op: R::NAME, kind: op.kind(), axis, keepdims };
        let begun = begin()?;
        if let Some(result) = b.fused_reduction::<L::Layout, E, T, R::Out>(e, leaves.scalars(), &inputs, &reduction) {
            return ended(b, begun, result?).map(Some);
        }
    }
    if const { is_dynamic::<L::Layout, T>() || <R::Out as Element>::IS_DYNAMIC } {
        return in_steps::<B, L, E, T, R>(b, op, e, leaves, (axis, keepdims));
    }
    let mut arrays = OnHost::new(b);
    leaves.visit(&mut arrays);
    let Some(views) = arrays.views() else { return Ok(None) };
    let begun = begin()?;
    let of = |source: Source<'_>| op.fused(source, axis, keepdims);
    // SAFETY: `views` has a view of each of the formula's arrays, in the order of the formula.
    let result = unsafe { reduced::<L::Layout, E, T>(e, leaves.scalars(), &views, &of) };
    ended(b, begun, b.of_loop(typed(result)?)?).map(Some)
}

/// Reduces a formula whose dtypes are known only at run time, block by block; `None` if its arrays are not in host
/// memory, or if an op of the formula has no loop.
fn in_steps<'a, B: Arrays, L: Leaves<'a, B>, E, T: Element, R: Reduce<B, T>>(
    b: &B,
    op: &R,
    e: &E,
    leaves: &L,
    (axis, keepdims): (Axes, bool),
) -> Result<Option<B::Array<R::Out>>>
where
    E: Run<'a, B, L> + Typed<Out = T>,
{
    let mut arrays = OnHost::new(b);
    leaves.visit(&mut arrays);
    let Some(views) = arrays.views() else { return Ok(None) };
    let begun = begin_reduction(b, R::NAME, T::dtype(), e, leaves, (&axis, keepdims))?;
    let (steps, numbers) = (steps::<_, E>(), numbers::<L::Layout, E>(e, &leaves.scalars()));
    let of = |source: Source<'_>| op.fused(source, axis, keepdims);
    match reduce_in_steps(&steps, &numbers, views.as_slice(), factors::<_, E>(), &of) {
        Some(result) => ended(b, begun, b.of_raw(result?)?).map(Some),
        None => Ok(None),
    }
}
