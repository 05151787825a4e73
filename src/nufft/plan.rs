//! A plan of non-uniform Fourier transforms: prepared once, then run on many arrays.

use super::design::{Accuracy, Design};
use crate::runtime::rules;
use crate::{
    Backend, ComplexFloat, ConcatOptions, Error, FftOptions, IfftOptions, Norm, NufftInterpolateOptions,
    NufftSpreadOptions, Result, Slice, StackOptions,
};

/// The direction of a non-uniform Fourier transform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NufftType {
    /// From values at non-uniform points to modes, the Fourier coefficients at integer frequencies:
    /// `f[k] = sum_j c[j] exp(i isign k.x[j])`.
    One,
    /// From modes, the Fourier coefficients at integer frequencies, to values at non-uniform points:
    /// `c[j] = sum_k f[k] exp(i isign k.x[j])`.
    Two,
}

/// A non-uniform Fourier transform with fixed modes, accuracy and points, to be run on many arrays.
///
/// [`new`](NufftPlan::new) checks the parameters, and [`set_points`](NufftPlan::set_points) computes everything that
/// depends on the points and their number. Each [`execute`](NufftPlan::execute) then needs one FFT and one pass over
/// the points.
///
/// Points are angles in radians and are folded to one period. Modes are centred: the N modes along an axis go from
/// `-(N // 2)` to `(N - 1) // 2`. A Kaiser-Bessel kernel spreads the values over a grid that is finer than the modes,
/// or interpolates values from this grid, as in J. A. Fessler and B. P. Sutton (2003), Nonuniform fast Fourier
/// transforms using min-max interpolation, and A. Barnett, J. Magland and L. af Klinteberg (2019), A parallel
/// nonuniform fast Fourier transform library.
///
/// ```
/// use backends::prelude::*;
/// use backends::{NufftPlan, NufftType};
///
/// # fn main() -> backends::Result<()> {
/// let b = Numpyish::new();
/// let x = b.asarray([0.1, 2.0, -3.0])?;
/// let y = b.asarray([1.0, 0.5, 0.0])?;
/// let mut plan = NufftPlan::new(&b, NufftType::Two, &[8, 6], 1e-9, -1)?;
/// plan.set_points(&[&x, &y])?;
/// let modes = b.ones::<Complex<f64>>([8, 6])?;
/// assert_eq!(b.shape(&plan.execute(&modes)?), [3]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct NufftPlan<B: Backend, C: ComplexFloat> {
    backend: B,
    op: &'static str,
    kind: NufftType,
    modes: Vec<usize>,
    accuracy: Accuracy,
    forward: bool,
    /// `None` before the first points are set.
    points: Option<Points<B, C>>,
}

/// The points of a plan, and everything computed from them.
#[derive(Clone, Debug)]
struct Points<B: Backend, C: ComplexFloat> {
    count: usize,
    /// Coordinates of the points, of shape (points, axes).
    coordinates: B::Array<C::Real>,
    /// Indices of the points, in the order in which the backend spreads the points.
    sorted: B::Array<i64>,
    design: Design,
    /// For each mode, the factor that corrects for the kernel. The array has the shape of the modes.
    factors: B::Array<C>,
}

impl<B: Backend, C: ComplexFloat> NufftPlan<B, C> {
    /// Creates a plan for transforms along one to three axes, with `n_modes` modes along each axis and a relative error
    /// of about `eps`. The exponent has the sign of `isign` (0 counts as positive). An `eps` below the rounding error
    /// of the dtype is raised to the rounding error.
    pub fn new(b: &B, kind: NufftType, n_modes: &[usize], eps: f64, isign: isize) -> Result<Self> {
        let op = match (kind, n_modes.len()) {
            (NufftType::One, 1) => "nufft1d_type1",
            (NufftType::Two, 1) => "nufft1d_type2",
            (NufftType::One, 2) => "nufft2d_type1",
            (NufftType::One, 3) => "nufft3d_type1",
            (NufftType::Two, 2) => "nufft2d_type2",
            (NufftType::Two, 3) => "nufft3d_type2",
            _ => {
                return Err(Error::shape("nufft", n_modes, "of the modes must have one to three axes"));
            }
        };
        let accuracy = Accuracy::of::<C::Real>(op, eps)?;
        rules::count(op, n_modes, size_of::<C>())?;
        // if one axis has 0 modes, nothing is computed, so the lengths of the other axes do not matter
        if !n_modes.contains(&0) {
            rules::count(op, &Design::largest_grid(op, n_modes)?, size_of::<C>())?;
        }
        let (backend, modes) = (b.clone(), n_modes.to_vec());
        Ok(NufftPlan { backend, op, kind, modes, accuracy, forward: isign < 0, points: None })
    }

    /// Sets the points; a new plan has none. `points` has one 1-D array per axis, with the points' coordinates along
    /// that axis.
    pub fn set_points(&mut self, points: &[&B::Array<C::Real>]) -> Result<()> {
        let b = &self.backend;
        if points.len() != self.modes.len() {
            let why = format!(
                "{} arrays of coordinates were given, but there must be {}, one for each axis of the modes",
                points.len(),
                self.modes.len()
            );
            return Err(Error::argument(self.op, why));
        }
        let first = b.shape(points[0]);
        if first.len() != 1 {
            return Err(Error::shape(self.op, first, "of the coordinates of the points must have one axis"));
        }
        if let Some(other) = points.iter().map(|p| b.shape(p)).find(|s| *s != first) {
            return Err(Error::shapes(self.op, first, other));
        }
        let points = Points::new(b, self.op, &self.modes, self.accuracy, points);
        self.points = Some(points.map_err(|error| error.within(self.op))?);
        Ok(())
    }

    /// Transforms `data`: values at the points for type 1, modes for type 2. An additional leading axis is a batch
    /// axis.
    pub fn execute(&self, data: &B::Array<C>) -> Result<B::Array<C>> {
        let b = &self.backend;
        let count = self.points.as_ref().map_or(0, |points| points.count);
        let (from, to) = match self.kind {
            NufftType::One => (&[count][..], &self.modes[..]),
            NufftType::Two => (&self.modes[..], &[count][..]),
        };
        let mut shape = self.front(b.shape(data), from)?;
        shape.extend(to);
        match &self.points {
            Some(points) if !shape.contains(&0) && b.size(data) > 0 => {
                self.transform(points, data).map_err(|error| error.within(self.op))
            }
            _ => b.zeros(shape),
        }
    }

    fn transform(&self, points: &Points<B, C>, data: &B::Array<C>) -> Result<B::Array<C>> {
        let b = &self.backend;
        match self.kind {
            NufftType::One => {
                let mut grid = points.spread(b, data)?;
                for (axis, &length) in points.design.grid.iter().enumerate().rev() {
                    grid = self.modes_of(&self.transformed(&grid, axis)?, axis, length)?;
                }
                b.multiply(grid, &points.factors)
            }
            NufftType::Two => {
                let mut grid = b.multiply(data, &points.factors)?;
                for (axis, &length) in points.design.grid.iter().enumerate() {
                    grid = self.transformed(&self.on_grid(&grid, axis, length)?, axis)?;
                }
                points.interpolate(b, &grid)
            }
        }
    }

    /// Returns the axes of the shape `given` that precede the shape `one`, which the data of a single transform have:
    /// the length of the batch axis, or an empty list if there is no batch axis.
    fn front(&self, given: &[usize], one: &[usize]) -> Result<Vec<usize>> {
        let front = given.strip_suffix(one).filter(|front| front.len() <= 1);
        front.map(<[usize]>::to_vec).ok_or_else(|| Error::shapes(self.op, given, one))
    }

    /// Converts an axis of the modes to an axis of an array that may have a leading batch axis.
    fn axis_of_array(&self, axis: usize) -> isize {
        axis as isize - self.modes.len() as isize
    }

    /// The unscaled FFT along one axis of the grid, with the plan's sign of the exponent.
    fn transformed(&self, x: &B::Array<C>, axis: usize) -> Result<B::Array<C>> {
        let axis = self.axis_of_array(axis);
        if self.forward {
            self.backend.fft_with(x, FftOptions::new().axis(axis))
        } else {
            self.backend.ifft_with(x, IfftOptions::new().axis(axis).norm(Norm::Forward))
        }
    }

    /// Selects the modes of an axis from a transform whose negative frequencies are at the end, and returns them in
    /// ascending order.
    fn modes_of(&self, x: &B::Array<C>, axis: usize, grid: usize) -> Result<B::Array<C>> {
        let (b, modes, negative) = (&self.backend, self.modes[axis], self.modes[axis] / 2);
        let part = |range: std::ops::Range<usize>| b.getitem(x, self.along(x, axis, range));
        let parts = [part(grid - negative..grid)?, part(0..modes - negative)?];
        b.concat_with(&parts, ConcatOptions::new().axis(self.axis_of_array(axis)))
    }

    /// Copies modes, which are in ascending order, to their indices in the input of a transform along an axis of the
    /// grid. All other elements of this input are zeros.
    fn on_grid(&self, x: &B::Array<C>, axis: usize, grid: usize) -> Result<B::Array<C>> {
        let (b, modes, negative) = (&self.backend, self.modes[axis], self.modes[axis] / 2);
        let part = |range: std::ops::Range<usize>| b.getitem(x, self.along(x, axis, range));
        let mut between = b.shape(x).to_vec();
        let place = between.len() - self.modes.len() + axis;
        between[place] = grid - modes;
        let parts = [part(negative..modes)?, b.zeros(between)?, part(0..negative)?];
        b.concat_with(&parts, ConcatOptions::new().axis(self.axis_of_array(axis)))
    }

    /// The slices that select a range along one axis of the grid.
    fn along(&self, x: &B::Array<C>, axis: usize, range: std::ops::Range<usize>) -> Vec<Slice> {
        let mut all = vec![Slice::ALL; self.backend.shape(x).len()];
        let place = all.len() - self.modes.len() + axis;
        all[place] = Slice::from(range);
        all
    }
}

impl<B: Backend, C: ComplexFloat> Points<B, C> {
    fn new(
        b: &B,
        op: &'static str,
        modes: &[usize],
        accuracy: Accuracy,
        points: &[&B::Array<C::Real>],
    ) -> Result<Self> {
        let count = b.shape(points[0])[0];
        // if one axis has 0 modes, nothing is computed, so the lengths of the other axes do not matter
        let modes = if modes.contains(&0) { vec![1; modes.len()] } else { modes.to_vec() };
        let design = Design::new(op, accuracy, &modes, count)?;
        rules::count(op, &design.grid, size_of::<C>())?;
        let coordinates = b.stack_with(points, StackOptions::new().axis(1))?;
        let sorted = b.nufft_sort(&coordinates, &design.grid[..], design.width)?;
        let mut factors: Option<B::Array<C>> = None;
        for axis in 0..modes.len() {
            let of_axis = design.factors::<B, C>(b, axis, modes[axis])?;
            let mut along = vec![1; modes.len()];
            along[axis] = -1;
            let of_axis = b.reshape(of_axis, along)?;
            factors = Some(match factors {
                Some(others) => b.multiply(others, of_axis)?,
                None => of_axis,
            });
        }
        let factors = match factors {
            Some(factors) => factors,
            None => b.ones([1])?,
        };
        Ok(Points { count, coordinates, sorted, design, factors })
    }

    /// Spreads the values at the points over the grid. `values` has the shape (.., points).
    fn spread(&self, b: &B, values: &B::Array<C>) -> Result<B::Array<C>> {
        let Design { width, beta, tolerance, grid } = &self.design;
        let options = NufftSpreadOptions::new().eps(*tolerance).sorted(&self.sorted);
        b.nufft_spread_with(&self.coordinates, values, &grid[..], *width, *beta, options)
    }

    /// Interpolates the values on a grid at the points. `grid` has the shape (.., lengths of the grid).
    fn interpolate(&self, b: &B, grid: &B::Array<C>) -> Result<B::Array<C>> {
        let Design { width, beta, tolerance, .. } = self.design;
        let options = NufftInterpolateOptions::new().eps(tolerance).sorted(&self.sorted);
        b.nufft_interpolate_with(&self.coordinates, grid, width, beta, options)
    }
}
