//! Selects the GPU of a rank.

use crate::failed;
use backends::{Cuda, Error, Result};
use backends_world::World;

/// The GPU of this rank. Its ordinal is the rank's number among the ranks of its machine, modulo the number of GPUs.
///
/// The backend has its own stream of random numbers, as [`Sharded`](crate::Sharded) requires. If each rank has its own
/// GPU, NCCL moves parts of arrays between GPUs; ranks that share a GPU exchange parts through the host.
///
/// # Errors
/// [`Error::Unavailable`] without a driver, its libraries or a GPU; [`Error::Library`] if the ranks cannot determine
/// which of them share a machine.
pub fn gpu(world: &World) -> Result<Cuda> {
    let local = world.local_rank().map_err(failed("gpu"))?;
    match Cuda::count()? {
        0 => Err(Error::unavailable("cuda", "the driver has no GPU")),
        count => Cuda::seeded(local % count, 0),
    }
}
