//! Every mistake of a table, in one compile; nothing is said of code that uses its ops.

use backends::prelude::*;

backends::backend! { table = "../../../../tests/ui/bad.toml", trait = Bad }

fn twice<B: Backend + Bad>(b: &B, x: &B::Array<f64>) -> Result<B::Array<f64>> {
    b.swish(&b.swish(x)?)
}

fn main() -> Result<()> {
    twice(&Numpyish::new(), &Numpyish::new().asarray([1.0])?).map(drop)
}
