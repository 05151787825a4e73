//! Sums of products of rows that lie one after the other.

use super::{
    super::{
        NdArray,
        buffer::{self, Buffer},
        parallel::{self, CHEAP, Shared},
        raw::{HostView, RawArray, View},
        simd::versions,
        typed::typed,
    },
    vector::dot,
};
use crate::{DType, Numeric, Result, rules};
use std::slice;

/// Elements whose products are added in sums side by side. Those of blocks are added pairwise, as a sum's are.
const BLOCK: usize = 1024;

/// Blocks of a row that are one task's.
const BLOCKS: usize = 64;

/// The sums over the last axis of the products of two arrays of one shape in C order, of `f32` or `f64`; else none.
pub fn dots_of_rows<T: Numeric>(x1: HostView<'_, T>, x2: HostView<'_, T>) -> Result<Option<NdArray<T>>> {
    let (x1, x2) = (x1.view(), x2.view());
    let suits = x1.shape == x2.shape && x1.len() > 0 && x1.is_c_order() && x2.is_c_order();
    match x1.dtype {
        DType::Float32 if suits && !x1.shape.is_empty() => typed(summed::<f32>(x1, x2)).map(Some),
        DType::Float64 if suits && !x1.shape.is_empty() => typed(summed::<f64>(x1, x2)).map(Some),
        _ => Ok(None),
    }
}

fn summed<T: Numeric>(x1: View<'_>, x2: View<'_>) -> Result<RawArray> {
    const OP: &str = "vecdot";
    let (x, y) = (x1.as_slice::<T>(), x2.as_slice::<T>());
    let (&n, leading) = x1.shape.split_last().expect("there is an axis");
    let rows = rules::count(OP, leading, size_of::<T>())?;
    let out = Buffer::new(OP, rows, T::DTYPE)?;
    // SAFETY: there is room for as many elements, all of which are written before any is read.
    let sums = unsafe { slice::from_raw_parts_mut(out.start().cast::<T>(), rows) };
    let part = BLOCK * BLOCKS;
    if n <= part {
        let sums = Shared::new(sums);
        parallel::parallel(rows, CHEAP / n, |range| {
            let elements = range.start * n..range.end * n;
            // SAFETY: each task has rows of its own, which have so many elements.
            unsafe { of_rows(&x[elements.clone()], &y[elements], sums.part(range), n) };
        });
    } else {
        let parts = n.div_ceil(part);
        let mut of_parts = buffer::zeros::<T>(OP, rows * parts)?;
        let shared = Shared::new(&mut of_parts);
        parallel::parallel(rows * parts, 1, |range| {
            for k in range {
                let (row, first) = (k / parts * n, k % parts * part);
                let elements = row + first..row + n.min(first + part);
                let length = elements.len();
                // SAFETY: each task has parts of its own, one of them at a time.
                unsafe { of_rows(&x[elements.clone()], &y[elements], shared.part(k..k + 1), length) };
            }
        });
        sums.iter_mut().zip(of_parts.chunks_exact_mut(parts)).for_each(|(sum, parts)| *sum = added(parts));
    }
    // SAFETY: every element has been written.
    unsafe { RawArray::new(OP, leading.to_vec(), out) }
}

/// The sum of numbers, pairwise, which are changed. There is one.
#[inline(always)]
fn added<T: Numeric>(x: &mut [T]) -> T {
    let mut n = x.len();
    while n > 1 {
        for k in 0..n / 2 {
            x[k] = x[2 * k].plus(x[2 * k + 1]);
        }
        if n % 2 == 1 {
            x[n / 2] = x[n - 1];
        }
        n = n.div_ceil(2);
    }
    x[0]
}

versions! {
    /// Rows of `n` elements.
    ///
    /// # Safety
    /// There are as many in `x` and `y` as `sums` has elements; `n` is at most that of a part, and not 0.
    unsafe fn of_rows[T: Numeric][T](x: &[T], y: &[T], sums: &mut [T], n: usize) {
        let rows = x.chunks_exact(n).zip(y.chunks_exact(n)).zip(sums);
        match n {
            1..8 => for ((x, y), sum) in rows {
                *sum = dot::<T, 1>(x, y);
            },
            8..32 => for ((x, y), sum) in rows {
                *sum = dot::<T, 8>(x, y);
            },
            32..128 => for ((x, y), sum) in rows {
                *sum = dot::<T, 16>(x, y);
            },
            128..=BLOCK => for ((x, y), sum) in rows {
                *sum = dot::<T, 32>(x, y);
            },
            _ => for ((x, y), sum) in rows {
                let mut of_blocks = [T::ZERO; BLOCKS];
                let blocks = n.div_ceil(BLOCK);
                for ((x, y), sum) in x.chunks(BLOCK).zip(y.chunks(BLOCK)).zip(&mut of_blocks) {
                    *sum = dot::<T, 32>(x, y);
                }
                *sum = added(&mut of_blocks[..blocks]);
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numpyish::simd;
    use ndarray::{ArrayD, IxDyn};

    fn numbers<T: Numeric>(shape: &[usize], factor: usize) -> NdArray<T> {
        let n: usize = shape.iter().product();
        let of = |i: usize| T::from_f64(((i * factor) % 17) as f64 - 8.0);
        ArrayD::from_shape_vec(IxDyn(shape), (0..n).map(of).collect()).unwrap().into_shared()
    }

    fn of<T: Numeric>(x: &NdArray<T>, y: &NdArray<T>) -> Option<NdArray<T>> {
        dots_of_rows(HostView::of(x), HostView::of(y)).unwrap()
    }

    #[test]
    fn rows_of_any_length() {
        // whole numbers, whose sums are exact
        for n in [1, 3, 7, 8, 9, 31, 32, 33, 127, 128, 1023, 1024, 1025, 5000, 65_536, 65_537, 300_001] {
            for rows in [1, 2, 5] {
                let (x, y) = (numbers::<f64>(&[rows, n], 5), numbers::<f64>(&[rows, n], 7));
                let expected = (&x * &y).sum_axis(ndarray::Axis(1));
                assert_eq!(of(&x, &y).unwrap(), expected, "{rows} {n}");
                let (x, y) = (x.mapv(|v| v as f32).into_shared(), y.mapv(|v| v as f32).into_shared());
                if n < 65_536 {
                    assert_eq!(of(&x, &y).unwrap().mapv(f64::from), expected, "{rows} {n}");
                }
            }
        }
    }

    #[test]
    fn the_same_bits_on_any_number_of_threads_and_instruction_set() {
        let x = numbers::<f64>(&[3, 200_003], 3).mapv(|v| v * 0.1).into_shared();
        let y = numbers::<f64>(&[3, 200_003], 5).mapv(|v| v * 0.7).into_shared();
        let bits = || of(&x, &y).unwrap().mapv(f64::to_bits);
        let of_threads = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(bits);
        let one = of_threads(1);
        assert_eq!(of_threads(3), one);
        simd::with_each(|_| assert_eq!(bits(), one));
    }

    #[test]
    fn what_is_left_to_others() {
        let x = numbers::<f64>(&[3, 4], 5);
        assert!(of(&x, &x.clone().reversed_axes()).is_none());
        let turned = x.clone().reversed_axes();
        assert!(of(&turned, &turned).is_none());
        let whole = numbers::<i32>(&[3, 4], 5);
        assert!(of(&whole, &whole).is_none());
        let none = ArrayD::<f64>::zeros(IxDyn(&[3, 0])).into_shared();
        assert!(of(&none, &none).is_none());
        let one = ArrayD::from_elem(IxDyn(&[]), 2.0).into_shared();
        assert!(of(&one, &one).is_none());
    }
}
