//! The Laplacian of a grid as a linear operator, with a boundary condition for each axis.

use super::{OP, operator::LinearOperator};
use crate::sparse::{Coo, Csr};
use backends::{ArrayAttributes, Arrays, Backend, Error, PadMode, PadOptions, Real, Result, Slice, WideFloat, expr};

/// Boundary condition of an axis, which determines the values beyond its ends.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum GridBoundary {
    /// The values beyond an end equal the values at the other end.
    Periodic,
    /// The value one grid point beyond the last element is 0 (Dirichlet).
    Zero,
    /// The values beyond an end equal the last element, so the derivative across the boundary is 0 (Neumann).
    Neumann,
}

impl GridBoundary {
    fn padding(self) -> PadMode {
        match self {
            GridBoundary::Periodic => PadMode::Wrap,
            GridBoundary::Zero => PadMode::Constant,
            GridBoundary::Neumann => PadMode::Edge,
        }
    }
}

/// The Laplacian of a grid, minus a multiple of the identity: `v -> sum over the axes of (v[i-1] - 2 v[i] + v[i+1]) /
/// h^2 - shift v`, the operator of Poisson's equation (with a `shift` of 0) and Helmholtz' equation. The operator is
/// symmetric. It is negative definite if `shift` is positive, or if `shift` is 0 and an axis has the boundary `Zero`.
///
/// The last axes of an array form the grid, one axis for each boundary. The axes before them are a batch.
#[derive(Clone, Debug, PartialEq)]
pub struct Laplacian {
    axes: Vec<Line>,
    shift: f64,
}

/// One axis of the grid, with its spacing and its boundary condition.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Line {
    /// One over the square of the spacing.
    pub weight: f64,
    pub ends: GridBoundary,
}

impl Line {
    /// Returns the axis for `n` grid points. The weight is 0 if the axis has a single grid point that is its own
    /// neighbour, as with the boundaries `Periodic` and `Neumann`.
    pub fn of_length(self, n: usize) -> Self {
        let is_nothing = n == 1 && self.ends != GridBoundary::Zero;
        Line { weight: if is_nothing { 0.0 } else { self.weight }, ..self }
    }
}

impl Laplacian {
    /// A Laplacian with one boundary for each axis, all spacings 1 and no shift.
    pub fn new(boundaries: impl IntoIterator<Item = GridBoundary>) -> Self {
        let axes = boundaries.into_iter().map(|ends| Line { weight: 1.0, ends }).collect();
        Laplacian { axes, shift: 0.0 }
    }

    /// Sets the spacings, one for each axis.
    ///
    /// # Errors
    /// `Error::Argument` if the number of spacings is not the number of axes, or if a spacing is not a positive finite
    /// number.
    pub fn spacing(mut self, spacing: &[f64]) -> Result<Self> {
        if spacing.len() != self.axes.len() || spacing.iter().any(|h| !(*h > 0.0 && h.is_finite())) {
            return Err(Error::argument(
                "Laplacian",
                format!("`spacing` is {spacing:?}, but must be {} positive numbers", self.axes.len()),
            ));
        }
        self.axes.iter_mut().zip(spacing).for_each(|(axis, h)| axis.weight = 1.0 / (h * h));
        Ok(self)
    }

    /// Sets the factor `shift`: the operator subtracts `shift` times its argument.
    pub fn shift(mut self, shift: f64) -> Self {
        self.shift = shift;
        self
    }

    /// Returns the matrix of this operator for grids of this shape. The unknowns are the elements of the grid in C
    /// order. Direct methods and incomplete factorizations need this matrix.
    ///
    /// # Errors
    /// `Error::Shape` if the shape does not have one axis for each axis of the operator; `Error::Memory`.
    pub fn to_csr<B: Backend, T: WideFloat>(&self, b: &B, shape: &[usize]) -> Result<Csr<B, T>> {
        if shape.len() != self.axes.len() {
            return Err(Error::shape("Laplacian", shape, format!("the operator has {} axes", self.axes.len())));
        }
        let n: usize = shape.iter().product();
        let number = |x: f64| T::from_real(T::Real::of(x));
        let mut elements = Vec::with_capacity(n.saturating_mul(1 + 2 * shape.len()));
        for k in 0..n {
            elements.push((k, k, number(self.diagonal())));
            let mut stride = n;
            for (axis, &length) in self.axes.iter().zip(shape) {
                stride /= length;
                let at = k / stride % length;
                for (is_end, other, across) in [
                    (at == 0, k.wrapping_sub(stride), k + (length - 1) * stride),
                    (at + 1 == length, k + stride, k.wrapping_sub((length - 1) * stride)),
                ] {
                    match (is_end, axis.ends) {
                        (false, _) => elements.push((k, other, number(axis.weight))),
                        (true, GridBoundary::Periodic) => elements.push((k, across, number(axis.weight))),
                        (true, GridBoundary::Neumann) => elements.push((k, k, number(axis.weight))),
                        (true, GridBoundary::Zero) => {}
                    }
                }
            }
        }
        Coo::from_triplets(b, elements, [n, n])?.to_csr(b)
    }

    pub(super) fn lines(&self) -> &[Line] {
        &self.axes
    }

    pub(super) fn of_lines(axes: Vec<Line>, shift: f64) -> Self {
        Laplacian { axes, shift }
    }

    pub(super) fn shift_value(&self) -> f64 {
        self.shift
    }

    /// The diagonal element of the matrix for a grid point away from the boundaries.
    pub(super) fn diagonal(&self) -> f64 {
        -self.shift - 2.0 * self.axes.iter().map(|axis| axis.weight).sum::<f64>()
    }

    /// Extends the grid by one element beyond both ends of each axis, as the boundary conditions require.
    fn padded<B: Backend, T: WideFloat>(&self, b: &B, x: &B::Array<T>) -> Result<B::Array<T>> {
        let first = x.ndim() - self.axes.len();
        let mut widths = vec![(0, 0); x.ndim()];
        widths[first..].fill((1, 1));
        let Some(Line { ends, .. }) = self.axes.first() else { return Ok(x.clone()) };
        let mode = ends.padding();
        if self.axes.iter().any(|axis| axis.ends != self.axes[0].ends) {
            return self.padded_by_axes(b, x, first);
        }
        b.pad_with(x, widths, PadOptions::new().mode(mode))
    }

    fn padded_by_axes<B: Backend, T: WideFloat>(&self, b: &B, x: &B::Array<T>, first: usize) -> Result<B::Array<T>> {
        self.axes.iter().enumerate().try_fold(x.clone(), |x, (k, axis)| beyond(b, &x, first + k, axis.ends))
    }
}

/// Extends the array by one element beyond both ends of an axis, as the boundary condition `ends` requires.
pub(super) fn beyond<B: Backend, T: WideFloat>(
    b: &B,
    x: &B::Array<T>,
    axis: usize,
    ends: GridBoundary,
) -> Result<B::Array<T>> {
    let mut widths = vec![(0, 0); x.ndim()];
    widths[axis] = (1, 1);
    b.pad_with(x, widths, PadOptions::new().mode(ends.padding()))
}

/// The slice `start..stop`, with the given step, along one axis.
pub(super) fn part<B: Backend, T: WideFloat>(
    b: &B,
    x: &B::Array<T>,
    axis: usize,
    start: isize,
    stop: isize,
    step: isize,
) -> Result<B::Array<T>> {
    let mut slices = vec![Slice::ALL; x.ndim()];
    slices[axis] = Slice::from(start..stop).step(step);
    b.getitem(x, slices)
}

impl<B: Backend, T: WideFloat> LinearOperator<B, T> for Laplacian {
    fn apply(&self, b: &B, x: &B::Array<T>) -> Result<B::Array<T>> {
        let axes = self.axes.len();
        if x.ndim() < axes {
            return Err(Error::shape("Laplacian", x.shape(), format!("has fewer than {axes} axes")));
        }
        if x.is_empty() || axes == 0 {
            let center = self.diagonal();
            return expr!(b, center * x);
        }
        let first = x.ndim() - axes;
        let around = self.padded(b, x)?;
        // the grid shifted by one element along an axis, as a view
        let moved = |axis: usize, by: isize| {
            let mut slices = vec![Slice::ALL; first];
            slices.extend((0..axes).map(|k| {
                let start = 1 + if k == axis { by } else { 0 };
                Slice::from(start..start + x.shape()[first + k] as isize)
            }));
            b.getitem(&around, slices)
        };
        let center = self.diagonal();
        let pair = |axis: usize| Ok::<_, Error>((moved(axis, -1)?, moved(axis, 1)?, self.axes[axis].weight));
        match axes {
            1 => {
                let (l, r, w) = pair(0)?;
                expr!(b, w * (l + r) + center * x)
            }
            2 => {
                let ((u, d, wy), (l, r, wx)) = (pair(0)?, pair(1)?);
                expr!(b, wy * (u + d) + wx * (l + r) + center * x)
            }
            _ => {
                let mut sum = expr!(b, center * x)?;
                for axis in 0..axes {
                    let (l, r, w): (<B as Arrays>::Array<T>, _, _) = pair(axis)?;
                    expr!(b, sum += w * (l + r))?;
                }
                Ok(sum)
            }
        }
    }

    fn apply_adjoint(&self, b: &B, y: &B::Array<T>) -> Result<Option<B::Array<T>>> {
        self.apply(b, y).map(Some).map_err(|why| why.within(OP))
    }

    fn unknown_ndim(&self) -> Option<usize> {
        Some(self.axes.len())
    }

    fn is_hermitian(&self) -> bool {
        true
    }
}
