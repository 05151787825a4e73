//! Formulas that read arrays at shifted indices. `roll(x, 1, 0)` in a formula is then no array of its own.

use super::{
    expression::{Run, Typed},
    leaf::{Layout, Leaves, MAX_ARRAYS, is_dynamic},
    run::OnHost,
};
use crate::{
    Arrays, Axes, Element, Error, Result,
    numpyish::{
        formula::{into_rolled, over_rolled},
        rolled::{Shifts, takes},
    },
    rules::{self, Roll},
};
use std::borrow::Cow;

/// An array that a formula reads at shifted indices, or a rolled copy of the array.
pub struct Rolled<'a, A: Clone> {
    array: Cow<'a, A>,
    shifts: Option<Vec<usize>>,
}

impl<'a, A: Clone> Rolled<'a, A> {
    /// An array that a formula reads at shifted indices. `shifts` has the number of positions for each axis.
    pub fn in_place(array: &'a A, shifts: Vec<usize>) -> Rolled<'a, A> {
        Rolled { array: Cow::Borrowed(array), shifts: Some(shifts) }
    }

    /// A rolled copy.
    pub fn copied(array: A) -> Rolled<'a, A> {
        Rolled { array: Cow::Owned(array), shifts: None }
    }

    /// The array itself, or its rolled copy.
    #[inline]
    pub fn array(&self) -> &A {
        &self.array
    }

    /// The number of positions for each axis; `None` for a rolled copy.
    #[inline]
    pub fn shifts(&self) -> Shifts<'_> {
        self.shifts.as_deref()
    }
}

/// Returns the shifts with which a formula can read the array; `None` if it needs a rolled copy.
///
/// # Errors
/// The errors of the op `roll`.
pub fn shifts<B: Arrays, T: Element>(
    b: &B,
    x: &B::Array<T>,
    shift: &[isize],
    axis: Axes,
) -> Result<Option<Vec<usize>>> {
    if T::IS_DYNAMIC || !b.reads_rolled() {
        return Ok(None);
    }
    let view = b.host_view(x).map(|view| view.view()).filter(takes);
    let roll = view.map(|view| rules::roll("roll", shift, axis, view.shape)).transpose()?;
    Ok(roll.and_then(|roll| match roll {
        Roll::Axes(shifts) => Some(shifts),
        Roll::Row(_) => None,
    }))
}

/// Runs a formula like [`Arrays::formula`]. The first arrays of the formula are rolled by `shifts`, which has an entry
/// for each of them.
///
/// # Errors
/// The errors of the formula.
#[inline]
pub fn rolled<'a, B: Arrays, L: Leaves<'a, B>, E, T: Element>(
    b: &B,
    e: &E,
    leaves: &L,
    shifts: &[Shifts<'_>],
) -> Result<B::Array<T>>
where
    E: Run<'a, B, L> + Typed<Out = T>,
{
    if shifts.iter().all(Option::is_none) {
        return b.formula(e, leaves);
    }
    // arrays whose dtype is known only at run time have no shifts
    if const { L::Layout::IS_DYNAMIC } {
        return refused(b, e, leaves);
    }
    T::by_dtype(|| on_host(b, e, leaves, shifts), || refused(b, e, leaves))
}

#[inline]
fn on_host<'a, B: Arrays, L: Leaves<'a, B>, E, T: Element>(
    b: &B,
    e: &E,
    leaves: &L,
    shifts: &[Shifts<'_>],
) -> Result<B::Array<T>>
where
    E: Run<'a, B, L> + Typed<Out = T>,
{
    e.check()?;
    let mut arrays = OnHost::new(b);
    leaves.visit(&mut arrays);
    let Some(views) = arrays.views() else { return refused(b, e, leaves) };
    // SAFETY: there is a view of each of the formula's arrays, in the order of the formula, and the function `shifts`
    // returned the shifts of the rolled arrays.
    b.of_loop(unsafe { over_rolled::<L::Layout, E, T>(e, leaves.scalars(), &views, &all(shifts))? })
}

/// Returns the error of a formula with an array that is not in host memory: the array belongs to another backend, so
/// the ops of the formula refuse it.
fn refused<'a, B: Arrays, L: Leaves<'a, B>, E, T: Element>(b: &B, e: &E, leaves: &L) -> Result<B::Array<T>>
where
    E: Run<'a, B, L> + Typed<Out = T>,
{
    b.formula(e, leaves).and(Err(Error::unsupported(super::NAME, B::NAME)))
}

/// Runs a formula like [`rolled`], but may write the result over `target` and then returns `None`.
///
/// # Errors
/// The errors of the formula.
///
/// # Safety
/// The conditions of [`Arrays::formula_over`] hold.
#[inline]
pub unsafe fn rolled_over<'a, B: Arrays, L: Leaves<'a, B>, E, T: Element>(
    b: &B,
    e: &E,
    leaves: &L,
    shifts: &[Shifts<'_>],
    target: &B::Array<T>,
) -> Result<Option<B::Array<T>>>
where
    E: Run<'a, B, L> + Typed<Out = T>,
{
    if shifts.iter().all(Option::is_none) {
        // SAFETY: the caller guarantees the same conditions.
        return unsafe { b.formula_over(e, leaves, target) };
    }
    if const { !is_dynamic::<L::Layout, T>() }
        && let Some(memory) = b.host_view(target)
    {
        e.check()?;
        let mut arrays = OnHost::new(b);
        leaves.visit(&mut arrays);
        if let Some(views) = arrays.views()
            // SAFETY: there is a view of each of the formula's arrays, in the order of the formula. The caller
            // guarantees that the result may overwrite the memory.
            && unsafe { into_rolled::<L::Layout, E, T>(e, leaves.scalars(), &views, &all(shifts), memory) }
        {
            return Ok(None);
        }
    }
    rolled(b, e, leaves, shifts).map(Some)
}

/// The shifts of all arrays of a formula.
fn all<'s>(first: &[Shifts<'s>]) -> [Shifts<'s>; MAX_ARRAYS] {
    let mut all = [None; MAX_ARRAYS];
    all[..first.len()].copy_from_slice(first);
    all
}
