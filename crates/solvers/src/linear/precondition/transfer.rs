//! Coarsening of an axis to about half the length, and transfer of values between the finer and the coarser axis.

use crate::linear::grid::{GridBoundary, Line, beyond, part};
use backends::{ArrayAttributes, Backend, ConcatOptions, Error, Real, Result, StackOptions, WideFloat, expr};

/// Returns an axis of about half the length over the same distance, and the ratio of the coarser spacing to the finer
/// one; `None` if the axis cannot be halved.
///
/// With the boundary `Zero`, the zeros are one spacing beyond the last elements, on both the finer and the coarser
/// axis. With the other boundaries, each element is a cell, and the cells fill the whole axis on both levels.
pub(super) fn coarser(n: usize, line: Line) -> Option<(usize, Line, f64)> {
    let (length, ratio) = match line.ends {
        _ if n < 2 => return None,
        GridBoundary::Zero => ((n + 2) / 2 - 1, (n + 1) as f64 / ((n + 2) / 2) as f64),
        GridBoundary::Periodic | GridBoundary::Neumann => (n.div_ceil(2), n as f64 / n.div_ceil(2) as f64),
    };
    Some((length, Line { weight: line.weight / (ratio * ratio), ..line }.of_length(length), ratio))
}

/// Transfer between an axis and a coarser axis of about half the length.
pub(super) enum Transfer<B: Backend, T: WideFloat> {
    /// Each pair of neighbouring elements corresponds to one coarser element, midway between them.
    Pairs(GridBoundary),
    /// The coarser axis has every second element, starting with the second one.
    Inner,
    /// Axes with any other ratio of lengths. `up` interpolates; `down` is its transpose, divided by the ratio of the
    /// spacings.
    Uneven { up: Taps<B, T>, down: Taps<B, T> },
}

/// A sparse matrix that is applied along an axis. The product is a sum of gathered elements times weights. Each item of
/// the list has one index and one weight for each row of the matrix.
pub(super) struct Taps<B: Backend, T: WideFloat>(Vec<(B::Array<i64>, B::Array<T>)>);

impl<B: Backend, T: WideFloat> Taps<B, T> {
    /// Creates the matrix from the columns and weights of each row.
    fn new(b: &B, rows: &[Vec<(usize, f64)>]) -> Result<Self> {
        let most = rows.iter().map(Vec::len).max().unwrap_or(0);
        let tap = |k: usize| {
            let of = |row: &Vec<(usize, f64)>| row.get(k).copied().unwrap_or((0, 0.0));
            let indices = b.from_iter(rows.iter().map(|row| of(row).0 as i64).collect::<Vec<_>>())?;
            let weights = rows.iter().map(|row| T::from_real(T::Real::of(of(row).1)));
            Ok((indices, b.from_iter(weights.collect::<Vec<_>>())?))
        };
        (0..most).map(tap).collect::<Result<Vec<_>>>().map(Taps)
    }

    fn apply(&self, b: &B, x: &B::Array<T>, axis: usize) -> Result<B::Array<T>> {
        let mut sum: Option<B::Array<T>> = None;
        for (indices, weights) in &self.0 {
            let mut shape = vec![1; x.ndim() - axis];
            shape[0] = weights.len();
            let (elements, weights) = (b.take(x, indices, axis as isize)?, b.reshape(weights, shape)?);
            match &mut sum {
                None => sum = Some(expr!(b, weights * elements)?),
                Some(sum) => expr!(b, *sum += weights * elements)?,
            }
        }
        sum.ok_or_else(|| Error::argument("Multigrid", "an axis without elements"))
    }
}

/// The integral up to `x` of the hat function, which is 1 at 0, falls linearly on both sides, and is 0 from a distance
/// of 1 on.
fn hat_up_to(x: f64) -> f64 {
    match x {
        x if x <= -1.0 => 0.0,
        x if x <= 0.0 => 0.5 * (1.0 + x).powi(2),
        x if x <= 1.0 => 1.0 - 0.5 * (1.0 - x).powi(2),
        _ => 1.0,
    }
}

/// For each element of the finer axis, the coarser elements and the weights that interpolate it. With the boundary
/// `Zero` the interpolation is linear between neighbours. With the other boundaries, elements are cells, and a value is
/// the mean of the linear interpolation over the cell. This preserves constants in both directions.
fn lines_between(n: usize, m: usize, ratio: f64, ends: GridBoundary) -> Vec<Vec<(usize, f64)>> {
    let row = |i: usize| {
        let mut row: Vec<(usize, f64)> = vec![];
        let mut add = |j: usize, weight: f64| match row.iter_mut().find(|(other, _)| *other == j) {
            Some((_, sum)) => *sum += weight,
            None => row.push((j, weight)),
        };
        if ends == GridBoundary::Zero {
            // the boundary's zeros are elements 0 and `m + 1` of the coarser axis
            let at = (i + 1) as f64 / ratio;
            let (j, part) = (at as usize, at.fract());
            for (j, weight) in [(j, 1.0 - part), (j + 1, part)] {
                if (1..=m).contains(&j) && weight != 0.0 {
                    add(j - 1, weight);
                }
            }
        } else {
            let (from, to) = (i as f64 / ratio - 0.5, (i + 1) as f64 / ratio - 0.5);
            for j in from.floor() as isize..=to.ceil() as isize {
                let weight = ratio * (hat_up_to(to - j as f64) - hat_up_to(from - j as f64));
                let last = m as isize - 1;
                let j = if ends == GridBoundary::Periodic { j.rem_euclid(m as isize) } else { j.clamp(0, last) };
                if weight != 0.0 {
                    add(j as usize, weight);
                }
            }
        }
        row
    };
    (0..n).map(row).collect()
}

impl<B: Backend, T: WideFloat> Transfer<B, T> {
    /// Creates the transfer between a finer axis of length `n` and a coarser axis of length `m`. `ratio` is the coarser
    /// spacing divided by the finer spacing.
    pub fn new(b: &B, (n, m): (usize, usize), ratio: f64, ends: GridBoundary) -> Result<Self> {
        if n % 2 == 0 && ends != GridBoundary::Zero {
            return Ok(Transfer::Pairs(ends));
        }
        if n % 2 == 1 && ends == GridBoundary::Zero {
            return Ok(Transfer::Inner);
        }
        let up = lines_between(n, m, ratio, ends);
        let mut down = vec![vec![]; m];
        for (i, row) in up.iter().enumerate() {
            row.iter().for_each(|&(j, weight)| down[j].push((i, weight / ratio)));
        }
        Ok(Transfer::Uneven { up: Taps::new(b, &up)?, down: Taps::new(b, &down)? })
    }

    /// Interpolates linearly from the coarser axis to the finer one.
    pub fn prolong(&self, b: &B, x: &B::Array<T>, axis: usize) -> Result<B::Array<T>> {
        let ends = match self {
            Transfer::Pairs(ends) => *ends,
            Transfer::Inner => GridBoundary::Zero,
            Transfer::Uneven { up, .. } => return up.apply(b, x, axis),
        };
        let around = beyond(b, x, axis, ends)?;
        let n = x.shape()[axis] as isize;
        let mut shape = x.shape().to_vec();
        shape[axis] *= 2;
        let [before, after] = [part(b, &around, axis, 0, n, 1)?, part(b, &around, axis, 2, n + 2, 1)?];
        let between = StackOptions::new().axis(axis as isize + 1);
        if let Transfer::Pairs(_) = self {
            let (low, high) = (expr!(b, 0.75 * x + 0.25 * before)?, expr!(b, 0.75 * x + 0.25 * after)?);
            return b.reshape(b.stack_with([low, high], between)?, shape);
        }
        let low = expr!(b, 0.5 * (x + before))?;
        let inner = b.reshape(b.stack_with([&low, x], between)?, shape)?;
        let last = part(b, x, axis, n - 1, n, 1)?;
        let last = expr!(b, 0.5 * last)?;
        b.concat_with([inner, last], ConcatOptions::new().axis(axis as isize))
    }

    /// Transfers values from the finer axis to the coarser one by the transpose of [`prolong`](Transfer::prolong),
    /// divided by the ratio of the spacings. The division preserves constants.
    pub fn restrict(&self, b: &B, x: &B::Array<T>, axis: usize) -> Result<B::Array<T>> {
        let n = x.shape()[axis] as isize;
        match self {
            Transfer::Pairs(ends) => {
                let around = beyond(b, x, axis, *ends)?;
                let every = |from: isize| part(b, &around, axis, from, from + n - 1, 2);
                let (a, p, q, z) = (every(0)?, every(1)?, every(2)?, every(3)?);
                expr!(b, 0.375 * (p + q) + 0.125 * (a + z))
            }
            Transfer::Inner => {
                let every = |from: isize| part(b, x, axis, from, from + n - 2, 2);
                let (l, c, r) = (every(0)?, every(1)?, every(2)?);
                expr!(b, 0.5 * c + 0.25 * (l + r))
            }
            Transfer::Uneven { down, .. } => down.apply(b, x, axis),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_stay_constants_both_ways() {
        for ends in [GridBoundary::Periodic, GridBoundary::Neumann] {
            for n in 2..40 {
                let Some((m, line, ratio)) = coarser(n, Line { weight: 4.0, ends }) else { panic!("{n}") };
                assert!(m < n && (line.weight == 4.0 / (ratio * ratio) || m == 1 && line.weight == 0.0));
                let rows = lines_between(n, m, ratio, ends);
                let mut columns = vec![0.0; m];
                for row in &rows {
                    assert!((row.iter().map(|(_, w)| w).sum::<f64>() - 1.0).abs() < 1e-13, "{ends:?} {n}: {row:?}");
                    row.iter().for_each(|&(j, weight)| columns[j] += weight);
                }
                assert!(columns.iter().all(|sum| (sum - ratio).abs() < 1e-13), "{ends:?} {n}: {columns:?}");
            }
        }
    }
}
