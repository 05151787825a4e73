//! Conjugate gradients, for Hermitian definite operators; biconjugate gradients; and conjugate gradients on the normal equations.

use super::{
    monitor::{Monitor, squares},
    system::{System, ratio},
};
use backends::{ArrayAttributes, Backend, Error, Result, WideFloat, expr};

/// Conjugate gradients (Hestenes and Stiefel 1952), in the form of Shewchuk, "An Introduction to the Conjugate Gradient Method Without the Agonizing Pain".
pub(super) fn cg<B: Backend, T: WideFloat>(
    s: &System<'_, B, T>,
    monitor: &mut Monitor<'_, '_, B, T>,
) -> Result<B::Array<T>> {
    let b = s.b;
    let (mut x, mut r) = s.start()?;
    let mut rr = s.dot(&r, &r)?;
    if !monitor.start(&squares(b, &s.dot(s.y, s.y)?)?, squares(b, &rr)?) {
        return Ok(x);
    }
    let mut p = s.precondition(&r)?;
    let mut rho = if s.is_preconditioned() { s.dot(&r, &p)? } else { rr.clone() };
    loop {
        let q = s.apply(&p)?;
        let alpha = ratio(b, &rho, &s.dot(&p, &q)?)?;
        s.advance(monitor, &mut x, &alpha, &p)?;
        expr!(b, r -= alpha * q)?;
        rr = s.dot(&r, &r)?;
        if !monitor.observe(&squares(b, &rr)?, Some(&x)) {
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

/// Conjugate gradients whose steps and directions come from the products that they are to make 0, and not from `r.r`: for operators that are not
/// quite linear or symmetric, at two sums more in each iteration.
pub(super) fn cg_adaptive<B: Backend, T: WideFloat>(
    s: &System<'_, B, T>,
    monitor: &mut Monitor<'_, '_, B, T>,
) -> Result<B::Array<T>> {
    let b = s.b;
    let (mut x, mut r) = s.start()?;
    let rr = s.dot(&r, &r)?;
    if !monitor.start(&squares(b, &s.dot(s.y, s.y)?)?, squares(b, &rr)?) {
        return Ok(x);
    }
    let mut p = s.precondition(&r)?;
    loop {
        let q = s.apply(&p)?;
        let pq = s.dot(&p, &q)?;
        let alpha = ratio(b, &s.dot(&p, &r)?, &pq)?;
        s.advance(monitor, &mut x, &alpha, &p)?;
        expr!(b, r -= alpha * q)?;
        let rr = s.dot(&r, &r)?;
        if !monitor.observe(&squares(b, &rr)?, Some(&x)) {
            return Ok(x);
        }
        let z = s.precondition(&r)?;
        let beta = ratio(b, &s.dot(&q, &z)?, &pq)?;
        expr!(b, p = z - beta * p)?;
    }
}

/// Biconjugate gradients (Fletcher 1976), of any operator whose adjoint is known.
pub(super) fn bicg<B: Backend, T: WideFloat>(
    s: &System<'_, B, T>,
    monitor: &mut Monitor<'_, '_, B, T>,
) -> Result<B::Array<T>> {
    let b = s.b;
    let (mut x, mut r) = s.start()?;
    let rr = s.dot(&r, &r)?;
    if !monitor.start(&squares(b, &s.dot(s.y, s.y)?)?, squares(b, &rr)?) {
        return Ok(x);
    }
    // with a `~` in the books: the same of the adjoint system
    let mut r2 = r.clone();
    let mut p = s.precondition(&r)?;
    let mut p2 = s.precondition_adjoint(&r2)?;
    let mut rho = s.dot(&r2, &p)?;
    loop {
        let q = s.apply(&p)?;
        let q2 = s.adjoint(&p2, "biCG")?;
        let alpha = ratio(b, &rho, &s.dot(&p2, &q)?)?;
        s.advance(monitor, &mut x, &alpha, &p)?;
        expr!(b, r -= alpha * q)?;
        let rr = s.dot(&r, &r)?;
        if !monitor.observe(&squares(b, &rr)?, Some(&x)) {
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

/// Conjugate gradients on the normal equations `A^H A x = A^H y`, without the product of the matrices (CGLS; Björck, "Numerical Methods for Least Squares
/// Problems", section 7.4): the `x` nearest to `x0` of those with the least `|y - A x|`. The second result is the residual `y - A x`.
pub(super) fn cgls<B: Backend, T: WideFloat>(
    s: &System<'_, B, T>,
    of_rows: &System<'_, B, T>,
    x0: Option<&B::Array<T>>,
    right: &B::Array<T>,
    monitor: &mut Monitor<'_, '_, B, T>,
) -> Result<(B::Array<T>, B::Array<T>)> {
    let b = s.b;
    let y = of_rows.y;
    let (mut x, mut r, mut g) = match x0 {
        None => (b.zeros_like(right)?, y.clone(), right.clone()),
        Some(x0) => {
            let ax = s.forward(x0)?;
            if ax.shape() != y.shape() {
                return Err(Error::shapes(super::OP, ax.shape(), y.shape()));
            }
            let r = expr!(b, y - ax)?;
            let g = s.adjoint(&r, "least squares")?;
            (x0.clone(), r, g)
        }
    };
    let mut gg = s.dot(&g, &g)?;
    if !monitor.start(&squares(b, &s.dot(right, right)?)?, squares(b, &gg)?) {
        return Ok((x, r));
    }
    let mut p = g.clone();
    loop {
        let q = s.forward(&p)?;
        if q.shape() != y.shape() {
            return Err(Error::shapes(super::OP, q.shape(), y.shape()));
        }
        // one number for each system, with as many axes as the rows have, and as the unknowns have
        let alpha_rows = ratio(b, &b.reshape(&gg, of_rows.numbers_shape())?, &of_rows.dot(&q, &q)?)?;
        let alpha = b.reshape(&alpha_rows, s.numbers_shape())?;
        s.advance(monitor, &mut x, &alpha, &p)?;
        of_rows.advance(monitor, &mut r, &b.negative(alpha_rows)?, &q)?;
        g = s.adjoint(&r, "least squares")?;
        let new = s.dot(&g, &g)?;
        if !monitor.observe(&squares(b, &new)?, Some(&x)) {
            return Ok((x, r));
        }
        let beta = ratio(b, &new, &gg)?;
        expr!(b, p = g + beta * p)?;
        gg = new;
    }
}
