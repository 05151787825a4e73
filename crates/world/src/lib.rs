//! Communication between the processes (ranks) of a parallel program.
//!
//! A program that runs as several processes, on one machine or many, has a *rank* in each process. [`World`] represents
//! all ranks together, and moves and reduces elements between the ranks. The transport is chosen when the program
//! starts:
//!
//! - **MPI**, found and loaded at run time. Building needs no library, headers or C compiler.
//! - **[`threads`]** of one process, for tests: calls are deterministic, and every mistake gives an error immediately.
//! - **One rank alone**, without a library.
//!
//! # Start
//! ```sh
//! pip install mpich            # or use an installed MPI
//! cargo build --release
//! mpiexec -n 4 target/release/program
//! ```
//!
//! ```no_run
//! use backends_world::{Join, DType, Result, World, bytes, run};
//!
//! fn main() {
//!     run(|world: &World| -> Result<()> {
//!         let mut x = [world.rank() as f64];
//!         world.all_reduce(bytes::of_mut(&mut x), DType::Float64, Join::Sum)?;
//!         println!("rank {} of {}: the sum is {}", world.rank(), world.size(), x[0]);
//!         Ok(())
//!     })
//! }
//! ```
//!
//! `mpiexec -n 4 world_check` runs a program of this crate that reports the MPI library that is found, and tries every
//! call.
//!
//! A program also runs alone, without `mpiexec`. If one rank fails, [`run`] ends all ranks. Environment variables:
//!
//! | variable | meaning |
//! |---|---|
//! | `WORLD_MPI` | the path of the MPI library, or `none` ([`mpi`] lists the folders that are searched if it is not set) |
//! | `WORLD_CHECK=1` | ranks compare their calls before making them, and report differences ([`World::agree`]) |
//! | `WORLD_TIMEOUT` | the time limit of a call, in seconds, or `none` ([`World::set_timeout`]) |
//! | `WORLD_DEADLOCK` | the seconds that all ranks of one machine may wait for each other, 60 by default |
//! | `WORLD_TESTS=1` | ranks may end by `exit`, as test harnesses do, and MPI is then finalised |
//!
//! # Buffers
//! A buffer is a slice of bytes that holds elements of one [`DType`]. Counts are numbers of elements, not of bytes.
//! [`bytes`] views slices of elements as bytes.
//!
//! ```
//! use backends_world::{DType, World, bytes};
//!
//! let world = World::alone();
//! let mut all = [0_i32; 3];
//! world.all_gather(bytes::of(&[1, 2, 3]), bytes::of_mut(&mut all), &[3], DType::Int32)?;
//! assert_eq!(all, [1, 2, 3]);
//!
//! let pending = world.start_broadcast(bytes::of(&[1.5_f64]).to_vec(), DType::Float64, 0)?;
//! // .. work that does not need the result ..
//! assert_eq!(bytes::to_vec::<f64>(&pending.wait()?), [1.5]);
//!
//! let group = world.group(Some(7), 0)?;
//! assert_eq!(group.map(|group| group.size()), Some(1));
//! # Ok::<(), backends_world::Error>(())
//! ```

mod alone;
mod board;
pub mod bytes;
mod check;
mod describe;
mod dtype;
mod environment;
mod error;
mod join;
pub mod mpi;
mod pending;
pub mod plan;
mod queue;
mod run;
mod say;
pub mod status;
mod tagged;
pub mod threads;
pub mod transport;
mod watch;
mod world;

pub use backend_core::DType;
pub use dtype::Join;
pub use error::{Error, Result};
pub use pending::Pending;
pub use run::run;
pub use tagged::Tag;
pub use transport::{Request, Transport};
pub use world::{Spent, World};
