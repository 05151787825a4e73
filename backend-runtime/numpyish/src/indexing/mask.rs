//! Elements at which a mask is true, and the indices of nonzero elements.

use backend_core::{
    DType, Result,
    numpyish::{
        OpContext,
        buffer::{self, Buffer},
        convert::nonzero_bytes,
        copy::{self, by_bits},
        parallel::{self, CHEAP},
        raw::{RawArray, View},
    },
    rules::{self, Masked},
};

/// Number of flags (elements of a mask) in a block. A task copies the elements of one block or several.
const BLOCK: usize = 1 << 14;

/// The elements, in C order, at which a mask is true. If the mask has fewer axes than `x`, it selects subarrays over
/// the other axes instead of elements.
pub fn boolean_mask(on: OpContext<'_>, x: View<'_>, mask: View<'_>) -> Result<RawArray> {
    let op = on.op;
    let Masked { cell, .. } = rules::masked(op, x.shape, mask.shape)?;
    let (elements, flags) = (copy::pack(op, x)?, copy::pack(op, mask)?);
    // SAFETY: the packed copy has the bools of the mask, each of which is a byte of 0 or 1.
    let flags = unsafe { flags.slice::<bool>(mask.len()) };
    if !cell.is_empty() {
        return cells(op, x.dtype, elements.start(), flags, &cell);
    }
    let mut ends = buffer::vec::<usize>(op, flags.len().div_ceil(BLOCK))?;
    let mut n = 0;
    for block in flags.chunks(BLOCK) {
        n += block.iter().map(|&m| usize::from(m)).sum::<usize>();
        ends.push(n);
    }
    let out = Buffer::new(op, n, x.dtype)?;
    let (size, both) = (x.dtype.size(), copy::Ends { from: elements.start(), to: out.start() });
    parallel::parallel(ends.len(), CHEAP / BLOCK, |blocks| {
        let both = &both;
        for i in blocks {
            let first = if i == 0 { 0 } else { ends[i - 1] };
            let flags = &flags[i * BLOCK..flags.len().min((i + 1) * BLOCK)];
            // SAFETY: both addresses are in their buffers, and a block writes as many elements as it has true flags.
            unsafe {
                let (from, to) = (both.from.add(i * BLOCK * size), both.to.add(first * size));
                by_bits!(x.dtype, U => compress::<U>(|i| *from.cast::<U>().add(i), flags, to.cast(), ends[i] - first));
            }
        }
    });
    // SAFETY: the blocks cover the result.
    unsafe { RawArray::new(op, vec![n], out) }
}

/// Copies the subarrays of shape `cell` whose flags are true.
fn cells(op: &'static str, dtype: DType, from: *const u8, flags: &[bool], cell: &[usize]) -> Result<RawArray> {
    let n = flags.iter().filter(|&&flag| flag).count();
    let shape = [&[n], cell].concat();
    let out = Buffer::new(op, rules::count(op, &shape, dtype.size())?, dtype)?;
    if out.len() > 0 {
        let bytes = out.len() / n * dtype.size();
        for (to, (i, _)) in flags.iter().enumerate().filter(|(_, flag)| **flag).enumerate() {
            // SAFETY: the subarray is in both arrays, and the result has room for one subarray per true flag.
            unsafe { std::ptr::copy_nonoverlapping(from.add(i * bytes), out.start().add(to * bytes), bytes) };
        }
    }
    // SAFETY: every cell has been written.
    unsafe { RawArray::new(op, shape, out) }
}

/// Writes the values whose flags are true to `out`; there are `room` of them. The loop has no branch on the flag,
/// because the processor could not predict it: every value is written, and a value whose flag is false is overwritten
/// by the next value.
///
/// # Safety
/// `out` must have room for `room` values.
#[inline(always)]
unsafe fn compress<U>(at: impl Fn(usize) -> U, flags: &[bool], out: *mut U, room: usize) {
    let mut next = 0;
    for (i, &flag) in flags.iter().enumerate() {
        if next == room {
            return;
        }
        // SAFETY: the caller guarantees enough room, and `next` is less than `room`, as just checked.
        unsafe { out.add(next).write(at(i)) };
        next += usize::from(flag);
    }
}

/// Returns the indices of the nonzero elements, as one array per axis.
pub fn nonzero(on: OpContext<'_>, x: View<'_>) -> Result<Vec<RawArray>> {
    rules::require_axes(on.op, x.shape)?;
    let (n, places) = places(on.op, x)?;
    places.into_iter().map(|v| RawArray::from_vec(on.op, vec![n], v)).collect()
}

/// Returns the indices of the nonzero elements, as a matrix with one row per nonzero element.
pub fn argwhere(on: OpContext<'_>, x: View<'_>) -> Result<RawArray> {
    let op = on.op;
    let (n, mut places) = places(op, x)?;
    let ndim = x.shape.len();
    if let [column] = &mut places[..] {
        return RawArray::from_vec(op, vec![n, 1], std::mem::take(column));
    }
    let mut out = Buffer::new(op, rules::count(op, &[n, ndim], size_of::<i64>())?, DType::Int64)?;
    for (k, column) in places.iter().enumerate() {
        let column = View { start: column.as_ptr().cast(), dtype: DType::Int64, shape: &[n], strides: &[1] };
        copy::place(&mut out, k, &[ndim as isize], column);
    }
    // SAFETY: the columns cover the result.
    unsafe { RawArray::new(op, vec![n, ndim], out) }
}

/// The number of nonzero elements, and their indices along each axis, in C order.
fn places(op: &'static str, x: View<'_>) -> Result<(usize, Vec<Vec<i64>>)> {
    let elements = copy::pack(op, x)?;
    let made = if x.dtype == DType::Bool { Vec::new() } else { flags(op, elements.start(), x)? };
    // SAFETY: the packed copy has the elements, which are bools.
    let flags = if x.dtype == DType::Bool { unsafe { elements.slice::<bool>(x.len()) } } else { &made[..] };
    let n = flags.iter().filter(|&&flag| flag).count();
    let mut places = (0..x.shape.len()).map(|_| buffer::vec(op, n)).collect::<Result<Vec<Vec<i64>>>>()?;
    let Some((last, outer)) = places.split_last_mut() else {
        return Ok((n, places));
    };
    let len = x.shape[outer.len()].max(1);
    let mut index = vec![0; outer.len()];
    // goes row by row: the outer indices change only between rows, so no divisions are needed
    for row in flags.chunks(len) {
        let found = row.iter().filter(|&&flag| flag).count();
        // SAFETY: there is room for all indices, and this row has `found` true flags.
        unsafe {
            compress(|i| i as i64, row, last.as_mut_ptr().add(last.len()), found);
            last.set_len(last.len() + found);
        }
        outer.iter_mut().zip(&index).for_each(|(v, &i)| v.extend(std::iter::repeat_n(i, found)));
        for (i, &d) in index.iter_mut().zip(x.shape).rev() {
            *i += 1;
            if *i < d as i64 {
                break;
            }
            *i = 0;
        }
    }
    Ok((n, places))
}

/// A flag for each element of `x`, in C order, which is true if the element is nonzero. `elements` are the packed
/// elements of `x`.
fn flags(op: &'static str, elements: *const u8, x: View<'_>) -> Result<Vec<bool>> {
    let n = x.len();
    let flags = Buffer::new(op, n, DType::Bool)?;
    let (test, size) = (nonzero_bytes(x.dtype), x.dtype.size());
    let both = copy::Ends { from: elements, to: flags.start() };
    parallel::parallel(n, CHEAP, |range| {
        let both = &both;
        // SAFETY: the range is within both buffers, and tasks write different ranges.
        unsafe { test(both.from.add(range.start * size), both.to.add(range.start), range.len()) };
    });
    // SAFETY: every flag has been written, as a byte of 0 or 1.
    Ok(unsafe { flags.into_vec() })
}

#[cfg(test)]
mod tests {
    use super::super::{
        tests::{counting, list},
        typed::{argwhere, boolean_mask, nonzero},
    };
    use backend_core::{
        IntoHost,
        numpyish::{NdArray, Numpyish, testing::Dice, testing::array},
    };
    use ndarray::IxDyn;

    const B: Numpyish = Numpyish::new();

    #[test]
    fn masks_and_places() {
        let x = counting(&[2, 2]);
        let mask = [[true, false], [true, true]].into_host().unwrap();
        assert_eq!(list(&boolean_mask(&B, &x, &mask).unwrap()), [0, 2, 3]);
        assert!(boolean_mask(&B, &x, &[true].into_host().unwrap()).is_err());
        assert_eq!(nonzero(&B, &mask).unwrap().iter().map(list).collect::<Vec<_>>(), [[0, 1, 1], [0, 0, 1]]);
        let of_scalar = argwhere(&B, &1_i64.into_host().unwrap()).unwrap();
        assert_eq!(of_scalar.shape(), [1, 0]);
    }

    #[test]
    fn masks_and_places_of_any_layout() {
        let mut dice = Dice(5);
        for round in 0..60 {
            let longest = [4, 70][round % 2];
            let shape: Vec<usize> = (0..1 + dice.below(3)).map(|_| dice.below(longest)).collect();
            let x: NdArray<i64> = dice.layout_of(&shape);
            let mask = dice.layout_of::<i64>(&shape).map(|&v| v % 3 == 0).into_shared();
            let true_at: Vec<IxDyn> = mask.indexed_iter().filter(|(_, m)| **m).map(|(at, _)| at).collect();
            let naive: Vec<i64> = true_at.iter().map(|at| x[at]).collect();
            assert_eq!(list(&boolean_mask(&B, &x, &mask).unwrap()), naive);
            let rows = argwhere(&B, &mask).unwrap();
            assert_eq!(rows.shape(), [true_at.len(), shape.len()]);
            let columns = nonzero(&B, &mask).unwrap();
            for (n, at) in true_at.iter().enumerate() {
                for k in 0..shape.len() {
                    assert_eq!((rows[[n, k]], columns[k][n]), (at[k] as i64, at[k] as i64));
                }
            }
        }
    }

    #[test]
    fn huge_shapes_of_nothing() {
        let x = array("zeros", &[1 << 40, 0], Vec::<i64>::new()).unwrap();
        assert_eq!(argwhere(&B, &x).unwrap().shape(), [0, 2]);
        assert_eq!(nonzero(&B, &x).unwrap().len(), 2);
    }
}
