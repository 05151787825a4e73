//! Eigenvalues and eigenvectors of Hermitian, complex and real matrices.

mod divide;
mod hermitian;
mod merge;
mod ql;
mod secular;
#[cfg(test)]
mod tests;

pub(crate) use hermitian::hermitian;

use super::{
    Failure, Result, Scalar, c64,
    room::{list, matrix, matrix_mut, with_room},
    scale,
};
use faer::{
    Par, Spec,
    diag::DiagMut,
    linalg::evd::{self, ComputeEigenvectors},
};

fn wanted(is: bool) -> ComputeEigenvectors {
    if is { ComputeEigenvectors::Yes } else { ComputeEigenvectors::No }
}

pub(crate) fn complex(a: &[c64], w: &mut [c64], v: Option<&mut [c64]>, n: usize) -> Result<()> {
    if n == 0 {
        return Ok(());
    }
    let exponent = scale::needed(a.iter().copied());
    let copy = exponent.map(|e| scale::scaled_copy(a, -e)).transpose()?;
    let a = copy.as_deref().unwrap_or(a);
    let needed = evd::evd_scratch::<c64>(n, wanted(false), wanted(v.is_some()), Par::Seq, Spec::default());
    let mut v = v;
    let done = with_room(needed, |stack| {
        let v = v.as_mut().map(|v| matrix_mut(v, n, n));
        evd::evd_cplx(matrix(a, n, n), DiagMut::from_slice_mut(w), None, v, Par::Seq, stack, Spec::default())
    })?;
    done.map_err(|_| Failure::NoConvergence)?;
    if let Some(e) = exponent {
        scale::scale(w, e);
    }
    normalize(v, n);
    Ok(())
}

pub(crate) fn real(a: &[f64], w: &mut [c64], v: Option<&mut [c64]>, n: usize) -> Result<()> {
    if n == 0 {
        return Ok(());
    }
    let exponent = scale::needed(a.iter().copied());
    let copy = exponent.map(|e| scale::scaled_copy(a, -e)).transpose()?;
    let a = copy.as_deref().unwrap_or(a);
    let needed = evd::evd_scratch::<f64>(n, wanted(false), wanted(v.is_some()), Par::Seq, Spec::default());
    let (mut re, mut im) = (list(n, 0.0)?, list(n, 0.0)?);
    let mut packed = list(if v.is_some() { n * n } else { 0 }, 0.0)?;
    let done = with_room(needed, |stack| {
        let vectors = v.is_some().then(|| matrix_mut(&mut packed, n, n));
        let (re, im) = (DiagMut::from_slice_mut(&mut re), DiagMut::from_slice_mut(&mut im));
        evd::evd_real(matrix(a, n, n), re, im, None, vectors, Par::Seq, stack, Spec::default())
    })?;
    done.map_err(|_| Failure::NoConvergence)?;
    w.iter_mut().zip(re.iter().zip(&im)).for_each(|(w, (&re, &im))| *w = c64::new(re, im));
    if let Some(e) = exponent {
        scale::scale(w, e);
    }
    if let Some(v) = v {
        let column = |j: usize| &packed[j * n..][..n];
        let mut j = 0;
        while j < n {
            if im[j] == 0.0 || j + 1 == n {
                v[j * n..][..n].iter_mut().zip(column(j)).for_each(|(v, &re)| *v = c64::new(re, 0.0));
                j += 1;
                continue;
            }
            // a conjugate pair of eigenvectors: faer stores the real part in one column and the imaginary part in the
            // next column
            let parts = column(j).iter().zip(column(j + 1));
            for (i, (&re, &im)) in parts.enumerate() {
                v[j * n + i] = c64::new(re, im);
                v[(j + 1) * n + i] = c64::new(re, -im);
            }
            j += 2;
        }
        normalize(Some(v), n);
    }
    Ok(())
}

/// Scales every column to Euclidean length 1. The columns are eigenvectors.
fn normalize(v: Option<&mut [c64]>, n: usize) {
    for column in v.into_iter().flat_map(|v| v.chunks_exact_mut(n.max(1))) {
        let largest = column.iter().map(|x| x.magnitude()).fold(0.0, f64::max);
        if largest > 0.0 && largest.is_finite() {
            column.iter_mut().for_each(|x| *x /= largest);
            let length = column.iter().map(|x| x.re * x.re + x.im * x.im).sum::<f64>().sqrt();
            column.iter_mut().for_each(|x| *x /= length);
        }
    }
}
