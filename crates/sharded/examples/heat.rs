//! Simulates the heat equation on a plate, on the ranks (processes) that a launcher starts: `mpiexec -n 4
//! target/release/examples/heat [ROWS] [STEPS]`.
//!
//! The steps are written for any backend. Each rank holds some rows of the plate, and exchanges the rows at the edges
//! of its part with its neighbours. The program itself contains no code for this exchange.

use backends::{Result, prelude::*};
use backends_sharded::{Sharded, World, run};
use std::time::Instant;

/// Computes one time step, in which every point moves towards the mean of its neighbours.
#[allow(clippy::reversed_empty_ranges)] // in `1..-1`, -1 counts from the end of the axis
fn step<B: Backend>(b: &B, u: &mut B::Array<f64>) -> Result<()> {
    let next = expr!(b, u[1..-1, 1..-1] + 0.1 * (u[..-2, 1..-1] + u[2.., 1..-1] + u[1..-1, ..-2] + u[1..-1, 2..] - 4.0 * u[1..-1, 1..-1]))?;
    b.set(u, ix![1..-1, 1..-1], next)
}

/// Returns the mean temperature of the plate after `steps` steps. At the start, the left edge and some random points
/// are hot.
fn heat<B: Backend>(b: &B, rows: usize, steps: usize) -> Result<f64> {
    b.seed(1);
    let mut u = b.random_uniform::<f64>([rows, 1000])?;
    b.set(&mut u, ix![.., 0], 100.0)?;
    for _ in 0..steps {
        step(b, &mut u)?;
    }
    b.item(&b.mean(&u, ..)?)
}

fn main() {
    run(|world: &World| -> Result<()> {
        let number = |k: usize, default| std::env::args().nth(k).and_then(|n| n.parse().ok()).unwrap_or(default);
        let (rows, steps) = (number(1, 2000), number(2, 100));
        let b = Sharded::new(Numpyish::seeded(0), world.clone())?;
        let start = Instant::now();
        let mean = heat(&b, rows, steps)?;
        if world.rank() == 0 {
            let (seconds, spent) = (start.elapsed().as_secs_f64(), world.spent());
            println!(
                "{} ranks: mean temperature {mean:.12}, {seconds:.2} s, of which {:.2} s in messages",
                world.size(),
                spent.seconds
            );
        }
        Ok(())
    })
}
