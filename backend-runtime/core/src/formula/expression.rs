//! The traits of a formula's subexpressions ([`Typed`], [`Node`], [`Run`]), of their values ([`Valued`]) and of ops
//! ([`Row`], [`Call`]). They are in one file because they refer to each other.

use super::{
    leaf::{Layout, Leaves},
    values::{ComplexLiteral, Literal, Scalar, Whole},
    writer::{Numbers, Writer},
};
use crate::{Arrays, Each, EachSource, Element, Highest, Lowest, Operand, Result};
use std::borrow::Cow;

/// A subexpression of a formula, as a type. It has the ops and the numbers of the formula, but not the leaves.
pub trait Typed: Copy + Send + Sync + 'static {
    /// Type of the value of one element: an element of an array, a scalar, or a number written in the formula.
    type Out: Copy + Valued;

    /// True if the subexpression is a leaf, and not an op.
    const IS_LEAF: bool = false;

    /// True if an op in the subexpression gains from the wide vectors of AVX-512 (see `EachSource::GAINS_FROM_AVX512`).
    const GAINS_FROM_AVX512: bool = false;

    /// Returns the source text of the formula; `None` if no text was recorded.
    fn text(&self) -> Option<&'static str> {
        None
    }

    /// Returns the source text of the formula and of the reduction around it; `None` if no such text was recorded.
    fn text_reduced(&self) -> Option<&'static str> {
        None
    }

    /// Returns the number if the subexpression is a whole number written in the formula, and otherwise `None`.
    #[inline(always)]
    fn whole(&self) -> Option<i64> {
        None
    }

    /// Returns an error if a whole number in the formula does not fit the dtype of its op. For example, 300 does not
    /// fit uint8.
    ///
    /// # Errors
    /// An [`Argument`](crate::Error::Argument) error that names the op and the number.
    #[inline(always)]
    fn check(&self) -> Result<()> {
        Ok(())
    }
}

/// A subexpression whose value is computed from one element of each leaf; `L` is the list of these elements.
pub trait Node<L>: Typed {
    /// True if the subexpression has an op, such as the sine, whose arguments must be checked for large values first.
    const NEEDS_RANGE_REDUCTION: bool = false;

    /// Computes the value of one element.
    fn at(&self, leaves: &L) -> Self::Out;

    /// Returns whether the argument of an op such as the sine is so large that the slow loop must run (see
    /// `scalar::needs_range_reduction`).
    #[inline(always)]
    fn needs_range_reduction(&self, _: &L) -> bool {
        false
    }

    /// True if `pull` computes the gradients with respect to all leaves of real dtypes; false if an op has no gradient.
    const PULLS: bool = false;

    /// Computes the gradients with respect to the leaves, for one element of the result, and adds them to `_to`.
    /// `_leaves` holds one element of each leaf, and `_g` is the gradient with respect to the value. Only leaves of
    /// real dtypes have gradients; other leaves count as constants.
    #[inline(always)]
    fn pull(&self, _leaves: &L, _g: Self::Out, _to: &mut impl Sink) {}

    /// Passes the subexpression to a writer. Returns `None` for a number without a dtype: the enclosing op passes it.
    fn write<W: Writer>(_: &mut W) -> Option<W::Subexpression> {
        None
    }

    /// Collects the numbers that `write` passes to the writer. `_leaves` holds the values of the scalar leaves.
    fn numbers(&self, _leaves: &L, _numbers: &mut Numbers) {}

    /// Returns whether `write_pull` can write the gradient with respect to the array with index `_array`.
    fn has(_array: usize) -> bool {
        false
    }

    /// Passes the gradient that `pull` computes for the array with index `_array` to a writer. `_g` is the writer's
    /// representation of the gradient with respect to the value. Returns `None` if the array has no gradient.
    fn write_pull<W: Writer>(_: &mut W, _g: W::Subexpression, _array: usize) -> Option<W::Subexpression> {
        None
    }

    /// Collects the numbers that `write_pull` passes to the writer.
    fn numbers_pull(&self, _leaves: &L, _array: usize, _numbers: &mut Numbers) {}
}

/// Receives the gradients with respect to the arrays of a formula, for one element.
pub trait Sink {
    /// Adds `g` to the gradient of the array with index `array`.
    fn add<V: Copy + 'static>(&mut self, array: usize, g: V);
}

/// The value of a subexpression for one element. The associated types and methods describe the whole value, an array or
/// a number, which exists if the formula runs op by op.
pub trait Valued {
    /// Type of the whole value.
    type Val<'a, B: Arrays>;

    /// True if the whole value is an array, and not a number.
    const IS_ARRAY: bool;

    /// Computes the whole value of a subexpression. `leaves` are the leaves of the subexpression alone. A subexpression
    /// whose value is an array runs in one pass, if possible.
    fn part<'a, B: Arrays, L: Leaves<'a, B>, E: Run<'a, B, L> + Typed<Out = Self>>(
        e: &E,
        b: &B,
        leaves: &L,
    ) -> Result<Self::Val<'a, B>>
    where
        Self: Copy,
    {
        e.run(b, leaves)
    }
}

impl<T: Element> Valued for T {
    type Val<'a, B: Arrays> = Cow<'a, B::Array<T>>;
    const IS_ARRAY: bool = true;

    fn part<'a, B: Arrays, L: Leaves<'a, B>, E: Run<'a, B, L> + Typed<Out = T>>(
        e: &E,
        b: &B,
        leaves: &L,
    ) -> Result<Cow<'a, B::Array<T>>> {
        if const { E::IS_LEAF } { e.run(b, leaves) } else { b.formula(e, leaves).map(Cow::Owned) }
    }
}

impl<T: Element> Valued for Scalar<T> {
    type Val<'a, B: Arrays> = Scalar<T>;
    const IS_ARRAY: bool = false;
}

impl Valued for Literal {
    type Val<'a, B: Arrays> = Literal;
    const IS_ARRAY: bool = false;
}

impl Valued for ComplexLiteral {
    type Val<'a, B: Arrays> = ComplexLiteral;
    const IS_ARRAY: bool = false;
}

impl Valued for Lowest {
    type Val<'a, B: Arrays> = Lowest;
    const IS_ARRAY: bool = false;
}

impl Valued for Highest {
    type Val<'a, B: Arrays> = Highest;
    const IS_ARRAY: bool = false;
}

impl Valued for Whole {
    type Val<'a, B: Arrays> = Whole;
    const IS_ARRAY: bool = false;
}

/// A subexpression of a formula that can be computed by calling the backend for one op after another.
#[diagnostic::on_unimplemented(
    message = "this formula does not run on the backend",
    note = "its ops are rows of a table: the backend needs the trait of the table"
)]
pub trait Run<'a, B: Arrays, L: Leaves<'a, B>>: Node<<L::Layout as Layout>::Elements> {
    /// Computes the value: a whole array or a number.
    fn run(&self, b: &B, leaves: &L) -> Result<<Self::Out as Valued>::Val<'a, B>>;
}

/// An op that can be a node of a formula, because it is defined by a scalar expression.
pub trait Row: EachSource + Copy + Send + Sync + 'static {}

impl<F: EachSource + Copy + Send + Sync + 'static> Row for F {}

/// An op over operands of the dtype `T`, with a function that calls the backend's method for the op.
pub trait Call<const N: usize, B: Arrays, T: Element>: Each<N, T> {
    /// Calls the backend's method.
    fn call(&self, b: &B, x: [Operand<'_, B, T>; N]) -> Result<B::Array<Self::Out>>;
}
