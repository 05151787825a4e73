//! Cross products of contiguous vectors.

use super::{
    super::{
        buffer::Buffer,
        convert::is_half,
        copy::Ends,
        parallel::{self, CHEAP},
        raw::{HostView, RawArray, View},
        simd::versions,
    },
    Matrix,
};
use backend_core::{Complex, DType, Numeric, Result};

/// The cross products of vectors of three elements along the last axis. Returns `None` if the arrays differ in shape or
/// are not in C order. Also returns `None` for 16-bit floats, whose results must be rounded only once, after the
/// difference.
pub fn cross_of_rows<T: Numeric>(x1: HostView<'_, T>, x2: HostView<'_, T>) -> Result<Option<RawArray>> {
    let (x1, x2) = (x1.view(), x2.view());
    let suits = x1.shape == x2.shape && x1.shape.last() == Some(&3) && x1.is_c_order() && x2.is_c_order();
    if !suits || is_half(x1.dtype) { Ok(None) } else { crossed(x1, x2).map(Some) }
}

fn crossed(x1: View<'_>, x2: View<'_>) -> Result<RawArray> {
    const OP: &str = "cross";
    let (n, size, cross) = (x1.len(), x1.dtype.size(), rows_of(x1.dtype));
    let out = Buffer::new(OP, n, x1.dtype)?;
    let ends = (Ends { from: x1.start, to: out.start() }, Matrix { start: x2.start, row: 3, column: 1 });
    parallel::parallel(n / 3, CHEAP / 3, |rows| {
        let (ends, x2) = &ends;
        let first = 3 * rows.start * size;
        // SAFETY: these rows of both operands and of the result belong to this task.
        unsafe { cross(ends.from.add(first), x2.start.add(first), ends.to.add(first), rows.len()) };
    });
    // SAFETY: every element has been written.
    unsafe { RawArray::new(OP, x1.shape.to_vec(), out) }
}

/// Chooses the loop for a dtype. Signed and unsigned integers share a loop, because their products and differences have
/// the same bits.
fn rows_of(dtype: DType) -> unsafe fn(*const u8, *const u8, *mut u8, usize) {
    use backend_core::dtype::Arithmetic::*;
    match dtype.arithmetic() {
        UInt8 => rows::<u8>,
        UInt16 => rows::<u16>,
        UInt32 => rows::<u32>,
        UInt64 => rows::<u64>,
        Float16 | BFloat16 | Float32 => rows::<f32>,
        Float64 => rows::<f64>,
        Complex64 => rows::<Complex<f32>>,
        Complex128 => rows::<Complex<f64>>,
    }
}

versions! {
    /// Writes the cross products of `n` pairs of vectors.
    ///
    /// # Safety
    /// All three pointers must have three elements of `T` for each vector, and nobody else may use the elements of
    /// `out`.
    unsafe fn rows[T: Numeric][T](x: *const u8, y: *const u8, out: *mut u8, n: usize) {
        let (x, y, out) = (x.cast::<[T; 3]>(), y.cast::<[T; 3]>(), out.cast::<[T; 3]>());
        for k in 0..n {
            // SAFETY: the caller guarantees three elements for each vector.
            unsafe {
                let ([a, b, c], [d, e, f]) = (*x.add(k), *y.add(k));
                *out.add(k) = [
                    b.times(f).minus(c.times(e)),
                    c.times(d).minus(a.times(f)),
                    a.times(e).minus(b.times(d)),
                ];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use backend_core::numpyish::{NdArray, typed::typed};

    fn crossed_rows<T: Numeric>(x: &NdArray<T>, y: &NdArray<T>) -> Option<NdArray<T>> {
        let found = cross_of_rows(HostView::of(x), HostView::of(y)).unwrap();
        found.map(|found| typed(Ok(found)).unwrap())
    }
    use ndarray::{ArrayD, IxDyn, arr2};

    #[test]
    fn of_any_number_of_rows() {
        let x = arr2(&[[1, 0, 0], [3, -3, 1], [i32::MAX, 2, 0]]).into_dyn().into_shared();
        let y = arr2(&[[0, 1, 0], [4, 9, 2], [2, 2, 5]]).into_dyn().into_shared();
        let of = |x: &NdArray<i32>, y: &NdArray<i32>| crossed_rows(x, y);
        let expected = arr2(&[[0, 0, 1], [-15, -2, 39], [10, -2_147_483_643, -6]]);
        assert_eq!(of(&x, &y).unwrap(), expected.into_dyn());
        assert!(of(&x.clone().reversed_axes(), &y.clone().reversed_axes()).is_none());
        assert!(of(&x, &y.clone().reversed_axes()).is_none());
        let many = ArrayD::from_shape_fn(IxDyn(&[100_000, 3]), |i| (i[0] * 7 + i[1]) as f64).into_shared();
        let turned = ArrayD::from_shape_fn(IxDyn(&[100_000, 3]), |i| (i[0] * 5 + 2 - i[1]) as f64).into_shared();
        let found = crossed_rows(&many, &turned).unwrap();
        for ((x, y), z) in many.rows().into_iter().zip(turned.rows()).zip(found.rows()) {
            assert_eq!(z[2], x[0] * y[1] - x[1] * y[0]);
            assert_eq!(z[0], x[1] * y[2] - x[2] * y[1]);
        }
        let none = ArrayD::<f32>::zeros(IxDyn(&[0, 3])).into_shared();
        assert_eq!(crossed_rows(&none, &none).unwrap().shape(), [0, 3]);
    }
}
