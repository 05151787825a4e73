//! Tests some ops of the op table on ranks that compute with libtorch and on a GPU. A sample of the ops is enough,
//! because the communication does not depend on the library.

use backends::{Result, prelude::*, runtime::available};
use backends_sharded::{Policy, Sharded, World, world::threads};

/// Runs a check on three ranks, each with a backend that has its own stream of random numbers.
fn on_ranks(name: &str, open: fn() -> Result<AnyBackend>, check: &(dyn Fn(&Sharded<AnyBackend>) + Sync)) {
    if available(name, open()).is_none() {
        return;
    }
    threads::run(3, |world| {
        check(&Sharded::with(open().unwrap(), world.clone(), Policy::new().least(2)).unwrap());
    });
}

fn alone() -> Result<Sharded<AnyBackend>> {
    Sharded::new(Numpyish::seeded(0).into(), World::alone())
}

mod torch {
    use super::*;

    fn ranks(check: &(dyn Fn(&Sharded<AnyBackend>) + Sync)) {
        on_ranks("torch", || Ok(Torch::cpu()?.seeded(0).into()), check);
    }

    backends::conformance! { backend = alone(), type = Sharded<AnyBackend>, ranks = ranks, every = 6, dtypes = ["float32", "int64"] }
}

mod cuda {
    use super::*;

    fn ranks(check: &(dyn Fn(&Sharded<AnyBackend>) + Sync)) {
        on_ranks("cuda", || Ok(Cuda::seeded(0, 0)?.into()), check);
    }

    backends::conformance! { backend = alone(), type = Sharded<AnyBackend>, ranks = ranks, every = 15, dtypes = ["float32"] }
}
