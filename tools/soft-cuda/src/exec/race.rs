//! Finds races: accesses of two threads to the same byte of shared memory without a barrier between them. For each
//! byte, the last write and up to two reads since the last barrier are stored.
//!
//! Within a warp, `__syncwarp` also orders accesses. Each lane has a vector clock: the number of its own calls of
//! `__syncwarp`, and the latest number that it has received from each other lane. As CUDA defines, shuffles and votes
//! do not order accesses.

use crate::fault::{Access, Fault};
use std::ops::Range;

/// Number of lanes of a warp.
const LANES: usize = 32;

/// An access, packed into 64 bits: its time (the barriers before it, and its thread's clock), its thread, and whether
/// it is atomic or volatile (`strong`). Zero means no access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Stamp(u64);

const CLOCK_BITS: u32 = 21;
const CLOCK_MOST: u32 = (1 << CLOCK_BITS) - 1;

impl Stamp {
    fn new(epoch: u32, strong: bool, thread: u32, clock: u32) -> Stamp {
        let clock = clock.min(CLOCK_MOST);
        Stamp(u64::from(epoch) << 32 | u64::from(strong) << 31 | u64::from(thread) << CLOCK_BITS | u64::from(clock))
    }

    #[inline]
    fn epoch(self) -> u32 {
        (self.0 >> 32) as u32
    }

    fn strong(self) -> bool {
        self.0 >> 31 & 1 != 0
    }

    fn thread(self) -> u32 {
        (self.0 as u32 & 0x7fff_ffff) >> CLOCK_BITS
    }

    fn warp(self) -> usize {
        self.thread() as usize / LANES
    }

    fn clock(self) -> u32 {
        self.0 as u32 & CLOCK_MOST
    }
}

/// The accesses to a byte: the last write, and two reads. If threads of different warps have read the byte, the two
/// stored reads are of different warps.
#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    write: Stamp,
    reads: [Stamp; 2],
}

/// The vector clocks of a warp: `clocks[i][j]` is the latest clock of lane `j` that lane `i` has received, and
/// `clocks[i][i]` is the own clock of lane `i`.
type Clocks = [[u32; LANES]; LANES];

/// The accesses to the shared memory of a block.
#[derive(Debug)]
pub(super) struct Races {
    cells: Vec<Cell>,
    clocks: Vec<Clocks>,
    /// The warps whose clocks have advanced since the start of the block.
    moved: Vec<usize>,
    /// The number of barriers so far. It is not reset when a new block starts.
    epoch: u32,
}

/// Returns the clocks of a warp at the start of a block: the own clock of each lane is 1, and all others are 0.
fn unseen() -> Clocks {
    let mut clocks = [[0; LANES]; LANES];
    for (lane, row) in clocks.iter_mut().enumerate() {
        row[lane] = 1;
    }
    clocks
}

impl Races {
    pub fn new(bytes: usize, threads: usize) -> Races {
        let warps = if bytes == 0 { 0 } else { threads.div_ceil(LANES) };
        Races { cells: vec![Cell::default(); bytes], clocks: vec![unseen(); warps], moved: Vec::new(), epoch: 0 }
    }

    /// Starts a new block.
    pub fn begin(&mut self) {
        self.barrier();
        for warp in self.moved.drain(..) {
            self.clocks[warp] = unseen();
        }
    }

    /// Records a barrier of all threads.
    pub fn barrier(&mut self) {
        self.epoch = self.epoch.wrapping_add(1).max(1);
    }

    /// Records a `__syncwarp` of those lanes of a warp whose bits are set in `lanes`.
    pub fn warp_barrier(&mut self, warp: usize, lanes: u32) {
        let Some(clocks) = self.clocks.get_mut(warp) else { return };
        let those = || (0..LANES).filter(|lane| lanes >> lane & 1 != 0);
        let mut seen = [0; LANES];
        for lane in those() {
            for (seen, clock) in seen.iter_mut().zip(clocks[lane]) {
                *seen = clock.max(*seen);
            }
        }
        for lane in those() {
            clocks[lane] = seen;
            clocks[lane][lane] += 1;
        }
        if !self.moved.contains(&warp) {
            self.moved.push(warp);
        }
    }

    /// Records an access by a thread; returns an error if the access races with an earlier one.
    #[inline]
    pub fn check(&mut self, kind: Access, strong: bool, bytes: Range<usize>, thread: u32) -> Result<(), Fault> {
        let (warp, lane) = (thread as usize / LANES, thread as usize % LANES);
        let seen = &self.clocks[warp][lane];
        let me = Stamp::new(self.epoch, strong, thread, seen[lane]);
        let races = |other: Stamp| {
            other.epoch() == me.epoch()
                && other.thread() != thread
                && !(other.strong() && strong)
                && (other.warp() != warp || seen[other.thread() as usize % LANES] < other.clock())
        };
        let start = bytes.start;
        for (i, cell) in self.cells[bytes].iter_mut().enumerate() {
            if races(cell.write) {
                return Err(race(start + i, kind, me, Access::Write, cell.write));
            }
            if kind != Access::Read {
                if let Some(&read) = cell.reads.iter().find(|&&read| races(read)) {
                    return Err(race(start + i, kind, me, Access::Read, read));
                }
                cell.write = me;
            } else if cell.reads[0].epoch() != me.epoch() {
                cell.reads = [me, me];
            } else if cell.reads[0].thread() == thread {
                cell.reads[0] = me;
            } else if cell.reads[0].warp() == cell.reads[1].warp() {
                cell.reads[1] = me;
            }
        }
        Ok(())
    }
}

#[cold]
fn race(byte: usize, kind: Access, me: Stamp, other_kind: Access, other: Stamp) -> Fault {
    let (verb, other_verb) = (verb(kind), verb(other_kind));
    let missing = if me.warp() == other.warp() { "__syncwarp" } else { "__syncthreads" };
    Fault::Failed(format!(
        "race in shared memory: thread {} {verb} byte {byte}, which thread {} {other_verb} with no {missing} between",
        me.thread(),
        other.thread(),
    ))
}

fn verb(kind: Access) -> &'static str {
    match kind {
        Access::Read => "reads",
        Access::Write => "writes",
        Access::Atomic => "changes",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ok(races: &mut Races, kind: Access, thread: u32) -> bool {
        races.check(kind, kind == Access::Atomic, 0..4, thread).is_ok()
    }

    fn races() -> Races {
        let mut races = Races::new(16, 96);
        races.begin();
        races
    }

    #[test]
    fn a_write_and_a_read_of_another_need_a_barrier() {
        let mut races = races();
        assert!(ok(&mut races, Access::Write, 0) && ok(&mut races, Access::Read, 0));
        for thread in [1, 40] {
            let fault = races.check(Access::Read, false, 2..3, thread).unwrap_err().to_string();
            assert!(fault.contains("byte 2") && fault.contains("thread 0"), "{fault}");
        }
        races.barrier();
        assert!(ok(&mut races, Access::Read, 40) && ok(&mut races, Access::Read, 0));
        assert!(!ok(&mut races, Access::Write, 0));
        assert!(!ok(&mut races, Access::Write, 40));
        assert!(races.check(Access::Write, false, 4..8, 1).is_ok());
        races.begin();
        assert!(ok(&mut races, Access::Write, 40));
    }

    #[test]
    fn atomic_operations_race_with_others_only() {
        let mut races = races();
        assert!(ok(&mut races, Access::Atomic, 0) && ok(&mut races, Access::Atomic, 50));
        assert!(!ok(&mut races, Access::Read, 0));
        races.barrier();
        assert!(ok(&mut races, Access::Read, 0));
        assert!(!ok(&mut races, Access::Atomic, 50));
    }

    #[test]
    fn lanes_that_met_are_ordered() {
        let mut races = races();
        assert!(ok(&mut races, Access::Write, 32));
        races.warp_barrier(1, 0b11);
        assert!(ok(&mut races, Access::Read, 33));
        assert!(!ok(&mut races, Access::Read, 34));
        // thread 33 passes the clock of thread 32 on to thread 34
        races.warp_barrier(1, 0b110);
        assert!(ok(&mut races, Access::Read, 34));
        assert!(!ok(&mut races, Access::Write, 32));
        races.warp_barrier(1, u32::MAX);
        assert!(ok(&mut races, Access::Write, 32));
        assert!(!ok(&mut races, Access::Read, 0));
    }
}
