//! Arrays of two backends in one op: nothing moves silently.

use backends::prelude::*;

fn main() -> Result<()> {
    let (b, torch) = (Numpyish::new(), Torch::cpu()?);
    let (x, y) = (b.asarray([1.0_f64])?, torch.asarray([1.0_f64])?);
    b.add(&x, &y)?;
    Ok(())
}
