//! `roll(x, shift, axis)` in a formula.

use crate::{
    Axes, Element, Manipulation, Result,
    runtime::{
        SignedNumbers,
        formula::{Rolled, shifts},
    },
};

/// Returns the array for a formula that reads it at shifted indices, or a rolled copy if the backend needs one.
///
/// # Errors
/// The errors of the op `roll`.
#[doc(hidden)]
pub fn rolled<'x, B: Manipulation, T: Element>(
    b: &B,
    x: &'x B::Array<T>,
    shift: impl SignedNumbers,
    axis: impl Into<Axes>,
) -> Result<Rolled<'x, B::Array<T>>> {
    let axis = axis.into();
    match shifts(b, x, &shift.signed("roll")?, axis)? {
        Some(shifts) => Ok(Rolled::in_place(x, shifts)),
        None => b.roll(x, shift, axis).map(Rolled::copied),
    }
}
