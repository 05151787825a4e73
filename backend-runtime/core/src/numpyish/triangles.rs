//! Row and column indices of the elements in a triangle of a matrix, as for `numpy.tril_indices`.

use super::{
    NdArray, buffer,
    buffer::Buffer,
    copy::Ends,
    parallel::{self, CHEAP},
    raw::RawArray,
};
use crate::{DType, Integer, Result, rules};

/// Returns the row indices and the column indices, in C order, of the elements in a triangle of a matrix: on and above
/// diagonal `k` if `upper` is true, and otherwise on and below it.
#[allow(clippy::type_complexity)] // the tuple contains both results
pub fn triangle_indices<T: Integer>(
    op: &'static str,
    shape: [usize; 2],
    k: isize,
    upper: bool,
) -> Result<(NdArray<T>, NdArray<T>)> {
    let (rows, columns) = written(op, T::DTYPE, shape, k, upper)?;
    Ok((T::numpyish_typed(rows), T::numpyish_typed(columns)))
}

fn written(op: &'static str, dtype: DType, [n, m]: [usize; 2], k: isize, upper: bool) -> Result<(RawArray, RawArray)> {
    // a matrix without columns has no elements, but may have too many rows to loop over
    let n = if m == 0 { 0 } else { n };
    // the range of columns in which `row` intersects the triangle
    let columns = |row: usize| {
        let edge = (row as isize).saturating_add(k).saturating_add(isize::from(!upper)).clamp(0, m as isize) as usize;
        if upper { edge..m } else { 0..edge }
    };
    let mut starts = buffer::vec::<usize>(op, n.saturating_add(1))?;
    let mut total = 0;
    for row in 0..n {
        starts.push(total);
        total += columns(row).len();
    }
    let size = rules::count(op, &[total], dtype.size())?;
    let (rows, places) = (Buffer::new(op, size, dtype)?, Buffer::new(op, size, dtype)?);
    let ends = Ends { from: rows.start().cast_const(), to: places.start() };
    parallel::parallel(n, (CHEAP / m.max(1)).max(1), |range| {
        let ends = &ends;
        for row in range {
            let (start, columns) = (starts[row], columns(row));
            macro_rules! write {
                ($t:ty) => {
                    for (i, column) in columns.enumerate() {
                        // SAFETY: `starts` reserves these positions for this row, and the type has the size of the
                        // dtype.
                        unsafe {
                            *ends.from.cast::<$t>().cast_mut().add(start + i) = row as $t;
                            *ends.to.cast::<$t>().add(start + i) = column as $t;
                        }
                    }
                };
            }
            match dtype.size() {
                1 => write!(u8),
                2 => write!(u16),
                4 => write!(u32),
                _ => write!(u64),
            }
        }
    });
    // SAFETY: every element has been written.
    unsafe { Ok((RawArray::new(op, vec![total], rows)?, RawArray::new(op, vec![total], places)?)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<T: Integer>(n: usize, m: usize, k: isize) {
        for upper in [false, true] {
            let (rows, columns) = triangle_indices::<T>("tril_indices", [n, m], k, upper).unwrap();
            let all = (0..n).flat_map(|i| (0..m).map(move |j| (i as i128, j as i128)));
            let of = |&(i, j): &(i128, i128)| if upper { j - i >= k as i128 } else { j - i <= k as i128 };
            let expected: Vec<_> =
                all.filter(of).map(|(i, j)| (T::from_i64(i as i64), T::from_i64(j as i64))).collect();
            assert!(rows.iter().copied().zip(columns.iter().copied()).eq(expected), "{n} {m} {k} {upper}");
        }
    }

    #[test]
    fn as_the_definition() {
        for (n, m) in [(0, 0), (0, 3), (3, 0), (1, 1), (4, 3), (3, 7), (100, 90)] {
            for k in [0, 1, -1, 2, -5, 90, isize::MAX, isize::MIN] {
                check::<i64>(n, m, k);
                check::<u8>(n, m, k);
                check::<i16>(n, m, k);
                check::<u32>(n, m, k);
            }
        }
        check::<i32>(700, 600, 3);
        let (rows, columns) = triangle_indices::<i64>("tril_indices", [1 << 50, 0], 0, false).unwrap();
        assert!(rows.is_empty() && columns.is_empty());
    }
}
