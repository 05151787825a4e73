//! Kernels of elementwise ops. A kernel has the compiled loops of one op for one dtype. The code that calls the loops
//! is compiled once for all kernels.
//!
//! A [`Kernel`] has one loop per instruction set; only these loops are generic. [`stretch`] calls a loop on contiguous
//! operands, and first repeats scalars in memory if the loop takes only slices. [`run`](super::run) applies a kernel to
//! arrays of any layout.

#[cfg(target_arch = "x86_64")]
use super::roots;
use super::{
    arguments::{any_far, is_above_0, is_positive_normal, is_within},
    convert::{convert, is_half},
    simd::{SETS, set, versions},
};
use crate::{DType, DTypeKind, Each, EachOf, EachSource, Element, Elements, scalar::needs_range_reduction};
use std::{hint::assert_unchecked, marker::PhantomData, mem::MaybeUninit};

pub use super::signature::{Loop, MAX_OPERANDS};

/// Maximum number of operands of an op.
const OPERANDS: usize = 3;

/// The loops of one op for one dtype, or for one combination of operand dtypes.
pub struct Kernel {
    /// Name of the op, for error messages.
    pub(super) name: &'static str,
    /// Number of operands.
    pub(super) operands: u8,
    /// Dtype of each operand.
    pub(super) inputs: [DType; MAX_OPERANDS],
    /// Dtype of the result.
    pub(super) output: DType,
    /// True if the loops also accept scalar operands, in the combinations for which [`has_form`] is true. Other loops
    /// accept only slices.
    pub(super) scalar_forms: bool,
    /// The loop for each instruction set.
    pub(super) loops: [Loop; SETS],
    /// Faster loops for blocks in which no argument needs range reduction (see [`needs_range_reduction`]), if the op
    /// has such loops.
    pub(super) near: Option<[Loop; SETS]>,
}

impl Kernel {
    /// Name of the op, for error messages.
    #[inline(always)]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Dtype of the result.
    #[inline(always)]
    pub fn output(&self) -> DType {
        self.output
    }

    /// Dtype of the operand `i`.
    pub fn input(&self, i: usize) -> DType {
        self.inputs[i]
    }

    /// Returns whether one call of a loop handles any number of elements if the operands in the bit set `scalars` are
    /// scalars.
    #[inline(always)]
    pub(super) fn is_direct(&self, scalars: u8) -> bool {
        self.near.is_none() && self.takes(scalars)
    }

    /// Returns whether the loops accept scalars for the operands in the bit set `scalars`.
    #[inline(always)]
    pub(super) fn takes(&self, scalars: u8) -> bool {
        scalars == 0 || self.scalar_forms && has_form(self.operands, scalars)
    }

    /// Selects the loop for `n` elements. If the kernel has `near` loops, inspects the first operand, whose address
    /// is `x`. Only kernels with a single operand have `near` loops.
    ///
    /// # Safety
    /// `x` points to `n` elements of the first operand.
    #[inline(always)]
    unsafe fn loop_for(&self, x: *const u8, n: usize) -> Loop {
        let loops = match &self.near {
            // SAFETY: the caller guarantees `n` elements at `x`.
            Some(near) if !unsafe { any_far(self.inputs[0], x, n) } => near,
            _ => &self.loops,
        };
        loops[set()]
    }
}

/// Returns whether loops with forms for scalars have a form for the scalar operands in the bit set `scalars`. Loops
/// with two operands accept one scalar, and loops with three operands accept scalars as the last two.
#[inline(always)]
const fn has_form(operands: u8, scalars: u8) -> bool {
    match operands {
        2 => scalars != 0b11,
        _ => scalars == 0b110,
    }
}

/// A table of compiled kernels of the op `F`, at most one for each dtype.
pub struct Table<F> {
    kernels: [Option<&'static Kernel>; DType::ALL.len()],
    of: PhantomData<fn(F)>,
}

impl<F> Table<F> {
    /// Creates a table that contains these kernels.
    pub const fn new(kernels: &[KernelOf<F>]) -> Table<F> {
        let mut table = [None; DType::ALL.len()];
        let mut i = 0;
        while i < kernels.len() {
            table[kernels[i].dtype as usize] = Some(kernels[i].kernel);
            i += 1;
        }
        Table { kernels: table, of: PhantomData }
    }
}

#[cold]
fn no_table() -> ! {
    panic!("an op that says which dtypes are in its table has a table")
}

/// Looks up the kernel of a dtype for `n` operands in a table.
///
/// # Panics
/// If the table has no kernel of the dtype for `n` operands.
fn get(kernels: &[Option<&'static Kernel>; DType::ALL.len()], dtype: DType, n: usize) -> &'static Kernel {
    let kernel = kernels[dtype as usize].filter(|kernel| kernel.operands as usize == n);
    kernel.expect("a table has the kernels that it says it has")
}

/// A kernel whose op has type `F`.
#[derive(Clone, Copy)]
pub struct KernelOf<F> {
    kernel: &'static Kernel,
    /// The dtype that the kernel is for.
    dtype: DType,
    of: PhantomData<fn(F)>,
}

/// Returns whether `these` contains `dtype`. Unlike the method `contains` of slices, this function is `const`.
const fn is_one_of(dtype: DType, these: &[DType]) -> bool {
    let mut i = 0;
    while i < these.len() {
        if these[i] as usize == dtype as usize {
            return true;
        }
        i += 1;
    }
    false
}

/// Returns the kernel of the op `F` for the dtype `T`. If the op's table has no kernel for this dtype, the kernel is
/// compiled in the calling crate.
#[inline(always)]
pub fn kernel<const N: usize, T: Element, F: Each<N, T> + EachSource>() -> &'static Kernel {
    // a `const` block, so that unused kernels are not compiled
    if const { is_one_of(T::DTYPE, F::TABLED) } {
        match F::table() {
            Some(table) => get(&table.kernels, T::DTYPE, N),
            // does not fall back to `OpKernel::KERNEL`: naming this constant would compile the kernel here, although
            // the table has it
            None => no_table(),
        }
    } else {
        OpKernel::<N, T, F>::KERNEL.kernel
    }
}

/// The kernel of the op `F` over `N` operands of `T`.
pub struct OpKernel<const N: usize, T, F>(PhantomData<(T, F)>);

impl<const N: usize, T: Element, F: Each<N, T> + EachSource> OpKernel<N, T, F> {
    const NEEDS_RANGE_REDUCTION: bool = N == 1
        && match T::DTYPE.kind() {
            DTypeKind::Complex => F::NEEDS_RANGE_REDUCTION_COMPLEX,
            _ => F::NEEDS_RANGE_REDUCTION,
        };

    /// The property of the first operand that allows a block of elements to use a special loop: [`ABOVE_0`],
    /// [`WITHIN`], or [`NOTHING`].
    const LOOKS_FOR: u8 = match T::DTYPE {
        DType::Float32 | DType::Float64 if F::IS_CHEAP_ABOVE_0 => ABOVE_0,
        DType::Float32 | DType::Float64 if F::CHEAP_WITHIN > 0.0 => WITHIN,
        _ => NOTHING,
    };

    /// True if the loops have forms for scalar operands, which save one load per element. Only loops whose speed is
    /// limited by loads have such forms.
    const SCALAR_FORMS: bool = N > 1 && !F::GAINS_FROM_AVX512;

    /// True if the fastest loop uses AVX-512, which pays off for expensive ops. Memory-bound loops are slower with
    /// AVX-512: most buffers do not begin at a cache line, so each access of 64 bytes touches two cache lines. For
    /// integers, LLVM generates far slower AVX-512 loops. Bool results of 4- and 8-byte numbers gain because AVX-512
    /// compares into masks of one bit per number, whereas AVX2 packs such masks in several steps. Conversions between
    /// reals and 64-bit integers gain because AVX2 has no instructions for them.
    const USES_AVX512: bool = {
        use DTypeKind::{Complex, Real, Signed, Unsigned};
        match (T::DTYPE.kind(), F::Out::DTYPE) {
            (Real | Complex, _) if F::GAINS_FROM_AVX512 => true,
            (Complex, _) => false,
            (_, DType::Bool) => matches!(size_of::<T>(), 4 | 8),
            (Signed | Unsigned, DType::Float32) => size_of::<T>() == 8,
            (Real, out) => matches!(out.kind(), Signed | Unsigned),
            _ => false,
        }
    };

    /// The kernel, tagged with the type of its op.
    pub const KERNEL: KernelOf<F> = KernelOf { kernel: Self::LOOPS, dtype: T::DTYPE, of: PhantomData };

    /// The kernel. It is an associated constant, so that each crate contains it only once.
    const LOOPS: &'static Kernel = &Kernel {
        name: F::NAME,
        operands: N as u8,
        inputs: [T::DTYPE; MAX_OPERANDS],
        output: F::Out::DTYPE,
        scalar_forms: Self::SCALAR_FORMS,
        // loops for blocks with large arguments need not be the fastest, because these blocks are rare
        loops: loops::<N, T, F, false>(Self::USES_AVX512 && !Self::NEEDS_RANGE_REDUCTION),
        near: if Self::NEEDS_RANGE_REDUCTION { Some(loops::<N, T, F, true>(Self::USES_AVX512)) } else { None },
    };
}

/// The kernel of the op `F` for 16-bit floats `T`, if the expression of `F` is a single operation. It runs the op's
/// `f32` loop and rounds each result once.
pub struct Widened<const N: usize, T, F>(PhantomData<(T, F)>);

impl<const N: usize, T: Element, F: Each<N, T> + Each<N, f32> + EachSource> Widened<N, T, F> {
    /// The kernel, tagged with the type of its op.
    pub const KERNEL: KernelOf<F> = KernelOf { kernel: Self::LOOPS, dtype: T::DTYPE, of: PhantomData };

    const LOOPS: &'static Kernel = {
        assert!(is_half(T::DTYPE) && !F::NEEDS_RANGE_REDUCTION, "what is computed in another dtype");
        &Kernel {
            name: F::NAME,
            operands: N as u8,
            inputs: [T::DTYPE; MAX_OPERANDS],
            output: <F as Each<N, T>>::Out::DTYPE,
            scalar_forms: false,
            loops: [Self::run; SETS],
            near: None,
        }
    };

    /// A [`Loop`] that accepts no scalars.
    unsafe fn run(op: *const u8, x: &[*const u8; MAX_OPERANDS], _: u8, out: *mut u8, n: usize) {
        let output = <F as Each<N, T>>::Out::DTYPE;
        // SAFETY: the caller guarantees the conditions of a loop, and the kernel belongs to the op over `f32`.
        unsafe { widened(OpKernel::<N, f32, F>::LOOPS, T::DTYPE, output, op, x, out, n) };
    }
}

/// Number of elements that are widened to `f32` at a time.
const WIDENED: usize = 512;

/// Runs the `f32` loop of `kernel` on operands of the 16-bit dtype `dtype`. If `output` is also `dtype`, rounds the
/// results to it; otherwise the loop writes results of dtype `output` directly.
///
/// # Safety
/// The conditions of a [`Loop`] for `dtype` hold, no operand is a scalar, and `op` is the op of `kernel`.
#[inline(never)]
unsafe fn widened(
    kernel: &Kernel,
    dtype: DType,
    output: DType,
    op: *const u8,
    x: &[*const u8; MAX_OPERANDS],
    out: *mut u8,
    n: usize,
) {
    let apply = kernel.loops[set()];
    let mut wide = [const { MaybeUninit::<[f32; WIDENED]>::uninit() }; OPERANDS];
    let mut made = MaybeUninit::<[f32; WIDENED]>::uninit();
    let mut here = *x;
    for done in (0..n).step_by(WIDENED) {
        let len = WIDENED.min(n - done);
        // SAFETY: every operand has `len` elements from `done` on, and `wide` has room for them in `f32`.
        unsafe {
            for (k, wide) in wide.iter_mut().enumerate().take(kernel.operands as usize) {
                let wide = wide.as_mut_ptr().cast::<u8>();
                convert(dtype, DType::Float32, x[k].add(done * dtype.size()), wide, len);
                here[k] = wide;
            }
            let out = out.add(done * output.size());
            if output as u8 == dtype as u8 {
                let made = made.as_mut_ptr().cast::<u8>();
                apply(op, &here, 0, made, len);
                convert(DType::Float32, dtype, made, out, len);
            } else {
                apply(op, &here, 0, out, len);
            }
        }
    }
}

/// Pads the dtypes of an op's operands to `MAX_OPERANDS` entries. The padding is never read.
const fn padded(of: [DType; OPERANDS]) -> [DType; MAX_OPERANDS] {
    let mut all = [of[0]; MAX_OPERANDS];
    let mut i = 0;
    while i < OPERANDS {
        all[i] = of[i];
        i += 1;
    }
    all
}

/// Returns the kernel of the op `F` for operands with the dtypes of `X`. If the op's table has no such kernel, it is
/// compiled in the calling crate.
#[inline(always)]
pub fn kernel_of<X: Elements, F: EachOf<X> + EachSource>() -> &'static Kernel {
    if const { is_one_of(X::DTYPES[F::INPUT_OF_T], F::TABLED) } {
        match F::table() {
            Some(table) => get(&table.kernels, X::DTYPES[F::INPUT_OF_T], X::COUNT),
            None => no_table(),
        }
    } else {
        OfTuple::<X, F>::LOOPS
    }
}

/// The kernel of the op `F` for operands with the dtypes of `X`.
pub struct OfTuple<X, F>(PhantomData<(X, F)>);

impl<X: Elements, F: EachOf<X> + EachSource> OfTuple<X, F> {
    /// The kernel, tagged with the type of its op.
    pub const KERNEL: KernelOf<F> = KernelOf { kernel: Self::LOOPS, dtype: X::DTYPES[F::INPUT_OF_T], of: PhantomData };

    const LOOPS: &'static Kernel = &tuple_kernel::<X, F>([tuples::<X, F>; SETS], F::Out::DTYPE);
}

/// The kernel of an op that only moves elements ([`EachSource::MOVED`]), for operands with the dtypes of `X`. It uses
/// the loops compiled for the dtypes of `M`. The corresponding dtypes of `X` and `M` must have the same size.
pub struct Moved<X, M, F>(PhantomData<(X, M, F)>);

impl<X: Elements, M: Elements, F: EachOf<X> + EachOf<M> + EachSource> Moved<X, M, F> {
    /// The kernel, tagged with the type of its op.
    pub const KERNEL: KernelOf<F> = KernelOf { kernel: Self::LOOPS, dtype: X::DTYPES[F::INPUT_OF_T], of: PhantomData };

    const LOOPS: &'static Kernel = {
        assert!(!F::MOVED.is_empty() && X::COUNT == M::COUNT, "the op moves elements");
        assert!(size_of::<<F as EachOf<X>>::Out>() == size_of::<<F as EachOf<M>>::Out>(), "one layout");
        let mut i = 0;
        while i < X::COUNT {
            assert!(X::DTYPES[i].size() == M::DTYPES[i].size() && X::ALIGNMENTS[i] == M::ALIGNMENTS[i], "one layout");
            i += 1;
        }
        &tuple_kernel::<X, F>([tuples::<M, F>; SETS], <F as EachOf<X>>::Out::DTYPE)
    };
}

/// A kernel for operands with the dtypes of `X`.
const fn tuple_kernel<X: Elements, F: EachSource>(loops: [Loop; SETS], output: DType) -> Kernel {
    Kernel {
        name: F::NAME,
        operands: X::COUNT as u8,
        inputs: padded(X::DTYPES),
        output,
        scalar_forms: false,
        loops,
        near: None,
    }
}

versions! {
    /// The [`Loop`] over operands with the dtypes of `X`. It accepts no scalars.
    unsafe fn tuples[X: Elements, F: EachOf<X> + EachSource][X, F](
        op: *const u8,
        x: &[*const u8; MAX_OPERANDS],
        _scalars: u8,
        out: *mut u8,
        n: usize,
    ) {
        // SAFETY: the caller guarantees `n` elements of every operand and room for `n` results.
        unsafe {
            let op = &*op.cast::<F>();
            let out = out.cast::<F::Out>();
            let x = [x[0], x[1], x[2]];
            let mut i = 0;
            while i < n {
                *out.add(i) = op.apply(X::read(x, i));
                i += 1;
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
const fn loops<const N: usize, T: Element, F: Each<N, T> + EachSource, const NEAR: bool>(avx512: bool) -> [Loop; SETS] {
    // the baseline instruction set has no special loop for arguments without range reduction: old processors need not
    // have the fastest loop
    let base = base::<N, T, F>;
    let avx2 = avx2::<N, T, F, NEAR>;
    let best = match T::DTYPE {
        DType::Float64 if N == 1 && F::IS_SQUARE_ROOT => roots::float64,
        DType::Float32 if N == 1 && F::IS_SQUARE_ROOT => roots::float32,
        _ if avx512 => self::avx512::<N, T, F, NEAR>,
        _ => avx2,
    };
    [base, avx2, best]
}

#[cfg(not(target_arch = "x86_64"))]
const fn loops<const N: usize, T: Element, F: Each<N, T> + EachSource, const NEAR: bool>(_: bool) -> [Loop; SETS] {
    [loop_body::<N, T, F, NEAR>; SETS]
}

/// The loop body, inlined into the loops of all instruction sets. It contains no closures, because these would be
/// compiled for the baseline instruction set.
///
/// # Safety
/// The conditions of [`Loop`] hold. If `NEAR`, no element of the first operand needs range reduction.
#[inline(always)]
unsafe fn loop_body<const N: usize, T: Element, F: Each<N, T> + EachSource, const NEAR: bool>(
    op: *const u8,
    x: &[*const u8; MAX_OPERANDS],
    scalars: u8,
    out: *mut u8,
    n: usize,
) {
    // SAFETY: the caller guarantees `n` elements of each operand, or one if it is a scalar, and room for `n` results.
    unsafe {
        let op = &*op.cast::<F>();
        let out = out.cast::<F::Out>();
        let (p, q, r) = (x[0].cast::<T>(), x[1].cast::<T>(), x[2].cast::<T>());
        let mut i = 0;
        if const { OpKernel::<N, T, F>::SCALAR_FORMS } && scalars != 0 {
            if const { N == 3 } {
                let (q, r) = (*q, *r);
                while i < n {
                    *out.add(i) = op.apply(&first([*p.add(i), q, r]));
                    i += 1;
                }
            } else if scalars == 1 {
                let p = *p;
                while i < n {
                    *out.add(i) = op.apply(&first([p, *q.add(i), p]));
                    i += 1;
                }
            } else {
                let q = *q;
                while i < n {
                    *out.add(i) = op.apply(&first([*p.add(i), q, q]));
                    i += 1;
                }
            }
            return;
        }
        let x = [p, q, r];
        if const { F::CHOOSES } {
            if op.chosen() {
                elements::<N, T, F, NEAR, CHOSEN>(op, x, out, n);
            } else {
                elements::<N, T, F, NEAR, NOT_CHOSEN>(op, x, out, n);
            }
        } else if const { OpKernel::<N, T, F>::LOOKS_FOR != NOTHING } {
            while i < n {
                let len = SIGNS.min(n - i);
                let mut all = true;
                for k in 0..len {
                    all &= match const { OpKernel::<N, T, F>::LOOKS_FOR } {
                        ABOVE_0 => is_positive_normal(*p.add(i + k)),
                        _ => is_within(*p.add(i + k), F::CHEAP_WITHIN),
                    };
                }
                let out = out.add(i);
                let mut x = [p.add(i); OPERANDS];
                if const { N > 1 } {
                    x[1] = q.add(i);
                }
                if const { N > 2 } {
                    x[2] = r.add(i);
                }
                if all {
                    if const { OpKernel::<N, T, F>::LOOKS_FOR == ABOVE_0 } {
                        elements::<N, T, F, NEAR, ABOVE_0>(op, x, out, len);
                    } else {
                        elements::<N, T, F, NEAR, WITHIN>(op, x, out, len);
                    }
                } else {
                    elements::<N, T, F, NEAR, NOTHING>(op, x, out, len);
                }
                i += len;
            }
        } else {
            elements::<N, T, F, NEAR, NOTHING>(op, x, out, n);
        }
    }
}

/// The loop may assume nothing about the elements, except that none needs range reduction if `NEAR` is true.
const NOTHING: u8 = 0;
/// The loop may assume that [`EachSource::chosen`] is true.
const CHOSEN: u8 = 1;
/// The loop may assume that [`EachSource::chosen`] is false.
const NOT_CHOSEN: u8 = 2;
/// The loop may assume that all elements of the first operand are above 0, and normal.
const ABOVE_0: u8 = 3;
/// The loop may assume that all elements of the first operand have magnitudes below [`EachSource::CHEAP_WITHIN`].
const WITHIN: u8 = 4;

/// Number of elements per block whose signs or magnitudes are checked together.
const SIGNS: usize = 128;

/// The loop over slices. `KNOWN` is one of the constants above, and says which fact the loop may assume.
///
/// # Safety
/// The conditions of [`loop_body`] hold, and the fact that `KNOWN` stands for is true.
#[inline(always)]
unsafe fn elements<const N: usize, T: Element, F: Each<N, T> + EachSource, const NEAR: bool, const KNOWN: u8>(
    op: &F,
    [p, q, r]: [*const T; OPERANDS],
    out: *mut F::Out,
    n: usize,
) {
    // SAFETY: the caller guarantees the elements and that the fact is true.
    unsafe {
        let mut i = 0;
        while i < n {
            // the array is filled here, because the compiler would lose the assumption about the element if a helper
            // filled it
            let mut at = [*p.add(i); N];
            if const { N > 1 } {
                at[1] = *q.add(i);
            }
            if const { N > 2 } {
                at[2] = *r.add(i);
            }
            if NEAR {
                assert_unchecked(!needs_range_reduction(at[0]));
            }
            match KNOWN {
                CHOSEN => assert_unchecked(op.chosen()),
                NOT_CHOSEN => assert_unchecked(!op.chosen()),
                ABOVE_0 => {
                    assert_unchecked(is_positive_normal(at[0]));
                    assert_unchecked(is_above_0(at[0]));
                }
                WITHIN => assert_unchecked(is_within(at[0], F::CHEAP_WITHIN)),
                _ => {}
            }
            *out.add(i) = op.apply(&at);
            i += 1;
        }
    }
}

/// The first `N` of three elements.
#[inline(always)]
fn first<const N: usize, T: Element>(all: [T; OPERANDS]) -> [T; N] {
    let mut some = [all[0]; N];
    if const { N > 1 } {
        some[1] = all[1];
    }
    if const { N > 2 } {
        some[2] = all[2];
    }
    some
}

macro_rules! loop_version {
    ($(#[$feature:meta])* $name:ident $(, $near:ident)?) => {
        $(#[$feature])*
        #[cfg(target_arch = "x86_64")]
        unsafe fn $name<const N: usize, T: Element, F: Each<N, T> + EachSource $(, const $near: bool)?>(
            op: *const u8,
            x: &[*const u8; MAX_OPERANDS],
            scalars: u8,
            out: *mut u8,
            n: usize,
        ) {
            // SAFETY: the caller guarantees the conditions of the loop body.
            unsafe { loop_body::<N, T, F, { loop_version!(@near $($near)?) }>(op, x, scalars, out, n) }
        }
    };
    (@near) => { false };
    (@near $near:ident) => { $near };
}
loop_version!(base);
loop_version!(
    #[target_feature(enable = "avx2,fma,f16c")]
    avx2,
    NEAR
);
loop_version!(
    #[target_feature(enable = "avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl")]
    avx512,
    NEAR
);

/// The addresses that all tasks of one kernel call share.
pub(super) struct Pointers {
    pub op: *const u8,
    pub x: [*const u8; MAX_OPERANDS],
    pub out: *mut u8,
}

// SAFETY: tasks read shared operands and write different parts of the result; ops are `Sync`.
unsafe impl Sync for Pointers {}

/// Advances the addresses of the operands by `by` elements. The addresses of scalars are unchanged.
#[inline]
pub(super) fn advanced(
    kernel: &Kernel,
    mut x: [*const u8; MAX_OPERANDS],
    scalars: u8,
    by: usize,
) -> [*const u8; MAX_OPERANDS] {
    for (i, x) in x.iter_mut().enumerate() {
        if scalars >> i & 1 == 0 {
            *x = x.wrapping_add(by * kernel.inputs[i].size());
        }
    }
    x
}

/// Number of elements per block. A scalar is repeated in memory this many times.
const BLOCK: usize = 256;

/// Number of arguments that are checked together for range reduction, few enough to stay in the first-level cache until
/// the loop reads them again.
const LOOKED_AT: usize = 1 << 10;

/// Runs a kernel on a stretch of `n` elements, for which every operand is a contiguous slice or a scalar.
///
/// # Safety
/// The conditions of a [`Loop`] of this kernel hold.
#[inline]
pub unsafe fn stretch(
    kernel: &Kernel,
    op: *const u8,
    x: [*const u8; MAX_OPERANDS],
    scalars: u8,
    out: *mut u8,
    n: usize,
) {
    // SAFETY: the caller guarantees the conditions of the loop.
    unsafe {
        if kernel.is_direct(scalars) {
            kernel.loops[set()](op, &x, scalars, out, n);
        } else if kernel.takes(scalars) {
            looked_at(kernel, op, x, out, n);
        } else {
            blocks(kernel, op, x, scalars, 0, out, n);
        }
    }
}

/// Like [`stretch`], but checks for each block whether an argument needs range reduction, to select the block's loop.
/// No operand is a scalar.
#[inline(never)]
unsafe fn looked_at(kernel: &Kernel, op: *const u8, x: [*const u8; MAX_OPERANDS], out: *mut u8, n: usize) {
    for done in (0..n).step_by(LOOKED_AT) {
        let (here, len) = (advanced(kernel, x, 0, done), LOOKED_AT.min(n - done));
        // SAFETY: the block lies in the stretch.
        unsafe { kernel.loop_for(here[0], len)(op, &here, 0, out.add(done * kernel.output.size()), len) };
    }
}

/// Like [`stretch`], but the result overwrites the operands whose bits are set in `over`.
#[inline]
pub(super) unsafe fn stretch_over(
    kernel: &Kernel,
    op: *const u8,
    x: [*const u8; MAX_OPERANDS],
    scalars: u8,
    over: u8,
    out: *mut u8,
    n: usize,
) {
    // SAFETY: the caller guarantees the conditions of the loop.
    unsafe {
        if kernel.takes(scalars) {
            in_place(kernel, op, x, scalars, over, out, n);
        } else {
            blocks(kernel, op, x, scalars, over, out, n);
        }
    }
}

/// Number of bytes that are copied before they are overwritten: small enough for the first-level cache, and large
/// enough that calling the loop takes far less time than running it.
const COPIED: usize = 1 << 13;

/// Like [`stretch`], but the result overwrites operands. Loops assume that they do not write to their operands, so each
/// block of these operands is copied first. A loop that had to detect such an overlap would compute one element at a
/// time.
#[inline(never)]
unsafe fn in_place(
    kernel: &Kernel,
    op: *const u8,
    x: [*const u8; MAX_OPERANDS],
    scalars: u8,
    over: u8,
    out: *mut u8,
    n: usize,
) {
    /// Maximum number of bytes that `memcpy` copies with plain moves, which are faster than its method for large
    /// blocks.
    const PIECE: usize = 1 << 11;
    let mut copied = MaybeUninit::<[u128; COPIED / 16]>::uninit();
    let (copied, size) = (copied.as_mut_ptr().cast::<u8>(), kernel.output.size());
    for done in (0..n).step_by(COPIED / size) {
        let len = (COPIED / size).min(n - done);
        let mut here = advanced(kernel, x, scalars, done);
        // SAFETY: the result has `len` elements here, each overwritten operand is in the result's memory and has
        // elements of the same size, and `copied` has room for `len` elements.
        unsafe {
            let to = out.add(done * size);
            for piece in (0..len * size).step_by(PIECE) {
                std::ptr::copy_nonoverlapping(to.add(piece), copied.add(piece), PIECE.min(len * size - piece));
            }
            here.iter_mut().enumerate().filter(|(i, _)| over >> i & 1 == 1).for_each(|(_, x)| *x = copied);
            kernel.loop_for(here[0], len)(op, &here, scalars, to, len);
        }
    }
}

/// Like [`stretch`], but in blocks. Scalars are repeated in memory. Operands that the result overwrites are copied
/// first, because loops assume that they do not write to their operands.
#[inline(never)]
pub(super) unsafe fn blocks(
    kernel: &Kernel,
    op: *const u8,
    mut x: [*const u8; MAX_OPERANDS],
    scalars: u8,
    over: u8,
    out: *mut u8,
    n: usize,
) {
    let mut written = [const { MaybeUninit::<[u128; BLOCK]>::uninit() }; MAX_OPERANDS];
    for (i, written) in written.iter_mut().enumerate() {
        if scalars >> i & 1 == 1 {
            let to = written.as_mut_ptr().cast::<u8>();
            // SAFETY: the scalar has one element, and `to` has room for `BLOCK` elements of 16 bytes.
            unsafe { super::copy::fill(kernel.inputs[i], x[i], to, n.min(BLOCK)) };
            x[i] = to;
        }
    }
    let mut done = 0;
    while done < n {
        let mut here = advanced(kernel, x, scalars, done);
        let len = BLOCK.min(n - done);
        if over != 0 {
            for (i, written) in written.iter_mut().enumerate().filter(|(i, _)| over >> i & 1 == 1) {
                let to = written.as_mut_ptr().cast::<u8>();
                // SAFETY: the operand has `len` elements here, and `to` has room for `BLOCK` elements of 16 bytes.
                unsafe { std::ptr::copy_nonoverlapping(here[i], to, len * kernel.inputs[i].size()) };
                here[i] = to;
            }
        }
        // SAFETY: the block lies in the stretch.
        unsafe { kernel.loop_for(here[0], len)(op, &here, 0, out.add(done * kernel.output.size()), len) };
        done += len;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_for_scalars() {
        assert!(has_form(2, 0b01) && has_form(2, 0b10) && !has_form(2, 0b11));
        assert!(has_form(3, 0b110) && !has_form(3, 0b011) && !has_form(3, 0b111) && !has_form(1, 0b1));
    }
}
