//! Formulas that are made with Rust operators, without a macro. Each operand brings its own leaves. The leaves of an op
//! are the leaves of its left operand, followed by the leaves of its right operand. Each operand reads its own list, so
//! its code does not depend on the number of leaves in the other operand.

use super::{
    expression::{Node, Run, Sink, Typed, Valued},
    leaf::{Layout, Leaves, Loaded, OfArray, Value, Visitor},
    values::Scalar,
    writer::{Numbers, Writer},
};
use crate::{ArrayAttributes, Arrays, DType, EachSource, Element, Result};
use std::{borrow::Cow, marker::PhantomData};

/// A leaf that borrows an array. The backend on which the formula will run may be chosen later.
#[derive(Debug)]
pub struct Lent<'a, A>(pub &'a A);

impl<A> Clone for Lent<'_, A> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A> Copy for Lent<'_, A> {}

impl<'a, A: ArrayAttributes + Sync, B: Arrays<Array<A::DType> = A>> Leaves<'a, B> for Lent<'a, A> {
    type Layout = OfArray<A::DType>;

    #[inline(always)]
    fn visit(&self, visitor: &mut impl Visitor<'a, B>) {
        visitor.array::<A::DType>(self.0);
    }

    #[inline(always)]
    fn scalars(&self) {}
}

/// The node of the only leaf of a formula, an array or a scalar. `V` is the type of the leaf's elements.
#[derive(Debug)]
pub struct OnlyLeaf<V>(PhantomData<fn() -> V>);

impl<V> OnlyLeaf<V> {
    /// Makes the node of the only leaf.
    #[inline(always)]
    pub const fn new() -> OnlyLeaf<V> {
        OnlyLeaf(PhantomData)
    }
}

impl<V> Clone for OnlyLeaf<V> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<V> Copy for OnlyLeaf<V> {}

impl<V> Default for OnlyLeaf<V> {
    fn default() -> Self {
        OnlyLeaf::new()
    }
}

impl<V: Copy + Valued + 'static> Typed for OnlyLeaf<V> {
    type Out = V;
    const IS_LEAF: bool = true;
}

impl<V: Copy + Valued + 'static> Node<V> for OnlyLeaf<V> {
    const PULLS: bool = true;

    #[inline(always)]
    fn pull(&self, _: &V, g: V, to: &mut impl Sink) {
        if V::IS_ARRAY {
            to.add(0, g);
        }
    }

    #[inline(always)]
    fn at(&self, leaves: &V) -> V {
        *leaves
    }

    fn write<W: Writer>(writer: &mut W) -> Option<W::Subexpression> {
        V::IS_ARRAY.then(|| writer.element(0))
    }

    fn has(array: usize) -> bool {
        V::IS_ARRAY && array == 0
    }

    fn write_pull<W: Writer>(_: &mut W, g: W::Subexpression, array: usize) -> Option<W::Subexpression> {
        (V::IS_ARRAY && array == 0).then_some(g)
    }
}

/// A list that consists of one leaf. The leaf can be taken as a whole array or a number.
pub trait Alone<'a, B: Arrays>: Leaves<'a, B, Layout: Layout<Elements = Self::Element>> {
    /// Type of the leaf's element.
    type Element: Copy + Valued + 'static;

    /// Returns the leaf: a whole array or a number.
    fn whole(&self) -> <Self::Element as Valued>::Val<'a, B>;
}

impl<'a, A: ArrayAttributes + Clone + Sync, B: Arrays<Array<A::DType> = A>> Alone<'a, B> for Lent<'a, A> {
    type Element = A::DType;

    fn whole(&self) -> Cow<'a, A> {
        Cow::Borrowed(self.0)
    }
}

impl<'a, B: Arrays, T: Element> Alone<'a, B> for Value<T> {
    type Element = Scalar<T>;

    fn whole(&self) -> Scalar<T> {
        Scalar(self.0)
    }
}

impl<'a, B: Arrays, L: Alone<'a, B, Element = V>, V: Copy + Valued + 'static> Run<'a, B, L> for OnlyLeaf<V> {
    fn run(&self, _: &B, leaves: &L) -> Result<V::Val<'a, B>> {
        Ok(leaves.whole())
    }
}

/// The left operand of an op. The leaves of an op are a pair of lists, and this operand uses the first list.
#[derive(Clone, Copy, Debug)]
pub struct Left<X>(pub X);

/// The right operand of an op. The leaves of an op are a pair of lists, and this operand uses the second list.
#[derive(Clone, Copy, Debug)]
pub struct Right<X>(pub X);

/// Implements the traits of a node for [`Left`] or [`Right`]. `$at` is the index of the operand's list in the pair of
/// lists, and `$before` is the number of arrays in the lists before it.
macro_rules! side {
    ($side:ident, $leaves:ident, $at:tt, $before:expr) => {
        impl<X: Typed> Typed for $side<X> {
            type Out = X::Out;
            const IS_LEAF: bool = X::IS_LEAF;
            const GAINS_FROM_AVX512: bool = X::GAINS_FROM_AVX512;

            #[inline(always)]
            fn whole(&self) -> Option<i64> {
                self.0.whole()
            }

            #[inline(always)]
            fn check(&self) -> Result<()> {
                self.0.check()
            }
        }

        impl<P: Loaded, Q, X: Node<$leaves>> Node<(P, Q)> for $side<X> {
            const NEEDS_RANGE_REDUCTION: bool = X::NEEDS_RANGE_REDUCTION;

            #[inline(always)]
            fn at(&self, leaves: &(P, Q)) -> X::Out {
                self.0.at(&leaves.$at)
            }

            #[inline(always)]
            fn needs_range_reduction(&self, leaves: &(P, Q)) -> bool {
                self.0.needs_range_reduction(&leaves.$at)
            }

            const PULLS: bool = X::PULLS;

            #[inline(always)]
            fn pull(&self, leaves: &(P, Q), g: X::Out, to: &mut impl Sink) {
                self.0.pull(&leaves.$at, g, &mut SinkAfter { to, before: $before });
            }

            fn write<W: Writer>(writer: &mut W) -> Option<W::Subexpression> {
                X::write(&mut After { writer, before: $before })
            }

            fn numbers(&self, leaves: &(P, Q), numbers: &mut Numbers) {
                self.0.numbers(&leaves.$at, numbers);
            }

            fn has(array: usize) -> bool {
                array.checked_sub($before).is_some_and(X::has)
            }

            fn write_pull<W: Writer>(writer: &mut W, g: W::Subexpression, array: usize) -> Option<W::Subexpression> {
                X::write_pull(&mut After { writer, before: $before }, g, array.checked_sub($before)?)
            }

            fn numbers_pull(&self, leaves: &(P, Q), array: usize, numbers: &mut Numbers) {
                if let Some(array) = array.checked_sub($before) {
                    self.0.numbers_pull(&leaves.$at, array, numbers);
                }
            }
        }

        impl<'a, B: Arrays, P: Leaves<'a, B>, Q: Leaves<'a, B>, X: Run<'a, B, $leaves>> Run<'a, B, (P, Q)>
            for $side<X>
        {
            fn run(&self, b: &B, leaves: &(P, Q)) -> Result<<X::Out as Valued>::Val<'a, B>> {
                X::Out::part(&self.0, b, &leaves.$at)
            }
        }
    };
}
side!(Left, P, 0, 0);
side!(Right, Q, 1, P::ARRAYS);

/// A sink for the gradients of an operand. Array indices grow by `before`, the number of arrays in preceding operands.
struct SinkAfter<'s, S> {
    to: &'s mut S,
    before: usize,
}

impl<S: Sink> Sink for SinkAfter<'_, S> {
    #[inline(always)]
    fn add<V: Copy + 'static>(&mut self, array: usize, g: V) {
        self.to.add(self.before + array, g);
    }
}

/// A writer for an operand. Array indices grow by `before`, the number of arrays in preceding operands.
pub(super) struct After<'w, W> {
    pub(super) writer: &'w mut W,
    pub(super) before: usize,
}

impl<W: Writer> Writer for After<'_, W> {
    type Subexpression = W::Subexpression;

    fn element(&mut self, before: usize) -> W::Subexpression {
        self.writer.element(self.before + before)
    }

    fn number(&mut self, dtype: DType) -> W::Subexpression {
        self.writer.number(dtype)
    }

    fn call<F: EachSource>(&mut self, of: DType, out: DType, operands: &[W::Subexpression]) -> W::Subexpression {
        self.writer.call::<F>(of, out, operands)
    }

    fn pull<F: EachSource>(&mut self, k: usize, of: DType, parts: &[W::Subexpression]) -> Option<W::Subexpression> {
        self.writer.pull::<F>(k, of, parts)
    }

    fn sum(&mut self, a: W::Subexpression, b: W::Subexpression) -> W::Subexpression {
        self.writer.sum(a, b)
    }
}
