//! Arrays of two dtypes in one op are an error, because dtypes are never promoted silently.

use backends::{Result, prelude::*};

fn main() -> Result<()> {
    let b = Numpyish::new();
    let (x, y) = (b.asarray([1.0_f32])?, b.asarray([1.0_f64])?);
    b.add(&x, &y)?;
    Ok(())
}
