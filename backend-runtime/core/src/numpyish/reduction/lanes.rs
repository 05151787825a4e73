//! Loops that fold lanes. A lane consists of the contiguous elements that are folded to one output (an element of the
//! result of a reduction). One call folds many lanes.

// the loops in this file run over indices, so that accumulators stay in registers
#![allow(clippy::needless_range_loop)]

use super::{
    super::simd::versions,
    fold::Fold,
    order::{BLOCK, MAX_ACCUMULATORS, sides},
};
use crate::{Element, Numeric};
use std::{hint::black_box, mem::MaybeUninit, ptr::null, slice};

/// A loop over lanes.
pub type Loop = unsafe fn(&StridedLanes);

/// Lanes at equal distances. Each lane is folded to one value.
#[derive(Clone, Copy)]
pub struct StridedLanes {
    /// Address of the first element.
    pub x: *const u8,
    /// Address of the first element of the second factor, if products are folded.
    pub y: *const u8,
    /// Number of elements of each lane, at least one.
    pub n: usize,
    /// Number of elements from the start of one lane to the start of the next.
    pub step: isize,
    /// Number of lanes.
    pub count: usize,
    /// The operands `Fold::Operand`, one for each lane.
    pub given: *const u8,
    /// Address of the results, which are contiguous.
    pub to: *mut u8,
}

impl StridedLanes {
    /// A single lane.
    pub fn one(x: *const u8, n: usize, given: *const u8, to: *mut u8) -> StridedLanes {
        StridedLanes { x, y: null(), n, step: 0, count: 1, given, to }
    }
}

/// The `n` elements of a lane. They are read through references, so that the compiler knows that no loop writes them.
pub trait Items<A>: Copy {
    /// The elements at `x`, or their products with the elements at `y`.
    ///
    /// # Safety
    /// There must be `n` elements, which live as long as the value returned.
    unsafe fn new(x: *const A, y: *const A, n: usize) -> Self;

    /// Number of elements.
    fn len(self) -> usize;

    /// The element with index `i`.
    ///
    /// # Safety
    /// `i` must be less than the length.
    unsafe fn at(self, i: usize) -> A;

    /// The `n` elements from index `first` on.
    ///
    /// # Safety
    /// All these elements must be within the length.
    unsafe fn part(self, first: usize, n: usize) -> Self;
}

/// The elements of one lane.
#[derive(Clone, Copy)]
pub struct Own<'a, A>(&'a [A]);

impl<A: Element> Items<A> for Own<'_, A> {
    #[inline(always)]
    unsafe fn new(x: *const A, _: *const A, n: usize) -> Self {
        // SAFETY: the caller guarantees `n` elements.
        Own(unsafe { slice::from_raw_parts(x, n) })
    }

    #[inline(always)]
    fn len(self) -> usize {
        self.0.len()
    }

    #[inline(always)]
    unsafe fn at(self, i: usize) -> A {
        // SAFETY: the caller guarantees that `i` is below the length.
        unsafe { *self.0.get_unchecked(i) }
    }

    #[inline(always)]
    unsafe fn part(self, first: usize, n: usize) -> Self {
        // SAFETY: the caller guarantees that the part lies within the length.
        Own(unsafe { self.0.get_unchecked(first..first + n) })
    }
}

/// The products of corresponding elements of two lanes.
#[derive(Clone, Copy)]
pub struct Products<'a, A>(&'a [A], &'a [A]);

impl<A: Numeric> Items<A> for Products<'_, A> {
    #[inline(always)]
    unsafe fn new(x: *const A, y: *const A, n: usize) -> Self {
        // SAFETY: the caller guarantees `n` elements in both lanes.
        unsafe { Products(slice::from_raw_parts(x, n), slice::from_raw_parts(y, n)) }
    }

    #[inline(always)]
    fn len(self) -> usize {
        self.0.len()
    }

    #[inline(always)]
    unsafe fn at(self, i: usize) -> A {
        // SAFETY: the caller guarantees that `i` is below the length.
        unsafe { (*self.0.get_unchecked(i)).times(*self.1.get_unchecked(i)) }
    }

    #[inline(always)]
    unsafe fn part(self, first: usize, n: usize) -> Self {
        // SAFETY: the caller guarantees that the part lies within the length.
        unsafe { Products(self.0.get_unchecked(first..first + n), self.1.get_unchecked(first..first + n)) }
    }
}

/// Returns initial accumulators, one for each element of `x`. This is a loop, because `map` would compile to a call
/// with arrays in memory.
#[inline(always)]
pub fn started<A: Element, F: Fold<A>, const N: usize>(x: &[A; N]) -> [F::Acc; N] {
    let mut values = [F::start(x[0]); N];
    for k in 0..N {
        values[k] = F::start(x[k]);
    }
    values
}

/// Returns initial accumulators, one for each of the first `N` elements.
///
/// # Safety
/// There must be `N` elements.
#[inline(always)]
unsafe fn started_with<A: Element, F: Fold<A>, X: Items<A>, const N: usize>(x: X) -> [F::Acc; N] {
    // SAFETY: the caller guarantees `N` elements.
    unsafe {
        let mut values = [F::start(x.at(0)); N];
        for k in 0..N {
            values[k] = F::start(x.at(k));
        }
        values
    }
}

/// Folds `chunks` chunks of `SIDES` elements, with one accumulator for each index within a chunk. `chunks` is at least
/// one.
///
/// # Safety
/// `x` must have `chunks * SIDES` elements.
#[inline(always)]
unsafe fn chunked<A: Element, F: Fold<A>, X: Items<A>, const SIDES: usize>(
    x: X,
    chunks: usize,
    given: F::Operand,
) -> [F::Acc; SIDES] {
    // SAFETY: the caller guarantees `chunks * SIDES` elements.
    let mut side = unsafe { started_with::<A, F, X, SIDES>(x) };
    for chunk in 0..chunks {
        for k in 0..SIDES {
            // SAFETY: the caller guarantees `chunks * SIDES` elements.
            side[k] = F::step(side[k], unsafe { x.at(chunk * SIDES + k) }, given);
        }
    }
    if SIDES > 1 {
        // The accumulators go through memory, because the compiler would otherwise use the short vectors of the code
        // below in the loop above. `black_box` gets a copy: if another function knew the address of the accumulators,
        // the compiler would have to assume that they overlap the elements, and store them at every step.
        let mut kept = side;
        black_box(&mut kept);
        return kept;
    }
    side
}

/// Like [`chunked`], but folds all elements as if they were ordered (not NaN), and returns `None` if an element is
/// not ordered. Elements are tested in pairs, because one comparison is enough for two elements.
///
/// # Safety
/// The conditions of [`chunked`] hold.
#[inline(always)]
unsafe fn chunked_in_order<A: Element, F: Fold<A>, X: Items<A>, const SIDES: usize>(
    x: X,
    chunks: usize,
    given: F::Operand,
) -> Option<[F::Acc; SIDES]> {
    // SAFETY: the caller guarantees `chunks * SIDES` elements, here and below.
    let mut side = unsafe { started_with::<A, F, X, SIDES>(x) };
    let mut all_in_order = true;
    for chunk in 0..chunks {
        let at = chunk * SIDES;
        let mut in_order = true;
        for k in 0..SIDES {
            // SAFETY: the caller guarantees `chunks * SIDES` elements.
            side[k] = F::step_in_order(side[k], unsafe { x.at(at + k) }, given);
        }
        for k in 0..SIDES / 2 {
            // SAFETY: the caller guarantees `chunks * SIDES` elements.
            in_order &= unsafe { F::is_ordered(x.at(at + k)) & F::is_ordered(x.at(at + k + SIDES / 2)) };
        }
        all_in_order &= in_order;
    }
    black_box(&mut side);
    all_in_order.then_some(side)
}

/// Maximum number of accumulators that stay in registers while the elements after the last full group are folded. Short
/// lanes have this number of accumulators, and in short lanes these elements take a large part of the time.
const FEW: usize = 4;

/// Counts at most [`BLOCK`] elements. The count is the sum of several counts of one byte each.
///
/// # Safety
/// `x` must have as many elements as its length says, and at least one.
#[inline(always)]
unsafe fn counted<A: Element, F: Fold<A>, X: Items<A>>(x: X, given: F::Operand) -> F::Acc {
    /// Number of separate counts. Each count is one byte, so all of them fill two AVX2 registers.
    const SIDES: usize = 64;
    const { assert!(BLOCK / SIDES <= u8::MAX as usize, "a byte has room for what is counted in it") };
    let mut side = [0_u8; SIDES];
    let chunks = x.len() / SIDES;
    for chunk in 0..chunks {
        for k in 0..SIDES {
            // SAFETY: the caller guarantees the elements, here and below.
            side[k] += F::count(unsafe { x.at(chunk * SIDES + k) }, given);
        }
    }
    let mut count = 0_i64;
    for k in 0..SIDES {
        count += i64::from(side[k]);
    }
    for i in chunks * SIDES..x.len() {
        // SAFETY: the caller guarantees the elements.
        count += i64::from(F::count(unsafe { x.at(i) }, given));
    }
    count.cast()
}

/// Folds at least `SIDES` elements, with `SIDES` accumulators. [`sides`] chooses the number of accumulators.
///
/// # Safety
/// `x` must have as many elements as its length says.
#[inline(always)]
unsafe fn side_by_side<A: Element, F: Fold<A>, X: Items<A>, const SIDES: usize>(x: X, given: F::Operand) -> F::Acc {
    if F::COUNTS && SIDES == MAX_ACCUMULATORS {
        // SAFETY: the caller guarantees the elements.
        return unsafe { counted::<A, F, X>(x, given) };
    }
    let (chunks, left) = (x.len() / SIDES, x.len() % SIDES);
    // SAFETY: the caller guarantees the elements, here and below.
    let (mut side, rest) = unsafe {
        let in_order = match F::ASKS_FOR_ORDER && SIDES > 1 {
            true => chunked_in_order::<A, F, X, SIDES>(x, chunks, given),
            false => None,
        };
        let side = match in_order {
            Some(side) => side,
            None => chunked::<A, F, X, SIDES>(x, chunks, given),
        };
        (side, x.part(chunks * SIDES, left))
    };
    if SIDES <= FEW {
        // uses constant indices, so that the accumulators stay in registers
        for k in 0..SIDES - 1 {
            if k < left {
                // SAFETY: element `k` is left.
                side[k] = F::step(side[k], unsafe { rest.at(k) }, given);
            }
        }
    } else {
        let fours = if F::CHOOSES { 0 } else { left / 4 };
        for four in 0..fours {
            // uses constant indices within the accumulators
            let to = &mut side.as_chunks_mut::<4>().0[four];
            let mut values = *to;
            for k in 0..4 {
                // SAFETY: this element is left.
                values[k] = F::step(values[k], unsafe { rest.at(4 * four + k) }, given);
            }
            *to = values;
        }
        for (k, to) in side.iter_mut().enumerate().take(left).skip(4 * fours) {
            // SAFETY: element `k` is left.
            *to = F::step(*to, unsafe { rest.at(k) }, given);
        }
    }
    let mut half = SIDES / 2;
    while half > 0 {
        for k in 0..half {
            side[k] = F::merge(side[k], side[k + half]);
        }
        half /= 2;
    }
    side[0]
}

/// Number of accumulators for a block of `n` elements. For most folds, it is [`sides(n)`](sides). An exact fold may
/// use more, because any number of accumulators gives the same result.
#[inline(always)]
fn chains<A: Element, F: Fold<A>>(n: usize) -> usize {
    if F::IS_EXACT && n >= MAX_ACCUMULATORS { MAX_ACCUMULATORS } else { sides(n) }
}

/// Folds a block of at most [`BLOCK`] elements.
///
/// # Safety
/// `x` must have as many elements as its length says, and at least one.
#[inline(always)]
unsafe fn block<A: Element, F: Fold<A>, X: Items<A>>(x: X, given: F::Operand) -> F::Acc {
    // SAFETY: the caller guarantees the elements.
    unsafe {
        match chains::<A, F>(x.len()) {
            1 => side_by_side::<A, F, X, 1>(x, given),
            4 => side_by_side::<A, F, X, 4>(x, given),
            8 => side_by_side::<A, F, X, 8>(x, given),
            16 => side_by_side::<A, F, X, 16>(x, given),
            _ => side_by_side::<A, F, X, MAX_ACCUMULATORS>(x, given),
        }
    }
}

/// Folds several blocks, whose values are merged in the order of [`Pairwise`](super::folding::Pairwise).
///
/// # Safety
/// The conditions of [`block`] hold.
#[inline(always)]
unsafe fn blocks<A: Element, F: Fold<A>, X: Items<A>>(x: X, given: F::Operand) -> F::Acc {
    // bit k of the number of blocks is set if `tree[k]` holds the merged value of 2^k blocks
    let mut tree = [const { MaybeUninit::<F::Acc>::uninit() }; usize::BITS as usize];
    let whole = x.len() / BLOCK;
    for number in 0..whole {
        // The compiler must not know the length. If it did, it would unroll the loop instead of using vectors.
        // SAFETY: the caller guarantees the elements.
        let mut value =
            unsafe { side_by_side::<A, F, X, MAX_ACCUMULATORS>(x.part(number * BLOCK, black_box(BLOCK)), given) };
        let level = number.trailing_ones() as usize;
        for earlier in &tree[..level] {
            // SAFETY: these levels hold values, because their bits of `number` are set.
            value = F::merge(unsafe { earlier.assume_init() }, value);
        }
        tree[level].write(value);
    }
    let left = x.len() % BLOCK;
    // SAFETY: the caller guarantees the elements.
    let mut all = (left > 0).then(|| unsafe { block::<A, F, X>(x.part(whole * BLOCK, left), given) });
    let mut left = whole;
    while left != 0 {
        // SAFETY: the level holds a value, because its bit of the number of blocks is set.
        let early = unsafe { tree[left.trailing_zeros() as usize].assume_init() };
        left &= left - 1;
        all = Some(all.map_or(early, |late| F::merge(early, late)));
    }
    // SAFETY: there is at least one element.
    all.unwrap_or_else(|| F::start(unsafe { x.at(0) }))
}

/// Number of lanes that are folded together if each has one accumulator.
const TOGETHER: usize = 8;

/// The value of `SIDES` that stands for lanes of several blocks.
const BLOCKS: usize = 0;

/// [`StridedLanes`] with typed pointers to elements (`A`), accumulators (`V`) and operands (`G`).
struct Typed<A, V, G> {
    x: *const A,
    y: *const A,
    n: usize,
    step: isize,
    given: *const G,
    to: *mut V,
}

impl<A: Element, V: Element, G: Copy + Default> Typed<A, V, G> {
    /// # Safety
    /// `i` must be less than the number of lanes.
    #[inline(always)]
    unsafe fn lane<X: Items<A>>(&self, i: usize) -> X {
        let from = i as isize * self.step;
        // SAFETY: the caller guarantees that lane `i` exists. If elements are not multiplied, `y` is not used.
        unsafe { X::new(self.x.offset(from), self.y.wrapping_offset(from), self.n) }
    }

    /// # Safety
    /// `i` must be less than the number of lanes. An operand without bytes is not read.
    #[inline(always)]
    unsafe fn given<F: Fold<A, Acc = V, Operand = G>>(&self, i: usize) -> G {
        if size_of::<G>() == 0 {
            return G::default();
        }
        // SAFETY: the caller guarantees that lane `i` and its operand exist.
        unsafe { *self.given.add(if F::OPERAND_IS_SHARED { 0 } else { i }) }
    }

    /// Folds the lanes from `first` up to `count` one by one, with `SIDES` accumulators, or block by block if `SIDES`
    /// is [`BLOCKS`]. The function takes no closure, because a closure would be compiled for the baseline instruction
    /// set.
    ///
    /// # Safety
    /// There must be `count` lanes, of at least `SIDES` elements.
    #[inline(always)]
    unsafe fn each<F: Fold<A, Acc = V, Operand = G>, X: Items<A>, const SIDES: usize>(
        &self,
        first: usize,
        count: usize,
    ) {
        for i in first..count {
            // SAFETY: the caller guarantees `count` lanes.
            unsafe {
                let (lane, given) = (self.lane::<X>(i), self.given::<F>(i));
                *self.to.add(i) = match SIDES {
                    BLOCKS => blocks::<A, F, X>(lane, given),
                    _ => side_by_side::<A, F, X, SIDES>(lane, given),
                };
            }
        }
    }

    /// Folds `TOGETHER` lanes at a time, with one accumulator each, to hide latency. Returns the number of lanes
    /// folded.
    ///
    /// # Safety
    /// There must be `count` lanes.
    #[inline(always)]
    unsafe fn together<F: Fold<A, Acc = V, Operand = G>, X: Items<A>>(&self, count: usize) -> usize {
        let mut done = 0;
        while done + TOGETHER <= count {
            // SAFETY: the caller guarantees `count` lanes.
            unsafe {
                let element = |k: usize, j: usize| self.lane::<X>(done + k).at(j);
                let mut values = [F::start(element(0, 0)); TOGETHER];
                for (k, value) in values.iter_mut().enumerate() {
                    *value = F::start(element(k, 0));
                }
                for j in 0..self.n {
                    for (k, value) in values.iter_mut().enumerate() {
                        *value = F::step(*value, element(k, j), self.given::<F>(done + k));
                    }
                }
                *self.to.add(done).cast() = values;
            }
            done += TOGETHER;
        }
        done
    }
}

versions! {
    /// Folds each lane in the order that [`order`](super::order) describes.
    pub unsafe fn lanes[A: Element, F: Fold<A>, X: Items<A>][A, F, X](lanes: &StridedLanes) {
        let StridedLanes { x, y, n, step, count, given, to } = *lanes;
        let (given, to) = (given.cast::<F::Operand>(), to.cast::<F::Acc>());
        let lanes = Typed { x: x.cast::<A>(), y: y.cast::<A>(), n, step, given, to };
        // SAFETY: the caller guarantees the lanes, and room for one value per lane.
        unsafe {
            match chains::<A, F>(n) {
                _ if n > BLOCK => lanes.each::<F, X, BLOCKS>(0, count),
                1 => {
                    let done = lanes.together::<F, X>(count);
                    lanes.each::<F, X, 1>(done, count);
                }
                4 => lanes.each::<F, X, 4>(0, count),
                8 => lanes.each::<F, X, 8>(0, count),
                16 => lanes.each::<F, X, 16>(0, count),
                _ => lanes.each::<F, X, MAX_ACCUMULATORS>(0, count),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{
            super::simd,
            fold::{Max, Sum},
        },
        *,
    };

    fn folded<A: Element, F: Fold<A, Acc = A>>(x: &[A], n: usize, step: usize, count: usize) -> Vec<A> {
        let mut to = vec![A::default(); count];
        assert!(x.len() >= (count - 1) * step + n);
        let lanes = StridedLanes {
            x: x.as_ptr().cast(),
            y: null(),
            n,
            step: step as isize,
            count,
            given: null(),
            to: to.as_mut_ptr().cast(),
        };
        // SAFETY: the lanes are within the slice, and `to` has room for one value per lane.
        unsafe { super::lanes::<A, F, Own<A>>(&lanes) };
        to
    }

    const LENGTHS: [usize; 12] = [32, 33, 50, 96, 97, 130, 257, 500, 1023, 1024, 1025, 4099];

    #[test]
    fn a_lane_has_the_same_bits_among_others() {
        simd::with_each(|_| {
            for n in (1..32).chain(LENGTHS) {
                let step = n + 3;
                let x: Vec<f32> = (0..19 * step).map(|i| ((i * 7919 % 1009) as f32).sin()).collect();
                let together = folded::<f32, Sum>(&x, n, step, 19);
                for (k, &sum) in together.iter().enumerate() {
                    let alone = folded::<f32, Sum>(&x[k * step..], n, 0, 1)[0];
                    assert_eq!(alone.to_bits(), sum.to_bits(), "{n}");
                    let exact: f64 = x[k * step..][..n].iter().map(|&x| f64::from(x)).sum();
                    assert!((f64::from(sum) - exact).abs() < 1e-4, "{n}: {sum} {exact}");
                }
            }
        });
    }

    #[test]
    fn products_have_the_sum_of_an_array_of_them() {
        simd::with_each(|_| {
            for n in (1..40).chain(LENGTHS) {
                let step = n + 1;
                let number = |i: usize| (i * 7919 % 1009) as f64;
                let x: Vec<f64> = (0..9 * step).map(|i| number(i).sin()).collect();
                let y: Vec<f64> = (0..9 * step).map(|i| number(i).cos()).collect();
                let products: Vec<f64> = x.iter().zip(&y).map(|(x, y)| x * y).collect();
                let mut to = [0.0_f64; 9];
                let (a, b) = (x.as_ptr().cast(), y.as_ptr().cast());
                let lanes = StridedLanes {
                    x: a,
                    y: b,
                    n,
                    step: step as isize,
                    count: 9,
                    given: null(),
                    to: to.as_mut_ptr().cast(),
                };
                // SAFETY: the lanes are within the slices, and `to` has room for one value per lane.
                unsafe { super::lanes::<f64, Sum, Products<f64>>(&lanes) };
                let expected = folded::<f64, Sum>(&products, n, step, 9);
                assert!(to.iter().zip(&expected).all(|(a, b)| a.to_bits() == b.to_bits()), "{n}: {to:?} {expected:?}");
            }
        });
    }

    #[test]
    fn nan_is_seen_at_every_place() {
        simd::with_each(|_| {
            for n in (1..32).chain(LENGTHS) {
                for place in (0..n).step_by(n.div_ceil(100)) {
                    let mut x: Vec<f64> = (0..n).map(|i| (i * 7919 % 1009) as f64).collect();
                    let most = x.iter().copied().fold(0.0, f64::max);
                    assert_eq!(folded::<f64, Max>(&x, n, 0, 1), [most]);
                    x[place] = f64::NAN;
                    assert!(folded::<f64, Max>(&x, n, 0, 1)[0].is_nan(), "{place} of {n}");
                }
            }
        });
    }
}
