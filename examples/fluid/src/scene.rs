//! What the fluid does at first, and what acts on it.

use crate::fluid::Fluid;
use backends::{Backend, Precision, RandomNormalOptions, Result, expr};
use std::str::FromStr;

/// The scenes there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scene {
    /// Warm smoke rises from a source near the ground.
    Plume,
    /// A stream between two of the other direction, which roll up where they meet.
    Shear,
}

impl FromStr for Scene {
    type Err = &'static str;

    fn from_str(name: &str) -> std::result::Result<Scene, &'static str> {
        match name {
            "plume" => Ok(Scene::Plume),
            "shear" => Ok(Scene::Shear),
            _ => Err("the scenes are plume and shear"),
        }
    }
}

/// A fluid with smoke in it, between 0 and 1.
pub struct Smoke<B: Backend, T: Precision> {
    pub fluid: Fluid<B, T>,
    pub density: B::Array<T>,
    /// Smoke that comes out of the source in a unit of time.
    source: Option<B::Array<T>>,
}

/// How fast smoke is made at the source, and how fast it rises, per unit of time.
const RATE: f64 = 0.2;
const BUOYANCY: f64 = 0.06;

impl<B: Backend, T: Precision> Smoke<B, T> {
    /// The scene at its beginning; its small disturbances are the backend's next random numbers.
    pub fn new(b: &B, scene: Scene, [rows, columns]: [usize; 2]) -> Result<Self> {
        let line = |n: usize| b.arange(T::of(0.5 / n as f64), T::ONE, T::of(1.0 / n as f64));
        let (y, x) = (b.expand_dims(line(rows)?, 1)?, b.expand_dims(line(columns)?, 0)?);
        let noise = |std: f64| b.random_normal_with::<T>([rows, columns], RandomNormalOptions::new().std(std));
        match scene {
            Scene::Plume => {
                let source = expr!(b, RATE * exp(-((y - 0.12) * *2 + (x - 0.5) * *2) / (2.0 * 0.03 * *2)))?;
                let fluid = Fluid::new(b, [noise(0.05)?, noise(0.05)?])?;
                let density = b.zeros([rows, columns])?;
                Ok(Smoke { fluid, density, source: Some(source) })
            }
            Scene::Shear => {
                let layer = expr!(b, tanh((y - 0.25) / 0.02) - tanh((y - 0.75) / 0.02) + 0.0 * x)?;
                let wave = expr!(b, 0.1 * sin(6.283185307179586 * 2.0 * x) + 0.0 * y)?;
                let up = b.add(wave, noise(0.01)?)?;
                let density = expr!(b, 0.5 * layer)?;
                Ok(Smoke { fluid: Fluid::new(b, [up, expr!(b, layer - 1.0)?])?, density, source: None })
            }
        }
    }

    /// The scene after a time `dt`.
    pub fn step(&mut self, b: &B, dt: f64) -> Result<()> {
        let [up, right] = &self.fluid.velocity;
        let [up, right, density] = self.fluid.advect([up, right, &self.density], dt)?;
        self.fluid.velocity = [up, right];
        self.density = density;
        if let Some(source) = &self.source {
            let density = &mut self.density;
            expr!(b, *density = minimum(density + dt * source, 1.0))?;
            // what is lighter than the mean rises, and the rest sinks: the box as a whole stays where it is
            let mean = b.item(b.mean(&self.density, ..)?)?;
            let (up, density) = (&mut self.fluid.velocity[0], &self.density);
            let push = dt * BUOYANCY;
            expr!(b, *up += push * (density - mean))?;
        }
        self.fluid.project()
    }
}
