//! Fourier shell correlation.
//!
//! Measures how far two reconstructions of one particle agree, for each spatial frequency.

use backends::{Backend, Precision, Result, expr};

/// The correlation (n / 2,) of two volumes of shape (n, n, n), whose element k belongs to k periods per n voxels.
pub fn fourier_shell_correlation<B: Backend, T: Precision>(
    b: &B, first: &B::Array<T>, second: &B::Array<T>,
) -> Result<B::Array<T>> {
    let n = b.shape(first)[0];
    let (f, g) = (expr!(b, fftn(first))?, expr!(b, fftn(second))?);
    let k = expr!(b, n * fftfreq::<T>(n))?;
    let radius = expr!(b, sqrt(square(k[.., None, None]) + square(k[.., None]) + square(k)))?;
    let shells = expr!(b, flatten(astype::<i64>(round(radius))))?;
    let sums = |x: B::Array<T>| expr!(b, bincount(shells, weights = flatten(x))[..n / 2]);
    let (ff, gg) = (sums(expr!(b, square(abs(f)))?)?, sums(expr!(b, square(abs(g)))?)?);
    let fg = sums(expr!(b, real(f * conj(g)))?)?;
    expr!(b, fg / sqrt(ff * gg))
}
