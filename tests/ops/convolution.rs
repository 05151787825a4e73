//! Tests that convolutions by Fourier transforms equal sums of products, also if a long array is convolved in blocks.

use backends::{Result, prelude::*};

/// Returns the largest difference between a convolution by transforms and the same convolution by sums of products, and
/// the largest magnitude in the convolution by sums of products.
fn error<B: Backend, T: Precision>(
    b: &B,
    (x, y): (&B::Array<T>, &B::Array<T>),
    mode: ConvolutionMode,
) -> Result<(f64, f64)> {
    let by = |method| b.convolve_with(x, y, ConvolveOptions::new().mode(mode).method(method));
    let (sums, got) = (by(ConvolutionMethod::Direct)?, by(ConvolutionMethod::Fft)?);
    assert_eq!(b.shape(&got), b.shape(&sums));
    let size = |x: B::Array<T>| -> Result<f64> { Ok(b.item(&b.max(&b.abs(x)?, ..)?)?.to_f64()) };
    Ok((size(b.subtract(&got, &sums)?)?, size(sums)?))
}

fn cut_along_an_axis<B: Backend, T: Precision>(b: &B) -> Result<()> {
    b.seed(3);
    let tolerance = if T::DTYPE == DType::Float32 { 1e-5 } else { 1e-14 };
    let shapes: [(&[usize], &[usize]); 9] = [
        (&[3000], &[100]),
        (&[100], &[3000]),
        (&[5003], &[1]),
        (&[2600], &[2]),
        (&[2049], &[255]),
        (&[4000, 5], &[9, 3]),
        (&[5, 4000], &[3, 17]),
        (&[2, 2500, 3], &[1, 40, 3]),
        (&[600, 2], &[20, 5]),
    ];
    for (n, m) in shapes {
        let (x, y) = (b.random_normal::<T>(n)?, b.random_normal::<T>(m)?);
        for mode in [ConvolutionMode::Full, ConvolutionMode::Same, ConvolutionMode::Valid] {
            if mode == ConvolutionMode::Valid && n.iter().zip(m).any(|(n, m)| n < m) && n.len() > 1 {
                continue;
            }
            let (error, size) = error(b, (&x, &y), mode)?;
            assert!(error <= tolerance * size, "{} {n:?} {m:?} {mode:?}: {error} of {size}", T::DTYPE);
        }
    }
    Ok(())
}

#[test]
fn long_arrays_are_cut_into_blocks() {
    on_every_backend!(cut_along_an_axis::<_, f64>);
    on_every_backend!(cut_along_an_axis::<_, f32>);
}

/// Convolves along one axis in blocks, while the other axes of the two arrays broadcast.
fn cut_beside_other_axes<B: Backend>(b: &B) -> Result<()> {
    b.seed(4);
    let (x, y) = (b.random_normal::<Complex<f64>>([3, 2000, 2])?, b.random_normal::<Complex<f64>>([1, 30, 2])?);
    let got = b.fftconvolve_with(&x, &y, FftconvolveOptions::new().axes(1).mode(ConvolutionMode::Same))?;
    for (i, k) in [(0, 0), (2, 0), (1, 1)] {
        let lane = |x: &B::Array<Complex<f64>>, i: usize| b.get(x, ix![i, .., k]);
        let options = ConvolveOptions::new().mode(ConvolutionMode::Same).method(ConvolutionMethod::Direct);
        let expected = b.convolve_with(lane(&x, i)?, lane(&y, 0)?, options)?;
        let error = b.abs(b.subtract(lane(&got, i)?, expected)?)?;
        assert!(b.item(&b.max(&error, ..)?)? < 1e-12);
    }
    let whole = b.random_integers([4000], -1000_i64, 1000)?;
    let taps = b.random_integers([40], -1000_i64, 1000)?;
    let by = |method| b.convolve_with(&whole, &taps, ConvolveOptions::new().method(method));
    assert_eq!(b.to_vec(by(ConvolutionMethod::Fft)?)?, b.to_vec(by(ConvolutionMethod::Direct)?)?);
    Ok(())
}

#[test]
fn other_axes_and_dtypes_of_blocks() {
    on_every_backend!(cut_beside_other_axes);
}

/// The method that `Auto` chooses: sums for short kernels, transforms for long ones, and sums for all integers.
fn chosen<B: Backend>(b: &B) -> Result<()> {
    use ConvolutionMethod::{Auto, Direct, Fft};
    b.seed(5);
    let shapes: [(&[usize], &[usize], ConvolutionMethod); 6] = [
        (&[50], &[50], Direct),
        (&[20_000], &[5], Direct),
        (&[20_000], &[300], Fft),
        (&[300], &[20_000], Fft),
        (&[100, 100], &[3, 3], Direct),
        (&[100, 100], &[40, 40], Fft),
    ];
    for (n, m, method) in shapes {
        let (x, y) = (b.random_normal::<f64>(n)?, b.random_normal::<f64>(m)?);
        let by = |method| b.to_vec(b.convolve_with(&x, &y, ConvolveOptions::new().method(method))?);
        assert!(by(Auto)? == by(method)?, "{n:?} {m:?}");
    }
    // a sum of products beyond the range of exact doubles
    let (x, y) = (b.full([2000], i64::MAX / 3)?, b.ones::<i64>([2000])?);
    let by = |method| b.to_vec(b.convolve_with(&x, &y, ConvolveOptions::new().method(method))?);
    assert_eq!(by(Auto)?, by(Direct)?);
    Ok(())
}

#[test]
fn the_method_follows_from_the_shapes() {
    on_every_backend!(chosen);
}
