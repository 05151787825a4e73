//! Runs a kernel over arrays: chooses the order in which elements are visited, the number of threads, and the memory of
//! the result.

use super::{
    buffer::Buffer,
    kernel::{Kernel, MAX_OPERANDS, Pointers, advanced, blocks, stretch, stretch_over},
    parallel,
    raw::{RawArray, View},
    simd::set,
    stream,
    walk::{self, OperandRow},
};
use crate::{Result, rules};

/// Selects the function for the stretches (ranges of elements) of a call that reads and writes `bytes` bytes. It is
/// [`stretch`], or the version of [`stretch`] that bypasses the caches if this is faster.
#[inline]
fn chosen(bytes: usize) -> Stretch {
    if stream::pays(bytes, usize::MAX) { stream::stretch } else { stretch }
}

/// A function with the signature of [`stretch`]. It computes a stretch, in which every operand is a slice or a scalar.
type Stretch = unsafe fn(&Kernel, *const u8, [*const u8; MAX_OPERANDS], u8, *mut u8, usize);

/// The elements and the layout of a result of [`run`].
pub enum Computed {
    /// The result has the shape and the memory order of an operand.
    Like {
        /// Index of the operand.
        lead: usize,
        /// True if the operand is in C order.
        c_order: bool,
        /// The elements of the result.
        buffer: Buffer,
    },
    /// The result has another layout.
    Other(Box<RawArray>),
}

/// Minimum number of elements for which several threads may be faster than one.
const SMALL: usize = 1 << 14;

/// Operands that are scalars or arrays in C order. All arrays have the same shape.
pub struct Aligned {
    x: [*const u8; MAX_OPERANDS],
    scalars: u8,
    /// Index of the operand whose shape the result has.
    pub lead: usize,
    /// Number of elements of the result.
    pub n: usize,
}

/// Returns the operands as `Aligned`, or `None` if an array is not in C order or two arrays differ in shape.
#[inline(always)]
pub fn aligned(operands: &[View<'_>]) -> Option<Aligned> {
    let mut x = [std::ptr::null(); MAX_OPERANDS];
    let (mut scalars, mut lead, mut n) = (0_u8, usize::MAX, 1);
    for (i, operand) in operands.iter().enumerate() {
        x[i] = operand.start;
        if operand.shape.is_empty() {
            scalars |= 1 << i;
        } else if lead == usize::MAX {
            (lead, n) = (i, c_order_len(operand));
        } else if c_order_len(operand) != n || !same_shape(operand.shape, operands[lead].shape) {
            return None;
        }
    }
    (n != usize::MAX).then_some(Aligned { x, scalars, lead: if lead == usize::MAX { 0 } else { lead }, n })
}

impl Aligned {
    /// Returns whether one call of a loop computes the whole result.
    #[inline(always)]
    pub fn is_one_call(&self, kernel: &Kernel) -> bool {
        (1..SMALL).contains(&self.n) && kernel.is_direct(self.scalars)
    }

    /// Computes the whole result by one call of a loop.
    ///
    /// # Safety
    /// The conditions of [`run`] hold, `is_one_call` returned true, and `out` has room for the elements.
    #[inline(always)]
    pub unsafe fn call(&self, kernel: &Kernel, op: *const u8, out: *mut u8) {
        // SAFETY: every operand has `n` elements in C order, or is a scalar that the loop accepts.
        unsafe { kernel.loops[set()](op, &self.x, self.scalars, out, self.n) };
    }
}

/// Runs a kernel over operands, which are broadcast to one shape.
///
/// # Safety
/// `op` points to the kernel's op, and the operands have the number and the dtypes that the kernel requires.
#[inline(never)]
pub unsafe fn run(kernel: &Kernel, op: *const u8, operands: &[View<'_>]) -> Result<Computed> {
    // SAFETY: the caller guarantees the op and the operands.
    unsafe {
        match aligned(operands) {
            Some(a) => {
                fits_empty(kernel, operands[a.lead].shape, a.n)?;
                let buffer = alike(kernel, op, a.x, a.scalars, a.n)?;
                Ok(Computed::Like { lead: a.lead, c_order: true, buffer })
            }
            None => run_other(kernel, op, operands),
        }
    }
}

/// Returns an error if `shape` has an axis of length 0 and the product of the other lengths is too large (see
/// [`rules::count`]). `n` is the number of elements.
fn fits_empty(kernel: &Kernel, shape: &[usize], n: usize) -> Result<()> {
    if n == 0 { rules::count(kernel.name, shape, kernel.output.size()).map(|_| ()) } else { Ok(()) }
}

/// Returns whether the shapes of two arrays are equal. The arrays must have the same number of elements.
#[inline(always)]
fn same_shape(a: &[usize], b: &[usize]) -> bool {
    a.len() == b.len() && (a.len() == 1 || a == b)
}

/// The number of elements of an array in C order without gaps, else `usize::MAX`.
#[inline(always)]
fn c_order_len(x: &View<'_>) -> usize {
    // rank 1, the most common rank, needs no loop
    if let (&[len], &[stride]) = (x.shape, x.strides) {
        return if stride == 1 || len == 1 { len } else { usize::MAX };
    }
    let mut n = 1;
    for (&len, &stride) in x.shape.iter().zip(x.strides).rev() {
        if stride != n as isize && len != 1 {
            return usize::MAX;
        }
        n *= len;
    }
    n
}

/// Runs a kernel over operands for which [`aligned`] returns `None`: an array is not in C order, or two arrays differ
/// in shape.
#[inline(never)]
unsafe fn run_other(kernel: &Kernel, op: *const u8, operands: &[View<'_>]) -> Result<Computed> {
    let mut x = [std::ptr::null(); MAX_OPERANDS];
    let mut scalars = 0;
    for (i, operand) in operands.iter().enumerate() {
        x[i] = operand.start;
        scalars |= u8::from(operand.shape.is_empty()) << i;
    }
    let lead = operands.iter().position(|o| !o.shape.is_empty()).unwrap_or(0);
    let first = &operands[lead];
    let same_layout = |o: &View<'_>| {
        let mut axes = first.shape.iter().zip(first.strides).zip(o.shape.iter().zip(o.strides));
        o.shape.len() == first.shape.len() && axes.all(|((d, s), (e, t))| d == e && (s == t || *d == 1))
    };
    let n = first.len();
    if operands.iter().all(|o| o.shape.is_empty() || same_layout(o)) && (n == 0 || is_dense(first)) {
        fits_empty(kernel, first.shape, n)?;
        // SAFETY: the caller guarantees the op and the operands, and all arrays have the same memory layout.
        let buffer = unsafe { alike(kernel, op, x, scalars, n)? };
        return Ok(Computed::Like { lead, c_order: n == 0, buffer });
    }
    let all = Pointers { op, x, out: std::ptr::null_mut() };
    let most = operands.iter().map(View::len).max().unwrap_or(0);
    let stretch =
        chosen(most * kernel.output.size() + operands.iter().map(|o| o.len() * o.dtype.size()).sum::<usize>());
    let compute = |parts: &[OperandRow], out: *mut u8, n: usize| {
        let all = &all;
        let mut x = [std::ptr::null(); MAX_OPERANDS];
        let mut scalars = 0;
        for (i, part) in parts.iter().enumerate() {
            x[i] = part.start;
            scalars |= u8::from(part.scalar) << i;
        }
        // SAFETY: the walk passes `n` elements of each operand, or one element of a scalar, and room for `n` results.
        unsafe { stretch(kernel, all.op, x, scalars, out, n) };
    };
    // SAFETY: a kernel writes all `n` elements of each stretch.
    Ok(Computed::Other(Box::new(unsafe { walk::walk(kernel.name, operands, kernel.output, &compute)? })))
}

/// Returns whether the elements fill their memory without gaps, with axes in any order but no negative stride.
fn is_dense(x: &View<'_>) -> bool {
    let mut axes: Vec<(isize, usize)> =
        x.strides.iter().copied().zip(x.shape.iter().copied()).filter(|a| a.1 != 1).collect();
    axes.sort_unstable();
    let mut expected = 1;
    let dense = axes.iter().all(|&(stride, len)| {
        let fits = stride == expected;
        expected *= len as isize;
        fits
    });
    // the strides of axes of length 1 are checked too, because the result gets the same strides
    dense && x.strides.iter().all(|&s| s >= 0)
}

/// Runs a kernel over scalars and arrays. All arrays have the same memory layout.
#[inline(never)]
unsafe fn alike(kernel: &Kernel, op: *const u8, x: [*const u8; MAX_OPERANDS], scalars: u8, n: usize) -> Result<Buffer> {
    let buffer = Buffer::new(kernel.name, n, kernel.output)?;
    // SAFETY: the caller guarantees the op and the operands, and no operand overlaps the buffer, because it is new.
    unsafe { alike_into(kernel, op, x, scalars, 0, n, buffer.start()) };
    Ok(buffer)
}

/// Like `alike`, but writes to existing memory. If bit k of `over` is set, operand k has the same memory as the result,
/// and each of its elements is read before it is overwritten.
unsafe fn alike_into(
    kernel: &Kernel,
    op: *const u8,
    x: [*const u8; MAX_OPERANDS],
    scalars: u8,
    over: u8,
    n: usize,
    out: *mut u8,
) {
    let all = Pointers { op, x, out };
    let arrays = (0..kernel.operands as usize).filter(|i| scalars >> i & 1 == 0);
    let stretch = chosen(n * (kernel.output.size() + arrays.map(|i| kernel.inputs[i].size()).sum::<usize>()));
    parallel::parallel_timed(n, 1, |range| {
        let all = &all;
        // SAFETY: the caller guarantees the operands and enough room, and different tasks write different parts of the
        // result.
        unsafe {
            let x = advanced(kernel, all.x, scalars, range.start);
            let out = all.out.add(range.start * kernel.output.size());
            match over {
                0 => stretch(kernel, all.op, x, scalars, out, range.len()),
                _ => stretch_over(kernel, all.op, x, scalars, over, out, range.len()),
            }
        }
    });
}

/// Minimum size in bytes of a result that overwrites an operand, if nothing else uses the operand. Smaller results get
/// new memory, which is allocated quickly and is already in the cache.
pub const REUSED: usize = 1 << 17;

/// Returns whether `len` elements of `size` bytes each are so large that a result may overwrite them.
#[inline]
pub fn is_reused(len: usize, size: usize) -> bool {
    len.saturating_mul(size) >= REUSED
}

/// Like [`run`], but writes the result to the existing array `out`, which may be one of the operands. `out` must have
/// the shape of the result and the layout that a new result would have; otherwise returns false and changes nothing.
///
/// # Safety
/// The conditions of [`run`] hold. `out` has the dtype of the result, and only operands that start at the same address
/// use its memory.
pub unsafe fn run_over(kernel: &Kernel, op: *const u8, operands: &[View<'_>], out: View<'_>) -> bool {
    let mut x = [std::ptr::null(); MAX_OPERANDS];
    let (mut scalars, mut over, mut aligned) = (0, 0, true);
    for (i, operand) in operands.iter().enumerate() {
        x[i] = operand.start;
        if operand.shape.is_empty() {
            scalars |= 1 << i;
        } else if operand.shape == out.shape && operand.strides == out.strides {
            if operand.start == out.start {
                if operand.dtype.size() != out.dtype.size() {
                    return false;
                }
                over |= 1 << i;
            }
        } else if operand.start == out.start {
            return false;
        } else {
            aligned = false;
        }
    }
    let all_scalars = u32::from(scalars).count_ones() as usize == operands.len();
    if all_scalars || !is_dense(&out) {
        return false;
    }
    if aligned {
        // SAFETY: the caller guarantees the operands and `out`, and each array has as many elements as `out`, in the
        // same order.
        unsafe { alike_into(kernel, op, x, scalars, over, out.len(), out.start.cast_mut()) };
        return true;
    }
    let all = Pointers { op, x, out: std::ptr::null_mut() };
    let compute = |parts: &[OperandRow], out: *mut u8, n: usize| {
        let all = &all;
        let mut x = [std::ptr::null(); MAX_OPERANDS];
        let (mut scalars, mut over) = (0, 0);
        for (i, part) in parts.iter().enumerate() {
            x[i] = part.start;
            scalars |= u8::from(part.scalar) << i;
            over |= u8::from(part.start == out.cast_const()) << i;
        }
        // SAFETY: the walk passes `n` elements of each operand, or one element of a scalar, and room for `n` results.
        unsafe {
            match over {
                0 => stretch(kernel, all.op, x, scalars, out, n),
                // if a scalar is in the memory of the result, the loop would overwrite it before the last use; so it is
                // first repeated in a buffer
                _ if over & scalars != 0 => blocks(kernel, all.op, x, scalars, over & !scalars, out, n),
                _ => stretch_over(kernel, all.op, x, scalars, over, out, n),
            }
        }
    };
    // SAFETY: a kernel writes only the `n` elements of each stretch, and the caller guarantees the memory of `out`.
    unsafe { walk::walk_over(kernel.name, operands, out, &compute) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DType;

    #[test]
    fn layouts_without_gaps() {
        let dense = |shape: &[usize], strides: &[isize]| {
            is_dense(&View { start: std::ptr::null(), dtype: DType::Bool, shape, strides })
        };
        assert!(dense(&[3, 4], &[4, 1]) && dense(&[3, 4], &[1, 3]) && dense(&[3, 1, 4], &[4, 9, 1]));
        assert!(!dense(&[3, 4], &[8, 1]) && !dense(&[3, 4], &[-4, 1]) && !dense(&[3, 4], &[0, 1]));
    }
}
