//! The error type of this crate.

use crate::{DType, Join};
use std::fmt;

/// The result of a call.
pub type Result<T> = std::result::Result<T, Error>;

/// An error of this crate. For the variants with a field `call`, the message contains the name of the call.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// A launcher started this process as one of several ranks, but no MPI library was found. Without an error, each
    /// process would do all of the work.
    NoLibrary {
        /// The launcher, and the environment variable that identifies it.
        launcher: String,
        /// The libraries that were tried, each with the reason why it was rejected.
        tried: Vec<String>,
    },
    /// The MPI library and the launcher belong to different families. Every process is therefore a separate world of
    /// one rank.
    Foreign {
        /// The launcher, and the environment variable that identifies it.
        launcher: String,
        /// The number of ranks that the launcher started.
        started: usize,
        /// The name of the library, with its version and path.
        library: String,
        /// The number of ranks in the world according to the library.
        size: usize,
    },
    /// The library must not be loaded, or its binary interface is unknown.
    Abi {
        /// The path of the library file.
        path: String,
        /// The reason why the library is not used.
        why: String,
    },
    /// The library returned an error from a call.
    Mpi {
        /// The name of the call.
        call: &'static str,
        /// The message of the library.
        message: String,
    },
    /// A buffer, count or rank is wrong. Nothing was sent.
    Argument {
        /// The name of the call.
        call: &'static str,
        /// The reason why the argument is wrong.
        why: String,
    },
    /// Elements of this dtype cannot be joined by this operation.
    NoJoin {
        /// The dtype of the elements.
        dtype: DType,
        /// The operation.
        join: Join,
    },
    /// The call has more elements than this MPI library can count.
    Count {
        /// The name of the call.
        call: &'static str,
        /// The number of elements.
        count: usize,
    },
    /// Ranks made different calls.
    Diverged {
        /// A description of this rank's call.
        mine: String,
        /// A description of the other rank's call.
        theirs: String,
        /// The number of the other rank.
        rank: usize,
    },
    /// This rank waits for a rank that has ended or left.
    Gone {
        /// The name of the call that waited.
        call: &'static str,
        /// The number of the rank that has ended or left.
        rank: usize,
        /// A description of the rank's end.
        why: String,
    },
    /// All ranks wait for each other.
    Deadlock {
        /// The name of this rank's call.
        call: &'static str,
        /// For every rank: the call that it is in, and the rank that it waits for.
        waits: String,
    },
    /// The call has exceeded the time limit.
    Timeout {
        /// The name of the call.
        call: &'static str,
        /// The seconds that the call has waited.
        seconds: f64,
    },
    /// The transport does not support the call.
    Unsupported {
        /// The name of the call.
        call: &'static str,
        /// The name of the transport.
        transport: String,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NoLibrary { launcher, tried } => {
                write!(
                    f,
                    "{launcher}, but no MPI library was found; set WORLD_MPI to the path of the launcher's library"
                )?;
                if tried.is_empty() { Ok(()) } else { write!(f, " (tried {})", tried.join("; ")) }
            }
            Error::Foreign { launcher, started, library, size } => write!(
                f,
                "{launcher}, but {library} knows of {size} where {started} were started: they are not of one family; start the program with \
                 the mpiexec of that library, or set WORLD_MPI to the path of the launcher's library (under Slurm, choose its interface with \
                 srun --mpi)"
            ),
            Error::Abi { path, why } => write!(f, "{path}: {why}"),
            Error::Mpi { call, message } => write!(f, "{call}: {message}"),
            Error::Argument { call, why } => write!(f, "{call}: {why}"),
            Error::NoJoin { dtype, join } => write!(f, "there is no {join} of {dtype} elements"),
            Error::Count { call, count } => write!(f, "{call}: {count} elements are more than this library can count"),
            Error::Diverged { mine, theirs, rank } => {
                write!(f, "ranks diverged: this one calls {mine}, rank {rank} calls {theirs}")
            }
            Error::Gone { call, rank, why } => write!(f, "{call}: rank {rank} is gone: {why}"),
            Error::Deadlock { call, waits } => write!(f, "{call}: every rank waits: {waits}"),
            Error::Timeout { call, seconds } => write!(f, "{call} has waited for {seconds:.1} s, which is the limit"),
            Error::Unsupported { call, transport } => write!(f, "{call} is not available with {transport}"),
        }
    }
}

impl std::error::Error for Error {}
