//! Ops of the group `convolution` that are written once over any backend.

use crate::{
    Axes, Backend, Complex, ComplexFloat, ConvOptions, ConvolutionMethod, ConvolutionMode, DType, DTypeKind, Error,
    FftnOptions, Float, IfftnOptions, IrfftnOptions, Lengths, Numeric, Precision, Result, RfftnOptions, Slice,
    runtime::rules::{self, Overlap, Same},
};

/// The convolution of two arrays.
pub fn convolve<B: Backend, T: Numeric>(
    b: &B,
    x1: &B::Array<T>,
    x2: &B::Array<T>,
    mode: ConvolutionMode,
    method: ConvolutionMethod,
) -> Result<B::Array<T>> {
    const OP: &str = "convolve";
    let overlap = overlap(OP, b, x1, x2, mode, Same::Longer)?;
    convolved(OP, b, x1, x2, &overlap, method)
}

/// The correlation of two arrays: the convolution with the conjugate of the second one in reverse order.
pub fn correlate<B: Backend, T: Numeric>(
    b: &B,
    x1: &B::Array<T>,
    x2: &B::Array<T>,
    mode: ConvolutionMode,
    method: ConvolutionMethod,
) -> Result<B::Array<T>> {
    const OP: &str = "correlate";
    let overlap = overlap(OP, b, x1, x2, mode, Same::LongerSwapped)?;
    let reversed = b.flip(x2, ..)?;
    let reversed = if T::DTYPE.kind() == DTypeKind::Complex { b.conj(reversed)? } else { reversed };
    convolved(OP, b, x1, &reversed, &overlap, method)
}

/// The convolution along axes, by Fourier transforms.
pub fn fftconvolve<B: Backend, T: Float>(
    b: &B,
    x1: &B::Array<T>,
    x2: &B::Array<T>,
    mode: ConvolutionMode,
    axes: Axes,
) -> Result<B::Array<T>> {
    const OP: &str = "fftconvolve";
    let axes = axes.resolve(OP, b.shape(x1).len())?;
    let overlap = rules::overlap(OP, b.shape(x1), b.shape(x2), &axes, mode, Same::First, size_of::<T>())?;
    by_transforms(OP, b, x1, x2, &overlap, &axes)
}

fn overlap<B: Backend, T: Numeric>(
    op: &'static str,
    b: &B,
    x1: &B::Array<T>,
    x2: &B::Array<T>,
    mode: ConvolutionMode,
    same: Same,
) -> Result<Overlap> {
    let axes: Vec<usize> = (0..b.shape(x1).len()).collect();
    rules::overlap(op, b.shape(x1), b.shape(x2), &axes, mode, same, size_of::<T>())
}

/// Number of elements in an array of this shape, as a float for cost estimates.
fn size(shape: &[usize]) -> f64 {
    shape.iter().map(|&n| n as f64).product()
}

/// The requested part of the convolution of two arrays, by the given method; `Auto` takes the method that is estimated
/// faster.
fn convolved<B: Backend, T: Numeric>(
    op: &'static str,
    b: &B,
    x1: &B::Array<T>,
    x2: &B::Array<T>,
    overlap: &Overlap,
    method: ConvolutionMethod,
) -> Result<B::Array<T>> {
    let rank = overlap.full.len();
    let floats = matches!(T::DTYPE.kind(), DTypeKind::Real | DTypeKind::Complex);
    let transforms = match method {
        ConvolutionMethod::Direct => false,
        ConvolutionMethod::Fft => true,
        ConvolutionMethod::Auto => {
            // number of products that take as long as the steps of three transforms for one element
            const PRODUCTS: f64 = 16.0;
            let sums = size(&overlap.shape) * size(b.shape(x1)).min(size(b.shape(x2)));
            let full = size(&overlap.full);
            floats && (rank > rules::MOST_SPATIAL || sums > PRODUCTS * full * (full + 2.0).log2())
        }
    };
    if transforms {
        let axes: Vec<usize> = (0..rank).collect();
        return by_transforms(op, b, x1, x2, overlap, &axes);
    }
    if rank > rules::MOST_SPATIAL {
        let why =
            format!("the arrays have {rank} axes, but must have 1 to {} to be summed directly", rules::MOST_SPATIAL);
        return Err(Error::argument(op, why));
    }
    by_sums(b, x1, x2, overlap).map_err(|e| e.within(op))
}

/// Convolves by direct sums: a one-channel `conv` whose kernel is the smaller array in reverse order.
fn by_sums<B: Backend, T: Numeric>(
    b: &B,
    x1: &B::Array<T>,
    x2: &B::Array<T>,
    overlap: &Overlap,
) -> Result<B::Array<T>> {
    let (x, kernel) = if size(b.shape(x2)) > size(b.shape(x1)) { (x2, x1) } else { (x1, x2) };
    let (mut padding, mut part) = (Vec::new(), vec![Slice::at(0), Slice::at(0)]);
    for ((&n, &m), &(start, len)) in b.shape(x).iter().zip(b.shape(kernel)).zip(&overlap.part) {
        // with this padding, output `i` of `conv` has index `i + m - 1 - padding` in the full result
        let padded = (m - 1).saturating_sub(start).max((start + len).saturating_sub(n));
        let first = padded + start + 1 - m;
        padding.push(padded);
        part.push((first..first + len).into());
    }
    let channel = |x: &B::Array<T>| b.reshape(x, [&[1, 1], b.shape(x)].concat());
    let options = ConvOptions::new().padding(Lengths::from(padding));
    let y = b.conv_with(channel(x)?, channel(&b.flip(kernel, ..)?)?, options)?;
    b.getitem(&y, part)
}

/// Convolves by Fourier transforms along the axes, in a float or complex dtype that holds the elements.
fn by_transforms<B: Backend, T: Numeric>(
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
    match T::DTYPE {
        DType::Complex64 => of_complex::<B, T, Complex<f32>>(op, b, x1, x2, overlap, axes),
        DType::Complex128 => of_complex::<B, T, Complex<f64>>(op, b, x1, x2, overlap, axes),
        DType::Float16 | DType::BFloat16 | DType::Float32 => of_real::<B, T, f32>(op, b, x1, x2, overlap, axes),
        _ => of_real::<B, T, f64>(op, b, x1, x2, overlap, axes),
    }
}

/// The axes of the transforms and their numbers of points.
fn points(overlap: &Overlap, axes: &[usize]) -> (Axes, Lengths) {
    let points: Vec<usize> = axes.iter().map(|&axis| rules::fast_points(overlap.full[axis])).collect();
    let axes: Vec<isize> = axes.iter().map(|&axis| axis as isize).collect();
    (axes.into(), points.into())
}

/// The requested part of the full result.
fn part<B: Backend, T: Numeric>(b: &B, y: &B::Array<T>, overlap: &Overlap) -> Result<B::Array<T>> {
    let part = |&(start, len): &(usize, usize)| Slice::from(start..start + len);
    b.getitem(y, overlap.part.iter().map(part).collect::<Vec<_>>())
}

fn of_real<B: Backend, T: Numeric, R: Precision>(
    op: &'static str,
    b: &B,
    x1: &B::Array<T>,
    x2: &B::Array<T>,
    overlap: &Overlap,
    axes: &[usize],
) -> Result<B::Array<T>> {
    let (axes, points) = points(overlap, axes);
    let spectrum = |x: &B::Array<T>| {
        let options = RfftnOptions::new().s(points).axes(axes);
        b.rfftn_with(b.astype::<R, _>(x)?, options).map_err(|e| e.within(op))
    };
    let product = b.multiply(spectrum(x1)?, spectrum(x2)?)?;
    let y = b.irfftn_with(product, IrfftnOptions::new().s(points).axes(axes)).map_err(|e| e.within(op))?;
    let y = part(b, &y, overlap)?;
    match T::DTYPE.kind() {
        DTypeKind::Real => b.astype::<T, _>(y),
        // a sum outside the range of the dtype wraps, as the sums of products do
        _ => b.astype::<T, _>(b.astype::<i64, _>(b.round(y)?)?),
    }
}

fn of_complex<B: Backend, T: Numeric, C: ComplexFloat>(
    op: &'static str,
    b: &B,
    x1: &B::Array<T>,
    x2: &B::Array<T>,
    overlap: &Overlap,
    axes: &[usize],
) -> Result<B::Array<T>> {
    let (axes, points) = points(overlap, axes);
    let spectrum = |x: &B::Array<T>| {
        let options = FftnOptions::new().s(points).axes(axes);
        b.fftn_with(b.astype::<C, _>(x)?, options).map_err(|e| e.within(op))
    };
    let product = b.multiply(spectrum(x1)?, spectrum(x2)?)?;
    let y = b.ifftn_with(product, IfftnOptions::new().s(points).axes(axes)).map_err(|e| e.within(op))?;
    b.astype::<T, _>(part(b, &y, overlap)?)
}
