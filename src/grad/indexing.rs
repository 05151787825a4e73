//! Gradients of ops that change an array in place. On the tape (the list of recorded ops), the changed array gets a new
//! index, like the result of any op.

use super::tape::{Diff, Grads, Pull, Results, Var};
use crate::{
    ArrayAttributes, Backend, Element, Float, Indexing, Numeric, Result,
    runtime::{FloatVisitor, IndexList, Indices, Operand, Wrap},
};
use std::marker::PhantomData;

/// Implements `set`. If a gradient may pass through the array or the values, the change is recorded as the op
/// `index_put`.
pub fn set<B: Backend, T: Element>(
    d: &Diff<B>,
    x: &mut Var<B, T>,
    index: Indices<'_, Diff<B>>,
    values: Operand<'_, Diff<B>, T>,
) -> Result<()> {
    let is_recorded = d.place_of("set", &*x)?.is_some() || d.place_of_operand("set", &values)?.is_some();
    if is_recorded {
        *x = d.index_put(&*x, index, values)?;
        return Ok(());
    }
    let (index, values) = (opened(d, index)?, d.open_operand("set", &values)?);
    d.within().set(x.value_mut(), index, values)
}

/// Implements `add_at`. The gradient of `x` is the output gradient. The gradient of `values` consists of the elements
/// of the output gradient at the indices.
pub fn add_at<B: Backend, T: Numeric>(
    d: &Diff<B>,
    x: &mut Var<B, T>,
    index: Indices<'_, Diff<B>>,
    values: Operand<'_, Diff<B>, T>,
) -> Result<()> {
    let places = (d.place_of("add_at", &*x)?, d.place_of_operand("add_at", &values)?);
    let index = opened(d, index)?;
    let list = IndexList::new(Indices::Any(&index));
    d.within().add_at(x.value_mut(), &index, d.open_operand("add_at", &values)?)?;
    if places == (None, None) {
        return Ok(());
    }
    let rule = T::if_float(Added { places, index: list, of: PhantomData });
    if let Some(rule) = rule {
        let at = d.record(rule, &[x.shape()]);
        *x = d.recorded(x.value().clone(), at);
    }
    Ok(())
}

fn opened<'a, B: Backend>(d: &'a Diff<B>, index: Indices<'a, Diff<B>>) -> Result<Vec<crate::runtime::Index<'a, B>>> {
    index.on::<B>(|x| d.open("get", x), |x| d.open("get", x))
}

struct Added<B: Backend, T> {
    places: (Option<usize>, Option<usize>),
    index: IndexList<B>,
    of: PhantomData<fn() -> T>,
}

impl<B: Backend, T: Element> FloatVisitor<T> for Added<B, T> {
    type Out = Box<dyn Pull<B>>;

    fn visit(self) -> Box<dyn Pull<B>>
    where
        T: Float,
    {
        Box::new(self)
    }
}

impl<B: Backend, T: Float> Pull<B> for Added<B, T> {
    fn pull(&self, b: &B, results: &mut Results<'_>, grads: &mut Grads<'_>) -> Result<()> {
        let g = results.take::<B, T>(b, 0)?;
        if let Some(values) = self.places.1 {
            grads.add::<B, T>(b, values, b.get(&g, self.index.items())?)?;
        }
        match self.places.0 {
            Some(x) => grads.add::<B, T>(b, x, g),
            None => Ok(()),
        }
    }
}
