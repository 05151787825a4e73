//! Runs a block of threads. Each thread runs until it has to wait for other threads at an instruction. When all of
//! these threads have reached the instruction, they continue.

use super::{
    machine::Machine,
    order::Order,
    thread::{Stop, Thread},
    warp::Meeting,
};
use crate::{
    fault::Fault,
    memory::POISON,
    ptx::step::{Barrier, Collective, Step, Vote},
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    New,
    Ready,
    AtBarrier,
    AtMeeting,
    Done,
}

/// The threads that are waiting at a barrier.
#[derive(Clone, Debug, Default)]
struct Gathering {
    threads: Vec<u32>,
    /// The number of threads that the barrier expects; `None` if it expects all threads of the block.
    expected: Option<u32>,
}

#[derive(Clone, Debug, Default)]
struct Warp {
    /// The lanes (threads of the warp) that have not ended, one bit per lane.
    alive: u32,
    meetings: Vec<Meeting>,
}

/// The number of barriers of a block.
const BARRIERS: usize = 16;

/// The threads of a block. One value is reused for all blocks of a launch.
#[derive(Debug, Default)]
pub(super) struct Block {
    status: Vec<Status>,
    threads: Vec<Option<Thread>>,
    /// The states of ended threads, which new threads reuse.
    idle: Vec<Thread>,
    order: Vec<u32>,
    warps: Vec<Warp>,
    barriers: [Gathering; BARRIERS],
    alive: u32,
}

impl Block {
    /// Runs all threads of a block until they end.
    pub fn run(&mut self, machine: &mut Machine<'_>, order: &mut Order) -> Result<(), Fault> {
        let count = machine.launch.block.iter().product::<u32>();
        self.begin(count);
        machine.shared.fill(POISON);
        machine.races.begin();
        while self.alive > 0 {
            order.arrange(&mut self.order);
            let mut progress = false;
            for i in 0..self.order.len() {
                let thread = self.order[i];
                if !matches!(self.status[thread as usize], Status::New | Status::Ready) {
                    continue;
                }
                progress = true;
                self.turn(thread, order.turn(), machine)?;
            }
            if !progress {
                return Err(self.deadlock(machine));
            }
        }
        Ok(())
    }

    fn begin(&mut self, count: u32) {
        self.alive = count;
        self.status.clear();
        self.status.resize(count as usize, Status::New);
        self.threads.resize_with(count as usize, || None);
        if self.order.len() != count as usize {
            self.order = (0..count).collect();
        }
        self.warps.resize_with(count.div_ceil(32) as usize, Warp::default);
        for (i, warp) in (0..).zip(&mut self.warps) {
            warp.alive = u32::MAX >> (32 - (count - 32 * i).min(32));
        }
    }

    /// Runs a thread for at most `most` steps. (A step is one decoded instruction.)
    fn turn(&mut self, thread: u32, most: u64, machine: &mut Machine<'_>) -> Result<(), Fault> {
        let index = thread as usize;
        let mut state = match self.threads[index].take() {
            Some(state) => state,
            None => {
                let mut state = self.idle.pop().unwrap_or_default();
                state.start(thread, machine);
                state
            }
        };
        let stop = state.run(machine, most);
        let step = state.step();
        let result = match stop {
            Ok(Stop::Exit) => {
                self.status[index] = Status::Done;
                self.idle.push(state);
                self.leave(thread, machine)
            }
            Ok(stop) => {
                self.threads[index] = Some(state);
                match stop {
                    Stop::Barrier => self.at_barrier(thread, machine),
                    Stop::Collective => self.at_meeting(thread, machine),
                    Stop::Exit | Stop::Pause => {
                        self.status[index] = Status::Ready;
                        Ok(())
                    }
                }
            }
            Err(fault) => Err(fault),
        };
        result.map_err(|fault| fault.at(place(machine, thread, step)))
    }

    fn state(&mut self, thread: u32) -> &mut Thread {
        self.threads[thread as usize].as_mut().expect("a thread that waits has its state")
    }

    /// Removes a thread that has ended, and releases threads that waited only for it.
    fn leave(&mut self, thread: u32, machine: &mut Machine<'_>) -> Result<(), Fault> {
        self.alive -= 1;
        let warp = thread as usize / 32;
        self.warps[warp].alive &= !(1 << (thread % 32));
        let mut i = 0;
        while i < self.warps[warp].meetings.len() {
            i += usize::from(!self.end_meeting(warp, i, machine));
        }
        for number in 0..BARRIERS {
            self.end_barrier(number, machine)?;
        }
        Ok(())
    }

    fn at_barrier(&mut self, thread: u32, machine: &mut Machine<'_>) -> Result<(), Fault> {
        self.status[thread as usize] = Status::AtBarrier;
        let barrier = self.barrier_of(thread, machine);
        let state = self.state(thread);
        let number = state.get(barrier.number) as u32 as usize;
        let expected = barrier.threads.map(|slot| state.get(slot) as u32);
        if number >= BARRIERS {
            return Err(Fault::Failed(format!("there is no barrier {number}")));
        }
        let gathering = &mut self.barriers[number];
        if !gathering.threads.is_empty() && gathering.expected != expected {
            return Err(Fault::Failed(format!("barrier {number} is waited at for different numbers of threads")));
        }
        gathering.expected = expected;
        gathering.threads.push(thread);
        self.end_barrier(number, machine)
    }

    /// Returns the barrier instruction at which a thread waits.
    fn barrier_of(&mut self, thread: u32, machine: &Machine<'_>) -> Barrier {
        match machine.module.steps[self.state(thread).step()] {
            Step::Barrier(barrier) => barrier,
            _ => unreachable!("the thread stopped at a barrier"),
        }
    }

    /// Releases the threads at a barrier if all threads that the barrier expects have arrived.
    fn end_barrier(&mut self, number: usize, machine: &mut Machine<'_>) -> Result<(), Fault> {
        let gathering = &mut self.barriers[number];
        let there = gathering.threads.len() as u32;
        if there == 0 || there < gathering.expected.unwrap_or(self.alive) {
            return Ok(());
        }
        let threads = std::mem::take(&mut gathering.threads);
        let mut lanes_at = [None; 32];
        let mut holding = 0;
        for &thread in &threads {
            let barrier = self.barrier_of(thread, machine);
            let state = self.state(thread);
            let first = lanes_at[thread as usize / 32].get_or_insert(state.step());
            if barrier.aligned && *first != state.step() {
                let [(here, this), (there, other)] = [state.step(), *first].map(|step| machine.module.statement(step));
                return Err(Fault::Failed(format!(
                    "divergent barrier: lanes of one warp wait at `{this}` (line {here}) and `{other}` (line {there})"
                )));
            }
            if let Some((_, _, condition)) = barrier.vote {
                holding += (state.get(condition) & 1) as u32;
            }
        }
        for &thread in &threads {
            if let Some((vote, to, _)) = self.barrier_of(thread, machine).vote {
                let result = match vote {
                    Vote::Count => holding,
                    Vote::Any => u32::from(holding > 0),
                    _ => u32::from(holding == there),
                };
                self.state(thread).set(to, result.into());
            }
            self.status[thread as usize] = Status::Ready;
        }
        // `races` treats every barrier as a barrier of all threads of the block; if a barrier is only for some of them,
        // races may be missed, but no false race is reported
        machine.races.barrier();
        self.barriers[number] = Gathering { threads, expected: None };
        self.barriers[number].threads.clear();
        Ok(())
    }

    fn at_meeting(&mut self, thread: u32, machine: &mut Machine<'_>) -> Result<(), Fault> {
        self.status[thread as usize] = Status::AtMeeting;
        let (warp, lane) = (thread as usize / 32, thread as usize % 32);
        let state = self.state(thread);
        let step = state.step();
        let Step::Collective { kind, operands, mask, .. } = machine.module.steps[step] else {
            unreachable!("the thread stopped at an instruction of its warp");
        };
        let operands = operands.map(|slot| state.get(slot));
        let mask = state.get(mask) as u32;
        if mask >> lane & 1 == 0 {
            return Err(Fault::Failed(format!("lane {lane} is not in the mask {mask:#x} that it names")));
        }
        let step = (kind != Collective::Sync).then_some(step);
        let meetings = &mut self.warps[warp].meetings;
        let known = meetings.iter().position(|meeting| (meeting.step, meeting.mask) == (step, mask));
        let index = known.unwrap_or(meetings.len());
        if known.is_none() {
            meetings.push(Meeting { step, kind, mask, arrived: 0, operands: [[0; 3]; 32] });
        }
        meetings[index].arrived |= 1 << lane;
        meetings[index].operands[lane] = operands;
        self.end_meeting(warp, index, machine);
        Ok(())
    }

    /// Ends a meeting (an instruction such as a shuffle, at which lanes of a warp wait for each other) if each lane in
    /// its mask has arrived or has ended. The waiting lanes then continue. Returns whether the meeting has ended.
    fn end_meeting(&mut self, warp: usize, index: usize, machine: &mut Machine<'_>) -> bool {
        let meeting = &self.warps[warp].meetings[index];
        if meeting.arrived != meeting.mask & self.warps[warp].alive {
            return false;
        }
        let meeting = self.warps[warp].meetings.swap_remove(index);
        for lane in (0..32).filter(|lane| meeting.arrived >> lane & 1 != 0) {
            let thread = (32 * warp + lane) as u32;
            let state = self.threads[thread as usize].as_mut().expect("a thread that waits has its state");
            if let Step::Collective { to, also, .. } = machine.module.steps[state.step()] {
                let (result, predicate) = meeting.outcome(lane);
                state.set(also, predicate);
                state.set(to, result);
            }
            self.status[thread as usize] = Status::Ready;
        }
        if meeting.kind == Collective::Sync {
            machine.races.warp_barrier(warp, meeting.arrived);
        }
        true
    }

    /// Returns the fault for a block in which no thread can continue. Its text names the instruction at which each
    /// thread waits.
    fn deadlock(&mut self, machine: &Machine<'_>) -> Fault {
        let mut places: Vec<(usize, Vec<u32>)> = Vec::new();
        for thread in 0..self.status.len() as u32 {
            if self.status[thread as usize] == Status::Done {
                continue;
            }
            let step = self.state(thread).step();
            match places.iter_mut().find(|(other, _)| *other == step) {
                Some((_, threads)) => threads.push(thread),
                None => places.push((step, vec![thread])),
            }
        }
        let divergent = self.status.contains(&Status::AtMeeting);
        let kind = if divergent { "divergent shuffle, vote or __syncwarp" } else { "divergent barrier" };
        let ended = self.status.iter().filter(|&&status| status == Status::Done).count();
        let waiting: Vec<String> = places
            .iter()
            .map(|(step, threads)| {
                let (line, statement) = machine.module.statement(*step);
                format!("threads {} wait at `{statement}` (line {line})", ranges(threads))
            })
            .collect();
        let [x, y, z] = machine.block;
        Fault::Failed(format!("{kind}: {}; {ended} threads have ended", waiting.join(", ")))
            .at(format!("kernel {}, block ({x}, {y}, {z})", machine.kernel.info.name))
    }
}

/// Formats the position of a thread: the kernel, the block, the thread, and the PTX statement of step `step`.
fn place(machine: &Machine<'_>, thread: u32, step: usize) -> String {
    let (line, statement) = machine.module.statement(step);
    let [bx, by, bz] = machine.block;
    let [x, y, z] = machine.position(thread);
    let kernel = &machine.kernel.info.name;
    format!("kernel {kernel}, block ({bx}, {by}, {bz}), thread ({x}, {y}, {z}), PTX line {line}: {statement}")
}

/// Formats numbers in ascending order as ranges, such as `0-31, 40`.
fn ranges(numbers: &[u32]) -> String {
    let runs = numbers.chunk_by(|a, b| a + 1 == *b);
    let run = |run: &[u32]| match run {
        [only] => only.to_string(),
        [first, .., last] => format!("{first}-{last}"),
        [] => String::new(),
    };
    runs.map(run).collect::<Vec<_>>().join(", ")
}
