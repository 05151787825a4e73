//! Repetition of elements, with a separate count for each element. For each element of the result, this module computes
//! the index of the source element.

use super::{
    NdArray, buffer,
    buffer::Buffer,
    copy::{self, Packed},
    parallel::{self, Shared},
    raw::{HostView, RawArray},
    typed::typed,
};
use crate::{DType, Error, Result};

/// Number of counts in a block. A task processes one block or several.
const BLOCK: usize = 1 << 13;

/// Number of elements of the result that are written at a time, even if an index is repeated fewer times. The next
/// index overwrites the surplus elements.
const WIDE: usize = 4;

/// Repetition counts of the elements along an axis.
pub struct Repeats<'a> {
    counts: Packed<'a>,
    n: usize,
    /// For each block of counts, the index in the result at which its elements begin. The last entry is the length of
    /// the result.
    starts: Vec<usize>,
}

impl<'a> Repeats<'a> {
    /// Checks the counts and computes their sums. Returns an error if a count is negative or the sum is 2^53 or more.
    pub fn new(op: &'static str, counts: HostView<'a, i64>) -> Result<Repeats<'a>> {
        let counts = counts.view();
        let (packed, n) = (copy::pack(op, counts)?, counts.len());
        // SAFETY: `packed` has the `n` counts.
        let counts = unsafe { packed.slice::<i64>(n) };
        let mut starts = buffer::repeated(op, n.div_ceil(BLOCK) + 1, 0_usize)?;
        let sums = Shared::new(&mut starts[1..]);
        parallel::parallel(n.div_ceil(BLOCK), parallel::CHEAP / BLOCK, |blocks| {
            for block in blocks {
                let counts = &counts[block * BLOCK..n.min((block + 1) * BLOCK)];
                // as an unsigned number, a negative count is larger than any allowed sum
                let sum = counts.iter().fold(0_u64, |sum, &count| sum.saturating_add(count as u64));
                // SAFETY: each block has its own sum, so no two tasks write the same one.
                unsafe { sums.part(block..block + 1)[0] = usize::try_from(sum).unwrap_or(usize::MAX) };
            }
        });
        let mut total = 0_usize;
        for start in &mut starts {
            total = total.saturating_add(*start);
            *start = total;
        }
        if total as u64 >= 1 << 53 {
            let negative = counts.iter().any(|&count| count < 0);
            return Err(if negative {
                Error::argument(op, "a count is negative, but none must be")
            } else {
                Error::memory(op, usize::MAX)
            });
        }
        Ok(Repeats { counts: packed, n, starts })
    }

    /// The sum of the counts.
    pub fn total(&self) -> usize {
        self.starts.last().copied().unwrap_or(0)
    }

    /// Returns the indices of the elements (0, 1, 2, ..), each repeated as many times as its count.
    pub fn places(&self, op: &'static str) -> Result<NdArray<i64>> {
        let out = Buffer::new(op, self.total(), DType::Int64)?;
        // SAFETY: `counts` has `n` counts.
        let counts = unsafe { self.counts.slice::<i64>(self.n) };
        let ends = copy::Ends { from: counts.as_ptr(), to: out.start().cast::<i64>() };
        parallel::parallel(self.n.div_ceil(BLOCK), 1, |blocks| {
            let ends = &ends;
            for block in blocks {
                let first = block * BLOCK;
                // SAFETY: the slice has the counts of one block, and their sum is the number of elements between the
                // two target addresses.
                unsafe {
                    let counts = std::slice::from_raw_parts(ends.from.add(first), BLOCK.min(self.n - first));
                    write(counts, first as i64, ends.to.add(self.starts[block]), ends.to.add(self.starts[block + 1]));
                }
            }
        });
        // SAFETY: every element has been written.
        typed(unsafe { RawArray::new(op, vec![self.total()], out) })
    }
}

/// Writes the indices from `first` on, each as many times as its count.
///
/// # Safety
/// No count is negative, the counts sum to the distance from `to` to `end`, and nothing else writes between the two.
unsafe fn write(counts: &[i64], first: i64, mut to: *mut i64, end: *mut i64) {
    for (index, &count) in (first..).zip(counts) {
        let count = count as usize;
        // SAFETY: all writes are before `end`: the loop writes at most `WIDE` elements beyond `next`, and only if at
        // least `WIDE` elements remain after `next`.
        unsafe {
            let next = to.add(count);
            if end.offset_from(next) >= WIDE as isize {
                // all counts up to `WIDE` take the same branches, because `WIDE` elements are written for each of them
                loop {
                    for k in 0..WIDE {
                        *to.add(k) = index;
                    }
                    to = to.add(WIDE);
                    if to >= next {
                        break;
                    }
                }
            } else {
                (0..count).for_each(|k| *to.add(k) = index);
            }
            to = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numpyish::testing::layouts;
    use ndarray::{ArrayD, arr1};

    fn of(counts: &[i64]) -> Result<NdArray<i64>> {
        let counts = arr1(counts).into_dyn().into_shared();
        Repeats::new("repeat_each", HostView::of(&counts))?.places("repeat_each")
    }

    #[test]
    fn every_index_as_often_as_its_count() {
        for n in [0, 1, 2, 5, 100, BLOCK, 3 * BLOCK + 77, 40 * BLOCK] {
            for most in [1, 2, 4, 5, 13] {
                let counts: Vec<i64> = (0..n as i64).map(|i| i * 7919 % 101 % most).collect();
                let expected = (0..).zip(&counts).flat_map(|(i, &count)| (0..count).map(move |_| i));
                assert!(of(&counts).unwrap().iter().copied().eq(expected), "{n} {most}");
            }
        }
        assert_eq!(of(&[0, 9, 0]).unwrap().as_slice().unwrap(), [1; 9]);
        for counts in layouts(&ArrayD::from_elem(vec![3], 2_i64)) {
            let places = Repeats::new("repeat_each", HostView::of(&counts)).unwrap().places("repeat_each").unwrap();
            assert_eq!(places.as_slice().unwrap(), [0, 0, 1, 1, 2, 2]);
        }
    }

    #[test]
    fn what_is_refused() {
        for counts in [&[1, -1][..], &[i64::MAX, i64::MAX, i64::MIN], &[-1]] {
            assert!(matches!(of(counts), Err(Error::Argument { op: "repeat_each", .. })), "{counts:?}");
        }
        for counts in [&[1 << 53][..], &[i64::MAX, i64::MAX, i64::MAX], &[1 << 52, 1 << 52]] {
            assert!(matches!(of(counts), Err(Error::Memory { op: "repeat_each", .. })), "{counts:?}");
        }
        assert!(matches!(of(&[1 << 52]), Err(Error::Memory { .. })));
    }
}
