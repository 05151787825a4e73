//! Diagonals, and Fourier transforms along the split axis.

use crate::{Layout, Sharded, ShardedArray, Split, array::Part};
use backends::{Axes, Backend, Float, Lengths, Norm, Result, options::*, runtime::rules};
use std::borrow::Cow;

/// The diagonals of matrices: of other axes than the split one on the parts, else of what every rank has.
pub fn diagonal<B: Backend, T: backends::Element>(
    b: &Sharded<B>,
    x: &ShardedArray<B, T>,
    offset: isize,
    axis1: isize,
    axis2: isize,
) -> Result<ShardedArray<B, T>> {
    let op = "diagonal";
    let found = rules::Diagonal::of(op, &x.layout.shape, offset, [axis1, axis2], size_of::<T>())?;
    let options = DiagonalOptions::new().offset(offset).axis1(axis1).axis2(axis2);
    let Some(split) = x.layout.split.as_ref().filter(|split| !found.axes.contains(&split.axis)) else {
        return b.settle(b.within.diagonal_with(&b.whole(op, Cow::Borrowed(x))?, options)?);
    };
    let axis = split.axis - found.axes.iter().filter(|&&axis| axis < split.axis).count();
    let layout = Layout { shape: found.shape.into(), split: Some(Split { axis, held: split.held.clone() }) };
    Ok(b.array(layout, b.within.diagonal_with(&x.part, options)?))
}

/// Transforms along several axes: along those that are here, then, turned, along the one that was split.
macro_rules! complex_transforms {
    ($($op:ident $with:ident $options:ident;)*) => {$(
        pub fn $op<B: Backend, T: Float>(
            b: &Sharded<B>,
            x: &ShardedArray<B, T>,
            s: Option<Lengths>,
            axes: Axes,
            norm: Norm,
        ) -> Result<ShardedArray<B, T::Complex>> {
            let op = stringify!($op);
            let transform = rules::transforms(op, &x.layout.shape, s, axes, rules::Half::Neither)?;
            let along: Vec<usize> = transform.axes.iter().map(|(axis, _)| *axis).collect();
            // lengths of one's own, and an axis that comes twice, are of whole arrays
            let is_plain = s.is_none() && !transform.repeats();
            let to = x.split().filter(|axis| along.contains(axis) && is_plain).and_then(|axis| {
                let free = |k: &usize| *k != axis && b.may_split(x.layout.shape[*k]);
                (0..x.layout.shape.len()).filter(free).max_by_key(|&k| (!along.contains(&k), x.layout.shape[k]))
            });
            let Some((from, to)) = x.split().zip(to) else {
                let plan = b.plan_lanes(op, &[Some(&x.layout)], &[Axes::from(&along[..])])?;
                let part = b.arrange(op, &plan, 0, Cow::Borrowed(x))?;
                let mut options = $options::new().axes(axes).norm(norm);
                if let Some(s) = s { options = options.s(s) }
                return b.place(op, &plan, b.within.$with(&*part, options)?);
            };
            let run = |part: &Part<B, T>, axes: &[usize]| b.within.$with(part, $options::new().axes(axes).norm(norm));
            if !along.contains(&to) {
                let x = b.split_along(op, Cow::Borrowed(x), Some(to))?;
                return Ok(b.array(x.layout.clone(), run(&x.part, &along)?));
            }
            let here: Vec<usize> = along.iter().copied().filter(|&axis| axis != from).collect();
            let first = b.array(x.layout.clone(), run(&x.part, &here)?);
            let turned = b.split_along(op, Cow::Owned(first), Some(to))?.into_owned();
            let last = b.within.$with(&turned.part, $options::new().axes(from).norm(norm))?;
            // the complex dtype of a complex dtype is that dtype
            Ok(b.array(turned.layout, b.within.astype::<T::Complex, _>(last)?))
        }
    )*};
}
complex_transforms! { fftn fftn_with FftnOptions; ifftn ifftn_with IfftnOptions; }
