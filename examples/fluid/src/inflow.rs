//! The picture that an inflow of smoke at the ground produces after the smoke has risen around an obstacle. The simulation
//! runs on any backend, and so does its gradient, which passes through all steps and through the linear solve in each
//! step.

use crate::{
    scene::{Flow, around_disc, middles},
    walls::Walled,
};
use backends::{Backend, Precision, Result, expr};

/// The upward speed that a cell full of smoke gains per unit of time.
const BUOYANCY: f64 = 0.6;

/// The tolerance of each solve: the remaining divergence, relative to the initial divergence. It is small, because
/// gradients pass through many solves.
const TOLERANCE: f64 = 1e-5;

/// Simulates the smoke that an inflow causes, and returns the picture: the amount of smoke in each cell after all
/// steps. The inflow is the amount of smoke per unit of time in each cell along the ground.
pub fn smoke<B: Backend, T: Precision>(
    b: &B,
    inflow: &B::Array<T>,
    [rows, columns]: [usize; 2],
    steps: usize,
    dt: f64,
) -> Result<B::Array<T>> {
    let shape = [rows, columns];
    let [y, _] = middles::<B, T>(b, shape)?;
    let ground = expr!(b, exp(-((y - 0.08) / 0.03) * *2))?;
    let fluid = around_disc::<B, T>(b, shape, [0.45, 0.5], rows.min(columns) as f64 / 9.0)?;
    let rest = [b.zeros::<T>(shape)?, b.zeros::<T>(shape)?];
    let mut flow = Flow::Walled(Walled::new(b, fluid, rest, TOLERANCE)?);
    let mut density = b.zeros::<T>(shape)?;
    for _ in 0..steps {
        density = flow.advect(&density, dt)?;
        expr!(b, density += dt * ground * inflow)?;
        flow.lift(b, &density, dt * BUOYANCY)?;
        flow.project()?;
    }
    Ok(density)
}
