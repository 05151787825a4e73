//! Gradient rules of ops that move elements without changing their values.

use crate::{ArrayAttributes, Axes, Backend, Element, Float, MeshIndexing, PadMode, Result, Slice};

/// A shape as signed lengths, for `reshape`.
pub(super) fn signed(shape: &[usize]) -> Vec<isize> {
    shape.iter().map(|&d| d as isize).collect()
}

/// Resolves an axis that may be negative.
pub(super) fn axis_of(op: &'static str, axis: isize, ndim: usize) -> Result<usize> {
    Ok(Axes::from(axis).resolve(op, ndim)?[0])
}

/// Gradient of ops that only change the shape: the output gradient in the shape of the input.
pub fn reshaped<B: Backend, T: Float>(b: &B, g: &B::Array<T>, shape: &[usize]) -> Result<B::Array<T>> {
    b.reshape(g, signed(shape))
}

/// Gradient of `permute_dims`: restores the original order of the axes.
pub fn permute_dims<B: Backend, T: Float>(b: &B, g: &B::Array<T>, axes: Axes) -> Result<B::Array<T>> {
    let Axes::List(_) = axes else { return b.permute_dims(g, ..) };
    let axes = axes.resolve("permute_dims", g.ndim())?;
    let mut former = vec![0_usize; axes.len()];
    axes.iter().enumerate().for_each(|(to, &from)| former[from] = to);
    b.permute_dims(g, former)
}

/// Gradient of `roll`: the output gradient, rolled in the opposite direction.
pub fn roll<B: Backend, T: Float>(b: &B, g: &B::Array<T>, shift: &[isize], axis: Axes) -> Result<B::Array<T>> {
    let back: Vec<isize> = shift.iter().map(|&shift| shift.saturating_neg()).collect();
    b.roll(g, back, axis)
}

/// Gradient of `broadcast_arrays`: the output gradients unchanged. The tape sums them to the inputs' shapes.
pub fn broadcast_arrays<B: Backend, T: Float>(_: &B, g: &[&B::Array<T>]) -> Result<Vec<B::Array<T>>> {
    Ok(g.iter().map(|&g| g.clone()).collect())
}

/// Gradient of `meshgrid`: sums the output gradient of each grid over the axes of all other inputs.
pub fn meshgrid<B: Backend, T: Float>(b: &B, g: &[&B::Array<T>], indexing: MeshIndexing) -> Result<Vec<B::Array<T>>> {
    let own = |k: usize| match (indexing, k) {
        (MeshIndexing::Xy, 0 | 1) if g.len() > 1 => 1 - k,
        _ => k,
    };
    let sum = |(k, g): (usize, &&B::Array<T>)| {
        let others: Vec<usize> = (0..g.ndim()).filter(|&axis| axis != own(k)).collect();
        if others.is_empty() { Ok((*g).clone()) } else { b.sum(*g, others) }
    };
    g.iter().enumerate().map(sum).collect()
}

/// Gradient of `concat`: splits the output gradient. `shapes` are the shapes of the inputs, each preceded by its number
/// of axes.
pub fn concat<B: Backend, T: Float>(
    b: &B,
    g: &B::Array<T>,
    shapes: &[usize],
    axis: Option<isize>,
) -> Result<Vec<B::Array<T>>> {
    let axis = axis.map(|axis| axis_of("concat", axis, g.ndim())).transpose()?;
    let (mut parts, mut start, mut rest) = (Vec::new(), 0, shapes);
    while let Some((&ndim, shape)) = rest.split_first() {
        let (shape, further) = shape.split_at(ndim);
        rest = further;
        let along = axis.unwrap_or(0);
        let length = axis.map_or_else(|| shape.iter().product(), |axis| shape[axis]);
        parts.push(b.reshape(part(b, g, along, start, length)?, signed(shape))?);
        start += length;
    }
    Ok(parts)
}

/// Returns `length` elements along an axis, beginning at index `start`.
pub(super) fn part<B: Backend, T: Element>(
    b: &B,
    x: &B::Array<T>,
    axis: usize,
    start: usize,
    length: usize,
) -> Result<B::Array<T>> {
    let mut slices = vec![Slice::from(..); x.ndim()];
    slices[axis] = Slice::from(start as isize..(start + length) as isize);
    b.getitem(x, slices)
}

/// Gradient of `tile`: sums over the repetitions.
pub fn tile<B: Backend, T: Float>(
    b: &B,
    g: &B::Array<T>,
    shape: &[usize],
    repetitions: &[usize],
) -> Result<B::Array<T>> {
    let ndim = g.ndim();
    let padded = |list: &[usize]| [vec![1; ndim - list.len()], list.to_vec()].concat();
    let (lengths, counts) = (padded(shape), padded(repetitions));
    let split: Vec<usize> = counts.iter().zip(&lengths).flat_map(|(&count, &length)| [count, length]).collect();
    let axes: Vec<usize> = (0..ndim).map(|axis| 2 * axis).collect();
    let sum = b.sum(b.reshape(g, signed(&split))?, axes)?;
    b.reshape(sum, signed(shape))
}

/// Gradient of `repeat`: sums over the repetitions of each element.
pub fn repeat<B: Backend, T: Float>(
    b: &B,
    g: &B::Array<T>,
    shape: &[usize],
    repeats: usize,
    axis: Option<isize>,
) -> Result<B::Array<T>> {
    let row = [shape.iter().product()];
    let (lengths, axis) = match axis {
        Some(axis) => (shape, axis_of("repeat", axis, shape.len())?),
        None => (&row[..], 0),
    };
    let mut split = lengths.to_vec();
    split.insert(axis + 1, repeats);
    let sum = b.sum(b.reshape(g, signed(&split))?, axis as isize + 1)?;
    b.reshape(sum, signed(shape))
}

/// Gradient of `pad`: the gradient of each border element is added to the gradient of the element from which it was
/// copied.
pub fn pad<B: Backend, T: Float>(
    b: &B,
    g: &B::Array<T>,
    shape: &[usize],
    widths: &[usize],
    mode: PadMode,
) -> Result<B::Array<T>> {
    let pair = |axis: usize| match widths {
        [both] => (*both, *both),
        [before, after] => (*before, *after),
        all => (all[2 * axis], all[2 * axis + 1]),
    };
    let mut g = g.clone();
    for (axis, &length) in shape.iter().enumerate() {
        let (before, after) = pair(axis);
        if before + after == 0 {
            continue;
        }
        g = if mode == PadMode::Constant {
            part(b, &g, axis, before, length)?
        } else {
            let options = crate::PadOptions::new().mode(mode);
            let places = b.pad_with(b.arange::<i64>(0, length as i64, 1)?, [(before, after)], options)?;
            b.segment_sum_with(&g, &places, length, crate::SegmentSumOptions::new().axis(axis as isize))?
        };
    }
    Ok(g)
}

/// Gradient of `diagonal`: zeros, except for the output gradient on the diagonal.
pub fn diagonal<B: Backend, T: Float>(
    b: &B,
    g: &B::Array<T>,
    shape: &[usize],
    offset: isize,
    axis1: isize,
    axis2: isize,
) -> Result<B::Array<T>> {
    let (axis1, axis2) = (axis_of("diagonal", axis1, shape.len())?, axis_of("diagonal", axis2, shape.len())?);
    let (rows, columns) = (shape[axis1], shape[axis2]);
    let places = b.eye_with::<bool>(rows, crate::EyeOptions::new().n_cols(columns).k(offset))?;
    // for each row of the matrix, the index of its element in the diagonal
    let skipped = (-offset).max(0) as i64;
    let along = b.subtract(b.arange::<i64>(0, rows as i64, 1)?, skipped)?;
    let length = *g.shape().last().unwrap_or(&0);
    let mut lengths = g.shape()[..g.ndim().saturating_sub(1)].to_vec();
    lengths.extend([rows, columns]);
    if length == 0 {
        return b.zeros::<T>(shape);
    }
    let along = b.clip(along, 0, length as i64 - 1)?;
    let of_rows = b.expand_dims(b.take(g, &along, -1)?, -1)?;
    let zeros = b.zeros::<T>(lengths)?;
    let matrix = b.r#where(places, of_rows, zeros)?;
    b.moveaxis(matrix, [-2, -1], [axis1 as isize, axis2 as isize])
}
