//! A non-uniform transform that is prepared once and run many times.

use super::kernel::{self, Kernel};
use crate::runtime::rules;
use crate::{Backend, ComplexFloat, ConcatOptions, Error, FftnOptions, IfftnOptions, Norm, Real, Result, Slice};
use std::f64::consts::TAU;

/// Minimum number of elements that gathering and spreading process at a time; if the fine grid has more elements, that
/// number is used. It is large enough to keep a GPU busy, and small enough for a CPU's cache.
const CHUNK: usize = 1 << 18;

/// The direction of a non-uniform Fourier transform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NufftType {
    /// From values at non-uniform points to uniform modes: `f[k] = sum_j c[j] exp(i isign k.x[j])`.
    One,
    /// From uniform modes to values at non-uniform points: `c[j] = sum_k f[k] exp(i isign k.x[j])`.
    Two,
}

/// A non-uniform Fourier transform with fixed modes, accuracy and points, for many arrays.
///
/// [`new`](NufftPlan::new) computes everything that depends on the modes, [`set_points`](NufftPlan::set_points)
/// everything that depends on the points; [`execute`](NufftPlan::execute) is then one FFT and one pass over the points.
///
/// Points are angles in radians and are folded to one period. Modes are centred: the N modes along an axis go from
/// `-(N // 2)` to `(N - 1) // 2`. The method is that of Barnett, Magland and af Klinteberg (2019), on a grid twice as
/// fine as the modes.
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
    grid: Vec<usize>,
    forward: bool,
    kernel: Kernel,
    /// A factor for each mode, broadcastable to the shape of the modes.
    deconvolution: B::Array<C>,
    /// For each axis, a factor for each grid point.
    phases: Vec<B::Array<C>>,
    points: usize,
    /// For each axis and point, the kernel's offsets in the flat grid and its values there; shapes (points, width).
    near: Vec<Near<B, C>>,
}

/// The part of the fine grid near each point, along one axis.
#[derive(Clone, Debug)]
struct Near<B: Backend, C: ComplexFloat> {
    places: B::Array<i64>,
    weights: B::Array<C>,
}

/// Returns an error if a coordinate is infinite or NaN.
fn require_finite<B: Backend, T: Real>(op: &'static str, b: &B, points: &[&B::Array<T>]) -> Result<()> {
    let mut all = None;
    for &x in points {
        let of_axis = b.all(b.isfinite(x)?, ..)?;
        all = Some(match all {
            Some(others) => b.logical_and(others, of_axis)?,
            None => of_axis,
        });
    }
    match all.map(|all| b.item(all)).transpose()? {
        Some(false) => Err(Error::argument(op, "a coordinate is not finite")),
        _ => Ok(()),
    }
}

impl<B: Backend, C: ComplexFloat> NufftPlan<B, C> {
    /// A plan for `n_modes` modes along each of one to three axes, with a relative error of about `eps`, and the sign
    /// of `isign` (0 counts as positive) in the exponent. An `eps` below the rounding error of the dtype is raised to
    /// that error.
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
        let kernel = Kernel::of::<C>(op, eps)?;
        // if the number of modes is 0, nothing is computed, whatever the lengths of the other axes
        let empty = rules::count(op, n_modes, size_of::<C>())? == 0;
        let n_tables = if empty { vec![1; n_modes.len()] } else { n_modes.to_vec() };
        let grid = n_tables.iter().map(|&n| kernel.grid(op, n)).collect::<Result<Vec<_>>>()?;
        rules::count(op, &grid, size_of::<C>())?;

        let sign = if isign < 0 { -1.0 } else { 1.0 };
        let complex = |(re, im): &(f64, f64)| C::from_parts(C::Real::of(*re), C::Real::of(*im));
        let mut deconvolution = b.ones::<C>(vec![1; n_modes.len()])?;
        let mut phases = Vec::with_capacity(n_modes.len());
        for (axis, (&modes, &length)) in n_tables.iter().zip(&grid).enumerate() {
            let table = kernel.deconvolution(op, modes, length)?;
            let factors = b.asarray(kernel::mapped(op, &table, |&d| C::from_real(C::Real::of(d)))?)?;
            let mut along = vec![1; n_modes.len()];
            along[axis] = -1;
            deconvolution = b.multiply(&deconvolution, &b.reshape(&factors, along)?)?;
            let table = kernel::phases(op, modes, length, sign)?;
            phases.push(b.asarray(kernel::mapped(op, &table, complex)?)?);
        }
        let mut plan = NufftPlan {
            backend: b.clone(),
            op,
            kind,
            modes: n_modes.to_vec(),
            grid,
            forward: isign < 0,
            kernel,
            deconvolution,
            phases,
            points: 0,
            near: Vec::new(),
        };
        let none = b.zeros::<C::Real>([0])?;
        plan.set_points(&vec![&none; n_modes.len()])?;
        Ok(plan)
    }

    /// Sets the points: for each axis, a 1-D array of the points' coordinates along that axis. A new plan has no
    /// points.
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
        let (count, width) = (first[0], self.kernel.width);
        rules::count(self.op, &[count, width], size_of::<C>())?;
        if count > 0 {
            require_finite::<B, C::Real>(self.op, b, points)?;
        }
        let strides = rules::c_strides(&self.grid);
        let near = (0..self.modes.len()).map(|axis| self.near(axis, points[axis], strides[axis] as i64));
        self.near = near.collect::<Result<_>>()?;
        self.points = count;
        Ok(())
    }

    /// The grid points within the kernel's width around each coordinate along one axis, and the kernel's values there.
    fn near(&self, axis: usize, x: &B::Array<C::Real>, stride: i64) -> Result<Near<B, C>> {
        let (b, beta) = (&self.backend, self.kernel.beta);
        let (length, width) = (self.grid[axis] as f64, self.kernel.width as f64);
        let (period, half, scale) = (self.grid[axis] as i64, width / 2.0, 2.0 / width);
        let position = expr!(b, let periods = x / TAU; (periods - floor(periods)) * length)?;
        let position = b.expand_dims(&position, 1)?;
        let steps = b.arange(C::Real::of(0.0), C::Real::of(width), C::Real::of(1.0))?;
        let places = expr!(b, remainder(astype::<i64>(ceil(position - half) + steps), period))?;

        let phases = b.take(&self.phases[axis], b.flatten(&places)?, 0)?;
        let phases = b.reshape(phases, [-1, self.kernel.width as isize])?;
        let weights = expr!(b,
            let from_here = (ceil(position - half) + steps - position) * scale;
            let value = exp((sqrt(maximum(1 - square(from_here), 0)) - 1) * beta);
            astype::<C>(value) * phases
        )?;
        Ok(Near { places: b.multiply(places, stride)?, weights })
    }

    /// Transforms `data`: values at the points for type 1, modes for type 2. A leading extra axis is a batch.
    pub fn execute(&self, data: &B::Array<C>) -> Result<B::Array<C>> {
        match self.kind {
            NufftType::One => self.to_modes(data),
            NufftType::Two => self.to_points(data),
        }
    }

    fn to_points(&self, modes: &B::Array<C>) -> Result<B::Array<C>> {
        let b = &self.backend;
        let (batch, mut result_shape) = self.batch(b.shape(modes), &self.modes)?;
        result_shape.push(self.points);
        if self.points == 0 || b.size(modes) == 0 {
            return b.zeros(result_shape);
        }
        let grid = self.transform(&b.multiply(modes, &self.deconvolution)?)?;
        let grid = b.reshape(&grid, [batch as isize, -1])?;
        let mut parts = Vec::new();
        for chunk in self.chunks(batch) {
            let mut values = b.take(&grid, &self.places(&chunk)?, 1)?;
            values = b.reshape(&values, self.cube(batch, &chunk))?;
            for axis in (0..self.grid.len()).rev() {
                values = b.sum(&b.multiply(&values, &self.weights(axis, &chunk)?)?, -1)?;
            }
            parts.push(values);
        }
        let all = b.concat_with(&parts, ConcatOptions::new().axis(1))?;
        b.reshape(&all, signed(&result_shape))
    }

    fn to_modes(&self, values: &B::Array<C>) -> Result<B::Array<C>> {
        let b = &self.backend;
        let (batch, mut result_shape) = self.batch(b.shape(values), &[self.points])?;
        result_shape.extend(&self.modes);
        if self.points == 0 || rules::count(self.op, &result_shape, size_of::<C>())? == 0 {
            return b.zeros(result_shape);
        }
        let grid = self.transform(&self.on_grid(values, batch)?)?;
        let mut low = vec![Slice::ALL];
        low.extend(self.modes.iter().map(|&n| Slice::from(..n)));
        let modes = b.multiply(&b.getitem(&grid, low)?, &self.deconvolution)?;
        b.reshape(&modes, signed(&result_shape))
    }

    /// Spreads the values of the points over the fine grid, (batch, ..), with the phases that number its modes from 0.
    fn on_grid(&self, values: &B::Array<C>, batch: usize) -> Result<B::Array<C>> {
        let b = &self.backend;
        let values = b.reshape(values, [batch as isize, -1])?;
        let mut grid = b.zeros::<C>([batch, self.grid.iter().product()])?;
        for chunk in self.chunks(batch) {
            let mut spread = b.getitem(&values, [Slice::ALL, chunk.clone().into()])?;
            for axis in 0..self.grid.len() {
                spread = b.multiply(&b.expand_dims(&spread, -1)?, &self.weights(axis, &chunk)?)?;
            }
            let spread = b.reshape(&spread, [batch as isize, -1])?;
            grid = b.scatter_add(&grid, &self.places(&chunk)?, &spread, 1)?;
        }
        let mut shape = vec![batch as isize];
        shape.extend(signed(&self.grid));
        b.reshape(&grid, shape)
    }

    /// Spreads the values of the points over the fine grid, (batch, ..), on which angle 0 is in the middle.
    pub(super) fn spread(&self, values: &B::Array<C>) -> Result<B::Array<C>> {
        let b = &self.backend;
        let (batch, _) = self.batch(b.shape(values), &[self.points])?;
        let mut grid = self.on_grid(values, batch)?;
        let axes = self.grid.len();
        for (axis, phases) in self.phases.iter().enumerate() {
            let mut along = vec![1; axes];
            along[axis] = -1;
            grid = b.multiply(grid, b.reshape(b.conj(phases)?, along)?)?;
        }
        b.fftshift(grid, (1..=axes as isize).collect::<Vec<_>>())
    }

    /// Lengths of the fine grid.
    pub(super) fn grid(&self) -> &[usize] {
        &self.grid
    }

    /// The spreading kernel.
    pub(super) fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// The unscaled FFT over the last axes, with the sign of the plan; the axes are padded with zeros to the fine grid.
    fn transform(&self, x: &B::Array<C>) -> Result<B::Array<C>> {
        let axes: Vec<isize> = (-(self.grid.len() as isize)..0).collect();
        if self.forward {
            self.backend.fftn_with(x, FftnOptions::new().s(&self.grid[..]).axes(&axes[..]))
        } else {
            self.backend.ifftn_with(x, IfftnOptions::new().s(&self.grid[..]).axes(&axes[..]).norm(Norm::Forward))
        }
    }

    /// Number of transforms in data of this shape, and the leading batch shape (empty without a batch axis).
    fn batch(&self, given: &[usize], one: &[usize]) -> Result<(usize, Vec<usize>)> {
        let front = given.strip_suffix(one).filter(|front| front.len() <= 1);
        let front = front.ok_or_else(|| Error::shapes(self.op, given, one))?;
        Ok((front.first().copied().unwrap_or(1), front.to_vec()))
    }

    /// Ranges of points whose kernels together cover about as many elements as the grid, or [`CHUNK`] if that is
    /// larger.
    fn chunks(&self, batch: usize) -> impl Iterator<Item = std::ops::Range<usize>> + use<B, C> {
        let touched = self.kernel.width.pow(self.grid.len() as u32);
        let grid: usize = self.grid.iter().product();
        let length = (grid.max(CHUNK / batch.max(1)) / touched).max(1);
        let points = self.points;
        (0..points).step_by(length).map(move |start| start..points.min(start.saturating_add(length)))
    }

    /// Flat positions in the grid of the kernels of some points.
    fn places(&self, chunk: &std::ops::Range<usize>) -> Result<B::Array<i64>> {
        let b = &self.backend;
        let mut all = b.getitem(&self.near[0].places, [Slice::from(chunk.clone())])?;
        for (axis, near) in self.near.iter().enumerate().skip(1) {
            let along = b.getitem(&near.places, [Slice::from(chunk.clone())])?;
            all = b.add(&b.expand_dims(&all, -1)?, &b.reshape(&along, self.beside(axis))?)?;
        }
        b.flatten(&all)
    }

    /// The kernel's values along one axis, shaped to multiply an array (batch, points, width, ..) whose last axis is
    /// this one.
    fn weights(&self, axis: usize, chunk: &std::ops::Range<usize>) -> Result<B::Array<C>> {
        let b = &self.backend;
        b.reshape(&b.getitem(&self.near[axis].weights, [Slice::from(chunk.clone())])?, self.beside(axis))
    }

    /// The shape (points, 1, .., width), with a 1 for each axis before this one.
    fn beside(&self, axis: usize) -> Vec<isize> {
        let mut shape = vec![1; axis + 2];
        shape[0] = -1;
        shape[axis + 1] = self.kernel.width as isize;
        shape
    }

    /// The shape (batch, points, width, .., width).
    fn cube(&self, batch: usize, chunk: &std::ops::Range<usize>) -> Vec<isize> {
        let mut shape = vec![batch as isize, chunk.len() as isize];
        shape.resize(2 + self.grid.len(), self.kernel.width as isize);
        shape
    }
}

fn signed(shape: &[usize]) -> Vec<isize> {
    shape.iter().map(|&n| n as isize).collect()
}
