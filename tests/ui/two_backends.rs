//! Arrays of two backends in one op are an error: no array is moved silently. An op changes no argument.

use backends::{Result, prelude::*};

fn main() -> Result<()> {
    let (b, torch) = (Numpyish::new(), Torch::cpu()?);
    let (mut x, y) = (b.asarray([1.0_f64])?, torch.asarray([1.0_f64])?);
    b.add(&x, &y)?;
    b.exp(&y)?;
    b.concat([&y])?;
    b.exp(&mut x)?;
    b.sum(1.5, ..)?;
    Ok(())
}
