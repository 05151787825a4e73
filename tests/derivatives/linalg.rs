//! Tests gradients of linear algebra and of transforms in cases that finite differences cannot check: equal singular
//! values or eigenvalues, empty matrices, second derivatives, and ops that have no test cases in the table.

use backends::grad::{Diff, Var, grad, hessian, vjp};
use backends::{Error, Result, prelude::*};

type R = HostArray<f64>;
type C = HostArray<Complex<f64>>;

/// Uniform random numbers between -1 and 1.
fn noise(seed: u64, shape: &[usize]) -> R {
    let b = Numpyish::new();
    b.seed(seed);
    b.random_uniform_with::<f64>(shape, RandomUniformOptions::new().low(-1.0)).unwrap()
}

fn complex_noise(seed: u64, shape: &[usize]) -> C {
    Numpyish::new().complex(noise(seed, shape), noise(seed + 100, shape)).unwrap()
}

#[track_caller]
fn near(x: &R, y: &R, tolerance: f64) {
    assert_eq!(x.shape(), y.shape());
    assert!(x.iter().zip(y).all(|(x, y)| (x - y).abs() <= tolerance), "{x:.9}\n{y:.9}");
}

#[track_caller]
fn near_complex(x: &C, y: &C, tolerance: f64) {
    assert_eq!(x.shape(), y.shape());
    assert!(x.iter().zip(y).all(|(x, y)| (x - y).norm() <= tolerance), "{x:.9}\n{y:.9}");
}

/// Returns a 5 x 3 matrix with orthonormal columns, multiplied by 2, so that all its singular values are 2.
fn equal_values() -> R {
    let b = Numpyish::new();
    b.multiply(b.qr(noise(1, &[5, 3])).unwrap().q, 2.0).unwrap()
}

#[test]
fn a_pseudo_inverse_with_equal_singular_values() -> Result<()> {
    let b = Numpyish::new();
    let (x, w) = (equal_values(), noise(2, &[3, 5]));
    let by_pinv = grad(&b, |d, x| d.sum(d.multiply(d.pinv(x)?, &d.constant(w.clone()))?, ..), &x)?;
    // the pseudo-inverse by the explicit formula for a matrix of full rank
    let formula = |d: &Diff<Numpyish>, x: &Var<Numpyish, f64>| {
        let transposed = d.matrix_transpose(x)?;
        let inverse = d.matmul(d.inv(d.matmul(&transposed, x)?)?, transposed)?;
        d.sum(d.multiply(inverse, &d.constant(w.clone()))?, ..)
    };
    near(&by_pinv, &grad(&b, formula, &x)?, 1e-12);
    // the gradient of the pseudo-inverse of the transposed matrix is the transpose of the gradient above
    let (x, w) = (b.matrix_transpose(&x)?, b.matrix_transpose(&w)?);
    let across = grad(&b, |d, x| d.sum(d.multiply(d.pinv(x)?, &d.constant(w.clone()))?, ..), &x)?;
    near(&across, &b.matrix_transpose(&by_pinv)?, 1e-12);
    Ok(())
}

#[test]
fn least_squares_with_equal_singular_values() -> Result<()> {
    let b = Numpyish::new();
    let (x, y, w) = (equal_values(), noise(3, &[5, 2]), noise(4, &[3, 2]));
    let by_lstsq = grad(
        &b,
        |d, (x, y)| {
            let all = d.lstsq(x, y)?;
            let sum = d.sum(d.multiply(all.solution, &d.constant(w.clone()))?, ..)?;
            let values = d.sum(d.multiply(all.singular_values, 0.5)?, ..)?;
            d.add(d.add(sum, d.sum(all.residuals, ..)?)?, values)
        },
        (&x, &y),
    )?;
    let by_formula = grad(
        &b,
        |d, (x, y)| {
            let transposed = d.matrix_transpose(x)?;
            let solution = d.solve(d.matmul(&transposed, x)?, d.matmul(transposed, y)?)?;
            let rest = d.subtract(d.matmul(x, &solution)?, y)?;
            let sum = d.sum(d.multiply(solution, &d.constant(w.clone()))?, ..)?;
            let options = MatrixNormOptions::new().ord(MatrixNorm::Nuc);
            let values = d.multiply(d.matrix_norm_with(x, options)?, 0.5)?;
            d.add(d.add(sum, d.sum(d.square(rest)?, ..)?)?, values)
        },
        (&x, &y),
    )?;
    near(&by_lstsq.0, &by_formula.0, 1e-12);
    near(&by_lstsq.1, &by_formula.1, 1e-12);
    Ok(())
}

#[test]
fn values_that_are_equal() -> Result<()> {
    let b = Numpyish::new();
    let x = b.multiply(b.eye::<f64>(3)?, 2.0)?;
    let one = b.eye::<f64>(3)?;
    near(&grad(&b, |d, x| d.sum(d.eigvalsh(x)?, ..), &x)?, &one, 1e-14);
    near(&grad(&b, |d, x| d.sum(d.eigh(x)?.eigenvalues, ..), &x)?, &one, 1e-14);
    near(&grad(&b, |d, x| d.sum(d.svdvals(x)?, ..), &x)?, &one, 1e-14);
    near(&grad(&b, |d, x| d.sum(d.svd(x)?.s, ..), &x)?, &one, 1e-14);
    near(&grad(&b, |d, x| d.sum(d.real(d.eigvals(x)?)?, ..), &x)?, &one, 1e-14);
    near(&grad(&b, |d, x| d.sum(d.real(d.eig(x)?.eigenvalues)?, ..), &x)?, &one, 1e-14);
    Ok(())
}

#[test]
fn at_zero() -> Result<()> {
    let b = Numpyish::new();
    let (zero, one) = (b.zeros::<f64>([2, 2])?, b.ones::<f64>([2, 2])?);
    near(&grad(&b, |d, x| d.sum(d.expm(x)?, ..), &zero)?, &one, 1e-14);
    for ord in [2.0, 1.0, 3.0, 0.5, 0.0, -1.0, f64::INFINITY, f64::NEG_INFINITY] {
        let norm =
            |d: &Diff<Numpyish>, x: &Var<Numpyish, f64>| d.vector_norm_with(x, VectorNormOptions::new().ord(ord));
        near(&grad(&b, norm, &zero)?, &zero, 0.0);
    }
    for ord in [MatrixNorm::Fro, MatrixNorm::One, MatrixNorm::Infinity] {
        let norm =
            |d: &Diff<Numpyish>, x: &Var<Numpyish, f64>| d.matrix_norm_with(x, MatrixNormOptions::new().ord(ord));
        near(&grad(&b, norm, &zero)?, &zero, 0.0);
    }
    near(&grad(&b, |d, x| d.sum(d.pinv(x)?, ..), &zero)?, &zero, 0.0);
    Ok(())
}

/// `eigvalsh` and `cholesky` read only one triangle of a symmetric matrix: the lower one, or the upper one with
/// `upper`. The gradient of an element that is read and is not on the diagonal also contains the gradient of the
/// mirrored element.
#[test]
fn triangles_that_are_read() -> Result<()> {
    let b = Numpyish::new();
    let x = b.asarray([[4.0, 1.0], [1.0, 3.0]])?;
    let by_eigh = grad(&b, |d, x| d.sum(d.square(d.eigvalsh(x)?)?, ..), &x)?;
    near(&by_eigh, &b.asarray([[8.0, 0.0], [4.0, 6.0]])?, 1e-13);
    let of = |upper: bool| {
        let options = CholeskyOptions::new().upper(upper);
        // the sum of the logarithms of the factor's diagonal, times two, is the logarithm of the determinant
        let log = |d: &Diff<Numpyish>, x: &Var<Numpyish, f64>| {
            d.sum(d.log(d.square(d.diagonal(d.cholesky_with(x, options)?)?)?)?, ..)
        };
        grad(&b, log, &x)
    };
    let lower = b.divide(b.asarray([[3.0, 0.0], [-2.0, 4.0]])?, 11.0)?;
    near(&of(false)?, &lower, 1e-14);
    near(&of(true)?, &b.matrix_transpose(&lower)?, 1e-14);
    Ok(())
}

/// A function of a symmetric matrix, whose result is a number.
type Number = fn(&Diff<Diff<Numpyish>>, &Var<Diff<Numpyish>, f64>) -> Result<Var<Diff<Numpyish>, f64>>;

#[test]
fn second_derivatives() -> Result<()> {
    let b = Numpyish::new();
    let x = b.add(noise(5, &[3, 3]), b.multiply(b.eye::<f64>(3)?, 4.0)?)?;
    let of = |f: Number| {
        hessian(
            &b,
            |d, x| {
                let transposed = d.matrix_transpose(x)?;
                f(d, &d.matmul(x, transposed)?)
            },
            &x,
        )
    };
    let log = of(|d, x| Ok(d.slogdet(x)?.logabsdet))?;
    near(&of(|d, x| d.sum(d.log(d.square(d.diagonal(d.cholesky(x)?)?)?)?, ..))?, &log, 1e-10);
    near(
        &of(|d, x| d.sum(d.log(d.square(d.diagonal(d.qr(x)?.r)?)?)?, ..).and_then(|y| d.multiply(y, 0.5)))?,
        &log,
        1e-10,
    );
    near(&of(|d, x| d.sum(d.log(d.eigvalsh(x)?)?, ..))?, &log, 1e-10);
    near(&of(|d, x| d.sum(d.log(d.eigh(x)?.eigenvalues)?, ..))?, &log, 1e-10);
    near(&of(|d, x| d.sum(d.log(d.svd(x)?.s)?, ..))?, &log, 1e-10);
    near(&of(|d, x| d.sum(d.real(d.log(d.eigvals(x)?)?)?, ..))?, &log, 1e-10);
    let trace = of(|d, x| d.trace(d.inv(x)?))?;
    near(&of(|d, x| d.trace(d.pinv(x)?))?, &trace, 1e-10);
    Ok(())
}

#[test]
fn empty_matrices() -> Result<()> {
    let b = Numpyish::new();
    let square = [&[0, 0][..], &[2, 0, 0], &[0, 3, 3]];
    let any = [&[0, 0][..], &[0, 3], &[3, 0], &[0, 3, 2], &[2, 0, 3]];
    fn of(
        shape: &[usize],
        f: impl Fn(&Diff<Numpyish>, &Var<Numpyish, f64>) -> Result<Var<Numpyish, f64>>,
    ) -> Result<()> {
        let b = Numpyish::new();
        let x = b.zeros::<f64>(shape)?;
        let (y, mut back) = vjp(&b, f, &x)?;
        assert_eq!(back.pull(&b.ones_like::<f64>(&y)?)?.shape(), shape);
        Ok(())
    }
    for shape in square {
        of(shape, |d, x| d.cholesky(d.add(x, &d.constant(b.eye::<f64>(shape[1])?))?))?;
        of(shape, |d, x| d.eigvalsh(x))?;
        of(shape, |d, x| Ok(d.eigh(x)?.eigenvectors))?;
        of(shape, |d, x| d.real(d.eigvals(x)?))?;
        of(shape, |d, x| d.real(d.eig(x)?.eigenvectors))?;
        of(shape, |d, x| Ok(d.slogdet(x)?.logabsdet))?;
        of(shape, |d, x| d.solve_triangular(d.add(x, &d.constant(b.eye::<f64>(shape[1])?))?, x))?;
    }
    for shape in any {
        of(shape, |d, x| d.svdvals(x))?;
        for full in [true, false] {
            of(shape, |d, x| Ok(d.svd_with(x, SvdOptions::new().full_matrices(full))?.u))?;
            of(shape, |d, x| Ok(d.svd_with(x, SvdOptions::new().full_matrices(full))?.vh))?;
        }
        for mode in [QrMode::Reduced, QrMode::Complete] {
            of(shape, |d, x| Ok(d.qr_with(x, QrOptions::new().mode(mode))?.q))?;
            of(shape, |d, x| Ok(d.qr_with(x, QrOptions::new().mode(mode))?.r))?;
        }
        of(shape, |d, x| d.pinv(x))?;
    }
    of(&[0, 3], |d, x| d.real(d.fft_with(x, FftOptions::new().axis(0).n(2))?))?;
    of(&[0, 3], |d, x| d.real(d.rfftn_with(x, RfftnOptions::new().s([2, 5]))?))?;
    Ok(())
}

/// Computes a non-uniform Fourier transform by its definition: for each frequency, the sum of one wave per point.
fn waves(
    d: &Diff<Numpyish>,
    points: &[Var<Numpyish, f64>],
    values: &Var<Numpyish, Complex<f64>>,
    frequencies: &[Var<Numpyish, f64>],
    isign: isize,
) -> Result<Var<Numpyish, Complex<f64>>> {
    let mut angles = None;
    for (x, s) in points.iter().zip(frequencies) {
        let along = d.multiply(d.expand_dims(x, -1)?, d.expand_dims(s, 0)?)?;
        angles = Some(match angles {
            Some(angles) => d.add(angles, along)?,
            None => along,
        });
    }
    let angles = angles.ok_or_else(|| Error::argument("waves", "there are no points"))?;
    let turn = Complex::new(0.0, if isign < 0 { -1.0 } else { 1.0 });
    d.matmul(values, d.exp(d.multiply(d.astype::<Complex<f64>, f64>(angles)?, turn)?)?)
}

/// Returns the integer frequencies (modes) of a transform to a grid of shape `n_modes`: for each axis, a flat array
/// with one coordinate per mode.
fn modes(n_modes: &[usize]) -> Vec<R> {
    let b = Numpyish::new();
    let count: usize = n_modes.iter().product();
    let along = |axis: usize| {
        let after: usize = n_modes[axis + 1..].iter().product();
        let number = |i: usize| (i / after % n_modes[axis]) as f64 - (n_modes[axis] / 2) as f64;
        b.asarray((0..count).map(number).collect::<Vec<_>>()).unwrap()
    };
    (0..n_modes.len()).map(along).collect()
}

/// Asserts that `f` and `g` have the same gradients with respect to the points, the frequencies and the values.
#[track_caller]
fn same<F>(reals: Vec<R>, values: &C, f: F, g: F)
where
    F: Fn(&Diff<Numpyish>, &[Var<Numpyish, f64>], &Var<Numpyish, Complex<f64>>) -> Result<Var<Numpyish, Complex<f64>>>,
{
    let b = Numpyish::new();
    let of = |f: F| {
        #[allow(clippy::type_complexity)] // the two inputs
        let f = |d: &Diff<Numpyish>, (reals, values): &(Vec<Var<Numpyish, f64>>, Var<Numpyish, Complex<f64>>)| {
            f(d, reals, values)
        };
        let (y, mut back) = vjp(&b, f, (reals.iter().collect::<Vec<_>>(), values)).unwrap();
        back.pull(&complex_noise(9, y.shape())).unwrap()
    };
    let (of_f, of_g) = (of(f), of(g));
    for (x, y) in of_f.0.iter().zip(&of_g.0) {
        near(x, y, 1e-8);
    }
    near_complex(&of_f.1, &of_g.1, 1e-8);
}

/// A non-uniform Fourier transform. Its inputs are real coordinates (first of the points, then of the frequencies if
/// the transform has any) and complex values.
type Transform = Box<
    dyn Fn(&Diff<Numpyish>, &[Var<Numpyish, f64>], &Var<Numpyish, Complex<f64>>) -> Result<Var<Numpyish, Complex<f64>>>,
>;

#[test]
fn non_uniform_transforms() {
    const EPS: f64 = 1e-12;
    for (n_modes, batch, isign) in [(&[6][..], None, 1), (&[5, 4], Some(2), -1), (&[3, 4, 5], None, -1)] {
        let axes = n_modes.len();
        // some points are at the origin, which is a grid point
        let points: Vec<R> = (0..axes as u64)
            .map(|seed| noise(seed, &[7]).mapv(|x| if x > 0.8 { 0.0 } else { 3.0 * x }).into_shared())
            .collect();
        let frequencies: Vec<R> =
            (10..10 + axes as u64).map(|seed| noise(seed, &[4]).mapv(|x| 5.0 * x).into_shared()).collect();
        let front: Vec<usize> = batch.into_iter().collect();
        let values = complex_noise(20, &[&front[..], &[7]].concat());
        let count = n_modes.iter().product::<usize>();
        let spectrum = complex_noise(21, &[&front[..], n_modes].concat());
        let lengths = n_modes.to_vec();
        let one: Transform = Box::new(move |d, p, c| match p {
            [x] => d.nufft1d_type1_with(x, c, lengths[0], Nufft1dType1Options::new().eps(EPS).isign(isign)),
            [x, y] => d.nufft2d_type1_with(x, y, c, &lengths, Nufft2dType1Options::new().eps(EPS).isign(isign)),
            [x, y, z] => d.nufft3d_type1_with(x, y, z, c, &lengths, Nufft3dType1Options::new().eps(EPS).isign(isign)),
            _ => Err(Error::argument("test", "no points")),
        });
        let (shape, numbers) = ([&front[..], n_modes].concat(), modes(n_modes));
        let one_by_sums: Transform = Box::new(move |d, p, c| {
            let modes: Vec<_> = numbers.iter().map(|k| d.constant(k.clone())).collect();
            d.reshape(waves(d, p, c, &modes, isign)?, &shape[..])
        });
        same(points.clone(), &values, one, one_by_sums);
        let two: Transform = Box::new(move |d, p, f| match p {
            [x] => d.nufft1d_type2_with(x, f, Nufft1dType2Options::new().eps(EPS).isign(isign)),
            [x, y] => d.nufft2d_type2_with(x, y, f, Nufft2dType2Options::new().eps(EPS).isign(isign)),
            [x, y, z] => d.nufft3d_type2_with(x, y, z, f, Nufft3dType2Options::new().eps(EPS).isign(isign)),
            _ => Err(Error::argument("test", "no points")),
        });
        let (shape, numbers) = ([&front[..], &[count]].concat(), modes(n_modes));
        let two_by_sums: Transform = Box::new(move |d, p, f| {
            let modes: Vec<_> = numbers.iter().map(|k| d.constant(k.clone())).collect();
            waves(d, &modes, &d.reshape(f, &shape[..])?, p, isign)
        });
        same(points.clone(), &spectrum, two, two_by_sums);
        let three: Transform = Box::new(move |d, p, c| match p {
            [x, s] => d.nufft1d_type3_with(x, c, s, Nufft1dType3Options::new().eps(EPS).isign(isign)),
            [x, y, s, t] => d.nufft2d_type3_with(x, y, c, s, t, Nufft2dType3Options::new().eps(EPS).isign(isign)),
            [x, y, z, s, t, u] => {
                d.nufft3d_type3_with(x, y, z, c, s, t, u, Nufft3dType3Options::new().eps(EPS).isign(isign))
            }
            _ => Err(Error::argument("test", "no points")),
        });
        let three_by_sums: Transform = Box::new(move |d, p, c| waves(d, &p[..axes], c, &p[axes..], isign));
        same([points, frequencies].concat(), &values, three, three_by_sums);
    }
}

/// Gradients have the dtypes of their inputs, and are close to the gradients computed in double precision.
#[test]
fn narrow_dtypes() -> Result<()> {
    let b = Numpyish::new();
    fn eigenvalues<T: WideFloat>(x: &R) -> Result<R> {
        let b = Numpyish::new();
        let x = b.astype::<T, f64>(x)?;
        // the function is a sum over all eigenvalues: the magnitude of the eigenvalue times the squared magnitude of
        // the first element of its eigenvector
        let f = |d: &Diff<Numpyish>, x: &Var<Numpyish, T>| {
            let all = d.eig(x)?;
            let first = d.square(d.abs(d.getitem(all.eigenvectors, slices![0])?)?)?;
            let first = d.astype::<f64, _>(first)?;
            d.sum(d.multiply(d.astype::<f64, _>(d.abs(all.eigenvalues)?)?, first)?, ..)
        };
        b.astype::<f64, _>(b.real(grad(&b, f, &x)?)?)
    }
    let x = b.add(noise(6, &[3, 3]), b.asarray([[3.0, 0.0, 0.0], [0.0, 6.0, 0.0], [0.0, 0.0, 9.0]])?)?;
    let wide = eigenvalues::<f64>(&x)?;
    near(&eigenvalues::<f32>(&x)?, &wide, 1e-4);
    near(&eigenvalues::<Complex<f32>>(&x)?, &wide, 1e-4);
    fn spectrum<T: Real>(x: &R) -> Result<R> {
        let b = Numpyish::new();
        let x = b.astype::<T, f64>(x)?;
        let f = |d: &Diff<Numpyish>, x: &Var<Numpyish, T>| {
            let (whole, half) = (d.fft_with(x, FftOptions::new().n(5))?, d.rfft_with(x, RfftOptions::new().n(7))?);
            let sum = d.sum(d.square(d.astype::<f64, _>(d.abs(whole)?)?)?, ..)?;
            d.add(sum, d.sum(d.square(d.astype::<f64, _>(d.abs(half)?)?)?, ..)?)
        };
        b.astype::<f64, T>(grad(&b, f, &x)?)
    }
    let x = noise(7, &[3, 6]);
    let wide = spectrum::<f64>(&x)?;
    near(&spectrum::<f32>(&x)?, &wide, 1e-4);
    near(&spectrum::<f16>(&x)?, &wide, 0.05);
    Ok(())
}

/// Checks that the gradient of `det` is the matrix of cofactors, for singular and regular matrices, and for a stack of
/// both.
fn adjugates<B: Backend>(b: &B) -> Result<()> {
    let slopes = |x: R| -> Result<R> { b.to_ndarray(&grad(b, |d, x| d.sum(d.det(x)?, ..), &b.from_ndarray(x)?)?) };
    let array = |x: Vec<f64>, shape: &[usize]| R::from_shape_vec(shape, x).unwrap();
    let of = |x: Vec<f64>, n: usize| slopes(array(x, &[n, n]));
    let check = |x: R, y: Vec<f64>| near(&x, &array(y, x.shape()), 1e-12);
    check(of(vec![1.0, 2.0, 2.0, 4.0], 2)?, vec![4.0, -2.0, -2.0, 1.0]);
    check(of(vec![0.0; 4], 2)?, vec![0.0; 4]);
    check(of(vec![0.0], 1)?, vec![1.0]);
    let cofactors = vec![-3.0, 6.0, -3.0, 6.0, -12.0, 6.0, -3.0, 6.0, -3.0];
    check(of((1..10).map(f64::from).collect(), 3)?, cofactors.clone());
    check(of(vec![1.0, 2.0, 3.0, 2.0, 4.0, 6.0, 3.0, 6.0, 9.0], 3)?, vec![0.0; 9]);
    check(of(vec![0.0; 9], 3)?, vec![0.0; 9]);
    check(of(vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0], 3)?, vec![0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
    check(of(vec![1e-110, 0.0, 0.0, 0.0, 1e-110, 0.0, 0.0, 0.0, 1e-110], 3)?, vec![0.0; 9]);
    let huge = of(vec![0.0, 0.0, 0.0, 0.0, 1e110, 0.0, 0.0, 0.0, 1e110], 3)?;
    assert!((huge[[0, 0]] / 1e220 - 1.0).abs() < 1e-12, "{huge}");
    // a stack of a singular and a regular matrix
    let stack = array(vec![1.0, 2.0, 2.0, 4.0, 1.0, 2.0, 3.0, 4.0], &[2, 2, 2]);
    check(slopes(stack)?, vec![4.0, -2.0, -2.0, 1.0, 4.0, -3.0, -2.0, 1.0]);
    // single precision, complex matrices, and the second derivatives of x00 x11 - x01 x10, the determinant
    let single = b.from_ndarray(array((1..10).map(f64::from).collect(), &[3, 3]).mapv(|x| x as f32).into_shared())?;
    let got = b.to_ndarray(&grad(b, |d, x| d.sum(d.det(x)?, ..), &single)?)?;
    assert!(got.iter().zip(&cofactors).all(|(x, y)| (f64::from(*x) - y).abs() < 1e-4), "{got}");
    let i = Complex::new(0.0, 1.0);
    let x = C::from_shape_vec(vec![2, 2], vec![1.0.into(), 2.0 * i, 2.0.into(), 4.0 * i]).unwrap();
    let got = grad(b, |d, x| d.sum(d.real(d.det(x)?)?, ..), &b.from_ndarray(x)?)?;
    // gradients of complex matrices are the conjugates of the derivatives
    let expected = [-4.0 * i, Complex::from(-2.0), 2.0 * i, Complex::from(1.0)];
    let got = b.to_vec(&got)?;
    assert!(got.iter().zip(expected).all(|(x, y)| (x - y).norm() < 1e-12), "{got:?}");
    for x in [vec![1.0, 2.0, 2.0, 4.0], vec![0.0; 4], vec![1.0, 2.0, 3.0, 4.0]] {
        let x = b.from_ndarray(array(x, &[2, 2]))?;
        let second = b.to_ndarray(&hessian(b, |d, x| d.sum(d.det(x)?, ..), &x)?)?;
        let mut expected = R::zeros(second.shape());
        for (place, value) in [([0, 0, 1, 1], 1.0), ([1, 1, 0, 0], 1.0), ([0, 1, 1, 0], -1.0), ([1, 0, 0, 1], -1.0)] {
            expected[&place[..]] = value;
        }
        near(&second, &expected, 1e-9);
    }
    Ok(())
}

#[test]
fn determinants_of_singular_matrices_have_gradients() -> Result<()> {
    adjugates(&Numpyish::new())?;
    match Torch::cpu() {
        Ok(b) => adjugates(&b),
        Err(_) => Ok(()),
    }
}

#[test]
fn a_system_by_its_cholesky_factor() -> Result<()> {
    let b = Numpyish::new();
    let x = noise(3, &[3, 3]);
    let h = b.add(b.matmul(&x, b.matrix_transpose(&x)?)?, b.eye::<f64>(3)?)?;
    let (y, w) = (noise(4, &[3, 2]), noise(5, &[3, 2]));
    type Matrix = Var<Numpyish, f64>;
    type Solver<'f> = &'f dyn Fn(&Diff<Numpyish>, &Matrix, &Matrix) -> Result<Matrix>;
    let by = |f: Solver| grad(&b, |d, (x, y)| d.sum(d.multiply(f(d, x, y)?, &d.constant(w.clone()))?, ..), (&h, &y));
    let symmetric = |d: &Diff<Numpyish>, x: &Var<Numpyish, f64>| d.multiply(d.add(x, d.matrix_transpose(x)?)?, 0.5);
    let direct = by(&|d, x, y| d.solve(symmetric(d, x)?, y))?;
    for upper in [false, true] {
        let factor = CholeskyOptions::new().upper(upper);
        let solve = CholeskySolveOptions::new().upper(upper);
        let got = by(&|d, x, y| d.cholesky_solve_with(d.cholesky_with(symmetric(d, x)?, factor)?, y, solve))?;
        near(&got.0, &direct.0, 1e-11);
        near(&got.1, &direct.1, 1e-11);
    }
    Ok(())
}
