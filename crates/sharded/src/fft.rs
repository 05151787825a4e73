//! Fourier transforms over several axes. First, the axes that are not split are transformed. Then the array is split
//! along one of these axes instead, and the axis that was split before is transformed.
//!
//! The inner backend makes the same passes in the same order as on one rank, so the result has the same bits.

use crate::{Layout, Sharded, ShardedArray, array::LocalPart};
use backends::{
    Axes, Backend, ComplexFloat, Element, Float, Lengths, Norm, Real, Result,
    options::*,
    runtime::rules::{self, Half, Transform},
};
use std::borrow::Cow;

/// The passes of a transform, in order. Each pass transforms one axis. Its tuple contains the axis, the number of
/// points of the transform, and the length of the axis in the result.
type Steps = [(usize, usize, usize)];

/// Changes the layout of the array, if the first pass in `steps` needs another layout. Returns the array, and the
/// number of passes that can run before the layout must change again.
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
        // every rank holds the whole array; it is split as early as possible, because this split sends nothing
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
    // splits along an axis that is long enough: one without a pass if possible, otherwise the one whose pass comes last
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

/// Makes an array from this rank's part after some passes. `layout` is the layout before these passes, and the result
/// has the same split. If `layout` has no split, the result gets the default layout.
fn placed<B: Backend, T: Element>(
    b: &Sharded<B>,
    layout: &Layout,
    part: LocalPart<B, T>,
) -> Result<ShardedArray<B, T>> {
    let Some(split) = &layout.split else { return b.settle(part) };
    let mut shape = b.within.shape(&part).to_vec();
    shape[split.axis] = layout.shape[split.axis];
    Ok(b.array(Layout::new(shape, Some(split.clone())), part))
}

/// The axes of the passes and their numbers of points, in reverse order, for an op that transforms the last axis first.
fn backwards(steps: &Steps) -> (Axes, Lengths) {
    let (axes, points): (Vec<usize>, Vec<usize>) = steps.iter().rev().map(|step| (step.0, step.1)).unzip();
    (axes.into(), points.into())
}

/// Returns whether the passes run in stages, with a change of the layout between the stages. On one rank, without axes,
/// or if an axis occurs twice, the inner backend does the whole transform.
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
            // an array that is not split stays unsplit until the last pass
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

/// Like [`placed`], but an array that every rank holds is not split, because a later pass may need another split.
fn kept<B: Backend, T: Element>(b: &Sharded<B>, layout: &Layout, part: LocalPart<B, T>) -> ShardedArray<B, T> {
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
            // as in the inner backend, the inverse transform of the half spectrum is the last pass
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
