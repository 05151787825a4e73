//! A fluid around obstacles, on any backend: velocities are on the faces between cells, and a linear solve gives the
//! pressure.

use backends::{Backend, Boundary, Error, GridSampleOptions, IrfftnOptions, Precision, Result, StackOptions, expr};
use backends_solvers::linear::{Method, Solve};
use ndarray::ArrayD;
use std::f64::consts::TAU;

/// A fluid in a periodic box with obstacles. No fluid flows through the sides of the obstacles.
///
/// Velocities are stored at the centres of the faces that the fluid passes through (a staggered or MAC grid: Harlow and
/// Welch, 1965). Element (i, j) of the velocity along an axis is on the face between cell (i, j) and the previous cell
/// along this axis. Lengths are in cells.
pub struct Walled<B: Backend, T: Precision> {
    backend: B,
    shape: [usize; 2],
    /// The coordinates of the cells along both axes.
    cells: [B::Array<T>; 2],
    /// 1 in the fluid and 0 in obstacles.
    pub fluid: B::Array<T>,
    /// For both axes, 1 on the faces with fluid on both sides, otherwise 0.
    open: [B::Array<T>; 2],
    /// The reciprocal eigenvalues of the pressure operator without obstacles, used as the preconditioner of the solve.
    inverse: B::Array<T::Complex>,
    /// The velocity through the faces along both axes, in cells per unit of time.
    pub velocity: [B::Array<T>; 2],
    /// The pressure from which the next solve starts.
    pub pressure: Option<B::Array<T>>,
    /// The tolerance of the solve: the largest remaining divergence, relative to the initial divergence.
    tolerance: f64,
    /// If set, each solve makes this number of iterations, independent of the residual. This is for plans, which
    /// predict communication and memory: their values, and so their residuals, are meaningless.
    pub iterations: Option<usize>,
}

/// Returns, for each element of `x`, the element before it along `axis` of the periodic box.
fn before<B: Backend, T: Precision>(b: &B, x: &B::Array<T>, axis: isize) -> Result<B::Array<T>> {
    b.roll(x, 1, axis)
}

fn after<B: Backend, T: Precision>(b: &B, x: &B::Array<T>, axis: isize) -> Result<B::Array<T>> {
    b.roll(x, -1, axis)
}

impl<B: Backend, T: Precision> Walled<B, T> {
    /// Creates a fluid around obstacles. `fluid` is 1 in the fluid and 0 in obstacles. `velocity` is the velocity
    /// through the faces between cells, along both axes.
    pub fn new(b: &B, fluid: B::Array<T>, velocity: [B::Array<T>; 2], tolerance: f64) -> Result<Self> {
        let &[rows, columns] = b.shape(&fluid) else {
            return Err(Error::shape("walls", b.shape(&fluid), "of the obstacles must have two axes"));
        };
        for velocity in &velocity {
            if b.shape(velocity) != [rows, columns] {
                return Err(Error::shapes("walls", b.shape(&fluid), b.shape(velocity)));
            }
        }
        let behind = [before::<B, T>(b, &fluid, 0)?, before::<B, T>(b, &fluid, 1)?];
        let [up, right] = behind.map(|behind| expr!(b, fluid * behind));
        let wave = |i: usize, n: usize| 2.0 - 2.0 * (TAU * i as f64 / n as f64).cos();
        let inverse = ArrayD::from_shape_fn(vec![rows, columns / 2 + 1], |at| {
            let value = wave(at[0], rows) + wave(at[1], columns);
            T::of(if value == 0.0 { 0.0 } else { 1.0 / value })
        });
        let lines = [rows, columns].map(|n| b.arange(T::ZERO, T::of(n as f64), T::ONE));
        let [i, j] = lines;
        let [i, j] = [b.expand_dims(i?, 1)?, b.expand_dims(j?, 0)?];
        Ok(Walled {
            shape: [rows, columns],
            cells: [b.broadcast_to(i, [rows, columns])?, b.broadcast_to(j, [rows, columns])?],
            open: [up?, right?],
            inverse: b.complex(b.asarray(inverse)?, T::ZERO)?,
            fluid,
            velocity,
            pressure: None,
            tolerance,
            iterations: None,
            backend: b.clone(),
        })
    }

    /// Moves the position of each element back by `dt` times the velocity, and returns the value of `x` at this
    /// position, by linear interpolation.
    fn carried(&self, x: &B::Array<T>, [up, right]: [&B::Array<T>; 2], dt: f64) -> Result<B::Array<T>> {
        let b = &self.backend;
        let [i, j] = &self.cells;
        let places = b.stack_with([expr!(b, i - dt * up)?, expr!(b, j - dt * right)?], StackOptions::new().axis(-1))?;
        let [rows, columns] = self.shape;
        let grid = b.reshape(x, [1, rows, columns, 1])?;
        let periodic = GridSampleOptions::new().mode(Boundary::GridWrap);
        b.reshape(b.grid_sample_with(grid, b.expand_dims(places, 0)?, periodic)?, [rows, columns])
    }

    /// The velocity at the centres of the cells.
    pub fn at_cells(&self) -> Result<[B::Array<T>; 2]> {
        let b = &self.backend;
        let [up, right] = &self.velocity;
        let (above, beyond) = (after::<B, T>(b, up, 0)?, after::<B, T>(b, right, 1)?);
        Ok([expr!(b, 0.5 * (up + above))?, expr!(b, 0.5 * (right + beyond))?])
    }

    /// Moves `carried`, an array with one value per cell, and the velocity itself along the flow for a time `dt`.
    /// Nothing is moved into obstacles. Returns the moved array.
    pub fn advect(&mut self, carried: &B::Array<T>, dt: f64) -> Result<B::Array<T>> {
        let b = &self.backend;
        let [up, right] = &self.velocity;
        // computes each velocity component at the faces of the other component
        let (above, beyond) = (after::<B, T>(b, up, 0)?, after::<B, T>(b, right, 1)?);
        let both_up = expr!(b, up + above)?;
        let both_right = expr!(b, right + beyond)?;
        let (left, below) = (before::<B, T>(b, &both_up, 1)?, before::<B, T>(b, &both_right, 0)?);
        let up_there = expr!(b, 0.25 * (both_up + left))?;
        let right_there = expr!(b, 0.25 * (both_right + below))?;
        let [center_up, center_right] = self.at_cells()?;
        let moved = self.carried(carried, [&center_up, &center_right], dt)?;
        let velocity = [self.carried(up, [up, &right_there], dt)?, self.carried(right, [&up_there, right], dt)?];
        let fluid = &self.fluid;
        let moved = expr!(b, fluid * moved)?;
        self.velocity = velocity;
        Ok(moved)
    }

    /// The divergence: the rate at which fluid leaves each cell.
    pub fn divergence(&self) -> Result<B::Array<T>> {
        let b = &self.backend;
        let [up, right] = &self.velocity;
        let (above, beyond) = (after::<B, T>(b, up, 0)?, after::<B, T>(b, right, 1)?);
        expr!(b, above - up + beyond - right)
    }

    /// Twice the angular velocity at the centre of each cell, counterclockwise.
    pub fn vorticity(&self) -> Result<B::Array<T>> {
        let b = &self.backend;
        let [up, right] = self.at_cells()?;
        let (left, beyond) = (before::<B, T>(b, &up, 1)?, after::<B, T>(b, &up, 1)?);
        let (below, above) = (before::<B, T>(b, &right, 0)?, after::<B, T>(b, &right, 0)?);
        let fluid = &self.fluid;
        expr!(b, fluid * 0.5 * (beyond - left - (above - below)))
    }

    /// Makes the velocity u 0 at obstacles and free of divergence. It subtracts the gradient of the pressure p, which
    /// solves `div(open grad p) = div(open u)`. Here `open` is 1 on faces with fluid on both sides, otherwise 0.
    pub fn project(&mut self) -> Result<()> {
        let b = self.backend.clone();
        let b = &b;
        let ([up, right], [open_up, open_right]) = (&self.velocity, &self.open);
        self.velocity = [expr!(b, open_up * up)?, expr!(b, open_right * right)?];
        let source = b.negative(self.divergence()?)?;
        let fluid = &self.fluid;
        let operator = |b: &B, p: &B::Array<T>| {
            let (below, left) = (before::<B, T>(b, p, 0)?, before::<B, T>(b, p, 1)?);
            let up = expr!(b, open_up * (p - below))?;
            let right = expr!(b, open_right * (p - left))?;
            let (above, beyond) = (after::<B, T>(b, &up, 0)?, after::<B, T>(b, &right, 1)?);
            // there is no equation for p in obstacles, so p is set to 0 there
            expr!(b, up - above + right - beyond + (1 - fluid) * p)
        };
        let (inverse, shape) = (self.inverse.clone(), self.shape);
        let without_obstacles = move |b: &B, r: &B::Array<T>| {
            let spectrum = b.multiply(b.rfftn(r)?, &inverse)?;
            b.irfftn_with(spectrum, IrfftnOptions::new().s(shape))
        };
        let mut solve = Solve::new().method(Method::Cg).rtol(self.tolerance).hermitian(true);
        solve = solve.preconditioner(without_obstacles);
        if let Some(pressure) = &self.pressure {
            solve = solve.x0(pressure);
        }
        if let Some(iterations) = self.iterations {
            solve = solve.rtol(0.0).atol(0.0).max_iter(iterations);
        }
        let solution = solve.solve_matrix_free(b, operator, &source)?;
        let pressure = if self.iterations.is_some() { solution.x } else { solution.into_x()? };
        let (below, left) = (before::<B, T>(b, &pressure, 0)?, before::<B, T>(b, &pressure, 1)?);
        let [up, right] = &self.velocity;
        self.velocity =
            [expr!(b, up - open_up * (pressure - below))?, expr!(b, right - open_right * (pressure - left))?];
        self.pressure = Some(pressure);
        Ok(())
    }
}
