//! GMRES with restarts, for any square operator.

use super::{
    monitor::{Monitor, squares},
    system::{System, ratio},
};
use backends::{Backend, Float, Numeric, Real, Result, WideFloat, expr};

/// The small triangular system of one of the batch, in the host's memory: Saad and Schultz, "GMRES: a generalized minimal residual algorithm for solving
/// nonsymmetric linear systems" (1986), with Givens rotations.
struct Triangle<T: WideFloat> {
    /// Columns of the rotated Hessenberg matrix, which is upper triangular.
    columns: Vec<Vec<T>>,
    /// Cosines and sines of the rotations.
    rotations: Vec<(T::Real, T)>,
    /// The rotated right side; the last is what is left.
    right: Vec<T>,
}

impl<T: WideFloat> Triangle<T> {
    fn new(norm: T) -> Self {
        Triangle { columns: vec![], rotations: vec![], right: vec![norm] }
    }

    /// Takes the next column of the Hessenberg matrix. Gives the square of the residual.
    fn push(&mut self, mut h: Vec<T>) -> f64 {
        let k = self.rotations.len();
        for (i, &(c, s)) in self.rotations.iter().enumerate() {
            let (upper, lower) = (h[i], h[i + 1]);
            h[i] = T::from_real(c) * upper + s * lower;
            h[i + 1] = T::from_real(c) * lower - s.conj() * upper;
        }
        let (upper, lower) = (h[k], h[k + 1]);
        let (a, below) = (upper.abs().to_f64(), lower.abs().to_f64());
        let length = a.hypot(below);
        // the rotation that makes the lower of the two 0
        let (c, s) = if length == 0.0 {
            (T::Real::ONE, T::ZERO)
        } else if a == 0.0 {
            (T::Real::ZERO, T::ONE)
        } else {
            (T::Real::of(a / length), upper.sign() * lower.conj() * T::from_real(T::Real::of(1.0 / length)))
        };
        h[k] = T::from_real(c) * upper + s * lower;
        h.truncate(k + 1);
        self.columns.push(h);
        self.rotations.push((c, s));
        let last = self.right[k];
        self.right[k] = T::from_real(c) * last;
        self.right.push(-(s.conj() * last));
        self.right[k + 1].abs().to_f64().powi(2)
    }

    /// The coefficients of the basis vectors. Columns that depend on those before them get 0.
    fn solve(&self) -> Vec<T> {
        let n = self.columns.len();
        let mut y = vec![T::ZERO; n];
        for i in (0..n).rev() {
            let known = (i + 1..n).fold(T::ZERO, |sum, j| sum + self.columns[j][i] * y[j]);
            let pivot = self.columns[i][i];
            if pivot != T::ZERO {
                y[i] = Float::div(self.right[i] - known, pivot);
            }
        }
        y
    }
}

/// GMRES, restarted after so many iterations. The preconditioner is on the right.
pub(super) fn gmres<B: Backend, T: WideFloat>(
    s: &System<'_, B, T>,
    restart: usize,
    monitor: &mut Monitor<'_, '_, B, T>,
) -> Result<B::Array<T>> {
    let b = s.b;
    let (mut x, mut r) = s.start()?;
    let mut rr = s.dot(&r, &r)?;
    if !monitor.start(&squares(b, &s.dot(s.y, s.y)?)?, squares(b, &rr)?) {
        return Ok(x);
    }
    loop {
        let before = squares(b, &rr)?;
        let shift = cycle(s, restart, &r, &rr, monitor)?;
        if let Some(shift) = shift {
            let step = s.precondition(&shift)?;
            expr!(b, x += step)?;
        }
        r = s.residual(&x)?;
        rr = s.dot(&r, &r)?;
        let after = squares(b, &rr)?;
        let goes_on = monitor.correct(&after);
        // a cycle without any progress would be the next one, too
        if !goes_on || !after.iter().zip(&before).any(|(after, before)| after < before) {
            return Ok(x);
        }
    }
}

/// The iterations until the next restart: what the unknowns, before the preconditioner, change by.
fn cycle<B: Backend, T: WideFloat>(
    s: &System<'_, B, T>,
    restart: usize,
    r: &B::Array<T>,
    rr: &B::Array<T>,
    monitor: &mut Monitor<'_, '_, B, T>,
) -> Result<Option<B::Array<T>>> {
    let b = s.b;
    let norm = b.sqrt(rr)?;
    let mut triangles: Vec<Option<Triangle<T>>> = b
        .to_vec::<T>(&norm)?
        .into_iter()
        .enumerate()
        .map(|(i, norm)| monitor.is_running(i).then(|| Triangle::new(norm)))
        .collect();
    let mut basis = vec![unit(b, r, &norm)?];
    for k in 0..restart {
        let mut w = s.apply(&s.precondition(&basis[k])?)?;
        let mut column = Vec::with_capacity(k + 2);
        for v in &basis {
            let h = s.dot(v, &w)?;
            expr!(b, w -= h * v)?;
            column.push(h);
        }
        let norm = b.sqrt(s.dot(&w, &w)?)?;
        basis.push(unit(b, &w, &norm)?);
        column.push(norm);
        // one wait for all of them
        let numbers = b.to_vec::<T>(b.stack(&column)?)?;
        let items = triangles.len();
        let mut residual_sq = monitor.residual_sq.clone();
        for (i, triangle) in triangles.iter_mut().enumerate() {
            // a system that has ended keeps the columns that it had
            if let (Some(triangle), true) = (triangle, monitor.is_running(i)) {
                residual_sq[i] = triangle.push((0..k + 2).map(|j| numbers[j * items + i]).collect());
            }
        }
        if !monitor.observe(&residual_sq, None) {
            break;
        }
    }
    let solutions: Vec<Vec<T>> = triangles.iter().map(|t| t.as_ref().map_or_else(Vec::new, Triangle::solve)).collect();
    let mut shift: Option<B::Array<T>> = None;
    for (k, v) in basis.iter().enumerate().take(solutions.iter().map(Vec::len).max().unwrap_or(0)) {
        let y = b.from_iter(solutions.iter().map(|y| y.get(k).copied().unwrap_or(T::ZERO)))?;
        let y = b.reshape(y, s.numbers_shape())?;
        match &mut shift {
            None => shift = Some(expr!(b, y * v)?),
            Some(shift) => expr!(b, *shift += y * v)?,
        }
    }
    Ok(shift)
}

/// The vector of length 1, or 0.
fn unit<B: Backend, T: WideFloat>(b: &B, w: &B::Array<T>, norm: &B::Array<T>) -> Result<B::Array<T>> {
    let scale = ratio(b, &b.ones_like(norm)?, norm)?;
    expr!(b, w * scale)
}
