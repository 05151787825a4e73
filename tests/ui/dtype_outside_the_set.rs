//! An op that its table restricts to some dtypes rejects other dtypes, even if the method's trait bound allows them.

use backends::{Result, prelude::*};

backends::backend! { table = "narrow.toml", trait = Narrow }

fn main() -> Result<()> {
    let b = Numpyish::new();
    b.popcount_like(&b.asarray([1_i64])?)?;
    b.popcount_like(&b.asarray([1_i32])?)?;
    Ok(())
}
