//! Functions that rows name and that are not there: each error has the row and the function.

use backends::prelude::*;

mod kernels {}

backends::backend! { table = "../../../../tests/ui/missing_functions.toml", trait = Missing }

fn main() -> Result<()> {
    let b = Numpyish::new();
    b.energy(&b.halve(&b.asarray([1.0])?)?).map(drop)
}
