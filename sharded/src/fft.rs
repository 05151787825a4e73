//! Fourier transforms over several axes. The axes that are not split are transformed first; then the split is changed,
//! and the axis that was split is transformed.
//!
//! The passes are those of the inner backend, in the same order, so each lane has the same bits as on one rank.

use crate::{Layout, Sharded, ShardedArray, array::Part};
use backends::{
    Axes, Backend, ComplexFloat, Element, Float, Lengths, Norm, Real, Result,
    options::*,
    runtime::rules::{self, Half, Transform},
};
use std::borrow::Cow;

/// Passes in their order: the axis, its number of points, and its length in the result.
type Steps = [(usize, usize, usize)];

/// Brings the array into the layout for the next passes. Returns it and the number of these passes, which end before
/// the next pass along the split axis.
fn stage<'a, B: Backend, T: Element>(
    b: &Sharded<B>,
    op: &'static str,
    x: Cow<'a, ShardedArray<B, T>>,
    steps: &Steps,
) -> Result<(Cow<'a, ShardedArray<B, T>>, usize)> {
    let place = |axis: usize| steps.iter().position(|step| step.0 == axis).unwrap_or(steps.len());
    let shape = x.layout.shape.clone();
    let may_be = |axis: &usize| b.may_split(shape[*axis]);
    let Some(from) = x.split() else {
        // a whole array is cut as early as possible, since cutting sends nothing
        let free = (0..shape.len()).filter(may_be).find(|&axis| place(axis) == steps.len());
        if free.is_some() {
            return Ok((b.split_along(op, x, free)?, steps.len()));
        }
        let grows = steps.iter().any(|step| b.may_split(step.2));
        return Ok((x, if grows { 1 } else { steps.len() }));
    };
    if place(from) > 0 {
        return Ok((x, place(from)));
    }
    // splits along the axis that is transformed last, if there is a suitable axis
    let to =
        (0..shape.len()).filter(|&axis| axis != from).filter(may_be).max_by_key(|&axis| (place(axis), shape[axis]));
    match to {
        Some(to) => Ok((b.split_along(op, x, Some(to))?, place(to))),
        None => {
            let whole = b.whole(op, x)?;
            Ok((Cow::Owned(b.array(Layout::whole(shape), whole)), steps.len()))
        }
    }
}

/// Makes an array from a part that passes have computed, in the layout before the passes.
fn placed<B: Backend, T: Element>(b: &Sharded<B>, layout: &Layout, part: Part<B, T>) -> Result<ShardedArray<B, T>> {
    let Some(split) = &layout.split else { return b.settle(part) };
    let mut shape = b.within.shape(&part).to_vec();
    shape[split.axis] = layout.shape[split.axis];
    Ok(b.array(Layout::new(shape, Some(split.clone())), part))
}

/// The axes of passes and their numbers of points, in the order of an op that transforms the last axis first.
fn backwards(steps: &Steps) -> (Axes, Lengths) {
    let (axes, points): (Vec<usize>, Vec<usize>) = steps.iter().rev().map(|step| (step.0, step.1)).unzip();
    (axes.into(), points.into())
}

/// Returns whether the passes run one by one. Transforms with repeated axes, or on one rank, are left to the inner
/// backend.
fn is_staged<B: Backend>(b: &Sharded<B>, transform: &Transform) -> bool {
    b.ranks() > 1 && !transform.axes.is_empty() && !transform.repeats()
}

macro_rules! to_complex {
    ($($op:ident<$bound:ident> half: $half:ident, $with:ident $options:ident, then $again:ident $more:ident;)*) => {$(
        pub fn $op<B: Backend, T: $bound>(
            b: &Sharded<B>,
            x: &ShardedArray<B, T>,
            s: Option<Lengths>,
            axes: Axes,
            norm: Norm,
        ) -> Result<ShardedArray<B, T::Complex>> {
            let op = stringify!($op);
            let transform = rules::transforms(op, &x.layout.shape, s, axes, Half::$half)?;
            if !is_staged(b, &transform) {
                let mut options = $options::new().axes(axes).norm(norm);
                if let Some(s) = s { options = options.s(s) }
                return b.settle(b.within.$with(&b.whole(op, Cow::Borrowed(x))?, options)?);
            }
            let steps = transform.steps(Half::$half);
            let (x, count) = stage(b, op, Cow::Borrowed(x), &steps)?;
            let (axes, s) = backwards(&steps[..count]);
            let part = b.within.$with(&x.part, $options::new().axes(axes).s(s).norm(norm))?;
            let mut rest = &steps[count..];
            // an array that is not split stays whole until the end
            let mut x = if rest.is_empty() { placed(b, &x.layout, part)? } else { kept(b, &x.layout, part) };
            while !rest.is_empty() {
                let (staged, count) = stage(b, op, Cow::Owned(x), rest)?;
                let (axes, s) = backwards(&rest[..count]);
                rest = &rest[count..];
                let part = b.within.$again(&staged.part, $more::new().axes(axes).s(s).norm(norm))?;
                // for a complex dtype, `T::Complex` is the dtype itself
                let part = b.within.astype::<T::Complex, _>(part)?;
                x = if rest.is_empty() { placed(b, &staged.layout, part)? } else { kept(b, &staged.layout, part) };
            }
            Ok(x)
        }
    )*};
}
to_complex! {
    fftn<Float> half: Neither, fftn_with FftnOptions, then fftn_with FftnOptions;
    ifftn<Float> half: Neither, ifftn_with IfftnOptions, then ifftn_with IfftnOptions;
    rfftn<Real> half: Result, rfftn_with RfftnOptions, then fftn_with FftnOptions;
}

/// Like [`placed`], but an array that every rank holds stays whole: a later pass may want another split.
fn kept<B: Backend, T: Element>(b: &Sharded<B>, layout: &Layout, part: Part<B, T>) -> ShardedArray<B, T> {
    let mut shape = b.within.shape(&part).to_vec();
    if let Some(split) = &layout.split {
        shape[split.axis] = layout.shape[split.axis];
    }
    b.array(Layout::new(shape, layout.split.clone()), part)
}

pub fn irfftn<B: Backend, T: ComplexFloat>(
    b: &Sharded<B>,
    x: &ShardedArray<B, T>,
    s: Option<Lengths>,
    axes: Axes,
    norm: Norm,
) -> Result<ShardedArray<B, T::Real>> {
    let op = "irfftn";
    let transform = rules::transforms(op, &x.layout.shape, s, axes, Half::Input)?;
    if !is_staged(b, &transform) {
        let mut options = IrfftnOptions::new().axes(axes).norm(norm);
        if let Some(s) = s {
            options = options.s(s);
        }
        return b.settle(b.within.irfftn_with(&b.whole(op, Cow::Borrowed(x))?, options)?);
    }
    let steps = transform.steps(Half::Input);
    let (mut x, mut rest) = (Cow::Borrowed(x), &steps[..]);
    loop {
        let (staged, count) = stage(b, op, x, rest)?;
        if count == rest.len() {
            // the inverse transform of the half spectrum runs last, as in the inner backend
            let (axes, points): (Vec<usize>, Vec<usize>) = rest.iter().map(|step| (step.0, step.1)).unzip();
            let options = IrfftnOptions::new().axes(axes).s(points).norm(norm);
            return placed(b, &staged.layout, b.within.irfftn_with(&staged.part, options)?);
        }
        let (axes, s) = backwards(&rest[..count]);
        rest = &rest[count..];
        let part = b.within.ifftn_with(&staged.part, IfftnOptions::new().axes(axes).s(s).norm(norm))?;
        let part = b.within.astype::<T, _>(part)?;
        x = Cow::Owned(kept(b, &staged.layout, part));
    }
}
