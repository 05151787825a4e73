//! Mistakes in formulas that the compiler detects.

use backends::{Result, prelude::*};

fn main() -> Result<()> {
    let b = Numpyish::new();
    let (x, y) = (b.zeros::<f64>([2])?, b.zeros::<f32>([2])?);
    let n = b.zeros::<i64>([2])?;
    let flags = b.zeros::<bool>([2])?;
    expr!(b, x + y)?;
    expr!(b, n * 0.5)?;
    expr!(b, exp(n))?;
    expr!(b, flags + 1)?;
    expr!(b, x + "text")?;
    expr!(b, clip(x, y, 1))?;
    let s = 2.0;
    expr!(b, s * s)?;
    expr!(b, expp(x))?;
    expr!(b, x < y < 1)?;
    expr!(b, sum(x + n, 0))?;
    expr!(b, x + missing)?;
    expr!(b, x[0.5] + 1)?;
    Ok(())
}
