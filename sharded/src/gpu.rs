//! The GPU of a rank.

use crate::failed;
use backends::{Cuda, Error, Result};
use backends_world::World;

/// The GPU of a rank: the one that has the number of the rank among those on its machine, counted from the first again where there are more ranks than GPUs.
///
/// The backend has a stream of random numbers of its own, as [`Sharded`](crate::Sharded) needs it. Parts of arrays go between GPUs by NCCL where each rank has
/// its own; ranks that share one speak through the host.
///
/// # Errors
/// [`Error::Unavailable`] without a driver, its libraries or a GPU; [`Error::Library`] where the ranks do not know which machine they are on.
pub fn gpu(world: &World) -> Result<Cuda> {
    let local = world.local_rank().map_err(failed("gpu"))?;
    match Cuda::count()? {
        0 => Err(Error::unavailable("cuda", "the driver has no GPU")),
        count => Cuda::seeded(local % count, 0),
    }
}
