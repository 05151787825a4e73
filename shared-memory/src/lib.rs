//! Arrays in memory that several processes share.
//!
//! One process puts an array there, and sends others its [`Descriptor`], a short text. They open it: the elements are there at once, and only
//! what a backend computes with is copied. Results come back through a [`SharedBuffer`], of which each process writes its part.
//!
//! | type | is |
//! |---|---|
//! | [`SharedArray`] | an array that nobody changes any more: a view of it is safe, whoever the other processes are |
//! | [`SharedBuffer`] | memory that every process may write to, part by part |
//! | [`Descriptor`] | which one, of which process, dtype and shape; `to_string` and `parse` |
//!
//! ```
//! # #[cfg(target_os = "linux")]
//! # fn main() -> backends::Result<()> {
//! use backends::prelude::*;
//! use backends_shared::{SharedArray, SharedBuffer};
//!
//! // one process has the data, and waits for the results
//! let b = Numpyish::new();
//! let data = SharedArray::of(&b, b.reshape(b.arange(0.0_f32, 12.0, 1.0)?, [4, 3])?)?;
//! let sums = SharedBuffer::zeros::<f64>(&[4])?;
//! let message = [data.descriptor().to_string(), sums.descriptor().to_string()]; // to others: arguments, a pipe, a queue
//!
//! // each of the others takes some rows, on any backend
//! # fn run<B: Backend>(b: &B, message: &[String; 2], rows: std::ops::Range<usize>) -> backends::Result<()> {
//! let data = SharedArray::open(&message[0].parse()?)?;
//! let sums = SharedBuffer::open(&message[1].parse()?)?;
//! for row in rows {
//!     let x = b.asarray(data.view::<f32>()?.index_axis_move(ndarray::Axis(0), row))?; // a copy of what is computed with
//!     let sum = b.sum(b.astype::<f64, _>(&x)?, ..)?;
//!     sums.write_array(b, &[row], b.reshape(sum, [1])?)?;
//! }
//! # Ok(())
//! # }
//! # run(&b, &message, 0..2)?;
//! # run(&AnyBackend::from(Numpyish::new()), &message, 2..4)?;
//!
//! // the first one again
//! assert_eq!(b.to_vec(sums.array::<_, f64>(&b, ..)?)?, [3.0, 12.0, 21.0, 30.0]);
//! # Ok(())
//! # }
//! # #[cfg(not(target_os = "linux"))]
//! # fn main() {}
//! ```
//!
//! # Whose memory it is
//! The memory has no name in the file system. It is there as long as a process has it open, and the system takes it back when the last one
//! has dropped it or has ended, **in whatever way: nothing is left behind**, not in `/dev/shm` nor anywhere else. Whoever has opened an array keeps it when
//! the process that made it ends; but a descriptor leads to nothing any more when the process that gave it has ended, or has dropped the array.
//! Every process that has it open can give a descriptor of its own.
//!
//! Processes of the same user on the same machine (with the same numbers of processes: not one in another container) can open what a descriptor says; others
//! cannot. What is opened is checked: that it is the array of the descriptor, has its dtype and shape, and that its length cannot change while it
//! is mapped, so that no process can end another by cutting it.
//!
//! # Where there is none
//! On systems other than Linux everything answers with [`Error::Unavailable`]: macOS and Windows have no memory without a name that another
//! process can open by a text, and whose length nobody can change. The crate compiles there.

mod array;
mod buffer;
mod descriptor;
mod segment;
mod system;

pub use array::SharedArray;
pub use backend_runtime::{Error, Result, parts::Part};
pub use buffer::{Lock, SharedBuffer};
pub use descriptor::Descriptor;
