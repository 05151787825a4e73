//! What can go wrong.

use crate::{Join, Kind};
use std::fmt;

/// What a call gives.
pub type Result<T> = std::result::Result<T, Error>;

/// What went wrong, in words that name the call.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// A launcher started this process as one of several ranks, but no MPI library was found: each process would do all of the work.
    NoLibrary {
        /// The launcher, and what it said.
        launcher: String,
        /// What was tried, and why it was not taken.
        tried: Vec<String>,
    },
    /// The MPI library is not of the launcher: every process is a world of its own.
    Foreign {
        /// The launcher, and what it said.
        launcher: String,
        /// The number of ranks that it started.
        started: usize,
        /// The library, and where it is.
        library: String,
        /// The number of ranks that the library knows of.
        size: usize,
    },
    /// A library that must not be loaded, or whose binary interface is not known.
    Abi {
        /// The library's file.
        path: String,
        /// Why it is not used.
        why: String,
    },
    /// The library refused a call.
    Mpi {
        /// The call.
        call: &'static str,
        /// The library's own words.
        message: String,
    },
    /// A buffer, count or rank that the call cannot have. Nothing was sent.
    Argument {
        /// The call.
        call: &'static str,
        /// What is wrong with it.
        why: String,
    },
    /// There is no such reduction.
    NoJoin {
        /// The elements.
        kind: Kind,
        /// What should have joined them.
        join: Join,
    },
    /// More elements than this library can count in this call.
    Count {
        /// The call.
        call: &'static str,
        /// The number of elements.
        count: usize,
    },
    /// Ranks called different things.
    Diverged {
        /// What this rank called.
        mine: String,
        /// What the other one called.
        theirs: String,
        /// The other rank.
        rank: usize,
    },
    /// A rank that this one waits for is gone.
    Gone {
        /// The call that waited.
        call: &'static str,
        /// The rank that is gone.
        rank: usize,
        /// How it ended.
        why: String,
    },
    /// Every rank waits for another one.
    Deadlock {
        /// This rank's call.
        call: &'static str,
        /// What every rank waits for.
        waits: String,
    },
    /// The call has taken longer than the limit.
    Timeout {
        /// The call.
        call: &'static str,
        /// For how long it has waited.
        seconds: f64,
    },
    /// This transport has no such call.
    Unsupported {
        /// The call.
        call: &'static str,
        /// The transport's name.
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
            Error::NoJoin { kind, join } => write!(f, "there is no {join} of {kind} elements"),
            Error::Count { call, count } => write!(f, "{call}: {count} elements are more than this library can count"),
            Error::Diverged { mine, theirs, rank } => {
                write!(f, "ranks diverged: this one calls {mine}, rank {rank} calls {theirs}")
            }
            Error::Gone { call, rank, why } => write!(f, "{call}: rank {rank} is gone: {why}"),
            Error::Deadlock { call, waits } => write!(f, "{call}: every rank waits: {waits}"),
            Error::Timeout { call, seconds } => write!(f, "{call} has waited for {seconds:.1} s, which is the limit"),
            Error::Unsupported { call, transport } => write!(f, "{call}: there is none with {transport}"),
        }
    }
}

impl std::error::Error for Error {}
