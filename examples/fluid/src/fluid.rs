//! An incompressible fluid in a periodic box, on any backend.

use backends::{
    Backend, Boundary, Error, GridSampleOptions, IrfftnOptions, Precision, Result, StackOptions, UnstackOptions, expr,
};
use ndarray::{Array2, ArrayD, IxDyn};
use std::f64::consts::TAU;

/// A fluid whose time step is not limited by its velocity. In a step, each cell takes the value at the position from
/// which the fluid in the cell comes (semi-Lagrangian advection). Fourier transforms compute the pressure, which keeps
/// the fluid incompressible.
///
/// Lengths are in cells; axis 0 points up. Arrays have the shape of the grid.
pub struct Fluid<B: Backend, T: Precision> {
    backend: B,
    shape: [usize; 2],
    /// For each axis, the coordinates of all cells along this axis.
    cells: [B::Array<T>; 2],
    /// The wave numbers along both axes, of shapes (n, 1) and (1, m / 2 + 1). For even lengths the highest frequency
    /// has wave number 0, because its derivative is not real.
    waves: [B::Array<T::Complex>; 2],
    /// 1 / |k|^2 for each wave vector k, and 0 for k = 0.
    inverse: B::Array<T::Complex>,
    /// The velocity along both axes, in cells per unit of time.
    pub velocity: [B::Array<T>; 2],
}

impl<B: Backend, T: Precision> Fluid<B, T> {
    /// Creates a fluid with this velocity, in cells per unit of time along both axes.
    pub fn new(b: &B, velocity: [B::Array<T>; 2]) -> Result<Self> {
        let &[rows, columns] = b.shape(&velocity[0]) else {
            return Err(Error::shape("fluid", b.shape(&velocity[0]), "of the velocity must have two axes"));
        };
        if b.shape(&velocity[1]) != [rows, columns] {
            return Err(Error::shapes("fluid", b.shape(&velocity[0]), b.shape(&velocity[1])));
        }
        let waves = [waves(rows, rows), waves(columns, columns / 2 + 1)];
        let square = Array2::from_shape_fn((waves[0].len(), waves[1].len()), |(i, j)| {
            let square = waves[0][i].powi(2) + waves[1][j].powi(2);
            if square == 0.0 { 0.0 } else { 1.0 / square }
        });
        let complex = |x: ArrayD<f64>| b.complex(b.asarray(x.mapv(T::of))?, T::ZERO);
        let [across, along] = [[waves[0].len(), 1], [1, waves[1].len()]];
        let [up, right] = waves;
        let [up, right] = [(up, across), (right, along)]
            .map(|(k, shape)| ArrayD::from_shape_vec(IxDyn(&shape), k).expect("as many numbers as waves"));
        let lines = [rows, columns].map(|n| b.arange(T::ZERO, T::of(n as f64), T::ONE));
        let [i, j] = lines;
        let [i, j] = [b.expand_dims(i?, 1)?, b.expand_dims(j?, 0)?];
        Ok(Fluid {
            shape: [rows, columns],
            cells: [b.broadcast_to(i, [rows, columns])?, b.broadcast_to(j, [rows, columns])?],
            waves: [complex(up)?, complex(right)?],
            inverse: complex(square.into_dyn())?,
            velocity,
            backend: b.clone(),
        })
    }

    /// Returns the arrays `carried` after the fluid has carried them for a time `dt`. Each cell gets the value at the
    /// position from which its fluid comes, by linear interpolation between cells.
    pub fn advect<const N: usize>(&self, carried: [&B::Array<T>; N], dt: f64) -> Result<[B::Array<T>; N]> {
        let b = &self.backend;
        let [i, j] = &self.cells;
        let [up, right] = &self.velocity;
        let last = StackOptions::new().axis(-1);
        let origins = b.stack_with([expr!(b, i - dt * up)?, expr!(b, j - dt * right)?], last)?;
        // makes one batch item with one grid, and one channel per array
        let grid = b.expand_dims(b.stack_with(carried, last)?, 0)?;
        let periodic = GridSampleOptions::new().mode(Boundary::GridWrap);
        let moved = b.grid_sample_with(grid, b.expand_dims(origins, 0)?, periodic)?;
        let [rows, columns] = self.shape;
        let moved = b.reshape(moved, [rows, columns, N])?;
        let mut moved = b.unstack_with(moved, UnstackOptions::new().axis(-1))?.into_iter();
        Ok(carried.map(|_| moved.next().expect("a channel for each array")))
    }

    /// Moves the velocity along with the fluid: advects it by itself.
    pub fn advect_velocity(&mut self, dt: f64) -> Result<()> {
        let [up, right] = &self.velocity;
        self.velocity = self.advect([up, right], dt)?;
        Ok(())
    }

    /// Makes the velocity free of divergence by subtracting the gradient of the pressure.
    pub fn project(&mut self) -> Result<()> {
        let b = &self.backend;
        let [k, l] = &self.waves;
        let [up, right] = [b.rfftn(&self.velocity[0])?, b.rfftn(&self.velocity[1])?];
        let inverse = &self.inverse;
        let pressure = expr!(b, (k * up + l * right) * inverse)?;
        let back = |x: B::Array<T::Complex>| b.irfftn_with(x, IrfftnOptions::new().s(self.shape));
        self.velocity = [back(expr!(b, up - k * pressure)?)?, back(expr!(b, right - l * pressure)?)?];
        Ok(())
    }

    /// The divergence: the rate at which fluid leaves each cell.
    pub fn divergence(&self) -> Result<B::Array<T>> {
        let b = &self.backend;
        let [k, l] = &self.waves;
        let [up, right] = [b.rfftn(&self.velocity[0])?, b.rfftn(&self.velocity[1])?];
        self.turned(expr!(b, k * up + l * right)?)
    }

    /// Twice the angular velocity of each cell, counterclockwise if axis 0 points up and axis 1 to the right.
    pub fn vorticity(&self) -> Result<B::Array<T>> {
        let b = &self.backend;
        let [k, l] = &self.waves;
        let [up, right] = [b.rfftn(&self.velocity[0])?, b.rfftn(&self.velocity[1])?];
        self.turned(expr!(b, l * up - k * right)?)
    }

    /// The array whose spectrum is `spectrum` times i. If `spectrum` is a wave number times the spectrum of an array,
    /// the result is a derivative of that array.
    fn turned(&self, spectrum: B::Array<T::Complex>) -> Result<B::Array<T>> {
        let b = &self.backend;
        let (re, im) = (b.real(&spectrum)?, b.imag(&spectrum)?);
        let turned = b.complex(b.negative(im)?, re)?;
        b.irfftn_with(turned, IrfftnOptions::new().s(self.shape))
    }
}

/// The first `count` wave numbers of an axis of `n` cells, in radians per cell, in the order of the coefficients of a
/// Fourier transform.
fn waves(n: usize, count: usize) -> Vec<f64> {
    let wave = |i: usize| if 2 * i == n { 0.0 } else { i as f64 - if 2 * i > n { n as f64 } else { 0.0 } };
    (0..count).map(|i| TAU * wave(i) / n as f64).collect()
}
