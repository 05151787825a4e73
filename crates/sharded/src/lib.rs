//! A backend whose arrays are split over ranks: programs that are generic over the backend run on many processes
//! unchanged.
//!
//! `Sharded<B>` is a backend whose arrays are split along one axis over the ranks of a [`World`]. The ranks are
//! processes started by an MPI launcher, threads of one process, or a single rank. Each rank computes its part on the
//! backend `B`. An op that needs data of other ranks communicates with them.
//!
//! ```
//! use backends::{Result, prelude::*};
//! use backends_sharded::{Sharded, World};
//!
//! fn norm<B: Backend>(b: &B, n: usize) -> Result<f64> {
//!     let x = b.linspace(0.0, 1.0, n)?;
//!     b.item(&b.sqrt(&b.sum(&b.square(&x)?, ..)?)?)
//! }
//!
//! // one rank here; four ranks if `mpiexec -n 4` starts the program
//! let b = Sharded::new(Numpyish::new(), World::init()?)?;
//! assert!((norm(&b, 1000)? - 18.262).abs() < 0.001);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Layout of arrays
//!
//! The default layout of an array is a function of its shape, its split axis and the number of ranks. A new array is
//! split along its first axis that has at least [`Policy::least`] elements; if it has no such axis, every rank holds
//! the whole array. No rank has an empty part. Ops keep the layout of their arguments, or change it if necessary. The
//! column `split` of the op table states the rule for each op, and the guide `docs/ranks.md` lists the rules.
//!
//! # Requirements on all ranks
//!
//! All ranks must make the same calls in the same order. Errors that follow from shapes and arguments are the same on
//! all ranks, and so are errors that follow from elements, such as an index out of range. If a single rank fails, for
//! example because it is out of memory or because a library fails, the other ranks would wait for it. Therefore [`run`]
//! ends all ranks. A branch may depend on the results of `to_ndarray` or `item`, because they are the same on all
//! ranks. It must not depend on the part of a rank.

#![deny(missing_docs)]

mod agreement;
mod arrange;
mod array;
mod arrays;
mod collectives;
mod compare;
mod creation;
mod exchange;
mod fft;
mod files;
#[cfg(feature = "cuda")]
mod gpu;
mod indexing;
mod layout;
mod linalg;
mod link;
mod manipulation;
mod nufft;
mod plan;
mod product;
mod random;
mod reduction;
mod rows;
mod scatter;
mod searching;
mod sorting;
mod tree;

pub use array::{LocalPart, ShardedArray};
pub use backends_world::{self as world, World, run};
pub use collectives::{Collectives, PendingArray, cuts};
#[cfg(feature = "cuda")]
pub use gpu::gpu;
pub use layout::{Layout, Place, Shape, Split};
pub use plan::LayoutPlan;

use backends::{Backend, Error, Result, runtime::link::Link};
use std::{
    cmp::Reverse,
    fmt,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

/// Runs the programs of the guide as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/ranks.md")]
struct Guide;

/// The modules that contain the functions named in `sharded.toml`.
mod ops {
    pub(crate) use crate::{
        Sharded, creation, fft, indexing, linalg, manipulation, nufft, product, random, reduction, scatter, searching,
        sorting,
    };
}

backends::backend! { overlay = "sharded.toml" }

/// The rules for splitting arrays, and the limit on the data that ops without a distributed algorithm may gather.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Policy {
    /// New arrays are split along their first axis of at least this length. The default is 64, because one rank is
    /// faster for shorter axes.
    pub least: usize,
    /// Maximum size in bytes of an array that an op without a distributed algorithm gathers on every rank. A larger
    /// array is an error. The default is 256 MiB.
    pub whole: usize,
    /// True if sums must have the same bits for any number of ranks, which is the default. If false, each rank computes
    /// one partial sum, which is slightly faster.
    pub exact: bool,
}

impl Policy {
    /// The default policy.
    pub const fn new() -> Policy {
        Policy { least: 64, whole: 256 << 20, exact: true }
    }

    /// Returns a copy of this policy with another value of [`Policy::least`].
    #[must_use]
    pub const fn least(self, least: usize) -> Policy {
        Policy { least, ..self }
    }

    /// Returns a copy of this policy with another value of [`Policy::whole`].
    #[must_use]
    pub const fn whole(self, whole: usize) -> Policy {
        Policy { whole, ..self }
    }

    /// Returns a copy of this policy with another value of [`Policy::exact`].
    #[must_use]
    pub const fn exact(self, exact: bool) -> Policy {
        Policy { exact, ..self }
    }
}

impl Default for Policy {
    fn default() -> Policy {
        Policy::new()
    }
}

/// Statistics of the arrays that ops without a distributed algorithm have gathered: the number of arrays, their size,
/// and the ops.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Gathered {
    /// The number of arrays.
    pub count: u64,
    /// The total size of the arrays in bytes.
    pub bytes: u64,
    /// The arrays by op, sorted by size in descending order.
    pub ops: Vec<GatheredBy>,
}

/// The arrays that one op has gathered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GatheredBy {
    /// The name of the op.
    pub op: &'static str,
    /// The number of arrays.
    pub count: u64,
    /// The total size of the arrays in bytes.
    pub bytes: u64,
}

impl fmt::Display for Gathered {
    /// Formats the statistics: `3 arrays of 24000 bytes: 2 of 16000 bytes by unique_values, 1 of 8000 bytes by
    /// histogram`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let arrays = if self.count == 1 { "array" } else { "arrays" };
        write!(f, "{} {arrays} of {} bytes", self.count, self.bytes)?;
        for (k, GatheredBy { op, count, bytes }) in self.ops.iter().enumerate() {
            write!(f, "{} {count} of {bytes} bytes by {op}", if k == 0 { ":" } else { "," })?;
        }
        Ok(())
    }
}

/// A backend that wraps an inner backend, and splits arrays over ranks. Each rank has its own value of this type.
/// Clones share all state.
#[derive(Clone)]
pub struct Sharded<B> {
    within: B,
    world: World,
    policy: Policy,
    seen: Arc<Seen>,
    /// The link that sends parts from device to device, or the reason why parts are sent through the host.
    link: std::result::Result<Link, Arc<str>>,
}

/// Counters and the seed of a backend.
#[derive(Default)]
struct Seen {
    /// The gathered arrays, one entry for each op.
    gathered: Mutex<Vec<GatheredBy>>,
    /// The seed that was set last.
    seed: AtomicU64,
    largest: AtomicU64,
    linked: AtomicU64,
}

impl<B: Backend> Sharded<B> {
    /// Creates a backend over the ranks of `world`, with the default [`Policy`]. Each rank passes its own inner backend
    /// as `within`.
    ///
    /// Collective: all ranks must call this. Random numbers start from a random seed, which rank 0 draws.
    ///
    /// # Errors
    /// [`Error::Library`] if the ranks cannot communicate.
    pub fn new(within: B, world: World) -> Result<Sharded<B>> {
        Sharded::with(within, world, Policy::new())
    }

    /// Like [`Sharded::new`], but with a policy, which must be the same on all ranks.
    ///
    /// # Errors
    /// The errors of [`Sharded::new`]; [`Error::Argument`] if the policies of the ranks differ.
    pub fn with(within: B, world: World, policy: Policy) -> Result<Sharded<B>> {
        let mut b = Sharded { within, world, policy, seen: Arc::default(), link: Err("".into()) };
        b.same_policy()?;
        b.link = link::open(&b.within, &b.world)?;
        b.seed_at_random()?;
        Ok(b)
    }

    /// The inner backend, which computes on the parts.
    pub fn within(&self) -> &B {
        &self.within
    }

    /// The world to which this rank belongs.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// The policy for splitting and gathering arrays.
    pub fn policy(&self) -> Policy {
        self.policy
    }

    /// Statistics, by op, of the arrays that ops have gathered on this backend and its clones.
    pub fn gathered(&self) -> Gathered {
        let mut ops = self.seen.gathered.lock().unwrap_or_else(PoisonError::into_inner).clone();
        ops.sort_by_key(|by| (Reverse(by.bytes), Reverse(by.count), by.op));
        Gathered { count: ops.iter().map(|by| by.count).sum(), bytes: ops.iter().map(|by| by.bytes).sum(), ops }
    }

    /// Size in bytes of the largest part that this rank has held so far, on this backend and its clones.
    pub fn largest_part(&self) -> u64 {
        self.seen.largest.load(Relaxed)
    }

    /// The library that moves parts of arrays from device to device, with its version, such as `NCCL 2.30.3`.
    ///
    /// # Errors
    /// The reason why parts are sent through the host, in messages of [`Sharded::world`].
    pub fn link(&self) -> std::result::Result<&str, &str> {
        self.link.as_ref().map(Link::name).map_err(|why| &**why)
    }

    /// Number of bytes that this rank has sent over its [link](Sharded::link) so far, on this backend and its clones.
    pub fn linked(&self) -> u64 {
        self.seen.linked.load(Relaxed)
    }

    pub(crate) fn count_linked(&self, bytes: usize) {
        self.seen.linked.fetch_add(bytes as u64, Relaxed);
    }

    pub(crate) fn count_gathered(&self, op: &'static str, bytes: usize) {
        let mut ops = self.seen.gathered.lock().unwrap_or_else(PoisonError::into_inner);
        match ops.iter_mut().find(|by| by.op == op) {
            Some(by) => {
                by.count += 1;
                by.bytes += bytes as u64;
            }
            None => ops.push(GatheredBy { op, count: 1, bytes: bytes as u64 }),
        }
    }

    #[inline]
    pub(crate) fn count_part(&self, bytes: usize) {
        if bytes as u64 > self.seen.largest.load(Relaxed) {
            self.seen.largest.fetch_max(bytes as u64, Relaxed);
        }
    }

    fn same_policy(&self) -> Result<()> {
        const OP: &str = "Sharded::with";
        let Policy { least, whole, exact } = self.policy;
        let mine = [least as u64, whole as u64, exact as u64];
        let all = self.all_gather_numbers(OP, &mine)?;
        let other = all.chunks(mine.len()).position(|theirs| theirs != mine);
        match other {
            None => Ok(()),
            Some(rank) => {
                let why = format!("the policy of rank {rank} must equal the policy of rank {}", self.rank());
                Err(Error::argument(OP, why))
            }
        }
    }

    pub(crate) fn ranks(&self) -> usize {
        self.world.size()
    }

    pub(crate) fn rank(&self) -> usize {
        self.world.rank()
    }
}

impl<B: fmt::Debug> fmt::Debug for Sharded<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sharded").field("within", &self.within).field("world", &self.world).finish_non_exhaustive()
    }
}

/// Converts a communication error to an error of an op.
pub(crate) fn failed(op: &'static str) -> impl Fn(backends_world::Error) -> Error {
    move |why| Error::library(op, "sharded", why.to_string()).caused_by(why)
}
