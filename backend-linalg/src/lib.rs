//! Factorizations of one matrix in double precision, by [faer]: what the CPU backend runs for each matrix of a batch.
//!
//! Matrices are slices, column by column. The library is generic; here it is compiled for `f64` and `Complex<f64>`, once, and in a
//! crate of its own, so that a change of the backends does not compile it again. Elements of single precision are computed in
//! double.
//!
//! Every function runs on the thread that calls it, so that results do not depend on the number of threads.

#[cfg(feature = "faer")]
mod cholesky;
#[cfg(feature = "faer")]
mod eigen;
#[cfg(feature = "faer")]
mod lu;
#[cfg(feature = "faer")]
mod qr;
#[cfg(feature = "faer")]
mod room;
#[cfg(feature = "faer")]
mod scale;
#[cfg(feature = "faer")]
mod svd;
#[cfg(all(test, feature = "faer"))]
mod tests;
#[cfg(not(feature = "faer"))]
mod without;

use std::fmt::Debug;
#[cfg(not(feature = "faer"))]
use without::{cholesky, eigen, lu, qr, svd};

/// A complex number.
#[allow(non_camel_case_types)] // its name in faer
pub type c64 = num_complex::Complex<f64>;

/// Why there is no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The matrix has no inverse: a pivot is 0.
    Singular,
    /// A pivot of a Cholesky factorization is not above 0.
    NotPositiveDefinite,
    /// The iteration came to no end.
    NoConvergence,
    /// So many bytes of memory were refused.
    Memory(usize),
    /// The library was left out when this was built.
    NotBuilt,
}

/// What an operation on one matrix gives.
pub type Result<V> = std::result::Result<V, Failure>;

mod sealed {
    pub trait Sealed {}
    impl Sealed for f64 {}
    impl Sealed for super::c64 {}
}

/// The dtypes that matrices are factorized in: `f64` and `Complex<f64>`.
pub trait Scalar: sealed::Sealed + Copy + Debug + Default + PartialEq + Send + Sync + 'static {
    /// 1
    const ONE: Self;

    /// The complex conjugate.
    fn conj(self) -> Self;

    /// The real part.
    fn re(self) -> Self;

    /// The magnitude.
    fn magnitude(self) -> f64;

    /// `self * other`
    fn times(self, other: Self) -> Self;

    /// `self / by`
    fn over(self, by: f64) -> Self;

    /// `self * factor`
    fn by(self, factor: f64) -> Self;

    /// The larger magnitude of the real and the imaginary part; NaN where one is NaN.
    fn largest_part(self) -> f64;

    /// The lower Cholesky factor of an `n` by `n` matrix, in its place; the part above the diagonal and
    /// imaginary parts on it are not read and become 0.
    fn cholesky(a: &mut [Self], n: usize) -> Result<()>;

    /// The solution of `a x = b` for `k` columns, in place of `b`. `a` becomes its factors.
    fn solve(a: &mut [Self], b: &mut [Self], n: usize, k: usize) -> Result<()>;

    /// The determinant; `a` becomes its factors.
    fn determinant(a: &mut [Self], n: usize) -> Result<Determinant<Self>>;

    /// The solution of `a x = b` for `k` columns, in place of `b`, where `a` is a triangle: the lower or the upper one of the
    /// matrix, with ones on its diagonal where `unit` says so. What is not read of `a` may be changed.
    fn solve_triangular(a: &mut [Self], b: &mut [Self], n: usize, k: usize, lower: bool, unit: bool) -> Result<()>;

    /// Factors of an `m` by `n` matrix: `q` with orthonormal columns, as many as it has room for, and above the diagonal of
    /// `a` the other one. What is below the diagonal of `a` becomes 0.
    fn qr(a: &mut [Self], q: &mut [Self], m: usize, n: usize) -> Result<()>;

    /// Singular values of an `m` by `n` matrix, the largest first, and its singular vectors where there is room for them: the
    /// columns of `u`, as many as it has room for, and of `v`.
    fn svd(a: &[Self], s: &mut [f64], vectors: Option<[&mut [Self]; 2]>, m: usize, n: usize) -> Result<()>;

    /// Eigenvalues of a Hermitian matrix, of which the lower triangle is read, the least first, and eigenvectors as the columns
    /// of `v`. Imaginary parts on the diagonal of `a` become 0.
    fn eigh(a: &mut [Self], w: &mut [f64], v: Option<&mut [Self]>, n: usize) -> Result<()>;

    /// Eigenvalues of any square matrix, and eigenvectors of length 1 as the columns of `v`.
    fn eig(a: &[Self], w: &mut [c64], v: Option<&mut [c64]>, n: usize) -> Result<()>;
}

/// A determinant, also as what does not overflow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Determinant<T> {
    /// Itself.
    pub value: T,
    /// Itself by its magnitude, or 0.
    pub sign: T,
    /// The logarithm of its magnitude.
    pub log: f64,
}

macro_rules! scalar {
    ($t:ty, $one:expr, conj($x:ident) = $conj:expr, re($z:ident) = $re:expr, magnitude($y:ident) = $magnitude:expr,
     largest($p:ident) = $largest:expr, eig = $eig:path) => {
        impl Scalar for $t {
            const ONE: $t = $one;

            fn conj(self) -> $t {
                let $x = self;
                $conj
            }

            fn re(self) -> $t {
                let $z = self;
                $re
            }

            fn magnitude(self) -> f64 {
                let $y = self;
                $magnitude
            }

            fn times(self, other: $t) -> $t {
                self * other
            }

            fn over(self, by: f64) -> $t {
                self / by
            }

            fn by(self, factor: f64) -> $t {
                self * factor
            }

            fn largest_part(self) -> f64 {
                let $p = self;
                $largest
            }

            fn cholesky(a: &mut [$t], n: usize) -> Result<()> {
                cholesky::lower(a, n)
            }

            fn solve(a: &mut [$t], b: &mut [$t], n: usize, k: usize) -> Result<()> {
                lu::solve(a, b, n, k)
            }

            fn determinant(a: &mut [$t], n: usize) -> Result<Determinant<$t>> {
                lu::determinant(a, n)
            }

            fn solve_triangular(a: &mut [$t], b: &mut [$t], n: usize, k: usize, lower: bool, unit: bool) -> Result<()> {
                lu::solve_triangular(a, b, n, k, lower, unit)
            }

            fn qr(a: &mut [$t], q: &mut [$t], m: usize, n: usize) -> Result<()> {
                qr::qr(a, q, m, n)
            }

            fn svd(a: &[$t], s: &mut [f64], vectors: Option<[&mut [$t]; 2]>, m: usize, n: usize) -> Result<()> {
                svd::svd(a, s, vectors, m, n)
            }

            fn eigh(a: &mut [$t], w: &mut [f64], v: Option<&mut [$t]>, n: usize) -> Result<()> {
                eigen::hermitian(a, w, v, n)
            }

            fn eig(a: &[$t], w: &mut [c64], v: Option<&mut [c64]>, n: usize) -> Result<()> {
                $eig(a, w, v, n)
            }
        }
    };
}
scalar!(f64, 1.0, conj(x) = x, re(x) = x, magnitude(x) = x.abs(), largest(x) = x.abs(), eig = eigen::real);
scalar!(
    c64,
    c64::new(1.0, 0.0),
    conj(x) = c64::new(x.re, -x.im),
    re(x) = c64::new(x.re, 0.0),
    magnitude(x) = x.re.hypot(x.im),
    largest(x) = if x.re.abs() > x.im.abs() || x.re.is_nan() { x.re.abs() } else { x.im.abs() },
    eig = eigen::complex
);
