//! Functions with a special backward pass: the user gives the backward function, or the backward pass runs the function
//! again.

use super::{
    api::vjp,
    tape::{Diff, Grads, Pull, Results, Var},
};
use crate::{ArrayAttributes, Backend, Error, Float, Result, runtime::CustomGradient};
use std::{marker::PhantomData, sync::Arc};

/// Implements [`Arrays::custom`](crate::Arrays::custom) for `Diff`.
pub(super) fn custom<B: Backend, T: Float, U: Float>(
    d: &Diff<B>,
    op: &'static str,
    x: &[&Var<B, T>],
    forward: impl Fn(&Diff<B>, &[&Var<B, T>]) -> Result<Var<B, U>>,
    pull: impl CustomGradient<Diff<B>, T, U>,
) -> Result<Var<B, U>> {
    let paused = d.paused(d.within());
    let pull = Arc::new(pull);
    let back = move |b: &B, x: &[&B::Array<T>], y: &B::Array<U>, g: &B::Array<U>| {
        let d = paused.paused(b);
        let x: Vec<Var<B, T>> = x.iter().map(|&x| d.constant(x.clone())).collect();
        let (y, g) = (d.constant::<U>(y.clone()), d.constant::<U>(g.clone()));
        let found = pull.pull(&d, &x.iter().collect::<Vec<_>>(), &y, &g)?;
        Ok(found.into_iter().map(Var::into_value).collect())
    };
    let values: Vec<&B::Array<T>> = x.iter().map(|x| x.value()).collect();
    // the inner backend may itself record ops for gradients, so the call of `custom` is passed on to it
    let y = d.within().custom::<T, U>(
        op,
        &values,
        |b, x| {
            let d = d.paused(b);
            let x: Vec<Var<B, T>> = x.iter().map(|&x| d.constant(x.clone())).collect();
            Ok(forward(&d, &x.iter().collect::<Vec<_>>())?.into_value())
        },
        back.clone(),
    )?;
    given(d, op, x, y, back)
}

/// Records a result with the given backward function, which works on arrays of the inner backend.
fn given<B: Backend, T: Float, U: Float>(
    d: &Diff<B>,
    op: &'static str,
    x: &[&Var<B, T>],
    y: B::Array<U>,
    back: impl CustomGradient<B, T, U>,
) -> Result<Var<B, U>> {
    let places = x.iter().map(|x| d.place_of(op, x)).collect::<Result<Vec<_>>>()?;
    if places.iter().all(Option::is_none) {
        return Ok(d.constant(y));
    }
    let inputs = x.iter().map(|x| x.value().clone()).collect();
    let rule = CustomRule::<B, T, U, _> { op, places, inputs, y: y.clone(), back, of: PhantomData };
    let at = d.record(Box::new(rule), &[y.shape()]);
    Ok(d.recorded(y, at))
}

/// Runs a section of a function, and keeps only the inputs of the section. The backward pass runs the section again.
/// This reduces the memory of long loops, and takes up to twice the time.
///
/// `f` must return the same result each time, so draw random numbers before the call.
///
/// ```
/// use backends::{Error, grad::{checkpoint, grad}, prelude::*};
///
/// let b = Numpyish::new();
/// let x = b.asarray([0.5, 1.0])?;
/// let g = grad(&b, |d, x| {
///     let mut y = x.clone();
///     for _ in 0..10 {
///         y = checkpoint(d, &[&y], |d, y| d.sin(d.multiply(&y[0], 1.1)?))?;
///     }
///     d.sum(y, ..)
/// }, &x)?;
/// # let plain = grad(&b, |d, x| { let mut y = x.clone(); for _ in 0..10 { y = d.sin(d.multiply(&y, 1.1)?)?; } d.sum(y, ..) }, &x)?;
/// # assert_eq!(g, plain);
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
/// The errors of the function.
pub fn checkpoint<B: Backend, T: Float, U: Float>(
    d: &Diff<B>,
    x: &[&Var<B, T>],
    f: impl Fn(&Diff<B>, &[Var<B, T>]) -> Result<Var<B, U>> + Send + Sync + 'static,
) -> Result<Var<B, U>> {
    let value = |b: &B, x: &[&B::Array<T>]| {
        // all inputs are constants, so nothing is recorded
        let d = Diff::new(b.clone());
        let x: Vec<Var<B, T>> = x.iter().map(|&x| d.constant(x.clone())).collect();
        Ok(f(&d, &x)?.into_value())
    };
    let y = value(d.within(), &x.iter().map(|x| x.value()).collect::<Vec<_>>())?;
    let back = move |b: &B, x: &[&B::Array<T>], _: &B::Array<U>, g: &B::Array<U>| {
        vjp(b, |d, x: &Vec<Var<B, T>>| f(d, x), x.to_vec())?.1.pull(g)
    };
    given(d, "checkpoint", x, y, back)
}

struct CustomRule<B: Backend, T: Float, U: Float, F> {
    op: &'static str,
    places: Vec<Option<usize>>,
    inputs: Vec<B::Array<T>>,
    y: B::Array<U>,
    back: F,
    of: PhantomData<fn() -> (T, U)>,
}

impl<B: Backend, T: Float, U: Float, F: CustomGradient<B, T, U>> Pull<B> for CustomRule<B, T, U, F> {
    fn pull(&self, b: &B, results: &mut Results<'_>, grads: &mut Grads<'_>) -> Result<()> {
        let g = results.take::<B, U>(b, 0)?;
        let found = self.back.pull(b, &self.inputs.iter().collect::<Vec<_>>(), &self.y, &g)?;
        if found.len() != self.places.len() {
            let (given, wanted) = (found.len(), self.places.len());
            return Err(Error::argument(
                self.op,
                format!(
                    "the backward function returned {given} gradients for {wanted} inputs, but must return one for each"
                ),
            ));
        }
        for ((place, g), x) in self.places.iter().zip(found).zip(&self.inputs) {
            if g.shape() != x.shape() {
                return Err(Error::shapes(self.op, x.shape(), g.shape()));
            }
            if let Some(place) = *place {
                grads.add::<B, T>(b, place, g)?;
            }
        }
        Ok(())
    }
}
