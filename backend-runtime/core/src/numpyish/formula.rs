//! Computes a formula in one pass over its arrays, by a [`Kernel`]: its op is the formula's expression tree, and its
//! operands are the formula's arrays.

use super::{
    NdArray,
    kernel::{Kernel, Loop, MAX_OPERANDS},
    raw::{HostView, RawArray, View},
    rolled::{self, Shifts},
    run,
    simd::SETS,
    source::{Fused, Source},
};
use crate::{
    Element, Result,
    formula::{self, Layout, Node, Typed},
};
use std::{hint::assert_unchecked, marker::PhantomData, mem::MaybeUninit, ptr, slice};

/// Computes a formula over arrays of any backend that are in host memory.
///
/// # Safety
/// `views` has one view for each array of the formula, in the formula's order.
#[inline]
pub unsafe fn over<L: Layout, E: Node<L::Elements> + Typed<Out = T>, T: Element>(
    e: &E,
    scalars: L::Scalars,
    views: &Views<'_>,
) -> Result<NdArray<T>> {
    let op = Op::<L, E> { tree: *e, scalars };
    // SAFETY: the kernel belongs to this formula, and the caller guarantees the views.
    unsafe {
        T::numpyish_run(
            FormulaKernel::<L, E, T>::KERNEL,
            ptr::from_ref(&op).cast(),
            views.as_slice(),
            crate::At::default(),
        )
    }
}

/// Like [`over`], but writes the result to `out`, which may share memory with arrays of the formula. Returns false, and
/// writes nothing, unless `out` has the shape and layout of the result, and of every array of the formula at the same
/// address.
///
/// # Safety
/// The conditions of [`over`] hold. The memory of `out` is used only by `out` and by arrays of the formula that start
/// at the same address.
#[inline]
pub unsafe fn into<L: Layout, E: Node<L::Elements> + Typed<Out = T>, T: Element>(
    e: &E,
    scalars: L::Scalars,
    views: &Views<'_>,
    out: HostView<'_, T>,
) -> bool {
    let op = Op::<L, E> { tree: *e, scalars };
    // SAFETY: the kernel belongs to this formula, and the caller guarantees the other conditions.
    unsafe { run::run_over(FormulaKernel::<L, E, T>::KERNEL, ptr::from_ref(&op).cast(), views.as_slice(), out.view()) }
}

/// Like [`over`], if some arrays are rolled. `shifts` has an entry for each array.
///
/// # Safety
/// The conditions of [`over`] hold, and [`rolled::takes`] is true for each array that is rolled.
#[inline]
pub unsafe fn over_rolled<L: Layout, E: Node<L::Elements> + Typed<Out = T>, T: Element>(
    e: &E,
    scalars: L::Scalars,
    views: &Views<'_>,
    shifts: &[Shifts<'_>],
) -> Result<NdArray<T>> {
    let (op, kernel) = (Op::<L, E> { tree: *e, scalars }, FormulaKernel::<L, E, T>::KERNEL);
    // SAFETY: the kernel belongs to this formula, and the caller guarantees the views.
    unsafe { rolled::run(kernel, ptr::from_ref(&op).cast(), views.as_slice(), shifts).map(T::numpyish_typed) }
}

/// Like [`into`], if some arrays are rolled. Returns false, and writes nothing, if a rolled array shares the memory of
/// `out`.
///
/// # Safety
/// The conditions of [`into`] and of [`over_rolled`] hold.
#[inline]
pub unsafe fn into_rolled<L: Layout, E: Node<L::Elements> + Typed<Out = T>, T: Element>(
    e: &E,
    scalars: L::Scalars,
    views: &Views<'_>,
    shifts: &[Shifts<'_>],
    out: HostView<'_, T>,
) -> bool {
    let (op, kernel) = (Op::<L, E> { tree: *e, scalars }, FormulaKernel::<L, E, T>::KERNEL);
    // SAFETY: the kernel belongs to this formula, and the caller guarantees the other conditions.
    unsafe { rolled::run_over(kernel, ptr::from_ref(&op).cast(), views.as_slice(), shifts, out.view()) }
}

/// Calls `of` with a `Source` that computes the elements of the formula when they are read.
///
/// # Safety
/// The conditions of [`over`] hold.
pub unsafe fn reduced<L: Layout, E: Node<L::Elements> + Typed<Out = T>, T: Element>(
    e: &E,
    scalars: L::Scalars,
    views: &Views<'_>,
    of: &dyn Fn(Source<'_>) -> Result<RawArray>,
) -> Result<RawArray> {
    let op = Op::<L, E> { tree: *e, scalars };
    let kernel = FormulaKernel::<L, E, T>::KERNEL;
    // SAFETY: the kernel belongs to this formula, whose op outlives the call, and the caller guarantees the views.
    unsafe {
        let op = ptr::from_ref(&op).cast();
        of(Fused::new(kernel, op, views.as_slice(), E::GAINS_FROM_AVX512, formula::factors::<_, E>())?.source())
    }
}

/// Views of the arrays of a formula: at most `MAX_OPERANDS`.
pub struct Views<'a> {
    views: [MaybeUninit<View<'a>>; MAX_OPERANDS],
    count: usize,
}

impl Default for Views<'_> {
    #[inline]
    fn default() -> Self {
        Views { views: [const { MaybeUninit::uninit() }; MAX_OPERANDS], count: 0 }
    }
}

impl<'a> Views<'a> {
    /// Adds the view of the next array.
    #[inline(always)]
    pub fn push(&mut self, view: View<'a>) {
        self.views[self.count].write(view);
        self.count += 1;
    }

    /// Returns the views, in the order of the formula.
    pub fn as_slice(&self) -> &[View<'a>] {
        // SAFETY: the first `count` views have been written.
        unsafe { slice::from_raw_parts(self.views.as_ptr().cast(), self.count) }
    }
}

/// The op of a formula's kernel: the expression tree and the scalars of the formula.
struct Op<L: Layout, E> {
    tree: E,
    scalars: L::Scalars,
}

/// Holds the kernel of the formula `E`. The layout `L` describes the dtypes of its leaves, which are the formula's
/// arrays and scalars.
struct FormulaKernel<L, E, T>(PhantomData<(L, E, T)>);

impl<L: Layout, E: Node<L::Elements> + Typed<Out = T>, T: Element> FormulaKernel<L, E, T> {
    const KERNEL: &'static Kernel = &Kernel {
        name: formula::NAME,
        // there is no check against `MAX_OPERANDS`: a formula with more arrays is computed in several parts, but this
        // constant is also compiled for the type of the whole formula
        operands: L::ARRAYS as u8,
        inputs: L::DTYPES,
        output: T::DTYPE,
        scalar_forms: false,
        loops: Self::LOOPS,
        near: None,
    };

    #[cfg(target_arch = "x86_64")]
    const LOOPS: [Loop; SETS] = if E::GAINS_FROM_AVX512 {
        [base::<L, E, T>, avx2::<L, E, T>, avx512::<L, E, T>]
    } else {
        [base::<L, E, T>, avx2::<L, E, T>, avx2::<L, E, T>]
    };

    #[cfg(not(target_arch = "x86_64"))]
    const LOOPS: [Loop; SETS] = [base::<L, E, T>; SETS];
}

/// Number of elements per block. Each block of a formula with trigonometric functions is checked for arguments that
/// need range reduction.
const BLOCK: usize = 256;

/// The loop body, which is compiled for each instruction set. `out` is a slice, so that the compiler knows that `out`
/// overlaps no operand.
///
/// # Safety
/// Every array in `bound` has as many elements as `out`.
#[inline(always)]
unsafe fn loop_body<L: Layout, E: Node<L::Elements> + Typed<Out = T>, T: Element>(
    e: E,
    bound: L::Bound,
    out: &mut [MaybeUninit<T>],
) {
    let n = out.len();
    let mut done = 0;
    while done < n {
        let end = if const { E::NEEDS_RANGE_REDUCTION } { n.min(done + BLOCK) } else { n };
        let mut far = false;
        if const { E::NEEDS_RANGE_REDUCTION } {
            let mut i = done;
            while i < end {
                // SAFETY: the caller guarantees that every array in `bound` has an element `i`.
                far |= e.needs_range_reduction(&unsafe { L::load(&bound, i) });
                i += 1;
            }
        }
        let mut i = done;
        if const { E::NEEDS_RANGE_REDUCTION } && !far {
            while i < end {
                // SAFETY: the caller guarantees the elements, and no argument in the block needs range reduction, as
                // was just checked.
                unsafe {
                    let leaves = L::load(&bound, i);
                    assert_unchecked(!e.needs_range_reduction(&leaves));
                    out.get_unchecked_mut(i).write(e.at(&leaves));
                }
                i += 1;
            }
        } else {
            while i < end {
                // SAFETY: the caller guarantees that every array in `bound` has an element `i`.
                unsafe { out.get_unchecked_mut(i).write(e.at(&L::load(&bound, i))) };
                i += 1;
            }
        }
        done = end;
    }
}

macro_rules! loop_version {
    ($(#[$feature:meta])* $name:ident, $inner:ident) => {
        /// # Safety
        /// The conditions of [`loop_body`] hold.
        $(#[$feature])*
        #[inline(never)]
        unsafe fn $inner<L: Layout, E: Node<L::Elements> + Typed<Out = T>, T: Element>(
            op: &Op<L, E>,
            x: &[*const u8; MAX_OPERANDS],
            out: &mut [MaybeUninit<T>],
        ) {
            // SAFETY: the caller guarantees the elements of every array.
            unsafe { loop_body::<L, E, T>(op.tree, L::bind(x, 0, &op.scalars), out) }
        }

        /// # Safety
        /// The conditions of [`Loop`] hold.
        $(#[$feature])*
        unsafe fn $name<L: Layout, E: Node<L::Elements> + Typed<Out = T>, T: Element>(
            op: *const u8,
            x: &[*const u8; MAX_OPERANDS],
            _scalars: u8,
            out: *mut u8,
            n: usize,
        ) {
            // SAFETY: `op` is the op of this kernel, and `out` has room for `n` elements that nothing else uses.
            unsafe { $inner::<L, E, T>(&*op.cast(), x, slice::from_raw_parts_mut(out.cast(), n)) }
        }
    };
}
loop_version!(base, base_inner);
#[cfg(target_arch = "x86_64")]
loop_version!(
    #[target_feature(enable = "avx2,fma,f16c")]
    avx2,
    avx2_inner
);
#[cfg(target_arch = "x86_64")]
loop_version!(
    #[target_feature(enable = "avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl")]
    avx512,
    avx512_inner
);
