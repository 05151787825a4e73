//! The smallest possible backend: arrays on the host, and no ops.

use backends::{Result, prelude::*};

#[derive(Clone, Debug)]
pub struct Bare;

impl Arrays for Bare {
    type Array<T: Element> = HostArray<T>;

    const NAME: &'static str = "bare";

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
