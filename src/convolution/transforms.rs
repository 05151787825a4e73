//! Convolution by Fourier transforms, of whole arrays, or of blocks of an array that is long along an axis.

use crate::{
    Axes, Backend, Complex, ComplexFloat, ConcatOptions, DType, DTypeKind, Element, FftnOptions, IfftnOptions,
    IrfftnOptions, Lengths, Numeric, Precision, Result, RfftnOptions, Slice,
    runtime::rules::{self, Overlap},
};
use std::ops::Range;

/// Convolves by Fourier transforms along the axes, in a float or complex dtype that can represent the elements.
pub fn by_transforms<B: Backend, T: Numeric>(
    op: &'static str,
    b: &B,
    x1: &B::Array<T>,
    x2: &B::Array<T>,
    overlap: &Overlap,
    axes: &[usize],
) -> Result<B::Array<T>> {
    if axes.is_empty() {
        return b.multiply(x1, x2);
    }
    let y = match T::dtype() {
        DType::Complex64 => of_complex::<B, T, Complex<f32>>(b, x1, x2, overlap, axes),
        DType::Complex128 => of_complex::<B, T, Complex<f64>>(b, x1, x2, overlap, axes),
        DType::Float16 | DType::BFloat16 | DType::Float32 => of_real::<B, T, f32>(b, x1, x2, overlap, axes),
        _ => of_real::<B, T, f64>(b, x1, x2, overlap, axes),
    };
    y.map_err(|e| e.within(op))
}

fn of_real<B: Backend, T: Numeric, R: Precision>(
    b: &B,
    x1: &B::Array<T>,
    x2: &B::Array<T>,
    overlap: &Overlap,
    axes: &[usize],
) -> Result<B::Array<T>> {
    let transforms = Transforms::new(overlap, axes, b.shape(x1), b.shape(x2));
    let (axes, points) = (transforms.axes, transforms.points);
    let spectrum = |x: &B::Array<T>, is_first| {
        let x = transforms.arranged(b, b.astype::<R, _>(x)?, is_first)?;
        b.rfftn_with(x, RfftnOptions::new().s(points).axes(axes))
    };
    let product = b.multiply(spectrum(x1, true)?, spectrum(x2, false)?)?;
    let y = b.irfftn_with(product, IrfftnOptions::new().s(points).axes(axes))?;
    let y = transforms.part(b, &y, overlap)?;
    match T::dtype().kind() {
        DTypeKind::Real => b.astype::<T, _>(y),
        // a sum outside the range of the dtype wraps, as it does in a convolution by direct sums
        _ => b.astype::<T, _>(b.astype::<i64, _>(b.round(y)?)?),
    }
}

fn of_complex<B: Backend, T: Numeric, C: ComplexFloat>(
    b: &B,
    x1: &B::Array<T>,
    x2: &B::Array<T>,
    overlap: &Overlap,
    axes: &[usize],
) -> Result<B::Array<T>> {
    let transforms = Transforms::new(overlap, axes, b.shape(x1), b.shape(x2));
    let (axes, points) = (transforms.axes, transforms.points);
    let spectrum = |x: &B::Array<T>, is_first| {
        let x = transforms.arranged(b, b.astype::<C, _>(x)?, is_first)?;
        b.fftn_with(x, FftnOptions::new().s(points).axes(axes))
    };
    let product = b.multiply(spectrum(x1, true)?, spectrum(x2, false)?)?;
    let y = b.ifftn_with(product, IfftnOptions::new().s(points).axes(axes))?;
    b.astype::<T, _>(transforms.part(b, &y, overlap)?)
}

/// The transforms of one convolution.
struct Transforms {
    /// The axes, and the numbers of points along them.
    axes: Axes,
    points: Lengths,
    /// The division of the longer array into blocks; `None` if both arrays are transformed whole.
    blocks: Option<Blocks>,
}

/// The blocks into which the longer array is cut along `axis`. They lie along a new axis before `axis`. The results of
/// a block also depend on elements before the block. Each block therefore begins with a copy of these elements, and
/// the results at the copies are dropped (the overlap-save method).
struct Blocks {
    axis: usize,
    /// True if the first array is cut into blocks, false if the second array is.
    of_first: bool,
    /// The index of the first result, along `axis` of the full convolution.
    start: usize,
    /// Number of blocks.
    count: usize,
    /// Number of results of a block.
    len: usize,
    /// Number of copied elements at the beginning of a block, before the block's own elements.
    before: usize,
}

/// Estimated time of a convolution by Fourier transforms along all axes, in the unit of [`rules::transform_time`].
pub fn time(overlap: &Overlap, x1: &[usize], x2: &[usize]) -> f64 {
    let axes: Vec<usize> = (0..overlap.full.len()).collect();
    let Transforms { points, blocks, .. } = Transforms::new(overlap, &axes, x1, x2);
    let points = points.as_slice().unwrap_or_default();
    let all: f64 = points.iter().map(|&n| n as f64).product();
    let count = blocks.map_or(1, |blocks| blocks.count) as f64;
    count * all * points.iter().map(|&n| rules::transform_time(n)).sum::<f64>()
}

impl Transforms {
    fn new(overlap: &Overlap, axes: &[usize], x1: &[usize], x2: &[usize]) -> Transforms {
        let fast = |&axis: &usize| (axis, rules::fast_points(overlap.full[axis]));
        let mut all: Vec<(usize, usize)> = axes.iter().map(fast).collect();
        let blocks = axes.iter().filter_map(|&axis| Blocks::new(overlap, axis, x1[axis], x2[axis]));
        let blocks = blocks.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(blocks, _)| blocks);
        if let Some(blocks) = &blocks {
            for (axis, points) in &mut all {
                if *axis == blocks.axis {
                    *points = blocks.before + blocks.len;
                }
                *axis += usize::from(*axis >= blocks.axis);
            }
        }
        let (axes, points): (Vec<isize>, Vec<usize>) = all.iter().map(|&(axis, n)| (axis as isize, n)).unzip();
        Transforms { axes: axes.into(), points: points.into(), blocks }
    }

    /// Arranges an array for the transforms. If there are blocks, the longer array is cut into them, and the other
    /// array gets an axis of length 1 that broadcasts over them.
    fn arranged<B: Backend, T: Element>(&self, b: &B, x: B::Array<T>, is_first: bool) -> Result<B::Array<T>> {
        match &self.blocks {
            None => Ok(x),
            Some(blocks) if blocks.of_first == is_first => blocks.of(b, &x),
            Some(blocks) => b.expand_dims(&x, blocks.axis as isize),
        }
    }

    /// The requested part of the full result, from the inverse transform.
    fn part<B: Backend, T: Element>(&self, b: &B, y: &B::Array<T>, overlap: &Overlap) -> Result<B::Array<T>> {
        let mut part: Vec<Slice> = overlap.part.iter().map(|&(start, len)| (start..start + len).into()).collect();
        let Some(Blocks { axis, count, len, before, .. }) = self.blocks else { return b.getitem(y, part) };
        part[axis] = (before..before + len).into();
        part.insert(axis, Slice::ALL);
        let y = b.getitem(y, part)?;
        let mut shape: Vec<isize> = overlap.part.iter().map(|&(_, len)| len as isize).collect();
        shape[axis] = (count * len) as isize;
        along(b, &b.reshape(&y, shape)?, axis, 0..overlap.part[axis].1)
    }
}

impl Blocks {
    /// The fastest blocks along an axis, and their time divided by the time with whole arrays; `None` if blocks are
    /// not clearly faster.
    fn new(overlap: &Overlap, axis: usize, n1: usize, n2: usize) -> Option<(Blocks, f64)> {
        /// The fewest points of a block. A smaller transform does not take less time per point.
        const MIN_BLOCK_POINTS: usize = 256;
        /// Maximum time with blocks, as a fraction of the time with whole arrays. Blocks must save a quarter of the
        /// time, because they are copied.
        const WORTH: f64 = 0.75;
        let ((start, len), before) = (overlap.part[axis], n1.min(n2) - 1);
        let whole = rules::fast_points(overlap.full[axis]);
        // a block has at least as many new elements as copied elements
        let shortest = before.saturating_mul(2).max(MIN_BLOCK_POINTS).checked_next_power_of_two().unwrap_or(usize::MAX);
        let lengths = (0..usize::BITS).map(|power| shortest.saturating_mul(1 << power));
        let blocks = lengths.take_while(|&points| points < whole).map(|points| {
            let len_of_block = points - before;
            Blocks { axis, of_first: n1 >= n2, start, count: len.div_ceil(len_of_block), len: len_of_block, before }
        });
        let time = |blocks: &Blocks| {
            let points = blocks.before + blocks.len;
            let of_blocks = blocks.count as f64 * points as f64 * rules::transform_time(points);
            of_blocks / (whole as f64 * rules::transform_time(whole))
        };
        let timed = blocks.map(|blocks| {
            let time = time(&blocks);
            (blocks, time)
        });
        timed.min_by(|a, b| a.1.total_cmp(&b.1)).filter(|best| best.1 < WORTH)
    }

    /// The blocks of the longer array, along a new axis before the axis that is cut.
    fn of<B: Backend, T: Element>(&self, b: &B, x: &B::Array<T>) -> Result<B::Array<T>> {
        let Blocks { axis, start, count, len, before, .. } = *self;
        let n = b.shape(x)[axis];
        // the array gets one more block in front of the first block, because each block begins with the end of the
        // block before it
        let (from, to) = (start as isize - len as isize, start + count * len);
        let mut widths = vec![(0, 0); b.shape(x).len()];
        widths[axis] = (from.min(0).unsigned_abs(), to.saturating_sub(n));
        let x = b.pad(along(b, x, axis, from.max(0) as usize..to.min(n))?, &widths[..])?;
        let mut shape: Vec<isize> = b.shape(&x).iter().map(|&n| n as isize).collect();
        shape.splice(axis..=axis, [count as isize + 1, len as isize]);
        let x = b.reshape(x, shape)?;
        let ends = along(b, &along(b, &x, axis, 0..count)?, axis + 1, len - before..len)?;
        let blocks = along(b, &x, axis, 1..count + 1)?;
        b.concat_with(&[ends, blocks], ConcatOptions::new().axis(axis as isize + 1))
    }
}

/// The elements of `x` with the indices `range` along `axis`.
fn along<B: Backend, T: Element>(b: &B, x: &B::Array<T>, axis: usize, range: Range<usize>) -> Result<B::Array<T>> {
    let mut part = vec![Slice::ALL; axis];
    part.push(range.into());
    b.getitem(x, part)
}
