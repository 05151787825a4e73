//! Instructions at which the lanes (threads of a warp) exchange values. A lane exchanges values only with lanes that
//! name the same mask.

use crate::ptx::step::{Collective, Reduce, Shuffle, Vote};

/// The value that a lane gets from a shuffle if it reads from a lane that does not execute the shuffle.
const POISON: u64 = 0xffff_ffff;

/// The operands of a lane.
pub(super) type Operands = [u64; 3];

/// The result of a lane: the value, and a predicate.
pub(super) type Outcome = (u64, u64);

/// Lanes that wait for each other at one instruction.
#[derive(Clone, Debug)]
pub(super) struct Meeting {
    /// The step of the instruction; `None` for `__syncwarp`, which lanes may reach at different steps.
    pub step: Option<usize>,
    pub kind: Collective,
    /// The lanes that take part, one bit per lane. The meeting ends when each of these lanes has arrived or has ended.
    pub mask: u32,
    /// The lanes that have arrived, one bit per lane.
    pub arrived: u32,
    pub operands: [Operands; 32],
}

impl Meeting {
    fn lanes(&self) -> impl Iterator<Item = usize> {
        let arrived = self.arrived;
        (0..32).filter(move |lane| arrived >> lane & 1 != 0)
    }

    fn bits(&self, holds: impl Fn(&Operands) -> bool) -> u32 {
        self.lanes().filter(|&lane| holds(&self.operands[lane])).fold(0, |bits, lane| bits | 1 << lane)
    }

    /// Computes the result of one lane, after all lanes have arrived.
    pub fn outcome(&self, lane: usize) -> Outcome {
        let own = self.operands[lane];
        let equal = |wide: bool| {
            let mask = if wide { u64::MAX } else { 0xffff_ffff };
            self.bits(|other| (other[0] ^ own[0]) & mask == 0)
        };
        match self.kind {
            Collective::Sync => (0, 0),
            Collective::Shuffle(shuffle) => self.shuffled(shuffle, lane, own),
            Collective::Vote(vote) => {
                let (holds, all) = (self.bits(|other| other[0] & 1 != 0), self.arrived);
                let result = match vote {
                    Vote::Ballot => holds,
                    Vote::Count => holds.count_ones(),
                    Vote::Any => u32::from(holds != 0),
                    Vote::All => u32::from(holds == all),
                    Vote::Uniform => u32::from(holds == all || holds == 0),
                };
                (result.into(), 0)
            }
            Collective::MatchAny { wide } => (equal(wide).into(), 0),
            Collective::MatchAll { wide } => {
                let alike = equal(wide) == self.arrived;
                (if alike { self.arrived.into() } else { 0 }, alike.into())
            }
            Collective::Reduce(reduce) => (self.reduced(reduce).into(), 0),
        }
    }

    fn shuffled(&self, shuffle: Shuffle, lane: usize, [value, by, bounds]: Operands) -> Outcome {
        let (by, lane) = (by as i32 & 31, lane as i32);
        let (clamp, segment) = (bounds as i32 & 31, bounds as i32 >> 8 & 31);
        let (least, most) = (lane & segment, (lane & segment) | (clamp & !segment));
        let (from, within) = match shuffle {
            // for `Up`, the bound `most` is the lowest lane of the segment
            Shuffle::Up => (lane - by, lane - by >= most),
            Shuffle::Down => (lane + by, lane + by <= most),
            Shuffle::Butterfly => (lane ^ by, lane ^ by <= most),
            Shuffle::Index => {
                let from = least | (by & !segment);
                (from, from <= most)
            }
        };
        if !within {
            return (value & 0xffff_ffff, 0);
        }
        let present = self.arrived >> from & 1 != 0;
        (if present { self.operands[from as usize][0] & 0xffff_ffff } else { POISON }, 1)
    }

    fn reduced(&self, reduce: Reduce) -> u32 {
        let values = self.lanes().map(|lane| self.operands[lane][0] as u32);
        let reduced = match reduce {
            Reduce::Add => values.reduce(u32::wrapping_add),
            Reduce::MinSigned => values.reduce(|a, b| (a as i32).min(b as i32) as u32),
            Reduce::MinUnsigned => values.reduce(u32::min),
            Reduce::MaxSigned => values.reduce(|a, b| (a as i32).max(b as i32) as u32),
            Reduce::MaxUnsigned => values.reduce(u32::max),
            Reduce::And => values.reduce(|a, b| a & b),
            Reduce::Or => values.reduce(|a, b| a | b),
            Reduce::Xor => values.reduce(|a, b| a ^ b),
        };
        reduced.unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A meeting in which each lane of `arrived` has the operand 100 plus the lane's index.
    fn meeting(kind: Collective, arrived: u32, by: u64, bounds: u64) -> Meeting {
        let operands = std::array::from_fn(|lane| [100 + lane as u64, by, bounds]);
        Meeting { step: None, kind, mask: arrived, arrived, operands }
    }

    fn shuffled(shuffle: Shuffle, by: u64, bounds: u64) -> Vec<(u64, u64)> {
        let meeting = meeting(Collective::Shuffle(shuffle), u32::MAX, by, bounds);
        (0..32).map(|lane| meeting.outcome(lane)).collect()
    }

    #[test]
    fn shuffles_read_the_lane_they_say() {
        let up = shuffled(Shuffle::Up, 3, 0);
        assert_eq!((up[2], up[3], up[31]), ((102, 0), (100, 1), (128, 1)));
        let down = shuffled(Shuffle::Down, 3, 31);
        assert_eq!((down[0], down[28], down[29]), ((103, 1), (131, 1), (129, 0)));
        let butterfly = shuffled(Shuffle::Butterfly, 1, 31);
        assert_eq!((butterfly[0], butterfly[31]), ((101, 1), (130, 1)));
        assert!(shuffled(Shuffle::Index, 7, 31).iter().all(|&got| got == (107, 1)));
        // segments of 8 lanes, as in `__shfl_sync(.., 8)`
        let bounds = 0x1800 | 31;
        let index = shuffled(Shuffle::Index, 1, bounds);
        assert_eq!((index[0], index[9]), ((101, 1), (109, 1)));
        let down = shuffled(Shuffle::Down, 1, bounds);
        assert_eq!((down[6], down[7]), ((107, 1), (107, 0)));
        let up = shuffled(Shuffle::Up, 1, 0x1800);
        assert_eq!((up[8], up[9]), ((108, 0), (108, 1)));
    }

    #[test]
    fn a_lane_that_is_not_there_gives_poison() {
        let meeting = meeting(Collective::Shuffle(Shuffle::Down), 1, 1, 31);
        assert_eq!(meeting.outcome(0), (POISON, 1));
    }

    #[test]
    fn votes_count_who_is_there() {
        let vote = |vote| meeting(Collective::Vote(vote), 0b1110, 0, 0).outcome(1).0;
        assert_eq!(vote(Vote::Ballot), 0b1010);
        assert_eq!(vote(Vote::Count), 2);
        assert_eq!((vote(Vote::Any), vote(Vote::All), vote(Vote::Uniform)), (1, 0, 0));
    }

    #[test]
    fn matches_and_reductions() {
        let mut meeting = meeting(Collective::MatchAny { wide: false }, 0b1111, 0, 0);
        meeting.operands[2][0] = 100 | 1 << 40;
        assert_eq!((meeting.outcome(0).0, meeting.outcome(1).0), (0b101, 0b10));
        meeting.kind = Collective::MatchAny { wide: true };
        assert_eq!(meeting.outcome(0).0, 1);
        meeting.kind = Collective::MatchAll { wide: false };
        assert_eq!(meeting.outcome(0), (0, 0));
        meeting.operands[1][0] = 0xffff_ffff;
        for (reduce, expected) in [
            (Reduce::Add, 302),
            (Reduce::MinSigned, 0xffff_ffff),
            (Reduce::MinUnsigned, 100),
            (Reduce::MaxSigned, 103),
            (Reduce::MaxUnsigned, 0xffff_ffff),
            (Reduce::And, 100),
        ] {
            meeting.kind = Collective::Reduce(reduce);
            assert_eq!(meeting.outcome(3).0, expected, "{reduce:?}");
        }
    }
}
