//! Loops that fold the elements of many outputs (elements of the result of a reduction) at once. For each fold and
//! dtype, a table has the loop over lanes and the loop over rows. The elements of an output are folded in blocks, and
//! the values of the blocks are merged pairwise.

use super::{
    super::{convert::Value, simd::versions},
    fold::{Fold, Max, Min, Ones, SquaredDeviations, Sum},
    lanes::{Loop, Own, Products, lanes, started},
};
use crate::{Complex, DType, Element, Numeric};
use std::{marker::PhantomData, mem::MaybeUninit};

/// The loops of one fold over elements of one dtype. The plan that calls them ([`plan`](super::plan)) is compiled
/// once for all dtypes.
pub struct Folding {
    /// Dtype of the accumulators.
    pub acc: DType,
    /// Size in bytes of the operand `Fold::Operand` of one output, or 0 if all outputs share one operand.
    pub given: usize,
    /// Folds each lane to one value. A lane consists of the elements of one output.
    pub lanes: Loop,
    /// Folds the products of corresponding elements of two lanes, if the fold has such a loop.
    pub products: Option<Loop>,
    /// Folds several rows to one row of values. A row has one element of each of several outputs.
    pub rows: unsafe fn(&Rows),
    /// True if the order of the elements does not change the result.
    pub is_exact: bool,
    /// Merges `n` values into the `n` values at `acc`.
    pub merge: unsafe fn(acc: *mut u8, other: *const u8, n: usize),
}

/// Rows that are folded to one row of values, column by column. Each column belongs to one output.
#[derive(Clone, Copy)]
pub struct Rows {
    /// Base address for `offsets`, which are the offsets of the first element of each row. There is at least one row.
    pub x: *const u8,
    pub offsets: *const isize,
    pub count: usize,
    /// Number of elements of each row.
    pub width: usize,
    /// Address of the operands, of type `Fold::Operand`: one operand for each column, or one for all columns if
    /// [`Folding::given`] is 0.
    pub given: *const u8,
    /// The accumulators of earlier rows; null if no rows were folded before.
    pub before: *const u8,
    /// Address of the results.
    pub to: *mut u8,
    /// True if the results are merged into the values at `to`.
    pub joins: bool,
}

/// The loops of a fold over elements of `A`.
pub struct TypedFolding<A, F>(PhantomData<(A, F)>);

impl<A: Element, F: Fold<A>> TypedFolding<A, F> {
    /// The [`Folding`] with these loops.
    pub const FOLDING: &'static Folding = &Folding {
        acc: F::Acc::DTYPE,
        given: if F::OPERAND_IS_SHARED { 0 } else { size_of::<F::Operand>() },
        lanes: lanes::<A, F, Own<A>>,
        products: None,
        rows: rows::<A, F>,
        is_exact: F::IS_EXACT,
        merge: merge::<A, F>,
    };
}

/// The loops of sums and of sums of products.
struct Sums<A>(PhantomData<A>);

impl<A: Numeric> Sums<A> {
    const FOLDING: &'static Folding =
        &Folding { products: Some(lanes::<A, Sum, Products<A>>), ..*TypedFolding::<A, Sum>::FOLDING };
}

/// The loops of a sum with accumulators of `dtype`. Signed and unsigned integers share loops, because their sums have
/// the same bits.
#[inline(never)] // not inlined into calling crates, which would compile all these loops again
pub fn sums(dtype: DType) -> &'static Folding {
    match dtype {
        DType::Int64 | DType::UInt64 => TypedFolding::<u64, Sum>::FOLDING,
        DType::Float32 => Sums::<f32>::FOLDING,
        DType::Float64 => Sums::<f64>::FOLDING,
        DType::Complex64 => TypedFolding::<Complex<f32>, Sum>::FOLDING,
        DType::Complex128 => TypedFolding::<Complex<f64>, Sum>::FOLDING,
        other => unreachable!("sums are not computed in {other}"),
    }
}

/// The loops that count the true elements of bools, which are read as bytes.
pub const ONES: &Folding = TypedFolding::<u8, Ones>::FOLDING;

/// The loops of a sum of squared deviations.
#[inline(never)] // not inlined into calling crates, which would compile all these loops again
pub fn squared_deviations(dtype: DType) -> &'static Folding {
    match dtype {
        DType::Float32 => TypedFolding::<f32, SquaredDeviations>::FOLDING,
        DType::Float64 => TypedFolding::<f64, SquaredDeviations>::FOLDING,
        DType::Complex64 => TypedFolding::<Complex<f32>, SquaredDeviations>::FOLDING,
        DType::Complex128 => TypedFolding::<Complex<f64>, SquaredDeviations>::FOLDING,
        other => unreachable!("variances are not computed in {other}"),
    }
}

macro_rules! extremes {
    ($(#[$doc:meta])* $name:ident $fold:ident) => {
        $(#[$doc])*
        #[inline(never)] // not inlined, for the same reason as `sums`
        pub fn $name(dtype: DType) -> &'static Folding {
            match dtype {
                // the bytes of false and true compare like numbers
                DType::Bool | DType::UInt8 => TypedFolding::<u8, $fold>::FOLDING,
                DType::Int8 => TypedFolding::<i8, $fold>::FOLDING,
                DType::Int16 => TypedFolding::<i16, $fold>::FOLDING,
                DType::Int32 => TypedFolding::<i32, $fold>::FOLDING,
                DType::Int64 => TypedFolding::<i64, $fold>::FOLDING,
                DType::UInt16 => TypedFolding::<u16, $fold>::FOLDING,
                DType::UInt32 => TypedFolding::<u32, $fold>::FOLDING,
                DType::UInt64 => TypedFolding::<u64, $fold>::FOLDING,
                DType::Float32 => TypedFolding::<f32, $fold>::FOLDING,
                DType::Float64 => TypedFolding::<f64, $fold>::FOLDING,
                other => unreachable!("extremes are not computed in {other}"),
            }
        }
    };
}
extremes! {
    /// The loops of a maximum.
    maxima Max
}
extremes! {
    /// The loops of a minimum.
    minima Min
}

/// [`Rows`] with typed pointers to elements (`A`), accumulators (`V`) and operands (`G`).
struct Typed<'a, A, V, G> {
    x: *const A,
    offsets: &'a [isize],
    given: *const G,
    before: *const V,
    to: *mut V,
    joins: bool,
}

impl<A: Element, V: Copy, G: Copy> Typed<'_, A, V, G> {
    /// Folds `COLUMNS` columns at a time, from column `done` on, until fewer columns are left, and advances `done`. The
    /// accumulators of the columns stay in registers.
    ///
    /// # Safety
    /// The columns must exist in all rows and in the results, and there must be at least one row.
    #[inline(always)]
    unsafe fn columns<F: Fold<A, Acc = V, Operand = G>, const COLUMNS: usize>(&self, done: &mut usize, width: usize) {
        while *done + COLUMNS <= width {
            // SAFETY: the caller guarantees the columns and the rows.
            unsafe {
                let mut values: [V; COLUMNS];
                if F::ASKS_FOR_ORDER && COLUMNS > 1 {
                    let is_right;
                    (values, is_right) = self.folded::<F, COLUMNS, true>(*done);
                    if !is_right {
                        (values, _) = self.folded::<F, COLUMNS, false>(*done);
                    }
                } else {
                    (values, _) = self.folded::<F, COLUMNS, false>(*done);
                }
                let to = &mut *self.to.add(*done).cast::<[V; COLUMNS]>();
                if self.joins {
                    for k in 0..COLUMNS {
                        values[k] = F::merge(to[k], values[k]);
                    }
                }
                *to = values;
            }
            *done += COLUMNS;
        }
    }

    /// Folds `COLUMNS` columns from column `first` on. If `IN_ORDER`, all elements are folded as if they were ordered
    /// (not NaN). If an element is not ordered, the function returns false, and the values are wrong. Elements are
    /// tested in pairs, because one comparison is enough for two elements.
    ///
    /// # Safety
    /// The conditions of [`Typed::columns`] hold.
    #[inline(always)]
    unsafe fn folded<F: Fold<A, Acc = V, Operand = G>, const COLUMNS: usize, const IN_ORDER: bool>(
        &self,
        first: usize,
    ) -> ([V; COLUMNS], bool) {
        let Typed { x, offsets, given, before, .. } = *self;
        // SAFETY: the caller guarantees the columns and the rows.
        unsafe {
            let row = |offset: isize| &*x.offset(offset).add(first).cast::<[A; COLUMNS]>();
            let given = |k: usize| *given.add(if F::OPERAND_IS_SHARED { 0 } else { first + k });
            let mut values: [V; COLUMNS] =
                if before.is_null() { started::<_, F, _>(row(offsets[0])) } else { *before.add(first).cast() };
            let mut all_in_order = true;
            for &offset in offsets {
                let row = row(offset);
                let mut in_order = true;
                for k in 0..COLUMNS {
                    values[k] = match IN_ORDER {
                        true => F::step_in_order(values[k], row[k], given(k)),
                        false => F::step(values[k], row[k], given(k)),
                    };
                }
                if IN_ORDER {
                    for k in 0..COLUMNS / 2 {
                        in_order &= F::is_ordered(row[k]) & F::is_ordered(row[k + COLUMNS / 2]);
                    }
                }
                all_in_order &= in_order;
            }
            (values, all_in_order)
        }
    }

    /// Like [`Typed::columns`], but folds a single row into existing values, without the tests that other cases need.
    ///
    /// # Safety
    /// The conditions of [`Typed::columns`] hold; there is exactly one row, `before` has values, and the results are
    /// not merged into other values.
    #[inline(always)]
    unsafe fn columns_of_one<F: Fold<A, Acc = V, Operand = G>, const COLUMNS: usize>(
        &self,
        done: &mut usize,
        width: usize,
    ) {
        // SAFETY: the caller guarantees the columns and the row.
        unsafe {
            let x = self.x.offset(self.offsets[0]);
            while *done + COLUMNS <= width {
                let row = &*x.add(*done).cast::<[A; COLUMNS]>();
                let mut values: [V; COLUMNS] = *self.before.add(*done).cast();
                for k in 0..COLUMNS {
                    let given = *self.given.add(if F::OPERAND_IS_SHARED { 0 } else { *done + k });
                    values[k] = F::step(values[k], row[k], given);
                }
                *self.to.add(*done).cast() = values;
                *done += COLUMNS;
            }
        }
    }
}

versions! {
    unsafe fn rows[A: Element, F: Fold<A>][A, F](rows: &Rows) {
        let width = rows.width;
        let typed = Typed {
            x: rows.x.cast::<A>(),
            // SAFETY: there are as many offsets as rows.
            offsets: unsafe { std::slice::from_raw_parts(rows.offsets, rows.count) },
            // `dangling` may be read at any index, because the operand has no bytes
            given: if size_of::<F::Operand>() == 0 { std::ptr::dangling() } else { rows.given.cast::<F::Operand>() },
            before: rows.before.cast::<F::Acc>(),
            to: rows.to.cast(),
            joins: rows.joins,
        };
        let mut done = 0;
        // SAFETY: the columns belong to the rows, and each column is folded once.
        unsafe {
            if rows.count == 1 && !rows.before.is_null() && !rows.joins {
                if size_of::<A>() < 8 {
                    typed.columns_of_one::<F, 32>(&mut done, width);
                }
                typed.columns_of_one::<F, 16>(&mut done, width);
                typed.columns_of_one::<F, 4>(&mut done, width);
                return typed.columns_of_one::<F, 1>(&mut done, width);
            }
            // folds as many columns at a time as stay in registers, and then fewer at a time
            match (size_of::<A>(), size_of::<F::Acc>()) {
                (1, 1) => typed.columns::<F, 256>(&mut done, width),
                (16, _) => {}
                _ => typed.columns::<F, 32>(&mut done, width),
            }
            typed.columns::<F, 16>(&mut done, width);
            typed.columns::<F, 4>(&mut done, width);
            typed.columns::<F, 1>(&mut done, width);
        }
    }

    unsafe fn merge[A: Element, F: Fold<A>][A, F](acc: *mut u8, other: *const u8, n: usize) {
        let (acc, other) = (acc.cast::<F::Acc>(), other.cast::<F::Acc>());
        // SAFETY: both have `n` values, and they do not overlap.
        unsafe {
            let done = merge_some::<A, F, 16>(acc, other, 0, n);
            let done = merge_some::<A, F, 4>(acc, other, done, n);
            merge_some::<A, F, 1>(acc, other, done, n);
        }
    }
}

/// Merges `SOME` values at a time, from index `done` on, until fewer values are left. Returns the index after the last
/// merged value.
///
/// # Safety
/// `acc` and `other` must have `n` values each, without overlap.
#[inline(always)]
unsafe fn merge_some<A: Element, F: Fold<A>, const SOME: usize>(
    acc: *mut F::Acc,
    other: *const F::Acc,
    mut done: usize,
    n: usize,
) -> usize {
    while done + SOME <= n {
        // SAFETY: the caller guarantees `n` values in both arrays.
        unsafe {
            let to = &mut *acc.add(done).cast::<[F::Acc; SOME]>();
            let other = &*other.add(done).cast::<[F::Acc; SOME]>();
            // merges into a copy; otherwise, the compiler would use slow masked stores for a fold that selects a value
            let mut values = *to;
            for k in 0..SOME {
                values[k] = F::merge(values[k], other[k]);
            }
            *to = values;
        }
        done += SOME;
    }
    done
}

/// Merges values in the order of a balanced tree, while they are pushed one at a time. In this order, the error of a
/// sum grows only with the logarithm of the number of values.
pub struct Pairwise<'f> {
    folding: &'f Folding,
    /// Bit k is set if `tree[k]` holds the value of 2^k inputs.
    count: usize,
    tree: [MaybeUninit<Value>; usize::BITS as usize],
}

impl<'f> Pairwise<'f> {
    /// An empty tree.
    pub fn new(folding: &'f Folding) -> Pairwise<'f> {
        Pairwise { folding, count: 0, tree: [MaybeUninit::uninit(); usize::BITS as usize] }
    }

    /// Adds one value.
    ///
    /// # Safety
    /// The value must have the fold's accumulator dtype.
    pub unsafe fn push(&mut self, value: Value) {
        let level = self.count.trailing_ones() as usize;
        let mut value = value;
        for earlier in &mut self.tree[..level] {
            // SAFETY: the lower levels hold values, because their bits of the count are set.
            unsafe {
                let earlier = earlier.assume_init_mut();
                (self.folding.merge)(earlier.start_mut(), value.start(), 1);
                value = *earlier;
            }
        }
        self.tree[level].write(value);
        self.count += 1;
    }

    /// Merges all values into one; `None` if there are no values.
    pub fn finish(&mut self) -> Option<Value> {
        let mut late: Option<Value> = None;
        let mut left = self.count;
        while left != 0 {
            let level = left.trailing_zeros() as usize;
            left &= left - 1;
            // SAFETY: the level holds a value, because its bit of the count is set.
            let mut early = unsafe { *self.tree[level].assume_init_ref() };
            if let Some(late) = late {
                // SAFETY: both are accumulators of the fold.
                unsafe { (self.folding.merge)(early.start_mut(), late.start(), 1) };
            }
            late = Some(early);
        }
        late
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{super::simd, lanes::StridedLanes, order::BLOCK},
        *,
    };

    fn folded(folding: &Folding, x: &[i64]) -> i64 {
        let mut value = Value::ZERO;
        // SAFETY: the folding is for `i64`, and there is at least one element.
        unsafe {
            (folding.lanes)(&StridedLanes::one(x.as_ptr().cast(), x.len(), std::ptr::null(), value.start_mut()));
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
            // SAFETY: the values are accumulators of the fold.
            (0..n).for_each(|i: i64| unsafe { tree.push(Value::of(i)) });
            // SAFETY: the values are accumulators of the fold.
            let sum = tree.finish().map(|v| unsafe { *v.start().cast::<i64>() });
            assert_eq!(sum, (n > 0).then(|| n * (n - 1) / 2));
        }
    }
}
