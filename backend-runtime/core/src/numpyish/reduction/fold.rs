//! Folds: operations that combine many elements into one value, such as a sum. A reduction folds the elements of each
//! output (an element of its result).

use crate::{DTypeKind, Element, Float, Numeric, Ordered};
use std::hint::select_unpredictable;

/// An operation that combines many elements into one value.
pub trait Fold<A: Element> {
    /// Dtype of the accumulator.
    type Acc: Element;
    /// An additional operand for each output. For a variance, it is the mean.
    type Operand: Copy + Default + Send + Sync;

    /// True if all outputs share one value of `Operand`.
    const OPERAND_IS_SHARED: bool = false;

    /// True if the order of the elements does not change the result. This holds for integers, which wrap around and
    /// have no signed zeros.
    const IS_EXACT: bool = is_integral::<A>() && is_integral::<Self::Acc>();

    /// True if [`Fold::step`] selects one of two values. The compiler turns such a selection into a branch, except in
    /// vector instructions.
    const CHOOSES: bool = false;

    /// True if [`Fold::step`] tests whether an element is ordered, that is, not NaN.
    const ASKS_FOR_ORDER: bool = false;

    /// True if the accumulator is a count, which starts at 0 and grows by [`Fold::count`] with each element. A count of
    /// few elements fits a byte.
    const COUNTS: bool = false;

    /// Increment of the count by one element, 0 or 1, if the fold [counts](Fold::COUNTS).
    #[inline(always)]
    fn count(_: A, _: Self::Operand) -> u8 {
        unreachable!("the fold does not count")
    }

    /// The initial accumulator; `first` is any one of the elements.
    fn start(first: A) -> Self::Acc;

    /// The accumulator after one more element.
    fn step(acc: Self::Acc, x: A, given: Self::Operand) -> Self::Acc;

    /// Like [`Fold::step`], but `x` must be ordered (not NaN). If `acc` is NaN, it is returned unchanged.
    #[inline(always)]
    fn step_in_order(acc: Self::Acc, x: A, given: Self::Operand) -> Self::Acc {
        Self::step(acc, x, given)
    }

    /// Returns whether an element is ordered, that is, not NaN.
    #[inline(always)]
    fn is_ordered(_: A) -> bool {
        true
    }

    /// Merges two accumulators.
    fn merge(a: Self::Acc, b: Self::Acc) -> Self::Acc;
}

/// Returns whether a dtype is bool or an integer.
const fn is_integral<A: Element>() -> bool {
    matches!(A::DTYPE.kind(), DTypeKind::Bool | DTypeKind::Signed | DTypeKind::Unsigned)
}

/// The sum.
pub struct Sum;

impl<A: Numeric> Fold<A> for Sum {
    type Acc = A;
    type Operand = ();

    #[inline(always)]
    fn start(_: A) -> A {
        // the sum starts at -0.0, so that a sum of negative zeros keeps the sign
        A::ZERO.negate()
    }

    #[inline(always)]
    fn step(acc: A, x: A, _: ()) -> A {
        acc.plus(x)
    }

    #[inline(always)]
    fn merge(a: A, b: A) -> A {
        a.plus(b)
    }
}

/// The number of bytes that are 1; all other bytes must be 0.
pub struct Ones;

impl Fold<u8> for Ones {
    type Acc = i64;
    type Operand = ();

    const COUNTS: bool = true;

    #[inline(always)]
    fn count(x: u8, _: ()) -> u8 {
        x
    }

    #[inline(always)]
    fn start(_: u8) -> i64 {
        0
    }

    #[inline(always)]
    fn step(acc: i64, x: u8, _: ()) -> i64 {
        acc + i64::from(x)
    }

    #[inline(always)]
    fn merge(a: i64, b: i64) -> i64 {
        a + b
    }
}

/// The largest element, or NaN if any element is NaN.
pub struct Max;

/// The smallest element, or NaN if any element is NaN.
pub struct Min;

macro_rules! extreme {
    ($($name:ident $beats:tt)*) => {$(
        impl<A: Ordered> Fold<A> for $name {
            type Acc = A;
            type Operand = ();

            const CHOOSES: bool = true;
            const ASKS_FOR_ORDER: bool = !is_integral::<A>();

            #[inline(always)]
            fn start(first: A) -> A {
                first
            }

            #[inline(always)]
            fn step(acc: A, x: A, _: ()) -> A {
                // The values are selected explicitly, because a branch would become a masked store, which is slow. The
                // inner select compiles to one instruction. Only this instruction and the outer select depend on the
                // previous accumulator.
                select_unpredictable(is_nan(x), x, select_unpredictable(x $beats acc, x, acc))
            }

            #[inline(always)]
            fn step_in_order(acc: A, x: A, _: ()) -> A {
                select_unpredictable(x $beats acc, x, acc)
            }

            #[inline(always)]
            fn is_ordered(x: A) -> bool {
                !is_nan(x)
            }

            #[inline(always)]
            fn merge(a: A, b: A) -> A {
                Self::step(a, b, ())
            }
        }
    )*};
}
extreme!(Max > Min <);

/// Returns whether `x` is NaN, which is not ordered relative to itself.
#[inline(always)]
pub fn is_nan<A: Ordered>(x: A) -> bool {
    x.partial_cmp(&x).is_none()
}

/// The sum of squared deviations from a known mean.
pub struct SquaredDeviations;

impl<A: Float> Fold<A> for SquaredDeviations {
    type Acc = A::Real;
    type Operand = A;

    #[inline(always)]
    fn start(_: A) -> A::Real {
        A::Real::ZERO
    }

    #[inline(always)]
    fn step(acc: A::Real, x: A, mean: A) -> A::Real {
        let d = x.minus(mean);
        acc + (d.real() * d.real() + d.imag() * d.imag())
    }

    #[inline(always)]
    fn merge(a: A::Real, b: A::Real) -> A::Real {
        a + b
    }
}
