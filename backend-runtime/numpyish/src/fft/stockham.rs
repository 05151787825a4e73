//! Transforms several neighbouring lanes (1-D slices along the transformed axis) at once, one lane per element of a
//! SIMD register. Each instruction does the same in all lanes, so that nothing is moved within registers.
//!
//! The algorithm is Stockham's, decimation in frequency with mixed radices, which needs no reordering: C. Van Loan,
//! Computational Frameworks for the Fast Fourier Transform, SIAM 1992, sections 1.7 and 2.5. A stage turns `s`
//! transforms of `r m` points each into `r s` transforms of `m` points: for each `p < m` and `q < s`, a butterfly takes
//! the points `q + s (p + m j)` for `j < r`, and its result `k`, times e^(-2 pi i p k / (r m)), goes to `q + s (r p +
//! k)`.

use super::{
    super::{buffer, simd::prefetch},
    engine::Engine,
    vector::Vector,
};
use backend_core::{Real, Result, scalar::float64};

/// Maximum length of a transform of several lanes at once. In measurements with 64 lanes of float64, transforms of
/// single lanes were as fast from 8192 points on, because the scratch arrays for several lanes are then so large. The
/// limit is higher, because the measurements did not count the time to gather a single lane.
pub const LONGEST: usize = 1 << 14;

/// The plan for one length, shared by all transforms of that length.
pub struct StockhamPlan<R> {
    /// The number of points.
    pub points: usize,
    stages: Vec<Stage<R>>,
}

struct Stage<R> {
    /// Number of points of a butterfly.
    radix: usize,
    /// Number of points of the transforms that remain after this stage.
    rest: usize,
    /// The powers of e^(-2 pi i / radix), real and imaginary parts.
    roots: Vec<R>,
    /// The twiddle factors of each butterfly `p`, for all its results but the first, whose factor is 1.
    twiddles: Vec<R>,
}

/// Returns the radices of the stages for `n` points, or `None` if `n` has a prime factor above 7.
pub(super) fn radices(mut n: usize) -> Option<Vec<usize>> {
    let mut radices = Vec::new();
    for odd in [7, 5, 3] {
        while n.is_multiple_of(odd) {
            n /= odd;
            radices.push(odd);
        }
    }
    if !n.is_power_of_two() {
        return None;
    }
    // uses as few stages as possible, with one exception: two stages of 4 points replace a stage of 8 and a stage of 2
    let twos = n.trailing_zeros() as usize;
    let (eights, fours) = match twos % 3 {
        0 => (twos / 3, 0),
        1 if twos == 1 => (0, 0),
        1 => (twos / 3 - 1, 2),
        _ => (twos / 3, 1),
    };
    radices.extend(std::iter::repeat_n(2, usize::from(twos == 1)));
    radices.extend(std::iter::repeat_n(8, eights));
    radices.extend(std::iter::repeat_n(4, fours));
    Some(radices)
}

/// Returns the real and the imaginary part of e^(-2 pi i k / n). Integer arithmetic reduces the angle to an eighth of a
/// turn, which is exact.
pub(super) fn root<R: Engine>(k: usize, n: usize) -> [R; 2] {
    let quarters = 4 * (k % n) / n;
    let rest = 4 * (k % n) - quarters * n;
    let angle = |of: usize| std::f64::consts::FRAC_PI_2 * of as f64 / n as f64;
    let (cos, sin) = if 2 * rest <= n {
        (float64::cos(angle(rest)), float64::sin(angle(rest)))
    } else {
        (float64::sin(angle(n - rest)), float64::cos(angle(n - rest)))
    };
    let (cos, sin) = [(cos, sin), (-sin, cos), (-cos, -sin), (sin, -cos)][quarters];
    [R::of(cos), R::of(-sin)]
}

impl<R: Engine> StockhamPlan<R> {
    /// The plan for `points`, at least two, or `None` if that number has other prime factors than 2, 3, 5 and 7.
    pub fn new(op: &'static str, points: usize) -> Result<Option<StockhamPlan<R>>> {
        let Some(radices) = radices(points) else {
            return Ok(None);
        };
        let mut stages = buffer::vec(op, radices.len())?;
        let mut length = points;
        for radix in radices {
            let rest = length / radix;
            let mut twiddles = buffer::vec(op, 2 * rest * (radix - 1))?;
            for p in 0..rest {
                (1..radix).for_each(|k| twiddles.extend(root::<R>(p * k, length)));
            }
            let roots = (0..radix).flat_map(|k| root::<R>(k, radix)).collect();
            stages.push(Stage { radix, rest, roots, twiddles });
            length = rest;
        }
        Ok(Some(StockhamPlan { points, stages }))
    }
}

/// The points of several lanes in memory. Point `i` of all lanes begins `i * stride` numbers after `start`.
#[derive(Clone, Copy)]
pub struct Points<R> {
    /// Address of point 0 of all lanes.
    pub start: *mut R,
    /// Distance from point `i` to point `i + 1`, in numbers.
    pub stride: isize,
    /// Number of points in memory; later points are zeros.
    pub len: usize,
    /// Offset to the same point of the next group of lanes, in numbers; this point is prefetched. 0 if no group
    /// follows. Consecutive points of an array are in different pages, so hardware prefetchers do not load them.
    pub ahead: isize,
    /// True if complex numbers are interleaved; otherwise the real parts of all lanes come before the imaginary parts.
    pub pairs: bool,
    /// True if real and imaginary parts are swapped, which turns a forward transform into an inverse one and back.
    pub swapped: bool,
    /// Factors that multiply the points when they are written, before the real and imaginary parts are swapped.
    pub turns: Turns<R>,
}

/// Complex factors of the points of several lanes. The factor of a point is the product of a `near` and a `far`
/// factor.
#[derive(Clone, Copy)]
pub struct Turns<R> {
    /// The `near` factors of point 0, one for each lane; null if there are no factors.
    pub near: *const R,
    /// Distance from the `near` factors of one point to the `near` factors of the next, in numbers.
    pub stride: usize,
    /// The `far` factor of point 0. All lanes have the same `far` factors.
    pub far: *const R,
    /// Distance from the `far` factor of one point to the `far` factor of the next, in numbers.
    pub far_stride: usize,
}

impl<R> Turns<R> {
    /// No factors.
    pub const NONE: Turns<R> = Turns { near: std::ptr::null(), stride: 0, far: std::ptr::null(), far_stride: 0 };
}

impl<R: Copy> Points<R> {
    /// Selects every `step`-th point, beginning with point `first`.
    #[inline(always)]
    fn every(self, step: usize, first: usize) -> Points<R> {
        let Turns { near, stride, far, far_stride } = self.turns;
        let (near, far) = (near.wrapping_add(first * stride), far.wrapping_add(first * far_stride));
        let turns = Turns { near, stride: step * stride, far, far_stride: step * far_stride };
        let start = self.start.wrapping_offset(first as isize * self.stride);
        Points { start, stride: step as isize * self.stride, turns, ..self }
    }

    /// # Safety
    /// Points with an index below `len` must exist.
    #[inline(always)]
    unsafe fn load<V: Vector<Real = R>>(&self, i: usize, zero: V) -> Complex<V> {
        if i >= self.len {
            return Complex { re: zero, im: zero };
        }
        // SAFETY: the caller guarantees that point `i` exists.
        let [re, im] = unsafe {
            let from = self.start.offset(i as isize * self.stride);
            self.prefetch::<V>(from);
            if self.pairs { V::split(from) } else { [V::load(from), V::load(from.add(V::LANES))] }
        };
        if self.swapped { Complex { re: im, im: re } } else { Complex { re, im } }
    }

    /// Prefetches the memory `ahead` numbers after an address.
    #[inline(always)]
    fn prefetch<V: Vector<Real = R>>(&self, here: *const R) {
        if self.ahead != 0 {
            let next = here.wrapping_offset(self.ahead);
            prefetch(next);
            prefetch(next.wrapping_add(V::LANES));
        }
    }

    /// Writes point `i`. Only the last stage (`LAST`) applies the factors `turns`.
    ///
    /// # Safety
    /// There must be room for point `i`, which nobody else uses.
    #[inline(always)]
    unsafe fn store<V: Vector<Real = R>, const LAST: bool>(&self, i: usize, x: Complex<V>) {
        let x = if !LAST || self.turns.near.is_null() {
            x
        } else {
            // SAFETY: there are factors for every point that is written.
            unsafe {
                let near = Complex::<V>::load(self.turns.near.add(i * self.turns.stride));
                x.times(near.turned(self.turns.far.add(i * self.turns.far_stride)))
            }
        };
        let [re, im] = if self.swapped { [x.im, x.re] } else { [x.re, x.im] };
        // SAFETY: the caller guarantees room for point `i`.
        unsafe {
            let to = self.start.offset(i as isize * self.stride);
            self.prefetch::<V>(to);
            if self.pairs {
                V::join(re, im, to);
            } else {
                re.store(to);
                im.store(to.add(V::LANES));
            }
        }
    }
}

/// Complex numbers, one per lane, as a vector of real parts and a vector of imaginary parts.
#[derive(Clone, Copy)]
pub(super) struct Complex<V> {
    pub re: V,
    pub im: V,
}

// SAFETY of all functions: callers run them only on processors with the vector's instruction set.
impl<V: Vector> Complex<V> {
    /// Loads interleaved complex numbers.
    #[inline(always)]
    pub unsafe fn load(from: *const V::Real) -> Self {
        // SAFETY: the caller guarantees the vector's instruction set and valid memory, here and below.
        let [re, im] = unsafe { V::split(from) };
        Complex { re, im }
    }

    /// Stores interleaved complex numbers.
    #[inline(always)]
    pub unsafe fn store(self, to: *mut V::Real) {
        // SAFETY: the caller guarantees the vector's instruction set and valid memory.
        unsafe { V::join(self.re, self.im, to) }
    }

    /// The numbers in reverse order.
    #[inline(always)]
    pub unsafe fn reversed(self) -> Self {
        // SAFETY: the caller guarantees the vector's instruction set.
        unsafe { Complex { re: self.re.reverse(), im: self.im.reverse() } }
    }

    #[inline(always)]
    pub unsafe fn add(self, x: Self) -> Self {
        // SAFETY: the caller guarantees the vector's instruction set.
        unsafe { Complex { re: self.re.add(x.re), im: self.im.add(x.im) } }
    }

    #[inline(always)]
    pub unsafe fn sub(self, x: Self) -> Self {
        // SAFETY: the caller guarantees the vector's instruction set.
        unsafe { Complex { re: self.re.sub(x.re), im: self.im.sub(x.im) } }
    }

    /// `self + i x`.
    #[inline(always)]
    pub unsafe fn add_i(self, x: Self) -> Self {
        // SAFETY: the caller guarantees the vector's instruction set.
        unsafe { Complex { re: self.re.sub(x.im), im: self.im.add(x.re) } }
    }

    /// `self - i x`.
    #[inline(always)]
    pub unsafe fn sub_i(self, x: Self) -> Self {
        // SAFETY: the caller guarantees the vector's instruction set.
        unsafe { Complex { re: self.re.add(x.im), im: self.im.sub(x.re) } }
    }

    /// `self` times a real number.
    #[inline(always)]
    pub unsafe fn scaled(self, factor: V) -> Self {
        // SAFETY: the caller guarantees the vector's instruction set.
        unsafe { Complex { re: self.re.mul(factor), im: self.im.mul(factor) } }
    }

    /// `self` times a real number, plus `term`.
    #[inline(always)]
    unsafe fn scaled_add(self, factor: V, term: Self) -> Self {
        // SAFETY: the caller guarantees the vector's instruction set.
        unsafe { Complex { re: self.re.mul_add(factor, term.re), im: self.im.mul_add(factor, term.im) } }
    }

    /// `self` times the complex number at an address.
    #[inline(always)]
    unsafe fn turned(self, by: *const V::Real) -> Self {
        // SAFETY: the caller guarantees the vector's instruction set, and that `by` points to two numbers.
        unsafe { self.times(Complex { re: V::splat(*by), im: V::splat(*by.add(1)) }) }
    }

    #[inline(always)]
    pub unsafe fn times(self, by: Self) -> Self {
        let Complex { re, im } = by;
        // SAFETY: the caller guarantees the vector's instruction set.
        unsafe { Complex { re: self.re.mul_sub(re, self.im.mul(im)), im: self.re.mul_add(im, self.im.mul(re)) } }
    }
}

impl<V: Vector<Real: Engine>> Complex<V> {
    /// The complex conjugates.
    #[inline(always)]
    pub unsafe fn conjugate(self) -> Self {
        // SAFETY: the caller guarantees the vector's instruction set.
        unsafe { Complex { im: self.im.mul(V::splat(V::Real::of(-1.0))), ..self } }
    }
}

/// A butterfly: a transform of `P` points in registers. `roots` are the powers of e^(-2 pi i / P).
trait Butterfly<V: Vector, const P: usize> {
    unsafe fn of(x: [Complex<V>; P], roots: *const V::Real) -> [Complex<V>; P];
}

struct Two;
struct Four;
struct Eight;
/// Any odd number of points.
struct Odd;

impl<V: Vector> Butterfly<V, 2> for Two {
    #[inline(always)]
    unsafe fn of(x: [Complex<V>; 2], _: *const V::Real) -> [Complex<V>; 2] {
        // SAFETY: the caller guarantees the vector's instruction set.
        unsafe { [x[0].add(x[1]), x[0].sub(x[1])] }
    }
}

impl<V: Vector> Butterfly<V, 4> for Four {
    #[inline(always)]
    unsafe fn of(x: [Complex<V>; 4], _: *const V::Real) -> [Complex<V>; 4] {
        // SAFETY: the caller guarantees the vector's instruction set.
        unsafe {
            let (even, odd) = ([x[0].add(x[2]), x[0].sub(x[2])], [x[1].add(x[3]), x[1].sub(x[3])]);
            [even[0].add(odd[0]), even[1].sub_i(odd[1]), even[0].sub(odd[0]), even[1].add_i(odd[1])]
        }
    }
}

impl<V: Vector> Butterfly<V, 8> for Eight {
    #[inline(always)]
    unsafe fn of(x: [Complex<V>; 8], roots: *const V::Real) -> [Complex<V>; 8] {
        // SAFETY: the caller guarantees the vector's instruction set.
        unsafe {
            let even = Four::of([x[0], x[2], x[4], x[6]], roots);
            let odd = Four::of([x[1], x[3], x[5], x[7]], roots);
            // results 1 and 3 of `odd` are multiplied by (1 - i) / sqrt 2 and (-1 - i) / sqrt 2
            let half = V::splat(*roots.add(2));
            let first = Complex { re: odd[1].re.add(odd[1].im), im: odd[1].im.sub(odd[1].re) }.scaled(half);
            let third = Complex { re: odd[3].im.sub(odd[3].re), im: odd[3].re.add(odd[3].im) }.scaled(half);
            [
                even[0].add(odd[0]),
                even[1].add(first),
                even[2].sub_i(odd[2]),
                Complex { re: even[3].re.add(third.re), im: even[3].im.sub(third.im) },
                even[0].sub(odd[0]),
                even[1].sub(first),
                even[2].add_i(odd[2]),
                Complex { re: even[3].re.sub(third.re), im: even[3].im.add(third.im) },
            ]
        }
    }
}

impl<V: Vector, const P: usize> Butterfly<V, P> for Odd {
    #[inline(always)]
    unsafe fn of(x: [Complex<V>; P], roots: *const V::Real) -> [Complex<V>; P] {
        let (mut sums, mut differences, mut out) = (x, x, x);
        // SAFETY: the caller guarantees the vector's instruction set, and `roots` has 2 P numbers.
        unsafe {
            for j in 1..=P / 2 {
                sums[j] = x[j].add(x[P - j]);
                differences[j] = x[j].sub(x[P - j]);
                out[0] = out[0].add(sums[j]);
            }
            for k in 1..=P / 2 {
                let mut even = sums[1].scaled_add(V::splat(*roots.add(2 * k)), x[0]);
                let mut odd = differences[1].scaled(V::splat(*roots.add(2 * k + 1)));
                for j in 2..=P / 2 {
                    let turn = roots.add(2 * (j * k % P));
                    even = sums[j].scaled_add(V::splat(*turn), even);
                    odd = differences[j].scaled_add(V::splat(*turn.add(1)), odd);
                }
                out[k] = even.add_i(odd);
                out[P - k] = even.sub_i(odd);
            }
        }
        out
    }
}

/// The order in which a stage writes its results.
#[derive(Clone, Copy)]
enum Order {
    /// Stockham's order. After the last stage, the results are sorted by frequency.
    Sorted,
    /// The results form consecutive parts. The remaining stages transform one part after another.
    Parts,
}

/// Runs one stage. The last stage (`LAST`) multiplies its results by `scale`, and has no twiddle factors.
#[inline(always)]
#[allow(clippy::needless_range_loop)] // loops over indices become operations on registers
unsafe fn stage<V: Vector<Real: Default>, B: Butterfly<V, P>, const P: usize, const LAST: bool>(
    stage: &Stage<V::Real>,
    s: usize,
    order: Order,
    scale: V::Real,
    from: Points<V::Real>,
    to: Points<V::Real>,
) {
    let (m, roots) = (stage.rest, stage.roots.as_ptr());
    let (butterfly, result) = match order {
        Order::Sorted => (s * P, s),
        Order::Parts => (s, s * m),
    };
    // SAFETY: the caller guarantees the points and enough room, and there are P - 1 twiddle factors for each butterfly.
    unsafe {
        let (zero, scale) = (V::splat(Default::default()), V::splat(scale));
        for p in 0..m {
            let twiddles = stage.twiddles.as_ptr().add(2 * p * (P - 1));
            for q in 0..s {
                let mut x = [from.load(q + s * p, zero); P];
                for j in 1..P {
                    x[j] = from.load(q + s * (p + m * j), zero);
                }
                let y = B::of(x, roots);
                for k in 0..P {
                    let y = match k {
                        _ if LAST => y[k].scaled(scale),
                        0 => y[0],
                        _ => y[k].turned(twiddles.add(2 * (k - 1))),
                    };
                    to.store::<V, LAST>(q + butterfly * p + result * k, y);
                }
            }
        }
    }
}

#[inline(always)]
unsafe fn any_stage<V: Vector<Real: Default>, const LAST: bool>(
    one: &Stage<V::Real>,
    s: usize,
    order: Order,
    scale: V::Real,
    from: Points<V::Real>,
    to: Points<V::Real>,
) {
    // SAFETY: the caller guarantees the points and enough room.
    unsafe {
        match one.radix {
            2 => stage::<V, Two, 2, LAST>(one, s, order, scale, from, to),
            3 => stage::<V, Odd, 3, LAST>(one, s, order, scale, from, to),
            4 => stage::<V, Four, 4, LAST>(one, s, order, scale, from, to),
            5 => stage::<V, Odd, 5, LAST>(one, s, order, scale, from, to),
            7 => stage::<V, Odd, 7, LAST>(one, s, order, scale, from, to),
            _ => stage::<V, Eight, 8, LAST>(one, s, order, scale, from, to),
        }
    }
}

/// Maximum size in bytes of a transform that stays in a core's L1 cache together with the other memory that it uses.
const NEAR: usize = 1 << 15;

impl<R> StockhamPlan<R> {
    /// Returns whether the first stage divides the points into parts that are transformed one after another, each
    /// through all other stages. A part stays in the L1 cache from stage to stage, but all points together would not.
    fn has_parts(&self, lanes: usize) -> bool {
        self.stages.len() > 2 && 2 * size_of::<R>() * lanes * self.points > NEAR
    }
}

#[inline(always)]
unsafe fn transform<V: Vector<Real: Engine>>(
    plan: &StockhamPlan<V::Real>,
    scale: V::Real,
    from: Points<V::Real>,
    to: Points<V::Real>,
    scratch: [*mut V::Real; 3],
) {
    let [first, rest @ ..] = &plan.stages[..] else { return };
    let room = 2 * V::LANES;
    let mut stages = &plan.stages[..];
    let (mut parts, mut points, mut arrays) = (1, plan.points, [scratch[0], scratch[1]]);
    let mut from = from;
    if plan.has_parts(V::LANES) {
        (stages, parts, points) = (rest, first.radix, first.rest);
        arrays = [scratch[2], scratch[2].wrapping_add(points * room)];
        let to = between::<V>(scratch[1], plan.points);
        // SAFETY: the caller guarantees the points and enough room.
        unsafe { any_stage::<V, false>(first, 1, Order::Parts, scale, from, to) };
        from = to;
    }
    for part in 0..parts {
        let from = Points { start: from.start.wrapping_add(part * points * room), len: from.len.min(points), ..from };
        // SAFETY: the caller guarantees the points and enough room. The parts are consecutive, and each writes every
        // `parts`-th result.
        unsafe { through::<V>(stages, scale, from, to.every(parts, part), arrays, points) };
    }
}

/// Describes the points between two stages, which are in scratch memory. All fields but `start` and `len` are
/// compile-time constants, so that the compiler removes branches on them.
#[inline(always)]
fn between<V: Vector>(start: *mut V::Real, len: usize) -> Points<V::Real> {
    let stride = 2 * V::LANES as isize;
    Points { start, stride, len, ahead: 0, pairs: false, swapped: false, turns: Turns::NONE }
}

/// Runs stages one after another. The last stage writes to `to`. The other stages write to the two arrays alternately,
/// beginning with the second one.
#[inline(always)]
unsafe fn through<V: Vector<Real: Engine>>(
    stages: &[Stage<V::Real>],
    scale: V::Real,
    mut from: Points<V::Real>,
    to: Points<V::Real>,
    arrays: [*mut V::Real; 2],
    points: usize,
) {
    let Some((last, others)) = stages.split_last() else { return };
    let mut s = 1;
    for (k, one) in others.iter().enumerate() {
        let to = between::<V>(arrays[(k + 1) % 2], points);
        // SAFETY: the caller guarantees the points and enough room.
        unsafe { any_stage::<V, false>(one, s, Order::Sorted, scale, from, to) };
        from = to;
        s *= one.radix;
    }
    // SAFETY: the caller guarantees the points and enough room.
    unsafe { any_stage::<V, true>(last, s, Order::Sorted, scale, from, to) }
}

type Run<R> = unsafe fn(&StockhamPlan<R>, R, Points<R>, Points<R>, [*mut R; 3]);

/// The transform, compiled for the instruction set that this process uses.
#[derive(Clone, Copy)]
pub struct Kernel<R> {
    /// Number of lanes that are transformed at a time.
    pub lanes: usize,
    run: Run<R>,
}

impl<R: Engine> Kernel<R> {
    /// The kernel for the widest instruction set available.
    pub fn new() -> Kernel<R> {
        unsafe fn plain<R: Engine>(
            plan: &StockhamPlan<R>,
            scale: R,
            from: Points<R>,
            to: Points<R>,
            scratch: [*mut R; 3],
        ) {
            // SAFETY: the caller guarantees the same conditions.
            unsafe { transform::<R::Plain>(plan, scale, from, to, scratch) }
        }
        #[cfg(target_arch = "x86_64")]
        {
            #[target_feature(enable = "avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl")]
            unsafe fn avx512<R: Engine>(
                plan: &StockhamPlan<R>,
                scale: R,
                from: Points<R>,
                to: Points<R>,
                scratch: [*mut R; 3],
            ) {
                // SAFETY: the caller guarantees the same conditions.
                unsafe { transform::<R::Avx512>(plan, scale, from, to, scratch) }
            }
            #[target_feature(enable = "avx2,fma,f16c")]
            unsafe fn avx2<R: Engine>(
                plan: &StockhamPlan<R>,
                scale: R,
                from: Points<R>,
                to: Points<R>,
                scratch: [*mut R; 3],
            ) {
                // SAFETY: the caller guarantees the same conditions.
                unsafe { transform::<R::Avx2>(plan, scale, from, to, scratch) }
            }
            match backend_core::numpyish::simd::set() {
                2 => return Kernel { lanes: R::Avx512::LANES, run: avx512::<R> },
                1 => return Kernel { lanes: R::Avx2::LANES, run: avx2::<R> },
                _ => {}
            }
        }
        Kernel { lanes: R::Plain::LANES, run: plain::<R> }
    }

    /// Index of the scratch array that may receive the results, because the last stage does not read it.
    pub fn result_in(&self, plan: &StockhamPlan<R>) -> usize {
        if plan.has_parts(self.lanes) { 0 } else { plan.stages.len() % 2 }
    }

    /// Transforms `Kernel::lanes` lanes, with exponent -2 pi i jk / n, and multiplies the results by `scale`.
    ///
    /// # Safety
    /// `from` must have its points, and `to` must have room for the results; both may be the same memory. Each array of
    /// `scratch` must have room for the points of all lanes. `from` may be the first scratch array, and `to` may be the
    /// scratch array of index [`Kernel::result_in`].
    #[inline]
    pub unsafe fn run(&self, plan: &StockhamPlan<R>, scale: R, from: Points<R>, to: Points<R>, scratch: [*mut R; 3]) {
        // SAFETY: the caller guarantees the memory, and this process supports the instruction set of the kernel.
        unsafe { (self.run)(plan, scale, from, to, scratch) }
    }
}
