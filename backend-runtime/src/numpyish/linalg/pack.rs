//! The memory that `gemm` takes by itself. It ends the process where it gets none, so it is asked for beforehand.

use crate::{Result, numpyish::buffer, threads};
use std::cell::Cell;

/// More rows or columns than any register block of `gemm` has.
const REGISTERS: usize = 64;

/// Rows of the left operand that are packed at most.
const STRIP: usize = 1024;

/// Larger than the second-level cache of a core, which is the size of a thread's block.
const CACHE: usize = 1 << 22;

/// Memory that is not asked for beforehand: to whom so little is refused, nothing else is given either.
const SMALL: usize = 1 << 15;

/// Asks for what a product packs: by the source of `gemm`, at most the whole right operand, and of the left one a strip,
/// both rounded up to a register block. With `threads` it runs on all threads of the pool, each with a block of its own.
pub fn room(op: &'static str, [rows, inner, columns]: [usize; 3], element_size: usize, threads: bool) -> Result<()> {
    let columns = columns.saturating_add(REGISTERS);
    let lines = columns.saturating_add(rows.min(STRIP) + REGISTERS);
    let packed = lines.saturating_mul(inner).saturating_mul(element_size);
    let blocks = if threads { threads::count().saturating_mul(CACHE) } else { 0 };
    let bytes = packed.saturating_add(blocks);
    if bytes <= SMALL { Ok(()) } else { buffer::room(op, bytes) }
}

/// Has `gemm` make the block of this thread, which it keeps, if it has none yet.
pub fn block(op: &'static str) -> Result<()> {
    thread_local! {
        static MADE: Cell<bool> = const { Cell::new(false) };
    }
    if !MADE.get() {
        buffer::room(op, CACHE)?;
        // a product of the smallest size that packs its left operand a strip at a time
        const N: usize = 32;
        const DEPTH: usize = 3;
        let (ones, mut out) = ([1.0_f32; N * DEPTH], [0.0_f32; N * N]);
        // SAFETY: the operands have N by DEPTH and DEPTH by N elements, column by column, and the result N by N.
        unsafe {
            let (n, depth) = (N as isize, DEPTH as isize);
            let (a, b) = (ones.as_ptr(), ones.as_ptr());
            let parallelism = gemm::Parallelism::None;
            gemm::gemm(
                N,
                N,
                DEPTH,
                out.as_mut_ptr(),
                n,
                1,
                false,
                a,
                n,
                1,
                b,
                depth,
                1,
                0.0,
                1.0,
                false,
                false,
                false,
                parallelism,
            );
        }
        MADE.set(true);
    }
    Ok(())
}

/// Asks, once in each thread, for the block that the library of factorizations makes for its first product there, and keeps: of twice
/// the largest cache, of which it uses what it packs.
pub fn block_of_factorizations(op: &'static str) -> Result<()> {
    #[cfg(all(feature = "linalg", target_arch = "x86_64", not(miri)))]
    {
        thread_local! {
            static THERE: Cell<bool> = const { Cell::new(false) };
        }
        if !THERE.get() {
            buffer::room(op, 2 * crate::numpyish::stream::last_cache())?;
            THERE.set(true);
        }
    }
    let _ = op;
    Ok(())
}
