//! The nodes of a formula's tree. A node computes one element of its result from one element of each leaf.

use super::{
    expression::{Node, Row, Sink, Typed, Valued},
    gradient::{has, is_constant, is_real, numbers_pulled, pulled, same, sum},
    join::{Fits, Join, Single},
    leaf::{Layout, Leaves},
    values::{ComplexLiteral, Literal, Whole},
    writer::{Numbers, Writer},
};
use crate::{
    Arrays, DType, DTypeKind, Each, Element, Highest, Lowest, Number, Result,
    pairing::{Divided, InComplex, Scaled},
    scalar,
};
use std::marker::PhantomData;

/// Returns an error if `number`, an operand of the op `F`, cannot be represented in the op's dtype `T`. Float dtypes
/// accept every number, because they round it.
#[inline(always)]
pub(super) fn holds<F: Row, T: Element>(number: Option<i64>) -> Result<()> {
    match number {
        Some(number) if !T::dtype().holds(number.into()) => Err(Number::from(number).beyond(F::NAME, T::dtype())),
        _ => Ok(()),
    }
}

/// Passes an operand to a writer. An operand that is a number without a dtype is passed as a number of the op's dtype
/// `T`.
pub(super) fn operand<L, X: Node<L>, T: Element, W: Writer>(writer: &mut W) -> W::Subexpression {
    X::write(writer).unwrap_or_else(|| writer.number(T::dtype()))
}

/// Converts those of two operands that are real, beside a complex one, to the complex dtype `T`.
pub(super) fn in_complex<T: Element, W: Writer>(
    writer: &mut W,
    parts: [W::Subexpression; 2],
    is_real: [bool; 2],
) -> [W::Subexpression; 2] {
    let of = if T::dtype() == DType::Complex64 { DType::Float32 } else { DType::Float64 };
    let [x, y] = parts;
    let mut convert = |part, is_real| match is_real {
        true => writer.call::<InComplex<T>>(of, T::dtype(), &[part]),
        false => part,
    };
    [convert(x, is_real[0]), convert(y, is_real[1])]
}

/// Collects the numbers that [`operand`] passes to the writer. For an operand that is not an array, adds the operand's
/// value, converted by `of`.
pub(super) fn numbers_of<L, X: Node<L>, T: Element>(
    x: &X,
    leaves: &L,
    numbers: &mut Numbers,
    of: impl FnOnce(X::Out) -> T,
) {
    if <X::Out as Valued>::IS_ARRAY { x.numbers(leaves, numbers) } else { numbers.number(of(x.at(leaves))) }
}

/// The index of the first leaf in the list of leaves, as a type.
#[derive(Clone, Copy, Debug)]
pub struct Head;

/// The index of a later leaf in the list of leaves, as a type: `N` + 1.
#[derive(Clone, Copy, Debug)]
pub struct Tail<N>(PhantomData<fn() -> N>);

impl<N> Tail<N> {
    /// Makes the index `N` + 1.
    #[inline(always)]
    pub fn new(_: N) -> Tail<N> {
        Tail(PhantomData)
    }
}

/// A nested list with one element of each leaf, of which the element at index `N` can be read.
pub trait Get<N> {
    /// Type of the element.
    type Item: Copy;

    /// Number of arrays among the leaves before index `N`.
    const ARRAYS_BEFORE: usize;

    /// Returns the element at index `N`.
    fn get(&self) -> Self::Item;
}

impl<X: Copy, R> Get<Head> for (X, R) {
    type Item = X;
    const ARRAYS_BEFORE: usize = 0;

    #[inline(always)]
    fn get(&self) -> X {
        self.0
    }
}

impl<X: Valued, N, R: Get<N>> Get<Tail<N>> for (X, R) {
    type Item = R::Item;
    const ARRAYS_BEFORE: usize = X::IS_ARRAY as usize + R::ARRAYS_BEFORE;

    #[inline(always)]
    fn get(&self) -> R::Item {
        self.1.get()
    }
}

/// The node of the leaf at index `N`. An element of the leaf has type `V`.
#[derive(Debug)]
pub struct Leaf<N, V>(PhantomData<fn() -> (N, V)>);

impl<N, V> Clone for Leaf<N, V> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<N, V> Copy for Leaf<N, V> {}

/// Makes the node of the leaf at index `N` of the list of leaves.
#[inline(always)]
pub fn place<'a, B: Arrays, N, X: Leaves<'a, B>>(_: &B, _: N, _: &X) -> Leaf<N, <X::Layout as Layout>::Elements> {
    Leaf(PhantomData)
}

impl<N: 'static, V: Copy + Valued + 'static> Typed for Leaf<N, V> {
    type Out = V;
}

impl<L: Get<N, Item = V>, N: 'static, V: Copy + Valued + 'static> Node<L> for Leaf<N, V> {
    const PULLS: bool = true;

    #[inline(always)]
    fn pull(&self, _: &L, g: V, to: &mut impl Sink) {
        if V::IS_ARRAY {
            to.add(L::ARRAYS_BEFORE, g);
        }
    }

    #[inline(always)]
    fn at(&self, leaves: &L) -> V {
        leaves.get()
    }

    fn write<W: Writer>(writer: &mut W) -> Option<W::Subexpression> {
        V::IS_ARRAY.then(|| writer.element(L::ARRAYS_BEFORE))
    }

    fn has(array: usize) -> bool {
        V::IS_ARRAY && array == L::ARRAYS_BEFORE
    }

    fn write_pull<W: Writer>(_: &mut W, g: W::Subexpression, array: usize) -> Option<W::Subexpression> {
        <Self as Node<L>>::has(array).then_some(g)
    }
}

impl Typed for Literal {
    type Out = Literal;
}

impl Typed for ComplexLiteral {
    type Out = ComplexLiteral;
}

impl Typed for Lowest {
    type Out = Lowest;
}

impl Typed for Highest {
    type Out = Highest;
}

impl Typed for Whole {
    type Out = Whole;

    #[inline(always)]
    fn whole(&self) -> Option<i64> {
        Some(self.0)
    }
}

macro_rules! written {
    ($($t:ty),*) => {$(
        impl<L> Node<L> for $t {
            const PULLS: bool = true;

            #[inline(always)]
            fn at(&self, _: &L) -> $t {
                *self
            }
        }
    )*};
}
written!(Literal, ComplexLiteral, Whole, Lowest, Highest);

/// Returns whether a loop must check the first operand of the op, if it has dtype `T`, for large values.
const fn needs_range_reduction<F: Row, T: Element>() -> bool {
    match T::DTYPE.kind() {
        DTypeKind::Complex => F::NEEDS_RANGE_REDUCTION_COMPLEX,
        DTypeKind::Real => F::NEEDS_RANGE_REDUCTION,
        _ => false,
    }
}

/// Returns whether the op gains from the wide vectors of AVX-512 in dtype `T`.
const fn gains_from_avx512<F: Row, T: Element>() -> bool {
    F::GAINS_FROM_AVX512 && matches!(T::DTYPE.kind(), DTypeKind::Real | DTypeKind::Complex)
}

/// A node: the op `F` with one operand of dtype `T`. The result has type `V`.
#[derive(Clone, Copy, Debug)]
pub struct Op1<F, X, T, V>(pub(super) F, pub(super) X, PhantomData<fn() -> (T, V)>);

/// Makes the node of an op with one operand.
#[inline(always)]
#[allow(clippy::type_complexity)] // the type carries all information
pub fn op1<F, X>(op: F, x: X) -> Op1<F, X, <X::Out as Single>::DType, <X::Out as Single>::With<F::Out>>
where
    X: Typed<Out: Single>,
    F: Each<1, <X::Out as Single>::DType> + Row,
{
    Op1(op, x, PhantomData)
}

impl<F: Row, X: Typed, T: Element, V: Single + 'static> Typed for Op1<F, X, T, V> {
    type Out = V;
    const GAINS_FROM_AVX512: bool = X::GAINS_FROM_AVX512 || gains_from_avx512::<F, T>();

    #[inline(always)]
    fn check(&self) -> Result<()> {
        self.1.check()
    }
}

impl<L, F, X, T: Element, V> Node<L> for Op1<F, X, T, V>
where
    X: Node<L, Out: Single<DType = T, With<F::Out> = V>>,
    F: Each<1, T> + Row,
    V: Single + 'static,
{
    const NEEDS_RANGE_REDUCTION: bool = X::NEEDS_RANGE_REDUCTION || needs_range_reduction::<F, T>();

    #[inline(always)]
    fn at(&self, leaves: &L) -> V {
        X::Out::with(self.0.apply(&[self.1.at(leaves).value()]))
    }

    #[inline(always)]
    fn needs_range_reduction(&self, leaves: &L) -> bool {
        self.1.needs_range_reduction(leaves)
            | (const { needs_range_reduction::<F, T>() } && scalar::needs_range_reduction(self.1.at(leaves).value()))
    }

    const PULLS: bool = is_constant::<V::DType>() || (F::PULLS && is_real::<T>() && X::PULLS);

    #[inline(always)]
    fn pull(&self, leaves: &L, g: V, to: &mut impl Sink) {
        let x = self.1.at(leaves).value();
        let y = self.0.apply(&[x]);
        if let Some(g) = same::<_, F::Out>(g)
            && let Some([g]) = self.0.pull([x], y, g)
            && let Some(g) = same::<_, X::Out>(g)
        {
            self.1.pull(leaves, g, to);
        }
    }

    fn write<W: Writer>(writer: &mut W) -> Option<W::Subexpression> {
        let x = X::write(writer)?;
        Some(writer.call::<F>(T::dtype(), <F::Out as Element>::dtype(), &[x]))
    }

    fn numbers(&self, leaves: &L, numbers: &mut Numbers) {
        self.1.numbers(leaves, numbers);
        numbers.params(&self.0);
    }

    fn has(array: usize) -> bool {
        !is_constant::<V::DType>() && has::<F, L, X>(0, array)
    }

    fn write_pull<W: Writer>(writer: &mut W, g: W::Subexpression, array: usize) -> Option<W::Subexpression> {
        let x = X::write(writer)?;
        let y = writer.call::<F>(T::dtype(), <F::Out as Element>::dtype(), std::slice::from_ref(&x));
        pulled::<F, L, X, W>(writer, 0, T::DTYPE, &[x, y, g], array)
    }

    fn numbers_pull(&self, leaves: &L, array: usize, numbers: &mut Numbers) {
        self.numbers(leaves, numbers);
        numbers_pulled(&self.0, 0, &self.1, leaves, array, numbers);
    }
}

/// A node: the op `F` with two operands of the same dtype `T`. The result has type `V`.
#[derive(Clone, Copy, Debug)]
pub struct Op2<F, X, Y, T, V>(pub(super) F, pub(super) X, pub(super) Y, PhantomData<fn() -> (T, V)>);

/// Makes the node of an op with two operands.
#[inline(always)]
#[allow(clippy::type_complexity)]
pub fn op2<F, X, Y>(
    op: F,
    x: X,
    y: Y,
) -> Op2<F, X, Y, <X::Out as Join<Y::Out>>::DType, <X::Out as Join<Y::Out>>::With<F::Out>>
where
    X: Typed<Out: Join<Y::Out>>,
    Y: Typed,
    F: Each<2, <X::Out as Join<Y::Out>>::DType> + Row,
{
    Op2(op, x, y, PhantomData)
}

impl<F: Row, X: Typed, Y: Typed, T: Element, V: Single + 'static> Typed for Op2<F, X, Y, T, V> {
    type Out = V;
    const GAINS_FROM_AVX512: bool = X::GAINS_FROM_AVX512 || Y::GAINS_FROM_AVX512 || gains_from_avx512::<F, T>();

    #[inline(always)]
    fn check(&self) -> Result<()> {
        holds::<F, T>(self.1.whole())?;
        holds::<F, T>(self.2.whole())?;
        self.1.check()?;
        self.2.check()
    }
}

impl<L, F, X, Y, T: Element, V> Node<L> for Op2<F, X, Y, T, V>
where
    X: Node<L, Out: Join<Y::Out, DType = T, With<F::Out> = V>>,
    Y: Node<L>,
    F: Each<2, T> + Row,
    V: Single + 'static,
{
    const NEEDS_RANGE_REDUCTION: bool = X::NEEDS_RANGE_REDUCTION || Y::NEEDS_RANGE_REDUCTION;

    #[inline(always)]
    fn at(&self, leaves: &L) -> V {
        X::Out::with(X::Out::apply(&self.0, self.1.at(leaves), self.2.at(leaves)))
    }

    #[inline(always)]
    fn needs_range_reduction(&self, leaves: &L) -> bool {
        self.1.needs_range_reduction(leaves) | self.2.needs_range_reduction(leaves)
    }

    const PULLS: bool = is_constant::<V::DType>() || (F::PULLS && is_real::<T>() && X::PULLS && Y::PULLS);

    #[inline(always)]
    fn pull(&self, leaves: &L, g: V, to: &mut impl Sink) {
        let (x, y) = (self.1.at(leaves).left(), X::Out::right(self.2.at(leaves)));
        let value = self.0.apply(&[x, y]);
        let Some(g) = same::<_, F::Out>(g) else { return };
        let Some([g_x, g_y]) = self.0.pull([x, y], value, g) else { return };
        if let Some(g) = same::<_, X::Out>(g_x) {
            self.1.pull(leaves, g, to);
        }
        if let Some(g) = same::<_, Y::Out>(g_y) {
            self.2.pull(leaves, g, to);
        }
    }

    fn write<W: Writer>(writer: &mut W) -> Option<W::Subexpression> {
        if !V::IS_ARRAY {
            return None;
        }
        let (x, y) = (operand::<L, X, T, W>(writer), operand::<L, Y, T, W>(writer));
        let (of, out) = (T::dtype(), <F::Out as Element>::dtype());
        Some(match const { <X::Out as Join<Y::Out>>::IS_REAL } {
            [true, _] if F::IS_PRODUCT => writer.call::<Scaled>(of, out, &[y, x]),
            [_, true] if F::IS_PRODUCT => writer.call::<Scaled>(of, out, &[x, y]),
            [_, true] if F::IS_QUOTIENT => writer.call::<Divided>(of, out, &[x, y]),
            is_real => {
                let operands = in_complex::<T, W>(writer, [x, y], is_real);
                writer.call::<F>(of, out, &operands)
            }
        })
    }

    fn numbers(&self, leaves: &L, numbers: &mut Numbers) {
        numbers_of(&self.1, leaves, numbers, X::Out::left);
        numbers_of(&self.2, leaves, numbers, X::Out::right);
        numbers.params(&self.0);
    }

    fn has(array: usize) -> bool {
        !is_constant::<V::DType>() && (has::<F, L, X>(0, array) || has::<F, L, Y>(1, array))
    }

    fn write_pull<W: Writer>(writer: &mut W, g: W::Subexpression, array: usize) -> Option<W::Subexpression> {
        let (x, y) = (operand::<L, X, T, W>(writer), operand::<L, Y, T, W>(writer));
        let mut parts = in_complex::<T, W>(writer, [x, y], <X::Out as Join<Y::Out>>::IS_REAL).to_vec();
        parts.push(writer.call::<F>(T::dtype(), <F::Out as Element>::dtype(), &parts));
        parts.push(g);
        let x = pulled::<F, L, X, W>(writer, 0, T::DTYPE, &parts, array);
        let y = pulled::<F, L, Y, W>(writer, 1, T::DTYPE, &parts, array);
        sum(writer, x, y)
    }

    fn numbers_pull(&self, leaves: &L, array: usize, numbers: &mut Numbers) {
        self.numbers(leaves, numbers);
        numbers_pulled(&self.0, 0, &self.1, leaves, array, numbers);
        numbers_pulled(&self.0, 1, &self.2, leaves, array, numbers);
    }
}

/// A node: the op `F` with three operands. The first operand determines their dtype `T`. The result has type `V`.
#[derive(Clone, Copy, Debug)]
pub struct Op3<F, X, Y, Z, T, V>(pub(super) F, pub(super) X, pub(super) Y, pub(super) Z, PhantomData<fn() -> (T, V)>);

/// Makes the node of an op with three operands.
#[inline(always)]
#[allow(clippy::type_complexity)]
pub fn op3<F, X, Y, Z>(op: F, x: X, y: Y, z: Z) -> Op3<F, X, Y, Z, X::Out, F::Out>
where
    X: Typed<Out: Element>,
    Y: Typed<Out: Fits<X::Out>>,
    Z: Typed<Out: Fits<X::Out>>,
    F: Each<3, X::Out> + Row,
{
    Op3(op, x, y, z, PhantomData)
}

impl<F: Row, X: Typed, Y: Typed, Z: Typed, T: Element, V: Element> Typed for Op3<F, X, Y, Z, T, V> {
    type Out = V;
    const GAINS_FROM_AVX512: bool =
        X::GAINS_FROM_AVX512 || Y::GAINS_FROM_AVX512 || Z::GAINS_FROM_AVX512 || gains_from_avx512::<F, T>();

    #[inline(always)]
    fn check(&self) -> Result<()> {
        holds::<F, T>(self.2.whole())?;
        holds::<F, T>(self.3.whole())?;
        self.1.check()?;
        self.2.check()?;
        self.3.check()
    }
}

impl<L, F, X, Y, Z, T: Element, V: Element> Node<L> for Op3<F, X, Y, Z, T, V>
where
    X: Node<L, Out = T>,
    Y: Node<L, Out: Fits<T>>,
    Z: Node<L, Out: Fits<T>>,
    F: Each<3, T, Out = V> + Row,
{
    const NEEDS_RANGE_REDUCTION: bool =
        X::NEEDS_RANGE_REDUCTION || Y::NEEDS_RANGE_REDUCTION || Z::NEEDS_RANGE_REDUCTION;

    #[inline(always)]
    fn at(&self, leaves: &L) -> V {
        self.0.apply(&[self.1.at(leaves), self.2.at(leaves).of(), self.3.at(leaves).of()])
    }

    #[inline(always)]
    fn needs_range_reduction(&self, leaves: &L) -> bool {
        self.1.needs_range_reduction(leaves)
            | self.2.needs_range_reduction(leaves)
            | self.3.needs_range_reduction(leaves)
    }

    const PULLS: bool = is_constant::<V>() || (F::PULLS && is_real::<T>() && X::PULLS && Y::PULLS && Z::PULLS);

    #[inline(always)]
    fn pull(&self, leaves: &L, g: V, to: &mut impl Sink) {
        let x = [self.1.at(leaves), self.2.at(leaves).of(), self.3.at(leaves).of()];
        let Some([g_x, g_y, g_z]) = self.0.pull(x, self.0.apply(&x), g) else { return };
        self.1.pull(leaves, g_x, to);
        if let Some(g) = same::<_, Y::Out>(g_y) {
            self.2.pull(leaves, g, to);
        }
        if let Some(g) = same::<_, Z::Out>(g_z) {
            self.3.pull(leaves, g, to);
        }
    }

    fn write<W: Writer>(writer: &mut W) -> Option<W::Subexpression> {
        let operands = [operand::<L, X, T, W>(writer), operand::<L, Y, T, W>(writer), operand::<L, Z, T, W>(writer)];
        Some(writer.call::<F>(T::dtype(), V::dtype(), &operands))
    }

    fn numbers(&self, leaves: &L, numbers: &mut Numbers) {
        self.1.numbers(leaves, numbers);
        numbers_of(&self.2, leaves, numbers, Fits::of);
        numbers_of(&self.3, leaves, numbers, Fits::of);
        numbers.params(&self.0);
    }

    fn has(array: usize) -> bool {
        !is_constant::<V>() && (has::<F, L, X>(0, array) || has::<F, L, Y>(1, array) || has::<F, L, Z>(2, array))
    }

    fn write_pull<W: Writer>(writer: &mut W, g: W::Subexpression, array: usize) -> Option<W::Subexpression> {
        let mut parts =
            vec![operand::<L, X, T, W>(writer), operand::<L, Y, T, W>(writer), operand::<L, Z, T, W>(writer)];
        parts.push(writer.call::<F>(T::dtype(), V::dtype(), &parts));
        parts.push(g);
        let x = pulled::<F, L, X, W>(writer, 0, T::DTYPE, &parts, array);
        let y = pulled::<F, L, Y, W>(writer, 1, T::DTYPE, &parts, array);
        let z = pulled::<F, L, Z, W>(writer, 2, T::DTYPE, &parts, array);
        let first = sum(writer, x, y);
        sum(writer, first, z)
    }

    fn numbers_pull(&self, leaves: &L, array: usize, numbers: &mut Numbers) {
        self.numbers(leaves, numbers);
        numbers_pulled(&self.0, 0, &self.1, leaves, array, numbers);
        numbers_pulled(&self.0, 1, &self.2, leaves, array, numbers);
        numbers_pulled(&self.0, 2, &self.3, leaves, array, numbers);
    }
}
