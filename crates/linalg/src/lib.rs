//! Factorizations of matrices in double precision, most of them computed by the library [faer]. The CPU backend calls
//! these functions for each matrix, or for parts, of a batch.
//!
//! Matrices are slices in column-major order. faer is generic; this crate compiles it for `f64` and `Complex<f64>`, so
//! that changes of the other crates do not compile it again. The CPU backend converts single-precision matrices to
//! double precision.
//!
//! Functions for stacks of matrices factorize several small real matrices at a time, in vector registers. Functions
//! with a parameter `team` divide the work on a large matrix into tasks, which may run on several threads; see
//! [`Team`]. All other functions run on the calling thread. Results do not depend on the number of threads.

#[cfg(feature = "faer")]
mod cholesky;
#[cfg(feature = "faer")]
mod eigen;
#[cfg(feature = "faer")]
mod instructions;
#[cfg(feature = "faer")]
mod lanes;
#[cfg(feature = "faer")]
mod lu;
#[cfg(feature = "faer")]
mod lu_panels;
#[cfg(feature = "faer")]
mod qr;
#[cfg(feature = "faer")]
mod room;
#[cfg(feature = "faer")]
mod scale;
#[cfg(feature = "faer")]
mod small;
#[cfg(feature = "faer")]
mod svd;
mod team;
#[cfg(all(test, feature = "faer"))]
mod tests;
#[cfg(feature = "faer")]
mod tiles;
#[cfg(not(feature = "faer"))]
mod without;

use std::fmt::Debug;
pub use team::{Alone, Team};
#[cfg(not(feature = "faer"))]
use without::{cholesky, eigen, lu, qr, small, svd};

/// Number of small matrices that [`Scalar::solve_all`] and [`Scalar::determinants`] process at a time. Stacks of a
/// multiple of this number are the fastest.
pub const GROUP: usize = 8;

/// Maximum number of rows, and of right-hand sides, of matrices that are processed in groups of [`GROUP`]. If a matrix
/// has both many rows and many right-hand sides, even within this limit, a group would not fit the first-level cache,
/// and the matrices are processed one by one.
pub const SMALL: usize = 32;

/// A complex number in double precision.
#[allow(non_camel_case_types)] // the name that faer uses
pub type c64 = num_complex::Complex<f64>;

/// The reason why an operation has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The matrix is singular: a pivot is 0.
    Singular,
    /// The matrix is not positive definite: a pivot of its Cholesky factorization is not positive.
    NotPositiveDefinite,
    /// The iteration did not converge.
    NoConvergence,
    /// An allocation of this many bytes failed.
    Memory(usize),
    /// This crate was built without the feature `faer`.
    NotBuilt,
}

/// The result of an operation on one matrix, or the reason why there is no result.
pub type Result<V> = std::result::Result<V, Failure>;

mod sealed {
    pub trait Sealed: Sized {
        /// The elements, if they are real numbers.
        fn as_reals(elements: &mut [Self]) -> Option<&mut [f64]>;
    }
    impl Sealed for f64 {
        fn as_reals(elements: &mut [f64]) -> Option<&mut [f64]> {
            Some(elements)
        }
    }
    impl Sealed for super::c64 {
        fn as_reals(_: &mut [super::c64]) -> Option<&mut [f64]> {
            None
        }
    }
}

/// Element types of the factorized matrices: `f64` and `Complex<f64>`.
pub trait Scalar: sealed::Sealed + Copy + Debug + Default + PartialEq + Send + Sync + 'static {
    /// The number 1.
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

    /// The magnitude of the real or the imaginary part, whichever is larger; NaN if either part is NaN.
    fn largest_part(self) -> f64;

    /// Overwrites an `n` by `n` matrix with its lower Cholesky factor. The elements above the diagonal and the
    /// imaginary parts on the diagonal are not read, and become 0.
    fn cholesky(a: &mut [Self], n: usize, team: &dyn Team) -> Result<()>;

    /// Solves `a x = b` for an `n` by `n` matrix `a` and `k` columns in `b`. Overwrites `b` with the solution, and `a`
    /// with its LU factors.
    fn solve(a: &mut [Self], b: &mut [Self], n: usize, k: usize, team: &dyn Team) -> Result<()>;

    /// Computes the inverse of an `n` by `n` matrix `a`, and writes it to `x`. The previous content of `x` is ignored.
    /// Overwrites `a` with its LU factors. Fails like `solve` does.
    fn inverse(a: &mut [Self], x: &mut [Self], n: usize, team: &dyn Team) -> Result<()>;

    /// Solves the systems `a x = b` for each `n` by `n` matrix of the stack `a` and the `k` columns in each part of the
    /// stack `b`. Overwrites `b` with the solutions, and `a` with unspecified numbers. Matrices are stored one after
    /// another; the number of matrices is `a.len() / (n * n)`, and nothing is done if `n` is 0. The solution for a
    /// matrix does not depend on the other matrices, nor on its place in the stack. If a matrix is singular, returns an
    /// error, and the content of `b` is unspecified.
    fn solve_all(a: &mut [Self], b: &mut [Self], n: usize, k: usize, team: &dyn Team) -> Result<()> {
        let parts = b.chunks_exact_mut((n * k).max(1));
        a.chunks_exact_mut((n * n).max(1)).zip(parts).try_for_each(|(a, b)| Self::solve(a, b, n, k, team))
    }

    /// Computes the inverse of each `n` by `n` matrix of the stack `a`, and writes it to the stack `x`. The previous
    /// content of `x` is ignored. Overwrites `a` with unspecified numbers. The inverse of a matrix does not depend on
    /// the other matrices, nor on its place in the stack. Fails like `solve_all` does.
    fn inverse_all(a: &mut [Self], x: &mut [Self], n: usize, team: &dyn Team) -> Result<()> {
        let size = (n * n).max(1);
        a.chunks_exact_mut(size).zip(x.chunks_exact_mut(size)).try_for_each(|(a, x)| Self::inverse(a, x, n, team))
    }

    /// Computes the determinant of an `n` by `n` matrix. Overwrites `a` with its LU factors.
    fn determinant(a: &mut [Self], n: usize, team: &dyn Team) -> Result<Determinant<Self>>;

    /// Computes the determinant of each `n` by `n` matrix of the stack `a`, which has one matrix per element of `to`.
    /// Overwrites `a` with unspecified numbers. The determinant of a matrix does not depend on the other matrices, nor
    /// on its place in the stack.
    fn determinants(a: &mut [Self], n: usize, to: &mut [Determinant<Self>], team: &dyn Team) -> Result<()> {
        to.fill(Determinant::one());
        let matrices = a.chunks_exact_mut((n * n).max(1));
        matrices.zip(to).try_for_each(|(a, to)| Self::determinant(a, n, team).map(|found| *to = found))
    }

    /// Solves `a x = b` for a triangular `n` by `n` matrix `a` and `k` columns in `b`, and overwrites `b` with the
    /// solution. Reads only the lower triangle of `a` if `lower` is true, else only the upper triangle. If `unit` is
    /// true, the diagonal of `a` is not read, and its elements count as 1. `a` may be overwritten.
    fn solve_triangular(
        a: &mut [Self],
        b: &mut [Self],
        n: usize,
        k: usize,
        lower: bool,
        unit: bool,
        team: &dyn Team,
    ) -> Result<()>;

    /// QR factorization of an `m` by `n` matrix. Fills `q` with as many orthonormal columns as fit into it, and the
    /// upper triangle of `a` with the triangular factor. The elements of `a` below the diagonal become 0.
    fn qr(a: &mut [Self], q: &mut [Self], m: usize, n: usize, team: &dyn Team) -> Result<()>;

    /// Computes the singular values of an `m` by `n` matrix in descending order. If `vectors` has two slices `u` and
    /// `v`, also fills `u` with left and `v` with right singular vectors as columns, as many as their lengths allow.
    fn svd(a: &[Self], s: &mut [f64], vectors: Option<[&mut [Self]; 2]>, m: usize, n: usize) -> Result<()>;

    /// Computes the eigenvalues of a Hermitian `n` by `n` matrix in ascending order. If `v` is given, also fills the
    /// columns of `v` with eigenvectors. Only the lower triangle of `a` is read; it may be overwritten, and so may the
    /// rest of `a`.
    fn eigh(a: &mut [Self], w: &mut [f64], v: Option<&mut [Self]>, n: usize) -> Result<()>;

    /// Computes the eigenvalues of any `n` by `n` matrix. If `v` is given, also fills the columns of `v` with
    /// eigenvectors of length 1.
    fn eig(a: &[Self], w: &mut [c64], v: Option<&mut [c64]>, n: usize) -> Result<()>;
}

/// A determinant, with its sign and its logarithm. The value may overflow or underflow, but the sign and the logarithm
/// do not.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Determinant<T> {
    /// The determinant.
    pub value: T,
    /// The determinant divided by its magnitude; 0 if the determinant is 0.
    pub sign: T,
    /// The natural logarithm of the determinant's magnitude.
    pub log: f64,
}

impl<T: Scalar> Determinant<T> {
    /// The determinant of a singular matrix.
    pub fn zero() -> Determinant<T> {
        Determinant { value: T::default(), sign: T::default(), log: f64::NEG_INFINITY }
    }

    /// The determinant of an identity matrix, and of a matrix without elements.
    pub fn one() -> Determinant<T> {
        Determinant { value: T::ONE, sign: T::ONE, log: 0.0 }
    }
}

macro_rules! scalar {
    ($t:ty, $one:expr, conj($x:ident) = $conj:expr, re($z:ident) = $re:expr, magnitude($y:ident) = $magnitude:expr,
     largest($p:ident) = $largest:expr, eig = $eig:path; $($more:tt)*) => {
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

            fn cholesky(a: &mut [$t], n: usize, team: &dyn Team) -> Result<()> {
                cholesky::lower(a, n, team)
            }

            fn solve(a: &mut [$t], b: &mut [$t], n: usize, k: usize, team: &dyn Team) -> Result<()> {
                lu::solve(a, b, n, k, team)
            }

            fn inverse(a: &mut [$t], x: &mut [$t], n: usize, team: &dyn Team) -> Result<()> {
                lu::inverse(a, x, n, team)
            }

            fn determinant(a: &mut [$t], n: usize, team: &dyn Team) -> Result<Determinant<$t>> {
                lu::determinant(a, n, team)
            }

            fn solve_triangular(
                a: &mut [$t],
                b: &mut [$t],
                n: usize,
                k: usize,
                lower: bool,
                unit: bool,
                team: &dyn Team,
            ) -> Result<()> {
                lu::solve_triangular(a, b, n, k, lower, unit, team)
            }

            fn qr(a: &mut [$t], q: &mut [$t], m: usize, n: usize, team: &dyn Team) -> Result<()> {
                qr::qr(a, q, m, n, team)
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

            $($more)*
        }
    };
}
scalar!(
    f64,
    1.0,
    conj(x) = x,
    re(x) = x,
    magnitude(x) = x.abs(),
    largest(x) = x.abs(),
    eig = eigen::real;

    fn solve_all(a: &mut [f64], b: &mut [f64], n: usize, k: usize, team: &dyn Team) -> Result<()> {
        small::solve_all(a, b, n, k, team)
    }

    fn inverse_all(a: &mut [f64], x: &mut [f64], n: usize, team: &dyn Team) -> Result<()> {
        small::inverse_all(a, x, n, team)
    }

    fn determinants(a: &mut [f64], n: usize, to: &mut [Determinant<f64>], team: &dyn Team) -> Result<()> {
        small::determinants(a, n, to, team)
    }
);
scalar!(
    c64,
    c64::new(1.0, 0.0),
    conj(x) = c64::new(x.re, -x.im),
    re(x) = c64::new(x.re, 0.0),
    magnitude(x) = x.re.hypot(x.im),
    largest(x) = if x.re.abs() > x.im.abs() || x.re.is_nan() { x.re.abs() } else { x.im.abs() },
    eig = eigen::complex;
);
