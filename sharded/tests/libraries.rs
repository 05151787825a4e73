//! Rows of the table on ranks that compute on libtorch and on a GPU: a sample of them, as what moves is the same for every library.

use backends::{prelude::*, runtime::available};
use backends_sharded::{Policy, Sharded, World, world::threads};

/// Runs a check on three ranks, each with a backend of this name.
fn on_ranks(name: &str, check: &(dyn Fn(&Sharded<AnyBackend>) + Sync)) {
    let library = name.split(':').next().unwrap_or(name);
    if available(library, name.parse::<AnyBackend>()).is_none() {
        return;
    }
    threads::run(3, |world| {
        let within: AnyBackend = name.parse().unwrap();
        check(&Sharded::with(within, world.clone(), Policy::new().least(2)).unwrap());
    });
}

fn alone() -> Result<Sharded<AnyBackend>> {
    Sharded::new(Numpyish::seeded(0).into(), World::alone())
}

mod torch {
    use super::*;

    fn ranks(check: &(dyn Fn(&Sharded<AnyBackend>) + Sync)) {
        on_ranks("torch", check);
    }

    backends::conformance! { backend = alone(), type = Sharded<AnyBackend>, ranks = ranks, every = 6, dtypes = ["float32", "int64"] }
}

mod cuda {
    use super::*;

    fn ranks(check: &(dyn Fn(&Sharded<AnyBackend>) + Sync)) {
        on_ranks("cuda:0", check);
    }

    backends::conformance! { backend = alone(), type = Sharded<AnyBackend>, ranks = ranks, every = 15, dtypes = ["float32"] }
}
