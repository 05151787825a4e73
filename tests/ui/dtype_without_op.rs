//! Calls an op on an array whose dtype the op does not support.

use backends::{Result, prelude::*};

fn main() -> Result<()> {
    let b = Numpyish::new();
    let x = b.asarray([1_i32, 2])?;
    b.exp(&x)?;
    Ok(())
}
