//! Passes a list of axes to an op that takes one axis, and a float to an op that takes numbers of repetitions.

use backends::{Result, prelude::*};

fn main() -> Result<()> {
    let b = Numpyish::new();
    let x = b.ones::<f64>([2, 3])?;
    b.cumulative_sum(&x, [0, 1])?;
    b.tile(&x, 2.0)?;
    Ok(())
}
