//! A table whose ops call functions that do not exist. Each error names the op and the function.

use backends::{Result, prelude::*};

mod kernels {}

backends::backend! { table = "missing_functions.toml", trait = Missing }

fn main() -> Result<()> {
    let b = Numpyish::new();
    b.energy(&b.halve(&b.asarray([1.0])?)?).map(drop)
}
