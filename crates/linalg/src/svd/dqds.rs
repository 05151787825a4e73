//! Singular values of bidiagonal matrices, by the differential quotient difference algorithm with shifts (dqds).
//!
//! K. V. Fernando and B. N. Parlett, "Accurate singular values and differential qd algorithms", Numerische Mathematik
//! 67 (1994), and for the shifts B. N. Parlett and O. A. Marques, "An implementation of the dqds algorithm (positive
//! case)", Linear Algebra and its Applications 309 (2000).
//!
//! A sweep replaces the matrix by another bidiagonal matrix, whose squared singular values are
//! smaller by the shift. Only the squares of the elements are stored. The shift must not exceed the
//! smallest squared singular value; otherwise the sweep is repeated with a smaller shift. Nothing
//! but a shift is ever subtracted, so small singular values are accurate too.

use crate::{Failure, Result, room::list, scale};

/// The square of an off-diagonal element counts as 0 if it is at most this fraction of an eigenvalue: (16 eps)^2.
const NEGLIGIBLE: f64 = 256.0 * f64::EPSILON * f64::EPSILON;

/// The binary exponent of the largest element during the iteration. Products of four elements do
/// not overflow, and they underflow only if an element is below 1e-150 of the largest.
const EXPONENT: i32 = 248;

/// Maximum number of sweeps for each singular value. Four are usual; small clusters need up to 80.
const MAX_SWEEPS: usize = 250;

/// The squared norm of an approximate eigenvector is computed without the terms that are small. Their sum is estimated
/// as this fraction of the sum of the other terms.
const LEFT_OUT: f64 = 0.05;

/// If the squared norm is larger than this, the vector is not a good approximation.
const LARGEST_NORM: f64 = 0.563;

/// Upper bounds of the smallest eigenvalue: a sweep computes one for each row. A bound that no sweep computed is NaN.
#[derive(Clone, Copy)]
struct Bounds {
    /// The bounds of the last three rows, the last one first.
    last: [f64; 3],
    /// The smallest bound of all rows, of all rows but the last, and of all rows but the last two.
    least: [f64; 3],
}

impl Bounds {
    const UNKNOWN: Bounds = Bounds { last: [f64::NAN; 3], least: [f64::NAN; 3] };

    /// The bounds without the last row.
    fn shortened(self) -> Bounds {
        let without = |[_, second, third]: [f64; 3]| [second, third, f64::NAN];
        Bounds { last: without(self.last), least: without(self.least) }
    }

    /// A shift for a matrix of at least three rows. It is close to the smallest eigenvalue, and seldom larger.
    fn shift(self, q: &[f64], e: &[f64]) -> f64 {
        let n = q.len();
        let ([last, ..], [least, others, _]) = (self.last, self.least);
        if least.is_nan() || least <= 0.0 {
            return 0.0;
        }
        if last != least {
            return 0.25 * least;
        }
        // the squared norm of an approximate eigenvector without its last element, which is 1
        let (mut sum, mut term) = (0.0, 1.0);
        for i in (0..n - 1).rev() {
            term *= e[i] / q[i];
            sum += term;
            if e[i] > q[i] || sum > LARGEST_NORM {
                return 0.25 * least;
            }
            if term < LEFT_OUT * sum {
                break;
            }
        }
        let sum = (1.0 + LEFT_OUT) * sum;
        let b = sum.sqrt();
        let quotient = last / (1.0 + sum);
        let gap = 0.5 * others - quotient;
        if gap > 0.0 && gap > b * quotient {
            quotient * (1.0 - 1.01 * quotient * (b / gap) * b).max(0.3)
        } else {
            (quotient * (1.0 - b)).max(0.25 * least)
        }
    }
}

/// The squares of the elements of a bidiagonal matrix, before and after a sweep. The last element
/// of `e` and of `next_e` is not used.
struct Squares {
    q: Vec<f64>,
    e: Vec<f64>,
    next_q: Vec<f64>,
    next_e: Vec<f64>,
}

/// A part of the matrix between off-diagonal elements that count as 0. The sum of its shifts is `shift + error`.
#[derive(Clone, Copy)]
struct Block {
    start: usize,
    end: usize,
    shift: f64,
    error: f64,
}

impl Block {
    fn add(&mut self, tau: f64) {
        // the rounding error of the sum is computed exactly, because `shift` is at least 0 and the smaller number is
        // subtracted last
        let y = tau + self.error;
        let sum = self.shift + y;
        let (large, small) = if self.shift > y { (self.shift, y) } else { (y, self.shift) };
        self.error = small - (sum - large);
        self.shift = sum;
    }
}

/// Computes the singular values of an upper bidiagonal matrix in descending order. `s` has the diagonal, and is
/// overwritten with the singular values. `e` has the elements above the diagonal. The signs of elements do not matter.
pub fn singular_values(s: &mut [f64], e: &[f64]) -> Result<()> {
    let n = s.len();
    if !s.iter().chain(e).all(|x| x.is_finite()) {
        return Err(Failure::NoConvergence);
    }
    let Some(exponent) = scale::largest_exponent(s.iter().chain(e).copied()) else {
        s.fill(0.0);
        return Ok(());
    };
    let square = |x: f64| {
        let x = scale::scaled(x, EXPONENT - exponent);
        x * x
    };
    let mut squares = Squares { q: list(n, 0.0)?, e: list(n, 0.0)?, next_q: list(n, 0.0)?, next_e: list(n, 0.0)? };
    squares.q.iter_mut().zip(s.iter()).for_each(|(q, &x)| *q = square(x));
    squares.e.iter_mut().zip(e).for_each(|(of, &x)| *of = square(x));
    squares.eigenvalues(s)?;
    // a sum of shifts may be rounded down to less than 0
    s.iter_mut().for_each(|x| *x = scale::scaled(x.max(0.0).sqrt(), exponent - EXPONENT));
    s.sort_unstable_by(|a, b| b.total_cmp(a));
    Ok(())
}

impl Squares {
    /// Computes the squares of the singular values, in any order.
    fn eigenvalues(&mut self, to: &mut [f64]) -> Result<()> {
        let mut blocks = Vec::new();
        let push = |blocks: &mut Vec<Block>, block| {
            blocks.try_reserve(1).map_err(|_| Failure::Memory(size_of::<Block>()))?;
            blocks.push(block);
            Ok(())
        };
        push(&mut blocks, Block { start: 0, end: to.len(), shift: 0.0, error: 0.0 })?;
        let mut sweeps = MAX_SWEEPS * to.len();
        while let Some(mut block) = blocks.pop() {
            let mut bounds = Bounds::UNKNOWN;
            loop {
                let Block { start, end, shift, error } = block;
                let (q, e) = (&mut self.q[start..end], &mut self.e[start..end]);
                let n = q.len();
                let negligible = NEGLIGIBLE * shift;
                if n == 0 {
                    break;
                }
                if n == 1 || e[n - 2] <= NEGLIGIBLE * (shift + q[n - 1]) {
                    to[end - 1] = shift + (q[n - 1] + error);
                    block.end -= 1;
                    bounds = bounds.shortened();
                    continue;
                }
                if n == 2 || e[n - 3] <= negligible {
                    let pair = of_two(q[n - 2], e[n - 2], q[n - 1]);
                    to[end - 2..end].copy_from_slice(&pair.map(|x| shift + (x + error)));
                    block.end -= 2;
                    bounds = bounds.shortened().shortened();
                    continue;
                }
                if let Some(i) = e[..n - 3].iter().rposition(|&e| e <= negligible) {
                    push(&mut blocks, Block { end: start + i + 1, ..block })?;
                    block.start = start + i + 1;
                    bounds = Bounds::UNKNOWN;
                    continue;
                }
                // eigenvalues split off at the end of the matrix; the smallest ones should split off first
                if 1.5 * q[0] < q[n - 1] {
                    q.reverse();
                    e[..n - 1].reverse();
                    bounds = Bounds::UNKNOWN;
                }
                let (next_q, next_e) = (&mut self.next_q[..n], &mut self.next_e[..n]);
                let (mut tau, mut tries) = (bounds.shift(q, e), 0);
                loop {
                    sweeps = sweeps.checked_sub(1).ok_or(Failure::NoConvergence)?;
                    bounds = sweep(q, e, next_q, next_e, tau);
                    let [least, others, _] = bounds.least;
                    if least >= 0.0 && bounds.last[0] >= 0.0 {
                        break;
                    }
                    // if the shift is too large for the last row only, the negative bound of this row estimates the
                    // excess
                    let nearer = (tau + least) * (1.0 - 4.0 * f64::EPSILON);
                    tau = match tries {
                        0 | 1 if others > 0.0 && nearer > 0.0 && nearer < tau => nearer,
                        0..3 if tau.is_finite() => 0.25 * tau,
                        // with a shift of 0, no bound is negative
                        _ => 0.0,
                    };
                    tries += 1;
                }
                block.add(tau);
                q.copy_from_slice(next_q);
                e[..n - 1].copy_from_slice(&next_e[..n - 1]);
            }
        }
        Ok(())
    }
}

/// The squared singular values of a block of two rows, given the squares of its elements.
fn of_two(a: f64, e: f64, b: f64) -> [f64; 2] {
    let (large, small) = if a > b { (a, b) } else { (b, a) };
    if e <= small * NEGLIGIBLE {
        return [large, small];
    }
    let half = 0.5 * ((large - small) + e);
    let s = small * (e / half);
    let s = if s <= half {
        small * (e / (half * (1.0 + (1.0 + s / half).sqrt())))
    } else {
        small * (e / (half + half.sqrt() * (half + s).sqrt()))
    };
    let first = large + (s + e);
    [first, small * (large / first)]
}

/// Makes a sweep with the shift `tau`, for at least three rows. If the shift is larger than the
/// smallest eigenvalue, at least one bound is negative, or the last bound is NaN.
fn sweep(q: &[f64], e: &[f64], next_q: &mut [f64], next_e: &mut [f64], tau: f64) -> Bounds {
    let n = q.len();
    let mut d = q[0] - tau;
    let mut step = |i: usize, d: f64| {
        // multiplies before dividing: a quotient might overflow, and the next bound would have to wait for it
        let sum = d + e[i];
        next_q[i] = sum;
        next_e[i] = e[i] * q[i + 1] / sum;
        d * q[i + 1] / sum - tau
    };
    let mut all = d;
    for i in 0..n - 3 {
        d = step(i, d);
        all = if d < all { d } else { all };
    }
    let second = step(n - 3, d);
    let last = step(n - 2, second);
    next_q[n - 1] = last;
    let others = all.min(second);
    Bounds { last: [last, second, d], least: [others.min(last), others, all] }
}
