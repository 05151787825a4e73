//! State that the ranks of one machine publish in shared memory: for each rank, the call that it is in, and whether it
//! has left (its program has ended). Reading the state needs no call of a library, so a waiting rank can find out that
//! no rank will answer.

use std::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};

/// The state that one rank publishes.
#[repr(C, align(64))]
#[derive(Default)]
pub(crate) struct Slot {
    /// [`HERE`] or [`LEFT`]; 0 if the rank publishes nothing.
    state: AtomicU64,
    /// The running call, encoded as in [`Watch`](crate::watch::Watch); 0 if no call is running.
    now: AtomicU64,
    /// The number of collective calls over all ranks of the world that this rank has entered.
    meetings: AtomicU64,
    /// The exit status with which this rank ends all ranks; 0 if it does not end them.
    ending: AtomicU64,
}

const HERE: u64 = 1;
const LEFT: u64 = 2;

/// The activity of a rank, as published on the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Doing {
    /// The rank publishes nothing.
    Unknown,
    /// The rank is in no call.
    Computes,
    /// The rank is in this call, which is encoded as in [`Watch`](crate::watch::Watch).
    Calls(u64),
    /// The rank's program has ended.
    Left,
}

/// The slots of all ranks of this machine.
pub(crate) struct Board {
    slots: &'static [Slot],
    /// The ranks of the world to which the slots belong, in the order of the slots.
    ranks: Vec<usize>,
    /// The index of this rank's slot.
    own: usize,
    /// True if the slots cover all ranks of the world.
    pub(crate) is_whole: bool,
}

impl Board {
    pub(crate) fn new(slots: &'static [Slot], ranks: Vec<usize>, own: usize, size: usize) -> Board {
        slots[own].state.store(HERE, Release);
        let is_whole = ranks.len() == size;
        Board { slots, ranks, own, is_whole }
    }

    fn own(&self) -> &Slot {
        &self.slots[self.own]
    }

    /// Counts a collective call over all ranks of the world, when this rank enters it.
    #[inline]
    pub(crate) fn meet(&self) {
        self.own().meetings.fetch_add(1, Relaxed);
    }

    /// Publishes the call that this rank is in.
    pub(crate) fn show(&self, now: u64) {
        self.own().now.store(now, Relaxed);
    }

    /// Publishes that the program of this rank has ended.
    pub(crate) fn leave(&self) {
        self.own().state.store(LEFT, Release);
    }

    /// Publishes that this rank ends all ranks with an exit status.
    pub(crate) fn end(&self, status: i32) {
        self.own().ending.store(u64::from(status.unsigned_abs()).max(1), Relaxed);
    }

    /// Returns the exit status with which a rank of this machine ends all ranks, if any rank does.
    pub(crate) fn ending(&self) -> Option<i32> {
        let all = self.slots.iter().map(|slot| slot.ending.load(Relaxed));
        all.max().filter(|status| *status > 0).map(|status| status as i32)
    }

    /// Returns the other ranks of this machine, each with its activity.
    pub(crate) fn others(&self) -> impl Iterator<Item = (usize, Doing)> {
        self.others_slots().map(|(rank, slot)| {
            let doing = match (slot.state.load(Acquire), slot.now.load(Relaxed)) {
                (LEFT, _) => Doing::Left,
                (HERE, 0) => Doing::Computes,
                (HERE, now) => Doing::Calls(now),
                _ => Doing::Unknown,
            };
            (rank, doing)
        })
    }

    fn others_slots(&self) -> impl Iterator<Item = (usize, &Slot)> {
        let all = self.ranks.iter().copied().zip(self.slots).enumerate();
        all.filter(|(k, _)| *k != self.own).map(|(_, other)| other)
    }

    /// Returns a rank that has left without entering the collective call that this rank is in, if any.
    pub(crate) fn missed(&self) -> Option<usize> {
        let mine = self.own().meetings.load(Relaxed);
        let has_missed = |slot: &Slot| slot.state.load(Acquire) == LEFT && slot.meetings.load(Relaxed) < mine;
        self.others_slots().find(|(_, slot)| has_missed(slot)).map(|(rank, _)| rank)
    }

    /// Returns whether a rank has left.
    pub(crate) fn has_left(&self, rank: usize) -> bool {
        self.others().any(|other| other == (rank, Doing::Left))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rank_is_missed_where_it_has_left_before_the_call() {
        let slots: &'static [Slot] = Box::leak(Box::new([Slot::default(), Slot::default(), Slot::default()]));
        let boards: Vec<Board> = (0..2).map(|own| Board::new(slots, vec![0, 1, 5], own, 6)).collect();
        boards.iter().for_each(Board::meet);
        boards[1].leave();
        assert_eq!(boards[0].missed(), None, "it came to this call");
        boards[0].meet();
        assert_eq!((boards[0].missed(), boards[0].has_left(1), boards[0].has_left(5)), (Some(1), true, false));
        boards[0].show(7);
        let seen: Vec<_> = boards[1].others().collect();
        assert_eq!(seen, [(0, Doing::Calls(7)), (5, Doing::Unknown)]);
        assert!(!boards[0].is_whole);
        assert_eq!(boards[0].ending(), None);
        boards[1].end(70);
        assert_eq!(boards[0].ending(), Some(70));
    }
}
