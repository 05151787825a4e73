//! The GPU of a rank.

use crate::failed;
use backends::{Cuda, Error, Result};
use backends_world::World;

/// The GPU of a rank. Its number is the rank's number on its machine, modulo the number of GPUs.
///
/// The backend has its own stream of random numbers, as [`Sharded`](crate::Sharded) requires. Parts of arrays go
/// between GPUs by NCCL if each rank has its own GPU; ranks that share a GPU exchange parts through the host.
///
/// # Errors
/// [`Error::Unavailable`] without a driver, its libraries or a GPU; [`Error::Library`] if the ranks do not know which
/// machine they run on.
pub fn gpu(world: &World) -> Result<Cuda> {
    let local = world.local_rank().map_err(failed("gpu"))?;
    match Cuda::count()? {
        0 => Err(Error::unavailable("cuda", "the driver has no GPU")),
        count => Cuda::seeded(local % count, 0),
    }
}
