//! Gradients of solutions of equations. They follow from the equation, not from the steps of the solver.

use super::tape::{Diff, Grads, Pull, Record, Results, Var, boxed, unboxed};
use crate::{ArrayAttributes, Backend, Error, Float, LinearMap, Result};
use std::{marker::PhantomData, sync::Arc};

/// Implements [`Arrays::implicit`](crate::Arrays::implicit) for `Diff`.
pub(super) fn implicit<B: Backend, T: Float>(
    d: &Diff<B>,
    op: &'static str,
    solve: impl Fn(&Diff<B>) -> Result<Var<B, T>>,
    residual: impl Fn(&Diff<B>, &Var<B, T>) -> Result<Var<B, T>>,
    adjoint: impl Fn(&Diff<B>, &LinearMap<'_, Diff<B>, T>, &Var<B, T>) -> Result<Var<B, T>> + Send + Sync + 'static,
) -> Result<Var<B, T>> {
    // the inner backend may itself record ops for gradients, so the call of `implicit` is passed on to it
    let paused = d.paused(d.within());
    let adjoint = Arc::new(adjoint);
    let adjoint_within = {
        let (paused, adjoint) = (paused.clone(), adjoint.clone());
        move |b: &B, transposed: &LinearMap<'_, B, T>, g: &B::Array<T>| {
            let d = paused.paused(b);
            let transposed = |d: &Diff<B>, x: &Var<B, T>| Ok(d.constant::<T>(transposed(d.within(), x.value())?));
            Ok(adjoint(&d, &transposed, &d.constant::<T>(g.clone()))?.into_value())
        }
    };
    let value = d.within().implicit::<T>(
        op,
        |b| Ok(solve(&d.paused(b))?.into_value()),
        |b, x| {
            let d = d.paused(b);
            Ok(residual(&d, &d.constant::<T>(x.clone()))?.into_value())
        },
        adjoint_within.clone(),
    )?;
    if d.is_paused() {
        return Ok(d.constant(value));
    }
    let part = |part: Diff<B>, x: Var<B, T>| -> Result<ResidualRecord<B>> {
        let r = residual(&part, &x)?;
        Ok(ResidualRecord { result: part.place_of(op, &r)?, shape: r.shape().into(), record: part.take() })
    };
    let by_others = part(d.part(false), d.constant::<T>(value.clone()))?;
    let Some(result) = by_others.result else { return Ok(d.constant(value)) };
    let alone = d.part(true);
    let x = alone.input::<T>(value.clone());
    let rule = Implicit { op, by_x: part(alone, x)?, by_others, result, adjoint: adjoint_within, dtype: PhantomData };
    let at = d.record(Box::new(rule), &[value.shape()]);
    Ok(d.recorded(value, at))
}

/// The recorded ops of a residual function.
struct ResidualRecord<B: Backend> {
    record: Record<B>,
    result: Option<usize>,
    shape: Box<[usize]>,
}

struct Implicit<B: Backend, T, A> {
    op: &'static str,
    /// The residual as a function of the solution; all other arrays are constants.
    by_x: ResidualRecord<B>,
    /// The residual as a function of all other arrays; the solution is a constant.
    by_others: ResidualRecord<B>,
    result: usize,
    adjoint: A,
    dtype: PhantomData<fn() -> (B, T)>,
}

impl<B: Backend, T: Float, A> Pull<B> for Implicit<B, T, A>
where
    A: Fn(&B, &LinearMap<'_, B, T>, &B::Array<T>) -> Result<B::Array<T>> + Send + Sync,
{
    fn pull(&self, b: &B, results: &mut Results<'_>, grads: &mut Grads<'_>) -> Result<()> {
        let g = results.take::<B, T>(b, 0)?;
        let like_residual = |z: &B::Array<T>| match z.shape() == &*self.by_x.shape {
            true => Ok(()),
            false => Err(Error::shapes(self.op, z.shape(), &self.by_x.shape)),
        };
        let transposed = |b: &B, z: &B::Array<T>| -> Result<B::Array<T>> {
            like_residual(z)?;
            let found = match self.by_x.result {
                Some(place) => self.by_x.record.back_over(b, (place, boxed::<B, T>(z.clone())), None)?,
                None => None,
            };
            match found.and_then(unboxed::<B, T>) {
                Some(g) => Ok(g),
                None => b.zeros_like::<T>(&g),
            }
        };
        let z = (self.adjoint)(b, &transposed, &g)?;
        like_residual(&z)?;
        let z = b.negative::<T>(z)?;
        if self.by_others.record.is_around(self.result) {
            return grads.add::<B, T>(b, self.result, z);
        }
        self.by_others.record.back_over(b, (self.result, boxed::<B, T>(z)), Some(grads)).map(drop)
    }
}
