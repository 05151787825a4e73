//! What PTX is decoded into: steps of a small machine whose operands are all registers.
//!
//! Immediates, addresses and special registers such as `%tid.x` are registers too, filled in when a function is entered.

use crate::exec::alu::{Four, Two};

/// A register of a function.
pub(crate) type Slot = u16;

/// One step.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    Two {
        function: Two,
        to: Slot,
        a: Slot,
        b: Slot,
    },
    Four {
        function: Four,
        to: Slot,
        operands: [Slot; 4],
    },
    Copy {
        to: Slot,
        from: Slot,
    },
    Jump {
        to: u32,
    },
    /// Goes on at `to` if `condition` is `wanted`.
    JumpIf {
        condition: Slot,
        wanted: bool,
        to: u32,
    },
    /// Goes on at the place that a register chooses from a table.
    JumpTable {
        index: Slot,
        table: u32,
    },
    Load {
        access: Access,
        to: [Slot; 4],
        signed: bool,
    },
    Store {
        access: Access,
        from: [Slot; 4],
    },
    Atomic {
        access: Access,
        function: u32,
        to: Slot,
        operands: [Slot; 2],
    },
    Barrier(Barrier),
    Collective {
        kind: Collective,
        to: Slot,
        also: Slot,
        operands: [Slot; 3],
        mask: Slot,
    },
    Call {
        site: u32,
    },
    Return,
    Exit,
    Trap,
}

/// Where memory is accessed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    pub space: Space,
    /// How many values, one beside the other.
    pub count: u8,
    /// Bytes of one of them.
    pub size: u8,
    /// Whether other threads may access the same at the same time.
    pub strong: bool,
    /// Which of the module's accesses this is, to remember where it found its memory.
    pub site: u16,
    pub base: Slot,
    pub offset: i32,
}

/// A kind of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Space {
    /// Any but `Param`, as the address says.
    Generic,
    Global,
    Shared,
    Local,
    /// Parameters of the function that runs, and of those it calls.
    Param,
    /// Parameters of the kernel, by their generic addresses.
    Kernel,
}

/// A barrier of a block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Barrier {
    pub number: Slot,
    /// How many threads meet, if not all.
    pub threads: Option<Slot>,
    /// Whether the lanes of a warp must come to it together.
    pub aligned: bool,
    pub vote: Option<(Vote, Slot, Slot)>,
}

/// What is found of conditions of many threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Vote {
    /// How many hold.
    Count,
    /// Whether any holds.
    Any,
    /// Whether all hold.
    All,
    /// Whether all are alike.
    Uniform,
    /// One bit for each.
    Ballot,
}

/// What the lanes of a warp do together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Collective {
    /// Wait for each other.
    Sync,
    Shuffle(Shuffle),
    Vote(Vote),
    /// The lanes whose value is the same.
    MatchAny {
        wide: bool,
    },
    /// All lanes, if all values are the same.
    MatchAll {
        wide: bool,
    },
    Reduce(Reduce),
}

/// Which lane a shuffle reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shuffle {
    Up,
    Down,
    Butterfly,
    Index,
}

/// What a reduction over lanes does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reduce {
    Add,
    MinSigned,
    MinUnsigned,
    MaxSigned,
    MaxUnsigned,
    And,
    Or,
    Xor,
}

/// A register that a thread finds filled in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Special {
    Thread(usize),
    Threads(usize),
    Block(usize),
    Blocks(usize),
    Lane,
    LaneMask(LaneMask),
    Warp,
    Warps,
    /// Where dynamic shared memory begins.
    Dynamic,
    DynamicBytes,
    /// Where a function's variables begin in the thread's local memory, plus this.
    Local(u32),
    /// What is added to a local address to make it generic.
    LocalWindow,
}

/// Lanes by their number, compared with the thread's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LaneMask {
    Equal,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

/// A place where a function is called: what is copied between the parameters of the two.
#[derive(Clone, Debug)]
pub(crate) struct CallSite {
    pub function: usize,
    /// Offsets of arguments in the caller and the callee, and their bytes.
    pub arguments: Vec<(usize, usize, usize)>,
    /// Offsets of results in the callee and the caller, and their bytes.
    pub results: Vec<(usize, usize, usize)>,
}

/// A function or kernel.
#[derive(Clone, Debug, Default)]
pub(crate) struct Function {
    pub name: String,
    /// Its first step. Nothing where it is only declared.
    pub start: Option<u32>,
    /// The registers on entry: constants, and elsewhere poison.
    pub registers: Vec<u64>,
    /// Registers that hold addresses of the module's variables: which one, and what is added.
    pub variables: Vec<(Slot, usize, i64)>,
    /// Registers that are filled in for each thread.
    pub specials: Vec<(Slot, Special)>,
    /// Bytes of parameters: its own, results, and those of functions that it calls.
    pub param_bytes: usize,
    /// Offsets and bytes of its own parameters.
    pub inputs: Vec<(usize, usize)>,
    /// Offsets and bytes of its results.
    pub outputs: Vec<(usize, usize)>,
    /// Bytes of its variables in each thread's memory.
    pub local_bytes: usize,
}
