//! The loops of a fold along lanes: many of them in one call, each of elements that follow each other in memory.

use super::{
    super::simd::versions,
    fold::{BLOCK, Fold},
    order::{MOST_SIDES, sides},
};
use crate::Element;
use std::{hint::black_box, mem::MaybeUninit, slice};

/// Lanes at equal distances, each of which is folded to a value.
#[derive(Clone, Copy)]
pub struct Lanes {
    /// The first element.
    pub x: *const u8,
    /// How many elements each has, at least one.
    pub n: usize,
    /// Elements from the start of a lane to that of the next.
    pub step: isize,
    /// How many there are.
    pub count: usize,
    /// What the fold needs for each of them.
    pub given: *const u8,
    /// Where the values are written, next to each other.
    pub to: *mut u8,
}

impl Lanes {
    /// One lane.
    pub fn one(x: *const u8, n: usize, given: *const u8, to: *mut u8) -> Lanes {
        Lanes { x, n, step: 0, count: 1, given, to }
    }
}

/// Values before any element, given one of each. Not by `map`, which is a call, with arrays in memory.
#[inline(always)]
pub fn started<A: Element, F: Fold<A>, const N: usize>(x: &[A; N]) -> [F::Acc; N] {
    let mut values = [F::start(x[0]); N];
    for k in 0..N {
        values[k] = F::start(x[k]);
    }
    values
}

/// Folds `SIDES` elements at a time, with as many values side by side. There is one chunk at least.
#[inline(always)]
fn chunked<A: Element, F: Fold<A>, const SIDES: usize>(chunks: &[[A; SIDES]], given: F::Given) -> [F::Acc; SIDES] {
    let mut side = started::<_, F, _>(&chunks[0]);
    for chunk in chunks {
        for k in 0..SIDES {
            side[k] = F::step(side[k], chunk[k], given);
        }
    }
    if SIDES > 1 {
        // in memory: the compiler would give the loop above the short vectors of what follows
        black_box(&mut side);
    }
    side
}

/// As [`chunked`], by the steps of ordered elements; none if an element is not. Elements are looked at in pairs, for which one comparison is enough.
#[inline(always)]
fn chunked_in_order<A: Element, F: Fold<A>, const SIDES: usize>(
    chunks: &[[A; SIDES]],
    given: F::Given,
) -> Option<[F::Acc; SIDES]> {
    let mut side = started::<_, F, _>(&chunks[0]);
    let mut all_in_order = true;
    for chunk in chunks {
        let mut in_order = true;
        for k in 0..SIDES {
            side[k] = F::step_in_order(side[k], chunk[k], given);
        }
        for k in 0..SIDES / 2 {
            in_order &= F::is_ordered(chunk[k]) & F::is_ordered(chunk[k + SIDES / 2]);
        }
        all_in_order &= in_order;
    }
    black_box(&mut side);
    all_in_order.then_some(side)
}

/// Sides of the shortest lanes, for which what is left over matters.
const FEW: usize = 4;

/// Folds at least `SIDES` elements, with as many values side by side. How many there are is said by [`sides`].
#[inline(always)]
fn side_by_side<A: Element, F: Fold<A>, const SIDES: usize>(x: &[A], given: F::Given) -> F::Acc {
    let (chunks, rest) = x.as_chunks::<SIDES>();
    let in_order = if F::ASKS_FOR_ORDER && SIDES > 1 { chunked_in_order::<A, F, SIDES>(chunks, given) } else { None };
    let mut side = match in_order {
        Some(side) => side,
        None => chunked::<A, F, SIDES>(chunks, given),
    };
    if SIDES <= FEW {
        // known places: the values stay in registers
        for k in 0..SIDES - 1 {
            if k < rest.len() {
                side[k] = F::step(side[k], rest[k], given);
            }
        }
    } else {
        let (fours, ones) = if F::CHOOSES { (&[][..], rest) } else { rest.as_chunks::<4>() };
        for (four, to) in fours.iter().zip(side.as_chunks_mut::<4>().0) {
            let mut values = *to;
            for k in 0..4 {
                values[k] = F::step(values[k], four[k], given);
            }
            *to = values;
        }
        for (&x, to) in ones.iter().zip(&mut side[4 * fours.len()..]) {
            *to = F::step(*to, x, given);
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

/// How many values run side by side in a block of `n` elements: as [`sides`] says, where it makes a difference.
#[inline(always)]
fn chains<A: Element, F: Fold<A>>(n: usize) -> usize {
    if F::IS_EXACT && n >= MOST_SIDES { MOST_SIDES } else { sides(n) }
}

/// Folds a block of elements, [`BLOCK`] at most.
#[inline(always)]
fn block<A: Element, F: Fold<A>>(x: &[A], given: F::Given) -> F::Acc {
    match chains::<A, F>(x.len()) {
        1 => side_by_side::<A, F, 1>(x, given),
        4 => side_by_side::<A, F, 4>(x, given),
        8 => side_by_side::<A, F, 8>(x, given),
        16 => side_by_side::<A, F, 16>(x, given),
        _ => side_by_side::<A, F, MOST_SIDES>(x, given),
    }
}

/// Folds blocks of elements, whose values are merged in the order of [`Pairwise`](super::fold::Pairwise).
#[inline(always)]
fn blocks<A: Element, F: Fold<A>>(x: &[A], given: F::Given) -> F::Acc {
    // bit k of the number of blocks is set where `tree[k]` has the value of 2^k of them
    let mut tree = [const { MaybeUninit::<F::Acc>::uninit() }; usize::BITS as usize];
    let whole = x.len() / BLOCK;
    for number in 0..whole {
        // of a length that the compiler does not know: it would unroll the loop, and not use vectors
        let elements = &x[number * BLOCK..][..black_box(BLOCK)];
        let mut value = side_by_side::<A, F, MOST_SIDES>(elements, given);
        let level = number.trailing_ones() as usize;
        for earlier in &tree[..level] {
            // SAFETY: as the number says.
            value = F::merge(unsafe { earlier.assume_init() }, value);
        }
        tree[level].write(value);
    }
    let rest = &x[whole * BLOCK..];
    let mut all = if rest.is_empty() { None } else { Some(block::<A, F>(rest, given)) };
    let mut left = whole;
    while left != 0 {
        // SAFETY: as the number of blocks says.
        let early = unsafe { tree[left.trailing_zeros() as usize].assume_init() };
        left &= left - 1;
        all = Some(all.map_or(early, |late| F::merge(early, late)));
    }
    all.unwrap_or_else(|| F::start(x[0]))
}

/// Lanes that go on side by side where each of them is one chain.
const TOGETHER: usize = 8;

/// In place of a number of sides: lanes of blocks.
const BLOCKS: usize = 0;

/// Lanes whose types are known.
struct Typed<A, V, G> {
    x: *const A,
    n: usize,
    step: isize,
    given: *const G,
    to: *mut V,
}

impl<A: Element, V: Element, G: Copy + Default> Typed<A, V, G> {
    /// # Safety
    /// The lane is one of those that there are.
    #[inline(always)]
    unsafe fn lane(&self, i: usize) -> &[A] {
        // SAFETY: the caller's promise.
        unsafe { slice::from_raw_parts(self.x.offset(i as isize * self.step), self.n) }
    }

    /// # Safety
    /// As above. What is given of no bytes is not read.
    #[inline(always)]
    unsafe fn given<F: Fold<A, Acc = V, Given = G>>(&self, i: usize) -> G {
        if size_of::<G>() == 0 {
            return G::default();
        }
        // SAFETY: the caller's promise.
        unsafe { *self.given.add(if F::GIVEN_IS_SHARED { 0 } else { i }) }
    }

    /// Folds the lanes from `first` on, each on its own, with `SIDES` values side by side, or as [`BLOCKS`]. Not by a function that is
    /// handed over, which would be compiled for the baseline.
    ///
    /// # Safety
    /// There are so many lanes, of as many elements as sides.
    #[inline(always)]
    unsafe fn each<F: Fold<A, Acc = V, Given = G>, const SIDES: usize>(&self, first: usize, count: usize) {
        for i in first..count {
            // SAFETY: the caller's promise.
            unsafe {
                let (lane, given) = (self.lane(i), self.given::<F>(i));
                *self.to.add(i) = match SIDES {
                    BLOCKS => blocks::<A, F>(lane, given),
                    _ => side_by_side::<A, F, SIDES>(lane, given),
                };
            }
        }
    }

    /// Folds lanes in one chain each, as many at a time as wait for one another; how many are done then.
    ///
    /// # Safety
    /// There are so many lanes.
    #[inline(always)]
    unsafe fn together<F: Fold<A, Acc = V, Given = G>>(&self, count: usize) -> usize {
        let mut done = 0;
        while done + TOGETHER <= count {
            // SAFETY: the caller's promise.
            unsafe {
                let element = |k: usize, j: usize| *self.x.offset((done + k) as isize * self.step).add(j);
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
    /// Folds lanes, each in the order of [`order`](super::order).
    pub unsafe fn lanes[A: Element, F: Fold<A>][A, F](lanes: &Lanes) {
        let Lanes { x, n, step, count, given, to } = *lanes;
        let lanes = Typed { x: x.cast::<A>(), n, step, given: given.cast::<F::Given>(), to: to.cast::<F::Acc>() };
        // SAFETY: the caller's lanes, and room for a value of each.
        unsafe {
            match chains::<A, F>(n) {
                _ if n > BLOCK => lanes.each::<F, BLOCKS>(0, count),
                1 => {
                    let done = lanes.together::<F>(count);
                    lanes.each::<F, 1>(done, count);
                }
                4 => lanes.each::<F, 4>(0, count),
                8 => lanes.each::<F, 8>(0, count),
                16 => lanes.each::<F, 16>(0, count),
                _ => lanes.each::<F, MOST_SIDES>(0, count),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{
            super::simd,
            fold::{Folding, maxima, sums},
        },
        *,
    };
    use crate::DType;
    use std::ptr::null;

    fn folded<A: Element>(folding: &Folding, x: &[A], n: usize, step: usize, count: usize) -> Vec<A> {
        let mut to = vec![A::default(); count];
        assert!(x.len() >= (count - 1) * step + n);
        let lanes =
            Lanes { x: x.as_ptr().cast(), n, step: step as isize, count, given: null(), to: to.as_mut_ptr().cast() };
        // SAFETY: lanes of the slice, and room for a value of each.
        unsafe { (folding.lanes)(&lanes) };
        to
    }

    const LENGTHS: [usize; 12] = [32, 33, 50, 96, 97, 130, 257, 500, 1023, 1024, 1025, 4099];

    #[test]
    fn a_lane_has_the_same_bits_among_others() {
        simd::with_each(|_| {
            for n in (1..32).chain(LENGTHS) {
                let step = n + 3;
                let x: Vec<f32> = (0..19 * step).map(|i| ((i * 7919 % 1009) as f32).sin()).collect();
                let together = folded(sums(DType::Float32), &x, n, step, 19);
                for (k, &sum) in together.iter().enumerate() {
                    let alone = folded(sums(DType::Float32), &x[k * step..], n, 0, 1)[0];
                    assert_eq!(alone.to_bits(), sum.to_bits(), "{n}");
                    let exact: f64 = x[k * step..][..n].iter().map(|&x| f64::from(x)).sum();
                    assert!((f64::from(sum) - exact).abs() < 1e-4, "{n}: {sum} {exact}");
                }
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
                    assert_eq!(folded(maxima(DType::Float64), &x, n, 0, 1), [most]);
                    x[place] = f64::NAN;
                    assert!(folded(maxima(DType::Float64), &x, n, 0, 1)[0].is_nan(), "{place} of {n}");
                }
            }
        });
    }
}
