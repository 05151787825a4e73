//! Traits of the generated ops. A row of the op table with the key `each` defines a scalar expression, and a row with
//! the key `fold` defines a reduction. Macros generate a type for each such row, and backends supply the loops and
//! kernels that evaluate it.

use crate::{Arrays, Complex, DType, DTypeKind, Element, Float, Operand, Real, entry::Row};

/// A scalar op over `N` elements of `T`. The types that implement it are generated; they are zero-sized, or hold the
/// op's parameters.
pub trait Each<const N: usize, T: Element> {
    /// Dtype of the result.
    type Out: Element;

    /// Computes one element of the result. Every implementation is `#[inline(always)]`, so that the compiler can
    /// vectorise the loop that calls it. The elements are passed by reference, because the compiler would pass a small
    /// array by value as one integer, and lose track of the elements.
    fn apply(&self, x: &[T; N]) -> Self::Out;

    /// True if [`pull`](Each::pull) returns the gradients of all operands if `T` is real.
    const PULLS: bool = false;

    /// Computes the gradients of the operands from the operands `x`, the result `y` and its gradient `g`. Returns
    /// `None` if the dtype is not supported.
    #[inline(always)]
    fn pull(&self, _x: [T; N], _y: Self::Out, _g: Self::Out) -> Option<[T; N]> {
        None
    }
}

/// A scalar op over elements of different dtypes: the elements of the tuple `X`.
pub trait EachOf<X: Elements> {
    /// Dtype of the result.
    type Out: Element;

    /// Computes one element of the result. Every implementation is `#[inline(always)]`, so that the compiler can
    /// vectorise the loop that calls it.
    fn apply(&self, x: X) -> Self::Out;

    /// True if `pull` returns the gradients of all operands, like [`Each::PULLS`].
    const PULLS: bool = false;

    /// Computes the gradients of the operands from the operands `x`, the result `y` and its gradient `g`. Returns
    /// `None` if the dtypes are not supported.
    #[inline(always)]
    fn pull(&self, _x: X, _y: Self::Out, _g: Self::Out) -> Option<X> {
        None
    }
}

/// A tuple of one to three elements, each of any dtype.
pub trait Elements: Copy {
    /// Number of elements in the tuple.
    const COUNT: usize;

    /// Dtypes of the elements. Entries from `COUNT` on are meaningless.
    const DTYPES: [DType; 3];

    /// Dtypes of the elements like `DTYPES`, also of elements whose dtype is known only at run time.
    fn dtypes() -> [DType; 3];

    /// Alignments of the elements in bytes. Entries from `COUNT` on are meaningless.
    const ALIGNMENTS: [usize; 3];

    /// The operands of an op of `Backend`, one for each element of the tuple.
    type Operands<'a, Backend: Arrays>;

    /// Reads element `i` of each array, and returns them as a tuple.
    ///
    /// # Safety
    /// For each element of the tuple, `x` has a pointer to more than `i` elements of the same dtype.
    unsafe fn read(x: [*const u8; 3], i: usize) -> Self;
}

macro_rules! elements {
    (@ Bool) => { bool };
    ($count:literal: $($at:literal $t:ident),*; $($rest:ident)*) => {
        impl<$($t: Element),*> Elements for ($($t,)*) {
            const COUNT: usize = $count;
            const DTYPES: [DType; 3] = [$($t::DTYPE,)* $(DType::$rest),*];
            const ALIGNMENTS: [usize; 3] = [$(align_of::<$t>(),)* $(align_of::<elements!(@ $rest)>()),*];

            #[inline(always)]
            fn dtypes() -> [DType; 3] {
                [$($t::dtype(),)* $(DType::$rest),*]
            }

            type Operands<'a, Backend: Arrays> = ($(Operand<'a, Backend, $t>,)*);

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

/// The scalar expression of an op in CUDA C++, and the properties of the op that matter to loops and kernels.
pub trait EachSource: 'static {
    /// Name of the op.
    const NAME: &'static str;

    /// The expression. It may use the op's parameters and the functions of the CUDA prelude. `T` is the op's dtype.
    const CUDA: &'static str;

    /// The expression for complex dtypes, if it differs from `CUDA`.
    const CUDA_COMPLEX: &'static str = Self::CUDA;

    /// The gradients of the operands, each as an expression in CUDA C++. An expression may use the parameters, and the
    /// operands, the result and its gradient, in this order. The expression of an operand without a gradient is empty.
    /// The list is empty if [`Each::PULLS`] is false.
    const CUDA_PULLS: &'static [&'static str] = &[];

    /// The row of the op in the op table; `None` for an op that has no row.
    const ROW: Option<&'static Row> = None;

    /// Names of the array parameters, in order: `x0`, `x1`.
    const INPUTS: &'static [&'static str];

    /// Index of an array parameter whose dtype is `T`.
    const INPUT_OF_T: usize = 0;

    /// For an op that only moves elements of the dtype `T`: indices of the operands whose elements are copied to the
    /// result. One loop then serves every dtype of the same size. Empty for other ops.
    const MOVED: &'static [usize] = &[];

    /// True if the op converts its only operand to another dtype. An operand that already has the result's dtype is
    /// only copied.
    const CONVERTS: bool = false;

    /// True if the op computes the complex conjugate of its only operand. A real operand is only copied.
    const CONJUGATES: bool = false;

    /// True if the op is the square root of its only operand.
    const IS_SQUARE_ROOT: bool = false;

    /// True if the op is the product of its two operands, or the square of its only operand.
    const IS_PRODUCT: bool = false;

    /// True if the op is the quotient of its two operands.
    const IS_QUOTIENT: bool = false;

    /// Names of the scalar parameters, in order.
    const PARAMS: &'static [&'static str];

    /// True if the op computes sines, cosines or tangents, which need a range reduction (of the argument to a short
    /// interval), for real dtypes. For such ops, loops first inspect a block of arguments (see
    /// [`needs_range_reduction`](crate::scalar::needs_range_reduction)).
    const NEEDS_RANGE_REDUCTION: bool = false;

    /// True if the op needs a range reduction for complex dtypes. For these dtypes, exponentials need one too.
    const NEEDS_RANGE_REDUCTION_COMPLEX: bool = false;

    /// True if the wider vectors of AVX-512 make the op faster, because it needs many operations for each element. The
    /// speed of other ops is limited by memory, or by a function call for each element.
    const GAINS_FROM_AVX512: bool = false;

    /// True if a scalar parameter selects one of two expressions; [`EachSource::chosen`] returns its value. Each
    /// expression has a separate loop, because a common loop would compute both expressions for every element.
    const CHOOSES: bool = false;

    /// True if the op is much cheaper for a first operand that is positive, normal and finite. Blocks of such elements
    /// have a separate loop.
    const IS_CHEAP_ABOVE_0: bool = false;

    /// The bound of the magnitude of the first operand, below which the op is much cheaper. Blocks of elements below
    /// the bound have a separate loop. 0 means that there is no bound. The bound is ignored if the op [is cheap above
    /// 0](EachSource::IS_CHEAP_ABOVE_0).
    const CHEAP_WITHIN: f64 = 0.0;

    /// Returns the value of the scalar parameter that selects the expression, if [`EachSource::CHOOSES`] is true.
    #[inline(always)]
    fn chosen(&self) -> bool {
        false
    }

    /// The dtypes for which [`EachSource::table`] has kernels.
    const TABLED: &'static [crate::DType] = &[];

    /// Returns the CPU backend's kernels for the op. They are compiled once, in the crate that defines the op, and not
    /// in each crate that calls it.
    fn table() -> Option<&'static crate::numpyish::kernel::Table<Self>>
    where
        Self: Sized,
    {
        None
    }

    /// Returns the values of the scalar parameters, in the order of [`EachSource::PARAMS`].
    fn params(&self) -> Vec<f64> {
        Vec::new()
    }
}

/// Returns whether an op whose operand has dtype `of` and whose result has dtype `out` returns the elements of the
/// operand unchanged.
pub const fn is_identity<F: EachSource>(of: DType, out: DType) -> bool {
    of as u8 == out as u8 && (F::CONVERTS || F::CONJUGATES && !matches!(of.kind(), DTypeKind::Complex))
}

/// A float op with separate functions for real and complex dtypes.
pub trait FloatOp<const N: usize> {
    /// Computes one element of a real dtype.
    fn real<T: Real>(&self, x: &[T; N]) -> T;

    /// Computes one element of a complex dtype.
    fn complex<R: Real>(&self, x: &[Complex<R>; N]) -> Complex<R>
    where
        Complex<R>: Float<Real = R>;
}

/// A float op like [`FloatOp`], but with a real result also for complex dtypes.
pub trait FloatToRealOp<const N: usize> {
    /// Computes one element from elements of a real dtype.
    fn real<T: Real>(&self, x: &[T; N]) -> T;

    /// Computes one real element from elements of a complex dtype.
    fn complex<R: Real>(&self, x: &[Complex<R>; N]) -> R
    where
        Complex<R>: Float<Real = R>;
}

/// A reduction that a `fold` row of the op table defines, with its source for GPU kernels. The types that implement it
/// are generated; they hold the parameters of the reduction.
pub trait FoldSource: Copy + Default + Send + Sync + 'static {
    /// Name of the op.
    const NAME: &'static str;

    /// The reduction in CUDA C++.
    const CUDA: FoldKernel;

    /// Returns the CPU backend's loops for every dtype of the op. They are compiled in the crate that defines the op.
    fn loops() -> &'static [crate::numpyish::reduction::FoldLoops];

    /// Returns the values of the scalar parameters, in order.
    fn params(&self) -> Vec<f64>;
}

/// A reduction of elements of the dtype `A`. Each element is mapped to a value, and the values are joined.
pub trait EachFold<A: Element>: FoldSource {
    /// The accumulator's type.
    type Acc: Element;
    /// The result's type.
    type Out: Element;

    /// True if the reduction counts the elements that have some property. Each element is then mapped to 0 or 1, and
    /// the values are added.
    const COUNTS: bool = false;

    /// Returns the value of a reduction of no elements, which is the identity of `join`.
    fn identity() -> Self::Acc;

    /// Returns the value that one element contributes.
    fn map(&self, x: A) -> Self::Acc;

    /// Combines two values. The order in which values are combined may differ from the order of the elements.
    fn join(a: Self::Acc, b: Self::Acc) -> Self::Acc;

    /// Computes the result from `a`, the combined value of `n` elements.
    fn finish(&self, a: Self::Acc, n: f64) -> Self::Out;
}

/// A reduction in CUDA C++, given as expressions. They may use the type `T`, which is the type `E` of the elements. If
/// `map` is `x0`, elements are only joined, and `T` is the accumulator's type.
#[derive(Clone, Copy, Debug)]
pub struct FoldKernel {
    /// The accumulator's type as C++ text. The text may use `E`, which is the dtype of the elements, or float for
    /// 16-bit floats.
    pub acc: &'static str,
    /// The dtype of the accumulator, derived from the op's dtype.
    pub acc_element: crate::ElementInfo,
    /// The value of a reduction of no elements.
    pub identity: &'static str,
    /// The value of an element, as an expression of the element `x0`.
    pub map: &'static str,
    /// The combination of two values, as an expression of the values `x0` and `x1`.
    pub join: &'static str,
    /// The result, as an expression of the combined value `x0`; `None` if the result is `x0` itself.
    pub finish: Option<&'static str>,
    /// The names of the scalar parameters in `map`.
    pub params: &'static [&'static str],
    /// The names in `finish` of the number of elements and of the scalar parameters, in this order.
    pub finish_params: &'static [&'static str],
}
