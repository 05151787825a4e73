//! The minimal residual method (MINRES), for Hermitian operators that may be indefinite.

use super::{
    monitor::{Monitor, squares},
    pass::Pass,
    scale::epsilon,
    system::{System, ratio},
};
use backends::{Backend, Result, WideFloat, expr};

/// The best unknowns so far, for systems whose operator is singular. Such a system may have no solution. The iterations
/// then approach a least-squares solution, for which `A r` is nearly 0 (`r` is the residual), and later move away from
/// it: the component of `x` in the null space grows until the rounding errors of `A x` are as large as the residual.
/// Therefore, the unknowns with the least ratio `|A r| / (|A| |r|)` are stored. They are the result of the solve if `x`
/// grows that much.
struct Kept<B: Backend, T: WideFloat> {
    /// The stored unknowns, which had the least ratio so far.
    x: B::Array<T>,
    /// Copy of the field `x` from the last check at which the unknowns of the iteration were small enough: the rounding
    /// errors of their product with the operator were below 1/16 of the residual of the stored unknowns.
    short: B::Array<T>,
    /// The ratio `|A r| / (|A| |r|)` for the stored unknowns, in the norm of the preconditioner. It is infinite if
    /// unknowns with any ratio below `LOW` may replace them.
    ratios: Vec<f64>,
    /// `r.r` of the stored unknowns.
    residual_sq: Vec<f64>,
    /// `r.r` after the last iteration.
    previous_sq: Vec<f64>,
    /// True if the ratio has risen or `x` has grown since the unknowns were stored. Both indicate divergence, but also
    /// occur in systems with a solution; no other unknowns are stored afterwards.
    rises: Vec<bool>,
    iterations: usize,
}

/// Unknowns are stored only if their ratio `|A r| / (|A| |r|)` is below this number.
const LOW: f64 = 0.1;
/// The ratio counts as risen if it exceeds the ratio of the stored unknowns by this factor.
const RISE: f64 = 32.0;
/// Number of iterations between checks whether `x` is too large.
const EVERY: usize = 8;

/// The largest ratio `|A r| / (|A| |r|)` with which unknowns count as a least-squares solution.
fn least<T: WideFloat>() -> f64 {
    16.0 * epsilon::<T>().sqrt()
}

impl<B: Backend, T: WideFloat> Kept<B, T> {
    fn new(x: &B::Array<T>, residual_sq: Vec<f64>) -> Self {
        let n = residual_sq.len();
        Kept {
            x: x.clone(),
            short: x.clone(),
            ratios: vec![f64::INFINITY; n],
            previous_sq: residual_sq.clone(),
            residual_sq,
            rises: vec![false; n],
            iterations: 0,
        }
    }

    /// Updates the stored unknowns after an iteration. `before` are the unknowns before the iteration, and `ratio_sq`
    /// are the squares of their ratios `|A r| / (|A| |r|)`; `rr` is `r.r` after the iteration. Returns true if the
    /// length of `x` is to be checked.
    fn see(&mut self, s: &System<'_, B, T>, before: &B::Array<T>, ratio_sq: &[f64], rr: &[f64]) -> Result<bool> {
        let mut takes = vec![false; rr.len()];
        for (i, take) in takes.iter_mut().enumerate() {
            let ratio = ratio_sq[i].sqrt();
            // the residual has decreased so much since the unknowns were stored that any newer unknowns are better
            let is_old = self.previous_sq[i] < 1e-2 * self.residual_sq[i];
            self.rises[i] |= self.ratios[i] <= least::<T>() && ratio > RISE * self.ratios[i];
            if is_old || ratio < LOW.min(self.ratios[i]) && !self.rises[i] {
                *take = true;
                self.ratios[i] = if ratio < LOW { ratio } else { f64::INFINITY };
                self.residual_sq[i] = self.previous_sq[i];
                // with a ratio this small no `x` reduces the residual, so no other unknowns are stored afterwards
                self.rises[i] = ratio <= 100.0 * epsilon::<T>();
            }
        }
        if takes.contains(&true) {
            self.x = s.select(&takes, before, &self.x)?;
        }
        self.iterations += 1;
        let comes_down = rr.iter().zip(&self.residual_sq).any(|(rr, kept)| *rr < 1e-2 * kept);
        self.previous_sq = rr.to_vec();
        Ok(comes_down || self.iterations == 1 || self.iterations.is_multiple_of(EVERY))
    }

    /// Returns true for the systems whose unknowns are so large that the rounding errors of `A x` reach the residual of
    /// the stored unknowns. `p` is the operator's product with `v`.
    fn are_lost(
        &mut self,
        s: &System<'_, B, T>,
        x: &B::Array<T>,
        (v, p): (&B::Array<T>, &B::Array<T>),
    ) -> Result<Vec<bool>> {
        let b = s.b;
        let n = self.ratios.len();
        let mut sizes = s.sizes.borrow_mut();
        sizes.resize(n, 0.0);
        let numbers = squares(b, &b.stack(&[s.dot(x, x)?, s.dot(v, v)?, s.dot(p, p)?])?)?;
        let (mut short, mut lost) = (vec![true; n], vec![false; n]);
        for (i, size) in sizes.iter_mut().enumerate() {
            *size = size.max((numbers[2 * n + i] / numbers[n + i]).sqrt());
            let rounding = epsilon::<T>() * *size * numbers[i].sqrt();
            let (residual, now) = (self.residual_sq[i].sqrt(), self.previous_sq[i].sqrt());
            short[i] = 16.0 * rounding < residual;
            self.rises[i] |= !short[i];
            // `x` is too large in two cases. Either the rounding errors of `A x` reach the residual of the stored
            // unknowns. Or these errors reach 1/16 of this residual, and the iteration nevertheless reports a residual
            // below a tenth of it. NaN counts as too large
            let is_true = rounding < residual && (short[i] || now >= 0.1 * residual);
            lost[i] = !is_true && self.ratios[i] <= least::<T>();
        }
        self.short = s.select(&short, &self.x, &self.short)?;
        Ok(lost)
    }

    /// Ends the systems for which `systems` is true, with the stored unknowns as their results. `first` is the residual
    /// for unknowns of 0. Returns the unknowns of all systems.
    fn end(
        &self,
        s: &System<'_, B, T>,
        monitor: &mut Monitor<'_, '_, B, T>,
        systems: &[bool],
        (x, first): (&B::Array<T>, &B::Array<T>),
    ) -> Result<B::Array<T>> {
        for i in (0..systems.len()).filter(|&i| systems[i]) {
            monitor.break_off(i, "x is as large as rounding allows: the operator is singular, or nearly so");
        }
        let b = s.b;
        let lengths = |x: &B::Array<T>| {
            let ax = s.apply(x)?;
            s.lengths(&expr!(b, first - ax)?)
        };
        // `self.x` may be newer than `self.short`, and too large; so the unknowns with the shorter residual are used
        let (last, short) = (lengths(&self.x)?, lengths(&self.short)?);
        let takes: Vec<bool> = last.iter().zip(&short).map(|(last, short)| last <= short).collect();
        let best = s.select(&takes, &self.x, &self.short)?;
        let others: Vec<bool> = systems.iter().map(|is| !is).collect();
        s.select(&others, x, &best)
    }
}

/// True for the systems whose `x` is a least-squares solution: the product `A r` is nearly 0, where `r` is the residual
/// computed from `x`.
pub(super) fn are_least_squares<B: Backend, T: WideFloat>(
    s: &System<'_, B, T>,
    r: &B::Array<T>,
    x: &B::Array<T>,
) -> Result<Vec<bool>> {
    let b = s.b;
    let ar = s.apply(r)?;
    let numbers = squares(b, &b.stack(&[s.dot(&ar, &ar)?, s.dot(r, r)?, s.dot(x, x)?])?)?;
    let (n, sizes) = (numbers.len() / 3, s.sizes.borrow());
    let is_one = |i: usize| {
        let size = sizes.get(i).copied().unwrap_or(0.0);
        let [of_product, of_residual, of_x] = [numbers[i], numbers[n + i], numbers[2 * n + i]].map(f64::sqrt);
        // the rounding errors of `A x`, limited to 5 % of the residual
        let rounding = (16.0 * epsilon::<T>() * size * of_x).min(0.05 * of_residual);
        of_product <= size * (least::<T>() * of_residual + rounding)
    };
    Ok((0..n).map(is_one).collect())
}

/// MINRES (Paige and Saunders, "Solution of sparse indefinite systems of linear equations", SIAM J. Numer. Anal. 12,
/// 1975), with a Hermitian positive definite preconditioner. It stores the search directions, and also the operator's
/// products with them. So it can update the residual of the original system as an array, and knows the norm of this
/// residual even with a preconditioner.
pub(super) fn minres<B: Backend, T: WideFloat>(
    s: &System<'_, B, T>,
    pass: Pass<'_, B, T>,
    monitor: &mut Monitor<'_, '_, B, T>,
) -> Result<B::Array<T>> {
    let b = s.b;
    let Pass { mut r, rr, z, mut az, unknowns, .. } = pass;
    let (first, mut x) = (r.clone(), b.zeros_like(&r)?);
    // the Lanczos vectors before division by their lengths `beta`, and the preconditioner's products with these vectors
    let (mut v, mut v_before) = (r.clone(), x.clone());
    let mut z = match z {
        Some(z) => z,
        None => s.precondition(&r)?,
    };
    let (zero, one) = (b.zeros_like(&rr)?, b.ones_like(&rr)?);
    let (mut beta, mut beta_before) = (b.sqrt(s.dot(&v, &z)?)?, one.clone());
    // the cosines and sines of the last two rotations; `left` is the last element of the rotated right side
    let ((mut cos, mut cos_before), (mut sin, mut sin_before)) = ((one.clone(), one.clone()), (zero.clone(), zero));
    let mut left = beta.clone();
    // the search directions, and the operator's products with them
    let ((mut d, mut d_before), (mut ad, mut ad_before)) = ((x.clone(), x.clone()), (x.clone(), x.clone()));
    let residual_sq = squares(b, &rr)?;
    let (mut plateaus, mut kept) = (Plateaus::new(residual_sq.clone()), Kept::new(&x, residual_sq));
    // the square of the operator's norm, estimated by the recurrences of this pass and of earlier passes
    let mut size_sq = match s.size_sq.take() {
        Some(size_sq) => size_sq,
        None => b.zeros_like(&beta)?,
    };
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
        // the next column of the triangular matrix
        let diagonal = expr!(b, cos * alpha - cos_before * sin * beta)?;
        let above = expr!(b, sin * alpha + cos_before * cos * beta)?;
        let far = expr!(b, sin_before * beta)?;
        let length = expr!(b, sqrt(diagonal * diagonal + next_beta * next_beta))?;
        let column_sq = expr!(b, alpha * alpha + next_beta * next_beta)?;
        expr!(b, size_sq = where(abs(column_sq) > abs(size_sq), column_sq, size_sq))?;
        // `|A r| / (|A| |r|)` for the residual before the step, squared
        let ratio_sq =
            expr!(b, where(size_sq == 0, 0, (diagonal * diagonal + cos * cos * next_beta * next_beta) / size_sq))?;
        (cos_before, cos) = (cos, ratio(b, &diagonal, &length)?);
        (sin_before, sin) = (sin, ratio(b, &next_beta, &length)?);
        let per_length = ratio(b, &one, &length)?;
        let new = expr!(b, per_length * (unit - far * d_before - above * d))?;
        (d_before, d) = (d, new);
        let new = expr!(b, per_length * (p - far * ad_before - above * ad))?;
        (ad_before, ad) = (ad, new);
        let step = expr!(b, cos * left)?;
        let before = x.clone();
        s.advance(monitor, &mut x, &step, &d)?;
        expr!(b, r -= step * ad)?;
        left = expr!(b, -sin * left)?;
        (beta_before, beta) = (beta, next_beta);
        // copies both arrays at once, so that the host waits for the device only once
        let numbers = squares(b, &b.stack(&[s.dot(&r, &r)?, ratio_sq])?)?;
        let (rr, ratio_sq) = numbers.split_at(numbers.len() / 2);
        let running: Vec<bool> = (0..rr.len()).map(|i| monitor.is_running(i)).collect();
        let is_due = kept.see(s, &before, ratio_sq, rr)?;
        let goes_on = monitor.observe(rr, Some(&|| unknowns(&x)))?;
        let mut ended = if is_due || !goes_on { kept.are_lost(s, &x, (&unit, &p))? } else { vec![false; rr.len()] };
        if plateaus.are_long(rr.to_vec()) {
            // a system also ends if `A r` is 0 up to rounding, because then no `x` reduces the residual
            let ar = s.apply(&r)?;
            let (of_product, sizes) = (squares(b, &s.dot(&ar, &ar)?)?, s.sizes.borrow());
            for (i, rr) in rr.iter().enumerate() {
                ended[i] |= of_product[i].sqrt() <= 16.0 * epsilon::<T>() * sizes[i] * rr.sqrt();
            }
        }
        ended.iter_mut().zip(&running).for_each(|(ended, running)| *ended &= running);
        if ended.contains(&true) {
            x = kept.end(s, monitor, &ended, (&x, &first))?;
        }
        if !(0..rr.len()).any(|i| monitor.is_running(i)) {
            s.size_sq.replace(Some(size_sq));
            return Ok(x);
        }
    }
}

/// For each system, the number of successive iterations that left the residual unchanged up to rounding.
struct Plateaus {
    lengths: Vec<usize>,
    previous: Vec<f64>,
}

impl Plateaus {
    const LONG: usize = 6;

    fn new(previous: Vec<f64>) -> Self {
        Plateaus { lengths: vec![0; previous.len()], previous }
    }

    /// Records the residuals of an iteration. Returns true each time the plateau of a system has lasted for `LONG` more
    /// iterations.
    fn are_long(&mut self, residual_sq: Vec<f64>) -> bool {
        for ((length, rr), previous) in self.lengths.iter_mut().zip(&residual_sq).zip(&self.previous) {
            *length = if *rr >= (1.0 - 1e-6) * previous { *length + 1 } else { 0 };
        }
        self.previous = residual_sq;
        self.lengths.iter().any(|length| *length > 0 && length % Self::LONG == 0)
    }
}
