//! Ops of a formula whose operands have different dtypes, such as a condition and the two values that it selects from.

use super::{
    expression::{Node, Row, Run, Sink, Typed, Valued},
    gradient::{has, is_constant, is_real, numbers_pulled, pulled, same, sum},
    join::{Join, Single},
    leaf::{Layout, Leaves},
    node::{holds, in_complex, numbers_of, operand},
    writer::{Numbers, Writer},
};
use crate::{Arrays, DType, EachOf, Element, Elements, Result};
use std::{borrow::Cow, marker::PhantomData};

/// Marks an operand whose dtype does not depend on the other operands.
#[derive(Clone, Copy, Debug)]
pub struct Own;

/// Marks one of two operands of the same dtype. If one of the two operands is a number without a dtype, it takes the
/// dtype of the other operand.
#[derive(Clone, Copy, Debug)]
pub struct Shared;

/// The operands of one op, as a tuple of subexpressions. `P` is a tuple with a mark for each operand: [`Own`] or
/// [`Shared`].
pub trait Operands<P>: Copy + Send + Sync + 'static {
    /// Dtypes of the operands.
    type DTypes: Elements;

    /// True if an op in one of the operands gains from AVX-512, like [`Typed::GAINS_FROM_AVX512`].
    const GAINS_FROM_AVX512: bool;

    /// Returns an error if one of the operands is a whole number that does not fit the operand's dtype, like
    /// [`Typed::check`]. The error names the op `F`.
    fn check<F: Row>(&self) -> Result<()>;
}

/// Operands whose values are computed from one element of each leaf; `L` is the list of these elements.
pub trait OperandsAt<L, P>: Operands<P> {
    /// True if arguments of an op in one of the operands must be checked for large values before the loop, like
    /// [`Node::NEEDS_RANGE_REDUCTION`].
    const NEEDS_RANGE_REDUCTION: bool;

    /// Computes the values of the operands.
    fn at(&self, leaves: &L) -> Self::DTypes;

    /// Returns whether the argument of an op in one of the operands is so large that the slow loop must run, like
    /// [`Node::needs_range_reduction`].
    fn needs_range_reduction(&self, leaves: &L) -> bool;

    /// True if `pull` computes the gradients of all leaves of real dtypes, like [`Node::PULLS`].
    const PULLS: bool;

    /// Computes the gradients with respect to the leaves, like [`Node::pull`], and adds them to `to`. `leaves` holds
    /// one element of each leaf, and `g` holds the gradient with respect to each operand.
    fn pull(&self, leaves: &L, g: Self::DTypes, to: &mut impl Sink);

    /// Passes the operands to a writer, like [`Node::write`]. Returns the writer's representation (`Subexpression`) of
    /// each operand.
    fn write<W: Writer>(writer: &mut W) -> Vec<W::Subexpression>;

    /// Collects the numbers that [`write`](OperandsAt::write) passes to the writer, like [`Node::numbers`].
    fn numbers(&self, leaves: &L, numbers: &mut Numbers);

    /// Returns whether the array with index `array` gets a gradient through the op `F`.
    fn has<F: Row>(array: usize) -> bool;

    /// Passes the gradient of an op with respect to the array with index `array` to a writer. `parts` are the
    /// representations of the op's operands, of its result, and of the gradient with respect to its result. Returns
    /// `None` if the array has no gradient.
    fn write_pull<F: Row, W: Writer>(
        writer: &mut W,
        of: DType,
        parts: &[W::Subexpression],
        array: usize,
    ) -> Option<W::Subexpression>;

    /// Collects the numbers that [`write_pull`](OperandsAt::write_pull) passes to the writer. The numbers in its
    /// argument `parts` are not included.
    fn numbers_pull<F: Row>(&self, op: &F, leaves: &L, array: usize, numbers: &mut Numbers);
}

/// An op over operands of the dtypes `D`, with a function that calls the backend's method for the op.
pub trait CallOf<B: Arrays, D: Elements>: EachOf<D> {
    /// Calls the backend's method.
    fn call_of(&self, b: &B, x: D::Operands<'_, B>) -> Result<B::Array<Self::Out>>;
}

/// Operands whose values can also be computed by calling the backend for one op after another.
pub trait RunOperands<'a, B: Arrays, L: Leaves<'a, B>, P>: OperandsAt<<L::Layout as Layout>::Elements, P> {
    /// Computes the operands, and calls the backend's method for the op `F`.
    fn run<F: CallOf<B, Self::DTypes>>(&self, op: &F, b: &B, leaves: &L) -> Result<B::Array<F::Out>>;
}

/// A node: the op `F` over the operands `X`, which have the dtypes `D`. The result has type `V`. The result counts as
/// an array, even if all operands are scalars.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::type_complexity)] // the type carries all information
pub struct OpOf<F, X, P, D, V>(pub(super) F, pub(super) X, PhantomData<fn() -> (P, D, V)>);

/// Makes the node of an op over a tuple of operands.
#[inline(always)]
#[allow(clippy::type_complexity)]
pub fn op_of<F, P, X>(op: F, _: P, x: X) -> OpOf<F, X, P, X::DTypes, F::Out>
where
    X: Operands<P>,
    F: EachOf<X::DTypes> + Row,
{
    OpOf(op, x, PhantomData)
}

impl<F: Row, X, P, D, V> Typed for OpOf<F, X, P, D, V>
where
    X: Operands<P, DTypes = D>,
    P: Copy + 'static,
    D: Elements + 'static,
    V: Element,
{
    type Out = V;
    const GAINS_FROM_AVX512: bool = X::GAINS_FROM_AVX512 || F::GAINS_FROM_AVX512;

    #[inline(always)]
    fn check(&self) -> Result<()> {
        self.1.check::<F>()
    }
}

impl<L, F, X, P, D, V> Node<L> for OpOf<F, X, P, D, V>
where
    X: OperandsAt<L, P, DTypes = D>,
    F: EachOf<D, Out = V> + Row,
    P: Copy + 'static,
    D: Elements + 'static,
    V: Element,
{
    const NEEDS_RANGE_REDUCTION: bool = X::NEEDS_RANGE_REDUCTION;

    #[inline(always)]
    fn at(&self, leaves: &L) -> V {
        self.0.apply(self.1.at(leaves))
    }

    #[inline(always)]
    fn needs_range_reduction(&self, leaves: &L) -> bool {
        self.1.needs_range_reduction(leaves)
    }

    const PULLS: bool = is_constant::<V>() || (F::PULLS && is_real::<V>() && X::PULLS);

    #[inline(always)]
    fn pull(&self, leaves: &L, g: V, to: &mut impl Sink) {
        let x = self.1.at(leaves);
        if let Some(g) = self.0.pull(x, self.0.apply(x), g) {
            self.1.pull(leaves, g, to);
        }
    }

    fn write<W: Writer>(writer: &mut W) -> Option<W::Subexpression> {
        let operands = X::write(writer);
        Some(writer.call::<F>(D::dtypes()[F::INPUT_OF_T], V::dtype(), &operands))
    }

    fn numbers(&self, leaves: &L, numbers: &mut Numbers) {
        self.1.numbers(leaves, numbers);
        numbers.params(&self.0);
    }

    fn has(array: usize) -> bool {
        !is_constant::<V>() && X::has::<F>(array)
    }

    fn write_pull<W: Writer>(writer: &mut W, g: W::Subexpression, array: usize) -> Option<W::Subexpression> {
        let of = D::dtypes()[F::INPUT_OF_T];
        let mut parts = X::write(writer);
        parts.push(writer.call::<F>(of, V::dtype(), &parts));
        parts.push(g);
        X::write_pull::<F, W>(writer, of, &parts, array)
    }

    fn numbers_pull(&self, leaves: &L, array: usize, numbers: &mut Numbers) {
        self.numbers(leaves, numbers);
        self.1.numbers_pull(&self.0, leaves, array, numbers);
    }
}

impl<'a, B, L, F, X, P, D, V> Run<'a, B, L> for OpOf<F, X, P, D, V>
where
    B: Arrays,
    L: Leaves<'a, B>,
    X: RunOperands<'a, B, L, P> + Operands<P, DTypes = D>,
    F: CallOf<B, D> + EachOf<D, Out = V> + Row,
    P: Copy + 'static,
    D: Elements + 'static,
    V: Element,
{
    fn run(&self, b: &B, leaves: &L) -> Result<<V as Valued>::Val<'a, B>> {
        self.1.run(&self.0, b, leaves).map(Cow::Owned)
    }
}

/// Implements the traits for tuples of operands that are all marked [`Own`].
macro_rules! own {
    ($($at:tt $x:ident $own:ident),*) => {
        impl<$($x: Typed<Out: Single>),*> Operands<($($own,)*)> for ($($x,)*) {
            type DTypes = ($(<$x::Out as Single>::DType,)*);
            const GAINS_FROM_AVX512: bool = $($x::GAINS_FROM_AVX512)||*;

            #[inline(always)]
            fn check<F: Row>(&self) -> Result<()> {
                $(self.$at.check()?;)*
                Ok(())
            }
        }

        impl<L, $($x: Node<L, Out: Single>),*> OperandsAt<L, ($($own,)*)> for ($($x,)*) {
            const NEEDS_RANGE_REDUCTION: bool = $($x::NEEDS_RANGE_REDUCTION)||*;

            #[inline(always)]
            fn at(&self, leaves: &L) -> Self::DTypes {
                ($(self.$at.at(leaves).value(),)*)
            }

            #[inline(always)]
            fn needs_range_reduction(&self, leaves: &L) -> bool {
                $(self.$at.needs_range_reduction(leaves))|*
            }

            const PULLS: bool = $($x::PULLS)&&*;

            #[inline(always)]
            fn pull(&self, leaves: &L, g: Self::DTypes, to: &mut impl Sink) {
                $(if let Some(g) = same::<_, $x::Out>(g.$at) {
                    self.$at.pull(leaves, g, to);
                })*
            }

            fn write<W: Writer>(writer: &mut W) -> Vec<W::Subexpression> {
                vec![$(operand::<L, $x, <$x::Out as Single>::DType, W>(writer)),*]
            }

            fn numbers(&self, leaves: &L, numbers: &mut Numbers) {
                $(numbers_of(&self.$at, leaves, numbers, Single::value);)*
            }

            fn has<F: Row>(array: usize) -> bool {
                $(has::<F, L, $x>($at, array))||*
            }

            fn write_pull<F: Row, W: Writer>(
                writer: &mut W,
                of: DType,
                parts: &[W::Subexpression],
                array: usize,
            ) -> Option<W::Subexpression> {
                let mut all = None;
                $(
                    let part = pulled::<F, L, $x, W>(writer, $at, of, parts, array);
                    all = sum(writer, all, part);
                )*
                all
            }

            fn numbers_pull<F: Row>(&self, op: &F, leaves: &L, array: usize, numbers: &mut Numbers) {
                $(numbers_pulled(op, $at, &self.$at, leaves, array, numbers);)*
            }
        }

        impl<'a, B: Arrays, L: Leaves<'a, B>, $($x: Run<'a, B, L> + Typed<Out: Single>),*>
            RunOperands<'a, B, L, ($($own,)*)> for ($($x,)*)
        {
            fn run<F: CallOf<B, Self::DTypes>>(&self, op: &F, b: &B, leaves: &L) -> Result<B::Array<F::Out>> {
                let values = ($(self.$at.run(b, leaves)?,)*);
                op.call_of(b, ($(<$x::Out as Single>::operand::<B>(values.$at),)*))
            }
        }
    };
}
own!(0 X Own);
own!(0 X Own, 1 Y Own);
own!(0 X Own, 1 Y Own, 2 Z Own);

/// Implements the traits for three operands, two of which are marked [`Shared`]. The arguments are index and name of
/// each of these two operands; then index and name of the third operand; and then, for each operand, its mark, index,
/// name and kind.
macro_rules! shared {
    ($i:tt $x:ident, $j:tt $y:ident; $k:tt $z:ident; $($mark:ident $at:tt $name:ident $as:ident),*) => {
        impl<X: Typed, Y: Typed, Z: Typed> Operands<($($mark,)*)> for (X, Y, Z)
        where
            $x::Out: Join<$y::Out>,
            $z::Out: Single,
        {
            type DTypes = ($(shared!(@ $mark $x $y $z),)*);
            const GAINS_FROM_AVX512: bool = X::GAINS_FROM_AVX512 || Y::GAINS_FROM_AVX512 || Z::GAINS_FROM_AVX512;

            #[inline(always)]
            fn check<F: Row>(&self) -> Result<()> {
                holds::<F, <$x::Out as Join<$y::Out>>::DType>(self.$i.whole())?;
                holds::<F, <$x::Out as Join<$y::Out>>::DType>(self.$j.whole())?;
                self.0.check()?;
                self.1.check()?;
                self.2.check()
            }
        }

        impl<L, X: Node<L>, Y: Node<L>, Z: Node<L>> OperandsAt<L, ($($mark,)*)> for (X, Y, Z)
        where
            $x::Out: Join<$y::Out>,
            $z::Out: Single,
        {
            const NEEDS_RANGE_REDUCTION: bool =
                X::NEEDS_RANGE_REDUCTION || Y::NEEDS_RANGE_REDUCTION || Z::NEEDS_RANGE_REDUCTION;

            #[inline(always)]
            fn at(&self, leaves: &L) -> Self::DTypes {
                let first = self.$i.at(leaves).left();
                let second = <$x::Out as Join<$y::Out>>::right(self.$j.at(leaves));
                let other = self.$k.at(leaves).value();
                shared!(@in first second other; $($mark),*)
            }

            #[inline(always)]
            fn needs_range_reduction(&self, leaves: &L) -> bool {
                self.0.needs_range_reduction(leaves) | self.1.needs_range_reduction(leaves) | self.2.needs_range_reduction(leaves)
            }

            const PULLS: bool = X::PULLS && Y::PULLS && Z::PULLS;

            #[inline(always)]
            fn pull(&self, leaves: &L, g: Self::DTypes, to: &mut impl Sink) {
                if let Some(g) = same::<_, X::Out>(g.0) {
                    self.0.pull(leaves, g, to);
                }
                if let Some(g) = same::<_, Y::Out>(g.1) {
                    self.1.pull(leaves, g, to);
                }
                if let Some(g) = same::<_, Z::Out>(g.2) {
                    self.2.pull(leaves, g, to);
                }
            }

            fn write<W: Writer>(writer: &mut W) -> Vec<W::Subexpression> {
                let mut all = vec![$(operand::<L, $name, shared!(@ $mark $x $y $z), W>(writer)),*];
                let is_real = <$x::Out as Join<$y::Out>>::IS_REAL;
                let shared = [all[$i].clone(), all[$j].clone()];
                let [first, second] = in_complex::<<$x::Out as Join<$y::Out>>::DType, W>(writer, shared, is_real);
                (all[$i], all[$j]) = (first, second);
                all
            }

            fn numbers(&self, leaves: &L, numbers: &mut Numbers) {
                $(numbers_of(&self.$at, leaves, numbers, shared!(@as $as $x $y $z));)*
            }

            fn has<F: Row>(array: usize) -> bool {
                $(has::<F, L, $name>($at, array))||*
            }

            fn write_pull<F: Row, W: Writer>(
                writer: &mut W,
                of: DType,
                parts: &[W::Subexpression],
                array: usize,
            ) -> Option<W::Subexpression> {
                let mut all = None;
                $(
                    let part = pulled::<F, L, $name, W>(writer, $at, of, parts, array);
                    all = sum(writer, all, part);
                )*
                all
            }

            fn numbers_pull<F: Row>(&self, op: &F, leaves: &L, array: usize, numbers: &mut Numbers) {
                $(numbers_pulled(op, $at, &self.$at, leaves, array, numbers);)*
            }
        }

        impl<'a, B: Arrays, L: Leaves<'a, B>, X: Run<'a, B, L>, Y: Run<'a, B, L>, Z: Run<'a, B, L>>
            RunOperands<'a, B, L, ($($mark,)*)> for (X, Y, Z)
        where
            $x::Out: Join<$y::Out>,
            $z::Out: Single,
        {
            fn run<F: CallOf<B, Self::DTypes>>(&self, op: &F, b: &B, leaves: &L) -> Result<B::Array<F::Out>> {
                let values = (self.0.run(b, leaves)?, self.1.run(b, leaves)?, self.2.run(b, leaves)?);
                let [first, second] = <$x::Out as Join<$y::Out>>::operands::<B>(b, values.$i, values.$j)?;
                let other = <$z::Out as Single>::operand::<B>(values.$k);
                op.call_of(b, shared!(@in first second other; $($mark),*))
            }
        }
    };
    (@ Shared $x:ident $y:ident $z:ident) => { <$x::Out as Join<$y::Out>>::DType };
    (@ Own $x:ident $y:ident $z:ident) => { <$z::Out as Single>::DType };
    (@as left $x:ident $y:ident $z:ident) => { <$x::Out as Join<$y::Out>>::left };
    (@as right $x:ident $y:ident $z:ident) => { <$x::Out as Join<$y::Out>>::right };
    (@as value $x:ident $y:ident $z:ident) => { <$z::Out as Single>::value };
    (@in $x:ident $y:ident $z:ident; Own, Shared, Shared) => { ($z, $x, $y) };
    (@in $x:ident $y:ident $z:ident; Shared, Own, Shared) => { ($x, $z, $y) };
    (@in $x:ident $y:ident $z:ident; Shared, Shared, Own) => { ($x, $y, $z) };
}
shared!(1 Y, 2 Z; 0 X; Own 0 X value, Shared 1 Y left, Shared 2 Z right);
shared!(0 X, 2 Z; 1 Y; Shared 0 X left, Own 1 Y value, Shared 2 Z right);
shared!(0 X, 1 Y; 2 Z; Shared 0 X left, Shared 1 Y right, Own 2 Z value);
