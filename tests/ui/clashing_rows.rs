//! Ops with names of methods that every backend has, and an op composed with an unknown option: each gives one error.

use backends::{Result, prelude::*};

backends::backend! { table = "clashing_rows.toml", trait = Clashing }

fn of_any<B: Backend + Clashing>(b: &B, x: &B::Array<f64>) -> Result<Vec<usize>> {
    let (b, x) = (b.clone(), b.third(b.halves(x.clone())?)?);
    Ok(b.shape(&x).to_vec())
}

fn main() -> Result<()> {
    let b = Numpyish::new();
    of_any(&b, &b.asarray([1.0])?).map(drop)
}
