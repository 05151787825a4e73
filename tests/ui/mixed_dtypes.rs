//! Two dtypes in one op: nothing is promoted silently.

use backends::prelude::*;

fn main() -> Result<()> {
    let b = Numpyish::new();
    let (x, y) = (b.asarray([1.0_f32])?, b.asarray([1.0_f64])?);
    b.add(&x, &y)?;
    Ok(())
}
