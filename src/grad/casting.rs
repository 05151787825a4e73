//! The op `astype` on a tape, the list of recorded ops. Its gradient is the output gradient, converted to the dtype of
//! the input.

use super::tape::{Diff, Grads, Pull, Results, Var};
use crate::{
    Backend, Element, Float, Result,
    runtime::{ArrayAttributes, FloatVisitor},
};
use std::marker::PhantomData;

/// Converts to another dtype. The gradient reaches the input only if both dtypes are real or complex floats.
pub fn astype<U: Element, B: Backend, T: Element>(d: &Diff<B>, x: &Var<B, T>) -> Result<Var<B, U>> {
    let result = d.within().astype::<U, T>(x.value())?;
    let Some(place) = d.place_of("astype", x)? else { return Ok(d.constant(result)) };
    let rule = T::if_float(From::<U, B>(place, PhantomData)).flatten();
    let Some(rule) = rule else { return Ok(d.constant(result)) };
    let at = d.record(rule, &[result.shape()]);
    Ok(d.recorded(result, at))
}

struct From<U, B>(usize, PhantomData<fn() -> (U, B)>);

impl<U: Element, B: Backend, T: Element> FloatVisitor<T> for From<U, B> {
    type Out = Option<Box<dyn Pull<B>>>;

    fn visit(self) -> Self::Out
    where
        T: Float,
    {
        U::if_float(Between::<T, B>(self.0, PhantomData))
    }
}

struct Between<T, B>(usize, PhantomData<fn() -> (T, B)>);

impl<T: Float, B: Backend, U: Element> FloatVisitor<U> for Between<T, B> {
    type Out = Box<dyn Pull<B>>;

    fn visit(self) -> Self::Out
    where
        U: Float,
    {
        Box::new(Back::<T, U>(self.0, PhantomData))
    }
}

struct Back<T, U>(usize, PhantomData<fn() -> (T, U)>);

impl<T: Float, U: Float, B: Backend> Pull<B> for Back<T, U> {
    fn pull(&self, b: &B, results: &mut Results<'_>, grads: &mut Grads<'_>) -> Result<()> {
        let g = results.take::<B, U>(b, 0)?;
        grads.add::<B, T>(b, self.0, b.astype::<T, U>(g)?)
    }
}
