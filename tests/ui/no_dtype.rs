//! New arrays have a dtype: `b.zeros::<f64>([2, 3])`, where nothing else says it.

use backends::prelude::*;

fn main() -> Result<()> {
    let b = Numpyish::new();
    b.zeros([2, 3])?;
    Ok(())
}
