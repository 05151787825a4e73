//! What the ranks of one process have in common: who waits for what, messages, and meetings.
//!
//! Every collective call is a meeting: each rank brings what it calls and its data, and goes on when all have come. So every call waits for
//! all ranks, which MPI allows and does not promise, and mistakes in programs show in every run.

use crate::queue::Queue;
use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

/// What a rank brings to a meeting.
pub(super) struct Brought {
    /// What it calls, in words: all have to call the same.
    pub what: String,
    /// Its data.
    pub data: Vec<u8>,
    /// What it sends to each rank and wants of each, where that differs from rank to rank.
    pub counts: Option<(Vec<usize>, Vec<usize>)>,
}

/// One collective call.
pub(super) struct Meeting {
    /// By rank.
    pub brought: Vec<Option<Arc<Brought>>>,
    /// How many ranks have gone on with what was brought.
    pub left: usize,
}

/// A world or a group of it.
pub(super) struct Comm {
    /// The threads that are its ranks.
    pub members: Vec<usize>,
    pub meetings: BTreeMap<u64, Meeting>,
    /// How many meetings each rank has come to.
    pub come: Vec<u64>,
    /// Messages, by sender and receiver.
    pub queues: HashMap<(usize, usize), Queue>,
}

impl Comm {
    pub fn new(members: Vec<usize>) -> Comm {
        let come = vec![0; members.len()];
        Comm { members, meetings: BTreeMap::new(), come, queues: HashMap::new() }
    }
}

/// What a thread waits for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Wait {
    /// That all have come to a meeting.
    Meeting { comm: usize, number: u64 },
    /// A message, by its number.
    Message { comm: usize, from: usize, to: usize, number: u64 },
    /// That a message which was sent is received.
    Received { comm: usize, from: usize, to: usize, number: u64 },
}

/// How a wait stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Standing {
    /// It is over.
    Ready,
    /// It will never be: this rank has ended.
    Gone(usize),
    /// It waits for this rank, and perhaps others.
    For(usize),
}

pub(super) struct State {
    pub comms: Vec<Comm>,
    /// The groups: by the world that they are of, the meeting that made them, and the number of the group.
    pub groups: HashMap<(usize, u64, usize), usize>,
    /// Of each thread that has ended, how.
    pub ended: Vec<Option<&'static str>>,
    /// The first thread that panicked.
    pub panicked: Option<usize>,
    /// What each thread waits for, and in which call.
    pub waits: Vec<Option<(&'static str, Wait)>>,
    /// Threads whose time is over, and how long they have waited.
    pub expired: Vec<Option<f64>>,
    /// What all ranks waited for, once all do.
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

    /// How a wait stands.
    pub fn standing(&self, wait: Wait) -> Standing {
        let ended = |comm: &Comm, rank: usize| self.ended[comm.members[rank]].is_some();
        match wait {
            Wait::Meeting { comm, number } => {
                let comm = &self.comms[comm];
                let missing = |rank: &usize| comm.come[*rank] <= number;
                let waits_for = |rank| if ended(comm, rank) { Standing::Gone(rank) } else { Standing::For(rank) };
                let mut absent = (0..comm.members.len()).filter(missing);
                let first = absent.next();
                // a rank that has ended comes before one that may still come
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

    /// What everybody waits for, if all that have not ended wait and none of them can go on.
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
