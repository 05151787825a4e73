//! An op whose table restricts it to a set of dtypes rejects other dtypes, even if its trait bound allows them.

use backends::{Result, prelude::*};

backends::backend! { table = "../../../../tests/ui/narrow.toml", trait = Narrow }

fn main() -> Result<()> {
    let b = Numpyish::new();
    b.popcount_like(&b.asarray([1_i64])?)?;
    b.popcount_like(&b.asarray([1_i32])?)?;
    Ok(())
}
