//! Arrays in memory that several processes share.
//!
//! One process puts an array into shared memory and sends the array's [`Descriptor`], a short text, to other processes.
//! These processes open the array and can read its elements without a copy. Elements are copied only for computations
//! on a backend. Results are returned through a [`SharedBuffer`], in which each process writes its part.
//!
//! | type | meaning |
//! |---|---|
//! | [`SharedArray`] | an immutable array: a view of it is safe, whatever the other processes do |
//! | [`SharedBuffer`] | memory that every process may write to, part by part |
//! | [`Descriptor`] | identifies an array: its process, dtype and shape; `to_string` and `parse` |
//!
//! ```
//! # #[cfg(target_os = "linux")]
//! # fn main() -> backends::Result<()> {
//! use backends::prelude::*;
//! use backends_shared::{SharedArray, SharedBuffer};
//!
//! // the first process has the data, and waits for the results
//! let b = Numpyish::new();
//! let data = SharedArray::of(&b, b.reshape(b.arange(0.0_f32, 12.0, 1.0)?, [4, 3])?)?;
//! let sums = SharedBuffer::zeros::<f64>(&[4])?;
//! let message = [data.descriptor().to_string(), sums.descriptor().to_string()]; // for the other processes
//!
//! // every other process computes some of the rows, on any backend
//! # fn run<B: Backend>(b: &B, message: &[String; 2], rows: std::ops::Range<usize>) -> backends::Result<()> {
//! let data = SharedArray::open(&message[0].parse()?)?;
//! let sums = SharedBuffer::open(&message[1].parse()?)?;
//! for row in rows {
//!     let x = b.asarray(data.view::<f32>()?.index_axis_move(ndarray::Axis(0), row))?; // copies this row only
//!     let sum = b.sum(b.astype::<f64, _>(&x)?, ..)?;
//!     sums.write_array(b, &[row], b.reshape(sum, [1])?)?;
//! }
//! # Ok(())
//! # }
//! # run(&b, &message, 0..2)?;
//! # run(&AnyBackend::from(Numpyish::new()), &message, 2..4)?;
//!
//! // the first process reads the results
//! assert_eq!(b.to_vec(sums.array::<_, f64>(&b, ..)?)?, [3.0, 12.0, 21.0, 30.0]);
//! # Ok(())
//! # }
//! # #[cfg(not(target_os = "linux"))]
//! # fn main() {}
//! ```
//!
//! # Lifetime and access
//! The memory has no name in the file system. It exists as long as a process has it open, and the system frees it when
//! the last process has dropped it or has ended **in any way: nothing is left behind**, neither in `/dev/shm` nor
//! anywhere else. A process that has opened an array keeps the array when the process that made it ends. But a
//! descriptor becomes invalid when the process that made the descriptor has ended or has dropped the array. Every
//! process that has the array open can make its own descriptor of the array.
//!
//! Only processes of the same user on the same machine can open a descriptor. They must also see each other's process
//! numbers, so a process in another container cannot open the descriptor. Opening checks that the memory contains the
//! array of the descriptor, with the same dtype and shape. It also checks that the length of the memory cannot change:
//! otherwise, another process could shorten the memory and crash this one.
//!
//! # Other systems
//! On systems other than Linux every call returns [`Error::Unavailable`], because macOS and Windows lack such memory:
//! unnamed, of fixed length, and open to other processes by a text. The crate compiles on these systems.

mod array;
mod buffer;
mod descriptor;
mod segment;
mod system;

pub use array::SharedArray;
pub use backend_runtime::{Error, Result, parts::Part};
pub use buffer::{Lock, SharedBuffer};
pub use descriptor::Descriptor;
