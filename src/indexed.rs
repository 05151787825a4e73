//! `x[i]` in a formula, where `x` is an array or a list of Rust.

use crate::{
    Arrays, Element, Error, Indexing, Result,
    runtime::{IntoIndex, formula::NAME},
};

/// Types that a formula can index by one expression: arrays, vectors and slices of Rust, and references to them.
///
/// `K` is a marker that the compiler infers.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` in a formula has no elements with an index of type `{I}`",
    label = "neither an array of this backend nor a list of Rust with an index of type `usize`"
)]
pub trait Indexed<B: Arrays, I, K> {
    /// A part of the array, or an element of the list.
    type Part;

    /// Returns the part or the element.
    fn indexed(&self, b: &B, index: &I) -> Result<Self::Part>;
}

/// Markers that distinguish the implementations of [`Indexed`].
#[doc(hidden)]
pub mod kind {
    use std::marker::PhantomData;

    /// An array of the dtype `T`, and an index of the kind `K`.
    pub struct Array<T, K>(PhantomData<(T, K)>);
    /// A list of Rust.
    pub struct List;
    /// A reference.
    pub struct Borrowed<K>(PhantomData<K>);
}

impl<B: Indexing, T: Element, I: IntoIndex<B, K>, K> Indexed<B, I, kind::Array<T, K>> for B::Array<T> {
    type Part = B::Array<T>;

    fn indexed(&self, b: &B, index: &I) -> Result<B::Array<T>> {
        b.get(self, [index.to_index()])
    }
}

macro_rules! lists {
    ($([$($declared:tt)*] $list:ty),*) => {$(
        impl<B: Arrays, V: Copy $($declared)*> Indexed<B, usize, kind::List> for $list {
            type Part = V;

            #[inline]
            fn indexed(&self, _: &B, index: &usize) -> Result<V> {
                self.get(*index).copied().ok_or_else(|| {
                    Error::argument(NAME, format!("index {index} is out of range for a list of {} elements", self.len()))
                })
            }
        }
    )*};
}
lists!([] Vec<V>, [] [V], [, const N: usize] [V; N]);

#[diagnostic::do_not_recommend]
impl<B: Arrays, I, K, X: Indexed<B, I, K> + ?Sized> Indexed<B, I, kind::Borrowed<K>> for &X {
    type Part = X::Part;

    #[inline]
    fn indexed(&self, b: &B, index: &I) -> Result<X::Part> {
        (**self).indexed(b, index)
    }
}

#[diagnostic::do_not_recommend]
impl<B: Arrays, I, K, X: Indexed<B, I, K> + ?Sized> Indexed<B, I, kind::Borrowed<K>> for &mut X {
    type Part = X::Part;

    #[inline]
    fn indexed(&self, b: &B, index: &I) -> Result<X::Part> {
        (**self).indexed(b, index)
    }
}

/// Returns a part of an array, or an element of a list of Rust.
#[doc(hidden)]
pub fn indexed<B: Arrays, I, K, X: Indexed<B, I, K>>(b: &B, x: &X, index: &I) -> Result<X::Part> {
    x.indexed(b, index)
}
