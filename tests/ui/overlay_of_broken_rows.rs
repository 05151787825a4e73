//! A table's mistake is reported once, and not again by overlays (which implement the ops for a further backend).

use backends::{Result, prelude::*};
use bare::Bare;

backends::backend! { table = "broken_rows.toml", trait = User }

#[path = "shared/bare.rs"]
mod bare;

backends::backend! { overlay = "bare.toml", partial = true }
backends::backend! { any = Mine, of = [Numpyish, Bare] }
backend_user! { overlay = "bare.toml" }
backend_user! { any = Mine, of = [Numpyish, Bare] }

fn twice<B: Backend + User>(b: &B, x: &B::Array<f64>) -> Result<B::Array<f64>> {
    b.third(b.halve(x)?)
}

fn main() -> Result<()> {
    twice(&Bare, &Bare.asarray([1.0])?)?;
    let b = Mine::from(Bare);
    twice(&b, &b.asarray([1.0])?).map(drop)
}
