//! An overlay for a user's rows that says what is the table's to say, or names a row that is not there; and a trait that every backend has.

use backends::prelude::*;

backends::backend! { table = "../../../../tests/ui/user_rows.toml", trait = User }
backends::backend! { table = "../../../../tests/ui/free_rows.toml", trait = Free }

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
backend_user! { overlay = "../../../../tests/ui/overlay_of_rows.toml" }
backend_free! { overlay = "../../../../tests/ui/overlay_of_rows.toml" }

fn main() {}
