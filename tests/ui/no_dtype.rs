//! New arrays need a dtype if nothing else determines it, as in `b.zeros::<f64>([2, 3])`.

use backends::{Result, prelude::*};

fn main() -> Result<()> {
    let b = Numpyish::new();
    b.zeros([2, 3])?;
    Ok(())
}
