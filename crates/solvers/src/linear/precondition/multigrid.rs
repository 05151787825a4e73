//! Geometric multigrid.

use super::{
    Preconditioner,
    transfer::{Transfer, coarser},
};
use crate::linear::{grid::Laplacian, operator::LinearOperator};
use backends::{ArrayAttributes, Backend, Error, Real, Result, WideFloat, expr};
use std::sync::Arc;

/// One V-cycle of geometric multigrid for a [`Laplacian`]: the number of iterations hardly depends on the size of the
/// grid, for any lengths, boundaries and spacings.
///
/// Each level has about half the length along the axes with the strongest coupling, whose `1 / h^2` (`h` is the
/// spacing) is near the largest. So a grid with different spacings is first coarsened along the axes with small
/// spacings, until all spacings are similar. Values are transferred between levels by linear interpolation and its
/// transpose. Each level is smoothed by damped Jacobi, equally often before and after the correction from the coarser
/// level. So the whole cycle is symmetric, as conjugate gradients require. The coarsest grid, of up to 64 elements, is
/// solved by the inverse of its matrix.
///
/// ```
/// use backends::{Error, prelude::*};
/// use backends_solvers::linear::{GridBoundary::Zero, Laplacian, Method, Multigrid, Solve};
///
/// let b = Numpyish::new();
/// let a = Laplacian::new([Zero, Zero]);
/// let y = b.random_normal::<f64>([64, 64])?;
/// let plain = Solve::new().method(Method::Cg).solve(&b, &a, &y)?;
/// let fast = Solve::new().method(Method::Cg).preconditioner(Multigrid::new(&b, &a, &[64, 64])?).solve(&b, &a, &y)?;
/// assert!(fast.iterations[0] < 12 && plain.iterations[0] > 80);
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone)]
pub struct Multigrid<B: Backend, T: WideFloat> {
    levels: Arc<Vec<Level<B, T>>>,
    smoothings: usize,
}

struct Level<B: Backend, T: WideFloat> {
    operator: Laplacian,
    shape: Vec<usize>,
    /// The factor by which residuals are multiplied in a smoothing step.
    step: f64,
    /// The transfer along each axis to the next level; `None` for an axis that is not coarsened.
    transfers: Vec<Option<Transfer<B, T>>>,
    /// The inverse of the operator's matrix; only on the last level.
    inverse: Option<B::Array<T>>,
}

/// Maximum number of elements of the coarsest grid.
const COARSEST: usize = 64;
/// Axes are coarsened together if their weights `1 / h^2` (`h` is the spacing) are at least this fraction of the
/// largest weight.
const ALIKE: f64 = 0.7;

impl<B: Backend, T: WideFloat> Multigrid<B, T> {
    /// Creates a preconditioner for grids of this shape.
    ///
    /// # Errors
    /// `Error::Shape` if the shape does not have one axis for each axis of the operator.
    pub fn new(b: &B, operator: &Laplacian, shape: &[usize]) -> Result<Self> {
        if shape.len() != operator.lines().len() {
            return Err(Error::shape("Multigrid", shape, format!("the operator has {} axes", operator.lines().len())));
        }
        let mut levels = Vec::new();
        let mut shape = shape.to_vec();
        let shift = operator.shift_value();
        let mut lines: Vec<_> = operator.lines().iter().zip(&shape).map(|(line, &n)| line.of_length(n)).collect();
        loop {
            let operator = Laplacian::of_lines(lines.clone(), shift);
            let next: Vec<_> = shape.iter().zip(&lines).map(|(&n, &line)| coarser(n, line)).collect();
            // small grids are solved directly
            if next.iter().all(Option::is_none) || shape.iter().product::<usize>() <= COARSEST {
                let inverse = inverse(b, &operator, &shape)?;
                levels.push(Level { operator, shape, step: 0.0, transfers: vec![], inverse });
                return Ok(Multigrid { levels: Arc::new(levels), smoothings: 1 });
            }
            let can_be = || next.iter().zip(&lines).filter(|(next, _)| next.is_some()).map(|(_, line)| line.weight);
            let least = ALIKE * can_be().fold(0.0, f64::max);
            // smoothing must damp the short waves along the coarsened axes, which the next level cannot represent; with
            // the factor `step`, it damps the longest and the shortest of these waves equally
            let halved = can_be().filter(|&weight| weight >= least).fold(f64::INFINITY, f64::min);
            let longest = halved / lines.iter().map(|line| line.weight).sum::<f64>();
            let diagonal = operator.diagonal();
            let step = if diagonal == 0.0 { 0.0 } else { 2.0 / (2.0 + longest) / diagonal };
            let (mut transfers, mut half) = (vec![], shape.clone());
            for (k, next) in next.into_iter().enumerate() {
                transfers.push(match next {
                    Some((m, line, ratio)) if lines[k].weight >= least => {
                        let transfer = Transfer::new(b, (shape[k], m), ratio, line.ends)?;
                        (half[k], lines[k]) = (m, line);
                        Some(transfer)
                    }
                    _ => None,
                });
            }
            levels.push(Level { operator, shape, step, transfers, inverse: None });
            shape = half;
        }
    }

    /// Sets the number of smoothing steps on each level before the correction from the coarser level. The same number
    /// of steps follows after the correction. The default is 1.
    pub fn smoothings(mut self, smoothings: usize) -> Self {
        self.smoothings = smoothings.max(1);
        self
    }

    fn cycle(&self, b: &B, depth: usize, r: &B::Array<T>) -> Result<B::Array<T>> {
        let level = &self.levels[depth];
        // an empty grid, or an operator that is 0, needs no work
        if r.is_empty() || level.operator.diagonal() == 0.0 {
            return Ok(r.clone());
        }
        let step = level.step;
        if let Some(inverse) = &level.inverse {
            let n: usize = level.shape.iter().product();
            let rows = b.reshape(r, [r.len() / n, n])?;
            // the matrix is symmetric, so it can be multiplied from the right
            return b.reshape(b.matmul(rows, inverse)?, r.shape());
        }
        let smooth = |x: &mut B::Array<T>| {
            let ax = level.operator.apply(b, x)?;
            expr!(b, *x += step * (r - ax))
        };
        let mut x = expr!(b, step * r)?;
        (1..self.smoothings).try_for_each(|_| smooth(&mut x))?;
        let ax = level.operator.apply(b, &x)?;
        let first = r.ndim() - level.shape.len();
        let transfers = || level.transfers.iter().enumerate().filter_map(|(k, t)| t.as_ref().map(|t| (first + k, t)));
        let coarse = transfers().try_fold(expr!(b, r - ax)?, |r, (axis, t)| t.restrict(b, &r, axis))?;
        let error = self.cycle(b, depth + 1, &coarse)?;
        let error = transfers().try_fold(error, |x, (axis, t)| t.prolong(b, &x, axis))?;
        expr!(b, x += error)?;
        (0..self.smoothings).try_for_each(|_| smooth(&mut x))?;
        Ok(x)
    }
}

/// The inverse of the matrix of a small grid, or the pseudo-inverse if constants are in its null space. It is computed
/// in double precision, since different spacings give elements of very different size.
fn inverse<B: Backend, T: WideFloat>(b: &B, operator: &Laplacian, shape: &[usize]) -> Result<Option<B::Array<T>>> {
    let n: usize = shape.iter().product();
    if n == 0 {
        return Ok(None);
    }
    let units = b.reshape(b.eye::<f64>(n)?, [&[n], shape].concat())?;
    let matrix = b.reshape(operator.apply(b, &units)?, [n, n])?;
    let inverse = b.to_vec::<f64>(&b.pinv(matrix)?)?.into_iter().map(|x| T::from_real(T::Real::of(x)));
    b.reshape(b.from_iter(inverse.collect::<Vec<_>>())?, [n, n]).map(Some)
}

impl<B: Backend, T: WideFloat> Preconditioner<B, T> for Multigrid<B, T> {
    fn apply(&self, b: &B, r: &B::Array<T>) -> Result<B::Array<T>> {
        let shape = &self.levels[0].shape;
        if !r.shape().ends_with(shape) {
            return Err(Error::shapes("Multigrid", shape, r.shape()));
        }
        self.cycle(b, 0, r)
    }

    fn apply_transposed(&self, b: &B, r: &B::Array<T>) -> Result<Option<B::Array<T>>> {
        self.apply(b, r).map(Some)
    }

    fn name(&self) -> &'static str {
        "multigrid"
    }
}
