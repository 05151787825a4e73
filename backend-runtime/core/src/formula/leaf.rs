//! The leaves of a formula: arrays and scalars.

use super::values::Scalar;
use crate::{Arrays, Complex, DType, Element, Operand};
use std::marker::PhantomData;

/// Maximum number of arrays in a formula. If a formula has more arrays, `expr!` computes some subexpressions
/// beforehand.
pub const MAX_ARRAYS: usize = 8;

/// The leaves of a formula as a nested list. The list is `()`, or a pair of the first leaf and the list of all other
/// leaves.
pub trait Leaves<'a, B: Arrays>: Sync {
    /// Type that lists the dtypes of the leaves and marks the scalars, without the arrays' type and lifetime.
    type Layout: Layout;

    /// Passes the arrays to a visitor, one after another.
    fn visit(&self, visitor: &mut impl Visitor<'a, B>);

    /// Returns the values of the scalars.
    fn scalars(&self) -> <Self::Layout as Layout>::Scalars;
}

/// Receives the arrays of a formula, one after another.
pub trait Visitor<'a, B: Arrays> {
    /// Receives the next array.
    fn array<T: Element>(&mut self, x: &'a B::Array<T>);
}

/// The dtypes of a formula's leaves, with the functions that load one element of each leaf in a loop on the host.
pub trait Layout: 'static {
    /// A nested list with one element of each leaf.
    type Elements: Copy + Loaded;
    /// The values of the scalars.
    type Scalars: Copy + std::fmt::Debug + Send + Sync + 'static;
    /// The addresses of the arrays and the values of the scalars, from which `load` reads.
    type Bound: Copy;
    /// Number of arrays.
    const ARRAYS: usize;

    /// True if a leaf has a dtype that is known only at run time.
    const IS_DYNAMIC: bool;

    /// The dtypes of the arrays. Entries after the first `ARRAYS` have no meaning.
    const DTYPES: [DType; MAX_ARRAYS];

    /// Returns the elements from which subexpressions without an array are computed: the values of the scalars, and
    /// zeros in place of arrays.
    fn numbers(scalars: &Self::Scalars) -> Self::Elements;

    /// Combines the addresses of the arrays with the scalars, so that `load` can read them. The addresses are in `x`,
    /// from index `at` on.
    fn bind(x: &[*const u8; MAX_ARRAYS], at: usize, scalars: &Self::Scalars) -> Self::Bound;

    /// Loads element `i` of every leaf.
    ///
    /// # Safety
    /// Every array in `bound` has more than `i` elements.
    unsafe fn load(bound: &Self::Bound, i: usize) -> Self::Elements;
}

/// Returns whether a formula with these leaves and with values of the dtype `T` has a dtype that is known only at run
/// time. Such a formula runs in a kernel of the backend, or op by op.
pub(super) const fn is_dynamic<L: Layout, T: Element>() -> bool {
    L::IS_DYNAMIC || T::IS_DYNAMIC
}

/// A nested list with one element of each leaf.
pub trait Loaded {
    /// Number of leaves in the list that are arrays.
    const ARRAYS: usize;
}

impl Loaded for () {
    const ARRAYS: usize = 0;
}

impl<T: Element> Loaded for T {
    const ARRAYS: usize = 1;
}

impl<T> Loaded for Scalar<T> {
    const ARRAYS: usize = 0;
}

impl<X: Loaded, R: Loaded> Loaded for (X, R) {
    const ARRAYS: usize = X::ARRAYS + R::ARRAYS;
}

/// A leaf that is an array.
pub struct Array<'a, B: Arrays, T: Element>(pub(super) &'a B::Array<T>);

/// A leaf that is a scalar.
#[derive(Clone, Copy, Debug)]
pub struct Value<T>(pub T);

/// The layout of a leaf that is an array.
pub struct OfArray<T>(PhantomData<fn() -> T>);

/// The layout of a leaf that is a scalar.
pub struct OfScalar<T>(PhantomData<fn() -> T>);

/// The layout of a list of leaves, from the layouts of the first leaf and of all other leaves.
pub struct OfPair<X, R>(PhantomData<fn() -> (X, R)>);

impl<'a, B: Arrays> Leaves<'a, B> for () {
    type Layout = ();

    #[inline(always)]
    fn visit(&self, _: &mut impl Visitor<'a, B>) {}

    #[inline(always)]
    fn scalars(&self) {}
}

impl<'a, B: Arrays, T: Element> Leaves<'a, B> for Array<'a, B, T> {
    type Layout = OfArray<T>;

    #[inline(always)]
    fn visit(&self, visitor: &mut impl Visitor<'a, B>) {
        visitor.array(self.0);
    }

    #[inline(always)]
    fn scalars(&self) {}
}

impl<'a, B: Arrays, T: Element> Leaves<'a, B> for Value<T> {
    type Layout = OfScalar<T>;

    #[inline(always)]
    fn visit(&self, _: &mut impl Visitor<'a, B>) {}

    #[inline(always)]
    fn scalars(&self) -> T {
        self.0
    }
}

impl<'a, B: Arrays, X: Leaves<'a, B>, R: Leaves<'a, B>> Leaves<'a, B> for (X, R) {
    type Layout = OfPair<X::Layout, R::Layout>;

    #[inline(always)]
    fn visit(&self, visitor: &mut impl Visitor<'a, B>) {
        self.0.visit(visitor);
        self.1.visit(visitor);
    }

    #[inline(always)]
    fn scalars(&self) -> <Self::Layout as Layout>::Scalars {
        (self.0.scalars(), self.1.scalars())
    }
}

impl Layout for () {
    type Elements = ();
    type Scalars = ();
    type Bound = ();
    const ARRAYS: usize = 0;
    const IS_DYNAMIC: bool = false;

    const DTYPES: [DType; MAX_ARRAYS] = [DType::Bool; MAX_ARRAYS];

    fn numbers((): &()) {}

    #[inline(always)]
    fn bind(_: &[*const u8; MAX_ARRAYS], _: usize, (): &()) {}

    #[inline(always)]
    unsafe fn load((): &(), _: usize) {}
}

impl<T: Element> Layout for OfArray<T> {
    type Elements = T;
    type Scalars = ();
    type Bound = *const T;
    const ARRAYS: usize = 1;
    const IS_DYNAMIC: bool = T::IS_DYNAMIC;

    const DTYPES: [DType; MAX_ARRAYS] = [T::DTYPE; MAX_ARRAYS];

    fn numbers((): &()) -> T {
        T::default()
    }

    #[inline(always)]
    fn bind(x: &[*const u8; MAX_ARRAYS], at: usize, (): &()) -> *const T {
        x[at].cast()
    }

    #[inline(always)]
    unsafe fn load(bound: &*const T, i: usize) -> T {
        // SAFETY: the caller guarantees that the array has more than `i` elements.
        unsafe { *bound.add(i) }
    }
}

impl<T: Element> Layout for OfScalar<T> {
    type Elements = Scalar<T>;
    type Scalars = T;
    type Bound = T;
    const ARRAYS: usize = 0;
    const IS_DYNAMIC: bool = T::IS_DYNAMIC;

    const DTYPES: [DType; MAX_ARRAYS] = [DType::Bool; MAX_ARRAYS];

    fn numbers(scalar: &T) -> Scalar<T> {
        Scalar(*scalar)
    }

    #[inline(always)]
    fn bind(_: &[*const u8; MAX_ARRAYS], _: usize, scalar: &T) -> T {
        *scalar
    }

    #[inline(always)]
    unsafe fn load(bound: &T, _: usize) -> Scalar<T> {
        Scalar(*bound)
    }
}

impl<X: Layout, R: Layout> Layout for OfPair<X, R> {
    type Elements = (X::Elements, R::Elements);
    type Scalars = (X::Scalars, R::Scalars);
    type Bound = (X::Bound, R::Bound);
    const ARRAYS: usize = X::ARRAYS + R::ARRAYS;
    const IS_DYNAMIC: bool = X::IS_DYNAMIC || R::IS_DYNAMIC;

    const DTYPES: [DType; MAX_ARRAYS] = {
        let mut all = X::DTYPES;
        let mut i = X::ARRAYS;
        while i < MAX_ARRAYS {
            all[i] = R::DTYPES[i - X::ARRAYS];
            i += 1;
        }
        all
    };

    fn numbers(scalars: &Self::Scalars) -> Self::Elements {
        (X::numbers(&scalars.0), R::numbers(&scalars.1))
    }

    #[inline(always)]
    fn bind(x: &[*const u8; MAX_ARRAYS], at: usize, scalars: &Self::Scalars) -> Self::Bound {
        (X::bind(x, at, &scalars.0), R::bind(x, at + X::ARRAYS, &scalars.1))
    }

    #[inline(always)]
    unsafe fn load(bound: &Self::Bound, i: usize) -> Self::Elements {
        // SAFETY: the caller guarantees that every array has more than `i` elements.
        unsafe { (X::load(&bound.0, i), R::load(&bound.1, i)) }
    }
}

/// A Rust variable that a formula uses as a leaf: an array, a reference to an array, or a scalar. `K` is a marker type
/// that distinguishes these cases; the compiler infers it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` in a formula is neither an array of this backend nor a number of one of its dtypes",
    label = "neither an array of this backend nor a number of a dtype",
    note = "a vector, or an array or view of ndarray: `{{ b.asarray(array)? }}`; write other Rust code in braces: `{{ v.len() / 2 }}`"
)]
pub trait IntoLeaf<'a, B: Arrays, K> {
    /// The type of the leaf.
    type Leaf: Leaves<'a, B>;

    /// Makes the leaf. If the variable is an array, the leaf borrows it.
    fn leaf(&'a self) -> Self::Leaf;
}

/// Markers that distinguish the implementations of [`IntoLeaf`]. The compiler infers them, so no code names them.
pub mod leaf_kind {
    use std::marker::PhantomData;

    /// The variable is an array.
    pub struct Array<T>(PhantomData<T>);
    /// The variable is a reference.
    pub struct Borrowed<K>(PhantomData<K>);
    /// The variable is a mutable reference.
    pub struct BorrowedMut<K>(PhantomData<K>);
    /// The variable is a scalar.
    pub struct Scalar;
    /// The variable is a count, which is used as an `f64`.
    pub struct Count;
    /// The variable is a complex number with whole parts, as in `Complex::new(0, 1)`.
    pub struct WholeComplex;
}

impl<'a, B: Arrays, T: Element> IntoLeaf<'a, B, leaf_kind::Array<T>> for B::Array<T> {
    type Leaf = Array<'a, B, T>;

    #[inline(always)]
    fn leaf(&'a self) -> Array<'a, B, T> {
        Array(self)
    }
}

#[diagnostic::do_not_recommend]
impl<'a, B: Arrays, K, X: IntoLeaf<'a, B, K>> IntoLeaf<'a, B, leaf_kind::Borrowed<K>> for &'a X {
    type Leaf = X::Leaf;

    #[inline(always)]
    fn leaf(&'a self) -> X::Leaf {
        (**self).leaf()
    }
}

#[diagnostic::do_not_recommend]
impl<'a, B: Arrays, K, X: IntoLeaf<'a, B, K>> IntoLeaf<'a, B, leaf_kind::BorrowedMut<K>> for &'a mut X {
    type Leaf = X::Leaf;

    #[inline(always)]
    fn leaf(&'a self) -> X::Leaf {
        (**self).leaf()
    }
}

#[diagnostic::do_not_recommend]
impl<'a, B: Arrays, T: Element> IntoLeaf<'a, B, leaf_kind::Scalar> for T {
    type Leaf = Value<T>;

    #[inline(always)]
    fn leaf(&'a self) -> Value<T> {
        Value(*self)
    }
}

macro_rules! counts {
    ($($t:ty),*) => {$(
        #[diagnostic::do_not_recommend]
        impl<'a, B: Arrays> IntoLeaf<'a, B, leaf_kind::Count> for $t {
            type Leaf = Value<f64>;

            #[inline(always)]
            fn leaf(&'a self) -> Value<f64> {
                Value(*self as f64)
            }
        }
    )*};
}
counts!(usize, isize);

#[diagnostic::do_not_recommend]
impl<'a, B: Arrays> IntoLeaf<'a, B, leaf_kind::WholeComplex> for Complex<i32> {
    type Leaf = Value<Complex<f64>>;

    #[inline(always)]
    fn leaf(&'a self) -> Value<Complex<f64>> {
        Value(Complex::new(self.re.into(), self.im.into()))
    }
}

/// Makes a leaf of a variable, for a formula on this backend.
#[inline(always)]
pub fn leaf<'a, B: Arrays, K, X: IntoLeaf<'a, B, K>>(_: &B, x: &'a X) -> X::Leaf {
    x.leaf()
}

/// Borrows the array in a variable, as an operand of an op that cannot be a node of a formula.
#[inline(always)]
pub fn array<'a, B: Arrays, T: Element, K, X: IntoLeaf<'a, B, K, Leaf = Array<'a, B, T>>>(
    _: &B,
    x: &'a X,
) -> &'a B::Array<T> {
    x.leaf().0
}

/// A leaf that can be the operand of an op that cannot be a node of a formula.
pub trait AsOperand<'a, B: Arrays> {
    /// Dtype of the operand.
    type DType: Element;

    /// Converts the leaf to an operand.
    fn as_operand(&self) -> Operand<'a, B, Self::DType>;
}

impl<'a, B: Arrays, T: Element> AsOperand<'a, B> for Array<'a, B, T> {
    type DType = T;

    fn as_operand(&self) -> Operand<'a, B, T> {
        Operand::array(self.0)
    }
}

impl<'a, B: Arrays, T: Element> AsOperand<'a, B> for Value<T> {
    type DType = T;

    fn as_operand(&self) -> Operand<'a, B, T> {
        Operand::Scalar(self.0)
    }
}

/// Converts a leaf to an operand of an op that cannot be a node of a formula.
#[inline(always)]
pub fn operand<'a, B: Arrays, X: AsOperand<'a, B>>(_: &B, x: &X) -> Operand<'a, B, X::DType> {
    x.as_operand()
}
