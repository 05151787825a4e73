//! Restores the signs of zeros after sorting. 0.0 and -0.0 have the same key, so the keys do not hold these signs.

use backend_core::{DType, DTypeKind};

/// An integer that holds the bits of a real float.
trait Bits: Copy {
    /// Returns whether these are the bits of 0.0 or -0.0.
    fn is_zero(self) -> bool;
}

macro_rules! bits {
    ($($t:ty)*) => {$(
        impl Bits for $t {
            #[inline(always)]
            fn is_zero(self) -> bool {
                self << 1 == 0
            }
        }
    )*};
}
bits!(u16 u32 u64);

/// Runs an expression with `U` bound to the integer type of a float dtype's bits. Does nothing for other dtypes, which
/// have only one zero.
macro_rules! by_float_bits {
    ($dtype:expr, $u:ident => $e:expr) => {
        match ($dtype.kind(), $dtype.size()) {
            (DTypeKind::Real, 2) => {
                type $u = u16;
                $e
            }
            (DTypeKind::Real, 4) => {
                type $u = u32;
                $e
            }
            (DTypeKind::Real, _) => {
                type $u = u64;
                $e
            }
            _ => {}
        }
    };
}

/// Gives the zeros among `n` sorted elements the signs that the zeros of the original lane (1-D slice) have, in the
/// same order.
///
/// # Safety
/// `lane` and `arranged` must point to `n` elements of the dtype, with the same number of zeros.
pub unsafe fn restore(dtype: DType, lane: *const u8, n: usize, arranged: *mut u8) {
    // SAFETY: the caller guarantees the elements, and the types have the size and the alignment of the dtype.
    unsafe {
        by_float_bits!(dtype, U => {
            let lane = std::slice::from_raw_parts(lane.cast::<U>(), n);
            let arranged = std::slice::from_raw_parts_mut(arranged.cast::<U>(), n);
            let zeros = arranged.iter_mut().filter(|v| v.is_zero());
            zeros.zip(lane.iter().filter(|v| v.is_zero())).for_each(|(a, &z)| *a = z);
        });
    }
}

/// Gives the only zero among `m` distinct values the sign of the first zero among `n` elements.
///
/// # Safety
/// `from` must point to `n` elements of the dtype, and `values` to `m` elements.
pub unsafe fn restore_first(dtype: DType, from: *const u8, n: usize, values: *mut u8, m: usize) {
    // SAFETY: the caller guarantees the elements, and the types have the size and the alignment of the dtype.
    unsafe {
        by_float_bits!(dtype, U => {
            let from = std::slice::from_raw_parts(from.cast::<U>(), n);
            let values = std::slice::from_raw_parts_mut(values.cast::<U>(), m);
            let first = from.iter().copied().find(|v| v.is_zero());
            if let (Some(first), Some(zero)) = (first, values.iter_mut().find(|v| v.is_zero())) {
                *zero = first;
            }
        });
    }
}
