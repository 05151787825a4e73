//! The scenes: the initial state of the fluid, and the forces on it.

use crate::{fluid::Fluid, walls::Walled};
use backends::{Backend, Precision, RandomNormalOptions, Result, expr};
use std::{f64::consts::TAU, str::FromStr};

/// The available scenes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scene {
    /// Warm smoke rises from a source near the ground.
    Plume,
    /// A stream between two streams in the opposite direction. The boundary layers between the streams roll up.
    Shear,
    /// A stream from the left around a cylinder, with an oscillating wake; stripes of smoke make the flow visible.
    Cylinder,
    /// Searches for the inflow of smoke at the ground that produces a given picture, through the gradient of the
    /// simulation: see `inverse`.
    Inflow,
}

impl FromStr for Scene {
    type Err = &'static str;

    fn from_str(name: &str) -> std::result::Result<Scene, &'static str> {
        match name {
            "plume" => Ok(Scene::Plume),
            "shear" => Ok(Scene::Shear),
            "cylinder" => Ok(Scene::Cylinder),
            "inflow" => Ok(Scene::Inflow),
            _ => Err("the scenes are plume, shear, cylinder and inflow"),
        }
    }
}

impl Scene {
    /// The name of the scene on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Scene::Plume => "plume",
            Scene::Shear => "shear",
            Scene::Cylinder => "cylinder",
            Scene::Inflow => "inflow",
        }
    }
}

/// A fluid, either without obstacles or around them.
pub enum Flow<B: Backend, T: Precision> {
    /// A flow without obstacles.
    Free(Fluid<B, T>),
    /// A flow around obstacles.
    Walled(Walled<B, T>),
}

impl<B: Backend, T: Precision> Flow<B, T> {
    /// Moves `carried`, an array with one value per cell, and the velocity itself along the flow for a time `dt`.
    /// Returns the moved array.
    pub fn advect(&mut self, carried: &B::Array<T>, dt: f64) -> Result<B::Array<T>> {
        match self {
            Flow::Free(fluid) => {
                let [up, right] = &fluid.velocity;
                let [up, right, moved] = fluid.advect([up, right, carried], dt)?;
                fluid.velocity = [up, right];
                Ok(moved)
            }
            Flow::Walled(fluid) => fluid.advect(carried, dt),
        }
    }

    /// Adds `push` times (density - mean density) to the upward velocity of each cell. Smoke is lighter than the fluid
    /// without smoke: cells with much smoke rise, cells with little smoke sink, and the box as a whole does not move.
    pub fn lift(&mut self, b: &B, density: &B::Array<T>, push: f64) -> Result<()> {
        let mean = b.mean(density, ..)?;
        match self {
            Flow::Free(fluid) => {
                let up = &mut fluid.velocity[0];
                expr!(b, *up += push * (density - mean))
            }
            Flow::Walled(fluid) => {
                // the mean with the cell below is the density on the face between the two cells
                let below = b.roll(density, 1, 0)?;
                let up = &mut fluid.velocity[0];
                expr!(b, *up += push * (0.5 * (density + below) - mean))
            }
        }
    }

    /// Makes the velocity free of divergence.
    pub fn project(&mut self) -> Result<()> {
        match self {
            Flow::Free(fluid) => fluid.project(),
            Flow::Walled(fluid) => fluid.project(),
        }
    }

    /// The divergence: the rate at which fluid leaves each cell.
    pub fn divergence(&self) -> Result<B::Array<T>> {
        match self {
            Flow::Free(fluid) => fluid.divergence(),
            Flow::Walled(fluid) => fluid.divergence(),
        }
    }

    /// Twice the angular velocity of each cell.
    pub fn vorticity(&self) -> Result<B::Array<T>> {
        match self {
            Flow::Free(fluid) => fluid.vorticity(),
            Flow::Walled(fluid) => fluid.vorticity(),
        }
    }

    /// The velocity of the cells along both axes.
    pub fn velocity(&self) -> Result<[B::Array<T>; 2]> {
        match self {
            Flow::Free(fluid) => Ok(fluid.velocity.clone()),
            Flow::Walled(fluid) => fluid.at_cells(),
        }
    }
}

/// A fluid that carries smoke, with densities between 0 and 1.
pub struct Smoke<B: Backend, T: Precision> {
    /// The flow that carries the smoke.
    pub flow: Flow<B, T>,
    /// The amount of smoke in each cell.
    pub density: B::Array<T>,
    inflow: Inflow<B, T>,
}

/// The source of the smoke.
enum Inflow<B: Backend, T: Precision> {
    Nowhere,
    /// The amount of smoke that appears in each cell per unit of time. The smoke is warmer than the surrounding fluid.
    Source(B::Array<T>),
    /// A stream to the right with the speed `speed` and the smoke density `smoke`. The weight of a cell sets how
    /// closely the fluid in the cell follows the stream.
    Stream {
        speed: f64,
        smoke: B::Array<T>,
        weights: B::Array<T>,
    },
}

/// `RATE` is the smoke density that the source adds per unit of time, at its centre. `BUOYANCY` is the upward speed
/// that smoke gains per unit of time.
const RATE: f64 = 0.2;
const BUOYANCY: f64 = 0.06;

/// The tolerance of the solve around obstacles: the remaining divergence, relative to the initial divergence.
const TOLERANCE: f64 = 1e-4;

/// The coordinates of the cell centres along both axes, as fractions of the box. The array of one axis has length 1
/// along the other axis, so it broadcasts.
pub fn middles<B: Backend, T: Precision>(b: &B, [rows, columns]: [usize; 2]) -> Result<[B::Array<T>; 2]> {
    let line = |n: usize| b.arange(T::of(0.5 / n as f64), T::ONE, T::of(1.0 / n as f64));
    Ok([b.expand_dims(line(rows)?, 1)?, b.expand_dims(line(columns)?, 0)?])
}

/// Returns an array that is 0 in a disc and 1 outside of it. The centre (y, x) of the disc is given as fractions of the
/// box, its radius in cells.
pub fn around_disc<B: Backend, T: Precision>(
    b: &B,
    [rows, columns]: [usize; 2],
    [y, x]: [f64; 2],
    radius: f64,
) -> Result<B::Array<T>> {
    let [i, j] = middles::<B, T>(b, [rows, columns])?;
    let (rows, columns) = (rows as f64, columns as f64);
    let square = expr!(b, (rows * (i - y)) * *2 + (columns * (j - x)) * *2)?;
    expr!(b, astype::<T>(square > radius * *2))
}

impl<B: Backend, T: Precision> Smoke<B, T> {
    /// Creates the initial state of a scene, with small disturbances drawn from the backend's random numbers.
    pub fn new(b: &B, scene: Scene, shape: [usize; 2]) -> Result<Self> {
        let [y, x] = middles::<B, T>(b, shape)?;
        let noise = |std: f64| b.random_normal_with::<T>(shape, RandomNormalOptions::new().std(std));
        match scene {
            Scene::Plume | Scene::Inflow => {
                let source = expr!(b, RATE * exp(-((y - 0.12) * *2 + (x - 0.5) * *2) / (2.0 * 0.03 * *2)))?;
                let flow = Flow::Free(Fluid::new(b, [noise(0.05)?, noise(0.05)?])?);
                Ok(Smoke { flow, density: b.zeros(shape)?, inflow: Inflow::Source(source) })
            }
            Scene::Shear => {
                let layer = expr!(b, tanh((y - 0.25) / 0.02) - tanh((y - 0.75) / 0.02) + 0.0 * x)?;
                let wave = expr!(b, 0.1 * sin(TAU * 2.0 * x) + 0.0 * y)?;
                let up = b.add(wave, noise(0.01)?)?;
                let density = expr!(b, 0.5 * layer)?;
                let flow = Flow::Free(Fluid::new(b, [up, expr!(b, layer - 1.0)?])?);
                Ok(Smoke { flow, density, inflow: Inflow::Nowhere })
            }
            Scene::Cylinder => {
                let speed = 1.0;
                let radius = shape[0] as f64 / 10.0;
                let fluid = around_disc::<B, T>(b, shape, [0.5, 0.25], radius)?;
                let up = b.add(noise(0.02)?, expr!(b, 0.05 * speed * sin(TAU * (x + 0.0 * y)))?)?;
                let velocity = [up, b.full(shape, T::of(speed))?];
                let flow = Flow::Walled(Walled::new(b, fluid, velocity, TOLERANCE)?);
                let weights = expr!(b, exp(-((x - 0.03) / 0.02) * *2) + 0.0 * y)?;
                // the smoke forms ten stripes
                let smoke = expr!(b, 1.0 / (1.0 + exp(-20.0 * sin(TAU * 10.0 * y))) + 0.0 * x)?;
                let inflow = Inflow::Stream { speed, smoke, weights };
                Ok(Smoke { flow, density: b.zeros(shape)?, inflow })
            }
        }
    }

    /// Advances the scene by a time `dt`.
    pub fn step(&mut self, b: &B, dt: f64) -> Result<()> {
        self.density = self.flow.advect(&self.density, dt)?;
        match (&self.inflow, &mut self.flow) {
            (Inflow::Source(source), flow) => {
                let density = &mut self.density;
                expr!(b, *density = minimum(density + dt * source, 1.0))?;
                flow.lift(b, density, dt * BUOYANCY)?;
            }
            (Inflow::Stream { speed, smoke, weights }, Flow::Walled(fluid)) => {
                let (speed, density) = (*speed, &mut self.density);
                let [up, right] = &mut fluid.velocity;
                expr!(b, *up *= 1.0 - weights)?;
                expr!(b, *right += weights * (speed - right))?;
                expr!(b, *density += weights * (smoke - density))?;
            }
            _ => {}
        }
        self.flow.project()
    }
}
