//! Ops that create arrays. Each rank creates its part.

use crate::{Layout, Sharded, ShardedArray, array::LocalPart};
use backends::{Result, prelude::*, runtime::rules};
use std::borrow::Cow;

/// Makes an array of a shape. `make` receives the shape of this rank's part and returns the part.
fn made<B: Backend, T: Element>(
    b: &Sharded<B>,
    op: &'static str,
    shape: &[usize],
    make: impl FnOnce(&[usize]) -> Result<LocalPart<B, T>>,
) -> Result<ShardedArray<B, T>> {
    rules::count(op, shape, size_of::<T>())?;
    let Some(axis) = b.usual_axis(shape) else { return Ok(b.array(Layout::whole(shape), make(shape)?)) };
    let layout = Layout::along(shape, axis);
    let part = make(&layout.part(&b.mine(shape[axis])))?;
    Ok(b.array(layout, part))
}

/// Makes an array with the layout of `x`. `make` receives this rank's part of `x` and returns this rank's part of the
/// result.
fn made_like<B: Backend, T: Element>(
    b: &Sharded<B>,
    x: &ShardedArray<B, T>,
    make: impl FnOnce(&LocalPart<B, T>) -> Result<LocalPart<B, T>>,
) -> Result<ShardedArray<B, T>> {
    Ok(b.array(x.layout.clone(), make(&x.part)?))
}

pub fn zeros<B: Backend, T: Element>(b: &Sharded<B>, shape: &[usize]) -> Result<ShardedArray<B, T>> {
    made(b, "zeros", shape, |part| b.within.zeros(part))
}

pub fn ones<B: Backend, T: Element>(b: &Sharded<B>, shape: &[usize]) -> Result<ShardedArray<B, T>> {
    made(b, "ones", shape, |part| b.within.ones(part))
}

pub fn empty<B: Backend, T: Element>(b: &Sharded<B>, shape: &[usize]) -> Result<ShardedArray<B, T>> {
    made(b, "empty", shape, |part| b.within.empty(part))
}

pub fn full<B: Backend, T: Element>(b: &Sharded<B>, shape: &[usize], value: T) -> Result<ShardedArray<B, T>> {
    made(b, "full", shape, |part| b.within.full(part, value))
}

pub fn zeros_like<B: Backend, T: Element>(b: &Sharded<B>, x: &ShardedArray<B, T>) -> Result<ShardedArray<B, T>> {
    made_like(b, x, |part| b.within.zeros_like(part))
}

pub fn ones_like<B: Backend, T: Element>(b: &Sharded<B>, x: &ShardedArray<B, T>) -> Result<ShardedArray<B, T>> {
    made_like(b, x, |part| b.within.ones_like(part))
}

pub fn empty_like<B: Backend, T: Element>(b: &Sharded<B>, x: &ShardedArray<B, T>) -> Result<ShardedArray<B, T>> {
    made_like(b, x, |part| b.within.empty_like(part))
}

pub fn full_like<B: Backend, T: Element>(
    b: &Sharded<B>,
    x: &ShardedArray<B, T>,
    value: T,
) -> Result<ShardedArray<B, T>> {
    made_like(b, x, |part| b.within.full_like(part, value))
}

/// Converts diagonal number `k` of the whole matrix to the number of the same diagonal in this rank's part. If the rows
/// are split, adds the index of the part's first row; if the columns are split, subtracts the index of its first
/// column.
fn diagonal_here<B: Backend, T: Element>(b: &Sharded<B>, x: &ShardedArray<B, T>, k: isize) -> isize {
    let ndim = x.layout.shape.len();
    let Some(axis) = x.split() else { return k };
    let start = x.layout.ranges(b.ranks())[b.rank()].start as isize;
    match ndim - axis {
        1 => k.saturating_sub(start),
        2 => k.saturating_add(start),
        _ => k,
    }
}

pub fn tril<B: Backend, T: Element>(b: &Sharded<B>, x: &ShardedArray<B, T>, k: isize) -> Result<ShardedArray<B, T>> {
    rules::matrix("tril", &x.layout.shape)?;
    let k = diagonal_here(b, x, k);
    made_like(b, x, |part| b.within.tril_with(part, TrilOptions::new().k(k)))
}

pub fn triu<B: Backend, T: Element>(b: &Sharded<B>, x: &ShardedArray<B, T>, k: isize) -> Result<ShardedArray<B, T>> {
    rules::matrix("triu", &x.layout.shape)?;
    let k = diagonal_here(b, x, k);
    made_like(b, x, |part| b.within.triu_with(part, TriuOptions::new().k(k)))
}

/// Makes a matrix that is 1 on diagonal `k` (in row `i`, column `i + k`), and 0 elsewhere.
pub fn eye<B: Backend, T: Element>(
    b: &Sharded<B>,
    n_rows: usize,
    n_cols: Option<usize>,
    k: isize,
) -> Result<ShardedArray<B, T>> {
    let shape = [n_rows, n_cols.unwrap_or(n_rows)];
    let axis = b.usual_axis(&shape);
    made(b, "eye", &shape, |part| {
        let start = axis.map_or(0, |axis| b.mine(shape[axis]).start) as isize;
        let k = if axis == Some(0) { k.saturating_add(start) } else { k.saturating_sub(start) };
        b.within.eye_with(part[0], EyeOptions::new().n_cols(part[1]).k(k))
    })
}

/// Reshapes each array to one axis of the grid, and repeats it along all other axes.
pub fn meshgrid<B: Backend, T: Element>(
    b: &Sharded<B>,
    xs: &[&ShardedArray<B, T>],
    indexing: MeshIndexing,
) -> Result<Vec<ShardedArray<B, T>>> {
    let op = "meshgrid";
    let parts = xs.iter().map(|x| b.gather(op, Cow::Borrowed(*x))).collect::<Result<Vec<_>>>()?;
    let shape: Vec<usize> = xs.iter().map(|x| x.layout.size()).collect();
    let mut axes: Vec<usize> = (0..xs.len()).collect();
    if indexing == MeshIndexing::Xy && xs.len() > 1 {
        axes.swap(0, 1);
    }
    let mut whole = vec![0; xs.len()];
    axes.iter().zip(&shape).for_each(|(&axis, &n)| whole[axis] = n);
    rules::count(op, &whole, size_of::<T>())?;
    let Some(split) = b.usual_axis(&whole).filter(|_| b.ranks() > 1) else {
        let grids = b.within.meshgrid_with(&parts, MeshgridOptions::new().indexing(indexing))?;
        return grids.into_iter().map(|grid| b.settle(grid)).collect();
    };
    // each rank uses only its own rows of the array that varies along the split axis
    let mut own = parts;
    let along = axes.iter().position(|&axis| axis == split).unwrap_or(split);
    let flat = b.within.reshape(&own[along], -1)?;
    own[along] = b.cut(&flat, 0, b.mine(whole[split]))?;
    let grids = b.within.meshgrid_with(&own, MeshgridOptions::new().indexing(indexing))?;
    Ok(grids.into_iter().map(|grid| b.array(Layout::along(&whole[..], split), grid)).collect())
}
