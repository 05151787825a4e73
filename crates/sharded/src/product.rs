//! Matrix products of split arrays.

use crate::{
    Layout, Sharded, ShardedArray, Split,
    array::LocalPart,
    failed,
    tree::{joined, shaped},
};
use backends::{Backend, Numeric, Result, runtime::rules::Product};
use std::{borrow::Cow, ops::Range, sync::Arc};

type Held = Option<Arc<[Range<usize>]>>;

fn held<B: Backend, T: Numeric>(x: &ShardedArray<B, T>) -> Held {
    x.layout.split.as_ref().and_then(|split| split.held.clone())
}

/// The matrix product. The splits determine what each rank multiplies: its rows of the first matrix and the whole
/// second matrix; or the whole first matrix and its columns of the second matrix; or its batches of both arrays. If the
/// summed axis is split, the products of the parts are added.
pub fn matmul<B: Backend, T: Numeric>(
    b: &Sharded<B>,
    x1: &ShardedArray<B, T>,
    x2: &ShardedArray<B, T>,
) -> Result<ShardedArray<B, T>> {
    let op = "matmul";
    let (n1, n2) = (x1.layout.shape.len(), x2.layout.shape.len());
    let product = Product::of(op, &x1.layout.shape, &x2.layout.shape, size_of::<T>())?;
    // numbers the split axes from the end: 1 and 2 are the matrix axes, larger numbers are batch axes; 0 means that the
    // array is not split
    let from_end = |x: &ShardedArray<B, T>| x.split().map_or(0, |axis| x.layout.shape.len() - axis);
    let (end1, end2) = (from_end(x1), from_end(x2));
    if end1 > 2 || end2 > 2 {
        return batches(b, op, x1, x2, &product);
    }
    let is_inner = end1 == 1 || (end2 == 2 || n2 == 1 && end2 == 1);
    let (is_row, is_column) = (end1 == 2, end2 == 1 && n2 > 1);
    if is_row && (!is_column || x1.layout.size() >= x2.layout.size()) {
        return rows(b, op, x1, x2, &product);
    }
    if is_column {
        let part = b.within.matmul(&b.gather(op, Cow::Borrowed(x1))?, &x2.part)?;
        let split = Split { axis: product.shape.len() - 1, held: held(x2) };
        return Ok(b.array(Layout::new(product.shape, Some(split)), part));
    }
    if is_inner {
        let elements: usize = product.shape.iter().product();
        let gathered = elements.saturating_mul(b.ranks());
        if n1 > 1 && b.may_split(product.rows) && gathered > x1.layout.size() + x2.layout.size() {
            // the products of all ranks together would have more elements than the two matrices, so the first matrix is
            // split along its rows instead
            let turned = b.split_along(op, Cow::Borrowed(x1), Some(n1 - 2))?;
            return rows(b, op, &turned, x2, &product);
        }
        return inner(b, op, x1, x2, &product);
    }
    b.settle(b.within.matmul(&x1.part, &x2.part)?)
}

/// Multiplies rows of the first matrix by the whole second matrix. The second matrix is gathered; if the policy forbids
/// gathering it, each rank in turn broadcasts its columns.
fn rows<B: Backend, T: Numeric>(
    b: &Sharded<B>,
    op: &'static str,
    x1: &ShardedArray<B, T>,
    x2: &ShardedArray<B, T>,
    product: &Product,
) -> Result<ShardedArray<B, T>> {
    let n2 = x2.layout.shape.len();
    let axis = product.shape.len() - 1 - usize::from(n2 > 1);
    let bytes = x2.layout.size().saturating_mul(size_of::<T>());
    let part = if bytes > b.policy.whole && n2 == 2 && b.may_split(product.columns) && b.ranks() > 1 {
        let columns = b.split_along(op, Cow::Borrowed(x2), Some(1))?;
        let mut blocks = Vec::with_capacity(b.ranks());
        for (root, range) in columns.layout.ranges(b.ranks()).iter().enumerate() {
            let block = broadcast(b, op, &columns.part, &[product.inner, range.len()], root)?;
            blocks.push(b.within.matmul(&x1.part, &block)?);
        }
        b.concatenated(blocks, axis + 1)?
    } else {
        b.within.matmul(&x1.part, &b.gather(op, Cow::Borrowed(x2))?)?
    };
    let split = Split { axis, held: held(x1) };
    Ok(b.array(Layout::new(product.shape.clone(), Some(split)), part))
}

/// Sends the part of rank `root`, which has the shape `shape`, to all ranks. `own` is the part of the calling rank.
fn broadcast<B: Backend, T: Numeric>(
    b: &Sharded<B>,
    op: &'static str,
    own: &LocalPart<B, T>,
    shape: &[usize],
    root: usize,
) -> Result<LocalPart<B, T>> {
    b.agree(op, || format!("a block of {shape:?} of rank {root}"))?;
    let dtype = T::DTYPE;
    let mine = if b.rank() == root { Some(b.within.to_bytes(own)?) } else { None };
    let all = backends::runtime::bytes::written::<T>(op, shape.iter().product(), |to| {
        if let Some(mine) = &mine {
            to.copy_from_slice(mine);
        }
        b.world.broadcast(to, dtype, root).map_err(failed(op))
    })?;
    b.within.from_ndarray(shaped(op, shape, all)?)
}

/// Multiplies two arrays of matrices, at least one of which is split along a batch axis. The result is split like this
/// operand; if both operands are split along a batch axis, like the larger one. The other operand is split in the same
/// way, or is gathered if it is broadcast along this axis.
fn batches<B: Backend, T: Numeric>(
    b: &Sharded<B>,
    op: &'static str,
    x1: &ShardedArray<B, T>,
    x2: &ShardedArray<B, T>,
    product: &Product,
) -> Result<ShardedArray<B, T>> {
    let count = product.batches.len();
    // the index of an operand's split axis among the batch axes of the result
    let batch = |x: &ShardedArray<B, T>| {
        let own = x.layout.shape.len().saturating_sub(2);
        x.split().filter(|&axis| axis < own).map(|axis| axis + count - own)
    };
    let (at1, at2) = (batch(x1), batch(x2));
    let first = at1.is_some() && (at2.is_none() || x1.layout.size() >= x2.layout.size());
    let (lead, at) = if first { (x1, at1) } else { (x2, at2) };
    let (at, held) = (at.unwrap_or(0), held(lead));
    let part = |x: &ShardedArray<B, T>| {
        let own = x.layout.shape.len().saturating_sub(2);
        let axis = (at + own).checked_sub(count).filter(|&axis| x.layout.shape[axis] == product.batches[at]);
        match axis {
            Some(axis) => Ok(b.with_rows(op, Cow::Borrowed(x), axis, held.as_ref())?.into_owned()),
            None => b.gather(op, Cow::Borrowed(x)),
        }
    };
    let part = b.within.matmul(&part(x1)?, &part(x2)?)?;
    let split = Some(Split { axis: at, held });
    Ok(b.array(Layout::new(product.shape.clone(), split), part))
}

/// Multiplies two matrices, of which at least one is split along the summed axis. The other matrix is split in the same
/// way. The products of the ranks are added in the order of the ranks.
fn inner<B: Backend, T: Numeric>(
    b: &Sharded<B>,
    op: &'static str,
    x1: &ShardedArray<B, T>,
    x2: &ShardedArray<B, T>,
    product: &Product,
) -> Result<ShardedArray<B, T>> {
    let (axis1, axis2) = (x1.layout.shape.len() - 1, x2.layout.shape.len().saturating_sub(2));
    let held = if x1.split() == Some(axis1) { held(x1) } else { held(x2) };
    let part1 = b.with_rows(op, Cow::Borrowed(x1), axis1, held.as_ref())?;
    let part2 = b.with_rows(op, Cow::Borrowed(x2), axis2, held.as_ref())?;
    let own = b.within.to_vec(b.within.matmul(&*part1, &*part2)?)?;
    let all = b.gather_elements(op, &own)?;
    let sum = joined(all, own.len(), |a, v| a.plus(v));
    let sum = shaped(op, &product.shape, sum)?;
    b.settle(b.within.from_ndarray(sum)?)
}
