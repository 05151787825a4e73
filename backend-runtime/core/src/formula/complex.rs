//! Converts real arrays to complex ones, for formulas with operands of both dtypes that run op by op.

use super::{
    expression::Call,
    leaf::Array,
    node::{Head, op1, place},
};
use crate::{Arrays, Element, Operand, Result, pairing::InComplex};
use std::{any::Any, borrow::Cow};

/// Converts a real array to the complex dtype `C`; an array of this dtype stays as it is.
pub fn in_complex<'a, B: Arrays, T: Element, C: Element>(
    b: &B,
    x: Cow<'a, B::Array<T>>,
) -> Result<Cow<'a, B::Array<C>>> {
    if let Some(same) = (&*x as &dyn Any).downcast_ref::<B::Array<C>>() {
        return Ok(Cow::Owned(same.clone()));
    }
    let leaf = Array(&*x);
    let tree = op1(InComplex::<C>::new(), place(b, Head, &leaf));
    b.formula(&tree, &(leaf, ())).map(Cow::Owned)
}

/// On a backend that runs formulas op by op, the elements are converted on the host. Backends whose arrays are not in
/// host memory convert arrays themselves ([`Arrays::in_complex`]).
impl<B: Arrays, T: Element, C: Element> Call<1, B, T> for InComplex<C> {
    fn call(&self, b: &B, [x]: [Operand<'_, B, T>; 1]) -> Result<B::Array<C>> {
        match x {
            Operand::Array(x) => b.from_ndarray(b.to_ndarray(&x)?.mapv(Element::cast::<C>).into_shared()),
            Operand::Scalar(x) => b.from_ndarray(ndarray::arr0(x.cast()).into_dyn().into_shared()),
        }
    }
}
