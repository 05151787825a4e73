//! A mistake of a table is said once, by its own call, and not by those that give its ops to further backends.

use backends::prelude::*;

backends::backend! { table = "../../../../tests/ui/broken_rows.toml", trait = User }

#[derive(Clone, Debug)]
pub struct Slow;

mod slow {}

impl Arrays for Slow {
    type Array<T: Element> = HostArray<T>;

    const NAME: &'static str = "slow";

    fn to_ndarray<T: Element>(&self, x: &HostArray<T>) -> Result<HostArray<T>> {
        Ok(x.clone())
    }

    fn from_ndarray<T: Element>(&self, x: HostArray<T>) -> Result<HostArray<T>> {
        Ok(x)
    }

    fn device(&self) -> String {
        "cpu".into()
    }

    fn synchronize(&self) -> Result<()> {
        Ok(())
    }

    fn seed(&self, _seed: u64) {}
}

backends::backend! { overlay = "../../../../tests/ui/slow.toml", partial = true }
backends::backend! { any = Mine, of = [Numpyish, Slow] }
backend_user! { overlay = "../../../../tests/ui/slow.toml" }
backend_user! { any = Mine, of = [Numpyish, Slow] }

fn twice<B: Backend + User>(b: &B, x: &B::Array<f64>) -> Result<B::Array<f64>> {
    b.third(b.halve(x)?)
}

fn main() -> Result<()> {
    twice(&Slow, &Slow.asarray([1.0])?)?;
    let b = Mine::from(Slow);
    twice(&b, &b.asarray([1.0])?).map(drop)
}
