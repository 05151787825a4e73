//! Checks that there is memory for the buffers that `gemm` allocates itself. If such an allocation failed, `gemm` would
//! abort the process.

use backend_core::{Result, numpyish::buffer, threads};
use std::cell::Cell;

/// Upper bound of the numbers of rows and columns of a register block of `gemm`.
const REGISTERS: usize = 64;

/// Maximum number of rows of the left operand that are packed at a time.
const STRIP: usize = 1024;

/// A size in bytes that is larger than a core's L2 cache, and therefore larger than the block that `gemm` keeps per
/// thread.
const CACHE: usize = 1 << 22;

/// Requests up to this size are not checked, because a system that refuses so few bytes has no memory for the process
/// at all.
const SMALL: usize = 1 << 15;

/// Checks that there is memory for the operands that a product packs. According to the source of `gemm`, it packs at
/// most the whole right operand and a strip of the left operand, both rounded up to a register block. If `threads`, the
/// product runs on all threads of the pool, and each thread has its own block.
pub fn room(op: &'static str, [rows, inner, columns]: [usize; 3], element_size: usize, threads: bool) -> Result<()> {
    let columns = columns.saturating_add(REGISTERS);
    let lines = columns.saturating_add(rows.min(STRIP) + REGISTERS);
    let packed = lines.saturating_mul(inner).saturating_mul(element_size);
    let blocks = if threads { threads::count().saturating_mul(CACHE) } else { 0 };
    let bytes = packed.saturating_add(blocks);
    if bytes <= SMALL { Ok(()) } else { buffer::room(op, bytes) }
}

/// Makes `gemm` allocate its block for this thread, unless the thread already has one. `gemm` keeps the block.
pub fn block(op: &'static str) -> Result<()> {
    thread_local! {
        static MADE: Cell<bool> = const { Cell::new(false) };
    }
    if !MADE.get() {
        buffer::room(op, CACHE)?;
        // the smallest product for which `gemm` packs its left operand strip by strip
        const N: usize = 32;
        const DEPTH: usize = 3;
        let (ones, mut out) = ([1.0_f32; N * DEPTH], [0.0_f32; N * N]);
        // SAFETY: the operands have N x DEPTH and DEPTH x N elements, and the result has N x N elements, all stored
        // column by column.
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

/// Checks, once in each thread, that there is memory for the block that the factorization library allocates. The
/// library allocates the block for its first product in a thread, and keeps it. The block has twice the size of the
/// largest cache, but the library uses only as much of the block as it packs.
pub fn block_of_factorizations(op: &'static str) -> Result<()> {
    #[cfg(all(feature = "linalg", target_arch = "x86_64", not(miri)))]
    {
        thread_local! {
            static THERE: Cell<bool> = const { Cell::new(false) };
        }
        if !THERE.get() {
            buffer::room(op, 2 * backend_core::numpyish::stream::last_cache())?;
            THERE.set(true);
        }
    }
    let _ = op;
    Ok(())
}
