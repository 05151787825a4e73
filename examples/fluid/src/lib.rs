//! Smoke in an incompressible fluid: a simulation over any backend, with obstacles, and with gradients through all steps.

pub mod fluid;
pub mod inflow;
pub mod scene;
pub mod walls;
