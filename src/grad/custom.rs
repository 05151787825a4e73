//! Parts of a function whose way back is another than that of its ops: one that the user gives, or one that runs the part again.

use super::{
    api::vjp,
    tape::{Diff, Grads, Pull, Results, Var},
};
use crate::{ArrayAttributes, Backend, Error, Float, Result};
use std::marker::PhantomData;

/// A function with a way back of its own: where that is known better than by its ops, or where it has none.
///
/// `there` computes the value, on the backend within, and nothing of it is recorded. `back` is given the inputs, the value and the gradient of it, and gives
/// those of the inputs, in order; it pairs without a conjugate, as [`vjp`] does. Code over any backend has this as a row of a table with `grad`.
///
/// ```
/// use backends::{grad::{custom, grad}, prelude::*};
///
/// // the identity, whose gradient is cut to [-1, 1]
/// let b = Numpyish::new();
/// let x = b.asarray([1.0, 5.0])?;
/// let g = grad(&b, |d, x| {
///     let y = custom(d, &[x], |_, x| Ok(x[0].clone()), |b, _, _, g| Ok(vec![b.clip(g, -1.0, 1.0)?]))?;
///     d.sum(d.square(y)?, ..)
/// }, &x)?;
/// assert_eq!(g, b.asarray([1.0, 1.0])?);
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
/// Those of the functions; on the way back [`Error::Argument`] where `back` gives not one gradient per input.
pub fn custom<B: Backend, T: Float, U: Float>(
    d: &Diff<B>,
    x: &[&Var<B, T>],
    there: impl FnOnce(&B, &[&B::Array<T>]) -> Result<B::Array<U>>,
    back: impl Fn(&B, &[&B::Array<T>], &B::Array<U>, &B::Array<U>) -> Result<Vec<B::Array<T>>> + Send + Sync + 'static,
) -> Result<Var<B, U>> {
    let places = x.iter().map(|x| d.place_of("custom", x)).collect::<Result<Vec<_>>>()?;
    let values: Vec<&B::Array<T>> = x.iter().map(|x| x.value()).collect();
    let y = there(d.within(), &values)?;
    if places.iter().all(Option::is_none) {
        return Ok(d.constant(y));
    }
    let inputs = values.into_iter().cloned().collect();
    let rule = Given::<B, T, U, _> { places, inputs, y: y.clone(), back, of: PhantomData };
    let at = d.record(Box::new(rule), &[y.shape()]);
    Ok(d.recorded(y, at))
}

/// A part of a function that keeps its inputs only, and runs again on the way back: long loops need less memory, and up to twice the time.
///
/// `f` has to give the same each time: random numbers are to be drawn before.
///
/// ```
/// use backends::{grad::{checkpoint, grad}, prelude::*};
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
/// Those of the function.
pub fn checkpoint<B: Backend, T: Float, U: Float>(
    d: &Diff<B>,
    x: &[&Var<B, T>],
    f: impl Fn(&Diff<B>, &[Var<B, T>]) -> Result<Var<B, U>> + Send + Sync + 'static,
) -> Result<Var<B, U>> {
    let value = |b: &B, x: &[&B::Array<T>]| {
        // of constants nothing is recorded
        let d = Diff::new(b.clone());
        let x: Vec<Var<B, T>> = x.iter().map(|&x| d.constant(x.clone())).collect();
        Ok(f(&d, &x)?.into_value())
    };
    let y = value(d.within(), &x.iter().map(|x| x.value()).collect::<Vec<_>>())?;
    custom(
        d,
        x,
        |_, _| Ok(y),
        move |b, x, _, g| {
            let inputs: Vec<&B::Array<T>> = x.to_vec();
            vjp(b, |d, x: &Vec<Var<B, T>>| f(d, x), inputs)?.1.pull(g)
        },
    )
}

struct Given<B: Backend, T: Float, U: Float, F> {
    places: Vec<Option<usize>>,
    inputs: Vec<B::Array<T>>,
    y: B::Array<U>,
    back: F,
    of: PhantomData<fn() -> (T, U)>,
}

impl<B: Backend, T: Float, U: Float, F> Pull<B> for Given<B, T, U, F>
where
    F: Fn(&B, &[&B::Array<T>], &B::Array<U>, &B::Array<U>) -> Result<Vec<B::Array<T>>> + Send + Sync,
{
    fn pull(&self, b: &B, results: &mut Results<'_>, grads: &mut Grads<'_>) -> Result<()> {
        let g = results.take::<B, U>(b, 0)?;
        let found = (self.back)(b, &self.inputs.iter().collect::<Vec<_>>(), &self.y, &g)?;
        if found.len() != self.places.len() {
            let (given, wanted) = (found.len(), self.places.len());
            return Err(Error::argument("custom", format!("its way back gives {given} gradients for {wanted} inputs")));
        }
        for ((place, g), x) in self.places.iter().zip(found).zip(&self.inputs) {
            if g.shape() != x.shape() {
                return Err(Error::shapes("custom", x.shape(), g.shape()));
            }
            if let Some(place) = *place {
                grads.add::<B, T>(b, place, g)?;
            }
        }
        Ok(())
    }
}
