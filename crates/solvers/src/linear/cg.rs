//! Conjugate gradients, for Hermitian definite operators; biconjugate gradients; and conjugate gradients on the normal
//! equations.

use super::{
    monitor::{Monitor, squares},
    pass::Pass,
    scale::numbers_shape,
    system::{System, magnitudes, ratio},
};
use backends::{ArrayAttributes, Backend, Error, Result, WideFloat, expr};

/// Ends each system whose residual has stalled and for which one of the two divisors is 0; the reason is a breakdown.
/// Returns true if any system is still running.
fn still_divides<B: Backend, T: WideFloat>(
    s: &System<'_, B, T>,
    monitor: &mut Monitor<'_, '_, B, T>,
    (first, what): (&B::Array<T>, &'static str),
    (second, what_second): (&B::Array<T>, &'static str),
) -> Result<bool> {
    monitor.break_down(&magnitudes(s.b, first)?, what);
    Ok(monitor.break_down(&magnitudes(s.b, second)?, what_second))
}

/// Conjugate gradients (Hestenes and Stiefel 1952), in the form of Shewchuk, "An Introduction to the Conjugate Gradient
/// Method Without the Agonizing Pain".
pub(super) fn cg<B: Backend, T: WideFloat>(
    s: &System<'_, B, T>,
    pass: Pass<'_, B, T>,
    monitor: &mut Monitor<'_, '_, B, T>,
) -> Result<B::Array<T>> {
    let b = s.b;
    let Pass { mut r, mut rr, z, mut az, unknowns, .. } = pass;
    let mut x = b.zeros_like(&r)?;
    let mut p = match z {
        Some(z) => z,
        None => s.precondition(&r)?,
    };
    let mut rho = if s.is_preconditioned() { s.dot(&r, &p)? } else { rr.clone() };
    loop {
        let q = match az.take() {
            Some(q) => q,
            None => s.apply(&p)?,
        };
        let pq = s.dot(&p, &q)?;
        let alpha = ratio(b, &rho, &pq)?;
        s.advance(monitor, &mut x, &alpha, &p)?;
        expr!(b, r -= alpha * q)?;
        rr = s.dot(&r, &r)?;
        if !monitor.observe(&squares(b, &rr)?, Some(&|| unknowns(&x)))? {
            return Ok(x);
        }
        let broken = ((&pq, "p^H A p is 0"), (&rho, "r^H M r is 0"));
        if monitor.is_stalled() && !still_divides(s, monitor, broken.0, broken.1)? {
            return Ok(x);
        }
        if s.is_preconditioned() {
            let z = s.precondition(&r)?;
            let new = s.dot(&r, &z)?;
            let beta = ratio(b, &new, &rho)?;
            expr!(b, p = z + beta * p)?;
            rho = new;
        } else {
            let beta = ratio(b, &rr, &rho)?;
            expr!(b, p = r + beta * p)?;
            rho = rr;
        }
    }
}

/// Conjugate gradients whose step lengths and directions come from explicit orthogonality conditions instead of `r.r`.
/// It tolerates operators that are not quite linear or symmetric, at the cost of two more inner products per iteration.
pub(super) fn cg_adaptive<B: Backend, T: WideFloat>(
    s: &System<'_, B, T>,
    pass: Pass<'_, B, T>,
    monitor: &mut Monitor<'_, '_, B, T>,
) -> Result<B::Array<T>> {
    let b = s.b;
    let Pass { mut r, z, mut az, unknowns, .. } = pass;
    let mut x = b.zeros_like(&r)?;
    let mut p = match z {
        Some(z) => z,
        None => s.precondition(&r)?,
    };
    loop {
        let q = match az.take() {
            Some(q) => q,
            None => s.apply(&p)?,
        };
        let pq = s.dot(&p, &q)?;
        let alpha = ratio(b, &s.dot(&p, &r)?, &pq)?;
        s.advance(monitor, &mut x, &alpha, &p)?;
        expr!(b, r -= alpha * q)?;
        let rr = s.dot(&r, &r)?;
        if !monitor.observe(&squares(b, &rr)?, Some(&|| unknowns(&x)))? {
            return Ok(x);
        }
        if monitor.is_stalled() && !monitor.break_down(&magnitudes(b, &pq)?, "p^H A p is 0") {
            return Ok(x);
        }
        let z = s.precondition(&r)?;
        let beta = ratio(b, &s.dot(&q, &z)?, &pq)?;
        expr!(b, p = z - beta * p)?;
    }
}

/// Biconjugate gradients (Fletcher 1976), for any operator with a known adjoint.
pub(super) fn bicg<B: Backend, T: WideFloat>(
    s: &System<'_, B, T>,
    pass: Pass<'_, B, T>,
    monitor: &mut Monitor<'_, '_, B, T>,
) -> Result<B::Array<T>> {
    let b = s.b;
    let Pass { mut r, z, mut az, shadow, unknowns, .. } = pass;
    let mut x = b.zeros_like(&r)?;
    // quantities of the adjoint system, which textbooks write with a `~`
    let mut r2 = shadow.unwrap_or_else(|| r.clone());
    let mut p = match z {
        Some(z) => z,
        None => s.precondition(&r)?,
    };
    let mut p2 = s.precondition_adjoint(&r2)?;
    let mut rho = s.dot(&r2, &p)?;
    loop {
        let q = match az.take() {
            Some(q) => q,
            None => s.apply(&p)?,
        };
        let q2 = s.adjoint(&p2, "biCG")?;
        let pq = s.dot(&p2, &q)?;
        let alpha = ratio(b, &rho, &pq)?;
        s.advance(monitor, &mut x, &alpha, &p)?;
        expr!(b, r -= alpha * q)?;
        let rr = s.dot(&r, &r)?;
        if !monitor.observe(&squares(b, &rr)?, Some(&|| unknowns(&x)))? {
            return Ok(x);
        }
        let broken = ((&pq, "the product of p~ and A p is 0"), (&rho, "the product of r~ and M r is 0"));
        if monitor.is_stalled() && !still_divides(s, monitor, broken.0, broken.1)? {
            return Ok(x);
        }
        expr!(b, r2 -= conj(alpha) * q2)?;
        let (z, z2) = (s.precondition(&r)?, s.precondition_adjoint(&r2)?);
        let new = s.dot(&r2, &z)?;
        let beta = ratio(b, &new, &rho)?;
        expr!(b, p = z + beta * p)?;
        expr!(b, p2 = z2 + conj(beta) * p2)?;
        rho = new;
    }
}

/// Conjugate gradients on the normal equations `A^H A x = A^H y`, without forming the matrix product (CGLS; Björck,
/// "Numerical Methods for Least Squares Problems", section 7.4). Among the `x` with the least `|y - A x|`, it finds the
/// one nearest to `x0`.
pub(super) fn cgls<B: Backend, T: WideFloat>(
    s: &System<'_, B, T>,
    pass: Pass<'_, B, T>,
    monitor: &mut Monitor<'_, '_, B, T>,
) -> Result<B::Array<T>> {
    let b = s.b;
    let Pass { r: mut g, rr: mut gg, mut az, rows, unknowns, .. } = pass;
    let Some(mut r) = rows else { return Err(Error::argument(super::OP, "least squares without rows")) };
    let mut x = b.zeros_like(&g)?;
    let mut p = g.clone();
    loop {
        let q = match az.take() {
            Some(q) => q,
            None => s.forward(&p)?,
        };
        // `gg` and `qq` have one number per system, in different shapes: `gg` broadcasts to the unknowns, and `qq` to
        // the rows of `A`. Therefore, `gg` is reshaped for the division by `qq`, and the quotient is reshaped to
        // multiply `p`
        let qq = s.dot(&q, &q)?;
        let alpha_rows = ratio(b, &b.reshape(&gg, qq.shape())?, &qq)?;
        let alpha = b.reshape(&alpha_rows, numbers_shape(x.shape(), s.batch))?;
        s.advance(monitor, &mut x, &alpha, &p)?;
        s.advance(monitor, &mut r, &b.negative(alpha_rows)?, &q)?;
        g = s.adjoint(&r, "least squares")?;
        let new = s.dot(&g, &g)?;
        if !monitor.observe(&squares(b, &new)?, Some(&|| unknowns(&x)))? {
            return Ok(x);
        }
        if monitor.is_stalled() && !monitor.break_down(&magnitudes(b, &qq)?, "A p is 0") {
            return Ok(x);
        }
        let beta = ratio(b, &new, &gg)?;
        expr!(b, p = g + beta * p)?;
        gg = new;
    }
}
