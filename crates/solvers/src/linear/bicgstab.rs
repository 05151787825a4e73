//! The method biCG-stab(l), for operators that map a space to itself (square matrices).

use super::{
    monitor::{Monitor, squares},
    pass::Pass,
    scale::epsilon,
    system::{System, magnitudes, ratio},
};
use backends::{ArrayAttributes, Backend, Result, WideFloat, expr};

/// A residual counts as vanished if its length, relative to its length at the start of the iteration, is at most this
/// multiple of the dtype's epsilon.
const GONE: f64 = 1e3;
/// A vector counts as linearly dependent on earlier vectors if orthogonalization against them leaves at most this
/// multiple of the dtype's epsilon, as a fraction of the vector's length.
const DEPENDENT: f64 = 16.0;

/// biCG-stab(l): Sleijpen and Fokkema, "BiCGstab(l) for linear equations involving unsymmetric matrices with complex
/// spectrum", ETNA 1 (1993), algorithm 3.1. Each iteration makes `l` steps of biCG and minimises the residual over a
/// polynomial of degree `l`, with two products with the operator per step. The shadow residual is the first residual,
/// unless `pass` contains another shadow residual. The preconditioner is applied on the right, so the residuals belong
/// to the original system.
///
/// `l` is limited to the number of unknowns. With `l` of three or more, the residual may vanish before the last step,
/// for matrices with few distinct eigenvalues. The lengths of the remaining steps are then set to 0, because these
/// steps would only amplify rounding errors.
pub(super) fn bicgstab<B: Backend, T: WideFloat>(
    s: &System<'_, B, T>,
    pass: Pass<'_, B, T>,
    l: usize,
    monitor: &mut Monitor<'_, '_, B, T>,
) -> Result<B::Array<T>> {
    let b = s.b;
    let Pass { r, rr, mut az, shadow, unknowns, .. } = pass;
    let n: usize = r.shape()[s.batch..].iter().product();
    let l = l.min(n).max(1);
    let shadow = shadow.unwrap_or_else(|| r.clone());
    let product = |u: &B::Array<T>| if s.is_preconditioned() { s.apply(&s.precondition(u)?) } else { s.apply(u) };
    // with a preconditioner `M`, the solution of the system is `M x`
    let mut x = b.zeros_like(&r)?;
    let mut rs = vec![r];
    let mut us = vec![b.zeros_like(&x)?];
    let one = b.ones_like(&rr)?;
    let (mut rho, mut alpha, mut omega) = (one.clone(), b.zeros_like(&one)?, one);
    let mut rr = rr;
    let gone = (GONE * epsilon::<T>()).powi(2);
    loop {
        expr!(b, rho = -omega * rho)?;
        for j in 0..l {
            let new = s.dot(&shadow, &rs[j])?;
            let beta = expr!(b, where(rho == 0, 0, alpha * new / rho))?;
            rho = new;
            for (u, r) in us.iter_mut().zip(&rs) {
                expr!(b, *u = r - beta * u)?;
            }
            us.push(match az.take() {
                Some(product) => product,
                None => product(&us[j])?,
            });
            alpha = ratio(b, &rho, &s.dot(&shadow, &us[j + 1])?)?;
            if l > 2 && j > 0 {
                let left = s.dot(&rs[0], &rs[0])?;
                expr!(b, alpha = where(abs(left) <= gone * abs(rr), 0, alpha))?;
            }
            for (r, u) in rs.iter_mut().zip(&us[1..]) {
                expr!(b, *r -= alpha * u)?;
            }
            rs.push(product(&rs[j])?);
            s.advance(monitor, &mut x, &alpha, &us[0])?;
        }
        omega = minimize_residual(s, monitor, &mut x, &mut rs, &mut us)?;
        rr = s.dot(&rs[0], &rs[0])?;
        let seen = || unknowns(&x);
        let seen = (!s.is_preconditioned()).then_some(&seen as &dyn Fn() -> Result<B::Array<T>>);
        if !monitor.observe(&squares(b, &rr)?, seen)? {
            break;
        }
        if monitor.is_stalled() {
            let [steps, minimisations] = [magnitudes(b, &alpha)?, magnitudes(b, &omega)?];
            let sums: Vec<f64> = steps.iter().zip(&minimisations).map(|(a, o)| a + o).collect();
            if !monitor.break_down(&sums, "the products of r~ and A p, and of r and A r, are 0") {
                break;
            }
        }
    }
    s.precondition(&x)
}

/// Minimises the residual `r_0` over the span of `r_1 .. r_l`, by modified Gram-Schmidt. Ignores vectors that are
/// linearly dependent on earlier vectors up to rounding. Returns the coefficient omega of the paper, and truncates `rs`
/// and `us` to one vector each.
fn minimize_residual<B: Backend, T: WideFloat>(
    s: &System<'_, B, T>,
    monitor: &mut Monitor<'_, '_, B, T>,
    x: &mut B::Array<T>,
    rs: &mut Vec<B::Array<T>>,
    us: &mut Vec<B::Array<T>>,
) -> Result<B::Array<T>> {
    let b = s.b;
    let l = rs.len() - 1;
    let dependent = (DEPENDENT * epsilon::<T>()).powi(2);
    // for each vector r_1 .. r_l (index 0 belongs to r_1): `tau` holds its components along the preceding vectors,
    // `sigma` its squared length, and `first` the component of r_0 along this vector
    let mut tau: Vec<Vec<B::Array<T>>> = Vec::with_capacity(l);
    let mut sigma: Vec<B::Array<T>> = Vec::with_capacity(l);
    let mut first: Vec<B::Array<T>> = Vec::with_capacity(l);
    for j in 1..=l {
        let mut parts = Vec::with_capacity(j - 1);
        for i in 1..j {
            let part = ratio(b, &s.dot(&rs[i], &rs[j])?, &sigma[i - 1])?;
            let (before, after) = rs.split_at_mut(j);
            let (r, rj) = (&before[i], &mut after[0]);
            expr!(b, *rj -= part * r)?;
            parts.push(part);
        }
        let mut square = s.dot(&rs[j], &rs[j])?;
        if j > 1 {
            // the squared length of `r_j` before the projections
            let mut before = square.clone();
            for (part, of) in parts.iter().zip(&sigma) {
                expr!(b, before += conj(part) * part * of)?;
            }
            expr!(b, square = where(abs(square) <= dependent * abs(before), 0, square))?;
        }
        sigma.push(square);
        first.push(ratio(b, &s.dot(&rs[j], &rs[0])?, &sigma[j - 1])?);
        tau.push(parts);
    }
    // `first` holds coefficients of the orthogonalized vectors, and `gamma` coefficients of the original vectors r_j;
    // `shifted` (gamma'' in the paper) holds the coefficients of r_1 .. r_(l-1) in the update of `x`
    let mut gamma = first.clone();
    for j in (0..l).rev() {
        for i in j + 1..l {
            let (g, t) = (gamma[i].clone(), &tau[i][j]);
            let of = &mut gamma[j];
            expr!(b, *of -= t * g)?;
        }
    }
    let mut shifted: Vec<B::Array<T>> = gamma[1..].to_vec();
    for j in 0..l.saturating_sub(1) {
        for i in j + 1..l - 1 {
            let (t, g, of) = (&tau[i][j], &gamma[i + 1], &mut shifted[j]);
            expr!(b, *of += t * g)?;
        }
    }
    s.advance(monitor, x, &gamma[0], &rs[0])?;
    for (g, r) in shifted.iter().zip(&rs[1..]) {
        s.advance(monitor, x, g, r)?;
    }
    let (r, others) = rs.split_at_mut(1);
    for (g, other) in first.iter().zip(&*others) {
        let r = &mut r[0];
        expr!(b, *r -= g * other)?;
    }
    let (u, others) = us.split_at_mut(1);
    for (g, other) in gamma.iter().zip(&*others) {
        let u = &mut u[0];
        expr!(b, *u -= g * other)?;
    }
    rs.truncate(1);
    us.truncate(1);
    Ok(gamma.swap_remove(l - 1))
}
