//! A set of a table is what it says, though its bound has more dtypes.

use backends::prelude::*;

backends::backend! { table = "../../../../tests/ui/narrow.toml", trait = Narrow }

fn main() -> Result<()> {
    let b = Numpyish::new();
    b.popcount_like(&b.asarray([1_i64])?)?;
    b.popcount_like(&b.asarray([1_i32])?)?;
    Ok(())
}
