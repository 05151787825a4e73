//! The traits of a formula's subexpressions, of their values, and of the ops in them. These traits refer to each other:
//! a subexpression has a type of values, and a value is computed by running a subexpression.

use super::{
    leaf::{Layout, Leaves},
    values::{Literal, Scalar, Whole},
    writer::{Numbers, Writer},
};
use crate::{Arrays, Each, EachSource, Element, Highest, Lowest, Operand, Result};
use std::borrow::Cow;

/// A subexpression of a formula, as a type. It does not contain the leaves from which its value is computed.
pub trait Typed: Copy + Send + Sync + 'static {
    /// Type of the value of one element: an element of an array, a scalar, or a number written in the formula.
    type Out: Copy + Valued;

    /// Whether the subexpression is a leaf, not an op.
    const IS_LEAF: bool = false;

    /// Whether an op in the subexpression gains from the widest vectors (see `EachSource::GAINS_FROM_AVX512`).
    const GAINS_FROM_AVX512: bool = false;

    /// The text of the formula, as the user wrote it, if known.
    fn text(&self) -> Option<&'static str> {
        None
    }

    /// The text of the formula and of the reduction around it, as the user wrote them, if known.
    fn text_reduced(&self) -> Option<&'static str> {
        None
    }

    /// The number, if the subexpression is a whole number written in the formula.
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
    /// Whether the subexpression contains an op, such as the sine, whose arguments must be inspected before the loop.
    const NEEDS_RANGE_REDUCTION: bool = false;

    /// Computes the value of one element.
    fn at(&self, leaves: &L) -> Self::Out;

    /// Returns whether the argument of an op such as the sine is so large that the slow loop must run (see
    /// `scalar::needs_range_reduction`).
    #[inline(always)]
    fn needs_range_reduction(&self, _: &L) -> bool {
        false
    }

    /// Whether `pull` computes the gradients with respect to all leaves.
    const PULLS: bool = false;

    /// Computes the gradients with respect to one element of each leaf, from `_g`, the gradient with respect to the
    /// value. Only leaves of real dtypes have gradients; other leaves count as constants.
    #[inline(always)]
    fn pull(&self, _leaves: &L, _g: Self::Out, _to: &mut impl Sink) {}

    /// Writes the text of the value. Returns `None` for a number without a dtype, which the enclosing op writes.
    fn write<W: Writer>(_: &mut W) -> Option<W::Part> {
        None
    }

    /// Collects the numbers that the text refers to. `_leaves` holds the values of the scalar leaves.
    fn numbers(&self, _leaves: &L, _numbers: &mut Numbers) {}

    /// Returns whether the gradient with respect to the array with index `_array` can be written as text.
    fn has(_array: usize) -> bool {
        false
    }

    /// Writes, as text, the gradient that `pull` computes for an array. `_g` is the text of the gradient with respect
    /// to the value. Returns `None` if the array has no gradient.
    fn write_pull<W: Writer>(_: &mut W, _g: W::Part, _array: usize) -> Option<W::Part> {
        None
    }

    /// Collects the numbers that the text written by `write_pull` refers to.
    fn numbers_pull(&self, _leaves: &L, _array: usize, _numbers: &mut Numbers) {}
}

/// Receives the gradients with respect to the arrays of a formula, for one element.
pub trait Sink {
    /// Adds `g` to the gradient of the array with index `array`.
    fn add<V: Copy + 'static>(&mut self, array: usize, g: V);
}

/// The value of a subexpression if a formula runs op by op. The value is then a whole array or a number, and not one
/// element.
pub trait Valued {
    /// Type of the whole value.
    type Val<'a, B: Arrays>;

    /// Whether the whole value is an array, and not a number.
    const IS_ARRAY: bool;

    /// Computes a subexpression of a formula that runs op by op. `leaves` are the leaves of the subexpression alone. If
    /// its value is an array, the subexpression itself runs in one pass, if possible.
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
    /// Computes the whole value.
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
