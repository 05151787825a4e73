//! Lattice Boltzmann method.
//!
//! Simulates a flow around obstacles, with nine velocities (D2Q9). The fluid enters at the left edge.

use backends::{Backend, Precision, Result, expr, ix};

const DIRECTIONS: [[i64; 2]; 9] = [[0, 0], [0, 1], [1, 0], [0, -1], [-1, 0], [1, 1], [1, -1], [-1, -1], [-1, 1]];
const OPPOSITE: [i64; 9] = [0, 3, 4, 1, 2, 7, 8, 5, 6];
const WEIGHTS: [f64; 9] = [4.0, 1.0, 1.0, 1.0, 1.0, 0.25, 0.25, 0.25, 0.25]; // in units of 1 / 9

/// The velocity (2, rows, columns) after some steps. `obstacle` (rows, columns) is true where there is no fluid.
pub fn flow<B: Backend, T: Precision>(
    b: &B, obstacle: &B::Array<bool>, speed: f64, viscosity: f64, steps: usize,
) -> Result<B::Array<T>> {
    let (rate, size, opposite) = (1.0 / (3.0 * viscosity + 0.5), b.shape(obstacle), b.asarray(OPPOSITE)?);
    let (directions, weights) = (b.astype::<T, _>(b.asarray(DIRECTIONS)?)?, b.astype::<T, _>(b.asarray(WEIGHTS)?)?);
    let equilibrium = |density: &B::Array<T>, velocity: &B::Array<T>| {
        let along = expr!(b, 3 * einsum("ka,ayx->kyx", [directions, velocity]))?;
        let square = expr!(b, 1.5 * sum(square(velocity), 0))?;
        expr!(b, weights[.., None, None] / 9 * density * (1 + along + square(along) / 2 - square))
    };
    let mut velocity = b.zeros([2, size[0], size[1]])?;
    b.set(&mut velocity, ix![1], T::of(speed))?;
    let mut f = equilibrium(&b.ones(size)?, &velocity)?;
    let inflow = b.get(&f, ix![.., .., 0])?;
    for _ in 0..steps {
        let density = b.sum(&f, 0)?;
        velocity = expr!(b, einsum("ka,kyx->ayx", [directions, f]) / density)?;
        let target = equilibrium(&density, &velocity)?;
        let bounced = expr!(b, where(obstacle, f[&opposite], f + rate * (target - f)))?;
        for (k, shift) in DIRECTIONS.into_iter().enumerate() {
            expr!(b, f[k] = roll(bounced[k], shift.map(|x| x as isize), [0, 1]))?;
        }
        expr!(b, f[.., .., 0] = inflow)?;
    }
    Ok(velocity)
}
