//! Formulas written with operators instead of the macro `expr!`. A formula consists of a tree of ops, and of leaves:
//! the arrays and scalars that the ops read. The trees are the same as for the macro, but here each subformula stores
//! its own leaves.

use crate::{
    ArrayAttributes, Arrays, Axes, Complex, Element, Result, ops,
    runtime::{
        Each, EachOf,
        formula::{
            Fits, Join, Leaves, Left, Lent, Literal, OnlyLeaf, Op1, Op2, Op3, OpOf, Operands, Own, Reduce, Right, Row,
            Run, Scalar, Shared, Single, Typed, Value, Whole, op_of, op1, op2, op3, reduce,
        },
    },
};
use std::{fmt, marker::PhantomData, ops as rust};

#[doc(hidden)]
pub use crate::{indexed::indexed, rolled::rolled};

/// A formula that has not been computed yet. Operators and the methods below extend it, and [`eval`](Lazy::eval) runs
/// it.
///
/// [`lazy`] makes a formula from an array. A formula borrows its arrays, and computes nothing before `eval`. Using a
/// formula twice computes it twice.
#[must_use = "a lazy formula computes nothing before `eval`"]
#[derive(Clone, Copy)]
pub struct Lazy<X, L> {
    tree: X,
    leaves: L,
}

/// Makes a formula from an array or a scalar. `((lazy(&x) + lazy(&y)) * 2.0).eval(&b)?` makes one pass over memory,
/// like `expr!(b, (x + y) * 2.0)?`.
///
/// The other operand of an operator may be a formula, `&array`, an `f64` (for every float dtype) or an `i64` (for every
/// dtype that represents its value), so literals need no wrapping. Write numbers of other types as `lazy(number)`. Only
/// [`Lazy::eval`] can fail; it returns the result or the error.
///
/// ```
/// use backends::{Result, lazy, prelude::*};
///
/// /// On any backend, in any real dtype.
/// fn gauss<B: Backend, T: Real>(b: &B, x: &B::Array<T>, mu: T) -> Result<B::Array<T>> {
///     (0.5 * (-(lazy(x) - lazy(mu)).square()).exp()).eval(b)
/// }
/// # fn main() -> Result<()> {
/// let b = Numpyish::new();
/// let (x, y) = (b.asarray([1.0, 2.0])?, b.asarray([10.0, 20.0])?);
/// assert_eq!(((lazy(&x) + lazy(&y)) * 2.0).eval(&b)?, b.asarray([22.0, 44.0])?);
/// assert_eq!((lazy(&x) + &y).less(12).eval(&b)?, b.asarray([true, false])?);
/// assert_eq!(gauss(&b, &x, 1.0)?[[0]], 0.5);
/// # Ok(())
/// # }
/// ```
#[inline(always)]
pub fn lazy<K, X: IntoLazy<K>>(x: X) -> Lazy<X::Tree, X::Leaves> {
    let (tree, leaves) = x.into_lazy();
    Lazy { tree, leaves }
}

/// Types that [`lazy`] accepts: `&array`, or a scalar. The compiler infers `K`, the kind of the argument.
#[diagnostic::on_unimplemented(
    message = "`lazy` takes a reference to an array, or a number, and not `{Self}`",
    label = "neither a reference to an array nor a number"
)]
pub trait IntoLazy<K> {
    /// The formula's tree.
    type Tree: Typed;
    /// The leaves of the tree.
    type Leaves;

    /// Converts the argument to a tree and its leaves.
    fn into_lazy(self) -> (Self::Tree, Self::Leaves);
}

/// Marker types that keep the implementations of [`IntoLazy`] from overlapping.
pub mod kind {
    /// A reference to an array.
    pub struct Array;
    /// A scalar.
    pub struct Scalar;
}

impl<'a, A: ArrayAttributes> IntoLazy<kind::Array> for &'a A {
    type Tree = OnlyLeaf<A::DType>;
    type Leaves = Lent<'a, A>;

    #[inline(always)]
    fn into_lazy(self) -> (OnlyLeaf<A::DType>, Lent<'a, A>) {
        (OnlyLeaf::new(), Lent(self))
    }
}

impl<T: Element> IntoLazy<kind::Scalar> for T {
    type Tree = OnlyLeaf<Scalar<T>>;
    type Leaves = Value<T>;

    #[inline(always)]
    fn into_lazy(self) -> (OnlyLeaf<Scalar<T>>, Value<T>) {
        (OnlyLeaf::new(), Value(self))
    }
}

/// Types of a bound, for example of `clip`: any [`Term`], or `..` for no bound. For `..`, the tree `E` gives the
/// smallest or the largest value of the dtype.
pub trait Bound<E> {
    /// The formula's tree.
    type Tree: Typed;
    /// The leaves of the tree.
    type Leaves;

    /// Converts to a formula.
    fn into_bound(self) -> Lazy<Self::Tree, Self::Leaves>;
}

impl<E, Y: Term> Bound<E> for Y {
    type Tree = Y::Tree;
    type Leaves = Y::Leaves;

    #[inline(always)]
    fn into_bound(self) -> Lazy<Y::Tree, Y::Leaves> {
        self.into_term()
    }
}

impl<E: Typed + Default> Bound<E> for rust::RangeFull {
    type Tree = E;
    type Leaves = ();

    #[inline(always)]
    fn into_bound(self) -> Lazy<E, ()> {
        Lazy { tree: E::default(), leaves: () }
    }
}

/// Types that can be the other operand of a lazy formula: a formula, `&array`, an `f64`, an `i64` or a complex number.
#[diagnostic::on_unimplemented(
    message = "the other operand of a lazy formula is a formula, `&array`, an `f64` or an `i64`, and not `{Self}`",
    label = "not an operand",
    note = "a number of another type: write `lazy(number)` for one of the array's dtype, `n as f64` for a count `n: usize`"
)]
pub trait Term {
    /// The formula's tree.
    type Tree: Typed;
    /// The leaves of the tree.
    type Leaves;

    /// Converts to a formula.
    fn into_term(self) -> Lazy<Self::Tree, Self::Leaves>;
}

impl<X: Typed, L> Term for Lazy<X, L> {
    type Tree = X;
    type Leaves = L;

    #[inline(always)]
    fn into_term(self) -> Lazy<X, L> {
        self
    }
}

impl<'a, A: ArrayAttributes> Term for &'a A {
    type Tree = OnlyLeaf<A::DType>;
    type Leaves = Lent<'a, A>;

    #[inline(always)]
    fn into_term(self) -> Lazy<OnlyLeaf<A::DType>, Lent<'a, A>> {
        lazy(self)
    }
}

/// Implements binary operators. With `lazy:`, the left operand is a formula. Otherwise, the left operand is a number of
/// the type `$left` with the tree `$tree` and the leaves `$leaves`, and the right operand is a formula.
macro_rules! operators {
    (lazy: $($op:ident $trait:ident $method:ident),*) => {$(
        #[doc(hidden)] // the operators' bounds would fill the page of `Lazy`
        impl<X, L, Y> rust::$trait<Y> for Lazy<X, L>
        where
            X: Typed<Out: Join<<Y::Tree as Typed>::Out>>,
            Y: Term,
            ops::$op: Each<2, DTypeOf<X, Y::Tree>>,
        {
            type Output = Two<ops::$op, X, L, Y::Tree, Y::Leaves>;

            #[inline(always)]
            fn $method(self, other: Y) -> Self::Output {
                two(ops::$op {}, self, other.into_term())
            }
        }
    )*};
    ($left:ty, $tree:ty, $leaves:ty, $out:ty: $($op:ident $trait:ident $method:ident),*) => {$(
        #[doc(hidden)]
        impl<Y, M> rust::$trait<Lazy<Y, M>> for $left
        where
            Y: Typed,
            $out: Join<Y::Out>,
            ops::$op: Each<2, <$out as Join<Y::Out>>::DType>,
        {
            type Output = Two<ops::$op, $tree, $leaves, Y, M>;

            #[inline(always)]
            fn $method(self, other: Lazy<Y, M>) -> Self::Output {
                two(ops::$op {}, self.into_term(), other)
            }
        }
    )*};
}

/// Implements [`Term`] for a number type, so that numbers can be right operands, and the operators with a number on the
/// left.
macro_rules! number {
    ($($number:ty: $tree:ty, $leaves:ty, $out:ty, |$x:ident| $new:expr;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl Term for $number {
            type Tree = $tree;
            type Leaves = $leaves;

            #[inline(always)]
            fn into_term(self) -> Lazy<$tree, $leaves> {
                let $x = self;
                let (tree, leaves) = $new;
                Lazy { tree, leaves }
            }
        }

        operators! { $number, $tree, $leaves, $out:
            add Add add, subtract Sub sub, multiply Mul mul, divide Div div, remainder Rem rem
        }
    )*};
}

number! {
    f64: Literal, (), Literal, |x| (Literal(x), ());
    i64: Whole, (), Whole, |x| (Whole(x), ());
    Complex<f32>: OnlyLeaf<Scalar<Complex<f32>>>, Value<Complex<f32>>, Scalar<Complex<f32>>, |x| x.into_lazy();
    Complex<f64>: OnlyLeaf<Scalar<Complex<f64>>>, Value<Complex<f64>>, Scalar<Complex<f64>>, |x| x.into_lazy();
}

operators! { lazy:
    add Add add, subtract Sub sub, multiply Mul mul, divide Div div, remainder Rem rem,
    bitwise_and BitAnd bitand, bitwise_or BitOr bitor, bitwise_xor BitXor bitxor,
    bitwise_left_shift Shl shl, bitwise_right_shift Shr shr
}

impl<X: Typed<Out: Single>, L> rust::Neg for Lazy<X, L>
where
    ops::negative: Each<1, <X::Out as Single>::DType>,
{
    type Output = One<ops::negative, X, L>;

    #[inline(always)]
    fn neg(self) -> Self::Output {
        one(ops::negative {}, self)
    }
}

impl<X: Typed<Out: Single>, L> rust::Not for Lazy<X, L>
where
    ops::bitwise_invert: Each<1, <X::Out as Single>::DType>,
{
    type Output = One<ops::bitwise_invert, X, L>;

    #[inline(always)]
    fn not(self) -> Self::Output {
        one(ops::bitwise_invert {}, self)
    }
}

impl<X, L> fmt::Debug for Lazy<X, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Lazy(..)")
    }
}

impl<X, L> Lazy<X, L> {
    /// Computes the formula on the backend of its arrays: in one pass over host memory, in one kernel on `Cuda`, and op
    /// by op on other backends. A formula over more than 8 arrays is split into several passes.
    ///
    /// # Errors
    /// The errors of `expr!`: shapes that do not broadcast, and the errors of the ops.
    #[inline]
    pub fn eval<'a, B: Arrays, T: Element>(self, b: &B) -> Result<B::Array<T>>
    where
        L: Leaves<'a, B>,
        X: Run<'a, B, L> + Typed<Out = T>,
    {
        b.formula(&self.tree, &self.leaves)
    }
}

/// A reduction of a formula, which has not been computed yet: [`eval`](Reduced::eval) runs it.
///
/// The formula's values are reduced as they are computed, so on the host and on `Cuda` they are never stored as an
/// array.
///
/// ```
/// use backends::{Result, lazy, prelude::*};
/// # fn main() -> Result<()> {
/// let b = Numpyish::new();
/// let x = b.asarray([[1.0, 2.0], [3.0, 4.0]])?;
/// assert_eq!((lazy(&x) * 2.0).sum(0).eval(&b)?, b.asarray([8.0, 12.0])?);
/// assert_eq!((lazy(&x) - 2.0).abs().argmax_with(1, ArgmaxOptions::new().keepdims(true)).eval(&b)?, b.asarray([[0_i64], [1]])?);
/// # Ok(())
/// # }
/// ```
#[must_use = "a lazy formula computes nothing before `eval`"]
#[derive(Clone, Copy)]
pub struct Reduced<F, X, L> {
    row: F,
    of: Lazy<X, L>,
    axis: Axes,
    keepdims: bool,
}

impl<F, X, L> fmt::Debug for Reduced<F, X, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Reduced(..)")
    }
}

impl<F, X, L> Reduced<F, X, L> {
    /// Keeps the reduced axes, with length 1, if `keepdims` is true.
    #[inline(always)]
    pub fn keepdims(self, keepdims: bool) -> Self {
        Reduced { keepdims, ..self }
    }

    /// Computes the formula and its reduction on the backend of its arrays.
    ///
    /// # Errors
    /// The errors of `expr!`: shapes that do not broadcast, and the errors of the ops.
    #[inline]
    pub fn eval<'a, B: Arrays, T: Element>(self, b: &B) -> Result<B::Array<F::Out>>
    where
        L: Leaves<'a, B>,
        X: Run<'a, B, L> + Typed<Out = T>,
        F: Reduce<B, T>,
    {
        reduce(b, &self.row, &self.of.tree, &self.of.leaves, self.axis, self.keepdims)
    }
}

/// Makes a reduction of a formula.
#[inline(always)]
pub(crate) fn reduced<F, X, L>(row: F, of: Lazy<X, L>, axis: Axes, keepdims: bool) -> Reduced<F, X, L> {
    Reduced { row, of, axis, keepdims }
}

/// Applies ops of any op table. An op is given as a struct whose fields are its parameters:
/// `lazy(&x).op1(my_ops::leaky { slope: 0.5 })`.
impl<X: Typed, L> Lazy<X, L> {
    /// Applies an op with one operand.
    #[inline(always)]
    pub fn op1<F>(self, row: F) -> One<F, X, L>
    where
        X: Typed<Out: Single>,
        F: Each<1, <X::Out as Single>::DType> + Row,
    {
        one(row, self)
    }

    /// Applies an op with two operands.
    #[inline(always)]
    pub fn op2<F, Y: Term>(self, row: F, y: Y) -> Two<F, X, L, Y::Tree, Y::Leaves>
    where
        X: Typed<Out: Join<<Y::Tree as Typed>::Out>>,
        F: Each<2, DTypeOf<X, Y::Tree>> + Row,
    {
        two(row, self, y.into_term())
    }

    /// Applies an op with three operands, the first of which is an array.
    #[inline(always)]
    #[allow(clippy::type_complexity)] // the type of the node
    pub fn op3<F, Y: Term, Z: Term>(self, row: F, y: Y, z: Z) -> Three<F, X, L, Y::Tree, Y::Leaves, Z::Tree, Z::Leaves>
    where
        X: Typed<Out: Element>,
        Y::Tree: Typed<Out: Fits<X::Out>>,
        Z::Tree: Typed<Out: Fits<X::Out>>,
        F: Each<3, X::Out> + Row,
    {
        three(row, self, y.into_term(), z.into_term())
    }

    /// Applies a reduction over these axes: `lazy(&x).reduce(my_ops::power_mean { p: 3.0 }, 0)`.
    #[inline(always)]
    pub fn reduce<F>(self, row: F, axis: impl Into<Axes>) -> Reduced<F, X, L> {
        reduced(row, self, axis.into(), false)
    }
}

/// Ops whose operands may have different dtypes.
impl<C: Typed<Out: Single>, L> Lazy<C, L> {
    /// The op [`where`](ops::where): `x1` where this condition is true, `x2` elsewhere.
    #[inline(always)]
    pub fn r#where<Y: Term, Z: Term>(self, x1: Y, x2: Z) -> Chosen<C, L, Y, Z>
    where
        ChoiceOf<C, Y, Z>: Operands<ChoiceKinds>,
        ops::r#where: EachOf<<ChoiceOf<C, Y, Z> as Operands<ChoiceKinds>>::DTypes>,
    {
        let (x1, x2) = (x1.into_term(), x2.into_term());
        let operands = (Left(Left(self.tree)), Left(Right(x1.tree)), Right(x2.tree));
        let tree = op_of(ops::r#where {}, (Own, Shared, Shared), operands);
        Lazy { tree, leaves: ((self.leaves, x1.leaves), x2.leaves) }
    }

    /// Calls `r#where`. Unlike `where`, this name is not a keyword of Rust.
    #[inline(always)]
    pub fn where_<Y: Term, Z: Term>(self, x1: Y, x2: Z) -> Chosen<C, L, Y, Z>
    where
        ChoiceOf<C, Y, Z>: Operands<ChoiceKinds>,
        ops::r#where: EachOf<<ChoiceOf<C, Y, Z> as Operands<ChoiceKinds>>::DTypes>,
    {
        self.r#where(x1, x2)
    }

    /// The op [`astype`](ops::astype): converts the elements to another dtype, as in `lazy(&x).astype::<f64>()`.
    #[inline(always)]
    pub fn astype<U: Element>(self) -> One<crate::__each::astype<U>, C, L>
    where
        crate::__each::astype<U>: Each<1, <C::Out as Single>::DType>,
    {
        one(crate::__each::astype { to: PhantomData }, self)
    }
}

/// The operands of `where`. Their kinds below state that the condition has its own dtype and the two values have a
/// common dtype.
type ChoiceOf<C, Y, Z> = (Left<Left<C>>, Left<Right<<Y as Term>::Tree>>, Right<<Z as Term>::Tree>);
type ChoiceKinds = (Own, Shared, Shared);

/// The type of the formula that `where` returns.
pub type Chosen<C, L, Y, Z> = Lazy<
    OpOf<
        ops::r#where,
        ChoiceOf<C, Y, Z>,
        ChoiceKinds,
        <ChoiceOf<C, Y, Z> as Operands<ChoiceKinds>>::DTypes,
        <ops::r#where as EachOf<<ChoiceOf<C, Y, Z> as Operands<ChoiceKinds>>::DTypes>>::Out,
    >,
    ((L, <Y as Term>::Leaves), <Z as Term>::Leaves),
>;

/// The common dtype of an op's two operands.
pub type DTypeOf<X, Y> = <<X as Typed>::Out as Join<<Y as Typed>::Out>>::DType;

/// The type of the formula of an op with one operand.
pub type One<F, X, L> = Lazy<
    Op1<
        F,
        X,
        <<X as Typed>::Out as Single>::DType,
        <<X as Typed>::Out as Single>::With<<F as Each<1, <<X as Typed>::Out as Single>::DType>>::Out>,
    >,
    L,
>;

/// The type of the formula of an op with two operands.
pub type Two<F, X, L, Y, M> = Lazy<
    Op2<
        F,
        Left<X>,
        Right<Y>,
        DTypeOf<X, Y>,
        <<X as Typed>::Out as Join<<Y as Typed>::Out>>::With<<F as Each<2, DTypeOf<X, Y>>>::Out>,
    >,
    (L, M),
>;

/// The type of the formula of an op with three operands.
pub type Three<F, X, L, Y, M, Z, N> = Lazy<
    Op3<F, Left<Left<X>>, Left<Right<Y>>, Right<Z>, <X as Typed>::Out, <F as Each<3, <X as Typed>::Out>>::Out>,
    ((L, M), N),
>;

/// Builds the formula of an op with one operand.
#[inline(always)]
pub(crate) fn one<F, X, L>(op: F, x: Lazy<X, L>) -> One<F, X, L>
where
    X: Typed<Out: Single>,
    F: Each<1, <X::Out as Single>::DType> + Row,
{
    Lazy { tree: op1(op, x.tree), leaves: x.leaves }
}

/// Builds the formula of an op with two operands.
#[inline(always)]
pub(crate) fn two<F, X, L, Y, M>(op: F, x: Lazy<X, L>, y: Lazy<Y, M>) -> Two<F, X, L, Y, M>
where
    X: Typed<Out: Join<Y::Out>>,
    Y: Typed,
    F: Each<2, DTypeOf<X, Y>> + Row,
{
    Lazy { tree: op2(op, Left(x.tree), Right(y.tree)), leaves: (x.leaves, y.leaves) }
}

/// Builds the formula of an op with three operands.
#[inline(always)]
pub(crate) fn three<F, X, L, Y, M, Z, N>(
    op: F,
    x: Lazy<X, L>,
    y: Lazy<Y, M>,
    z: Lazy<Z, N>,
) -> Three<F, X, L, Y, M, Z, N>
where
    X: Typed<Out: Element>,
    Y: Typed<Out: Fits<X::Out>>,
    Z: Typed<Out: Fits<X::Out>>,
    F: Each<3, X::Out> + Row,
{
    Lazy {
        tree: op3(op, Left(Left(x.tree)), Left(Right(y.tree)), Right(z.tree)),
        leaves: ((x.leaves, y.leaves), z.leaves),
    }
}
