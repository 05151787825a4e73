//! Conversion of arrays to another dtype, and copies of arrays.

use super::{
    NdArray, Numpyish, OpContext, Operand, copy as copying, elementwise,
    kernel::{Kernel, Loop, MAX_OPERANDS},
    raw::{RawArray, View},
    simd::{SETS, versions},
};
use crate::{Complex, DType, DTypeKind, Each, EachSource, Element, Result, bf16, dispatch, f16};
use std::{marker::PhantomData, mem::MaybeUninit};

/// Converts an array to the dtype `U`. If `x` already has this dtype, result and `x` share their memory until one of
/// them is written to.
pub fn astype<U: Element, T: Element>(b: &Numpyish, x: &NdArray<T>) -> Result<NdArray<U>> {
    if let Some(same) = (x as &dyn std::any::Any).downcast_ref::<NdArray<U>>() {
        return Ok(same.clone());
    }
    elementwise::each1(b, &CastTo(PhantomData::<U>), Operand::array(x))
}

/// The elementwise op that implements [`astype`].
struct CastTo<U>(PhantomData<U>);

impl<U: Element, T: Element> Each<1, T> for CastTo<U> {
    type Out = U;

    #[inline(always)]
    fn apply(&self, &[x]: &[T; 1]) -> U {
        x.cast()
    }
}

impl<U: Element> EachSource for CastTo<U> {
    const NAME: &'static str = "astype";
    const CUDA: &'static str = "cast(x)";
    const INPUTS: &'static [&'static str] = &["x"];
    const PARAMS: &'static [&'static str] = &[];
}

/// The elementwise op that converts between two dtypes which are known only at run time.
#[derive(Clone, Copy)]
pub struct Cast {
    /// Dtype of the operand.
    pub from: DType,
    /// Dtype of the result.
    pub to: DType,
}

/// The kernels of all pairs of dtypes. They have the same loop, which reads the dtypes from the op.
static KERNELS: [[Kernel; DType::ALL.len()]; DType::ALL.len()] = {
    let mut kernels = [const { [const { kernel(DType::Bool, DType::Bool) }; DType::ALL.len()] }; DType::ALL.len()];
    let mut from = 0;
    while from < DType::ALL.len() {
        let mut to = 0;
        while to < DType::ALL.len() {
            kernels[from][to] = kernel(DType::ALL[from], DType::ALL[to]);
            to += 1;
        }
        from += 1;
    }
    kernels
};

const fn kernel(from: DType, to: DType) -> Kernel {
    const LOOP: Loop = cast_loop;
    Kernel {
        name: "astype",
        operands: 1,
        inputs: [from; MAX_OPERANDS],
        output: to,
        scalar_forms: false,
        loops: [LOOP; SETS],
        near: None,
    }
}

/// The op for each pair of dtypes.
static CASTS: [[Cast; DType::ALL.len()]; DType::ALL.len()] = {
    let mut casts = [[Cast { from: DType::Bool, to: DType::Bool }; DType::ALL.len()]; DType::ALL.len()];
    let mut from = 0;
    while from < DType::ALL.len() {
        let mut to = 0;
        while to < DType::ALL.len() {
            casts[from][to] = Cast { from: DType::ALL[from], to: DType::ALL[to] };
            to += 1;
        }
        from += 1;
    }
    casts
};

impl Cast {
    /// This op, in static memory.
    pub fn in_table(self) -> &'static Cast {
        &CASTS[self.from as usize][self.to as usize]
    }

    /// The kernel of casts between these dtypes.
    pub fn kernel(self) -> &'static Kernel {
        &KERNELS[self.from as usize][self.to as usize]
    }
}

/// # Safety
/// The conditions of [`Loop`] hold.
unsafe fn cast_loop(op: *const u8, x: &[*const u8; MAX_OPERANDS], _: u8, out: *mut u8, n: usize) {
    // SAFETY: the op of this loop is a `Cast`, and the caller guarantees `n` elements of its dtypes.
    unsafe { cast(*op.cast::<Cast>(), x[0], out, n) }
}

/// Number of elements that are converted at a time, if they are converted in two steps.
const BLOCK: usize = 512;

/// Converts `n` elements. A frequent pair of dtypes has its own loop. Other elements are converted to a wide dtype of
/// the same kind, and then to the result's dtype, as [`Element::cast`] does.
///
/// # Safety
/// `from` points to `n` elements of the dtype `cast.from`, and `to` to memory for `n` elements of the dtype `cast.to`.
/// The two do not overlap.
unsafe fn cast(cast: Cast, from: *const u8, to: *mut u8, n: usize) {
    use DType::*;
    // SAFETY: the caller guarantees the elements. The block has room for the elements of one step.
    unsafe {
        match (cast.from, cast.to) {
            (Float32, Float64) => each::<f32, f64>(from, to, n),
            (Float64, Float32) => each::<f64, f32>(from, to, n),
            (Float32, Float16) => each::<f32, f16>(from, to, n),
            (Float16, Float32) => each::<f16, f32>(from, to, n),
            (Float32, BFloat16) => each::<f32, bf16>(from, to, n),
            (BFloat16, Float32) => each::<bf16, f32>(from, to, n),
            (Bool, Int64) => each::<bool, i64>(from, to, n),
            (Bool, Float32) => each::<bool, f32>(from, to, n),
            (Bool, Float64) => each::<bool, f64>(from, to, n),
            (UInt8, Float32) => each::<u8, f32>(from, to, n),
            (UInt8, Float64) => each::<u8, f64>(from, to, n),
            (UInt16, Float32) => each::<u16, f32>(from, to, n),
            (Int32, Int64) => each::<i32, i64>(from, to, n),
            (Int64, Int32) => each::<i64, i32>(from, to, n),
            (Float32, Complex64) => each::<f32, Complex<f32>>(from, to, n),
            (Float64, Complex128) => each::<f64, Complex<f64>>(from, to, n),
            (Complex64, Complex128) => each::<Complex<f32>, Complex<f64>>(from, to, n),
            (Complex128, Complex64) => each::<Complex<f64>, Complex<f32>>(from, to, n),
            (of, same) if of == same => std::ptr::copy_nonoverlapping(from, to, n * same.size()),
            _ => match cast.from.kind() {
                DTypeKind::Bool | DTypeKind::Unsigned => in_steps::<u64>(cast, from, to, n),
                DTypeKind::Signed => in_steps::<i64>(cast, from, to, n),
                DTypeKind::Real => in_steps::<f64>(cast, from, to, n),
                DTypeKind::Complex => in_steps::<Complex<f64>>(cast, from, to, n),
            },
        }
    }
}

/// Converts `n` elements to `W`, which represents them exactly, and then to the dtype `cast.to`.
///
/// # Safety
/// The conditions of [`cast`] hold.
unsafe fn in_steps<W: Element>(cast: Cast, from: *const u8, to: *mut u8, n: usize) {
    let (from_size, to_size) = (cast.from.size(), cast.to.size());
    let mut wide = [const { MaybeUninit::<W>::uninit() }; BLOCK];
    let mut done = 0;
    while done < n {
        let len = BLOCK.min(n - done);
        // SAFETY: the caller guarantees `n` elements, of which `len` begin at `done`; `wide` has room for `len`.
        unsafe {
            let (from, to) = (from.add(done * from_size), to.add(done * to_size));
            let _: Result<()> = dispatch!(cast.from, T => {
                each::<T, W>(from, wide.as_mut_ptr().cast(), len);
                Ok(())
            });
            let _: Result<()> = dispatch!(cast.to, T => {
                each::<W, T>(wide.as_ptr().cast(), to, len);
                Ok(())
            });
        }
        done += len;
    }
}

versions! {
    unsafe fn each[T: Element, U: Element][T, U](from: *const u8, to: *mut u8, n: usize) {
        let (from, to) = (from.cast::<T>(), to.cast::<U>());
        for i in 0..n {
            // SAFETY: the caller guarantees `n` elements at `from`, and memory for `n` elements at `to`.
            unsafe { to.add(i).write((*from.add(i)).cast()) };
        }
    }
}

/// Copies the array to new memory.
pub fn copy(on: OpContext<'_>, x: View<'_>) -> Result<RawArray> {
    copying::duplicate(on.op, x)
}

/// The op [`copy`](super::copy) over arrays with a static dtype, for tests.
#[cfg(any(test, feature = "testing"))]
#[allow(missing_docs)] // each function is the op of its name
pub mod typed {
    use crate::numpyish::casting;

    crate::typed_ops! { casting:
        copy<T: Element>(x;) -> T;
    }
}

#[cfg(test)]
mod tests {
    use super::{typed::copy, *};
    use ndarray::ArcArray;

    const B: Numpyish = Numpyish::new();

    #[test]
    fn casts_share_only_their_own_dtype() {
        let x = ArcArray::from_shape_fn((4, 3), |(i, j)| i as f64 - j as f64).reversed_axes().into_dyn();
        assert_eq!(astype::<f64, _>(&B, &x).unwrap().as_ptr(), x.as_ptr());
        let narrow = astype::<i8, _>(&B, &x).unwrap();
        assert_eq!((narrow[[2, 0]], narrow[[0, 3]], narrow.strides()), (-2, 3, x.strides()));
    }

    #[test]
    fn casts_between_dtypes_known_at_run_time_are_those_of_elements() {
        let numbers: Vec<f64> = (0..1100).map(|i| f64::from(i - 500) * 1.37e3 / f64::from(1 + i % 7)).collect();
        for from in DType::ALL {
            for to in DType::ALL {
                let checked: Result<()> = dispatch!(from, T => dispatch!(to, U => {
                    let x: Vec<T> = numbers.iter().map(|&x| T::from_f64(x)).collect();
                    let mut y = vec![U::default(); x.len()];
                    // SAFETY: both vectors have the same length and these dtypes.
                    unsafe { cast(Cast { from, to }, x.as_ptr().cast(), y.as_mut_ptr().cast(), x.len()) };
                    assert!(y.iter().zip(&x).all(|(y, x)| *y == x.cast::<U>()), "{from} to {to}");
                    Ok(())
                }));
                checked.unwrap();
            }
        }
    }

    #[test]
    fn copies_have_their_own_memory_and_layout() {
        let x = ArcArray::from_shape_fn((4, 3), |(i, j)| (i * 3 + j) as u16).into_dyn();
        let t = x.clone().reversed_axes();
        let c = copy(&B, &t).unwrap();
        assert_eq!((&c, c.strides()), (&t, t.strides()));
        assert_ne!(c.as_ptr(), t.as_ptr());
        let step = x.slice_move(ndarray::s![..;2, ..;-1]).into_dyn();
        assert_eq!(copy(&B, &step).unwrap(), step);
    }
}
