//! Tests linear algebra by its definitions on every library of this machine. For example, the product of a matrix's
//! factors must be the matrix; large matrices and batches are tested, too. Cases without a solution must be errors with
//! the same text on all libraries.

use backends::{DTypeKind, Error, Index, Result, prelude::*, runtime::available};

/// Normally distributed numbers, with an imaginary part if `T` is complex.
fn noise<B: Backend, T: WideFloat>(b: &B, seed: u64, shape: &[usize]) -> B::Array<T> {
    let host = Numpyish::new();
    host.seed(seed);
    let part = |by: f64| {
        let x = host.random_normal::<f64>(shape).unwrap();
        host.astype::<T, _>(&x).unwrap().mapv(|x| x.times(T::from_f64(by)))
    };
    let x = part(1.0);
    let x = match T::DTYPE.kind() {
        DTypeKind::Complex => {
            let i = T::from_complex(Complex::new(0.0, 1.0));
            let y = part(0.5);
            ndarray::Zip::from(&x).and(&y).map_collect(|x, y| x.plus(y.times(i)))
        }
        _ => x,
    };
    b.from_ndarray(x.into_shared()).unwrap()
}

fn adjoint<B: Backend, T: WideFloat>(b: &B, x: &B::Array<T>) -> B::Array<T> {
    b.conj(b.matrix_transpose(x).unwrap()).unwrap()
}

/// Asserts that two arrays agree to the precision of the dtype, relative to the largest element.
fn near<B: Backend, T: WideFloat>(b: &B, x: &B::Array<T>, y: &B::Array<T>, what: &str) {
    assert_eq!(b.shape(x), b.shape(y), "{what}");
    let tolerance = if matches!(T::DTYPE, DType::Float32 | DType::Complex64) { 2e-4 } else { 1e-11 };
    let largest = |x: &B::Array<T>| b.item(b.max(b.abs(x).unwrap(), ..).unwrap()).unwrap().cast::<f64>();
    if b.shape(x).contains(&0) {
        return;
    }
    let off = largest(&b.subtract(x, y).unwrap());
    assert!(off <= tolerance * largest(y).max(1.0), "{what} on {}, {}: off by {off}", B::NAME, T::DTYPE);
}

fn real<B: Backend, T: WideFloat>(b: &B, x: &B::Array<T::Real>) -> B::Array<T> {
    b.astype::<T, _>(x).unwrap()
}

/// Shapes of single matrices and of batches of matrices.
fn shapes() -> Vec<Vec<usize>> {
    [&[1, 1][..], &[4, 4], &[6, 3], &[3, 6], &[40, 40], &[30, 65], &[2, 3, 5, 4], &[2, 34, 33], &[300, 3, 3]]
        .map(<[usize]>::to_vec)
        .into()
}

fn factors<B: Backend, T: WideFloat>(b: &B) {
    for shape in shapes() {
        let backwards = b.flip(noise::<B, T>(b, 1, &shape), -1).unwrap();
        for x in [noise::<B, T>(b, 2, &shape), backwards] {
            let what = format!("{shape:?}");
            let (m, n) = (shape[shape.len() - 2], shape[shape.len() - 1]);
            let identity = |n: usize| {
                let all = [&shape[..shape.len() - 2], &[n, n]].concat();
                b.broadcast_to(b.eye::<T>(n).unwrap(), all).unwrap()
            };
            for mode in [QrMode::Reduced, QrMode::Complete] {
                let QrResult { q, r } = b.qr_with(&x, QrOptions::new().mode(mode)).unwrap();
                near(b, &b.matmul(&q, &r).unwrap(), &x, &what);
                let inner = if mode == QrMode::Complete { m } else { m.min(n) };
                near(b, &b.matmul(adjoint(b, &q), &q).unwrap(), &identity(inner), &what);
                near(b, &b.triu(&r).unwrap(), &r, &what);
            }
            let SvdResult { u, s, vh } = b.svd_with(&x, SvdOptions::new().full_matrices(false)).unwrap();
            let scaled = b.multiply(&u, &b.expand_dims(real::<B, T>(b, &s), -2).unwrap()).unwrap();
            near(b, &b.matmul(&scaled, &vh).unwrap(), &x, &what);
            near(b, &real::<B, T>(b, &b.svdvals(&x).unwrap()), &real::<B, T>(b, &s), &what);
            let inverse = b.pinv(&x).unwrap();
            let back = b.matmul(b.matmul(&x, &inverse).unwrap(), &x).unwrap();
            near(b, &back, &x, &what);
            if m == n {
                square(b, &x, &identity(n), &what);
            }
        }
    }
}

fn square<B: Backend, T: WideFloat>(b: &B, x: &B::Array<T>, identity: &B::Array<T>, what: &str) {
    near(b, &b.matmul(x, b.inv(x).unwrap()).unwrap(), identity, what);
    let SlogdetResult { sign, logabsdet } = b.slogdet(x).unwrap();
    let det = b.multiply(&sign, &real::<B, T>(b, &b.exp(&logabsdet).unwrap())).unwrap();
    let ratio = b.divide(&b.det(x).unwrap(), &det).unwrap();
    near(b, &ratio, &b.ones_like(&ratio).unwrap(), what);

    // a positive definite Hermitian matrix
    let h = b.add(&b.matmul(x, adjoint(b, x)).unwrap(), identity).unwrap();
    let EighResult { eigenvalues, eigenvectors } = b.eigh(&h).unwrap();
    let scaled = b.multiply(&eigenvectors, &b.expand_dims(real::<B, T>(b, &eigenvalues), -2).unwrap()).unwrap();
    near(b, &b.matmul(&scaled, adjoint(b, &eigenvectors)).unwrap(), &h, what);
    let lower = b.cholesky(&h).unwrap();
    near(b, &b.matmul(&lower, adjoint(b, &lower)).unwrap(), &h, what);
    let upper = b.cholesky_with(&h, CholeskyOptions::new().upper(true)).unwrap();
    near(b, &upper, &adjoint(b, &lower), what);
    let solved = b.solve_triangular_with(&lower, &h, SolveTriangularOptions::new().lower(true)).unwrap();
    near(b, &solved, &adjoint(b, &lower), what);
    near(b, &b.solve(&h, x).unwrap(), &b.matmul(b.inv(&h).unwrap(), x).unwrap(), what);
}

fn eigenvectors<B: Backend, T: WideFloat<Complex: WideFloat>>(b: &B) {
    for shape in [&[1, 1][..], &[2, 2], &[20, 20], &[2, 3, 5, 5], &[100, 3, 3]] {
        let x = noise::<B, T>(b, 3, shape);
        let EigResult { eigenvalues, eigenvectors } = b.eig(&x).unwrap();
        let wide = b.astype::<T::Complex, _>(&x).unwrap();
        let scaled = b.multiply(&eigenvectors, &b.expand_dims(&eigenvalues, -2).unwrap()).unwrap();
        near(b, &b.matmul(&wide, &eigenvectors).unwrap(), &scaled, &format!("{shape:?}"));
        let traces = b.sum(b.eigvals(&x).unwrap(), -1).unwrap();
        near(b, &traces, &b.astype::<T::Complex, _>(b.trace(&x).unwrap()).unwrap(), &format!("{shape:?}"));
    }
}

fn least_squares<B: Backend, T: WideFloat>(b: &B) {
    // if the system has more unknowns than equations, the solution is exact and has the smallest norm of all exact
    // solutions
    let (x, y) = (noise::<B, T>(b, 4, &[3, 5]), noise::<B, T>(b, 5, &[3]));
    let LstsqResult { solution, rank, .. } = b.lstsq(&x, &y).unwrap();
    near(b, &b.matmul(&x, &solution).unwrap(), &y, "an exact solution");
    near(b, &solution, &b.matmul(b.pinv(&x).unwrap(), &y).unwrap(), "of the smallest norm");
    assert_eq!(b.item(rank).unwrap(), 3);
    // solutions, ranks and singular values agree with those of other ops: for matrices of full rank, for stacks in which
    // one matrix or all have not, and for zeros
    let stack = noise::<B, T>(b, 11, &[3, 6, 4]);
    let is_second = b.asarray([[[1.0]], [[0.0]], [[1.0]]]).unwrap();
    let one_zero = b.multiply(&stack, b.astype::<T, _>(&is_second).unwrap()).unwrap();
    let low_rank = b.matmul(noise::<B, T>(b, 6, &[9, 2]), noise::<B, T>(b, 7, &[2, 5])).unwrap();
    let mut all: Vec<_> = shapes().iter().map(|shape| noise::<B, T>(b, 10, shape)).collect();
    all.extend([stack, one_zero, b.matrix_transpose(&low_rank).unwrap(), low_rank, b.zeros::<T>([4, 3]).unwrap()]);
    for x in all {
        let shape = b.shape(&x).to_vec();
        let rows = shape[shape.len() - 2];
        for sides in [&[rows][..], &[rows, 2]] {
            let (y, what) = (noise::<B, T>(b, 12, sides), format!("least squares {shape:?} and {sides:?}"));
            let found = b.lstsq(&x, &y).unwrap();
            near::<B, T>(b, &found.solution, &b.matmul(b.pinv(&x).unwrap(), &y).unwrap(), &what);
            let values = [&found.singular_values, &b.svdvals(&x).unwrap()].map(|s| real::<B, T>(b, s));
            near::<B, T>(b, &values[0], &values[1], &what);
            assert!(b.array_equal(&found.rank, b.matrix_rank(&x).unwrap()).unwrap(), "{what}");
        }
    }
    // with this tolerance, singular matrices may count as of full rank
    b.lstsq_with(b.ones::<T>([3, 2]).unwrap(), b.ones::<T>([3]).unwrap(), LstsqOptions::new().rtol(0.0)).unwrap();
    // a batch of matrices of rank 2
    let x = b.matmul(noise::<B, T>(b, 6, &[4, 7, 2]), noise::<B, T>(b, 7, &[2, 6])).unwrap();
    assert_eq!(b.to_vec(b.matrix_rank(&x).unwrap()).unwrap(), [2; 4]);
    // the exponential of a skew-Hermitian matrix is unitary, and equals the squared exponential of half the matrix
    let x = noise::<B, T>(b, 8, &[3, 6, 6]);
    let skew = b.subtract(&x, &adjoint(b, &x)).unwrap();
    let power = b.expm(&skew).unwrap();
    let identity = b.broadcast_to(b.eye::<T>(6).unwrap(), [3, 6, 6]).unwrap();
    near(b, &b.matmul(&power, adjoint(b, &power)).unwrap(), &identity, "unitary");
    let half = b.expm(b.multiply(&skew, T::from_f64(0.5)).unwrap()).unwrap();
    near(b, &b.matmul(&half, &half).unwrap(), &power, "half");
}

/// Returns the text of the error. Panics if `result` is not an error.
fn error<V>(result: Result<V>) -> String {
    result.map(drop).unwrap_err().to_string()
}

fn refusals<B: Backend>(b: &B) {
    let ones = b.ones::<f64>([2, 3, 3]).unwrap();
    let sides = b.ones::<f64>([3]).unwrap();
    assert_eq!(error(b.solve(&ones, &sides)), "solve: a matrix is singular, but must be invertible");
    assert_eq!(error(b.inv(&ones)), "inv: a matrix is singular, but must be invertible");
    assert_eq!(error(b.matrix_power(&ones, -2)), "matrix_power: a matrix is singular, but must be invertible");
    assert_eq!(error(b.cholesky(&ones)), "cholesky: a matrix is not positive definite");
    let zero = b.multiply(&ones, 0.0).unwrap();
    assert_eq!(
        error(b.solve_triangular(&zero, &sides)),
        "solve_triangular: a matrix is singular, but must be invertible"
    );
    assert_eq!(b.to_vec(b.det(&ones).unwrap()).unwrap(), [0.0; 2]);
    let SlogdetResult { sign, logabsdet } = b.slogdet(&zero).unwrap();
    assert_eq!((b.to_vec(sign).unwrap(), b.to_vec(logabsdet).unwrap()), (vec![0.0; 2], vec![f64::NEG_INFINITY; 2]));
    assert!(error(b.solve(&sides, &sides)).starts_with("solve: shape [3]"));

    // a matrix with NaN or infinite elements gives an error or a result, but does not cause an endless loop
    for unknown in [f64::NAN, f64::INFINITY] {
        let mut x = b.eye::<f64>(3).unwrap();
        b.set(&mut x, [Index::Slice(1.into()), Index::Slice(0.into())], unknown).unwrap();
        let finite = |op: &str| format!("{op}: an element is infinite or NaN, but all must be finite");
        assert_eq!(error(b.svd(&x)), finite("svd"));
        assert_eq!(error(b.svdvals(&x)), finite("svdvals"));
        assert_eq!(error(b.eigh(&x)), finite("eigh"));
        assert_eq!(error(b.eigvalsh(&x)), finite("eigvalsh"));
        assert_eq!(error(b.eig(&x)), finite("eig"));
        assert_eq!(error(b.eigvals(&x)), finite("eigvals"));
        assert_eq!(error(b.pinv(&x)), finite("pinv"));
        assert_eq!(error(b.cholesky(&x)), "cholesky: a matrix is not positive definite");
        b.qr(&x).unwrap();
        b.expm(&x).map_or_else(|why| assert_eq!(why.op(), Some("expm")), drop);
        // `eigh` reads only the lower triangle
        assert!(b.eigh(&b.matrix_transpose(&x).unwrap()).is_ok());
    }
}

/// Asserts that two lists agree to a relative tolerance.
#[track_caller]
fn alike(x: &[f64], y: &[f64], tolerance: f64, what: &str) {
    let is_near = |x: f64, y: f64| x == y || (x - y).abs() <= tolerance * y.abs();
    assert!(x.len() == y.len() && x.iter().zip(y).all(|(&x, &y)| is_near(x, y)), "{what}: {x:?} in place of {y:?}");
}

/// Tests matrices with very small or very large elements. A matrix that is multiplied by `scale` has singular values
/// and eigenvalues that are multiplied by `scale`.
fn ends<B: Backend>(b: &B) {
    let list = |x: Result<B::Array<f64>>| b.to_vec(x.unwrap()).unwrap();
    for scale in [1e-200, 1e-155, 1.0, 1e153, 1e155, 1e200, 1e307] {
        let what = format!("{scale} on {}", B::NAME);
        let x = b.asarray([[2.0 * scale, scale], [scale, 3.0 * scale]]).unwrap();
        let (s, scaled) = ([3.618033988749895, 1.381966011250105], |x: [f64; 2]| x.map(|x| x * scale));
        alike(&list(b.svdvals(&x)), &scaled(s), 1e-14, &what);
        alike(&list(b.svd(&x).map(|all| all.s)), &scaled(s), 1e-14, &what);
        let largest = list(b.matrix_norm_with(&x, MatrixNormOptions::new().ord(MatrixNorm::Two)));
        alike(&largest, &[s[0] * scale], 1e-14, &what);
        alike(&list(b.eigvalsh(&x)), &scaled([s[1], s[0]]), 1e-14, &what);
        let y = b.asarray([5.0 * scale, 5.0 * scale]).unwrap();
        alike(&list(b.solve(&x, &y)), &[2.0, 1.0], 1e-14, &what);
        let found = b.lstsq(&x, &y).unwrap();
        alike(&list(Ok(found.solution)), &[2.0, 1.0], 1e-13, &what);
        let product = list(b.matmul(b.pinv(&x).unwrap(), &x).and_then(|x| b.add(x, 1.0)));
        alike(&product, &[2.0, 1.0, 1.0, 2.0], 1e-13, &what);
        assert_eq!(b.item(b.matrix_rank(&x).unwrap()).unwrap(), 2, "{what}");
    }
    let same = b.full([2, 2], 1.17e154).unwrap();
    assert_eq!(b.item(b.matrix_rank(&same).unwrap()).unwrap(), 1);
    alike(&list(b.svdvals(&same))[..1], &[2.34e154], 1e-14, "equal elements");
    alike(&list(b.pinv(&same)), &[1.0 / 4.68e154; 4], 1e-13, "equal elements");
}

/// Tests the shapes of the residuals of `lstsq`, and tolerances that differ between the matrices of a stack.
fn stacks<B: Backend>(b: &B) {
    let tall = noise::<B, f64>(b, 5, &[5, 3]);
    let wide = noise::<B, f64>(b, 6, &[3, 5]);
    let flat = b.outer(b.asarray([1.0, 2.0, 3.0, 4.0]).unwrap(), b.asarray([1.0, 2.0]).unwrap()).unwrap();
    let residuals = |x: &B::Array<f64>, sides: &[usize]| {
        let y = noise::<B, f64>(b, 7, sides);
        let all = b.lstsq(x, &y).unwrap();
        let off = b.square(b.subtract(b.matmul(x, &all.solution).unwrap(), &y).unwrap()).unwrap();
        (b.to_vec(&all.residuals).unwrap(), b.to_vec(b.sum(off, 0).unwrap()).unwrap(), b.shape(&all.rank).to_vec())
    };
    let (got, expected, rank) = residuals(&tall, &[5, 2]);
    alike(&got, &expected, 1e-12, B::NAME);
    assert_eq!(rank, [0_usize; 0]);
    let (got, expected, _) = residuals(&tall, &[5]);
    alike(&got, &expected, 1e-12, B::NAME);
    assert_eq!((got.len(), residuals(&wide, &[3, 2]).0.len(), residuals(&flat, &[4, 2]).0.len()), (1, 0, 0));
    let of_stack = b.lstsq(noise::<B, f64>(b, 5, &[4, 5, 3]), noise::<B, f64>(b, 7, &[5, 2])).unwrap();
    assert_eq!(b.shape(&of_stack.residuals), [4, 2]);

    let x = b.asarray([[[1.0, 0.0], [0.0, 0.1]], [[2.0, 0.0], [0.0, 0.4]]]).unwrap();
    let rtols = b.asarray([0.2, 0.15]).unwrap();
    let rank = b.matrix_rank_with(&x, MatrixRankOptions::new().rtols(&rtols)).unwrap();
    assert_eq!(b.to_vec(&rank).unwrap(), [1, 2]);
    let inverse = b.pinv_with(&x, PinvOptions::new().rtols(&rtols)).unwrap();
    alike(&b.to_vec(&inverse).unwrap(), &[1.0, 0.0, 0.0, 0.0, 0.5, 0.0, 0.0, 2.5], 1e-14, B::NAME);
    let one = b.asarray(0.3).unwrap();
    let rank = b.matrix_rank_with(&x, MatrixRankOptions::new().rtols(&one)).unwrap();
    assert_eq!(b.to_vec(&rank).unwrap(), [1, 1]);
    let three = b.asarray([0.1; 3]).unwrap();
    let refused = error(b.pinv_with(&x, PinvOptions::new().rtols(&three)));
    assert_eq!(refused, "pinv: shapes [2, 2, 2] and [3] do not fit");
    let both = error(b.matrix_rank_with(&x, MatrixRankOptions::new().rtols(&one).rtol(0.1)));
    assert_eq!(both, "matrix_rank: `rtol` and `rtols` are both given");
}

/// `cholesky_solve` agrees with `solve`, for vectors, for several right-hand sides and for stacks.
fn factors_of_systems<B: Backend, T: WideFloat>(b: &B) {
    for shape in [&[1, 1][..], &[4, 4], &[2, 3, 3]] {
        let (n, x) = (shape[shape.len() - 1], noise::<B, T>(b, 8, shape));
        let h = b.add(b.matmul(&x, adjoint::<B, T>(b, &x)).unwrap(), b.eye::<T>(n).unwrap()).unwrap();
        for sides in [&[n][..], &[n, 2], &[2, n, 3]] {
            let y = noise::<B, T>(b, 9, sides);
            let solved = b.solve(&h, &y).unwrap();
            let what = format!("{shape:?} and {sides:?}");
            near::<B, T>(b, &b.cholesky_solve(b.cholesky(&h).unwrap(), &y).unwrap(), &solved, &what);
            let upper = b.cholesky_with(&h, CholeskyOptions::new().upper(true)).unwrap();
            let by_upper = b.cholesky_solve_with(&upper, &y, CholeskySolveOptions::new().upper(true)).unwrap();
            near::<B, T>(b, &by_upper, &solved, &what);
        }
    }
    let (zero, y) = (b.zeros::<T>([2, 2]).unwrap(), b.ones::<T>([2]).unwrap());
    assert_eq!(error(b.cholesky_solve(&zero, &y)), "cholesky_solve: a matrix is singular, but must be invertible");
    let refused = error(b.cholesky_solve(&zero, b.ones::<T>([3]).unwrap()));
    assert_eq!(refused, "cholesky_solve: shapes [2, 2] and [3] do not fit");
}

/// Defines the tests for each library.
macro_rules! on_every_library {
    ($($name:ident: $backend:expr;)*) => {$(
        mod $name {
            use super::*;

            #[test]
            fn definitions() {
                let backend = $backend;
                let Some(b) = available(stringify!($name), backend.as_ref().map_err(Error::clone)) else { return };
                factors::<_, f64>(b);
                factors::<_, Complex<f64>>(b);
                factors::<_, f32>(b);
                factors::<_, Complex<f32>>(b);
                eigenvectors::<_, f64>(b);
                eigenvectors::<_, f32>(b);
                eigenvectors::<_, Complex<f64>>(b);
                least_squares::<_, f64>(b);
                least_squares::<_, f32>(b);
                least_squares::<_, Complex<f64>>(b);
            }

            #[test]
            fn what_has_no_answer() {
                let backend = $backend;
                let Some(b) = available(stringify!($name), backend.as_ref().map_err(Error::clone)) else { return };
                refusals(b);
            }

            #[test]
            fn the_ends_of_the_range_and_stacks() {
                let backend = $backend;
                let Some(b) = available(stringify!($name), backend.as_ref().map_err(Error::clone)) else { return };
                ends(b);
                stacks(b);
                factors_of_systems::<_, f64>(b);
                factors_of_systems::<_, Complex<f32>>(b);
            }
        }
    )*};
}
on_every_library! {
    numpyish: Result::Ok(Numpyish::new());
    torch: Torch::cpu().map(AnyBackend::from);
    cuda: Cuda::new(0).map(AnyBackend::from);
}
