//! The state that the ranks of one process share: the event that each rank waits for, the messages, and the meetings.
//!
//! Every collective call is a meeting: each rank brings its data and a description of its call, and continues when all
//! ranks have entered. Every collective call therefore waits for all ranks. MPI allows such a wait, but does not
//! guarantee it. Because of the wait, a mistake in a program appears in every run.

use crate::queue::Queue;
use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

/// The data that a rank brings to a meeting (a collective call).
pub(super) struct Brought {
    /// A description of the call, which must be the same on all ranks.
    pub what: String,
    /// The data of the rank.
    pub data: Vec<u8>,
    /// For an all-to-all, the number of elements that the rank sends to each rank, and the number of elements that it
    /// expects from each rank.
    pub counts: Option<(Vec<usize>, Vec<usize>)>,
}

/// A meeting: one collective call.
pub(super) struct Meeting {
    /// The data that each rank brought, by rank.
    pub brought: Vec<Option<Arc<Brought>>>,
    /// The number of ranks that have taken the data and continued.
    pub left: usize,
}

/// A world, or a group of a world.
pub(super) struct Comm {
    /// For each rank of this world or group, the index of its thread.
    pub members: Vec<usize>,
    pub meetings: BTreeMap<u64, Meeting>,
    /// For each rank, the number of meetings that it has entered.
    pub come: Vec<u64>,
    /// The messages from one rank to another. The keys are pairs of sender and receiver.
    pub queues: HashMap<(usize, usize), Queue>,
}

impl Comm {
    pub fn new(members: Vec<usize>) -> Comm {
        let come = vec![0; members.len()];
        Comm { members, meetings: BTreeMap::new(), come, queues: HashMap::new() }
    }
}

/// The event that a thread waits for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Wait {
    /// All ranks have entered the meeting with this number.
    Meeting { comm: usize, number: u64 },
    /// The message with this number has been sent.
    Message { comm: usize, from: usize, to: usize, number: u64 },
    /// The message with this number has been received.
    Received { comm: usize, from: usize, to: usize, number: u64 },
}

/// The state of an event that a thread waits for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Standing {
    /// The event has happened.
    Ready,
    /// The event will never happen, because the given rank has ended.
    Gone(usize),
    /// The event has not happened. It depends on the given rank, and perhaps on other ranks.
    For(usize),
}

pub(super) struct State {
    pub comms: Vec<Comm>,
    /// For each group, its index in `comms`. The key has three numbers: the index of the group's world, the number of
    /// the meeting that created the group, and the number of the group.
    pub groups: HashMap<(usize, u64, usize), usize>,
    /// For each thread that has ended, a text that describes its end.
    pub ended: Vec<Option<&'static str>>,
    /// The first thread that panicked.
    pub panicked: Option<usize>,
    /// For each thread that waits: the call that it is in, and the event that it waits for.
    pub waits: Vec<Option<(&'static str, Wait)>>,
    /// For each thread whose wait exceeds its time limit, the number of seconds that it has waited.
    pub expired: Vec<Option<f64>>,
    /// A text that describes the waits of all ranks, once a deadlock is detected.
    pub deadlock: Option<String>,
}

impl State {
    pub fn new(size: usize) -> State {
        State {
            comms: vec![Comm::new((0..size).collect())],
            groups: HashMap::new(),
            ended: vec![None; size],
            panicked: None,
            waits: vec![None; size],
            expired: vec![None; size],
            deadlock: None,
        }
    }

    /// Returns the state of an event that a thread waits for.
    pub fn standing(&self, wait: Wait) -> Standing {
        let ended = |comm: &Comm, rank: usize| self.ended[comm.members[rank]].is_some();
        match wait {
            Wait::Meeting { comm, number } => {
                let comm = &self.comms[comm];
                let missing = |rank: &usize| comm.come[*rank] <= number;
                let waits_for = |rank| if ended(comm, rank) { Standing::Gone(rank) } else { Standing::For(rank) };
                let mut absent = (0..comm.members.len()).filter(missing);
                let first = absent.next();
                // a rank that has ended is reported first, before ranks that may still enter the meeting
                let gone = first.into_iter().chain(absent).find(|rank| ended(comm, *rank));
                gone.or(first).map_or(Standing::Ready, waits_for)
            }
            Wait::Message { comm, from, to, number } => {
                let comm = &self.comms[comm];
                match comm.queues.get(&(from, to)).is_some_and(|queue| queue.has(number)) {
                    true => Standing::Ready,
                    false if ended(comm, from) => Standing::Gone(from),
                    false => Standing::For(from),
                }
            }
            Wait::Received { comm, from, to, number } => {
                let comm = &self.comms[comm];
                match comm.queues.get(&(from, to)).is_some_and(|queue| queue.has(number)) {
                    false => Standing::Ready,
                    true if ended(comm, to) => Standing::Gone(to),
                    true => Standing::For(to),
                }
            }
        }
    }

    /// Returns a text that describes the waits of all threads that have not ended; `None` if any of these threads can
    /// continue.
    pub fn all_wait(&self) -> Option<String> {
        let mut texts = Vec::new();
        for (thread, wait) in self.waits.iter().enumerate().filter(|(thread, _)| self.ended[*thread].is_none()) {
            let (call, wait) = (*wait)?;
            let Standing::For(rank) = self.standing(wait) else { return None };
            let comm = match wait {
                Wait::Meeting { comm, .. } | Wait::Message { comm, .. } | Wait::Received { comm, .. } => comm,
            };
            texts.push(format!("rank {thread} in {call} for rank {}", self.comms[comm].members[rank]));
        }
        Some(texts.join(", "))
    }
}
