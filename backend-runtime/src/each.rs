//! Traits for the scalar expressions of `each` rows and the reductions of `fold` rows of the op table. Macros generate
//! a type for each row. Backends supply the loops and kernels that evaluate these types.

use crate::{Arrays, Complex, DType, DTypeKind, Element, Float, Operand, Real};

/// A scalar op over `N` elements of `T`. The generated types are zero-sized, or hold the op's parameters.
pub trait Each<const N: usize, T: Element> {
    /// Dtype of the result.
    type Out: Element;

    /// Computes one element of the result. Every implementation is `#[inline(always)]`, so that the calling loop
    /// vectorises. The elements are passed by reference, because the compiler would pass a small array by value as one
    /// integer, and lose track of the elements.
    fn apply(&self, x: &[T; N]) -> Self::Out;

    /// Whether [`pull`](Each::pull) returns all gradients for real `T`.
    const PULLS: bool = false;

    /// The gradients of the operands, given the result `y` and its gradient `g`; `None` for unsupported dtypes.
    #[inline(always)]
    fn pull(&self, _x: [T; N], _y: Self::Out, _g: Self::Out) -> Option<[T; N]> {
        None
    }
}

/// A scalar op over elements of several dtypes, which are the dtypes of the tuple `X`.
pub trait EachOf<X: Elements> {
    /// Dtype of the result.
    type Out: Element;

    /// Computes one element of the result. Every implementation is `#[inline(always)]`, so that the calling loop
    /// vectorises.
    fn apply(&self, x: X) -> Self::Out;

    /// Whether `pull` returns all gradients, like [`Each::PULLS`].
    const PULLS: bool = false;

    /// The gradients of the operands, given the result `y` and its gradient `g`; `None` for unsupported dtypes.
    #[inline(always)]
    fn pull(&self, _x: X, _y: Self::Out, _g: Self::Out) -> Option<X> {
        None
    }
}

/// A tuple of up to three elements, of any dtypes.
pub trait Elements: Copy {
    /// Number of elements in the tuple.
    const COUNT: usize;

    /// Dtypes of the elements; entries beyond the count are meaningless.
    const DTYPES: [DType; 3];

    /// Alignments of the elements in bytes; entries beyond the count are meaningless.
    const ALIGNMENTS: [usize; 3];

    /// The operands of an op of the backend `Of`, one for each element of the tuple.
    type Operands<'a, Of: Arrays>;

    /// Reads element `i` of each array.
    ///
    /// # Safety
    /// `x` has a pointer for each element of the tuple, to more than `i` elements of that element's dtype.
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
                // SAFETY: the caller guarantees that each pointer has more than `i` elements of its dtype.
                unsafe { ($(*x[$at].cast::<$t>().add(i),)*) }
            }
        }
    };
}
elements!(1: 0 A; Bool Bool);
elements!(2: 0 A, 1 B; Bool);
elements!(3: 0 A, 1 B, 2 C;);

/// The scalar expression of an op in CUDA C++, and the properties of the op that loops and kernels depend on.
pub trait EachSource: 'static {
    /// Name of the op.
    const NAME: &'static str;

    /// The expression, in terms of the op's parameters and the functions of the CUDA prelude. `T` is the op's dtype.
    const CUDA: &'static str;

    /// The expression for complex dtypes, if it differs from `CUDA`.
    const CUDA_COMPLEX: &'static str = Self::CUDA;

    /// The gradients of the operands as expressions in CUDA C++, over the parameters, the operands, the result and its
    /// gradient, in this order. An expression is empty if its operand has no gradient; the list is empty if
    /// [`Each::PULLS`] is false.
    const CUDA_PULLS: &'static [&'static str] = &[];

    /// Names of the array parameters, in order: `x0`, `x1`.
    const INPUTS: &'static [&'static str];

    /// Index of an array parameter that has the dtype `T`.
    const INPUT_OF_T: usize = 0;

    /// For an op that only moves elements of the dtype `T`: indices of the operands whose elements are copied to the
    /// result. One loop then serves every dtype of the same size. Empty for other ops.
    const MOVED: &'static [usize] = &[];

    /// Whether the op converts its only operand to another dtype. An operand that already has the result's dtype is
    /// only copied.
    const CONVERTS: bool = false;

    /// Whether the op conjugates its only operand. A real operand is only copied.
    const CONJUGATES: bool = false;

    /// Whether the op is the square root of its only operand.
    const IS_SQUARE_ROOT: bool = false;

    /// Whether the op is the product of its two operands, or the square of its only operand.
    const IS_PRODUCT: bool = false;

    /// Names of the scalar parameters, in order.
    const PARAMS: &'static [&'static str];

    /// Whether the op computes sines, cosines or tangents of real dtypes, which need a range reduction. For such ops,
    /// loops first inspect a block of arguments (see [`needs_range_reduction`](crate::scalar::needs_range_reduction)).
    const NEEDS_RANGE_REDUCTION: bool = false;

    /// Whether the op needs a range reduction for complex dtypes, where exponentials need one as well.
    const NEEDS_RANGE_REDUCTION_COMPLEX: bool = false;

    /// Whether the op computes enough to gain from wider vectors. Other ops are limited by memory, or call a function.
    const GAINS_FROM_AVX512: bool = false;

    /// Whether a scalar parameter, [`EachSource::chosen`], selects one of two expressions. Each expression has a
    /// separate loop, because a common loop would compute both for every element.
    const CHOOSES: bool = false;

    /// Whether the op is much cheaper if the first operand is positive, normal and finite. Blocks of such elements have
    /// a separate loop.
    const IS_CHEAP_ABOVE_0: bool = false;

    /// The op is much cheaper if the magnitude of the first operand is below this bound; 0 means no bound. Blocks of
    /// operands below the bound have a separate loop. Ignored if the op
    /// [is cheap above 0](EachSource::IS_CHEAP_ABOVE_0).
    const CHEAP_WITHIN: f64 = 0.0;

    /// The value of the parameter that [`EachSource::CHOOSES`] refers to.
    #[inline(always)]
    fn chosen(&self) -> bool {
        false
    }

    /// The dtypes for which [`EachSource::table`] has kernels.
    const TABLED: &'static [crate::DType] = &[];

    /// Kernels of the CPU backend, compiled once in the crate that defines the op, and not in each crate that calls it.
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

/// Returns whether an op returns the elements of its only operand unchanged, for an operand of dtype `of` and a result
/// of dtype `out`.
pub const fn is_identity<F: EachSource>(of: DType, out: DType) -> bool {
    of as u8 == out as u8 && (F::CONVERTS || F::CONJUGATES && !matches!(of.kind(), DTypeKind::Complex))
}

/// A float op with separate forms for real and complex dtypes.
pub trait FloatOp<const N: usize> {
    /// The form for real dtypes.
    fn real<T: Real>(&self, x: &[T; N]) -> T;

    /// The form for complex dtypes.
    fn complex<R: Real>(&self, x: &[Complex<R>; N]) -> Complex<R>
    where
        Complex<R>: Float<Real = R>;
}

/// A float op like [`FloatOp`], whose result is real for complex dtypes too.
pub trait FloatToRealOp<const N: usize> {
    /// The form for real dtypes.
    fn real<T: Real>(&self, x: &[T; N]) -> T;

    /// The form for complex dtypes.
    fn complex<R: Real>(&self, x: &[Complex<R>; N]) -> R
    where
        Complex<R>: Float<Real = R>;
}

/// A reduction that a `fold` row of the op table defines, with the sources of its GPU kernels. The generated types hold
/// the parameters of the reduction.
pub trait FoldSource: Copy + Default + Send + Sync + 'static {
    /// Name of the op.
    const NAME: &'static str;

    /// The reduction in CUDA C++.
    const CUDA: FoldKernel;

    /// The loops of the CPU backend for every dtype of the op, compiled in the crate that defines the op.
    fn loops() -> &'static [crate::numpyish::reduction::FoldLoops];

    /// Values of the scalar parameters, in order.
    fn params(&self) -> Vec<f64>;
}

/// A reduction that is computed over elements of the dtype `A`.
pub trait EachFold<A: Element>: FoldSource {
    /// The accumulator's type.
    type Acc: Element;
    /// The result's type.
    type Out: Element;

    /// Whether the reduction counts elements with a property. Each element then maps to 0 or 1, and values are added.
    const COUNTS: bool = false;

    /// The value of an empty reduction, which is the identity of `join`.
    fn identity() -> Self::Acc;

    /// The value that one element contributes.
    fn map(&self, x: A) -> Self::Acc;

    /// Combines two values. Values may be combined in an order that differs from the order of the elements.
    fn join(a: Self::Acc, b: Self::Acc) -> Self::Acc;

    /// Computes the result from the combined value of `n` elements.
    fn finish(&self, a: Self::Acc, n: f64) -> Self::Out;
}

/// A reduction in CUDA C++, given as expressions over `T`. `T` is the elements' type `E`, or the accumulator's type in
/// expressions that only join values.
#[derive(Clone, Copy, Debug)]
pub struct FoldKernel {
    /// The accumulator's type, in terms of `E`, which is the dtype of the elements, or float for 16-bit elements.
    pub acc: &'static str,
    /// The dtype of the accumulator, in terms of the op's dtype.
    pub acc_element: crate::ElementInfo,
    /// The value of an empty reduction.
    pub identity: &'static str,
    /// The value of the element `x0`.
    pub map: &'static str,
    /// The combination of the values `x0` and `x1`.
    pub join: &'static str,
    /// The result computed from the value `x0`; `None` if the result is `x0` itself.
    pub finish: Option<&'static str>,
    /// Names that `map` uses for the scalar parameters.
    pub params: &'static [&'static str],
    /// Names that `finish` uses for the number of elements and for the scalar parameters.
    pub finish_params: &'static [&'static str],
}
