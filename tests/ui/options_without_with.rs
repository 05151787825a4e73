//! Options passed to `sum`, which takes none; the method that takes options is `sum_with`.

use backends::{Result, prelude::*};

fn main() -> Result<()> {
    let b = Numpyish::new();
    b.sum(&b.ones::<f64>([2, 3])?, 0, SumOptions::new().keepdims(true))?;
    Ok(())
}
