//! Geometric multigrid.

use super::{
    Preconditioner,
    transfer::{Halving, halved},
};
use crate::linear::{grid::Laplacian, operator::LinearOperator};
use backends::{ArrayAttributes, Backend, Error, Result, WideFloat, expr};
use std::sync::Arc;

/// One V-cycle of geometric multigrid for a [`Laplacian`]: the number of iterations hardly depends on the size of the grid.
///
/// Each level has half the length along each axis: pairs of elements become one, and of odd lengths with zeros beyond the ends every second stays. An axis that can
/// be halved no more (fewer than 4 elements, or odd with other ends) keeps its length, so lengths with many factors of 2 are best. Between the levels
/// it goes by straight lines, and by their transpose; on each of them it is smoothed by damped Jacobi (weight `2 d / (2 d + 1)` in `d` dimensions), as often before as after the
/// coarser one, so that the whole is symmetric, as conjugate gradients need it. The coarsest grid is solved by the inverse of its matrix where it has up to 512
/// elements, and smoothed 16 times else.
///
/// ```
/// use backends::prelude::*;
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
    /// How each axis is halved for the next level.
    halvings: Vec<Option<Halving>>,
    shape: Vec<usize>,
    /// Of the last level.
    inverse: Option<B::Array<T>>,
}

/// The most elements of a grid whose matrix is inverted.
const COARSEST: usize = 512;
const COARSE_SMOOTHINGS: usize = 16;

impl<B: Backend, T: WideFloat> Multigrid<B, T> {
    /// For grids of this shape.
    ///
    /// # Errors
    /// `Error::Shape` where the shape has not as many axes as the operator.
    pub fn new(b: &B, operator: &Laplacian, shape: &[usize]) -> Result<Self> {
        if shape.len() != operator.lines().len() {
            return Err(Error::shape("Multigrid", shape, format!("the operator has {} axes", operator.lines().len())));
        }
        let mut levels = Vec::new();
        let (mut operator, mut shape) = (operator.clone(), shape.to_vec());
        loop {
            let next: Vec<_> = shape.iter().zip(operator.lines()).map(|(&n, &line)| halved(n, line)).collect();
            // small grids are solved at once
            let is_last = next.iter().all(Option::is_none) || shape.iter().product::<usize>() <= COARSEST / 8;
            if is_last {
                let inverse = inverse(b, &operator, &shape)?;
                levels.push(Level { operator, halvings: vec![], shape, inverse });
                return Ok(Multigrid { levels: Arc::new(levels), smoothings: 1 });
            }
            let coarser = Laplacian::of_lines(
                next.iter().zip(operator.lines()).map(|(next, &line)| next.map_or(line, |(_, _, line)| line)).collect(),
                operator.shift_value(),
            );
            let half = next.iter().zip(&shape).map(|(next, &n)| next.map_or(n, |(_, n, _)| n)).collect();
            let halvings = next.iter().map(|next| next.map(|(halving, ..)| halving)).collect();
            levels.push(Level { operator, halvings, shape, inverse: None });
            (operator, shape) = (coarser, half);
        }
    }

    /// How often each level is smoothed before the coarser one, and after it; 1, unless it is said.
    pub fn smoothings(mut self, smoothings: usize) -> Self {
        self.smoothings = smoothings.max(1);
        self
    }

    fn cycle(&self, b: &B, depth: usize, r: &B::Array<T>) -> Result<B::Array<T>> {
        let level = &self.levels[depth];
        let dimensions = level.shape.len();
        let damping = 2.0 * dimensions as f64 / (2.0 * dimensions as f64 + 1.0);
        let diagonal = level.operator.diagonal();
        // a grid of nothing, or without an operator
        if r.is_empty() || diagonal == 0.0 {
            return Ok(r.clone());
        }
        let step = damping / diagonal;
        if let Some(inverse) = &level.inverse {
            let n: usize = level.shape.iter().product();
            let rows = b.reshape(r, [r.len() / n, n])?;
            // the matrix is symmetric
            return b.reshape(b.matmul(rows, inverse)?, r.shape());
        }
        let smooth = |x: &mut B::Array<T>| {
            let ax = level.operator.apply(b, x)?;
            expr!(b, *x += step * (r - ax))
        };
        let mut x = expr!(b, step * r)?;
        if level.halvings.is_empty() {
            (1..COARSE_SMOOTHINGS).try_for_each(|_| smooth(&mut x))?;
            return Ok(x);
        }
        (1..self.smoothings).try_for_each(|_| smooth(&mut x))?;
        let ax = level.operator.apply(b, &x)?;
        let first = r.ndim() - dimensions;
        let halvings = || level.halvings.iter().enumerate().filter_map(|(k, h)| h.map(|h| (first + k, h)));
        let coarse = halvings().try_fold(expr!(b, r - ax)?, |r, (axis, h)| h.restrict(b, &r, axis))?;
        let error = self.cycle(b, depth + 1, &coarse)?;
        let error = halvings().try_fold(error, |x, (axis, h)| h.prolong(b, &x, axis))?;
        expr!(b, x += error)?;
        (0..self.smoothings).try_for_each(|_| smooth(&mut x))?;
        Ok(x)
    }
}

/// The inverse of the matrix of a small grid; the pseudo-inverse where constants have no product.
fn inverse<B: Backend, T: WideFloat>(b: &B, operator: &Laplacian, shape: &[usize]) -> Result<Option<B::Array<T>>> {
    let n: usize = shape.iter().product();
    if n == 0 || n > COARSEST {
        return Ok(None);
    }
    let units = b.reshape(b.eye::<T>(n)?, [&[n], shape].concat())?;
    let matrix = b.reshape(operator.apply(b, &units)?, [n, n])?;
    b.pinv(matrix).map(Some)
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
