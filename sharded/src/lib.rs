//! Arrays split over ranks: a program over any backend runs on many processes unchanged.
//!
//! `Sharded<B>` is a backend whose arrays are split along one axis over the ranks of a [`World`]: the processes that an MPI launcher starts, threads
//! of one process, or one rank alone. Each rank computes its part on the backend `B`; what an op needs of other ranks it gets by itself.
//!
//! ```
//! use backends::prelude::*;
//! use backends_sharded::{Sharded, World};
//!
//! fn norm<B: Backend>(b: &B, n: usize) -> Result<f64> {
//!     let x = b.linspace(0.0, 1.0, n)?;
//!     b.item(&b.sqrt(&b.sum(&b.square(&x)?, ..)?)?)
//! }
//!
//! // alone here; the ranks of `mpiexec -n 4 program` where that starts it
//! let b = Sharded::new(Numpyish::new(), World::init()?)?;
//! assert!((norm(&b, 1000)? - 18.262).abs() < 0.001);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Who has what
//!
//! The layout of an array is a function of its shape, the axis along which it is split and the number of ranks. New arrays are split along their first axis
//! of [`Policy::least`] elements or more; arrays without such an axis are whole on every rank. No rank has an empty part. Ops keep the layout of what
//! they are given, or change it as they need: the column `split` of the op table says how, and the guide `docs/ranks.md` lists it for each op.
//!
//! # What has to be the same on all ranks
//!
//! All ranks run the same calls in the same order. Errors that follow from shapes and arguments are the same on all of them; after an error of one rank alone
//! (of memory, of a library) the others would wait for it, which is why [`run`] ends all ranks with it. Branch on what `to_ndarray` or
//! `item` give, which is the same everywhere, and not on parts.

#![deny(missing_docs)]

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
mod plan;
mod product;
mod random;
mod reduction;
mod rows;
mod scatter;
mod searching;
mod sorting;
mod tree;

pub use array::{Part, ShardedArray};
pub use backends_world::{self as world, World, run};
pub use collectives::{Collectives, PendingArray, cuts};
#[cfg(feature = "cuda")]
pub use gpu::gpu;
pub use layout::{Layout, Place, Shape, Split};
pub use plan::Plan;

use backends::{Backend, Error, Result, runtime::link::Link};
use std::{
    cmp::Reverse,
    fmt,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

/// The guide, whose programs are tests.
#[cfg(doctest)]
#[doc = include_str!("../../docs/ranks.md")]
struct Guide;

/// What the column of the table names.
mod ops {
    pub(crate) use crate::{
        Sharded, creation, fft, indexing, linalg, manipulation, product, random, reduction, scatter, searching, sorting,
    };
}

backends::backend! { overlay = "sharded.toml" }

/// Which arrays are split, and what an op may do that needs whole ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Policy {
    /// New arrays are split along their first axis that has at least so many elements. 64 by default: less work than that is faster alone.
    pub least: usize,
    /// Bytes of an array that an op without a better way may gather on every rank; more are an error. 256 MiB by default.
    pub whole: usize,
    /// Whether sums have the same bits for any number of ranks, which they have by default. Otherwise each rank makes one partial sum, which is a little faster.
    pub exact: bool,
}

impl Policy {
    /// The defaults.
    pub const fn new() -> Policy {
        Policy { least: 64, whole: 256 << 20, exact: true }
    }

    /// The same with another [`Policy::least`].
    #[must_use]
    pub const fn least(self, least: usize) -> Policy {
        Policy { least, ..self }
    }

    /// The same with another [`Policy::whole`].
    #[must_use]
    pub const fn whole(self, whole: usize) -> Policy {
        Policy { whole, ..self }
    }

    /// The same with another [`Policy::exact`].
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

/// How often whole arrays were gathered by ops without a better way, of how many bytes, and by which ops.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Gathered {
    /// How often.
    pub count: u64,
    /// Bytes of the arrays.
    pub bytes: u64,
    /// The ops, the one with the most bytes first.
    pub ops: Vec<GatheredBy>,
}

/// What one op has gathered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GatheredBy {
    /// The name of the op.
    pub op: &'static str,
    /// How many arrays.
    pub count: u64,
    /// Bytes of the arrays.
    pub bytes: u64,
}

impl fmt::Display for Gathered {
    /// `3 arrays of 24000 bytes: 2 of 16000 bytes by unique_values, 1 of 8000 bytes by histogram`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let arrays = if self.count == 1 { "array" } else { "arrays" };
        write!(f, "{} {arrays} of {} bytes", self.count, self.bytes)?;
        for (k, GatheredBy { op, count, bytes }) in self.ops.iter().enumerate() {
            write!(f, "{} {count} of {bytes} bytes by {op}", if k == 0 { ":" } else { "," })?;
        }
        Ok(())
    }
}

/// Any backend, whose arrays are split over ranks: one rank's view of it. Clones share all.
#[derive(Clone)]
pub struct Sharded<B> {
    within: B,
    world: World,
    policy: Policy,
    seen: Arc<Seen>,
    /// By which parts go from device to device, or why they go through the host.
    link: std::result::Result<Link, Arc<str>>,
}

/// What a backend has counted.
#[derive(Default)]
struct Seen {
    /// By op.
    gathered: Mutex<Vec<GatheredBy>>,
    /// The seed that was given last.
    seed: AtomicU64,
    largest: AtomicU64,
    linked: AtomicU64,
}

impl<B: Backend> Sharded<B> {
    /// A backend of the ranks of `world`, each of which computes on its `within`, with the default [`Policy`].
    ///
    /// Collective. Random numbers start from a seed that rank 0 draws.
    ///
    /// # Errors
    /// [`Error::Library`] where the ranks cannot speak with each other.
    pub fn new(within: B, world: World) -> Result<Sharded<B>> {
        Sharded::with(within, world, Policy::new())
    }

    /// The same with a policy, which has to be the same on all ranks.
    ///
    /// # Errors
    /// As [`Sharded::new`]; [`Error::Argument`] where the ranks have other policies.
    pub fn with(within: B, world: World, policy: Policy) -> Result<Sharded<B>> {
        let mut b = Sharded { within, world, policy, seen: Arc::default(), link: Err("".into()) };
        b.same_policy()?;
        b.link = link::open(&b.within, &b.world)?;
        b.seed_at_random()?;
        Ok(b)
    }

    /// The backend that computes the parts.
    pub fn within(&self) -> &B {
        &self.within
    }

    /// The ranks.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// What is split, and what may be gathered.
    pub fn policy(&self) -> Policy {
        self.policy
    }

    /// What ops that need whole arrays have gathered so far, by op: of this backend and its clones.
    pub fn gathered(&self) -> Gathered {
        let mut ops = self.seen.gathered.lock().unwrap_or_else(PoisonError::into_inner).clone();
        ops.sort_by_key(|by| (Reverse(by.bytes), Reverse(by.count), by.op));
        Gathered { count: ops.iter().map(|by| by.count).sum(), bytes: ops.iter().map(|by| by.bytes).sum(), ops }
    }

    /// Bytes of the largest part of an array that this rank has had so far: of this backend and its clones.
    pub fn largest_part(&self) -> u64 {
        self.seen.largest.load(Relaxed)
    }

    /// By which way parts of arrays go between ranks: the library, with its version, that takes them from device to device (`NCCL 2.30.3`).
    ///
    /// # Errors
    /// Why they go through the memory of the host, as messages of [`Sharded::world`].
    pub fn link(&self) -> std::result::Result<&str, &str> {
        self.link.as_ref().map(Link::name).map_err(|why| &**why)
    }

    /// Bytes that this rank has sent by its [link](Sharded::link) so far: of this backend and its clones.
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
                let why = format!("the policy of rank {rank} must be that of rank {}", self.rank());
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

/// An error of the ranks as one of an op.
pub(crate) fn failed(op: &'static str) -> impl Fn(backends_world::Error) -> Error {
    move |why| Error::library(op, "sharded", why.to_string()).caused_by(why)
}
