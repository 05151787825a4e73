//! Formulas as single ops on the tape. If the inner backend runs a formula in one loop or kernel, the tape records the
//! formula as one op, and the backward pass computes each gradient in one more loop or kernel. The tape keeps the
//! arrays of the formula, but no intermediate results.

use super::tape::{Diff, Grads, Pull, Results, Var};
use crate::{
    Backend, DTypeKind, Element, Error, Real, Result,
    runtime::{
        RealVisitor,
        formula::{
            self, Kept, KeptTold, Layout, Leaves, MAX_ARRAYS, Node, Run, Typed, Visitor, begin_gradient, begin_on,
            gradient_of, run_kept,
        },
    },
};
use std::marker::PhantomData;

/// Runs a formula and records it on the tape. Reports the call to watchers of the inner backend.
pub(super) fn formula<'a, B: Backend, L: Leaves<'a, Diff<B>>, E, T: Element>(
    d: &Diff<B>,
    e: &E,
    leaves: &L,
) -> Result<Var<B, T>>
where
    E: Run<'a, Diff<B>, L> + Typed<Out = T>,
{
    let begun = begin_on(d.within(), T::dtype(), e, leaves)?;
    // formulas over dtypes that are known only at run time are not fused
    let result = T::by_dtype(|| on_tape(d, e, leaves, begun.is_some()), || op_by_op(d, e, leaves, begun.is_some()))?;
    begun.map_or(Ok(()), |begun| d.within().end_fused(begun, result.value()))?;
    Ok(result)
}

/// Runs a formula op by op. If the inner backend is watched, the recorded ops are marked as one formula, so that the
/// backward pass can report the gradient of the formula to the watchers.
fn op_by_op<'a, B: Backend, L: Leaves<'a, Diff<B>>, E, T: Element>(
    d: &Diff<B>,
    e: &E,
    leaves: &L,
    is_watched: bool,
) -> Result<Var<B, T>>
where
    E: Run<'a, Diff<B>, L> + Typed<Out = T>,
{
    if const { !B::WATCHES } || !is_watched {
        return formula::run(d, e, leaves);
    }
    let before = d.count();
    let result = formula::run(d, e, leaves)?;
    let shape = crate::ArrayAttributes::shape(&result);
    d.record_formula(before, KeptTold::gradient::<Diff<B>, L, E>(T::dtype(), e, leaves, shape));
    Ok(result)
}

/// Runs a formula on a tape: as one op if possible, else op by op.
fn on_tape<'a, B: Backend, L: Leaves<'a, Diff<B>>, E, T: Element>(
    d: &Diff<B>,
    e: &E,
    leaves: &L,
    is_watched: bool,
) -> Result<Var<B, T>>
where
    E: Run<'a, Diff<B>, L> + Typed<Out = T>,
{
    if const { L::Layout::IS_DYNAMIC } {
        return op_by_op(d, e, leaves, is_watched);
    }
    // the backward pass reads one more array, the gradient of the result, so a formula with the maximum number of
    // arrays cannot be fused; complex gradients do not follow from the expressions of the ops
    let is_complex = const { matches!(T::DTYPE.kind(), DTypeKind::Complex) };
    if is_complex || const { L::Layout::ARRAYS >= MAX_ARRAYS || !<E as Node<<L::Layout as Layout>::Elements>>::PULLS } {
        return op_by_op(d, e, leaves, is_watched);
    }
    let mut arrays = Arrays { d, all: Vec::with_capacity(L::Layout::ARRAYS), fuse: true, wrong: None };
    leaves.visit(&mut arrays);
    if let Some(wrong) = arrays.wrong {
        return Err(wrong);
    }
    if !arrays.fuse {
        return op_by_op(d, e, leaves, is_watched);
    }
    e.check()?;
    let (arrays, scalars) = (arrays.all, leaves.scalars());
    let kept = arrays.iter().map(|(_, kept)| kept);
    let Some(value) = run_kept::<B, L::Layout, E, T>(d.within(), e, scalars, kept) else {
        return op_by_op(d, e, leaves, is_watched);
    };
    let value = value?;
    if arrays.iter().all(|(place, _)| place.is_none()) {
        return Ok(d.constant(value));
    }
    let rule = Formula::<B, L::Layout, E, T> { tree: *e, scalars, arrays, of: PhantomData };
    let Some(rule) = T::if_real(rule) else { return Ok(d.constant(value)) };
    let at = d.record(rule, &[crate::ArrayAttributes::shape(&value)]);
    Ok(d.recorded(value, at))
}

/// The arrays of a formula, with their tape indices.
struct Arrays<'d, B: Backend> {
    d: &'d Diff<B>,
    all: Vec<(Option<usize>, Kept<B>)>,
    /// True if the inner backend can fuse formulas over all these arrays.
    fuse: bool,
    wrong: Option<Error>,
}

impl<'a, B: Backend> Visitor<'a, Diff<B>> for Arrays<'_, B> {
    fn array<T: Element>(&mut self, x: &'a Var<B, T>) {
        let (b, value) = (self.d.within(), x.value());
        self.fuse &= b.host_view(value).is_some() || b.fused_input(value).is_some();
        match self.d.place_of(formula::NAME, x) {
            Ok(place) if self.fuse => self.all.push((place, Kept::of::<T>(x.value().clone()))),
            Ok(_) => {}
            Err(wrong) => self.wrong = Some(wrong),
        }
    }
}

/// The data of a formula that its backward pass needs.
struct Formula<B, L: Layout, E, T> {
    tree: E,
    scalars: L::Scalars,
    arrays: Vec<(Option<usize>, Kept<B>)>,
    of: PhantomData<fn() -> (L, T)>,
}

impl<B: Backend, L: Layout, E: Node<L::Elements> + Typed<Out = T>, T: Element> RealVisitor<T> for Formula<B, L, E, T> {
    type Out = Box<dyn Pull<B>>;

    fn visit(self) -> Box<dyn Pull<B>>
    where
        T: Real,
    {
        Box::new(self)
    }
}

impl<B: Backend, L: Layout, E: Node<L::Elements> + Typed<Out = T>, T: Real> Pull<B> for Formula<B, L, E, T> {
    fn pull(&self, b: &B, results: &mut Results<'_>, grads: &mut Grads<'_>) -> Result<()> {
        let g = Kept::of::<T>(results.take::<B, T>(b, 0)?);
        for (k, (place, _)) in self.arrays.iter().enumerate() {
            let Some(place) = *place else { continue };
            let arrays = self.arrays.iter().map(|(_, kept)| kept);
            let begun = begin_gradient::<B, L, E>(b, T::DTYPE, &self.tree, &self.scalars, &g, arrays.clone())?;
            let gradient = gradient_of::<B, L, E, T>(b, &self.tree, self.scalars, k, &g, arrays);
            let elsewhere = || Error::argument(formula::NAME, "the gradient of the value must be where the arrays are");
            let gradient = gradient.ok_or_else(elsewhere)??;
            begun.map_or(Ok(()), |begun| b.end_fused(begun, &gradient))?;
            grads.add::<B, T>(b, place, gradient)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::{Creation, Numpyish, Result, grad::Diff};

    #[test]
    fn a_formula_is_one_op_of_the_tape() -> Result<()> {
        let b = Numpyish::new();
        let d = Diff::new(b.clone());
        let (x, y) = (d.input::<f64>(b.asarray([1.0, 2.0])?), d.input::<f64>(b.asarray([3.0])?));
        let before = d.count();
        expr!(d, exp(-square(x - y) / (2 * y * y)) + where(x > y, abs(x), maximum(y, 0.5)) * sigmoid(x))?;
        assert_eq!(d.count(), before + 1);
        // the formula records two ops: the fused expression, and the mean
        expr!(d, mean((x - y) * *2, ..))?;
        assert_eq!(d.count(), before + 3);
        Ok(())
    }
}
