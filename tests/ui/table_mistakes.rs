//! All mistakes in a table are reported in one compilation. Code that uses the table's ops gives no further errors.

use backends::{Result, prelude::*};

backends::backend! { table = "bad.toml", trait = Bad }

fn twice<B: Backend + Bad>(b: &B, x: &B::Array<f64>) -> Result<B::Array<f64>> {
    b.swish(&b.swish(x)?)
}

fn main() -> Result<()> {
    twice(&Numpyish::new(), &Numpyish::new().asarray([1.0])?).map(drop)
}
