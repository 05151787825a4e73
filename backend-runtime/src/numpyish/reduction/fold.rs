//! Folds: how the elements of one output are combined, and the loops that do so for many outputs at once.

use super::super::{convert::Value, simd::versions};
use crate::{Complex, DType, Element, Float, Numeric, Ordered};
use std::{hint::select_unpredictable, marker::PhantomData, mem::MaybeUninit};

/// A way to make one value of many, in any order.
pub trait Fold<A: Element> {
    /// Dtype of the accumulator.
    type Acc: Element;
    /// A value that the fold needs for each output: the mean, for a variance.
    type Given: Copy + Default + Send + Sync;

    /// Whether that is one for all outputs.
    const GIVEN_IS_SHARED: bool = false;

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

/// The sum of squared deviations from a known mean.
pub struct SquaredDeviations;

impl<A: Float> Fold<A> for SquaredDeviations {
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

/// The loops of a fold over one dtype. The code around them, in [`plan`](super::plan), is compiled once for all dtypes.
pub struct Folding {
    /// Dtype of a value.
    pub acc: DType,
    /// Size of `Given` in bytes; 0 where all outputs have the same.
    pub given: usize,
    /// Folds a block of `n` elements, of which there is at least one, to a value.
    pub block: unsafe fn(x: *const u8, n: usize, given: *const u8, acc: *mut u8),
    /// Folds rows into a row of `width` values: `rows` of them, each `stride` elements after the one before.
    pub rows: unsafe fn(acc: *mut u8, x: *const u8, stride: isize, rows: usize, width: usize, given: *const u8),
    /// Writes `n` values before any element, given one element of each.
    pub start: unsafe fn(acc: *mut u8, x: *const u8, n: usize),
    /// Merges `n` values into others.
    pub merge: unsafe fn(acc: *mut u8, other: *const u8, n: usize),
}

/// The loops of a fold over elements of `A`.
pub struct Of<A, F>(PhantomData<(A, F)>);

impl<A: Element, F: Fold<A>> Of<A, F> {
    /// The loops.
    pub const FOLDING: &'static Folding = &Folding {
        acc: F::Acc::DTYPE,
        given: if F::GIVEN_IS_SHARED { 0 } else { size_of::<F::Given>() },
        block: block::<A, F>,
        rows: rows::<A, F>,
        start: start::<A, F>,
        merge: merge::<A, F>,
    };
}

/// The folding of a sum of elements of a sum's dtype. Signed and unsigned integers have the same sums, bit by bit.
#[inline(never)] // not inlined into crates that call: what it names would be compiled there
pub fn sums(dtype: DType) -> &'static Folding {
    match dtype {
        DType::Int64 | DType::UInt64 => Of::<u64, Sum>::FOLDING,
        DType::Float32 => Of::<f32, Sum>::FOLDING,
        DType::Float64 => Of::<f64, Sum>::FOLDING,
        DType::Complex64 => Of::<Complex<f32>, Sum>::FOLDING,
        DType::Complex128 => Of::<Complex<f64>, Sum>::FOLDING,
        other => unreachable!("sums are not computed in {other}"),
    }
}

/// The folding of squared deviations.
#[inline(never)] // not inlined into crates that call: what it names would be compiled there
pub fn squared_deviations(dtype: DType) -> &'static Folding {
    match dtype {
        DType::Float32 => Of::<f32, SquaredDeviations>::FOLDING,
        DType::Float64 => Of::<f64, SquaredDeviations>::FOLDING,
        DType::Complex64 => Of::<Complex<f32>, SquaredDeviations>::FOLDING,
        DType::Complex128 => Of::<Complex<f64>, SquaredDeviations>::FOLDING,
        other => unreachable!("variances are not computed in {other}"),
    }
}

macro_rules! extremes {
    ($(#[$doc:meta])* $name:ident $fold:ident) => {
        $(#[$doc])*
        #[inline(never)] // as above
        pub fn $name(dtype: DType) -> &'static Folding {
            match dtype {
                // the bytes of false and true have the order of numbers
                DType::Bool | DType::UInt8 => Of::<u8, $fold>::FOLDING,
                DType::Int8 => Of::<i8, $fold>::FOLDING,
                DType::Int16 => Of::<i16, $fold>::FOLDING,
                DType::Int32 => Of::<i32, $fold>::FOLDING,
                DType::Int64 => Of::<i64, $fold>::FOLDING,
                DType::UInt16 => Of::<u16, $fold>::FOLDING,
                DType::UInt32 => Of::<u32, $fold>::FOLDING,
                DType::UInt64 => Of::<u64, $fold>::FOLDING,
                DType::Float32 => Of::<f32, $fold>::FOLDING,
                DType::Float64 => Of::<f64, $fold>::FOLDING,
                other => unreachable!("extremes are not computed in {other}"),
            }
        }
    };
}
extremes! {
    /// The folding of a maximum.
    maxima Max
}
extremes! {
    /// The folding of a minimum.
    minima Min
}

/// Elements of a block: it stays in the first-level cache, and sums of it are added pairwise.
pub const BLOCK: usize = 1024;

/// How many sums run side by side in a block: enough to hide the latency of an addition.
const SIDE_BY_SIDE: usize = 32;

versions! {
    unsafe fn block[A: Element, F: Fold<A>][A, F](x: *const u8, n: usize, given: *const u8, acc: *mut u8) {
        // SAFETY: `n` elements, of which there is at least one; room for a value. What is given of no bytes is not read.
        unsafe {
            let x = std::slice::from_raw_parts(x.cast::<A>(), n);
            let given = if size_of::<F::Given>() == 0 { F::Given::default() } else { *given.cast() };
            let mut side = [F::start(x[0]); SIDE_BY_SIDE];
            let (chunks, rest) = x.as_chunks::<SIDE_BY_SIDE>();
            for chunk in chunks {
                for k in 0..SIDE_BY_SIDE {
                    side[k] = F::step(side[k], chunk[k], given);
                }
            }
            for k in 0..rest.len() {
                side[k] = F::step(side[k], rest[k], given);
            }
            let mut width = if chunks.is_empty() { rest.len().next_power_of_two() } else { SIDE_BY_SIDE } / 2;
            while width > 0 {
                for k in 0..width {
                    side[k] = F::merge(side[k], side[k + width]);
                }
                width /= 2;
            }
            *acc.cast() = side[0];
        }
    }

    unsafe fn rows[A: Element, F: Fold<A>][A, F](
        acc: *mut u8,
        x: *const u8,
        stride: isize,
        rows: usize,
        width: usize,
        given: *const u8,
    ) {
        // SAFETY: `width` elements of every row may be read, and as many values are apart from them.
        unsafe {
            let (acc, x) = (acc.cast::<F::Acc>(), x.cast::<A>());
            // a stand-in that may be read as often as wanted: it has no bytes
            let given = if size_of::<F::Given>() == 0 { std::ptr::dangling() } else { given.cast::<F::Given>() };
            let next = if F::GIVEN_IS_SHARED { 0 } else { 1 };
            let mut r = 0;
            // four at a time, so that values are loaded and stored less often
            while r + 4 <= rows as isize {
                let (a, b) = (x.offset(r * stride), x.offset((r + 1) * stride));
                let (c, d) = (x.offset((r + 2) * stride), x.offset((r + 3) * stride));
                for i in 0..width {
                    let g = *given.add(i * next);
                    let v = F::step(F::step(*acc.add(i), *a.add(i), g), *b.add(i), g);
                    *acc.add(i) = F::step(F::step(v, *c.add(i), g), *d.add(i), g);
                }
                r += 4;
            }
            while r < rows as isize {
                let a = x.offset(r * stride);
                for i in 0..width {
                    *acc.add(i) = F::step(*acc.add(i), *a.add(i), *given.add(i * next));
                }
                r += 1;
            }
        }
    }

    unsafe fn merge[A: Element, F: Fold<A>][A, F](acc: *mut u8, other: *const u8, n: usize) {
        let (acc, other) = (acc.cast::<F::Acc>(), other.cast::<F::Acc>());
        for i in 0..n {
            // SAFETY: `n` of both, apart from one another.
            unsafe { *acc.add(i) = F::merge(*acc.add(i), *other.add(i)) };
        }
    }
}

unsafe fn start<A: Element, F: Fold<A>>(acc: *mut u8, x: *const u8, n: usize) {
    for i in 0..n {
        // SAFETY: `n` of both.
        unsafe { *acc.cast::<F::Acc>().add(i) = F::start(*x.cast::<A>().add(i)) };
    }
}

/// Merges values in the order of a balanced tree, one at a time: the error of a sum grows as the logarithm of their number.
pub struct Pairwise<'f> {
    folding: &'f Folding,
    /// Bit k is set where `tree[k]` holds the value of 2^k inputs.
    count: usize,
    tree: [MaybeUninit<Value>; usize::BITS as usize],
}

impl<'f> Pairwise<'f> {
    /// A sum of no values.
    pub fn new(folding: &'f Folding) -> Pairwise<'f> {
        Pairwise { folding, count: 0, tree: [MaybeUninit::uninit(); usize::BITS as usize] }
    }

    /// Takes one value more.
    ///
    /// # Safety
    /// The value has the fold's accumulator dtype.
    pub unsafe fn push(&mut self, value: Value) {
        let level = self.count.trailing_ones() as usize;
        let mut value = value;
        for earlier in &mut self.tree[..level] {
            // SAFETY: the levels below hold values, as the count says.
            unsafe {
                let earlier = earlier.assume_init_mut();
                (self.folding.merge)(earlier.start_mut(), value.start(), 1);
                value = *earlier;
            }
        }
        self.tree[level].write(value);
        self.count += 1;
    }

    /// All values folded to one; `None` if there are none.
    pub fn finish(&mut self) -> Option<Value> {
        let mut late: Option<Value> = None;
        for level in (0..self.tree.len()).filter(|k| self.count >> k & 1 == 1) {
            // SAFETY: the level holds a value, as the count says.
            let mut early = unsafe { *self.tree[level].assume_init_ref() };
            if let Some(late) = late {
                // SAFETY: both are values of the fold.
                unsafe { (self.folding.merge)(early.start_mut(), late.start(), 1) };
            }
            late = Some(early);
        }
        late
    }
}

#[cfg(test)]
mod tests {
    use super::{super::super::simd, *};

    fn folded(folding: &Folding, x: &[i64]) -> i64 {
        let mut value = Value::ZERO;
        // SAFETY: the folding is one of `i64`, and there is an element.
        unsafe {
            (folding.block)(x.as_ptr().cast(), x.len(), std::ptr::null(), value.start_mut());
            *value.start().cast()
        }
    }

    #[test]
    fn blocks_of_every_length() {
        simd::with_each(|_| {
            for n in (1..200).chain([BLOCK - 1, BLOCK]) {
                let x: Vec<i64> = (0..n as i64).map(|i| i * 7 % 31 - 9).collect();
                assert_eq!(folded(sums(DType::Int64), &x), x.iter().sum::<i64>(), "{n}");
                assert_eq!(folded(maxima(DType::Int64), &x), *x.iter().max().unwrap());
                assert_eq!(folded(minima(DType::Int64), &x), *x.iter().min().unwrap());
            }
        });
    }

    #[test]
    fn pairwise_takes_every_value_once() {
        for n in 0..70 {
            let mut tree = Pairwise::new(sums(DType::Int64));
            // SAFETY: values of the fold.
            (0..n).for_each(|i: i64| unsafe { tree.push(Value::of(i)) });
            // SAFETY: as above.
            let sum = tree.finish().map(|v| unsafe { *v.start().cast::<i64>() });
            assert_eq!(sum, (n > 0).then(|| n * (n - 1) / 2));
        }
    }
}
