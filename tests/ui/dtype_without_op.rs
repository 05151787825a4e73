//! An op on a dtype that it does not have.

use backends::prelude::*;

fn main() -> Result<()> {
    let b = Numpyish::new();
    let x = b.asarray([1_i32, 2])?;
    b.exp(&x)?;
    Ok(())
}
