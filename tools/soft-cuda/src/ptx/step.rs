//! The decoded form of PTX: steps, which are the operations of a small machine. All operands of a step are registers.
//!
//! Immediates, addresses and special registers such as `%tid.x` are stored in registers too, which are filled when a
//! function is entered.

use crate::exec::alu::{Four, Two};

/// The index of a register within a function.
pub(crate) type Slot = u16;

/// One step of a function. Operands are registers. `to` is the register for the result, or, in a jump, the index of the
/// step to jump to.
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
    /// Continues at `to` if `condition` is `wanted`.
    JumpIf {
        condition: Slot,
        wanted: bool,
        to: u32,
    },
    /// Jumps to the step whose index is in the table `table`. The register `index` selects the entry of the table.
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

/// The memory that a load, a store or an atomic operation accesses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    pub space: Space,
    /// The number of consecutive values.
    pub count: u8,
    /// The size of a value in bytes.
    pub size: u8,
    /// Whether the access is atomic, volatile or has a memory order. Two such accesses by different threads do not
    /// race.
    pub strong: bool,
    /// The index of the access instruction; the allocation of its last access is stored under this index.
    pub site: u16,
    pub base: Slot,
    pub offset: i32,
}

/// A memory space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Space {
    /// Any space except `Param`, depending on the address.
    Generic,
    Global,
    Shared,
    Local,
    /// Parameters of the running function, and of functions that it calls.
    Param,
    /// Parameters of the kernel, accessed by generic addresses.
    Kernel,
}

/// A barrier of a block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Barrier {
    pub number: Slot,
    /// The number of threads that the barrier waits for; `None` if it waits for all threads of the block.
    pub threads: Option<Slot>,
    /// Whether the lanes of a warp must reach the barrier together.
    pub aligned: bool,
    pub vote: Option<(Vote, Slot, Slot)>,
}

/// A result that is computed from the conditions of many threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Vote {
    /// The number of conditions that hold.
    Count,
    /// Whether any condition holds.
    Any,
    /// Whether all conditions hold.
    All,
    /// Whether all conditions are equal.
    Uniform,
    /// One bit for each thread, which is set if the thread's condition holds.
    Ballot,
}

/// A collective operation of the lanes of a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Collective {
    /// The lanes only wait for each other.
    Sync,
    Shuffle(Shuffle),
    Vote(Vote),
    /// The mask of the lanes that have the same value as this lane.
    MatchAny {
        wide: bool,
    },
    /// The mask of all lanes if all values are the same, else 0.
    MatchAll {
        wide: bool,
    },
    Reduce(Reduce),
}

/// The rule by which a shuffle selects the lane from which a lane reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shuffle {
    Up,
    Down,
    Butterfly,
    Index,
}

/// The operation of a reduction over lanes.
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

/// A special register, such as `%tid.x`. The axes are numbered from 0 (x) to 2 (z).
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
    /// The offset in bytes of dynamic shared memory.
    Dynamic,
    DynamicBytes,
    /// The start of the function's variables in local memory, plus an offset.
    Local(u32),
    /// The number that `cvta` adds to a local address to make it generic.
    LocalWindow,
}

/// A mask of lanes. A lane belongs to the mask if its index has this relation to the index of the thread's own lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LaneMask {
    Equal,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

/// A call of a function, with the values to copy between the parameters of the caller and the callee.
#[derive(Clone, Debug)]
pub(crate) struct CallSite {
    pub function: usize,
    /// For each argument: its offset in the caller's parameter memory, its offset in the callee's parameter memory, and
    /// its size, all in bytes.
    pub arguments: Vec<(usize, usize, usize)>,
    /// For each result: its offset in the callee's parameter memory, its offset in the caller's parameter memory, and
    /// its size, all in bytes.
    pub results: Vec<(usize, usize, usize)>,
}

/// A function or kernel.
#[derive(Clone, Debug, Default)]
pub(crate) struct Function {
    pub name: String,
    /// The index of the first step; `None` if the function is only declared.
    pub start: Option<u32>,
    /// The values of the registers when the function is entered: constants, and poison for all other registers.
    pub registers: Vec<u64>,
    /// Registers with addresses of the module's variables: the register, the index of the variable, and the number to
    /// add to its address.
    pub variables: Vec<(Slot, usize, i64)>,
    /// Registers whose values are computed for each thread when the function is entered.
    pub specials: Vec<(Slot, Special)>,
    /// Size in bytes of the function's own parameters and results, and of the parameters of the functions that it
    /// calls.
    pub param_bytes: usize,
    /// For each of the function's own parameters, its offset and its size in bytes.
    pub inputs: Vec<(usize, usize)>,
    /// For each of the function's results, its offset and its size in bytes.
    pub outputs: Vec<(usize, usize)>,
    /// Size in bytes of the function's variables in each thread's memory.
    pub local_bytes: usize,
}
