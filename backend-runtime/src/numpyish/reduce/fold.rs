//! What is done to the elements of one output, and the loops that do it to many at once.

use crate::{Element, Float, Numeric, Ordered};
use multiversion::multiversion;
use std::hint::select_unpredictable;

/// A way to make one value of many, in any order.
///
/// It has no `self`, so that one generic loop is compiled for it and for the instruction set of the machine.
pub trait Fold<A: Element> {
    /// What elements are folded into.
    type Acc: Element;
    /// What has to be known of an output beforehand: its mean, for its variance.
    type Given: Copy + Default + Send + Sync;

    /// The value before any element; `first` is one of the elements.
    fn start(first: A) -> Self::Acc;

    /// The value with one element more.
    fn step(acc: Self::Acc, x: A, given: Self::Given) -> Self::Acc;

    /// Two values as one.
    fn merge(a: Self::Acc, b: Self::Acc) -> Self::Acc;
}

/// `x + y + ..`
pub struct Sum;

impl<A: Numeric> Fold<A> for Sum {
    type Acc = A;
    type Given = ();

    #[inline(always)]
    fn start(_: A) -> A {
        // -0.0, so that a sum of negative zeros keeps the sign
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

/// `x * y * ..`
pub struct Product;

impl<A: Numeric> Fold<A> for Product {
    type Acc = A;
    type Given = ();

    #[inline(always)]
    fn start(_: A) -> A {
        A::ONE
    }

    #[inline(always)]
    fn step(acc: A, x: A, _: ()) -> A {
        acc.times(x)
    }

    #[inline(always)]
    fn merge(a: A, b: A) -> A {
        a.times(b)
    }
}

/// The largest, or NaN.
pub struct Max;

/// The smallest, or NaN.
pub struct Min;

macro_rules! extreme {
    ($($name:ident $beats:tt)*) => {$(
        impl<A: Ordered> Fold<A> for $name {
            type Acc = A;
            type Given = ();

            #[inline(always)]
            fn start(first: A) -> A {
                first
            }

            #[inline(always)]
            fn step(acc: A, x: A, _: ()) -> A {
                // a select that stays one: as a branch it would become a masked store, which is slow
                select_unpredictable((x $beats acc) | is_nan(x), x, acc)
            }

            #[inline(always)]
            fn merge(a: A, b: A) -> A {
                Self::step(a, b, ())
            }
        }
    )*};
}
extreme!(Max > Min <);

/// Whether it is NaN: unordered even with itself.
#[inline(always)]
pub fn is_nan<A: Ordered>(x: A) -> bool {
    x.partial_cmp(&x).is_none()
}

/// The sum of squared distances from a known mean.
pub struct Spread;

impl<A: Float> Fold<A> for Spread {
    type Acc = A::Real;
    type Given = A;

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

/// Elements of a block: it stays in the first-level cache, and sums of it are added pairwise.
pub const BLOCK: usize = 1024;

/// How many sums run side by side in a block: enough to hide the latency of an addition.
const SIDE_BY_SIDE: usize = 32;

/// Folds a block that is not empty.
#[multiversion(targets("x86_64+avx2+fma"))]
pub fn block<A: Element, F: Fold<A>>(x: &[A], given: F::Given) -> F::Acc {
    let mut acc = [F::start(x[0]); SIDE_BY_SIDE];
    let (chunks, rest) = x.as_chunks::<SIDE_BY_SIDE>();
    for chunk in chunks {
        for (a, &v) in acc.iter_mut().zip(chunk) {
            *a = F::step(*a, v, given);
        }
    }
    for (a, &v) in acc.iter_mut().zip(rest) {
        *a = F::step(*a, v, given);
    }
    let mut width = if chunks.is_empty() { rest.len().next_power_of_two() } else { SIDE_BY_SIDE } / 2;
    while width > 0 {
        for i in 0..width {
            acc[i] = F::merge(acc[i], acc[i + width]);
        }
        width /= 2;
    }
    acc[0]
}

/// Folds rows into a row of values: `rows` of them from `x` on, each `stride` elements after the one before.
///
/// # Safety
/// Every row has `acc.len()` elements that may be read.
#[multiversion(targets("x86_64+avx2+fma"))]
pub unsafe fn rows<A: Element, F: Fold<A>>(
    acc: &mut [F::Acc],
    x: *const A,
    stride: isize,
    rows: usize,
    given: &[F::Given],
) {
    let width = acc.len();
    // SAFETY: the caller's promise.
    let row = |r: usize| unsafe { std::slice::from_raw_parts(x.offset(r as isize * stride), width) };
    // four at a time, so that values are loaded and stored less often
    for r in (0..rows / 4 * 4).step_by(4) {
        let (a, b, c, d) = (row(r), row(r + 1), row(r + 2), row(r + 3));
        for (((((acc, &g), &a), &b), &c), &d) in acc.iter_mut().zip(given).zip(a).zip(b).zip(c).zip(d) {
            *acc = F::step(F::step(F::step(F::step(*acc, a, g), b, g), c, g), d, g);
        }
    }
    for r in rows / 4 * 4..rows {
        for ((acc, &g), &a) in acc.iter_mut().zip(given).zip(row(r)) {
            *acc = F::step(*acc, a, g);
        }
    }
}

/// Merges one row of values into another.
#[multiversion(targets("x86_64+avx2+fma"))]
pub fn merge_rows<A: Element, F: Fold<A>>(acc: &mut [F::Acc], other: &[F::Acc]) {
    for (a, &b) in acc.iter_mut().zip(other) {
        *a = F::merge(*a, b);
    }
}

/// Merges values in the order of a balanced tree, one at a time: the error of a sum grows as the logarithm of their number.
pub struct Pairwise<V> {
    /// Bit k is set where `tree[k]` holds the value of 2^k inputs.
    count: usize,
    tree: [V; usize::BITS as usize],
}

impl<V: Element> Pairwise<V> {
    /// Of no values yet.
    pub fn new() -> Pairwise<V> {
        Pairwise { count: 0, tree: [V::default(); usize::BITS as usize] }
    }

    /// Takes one value more.
    pub fn push(&mut self, mut value: V, merge: impl Fn(V, V) -> V) {
        let level = self.count.trailing_ones() as usize;
        for &earlier in &self.tree[..level] {
            value = merge(earlier, value);
        }
        self.tree[level] = value;
        self.count += 1;
    }

    /// All values as one; `None` of none.
    pub fn finish(&self, merge: impl Fn(V, V) -> V) -> Option<V> {
        let levels = (0..self.tree.len()).filter(|k| self.count >> k & 1 == 1);
        levels.map(|k| self.tree[k]).reduce(|late, early| merge(early, late))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_every_length() {
        for n in (1..200).chain([BLOCK - 1, BLOCK]) {
            let x: Vec<i64> = (0..n as i64).map(|i| i * 7 % 31 - 9).collect();
            assert_eq!(block::<_, Sum>(&x, ()), x.iter().sum::<i64>(), "{n}");
            assert_eq!(block::<_, Max>(&x, ()), *x.iter().max().unwrap());
            assert_eq!(block::<_, Min>(&x, ()), *x.iter().min().unwrap());
            assert_eq!(block::<_, Product>(&x, ()), x.iter().fold(1_i64, |a, &b| a.wrapping_mul(b)));
        }
    }

    #[test]
    fn pairwise_takes_every_value_once() {
        for n in 0..70 {
            let mut tree = Pairwise::new();
            (0..n).for_each(|i: i64| tree.push(i, |a, b| a + b));
            assert_eq!(tree.finish(|a, b| a + b), (n > 0).then(|| n * (n - 1) / 2));
        }
    }
}
