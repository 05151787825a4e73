//! Mistakes in index lists. The compiler reports each mistake by an error message of its own.

use backends::{Result, prelude::*};

fn main() -> Result<()> {
    let b = Numpyish::new();
    let mut x = b.asarray([[1.0, 2.0], [3.0, 4.0]])?;
    let i = b.asarray([1_i32, 0])?;
    b.get(&x, ix![.., &x])?;
    b.get(&x, ix![&i])?;
    b.get(&x, ix!["first"])?;
    b.get(&x, 0)?;
    b.set(&x, ix![0], 1.0)?;
    b.index_put(&mut x, ix![0], 1.0)?;
    expr!(b, set(x, ix![0], 1.0))?;
    expr!(b, x[0][1] = 2.0)?;
    expr!(b, exp(x)[0] = 2.0)?;
    expr!(b, x[0] <= 2.0 = x)?;
    Ok(())
}
