//! Tests gradients of convolutions, pools and interpolation in cases that the test cases of the table do not cover:
//! second derivatives, equal elements, empty arrays, narrow dtypes, and all sizes of windows on every library.

mod sweep;

use backends::{
    Result,
    grad::{grad, hvp, vjp},
    prelude::*,
};

/// Pseudorandom numbers in [0, 1).
fn numbers(shape: &[usize], seed: u64) -> HostArray<f64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) + 1;
    let next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    ndarray::ArrayD::from_shape_simple_fn(shape, next).into_shared()
}

/// Defines tests of second derivatives. Each test differentiates the sum of the cubes of the elements of `$y`. The
/// second derivative along a direction must agree with the difference of the gradients at two points, divided by the
/// distance of the points.
macro_rules! second {
    ($($name:ident: $shape:expr, |$b:ident, $x:ident| $y:expr;)*) => {$(
        #[test]
        fn $name() -> Result<()> {
            fn f<B: Backend>($b: &B, $x: &B::Array<f64>) -> Result<B::Array<f64>> {
                let y: B::Array<f64> = $y?;
                $b.sum($b.multiply($b.square(&y)?, &y)?, ..)
            }
            let b = Numpyish::new();
            let (x, v) = (numbers(&$shape, 1), numbers(&$shape, 2));
            let by_rules = hvp(&b, |d, x| f(d, x), &x, &v)?;
            let at = |step: f64| grad(&b, |d, x| f(d, x), &(&x + &(&v * step)).into_shared());
            let by_differences = (at(1e-5)? - at(-1e-5)?) / 2e-5;
            let largest = by_differences.iter().fold(1.0_f64, |a, x| a.max(x.abs()));
            for (a, b) in by_rules.iter().zip(&by_differences) {
                assert!((a - b).abs() < 1e-6 * largest, "{a} and {b}");
            }
            assert!(by_rules.iter().any(|x| *x != 0.0));
            Ok(())
        }
    )*};
}

fn of<B: Backend>(b: &B, shape: &[usize]) -> Result<B::Array<f64>> {
    b.from_ndarray(numbers(shape, 3))
}

second! {
    conv_by_elements: [2, 4, 9], |b, x| b.conv_with(x, of(b, &[6, 2, 3])?, ConvOptions::new().stride(2).padding(1).groups(2));
    conv_by_kernel: [6, 2, 3], |b, x| b.conv_with(of(b, &[2, 4, 9])?, x, ConvOptions::new().stride(2).dilation(2).groups(2));
    conv_transpose_by_elements: [2, 4, 5], |b, x| {
        b.conv_transpose_with(x, of(b, &[4, 3, 2])?, ConvTransposeOptions::new().stride(2).dilation(3).output_padding(2).groups(2))
    };
    conv_transpose_by_kernel: [4, 3, 2], |b, x| {
        b.conv_transpose_with(of(b, &[2, 4, 5])?, x, ConvTransposeOptions::new().stride(2).dilation(3).output_padding(2).groups(2))
    };
    max_pool_second: [2, 2, 7, 6], |b, x| b.max_pool_with(x, [3, 2], MaxPoolOptions::new().stride(2).padding(1));
    avg_pool_second: [2, 2, 7, 6], |b, x| {
        b.avg_pool_with(x, [3, 2], AvgPoolOptions::new().stride(2).padding(1).count_include_pad(false))
    };
    maximum_filter_second: [5, 6], |b, x| b.maximum_filter(x, [3, 4]);
    correlate1d_by_elements: [5, 6], |b, x| b.correlate1d(x, of(b, &[4])?);
    correlate1d_by_weights: [4], |b, x| b.correlate1d(of(b, &[5, 6])?, x);
    spline_filter_second: [5, 6], |b, x| b.spline_filter(x);
    interp_by_numbers: [7], |b, x| b.interp(x, b.asarray([0.1, 0.4, 0.8])?, b.asarray([1.0, 3.0, -1.0])?);
    interp_by_values: [3], |b, x| b.interp(of(b, &[7])?, b.asarray([0.1, 0.4, 0.8])?, x);
    map_coordinates_by_elements: [5, 6], |b, x| {
        b.map_coordinates_with(x, b.multiply(of(b, &[2, 9])?, 7.0)?, MapCoordinatesOptions::new().mode(Boundary::Nearest))
    };
    map_coordinates_by_coordinates: [2, 9], |b, x| {
        let at = b.subtract(b.multiply(x, 9.0)?, 2.0)?;
        b.map_coordinates_with(of(b, &[5, 6])?, at, MapCoordinatesOptions::new().mode(Boundary::Reflect))
    };
    map_coordinates_over_a_border: [2, 9], |b, x| {
        let at = b.subtract(b.multiply(x, 9.0)?, 2.0)?;
        let options = MapCoordinatesOptions::new().mode(Boundary::GridConstant).cval(2.0);
        b.map_coordinates_with(of(b, &[5, 6])?, at, options)
    };
    affine_transform_by_matrix: [2, 2], |b, x| {
        b.affine_transform_with(of(b, &[3, 5, 6])?, x, AffineTransformOptions::new().mode(Boundary::GridWrap))
    };
    affine_transform_by_a_matrix_with_offset: [2, 3], |b, x| b.affine_transform(of(b, &[5, 6])?, x);
    zoom_second: [5, 6], |b, x| b.zoom(x, [8, 4]);
    grid_sample_by_grid: [2, 4, 5, 3], |b, x| b.grid_sample(x, b.multiply(of(b, &[2, 7, 2])?, 5.0)?);
    grid_sample_by_coordinates: [2, 7, 2], |b, x| {
        b.grid_sample_with(of(b, &[1, 4, 5, 3])?, b.multiply(x, 5.0)?, GridSampleOptions::new().mode(Boundary::Mirror))
    };
}

/// Returns the gradient of `sum(f(x))` with respect to `x`.
fn of_sum(x: &HostArray<f64>, f: impl FnOnce(&Diff, &Var) -> Result<Var>) -> Result<HostArray<f64>> {
    grad(&Numpyish::new(), |d, x| d.sum(f(d, x)?, ..), x)
}

type Diff = backends::grad::Diff<Numpyish>;
type Var = backends::grad::Var<Numpyish, f64>;

#[test]
fn of_equal_elements_the_first_has_it() -> Result<()> {
    let b = Numpyish::new();
    let x = b.ones([1, 1, 3, 4])?;
    let g = of_sum(&x, |d, x| d.max_pool_with(x, [2, 2], MaxPoolOptions::new().stride(1)))?;
    assert_eq!(b.reshape(g, [3, 4])?, b.asarray([[1.0, 1.0, 1.0, 0.0], [1.0, 1.0, 1.0, 0.0], [0.0; 4]])?);
    let all = of_sum(&x, |d, x| d.max_pool(x, [3, 4]))?;
    assert_eq!((b.item(b.sum(&all, ..)?)?, all[[0, 0, 0, 0]]), (1.0, 1.0));
    // padding does not count as an element in a pool, but it counts as an element in a filter
    let low = b.full([1, 1, 3], f64::NEG_INFINITY)?;
    let g = of_sum(&low, |d, x| d.max_pool_with(x, 2, MaxPoolOptions::new().padding(1)))?;
    assert_eq!(b.item(b.sum(g, ..)?)?, 2.0);
    let low = b.full([3], -1.0)?;
    let g = of_sum(&low, |d, x| d.maximum_filter_with(x, 3, MaximumFilterOptions::new().mode(Boundary::Constant)))?;
    assert_eq!(g, b.asarray([1.0, 0.0, 0.0])?);
    // the pool's window has two taps, and the array's only element is between them, so the window contains no element
    let one = b.ones([1, 1, 1])?;
    let g = of_sum(&one, |d, x| d.max_pool_with(x, 2, MaxPoolOptions::new().padding(1).dilation(2)))?;
    assert_eq!(g, b.zeros([1, 1, 1])?);
    Ok(())
}

#[test]
fn nothing_to_read() -> Result<()> {
    let b = Numpyish::new();
    let x = b.zeros([0, 3])?;
    assert_eq!(of_sum(&x, |d, x| d.maximum_filter(x, 3))?, x);
    assert_eq!(of_sum(&x, |d, x| d.correlate1d(x, d.asarray([1.0, 2.0])?))?, x);
    assert_eq!(of_sum(&x, |d, x| d.spline_filter(x))?, x);
    let weights = of_sum(&b.ones([2])?, |d, w| d.correlate1d(d.zeros([0, 3])?, w))?;
    assert_eq!(weights, b.zeros([2])?);
    let points = of_sum(&b.ones([4, 3])?, |d, x| d.map_coordinates(x, d.zeros([2, 0])?))?;
    assert_eq!(points, b.zeros([4, 3])?);
    let zoomed = of_sum(&b.ones([4, 3])?, |d, x| d.zoom(x, [0, 3]))?;
    assert_eq!(zoomed, b.zeros([4, 3])?);
    let moved = of_sum(&b.ones([2, 2])?, |d, m| d.affine_transform(d.zeros([0, 4, 3])?, m))?;
    assert_eq!(moved, b.zeros([2, 2])?);
    let sampled = of_sum(&b.ones([1, 4, 2])?, |d, x| d.grid_sample(x, d.zeros([3, 0, 1])?))?;
    assert_eq!(sampled, b.zeros([1, 4, 2])?);
    let kernel = of_sum(&b.ones([2, 1, 2])?, |d, w| d.conv(d.zeros([0, 1, 5])?, w))?;
    assert_eq!(kernel, b.zeros([2, 1, 2])?);
    let interp = of_sum(&b.ones([2])?, |d, fp| d.interp(d.zeros([0])?, d.asarray([0.0, 1.0])?, fp))?;
    assert_eq!(interp, b.zeros([2])?);
    Ok(())
}

#[test]
fn places_that_are_not_known_have_no_part() -> Result<()> {
    let b = Numpyish::new();
    for mode in [Boundary::Constant, Boundary::Nearest, Boundary::Wrap, Boundary::Mirror, Boundary::GridConstant] {
        let options = MapCoordinatesOptions::new().order(1).mode(mode);
        let at = b.asarray([[f64::NAN, 1e300, f64::NEG_INFINITY, 0.5]])?;
        let g = of_sum(&b.ones([4])?, |d, x| d.map_coordinates_with(x, d.constant(at.clone()), options))?;
        assert!(g.iter().all(|x| x.is_finite()), "{mode}: {g}");
        assert!(g[[0]] >= 0.5, "{mode}: {g}");
    }
    Ok(())
}

#[test]
fn narrow_dtypes() -> Result<()> {
    let b = Numpyish::new();
    let x = b.astype::<f32, f64>(numbers(&[5, 6], 4))?;
    let at = b.astype::<f32, f64>(b.multiply(numbers(&[2, 3], 5), 4.0)?)?;
    let (y, mut back) = vjp(&b, |d, (x, at)| d.map_coordinates(x, at), (&x, &at))?;
    let (by_x, by_places) = back.pull(&b.ones_like::<f32>(&y)?)?;
    assert_eq!((by_x.shape(), by_places.shape()), (&[5, 6][..], &[2, 3][..]));
    // in linear interpolation, the weights of each point add up to 1
    assert!((by_x.sum() - 3.0).abs() < 1e-4, "{by_x}");
    let x = b.astype::<f16, f32>(b.reshape(&x, [1, 1, 5, 6])?)?;
    let (y, mut back) = vjp(&b, |d, x| d.max_pool(x, [2, 3]), &x)?;
    let g = back.pull(&b.ones_like::<f16>(&y)?)?;
    assert_eq!(b.item(b.sum(b.astype::<f64, f16>(g)?, ..)?)?, 4.0);
    Ok(())
}
