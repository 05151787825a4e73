//! The op `diagonal`.

use crate::{Layout, Sharded, ShardedArray, Split};
use backends::{Backend, Result, options::*, runtime::rules};
use std::borrow::Cow;

/// The diagonals of matrices. If the split axis is none of the two matrix axes, each rank computes the diagonals of its
/// part. Otherwise, the whole array is gathered on every rank.
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
    let layout = Layout::new(found.shape, Some(Split { axis, held: split.held.clone() }));
    Ok(b.array(layout, b.within.diagonal_with(&x.part, options)?))
}
