//! The scalar expression of an `each` row, as a type: the loops and kernels around it are the backend's.

use crate::{Arrays, Complex, DType, DTypeKind, Element, Float, Operand, Real};

/// A scalar op over `N` elements of `T`. The generated types are zero-size, or hold the op's parameters.
pub trait Each<const N: usize, T: Element> {
    /// Dtype of the result.
    type Out: Element;

    /// One result element. `#[inline(always)]` in every implementation, so that the loop that calls it vectorises. By reference: a
    /// small array that is handed over would be one integer, in which the compiler loses what it knows of the elements.
    fn apply(&self, x: &[T; N]) -> Self::Out;

    /// Whether [`pull`](Each::pull) gives all gradients, where `T` is real.
    const PULLS: bool = false;

    /// The gradients of the operands, of that of the result `y`; none for other dtypes.
    #[inline(always)]
    fn pull(&self, _x: [T; N], _y: Self::Out, _g: Self::Out) -> Option<[T; N]> {
        None
    }
}

/// A scalar op over one element of each of several dtypes: those of the tuple `X`.
pub trait EachOf<X: Elements> {
    /// Dtype of the result.
    type Out: Element;

    /// One result element. `#[inline(always)]` in every implementation, so that the loop that calls it vectorises.
    fn apply(&self, x: X) -> Self::Out;

    /// As [`Each::PULLS`].
    const PULLS: bool = false;

    /// As [`Each::pull`].
    #[inline(always)]
    fn pull(&self, _x: X, _y: Self::Out, _g: Self::Out) -> Option<X> {
        None
    }
}

/// A tuple of up to three elements, of any dtypes.
pub trait Elements: Copy {
    /// How many.
    const COUNT: usize;

    /// Their dtypes; those beyond the count mean nothing.
    const DTYPES: [DType; 3];

    /// Their alignments in memory; those beyond the count mean nothing.
    const ALIGNMENTS: [usize; 3];

    /// Operands of these dtypes.
    type Operands<'a, Of: Arrays>;

    /// Element `i` of each array.
    ///
    /// # Safety
    /// The pointers are as many as the tuple has elements, each to more than `i` elements of its dtype.
    unsafe fn read(x: [*const u8; 3], i: usize) -> Self;
}

macro_rules! elements {
    (@ Bool) => { bool };
    ($count:literal: $($at:literal $t:ident),*; $($rest:ident)*) => {
        impl<$($t: Element),*> Elements for ($($t,)*) {
            const COUNT: usize = $count;
            const DTYPES: [DType; 3] = [$($t::DTYPE,)* $(DType::$rest),*];
            const ALIGNMENTS: [usize; 3] = [$(align_of::<$t>(),)* $(align_of::<elements!(@ $rest)>()),*];

            type Operands<'a, Of: Arrays> = ($(Operand<'a, Of, $t>,)*);

            #[inline(always)]
            unsafe fn read(x: [*const u8; 3], i: usize) -> Self {
                // SAFETY: the caller's promise.
                unsafe { ($(*x[$at].cast::<$t>().add(i),)*) }
            }
        }
    };
}
elements!(1: 0 A; Bool Bool);
elements!(2: 0 A, 1 B; Bool);
elements!(3: 0 A, 1 B, 2 C;);

/// The same expression in CUDA C++, for the kernel generated from it.
pub trait EachSource: 'static {
    /// Name of the row.
    const NAME: &'static str;

    /// The expression over the row's parameters and the prelude's functions; `T` is the dtype.
    const CUDA: &'static str;

    /// The form for complex dtypes, where it is another.
    const CUDA_COMPLEX: &'static str = Self::CUDA;

    /// The gradients of the operands as such expressions, over the parameters, the operands, the result and its gradient, in this order; an empty text where
    /// there is none, no texts where [`Each::PULLS`] is false.
    const CUDA_PULLS: &'static [&'static str] = &[];

    /// Names of the array parameters, in order: `x0`, `x1`.
    const INPUTS: &'static [&'static str];

    /// Which of them is of the dtype `T`.
    const INPUT_OF_T: usize = 0;

    /// Places of the operands of which elements go to the result as they are, where the op does nothing else with elements
    /// of its dtype: the same loop serves every dtype of their size.
    const MOVED: &'static [usize] = &[];

    /// Whether it gives the element of its one operand in another dtype, and in the same one that element.
    const CONVERTS: bool = false;

    /// Whether it gives the conjugate of its one operand, which is a real one as it is.
    const CONJUGATES: bool = false;

    /// Whether it gives the square root of its one operand.
    const IS_SQUARE_ROOT: bool = false;

    /// Whether it is the product of its two operands, or of its one operand with itself.
    const IS_PRODUCT: bool = false;

    /// Names of the scalar parameters, in order.
    const PARAMS: &'static [&'static str];

    /// Whether it takes sines, cosines or tangents of real dtypes, which need a reduction of their range: their loops look
    /// at a block of arguments first (see [`needs_range_reduction`](crate::scalar::needs_range_reduction)).
    const NEEDS_RANGE_REDUCTION: bool = false;

    /// The same for complex dtypes, where exponentials do so too.
    const NEEDS_RANGE_REDUCTION_COMPLEX: bool = false;

    /// Whether it computes so much in vectors that wider ones pay: the others wait for memory, or call a function.
    const GAINS_FROM_AVX512: bool = false;

    /// Whether it is a choice between two expressions by one of the scalar parameters, [`EachSource::chosen`]: each has a
    /// loop of its own, as one for both would compute the two for every element.
    const CHOOSES: bool = false;

    /// Whether there is much less to compute where its first operand is positive, normal and finite: blocks of such elements have a loop of their own.
    const IS_CHEAP_ABOVE_0: bool = false;

    /// The magnitude of its first operand below which there is much less to compute, or 0 where there is none: blocks of such elements have a
    /// loop of their own. Not looked at where it [is cheap above 0](EachSource::IS_CHEAP_ABOVE_0).
    const CHEAP_WITHIN: f64 = 0.0;

    /// The parameter that [`EachSource::CHOOSES`] speaks of.
    #[inline(always)]
    fn chosen(&self) -> bool {
        false
    }

    /// The dtypes that [`EachSource::table`] has kernels of.
    const TABLED: &'static [crate::DType] = &[];

    /// Kernels of the CPU backend, compiled where the op is written and not again where it is called.
    fn table() -> Option<&'static crate::numpyish::kernel::Table<Self>>
    where
        Self: Sized,
    {
        None
    }

    /// Values of the scalar parameters, in order.
    fn params(&self) -> Vec<f64> {
        Vec::new()
    }
}

/// Whether a row with one operand gives the elements of that as they are, in these dtypes of its operand and its result.
pub const fn is_identity<F: EachSource>(of: DType, out: DType) -> bool {
    of as u8 == out as u8 && (F::CONVERTS || F::CONJUGATES && !matches!(of.kind(), DTypeKind::Complex))
}

/// A float op with one form for real and one for complex dtypes.
pub trait FloatOp<const N: usize> {
    /// The form for real dtypes.
    fn real<T: Real>(&self, x: &[T; N]) -> T;

    /// The form for complex dtypes.
    fn complex<R: Real>(&self, x: &[Complex<R>; N]) -> Complex<R>
    where
        Complex<R>: Float<Real = R>;
}

/// As [`FloatOp`], with a real result for complex dtypes too.
pub trait FloatToRealOp<const N: usize> {
    /// The form for real dtypes.
    fn real<T: Real>(&self, x: &[T; N]) -> T;

    /// The form for complex dtypes.
    fn complex<R: Real>(&self, x: &[Complex<R>; N]) -> R
    where
        Complex<R>: Float<Real = R>;
}

/// A reduction of a `fold` row, and what the kernels of the GPU are made of. The generated types hold the row's parameters.
pub trait FoldSource: Copy + Default + Send + Sync + 'static {
    /// Name of the row.
    const NAME: &'static str;

    /// The reduction in CUDA C++.
    const CUDA: FoldKernel;

    /// The loops of the CPU backend for every dtype of the row, compiled where the row is written.
    fn loops() -> &'static [crate::numpyish::reduction::FoldLoops];

    /// Values of the scalar parameters, in order.
    fn params(&self) -> Vec<f64>;
}

/// A reduction over elements of `A`, a dtype that reductions are computed in.
pub trait EachFold<A: Element>: FoldSource {
    /// What elements are folded into.
    type Acc: Element;
    /// What that becomes.
    type Out: Element;

    /// Whether a value is how many elements have a property: that of one element is 0 or 1, and values are added.
    const COUNTS: bool = false;

    /// The value of no elements, which changes no other that it is joined with.
    fn identity() -> Self::Acc;

    /// The value of one element.
    fn map(&self, x: A) -> Self::Acc;

    /// Two values as one; the order of joins is not that of the elements.
    fn join(a: Self::Acc, b: Self::Acc) -> Self::Acc;

    /// The result of `n` elements.
    fn finish(&self, a: Self::Acc, n: f64) -> Self::Out;
}

/// A reduction in CUDA C++: expressions over `T`, which is `E`, or the type of values where elements are only joined.
#[derive(Clone, Copy, Debug)]
pub struct FoldKernel {
    /// The type of values, in terms of `E`, the dtype of elements or float for those of 16 bits.
    pub acc: &'static str,
    /// What elements of `acc` are, in terms of the row's dtype.
    pub acc_element: crate::ElementInfo,
    /// The value of no elements.
    pub identity: &'static str,
    /// The value of the element `x0`.
    pub map: &'static str,
    /// The values `x0` and `x1` as one.
    pub join: &'static str,
    /// The result, of the value `x0`; the value itself where there is none.
    pub finish: Option<&'static str>,
    /// Names of the scalar parameters in `map`.
    pub params: &'static [&'static str],
    /// Names of the number of elements and of the scalar parameters in `finish`.
    pub finish_params: &'static [&'static str],
}
