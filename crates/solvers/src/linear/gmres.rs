//! GMRES with restarts, for any square operator.

use super::{
    monitor::Monitor,
    pass::Pass,
    scale::numbers_shape,
    system::{System, ratio},
};
use backends::{ArrayAttributes, Backend, Float, Numeric, Real, Result, WideFloat, expr};

/// The small triangular system of GMRES, in host memory, for one system of the batch: Saad and Schultz, "GMRES: a
/// generalized minimal residual algorithm for solving nonsymmetric linear systems" (1986), with Givens rotations.
struct Triangle<T: WideFloat> {
    /// Columns of the rotated Hessenberg matrix, which is upper triangular.
    columns: Vec<Vec<T>>,
    /// Cosines and sines of the rotations.
    rotations: Vec<(T::Real, T)>,
    /// The rotated right side; its last element is the length of the residual.
    right: Vec<T>,
}

impl<T: WideFloat> Triangle<T> {
    fn new(norm: T) -> Self {
        Triangle { columns: vec![], rotations: vec![], right: vec![norm] }
    }

    /// Adds the next column of the Hessenberg matrix, and returns the square of the residual's length. Returns `None`
    /// if the rotated column adds nothing, because its last two elements are 0.
    fn push(&mut self, mut h: Vec<T>) -> Option<f64> {
        let k = self.rotations.len();
        for (i, &(c, s)) in self.rotations.iter().enumerate() {
            let (upper, lower) = (h[i], h[i + 1]);
            h[i] = T::from_real(c) * upper + s * lower;
            h[i + 1] = T::from_real(c) * lower - s.conj() * upper;
        }
        let (upper, lower) = (h[k], h[k + 1]);
        let (a, below) = (upper.abs().to_f64(), lower.abs().to_f64());
        let length = a.hypot(below);
        // computes the rotation that zeroes the second of the last two elements
        if length == 0.0 {
            return None;
        }
        let (c, s) = if a == 0.0 {
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
        Some(self.right[k + 1].abs().to_f64().powi(2))
    }

    /// The square of the residual's length.
    fn left_sq(&self) -> f64 {
        self.right.last().map_or(0.0, |r| r.abs().to_f64().powi(2))
    }

    /// Returns the coefficients of the basis vectors in the solution. A coefficient is 0 if its column depends on
    /// earlier columns.
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

/// The iterations of GMRES until the next restart, with the preconditioner on the right.
pub(super) fn gmres<B: Backend, T: WideFloat>(
    s: &System<'_, B, T>,
    pass: Pass<'_, B, T>,
    restart: usize,
    monitor: &mut Monitor<'_, '_, B, T>,
) -> Result<B::Array<T>> {
    let b = s.b;
    let Pass { r, rr, mut az, .. } = pass;
    let norm = b.sqrt(&rr)?;
    let mut triangles: Vec<Option<Triangle<T>>> = b
        .to_vec::<T>(&norm)?
        .into_iter()
        .enumerate()
        .map(|(i, norm)| monitor.is_running(i).then(|| Triangle::new(norm)))
        .collect();
    let mut basis = vec![unit(b, &r, &norm)?];
    let mut seen: Vec<f64> = triangles.iter().map(|t| t.as_ref().map_or(0.0, Triangle::left_sq)).collect();
    for k in 0..restart {
        let mut w = match az.take() {
            Some(az) => unit(b, &az, &norm)?,
            None => s.apply(&s.precondition(&basis[k])?)?,
        };
        let mut column = Vec::with_capacity(k + 2);
        for v in &basis {
            let h = s.dot(v, &w)?;
            expr!(b, w -= h * v)?;
            column.push(h);
        }
        let norm = b.sqrt(s.dot(&w, &w)?)?;
        basis.push(unit(b, &w, &norm)?);
        column.push(norm);
        // fetches the numbers of all systems with one wait for the device
        let numbers = b.to_vec::<T>(b.stack(&column)?)?;
        let items = triangles.len();
        let mut ended = vec![];
        for (i, triangle) in triangles.iter_mut().enumerate() {
            // adds the column to the triangles of the systems that are still being solved
            if let (Some(triangle), true) = (triangle, monitor.is_running(i)) {
                match triangle.push((0..k + 2).map(|j| numbers[j * items + i]).collect()) {
                    Some(left_sq) => seen[i] = left_sq,
                    None => ended.push(i),
                }
            }
        }
        monitor.observe(&seen, None)?;
        ended.into_iter().for_each(|i| monitor.break_off(i, "the operator is singular in the space of its products"));
        if !(0..items).any(|i| monitor.is_running(i)) {
            break;
        }
    }
    let solutions: Vec<Vec<T>> = triangles.iter().map(|t| t.as_ref().map_or_else(Vec::new, Triangle::solve)).collect();
    let mut shift = b.zeros_like(&r)?;
    for (k, v) in basis.iter().enumerate().take(solutions.iter().map(Vec::len).max().unwrap_or(0)) {
        let y = b.from_iter(solutions.iter().map(|y| y.get(k).copied().unwrap_or(T::ZERO)))?;
        let y = b.reshape(y, numbers_shape(r.shape(), s.batch))?;
        expr!(b, shift += y * v)?;
    }
    s.precondition(&shift)
}

/// Scales a vector to length 1. A vector of length 0 becomes 0.
fn unit<B: Backend, T: WideFloat>(b: &B, w: &B::Array<T>, norm: &B::Array<T>) -> Result<B::Array<T>> {
    let scale = ratio(b, &b.ones_like(norm)?, norm)?;
    expr!(b, w * scale)
}
