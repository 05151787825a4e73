//! The minimal residual method, for Hermitian operators that need not be definite.

use super::{
    monitor::{Monitor, squares},
    passes::Pass,
    scale::epsilon,
    system::{System, magnitudes, ratio},
};
use backends::{Backend, Result, WideFloat, expr};

/// MINRES (Paige and Saunders, "Solution of sparse indefinite systems of linear equations", SIAM J. Numer. Anal. 12, 1975), with a Hermitian positive definite
/// preconditioner. Beside the directions of the unknowns it carries their products with the operator, so that the residual is known as an array and its length is that of the
/// system itself with a preconditioner, too.
pub(super) fn minres<B: Backend, T: WideFloat>(
    s: &System<'_, B, T>,
    pass: Pass<'_, B, T>,
    monitor: &mut Monitor<'_, '_, B, T>,
) -> Result<B::Array<T>> {
    let b = s.b;
    let Pass { mut r, rr, z, mut az, unknowns, .. } = pass;
    let mut x = b.zeros_like(&r)?;
    // vectors of Lanczos' recurrence, without their lengths `beta`, and the products of the preconditioner with them
    let (mut v, mut v_before) = (r.clone(), x.clone());
    let mut z = match z {
        Some(z) => z,
        None => s.precondition(&r)?,
    };
    let (zero, one) = (b.zeros_like(&rr)?, b.ones_like(&rr)?);
    let (mut beta, mut beta_before) = (b.sqrt(s.dot(&v, &z)?)?, one.clone());
    // the last two rotations, and what is left of the right side
    let ((mut cos, mut cos_before), (mut sin, mut sin_before)) = ((one.clone(), one.clone()), (zero.clone(), zero));
    let mut left = beta.clone();
    // directions, and the products of the operator with them
    let ((mut d, mut d_before), (mut ad, mut ad_before)) = ((x.clone(), x.clone()), (x.clone(), x.clone()));
    let mut plateaus = Plateaus::new(squares(b, &rr)?);
    loop {
        let inverse = ratio(b, &one, &beta)?;
        let unit = expr!(b, z * inverse)?;
        let p = match az.take() {
            Some(az) => expr!(b, az * inverse)?,
            None => s.apply(&unit)?,
        };
        let alpha = s.dot(&unit, &p)?;
        let (along, back) = (expr!(b, alpha * inverse)?, ratio(b, &beta, &beta_before)?);
        let next = expr!(b, p - along * v - back * v_before)?;
        (v_before, v) = (v, next);
        z = s.precondition(&v)?;
        let next_beta = b.sqrt(s.dot(&v, &z)?)?;
        // the next column of the triangle
        let diagonal = expr!(b, cos * alpha - cos_before * sin * beta)?;
        let above = expr!(b, sin * alpha + cos_before * cos * beta)?;
        let far = expr!(b, sin_before * beta)?;
        let length = expr!(b, sqrt(diagonal * diagonal + next_beta * next_beta))?;
        (cos_before, cos) = (cos, ratio(b, &diagonal, &length)?);
        (sin_before, sin) = (sin, ratio(b, &next_beta, &length)?);
        let per_length = ratio(b, &one, &length)?;
        let new = expr!(b, per_length * (unit - far * d_before - above * d))?;
        (d_before, d) = (d, new);
        let new = expr!(b, per_length * (p - far * ad_before - above * ad))?;
        (ad_before, ad) = (ad, new);
        let step = expr!(b, cos * left)?;
        s.advance(monitor, &mut x, &step, &d)?;
        expr!(b, r -= step * ad)?;
        left = expr!(b, -sin * left)?;
        (beta_before, beta) = (beta, next_beta);
        let rr = squares(b, &s.dot(&r, &r)?)?;
        let goes_on = monitor.observe(&rr, Some(&|| unknowns(&x)))?;
        if !goes_on {
            return Ok(x);
        }
        if plateaus.are_long(rr) {
            // whether the residual is one that no `x` makes smaller
            let ar = s.apply(&r)?;
            let (of_product, of_residual) = (squares(b, &s.dot(&ar, &ar)?)?, squares(b, &s.dot(&r, &r)?)?);
            let sizes = magnitudes(b, &length)?;
            for (i, size) in sizes.into_iter().enumerate() {
                if of_product[i].sqrt() <= epsilon::<T>().sqrt() * size * of_residual[i].sqrt() {
                    monitor.break_off(i, "A r is 0: the operator is singular, and no x gives a part of the right side");
                }
            }
            if !(0..of_product.len()).any(|i| monitor.is_running(i)) {
                return Ok(x);
            }
        }
    }
}

/// Iterations in a row that have left a residual as it was, but for rounding.
struct Plateaus {
    lengths: Vec<usize>,
    previous: Vec<f64>,
}

impl Plateaus {
    const LONG: usize = 6;

    fn new(previous: Vec<f64>) -> Self {
        Plateaus { lengths: vec![0; previous.len()], previous }
    }

    /// Whether one of them has become long.
    fn are_long(&mut self, residual_sq: Vec<f64>) -> bool {
        for ((length, rr), previous) in self.lengths.iter_mut().zip(&residual_sq).zip(&self.previous) {
            *length = if *rr >= (1.0 - 1e-6) * previous { *length + 1 } else { 0 };
        }
        self.previous = residual_sq;
        self.lengths.iter().any(|length| *length > 0 && length % Self::LONG == 0)
    }
}
