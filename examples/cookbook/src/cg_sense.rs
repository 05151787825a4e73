//! CG-SENSE.
//!
//! Reconstructs an image from the signals of several coils of a magnetic resonance scanner at arbitrary frequencies, by
//! non-uniform Fourier transforms and conjugate gradients (Pruessmann et al., 2001).

use backends::{Backend, Precision, Result, expr};

/// The image (rows, columns), from signals (coils, n) at n frequencies (`ky`, `kx`) in radians per pixel. `coils`
/// (coils, rows, columns) are the sensitivities, and `density` (n,) weighs the frequencies.
pub fn cg_sense<B: Backend, T: Precision>(
    b: &B, signals: &B::Array<T::Complex>, [ky, kx, density]: [&B::Array<T>; 3], coils: &B::Array<T::Complex>,
    steps: usize,
) -> Result<B::Array<T::Complex>> {
    let size = &b.shape(coils)[1..];
    let adjoint = |signals: &B::Array<T::Complex>| {
        expr!(b, sum(conj(coils) * nufft2d_type1(ky, kx, signals * density, size, eps = 1e-9), 0))
    };
    let normal = |image: &B::Array<T::Complex>| adjoint(&expr!(b, nufft2d_type2(ky, kx, coils * image, eps = 1e-9))?);
    let square = |x: &B::Array<T::Complex>| b.item(expr!(b, sum(real(x) * *2 + imag(x) * *2, ..))?);
    let mut r = adjoint(signals)?;
    let (mut image, mut p, mut rr) = (b.zeros_like(&r)?, r.clone(), square(&r)?);
    for _ in 0..steps {
        let q = normal(&p)?;
        let a = rr / b.item(expr!(b, real(vecdot(flatten(p), flatten(q))))?)?;
        expr!(b, image += a * p)?;
        expr!(b, r -= a * q)?;
        let last = std::mem::replace(&mut rr, square(&r)?);
        p = expr!(b, r + rr / last * p)?;
    }
    Ok(image)
}
