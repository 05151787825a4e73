//! A thread: its registers, its memory, and the execution of its steps (decoded instructions).

use super::{machine::Machine, private::Private, space::bytes};
use crate::{
    fault::{Access as AccessKind, Fault},
    memory::POISON,
    ptx::step::{Function, Slot, Step},
};

/// The number of steps after which a thread pauses and other threads run, because it may be waiting in a loop for
/// another thread's write.
const TURN: u64 = 1 << 20;

/// The state of a function that has called another function, stored until the call returns.
#[derive(Debug)]
struct Frame {
    site: u32,
    back: u32,
    base: usize,
    local_base: usize,
    param_base: usize,
}

/// A thread of a block: its registers, its private memory, and the calls that have not returned.
#[derive(Debug, Default)]
pub(super) struct Thread {
    registers: Vec<u64>,
    /// The index in `registers` at which the current function's registers begin.
    base: usize,
    pub private: Private,
    frames: Vec<Frame>,
    /// The index of the next step in the module.
    next: u32,
}

/// The reason why a thread stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    Exit,
    Barrier,
    Collective,
    Pause,
}

impl Thread {
    /// Starts a thread of the block at the kernel's first step.
    ///
    /// The state of an ended thread of the same launch may be reused. In this case, the constants and the parameters
    /// are still set. The other registers are not poisoned again, because valid PTX never reads a register before
    /// writing it.
    pub fn start(&mut self, thread: u32, machine: &Machine<'_>) {
        let kernel = &machine.module.functions[machine.kernel.function];
        self.frames.clear();
        self.private.thread = thread;
        self.private.local.clear();
        self.private.params.truncate(kernel.param_bytes);
        self.registers.truncate(kernel.registers.len());
        if self.registers.is_empty() {
            let given = &machine.launch.params;
            self.private.params.extend_from_slice(&given[..given.len().min(machine.kernel.info.param_bytes)]);
        }
        self.enter(kernel, [0; 3], machine);
    }

    /// Enters a function. Its registers, local memory and parameters begin at the three indices in `bases`.
    fn enter(&mut self, function: &Function, bases: [usize; 3], machine: &Machine<'_>) {
        let [base, local_base, param_base] = bases;
        if self.registers.len() == base {
            self.registers.extend_from_slice(&function.registers);
        }
        self.private.local.resize(local_base + function.local_bytes, POISON);
        self.private.params.resize(param_base + function.param_bytes, POISON);
        self.base = base;
        self.private.local_base = local_base;
        self.private.param_base = param_base;
        self.next = function.start.unwrap_or(u32::MAX);
        for &(slot, special) in &function.specials {
            // local addresses count from the beginning of the thread's local memory, because every function can access
            // all of it
            self.registers[base + usize::from(slot)] = machine.special(special, self.private.thread, local_base);
        }
    }

    /// Returns the index of the step that is running, or that ran last.
    pub fn step(&self) -> usize {
        self.next.saturating_sub(1) as usize
    }

    pub fn get(&self, slot: Slot) -> u64 {
        self.registers[self.base + usize::from(slot)]
    }

    pub fn set(&mut self, slot: Slot, value: u64) {
        self.registers[self.base + usize::from(slot)] = value;
    }

    /// Runs until the thread ends, waits, or has executed `most` steps.
    pub fn run(&mut self, machine: &mut Machine<'_>, most: u64) -> Result<Stop, Fault> {
        let turn = TURN.min(most).min(machine.left);
        let mut left = turn;
        let stop = self.steps(machine, &mut left);
        machine.left -= turn - left;
        if machine.left == 0 {
            return Err(Fault::Failed("the kernel does not end".to_string()));
        }
        stop
    }

    fn steps(&mut self, machine: &mut Machine<'_>, left: &mut u64) -> Result<Stop, Fault> {
        let module = machine.module;
        let steps = &module.steps[..];
        let mut next = self.next as usize;
        let mut registers = &mut self.registers[self.base..];
        macro_rules! reg {
            ($slot:expr) => {
                registers[usize::from($slot)]
            };
        }
        while *left > 0 {
            *left -= 1;
            let step = &steps[next];
            next += 1;
            match *step {
                Step::Two { function, to, a, b } => reg!(to) = function(reg!(a), reg!(b)),
                Step::Four { function, to, operands: [a, b, c, d] } => {
                    reg!(to) = function(reg!(a), reg!(b), reg!(c), reg!(d));
                }
                Step::Copy { to, from } => reg!(to) = reg!(from),
                Step::Jump { to } => next = to as usize,
                Step::JumpIf { condition, wanted, to } => {
                    if (reg!(condition) & 1 != 0) == wanted {
                        next = to as usize;
                    }
                }
                Step::JumpTable { index, table } => {
                    let table = &module.tables[table as usize];
                    self.next = next as u32;
                    let outside = || Fault::Failed("the index is outside of the table of labels".to_string());
                    next = *table.get(reg!(index) as u32 as usize).ok_or_else(outside)? as usize;
                }
                Step::Load { ref access, to, signed } => {
                    self.next = next as u32;
                    let from = bytes(machine, &mut self.private, AccessKind::Read, access, reg!(access.base))?;
                    for (value, to) in from.chunks_exact(usize::from(access.size)).zip(to) {
                        reg!(to) = loaded(value, signed);
                    }
                }
                Step::Store { ref access, from } => {
                    self.next = next as u32;
                    let to = bytes(machine, &mut self.private, AccessKind::Write, access, reg!(access.base))?;
                    for (place, from) in to.chunks_exact_mut(usize::from(access.size)).zip(from) {
                        store(place, reg!(from));
                    }
                }
                Step::Atomic { ref access, function, to, operands: [a, b] } => {
                    self.next = next as u32;
                    let function = module.atomics[function as usize];
                    let place = bytes(machine, &mut self.private, AccessKind::Atomic, access, reg!(access.base))?;
                    let old = loaded(place, false);
                    store(place, function(old, reg!(a), reg!(b), 0));
                    reg!(to) = old;
                }
                Step::Barrier(_) | Step::Collective { .. } => {
                    self.next = next as u32;
                    let barrier = matches!(step, Step::Barrier(_));
                    return Ok(if barrier { Stop::Barrier } else { Stop::Collective });
                }
                Step::Call { site } => {
                    self.next = next as u32;
                    self.call(site, machine)?;
                    next = self.next as usize;
                    registers = &mut self.registers[self.base..];
                }
                Step::Return => {
                    if self.frames.is_empty() {
                        self.next = next as u32;
                        return Ok(Stop::Exit);
                    }
                    self.give_back(machine);
                    next = self.next as usize;
                    registers = &mut self.registers[self.base..];
                }
                Step::Exit => {
                    self.next = next as u32;
                    return Ok(Stop::Exit);
                }
                Step::Trap => {
                    self.next = next as u32;
                    return Err(Fault::Failed("the kernel stopped itself with a trap".to_string()));
                }
            }
        }
        self.next = next as u32;
        Ok(Stop::Pause)
    }

    fn call(&mut self, site: u32, machine: &Machine<'_>) -> Result<(), Fault> {
        let call = &machine.module.sites[site as usize];
        let function = &machine.module.functions[call.function];
        if function.start.is_none() {
            return Err(Fault::Unsupported(format!("function {}", function.name)));
        }
        if self.frames.len() >= 1 << 10 {
            return Err(Fault::Failed(format!("{} calls itself too deep", function.name)));
        }
        self.frames.push(Frame {
            site,
            back: self.next,
            base: self.base,
            local_base: self.private.local_base,
            param_base: self.private.param_base,
        });
        let caller = self.private.param_base;
        let bases = [
            self.registers.len(),
            self.private.local.len().next_multiple_of(16),
            self.private.params.len().next_multiple_of(16),
        ];
        self.enter(function, bases, machine);
        let callee = self.private.param_base;
        for &(from, to, bytes) in &call.arguments {
            self.private.params.copy_within(caller + from..caller + from + bytes, callee + to);
        }
        Ok(())
    }

    /// Returns from the current function, and copies its results to the caller.
    fn give_back(&mut self, machine: &Machine<'_>) {
        let Some(frame) = self.frames.pop() else { return };
        let callee = self.private.param_base;
        for &(from, to, bytes) in &machine.module.sites[frame.site as usize].results {
            self.private.params.copy_within(callee + from..callee + from + bytes, frame.param_base + to);
        }
        self.registers.truncate(self.base);
        self.private.local.truncate(self.private.local_base);
        self.private.params.truncate(callee);
        self.base = frame.base;
        self.private.local_base = frame.local_base;
        self.private.param_base = frame.param_base;
        self.next = frame.back;
    }
}

/// Extends a number loaded from memory to the 64 bits of a register.
#[inline]
fn loaded(bytes: &[u8], signed: bool) -> u64 {
    match *bytes {
        [a] if signed => a as i8 as u64,
        [a] => a.into(),
        [a, b] if signed => i16::from_le_bytes([a, b]) as u64,
        [a, b] => u16::from_le_bytes([a, b]).into(),
        [a, b, c, d] if signed => i32::from_le_bytes([a, b, c, d]) as u64,
        [a, b, c, d] => u32::from_le_bytes([a, b, c, d]).into(),
        [a, b, c, d, e, f, g, h] => u64::from_le_bytes([a, b, c, d, e, f, g, h]),
        _ => 0,
    }
}

#[inline]
fn store(place: &mut [u8], value: u64) {
    let bytes = value.to_le_bytes();
    match place {
        [_] => place.copy_from_slice(&bytes[..1]),
        [_, _] => place.copy_from_slice(&bytes[..2]),
        [_, _, _, _] => place.copy_from_slice(&bytes[..4]),
        _ => place.copy_from_slice(&bytes[..place.len().min(8)]),
    }
}
