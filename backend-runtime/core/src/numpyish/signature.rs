//! The signature of the loops of kernels: the type that every loop of every kernel has.

use crate::formula;

/// Maximum number of operands of a kernel. Only formulas have that many; an op has at most three.
pub const MAX_OPERANDS: usize = formula::MAX_ARRAYS;

/// A loop applies the op at `op` to the operands at `x`, and writes `n` results to `out`. Each operand has `n`
/// elements, or a single element if its bit in `scalars` is set.
pub type Loop = unsafe fn(op: *const u8, x: &[*const u8; MAX_OPERANDS], scalars: u8, out: *mut u8, n: usize);
