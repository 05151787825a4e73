//! Reductions that MPI lacks or leaves undefined: reductions of 16-bit floats and of bools, and maxima and minima of
//! floats. Here, a maximum or minimum is NaN if any element is NaN.

use super::functions::{Count, LongReduce, Ptr, Reduce, Word};
use crate::{
    DType, Error, Join, Result,
    join::{AND, Joined, MAX, MIN, OR, PROD, SUM, join_elements},
};
use half::{bf16, f16};
use std::ffi::c_int;

/// Returns the two callbacks with which MPI joins elements. The first one takes the number of elements as a C int, the
/// second one as a 64-bit [`Count`].
pub(super) fn functions(dtype: DType, join: Join) -> Result<(Reduce, LongReduce)> {
    match dtype {
        DType::Bool => Ok(of::<bool>(join)),
        DType::Float16 => Ok(of::<f16>(join)),
        DType::BFloat16 => Ok(of::<bf16>(join)),
        DType::Float32 => Ok(of::<f32>(join)),
        DType::Float64 => Ok(of::<f64>(join)),
        _ => Err(Error::NoJoin { dtype, join }),
    }
}

fn of<T: Joined>(join: Join) -> (Reduce, LongReduce) {
    match join {
        Join::Sum => (short::<T, SUM>, long::<T, SUM>),
        Join::Prod => (short::<T, PROD>, long::<T, PROD>),
        Join::Max => (short::<T, MAX>, long::<T, MAX>),
        Join::Min => (short::<T, MIN>, long::<T, MIN>),
        Join::And => (short::<T, AND>, long::<T, AND>),
        Join::Or => (short::<T, OR>, long::<T, OR>),
    }
}

unsafe extern "C" fn short<T: Joined, const J: u8>(with: Ptr, into: Ptr, count: *mut c_int, _: *mut Word) {
    // SAFETY: MPI calls this function with arguments that satisfy `join`.
    unsafe { join::<T, J>(with, into, usize::try_from(*count).unwrap_or(0)) }
}

unsafe extern "C" fn long<T: Joined, const J: u8>(with: Ptr, into: Ptr, count: *mut Count, _: *mut Word) {
    // SAFETY: MPI calls this function with arguments that satisfy `join`.
    unsafe { join::<T, J>(with, into, usize::try_from(*count).unwrap_or(0)) }
}

/// Joins `count` elements of `with` and `into`, and stores the results in `into`. This function must not panic, because
/// a panic in a C callback would end the process.
///
/// # Safety
/// Both pointers must be valid for `count` elements of `T`, at any alignment, and must not overlap.
unsafe fn join<T: Joined, const J: u8>(with: Ptr, into: Ptr, count: usize) {
    if count == 0 {
        return;
    }
    let bytes = count * T::DTYPE.size();
    // SAFETY: the caller guarantees that both pointers are valid for `count` elements and do not overlap. The elements
    // are read and written as bytes.
    let (with, into) = unsafe {
        (std::slice::from_raw_parts(with.cast::<u8>(), bytes), std::slice::from_raw_parts_mut(into.cast::<u8>(), bytes))
    };
    join_elements::<T, J>(with, into);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes;

    #[test]
    fn operations_join_as_every_transport_does() {
        for dtype in [DType::Bool, DType::Float16, DType::BFloat16, DType::Float32, DType::Float64] {
            for join in Join::ALL.into_iter().filter(|join| crate::join::check(dtype, *join).is_ok()) {
                let (short, long) = functions(dtype, join).unwrap();
                let with: Vec<u8> = if dtype == DType::Bool {
                    vec![0, 1, 0, 1]
                } else {
                    (1..=6 * dtype.size()).map(|i| i as u8).collect()
                };
                let into: Vec<u8> = with.iter().rev().copied().collect();
                let mut expected = into.clone();
                crate::join::join_bytes(&with, &mut expected, dtype, join);
                for is_long in [false, true] {
                    let (mut with, mut into) = (with.clone(), into.clone());
                    let (mut count, mut long_count) =
                        ((into.len() / dtype.size()) as c_int, (into.len() / dtype.size()) as Count);
                    let (a, b) = (with.as_mut_ptr().cast(), into.as_mut_ptr().cast());
                    // SAFETY: both arrays have `count` elements and do not overlap.
                    unsafe {
                        if is_long { long(a, b, &mut long_count, &mut 0) } else { short(a, b, &mut count, &mut 0) }
                    }
                    assert_eq!(into, expected, "{join} of {dtype}");
                }
            }
        }
        let mut x = [1.0_f64];
        let (short, _) = functions(DType::Float64, Join::Max).unwrap();
        // SAFETY: with a count of 0 no element is accessed.
        unsafe { short(std::ptr::null_mut(), bytes::of_mut(&mut x).as_mut_ptr().cast(), &mut 0, &mut 0) };
        assert_eq!(x, [1.0]);
        assert!(functions(DType::Int8, Join::Sum).is_err());
    }
}
