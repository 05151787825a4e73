//! Discrete cosine and sine transforms along one axis, computed from Fourier transforms of the lanes (1-D slices along
//! the axis).
//!
//! A cosine transform of the second kind is computed from a real Fourier transform of the elements with even indices
//! followed by the elements with odd indices in reverse order. Coefficient k of this transform is rotated by the angle
//! -pi k / (2 n), as in: J. Makhoul, "A fast cosine transform in one and two dimensions", IEEE Transactions on
//! Acoustics, Speech, and Signal Processing 28 (1980). The third kind inverts these steps in reverse order. The fourth
//! kind is a complex transform of half as many points, or, for an odd number of points, of twice as many. The first
//! kind is the real transform of the elements followed by their mirror image. A sine transform, except of the first
//! kind, is a cosine transform of the elements with alternating signs or in reverse order.

use super::{
    super::{
        OpContext,
        buffer::{self, Buffer},
        convert::convert,
        layout::{self, LaneFn, LaneFormat},
        parallel::COSTLY,
        raw::{RawArray, View},
        simd::versions,
    },
    angles::Turns,
    contiguous::{Elements, pad},
    engine::Engine,
    lane::{self, Planned},
    real,
    symmetry::Frequencies,
};
use backend_core::{
    ComplexFloat, DType, Element, Norm, Numeric, Result,
    rules::{self, Direction, Trigonometric, Wave},
};
use rustfft::Fft;
use std::sync::Arc;

/// Defines the public functions.
macro_rules! transforms {
    ($($(#[$doc:meta])* $op:ident = $wave:ident, $direction:ident;)*) => {$(
        $(#[$doc])*
        pub fn $op(
            on: OpContext<'_>,
            x: View<'_>,
            kind: usize,
            n: Option<usize>,
            axis: isize,
            norm: Norm,
        ) -> Result<RawArray> {
            transformed(on.op, x, Wave::$wave, kind, n, axis, norm, Direction::$direction)
        }
    )*};
}
transforms! {
    /// Discrete cosine transform of kind `kind` (1 to 4), with `n` points along `axis`.
    dct = Cosine, Forward;
    /// Inverse of [`dct`].
    idct = Cosine, Inverse;
    /// Discrete sine transform of kind `kind` (1 to 4), with `n` points along `axis`.
    dst = Sine, Forward;
    /// Inverse of [`dst`].
    idst = Sine, Inverse;
}

#[allow(clippy::too_many_arguments)] // the parameters of the ops' rows
fn transformed(
    op: &'static str,
    x: View<'_>,
    wave: Wave,
    kind: usize,
    n: Option<usize>,
    axis: isize,
    norm: Norm,
    direction: Direction,
) -> Result<RawArray> {
    let plan = rules::trigonometric(op, x.shape, wave, kind, n, axis, norm, direction)?;
    match x.dtype {
        DType::Float64 => transformed_in::<f64>(op, x, &plan),
        _ => transformed_in::<f32>(op, x, &plan),
    }
}

/// Computes the transform in the precision `R`. The result has the dtype of `x`.
fn transformed_in<R: Planned>(op: &'static str, x: View<'_>, plan: &Trigonometric) -> Result<RawArray> {
    let (dtype, len, out) = (x.dtype, x.shape[plan.axis], LaneFormat { dtype: x.dtype, len: plan.n });
    let new = || -> Result<LaneFn<'_>> {
        let mut lane = Lane::<R>::new(op, plan)?;
        let converted = Buffer::new(op, if dtype == R::DTYPE { 0 } else { plan.n }, R::DTYPE)?;
        Ok(Box::new(move |start, to| {
            let points = Elements { dtype, start, len };
            // SAFETY: the lane has `len` elements. `to` has room for `n` elements, and so has the buffer, unless the
            // result needs no conversion.
            unsafe {
                if dtype == R::DTYPE {
                    lane.run(points, to.cast());
                } else {
                    lane.run(points, converted.start().cast());
                    convert(R::DTYPE, dtype, converted.start(), to, lane.plan.n);
                }
            }
            Ok(())
        }))
    };
    // SAFETY: the function reads a lane of `x` and writes `n` elements.
    unsafe { layout::map_lanes(op, x, plan.axis, out, COSTLY, &new) }
}

/// The plan for one length, and the memory for one transform at a time.
struct Lane<'a, R: Engine> {
    plan: &'a Trigonometric,
    /// Factors that multiply the first and the last element before the transform; `after` has the factors for the
    /// result.
    before: [R; 2],
    after: [R; 2],
    scale: R,
    fourier: Fourier<R>,
    /// Copy of the elements, used if they have another dtype, are fewer than `n`, or are multiplied by factors.
    given: Vec<R>,
    /// The real points of the Fourier transform; empty for kind 4.
    points: Vec<R>,
    /// For the kinds 1 to 3, the frequencies of `points`. For kind 4, the complex points of the transform, which is
    /// computed in place.
    spectrum: Vec<R::Complex>,
}

/// The Fourier transform from which a cosine or sine transform is computed.
enum Fourier<R: Engine> {
    /// A real transform of the elements and their mirror image (kind 1).
    Mirrored(real::Lane<R>),
    /// A real transform to frequencies, which are then rotated in the complex plane (kind 2).
    Forward(real::Lane<R>, Arc<Turns<R>>),
    /// A transform of rotated frequencies to real points (kind 3).
    Inverse(real::Lane<R>, Arc<Turns<R>>),
    /// A complex transform of rotated points, its scratch memory, and the table of the angles pi k / (4 n) (kind 4).
    Complex(Arc<dyn Fft<R>>, Vec<R::Complex>, Arc<Turns<R>>),
}

impl<'a, R: Planned> Lane<'a, R> {
    fn new(op: &'static str, plan: &'a Trigonometric) -> Result<Lane<'a, R>> {
        let &Trigonometric { kind, n, .. } = plan;
        let how = Frequencies { all: false, conjugate: false, scale: R::ONE };
        // the lengths of the arrays `points` and `spectrum`, and the Fourier transform
        let (points, spectrum, fourier) = match kind {
            1 => {
                let whole = plan.whole;
                (whole, whole / 2 + 1, Fourier::Mirrored(real::Lane::forward(op, whole, how)?))
            }
            2 => (n, n / 2 + 1, Fourier::Forward(real::Lane::forward(op, n, how)?, lane::turns(op, n)?)),
            3 => (n, n / 2 + 1, Fourier::Inverse(real::Lane::inverse(op, n, how)?, lane::turns(op, n)?)),
            _ => {
                let complex = if n.is_multiple_of(2) { n / 2 } else { 2 * n };
                let transform = lane::complex::<R>(op, complex, Direction::Forward)?;
                let scratch = buffer::zeros(op, transform.get_inplace_scratch_len())?;
                (0, complex, Fourier::Complex(transform, scratch, lane::turns(op, 2 * n)?))
            }
        };
        Ok(Lane {
            plan,
            before: plan.before.map(R::of),
            after: plan.after.map(R::of),
            scale: R::of(plan.scale),
            fourier,
            given: buffer::zeros(op, n)?,
            points: buffer::zeros(op, points)?,
            spectrum: buffer::zeros(op, spectrum)?,
        })
    }
}

impl<R: Engine> Lane<'_, R> {
    /// Transforms the first `n` elements, and writes the result to `to`. If there are fewer elements, the missing ones
    /// count as 0.
    ///
    /// # Safety
    /// The elements must exist. `to` must have room for `n` numbers, and nobody else may use it.
    unsafe fn run(&mut self, elements: Elements, to: *mut R) {
        let n = self.plan.n;
        let is_sine = self.plan.wave == Wave::Sine;
        // SAFETY: the caller guarantees the elements and the room for the result.
        let (x, to) = unsafe { (self.given(elements), std::slice::from_raw_parts_mut(to, n)) };
        let (points, spectrum) = (&mut self.points[..], &mut self.spectrum[..]);
        let as_elements = |points: &[R]| Elements { dtype: R::DTYPE, start: points.as_ptr().cast(), len: points.len() };
        match &mut self.fourier {
            Fourier::Mirrored(transform) => {
                mirror(x, is_sine, points);
                // SAFETY: the points exist, and the spectrum has room for their frequencies.
                unsafe { transform.frequencies(as_elements(points), spectrum.as_mut_ptr()) };
                let scale = self.scale;
                if is_sine {
                    to.iter_mut().zip(&spectrum[1..]).for_each(|(y, z)| *y = (R::ZERO - z.imag()) * scale);
                } else {
                    to.iter_mut().zip(&spectrum[..]).for_each(|(y, z)| *y = z.real() * scale);
                }
            }
            Fourier::Forward(transform, turns) => {
                let sign = if is_sine { R::ZERO - R::ONE } else { R::ONE };
                let scale = self.scale + self.scale;
                // SAFETY: the arrays have `n` points, and the spectrum has room for the frequencies.
                unsafe {
                    fold(x.as_ptr(), n, sign, points.as_mut_ptr());
                    transform.frequencies(as_elements(points), spectrum.as_mut_ptr());
                    turn_frequencies(spectrum.as_ptr().cast(), turns, n, scale, to.as_mut_ptr(), is_sine);
                }
            }
            Fourier::Inverse(transform, turns) => {
                let sign = if is_sine { R::ZERO - self.scale } else { self.scale };
                let frequencies =
                    Elements { dtype: R::Complex::DTYPE, start: spectrum.as_ptr().cast(), len: spectrum.len() };
                // SAFETY: the arrays have `n` points, and the spectrum has room for the frequencies.
                unsafe {
                    turn_elements(x.as_ptr(), turns, n, spectrum.as_mut_ptr().cast(), is_sine);
                    transform.points(frequencies, points.as_mut_ptr());
                    unfold(points.as_ptr(), n, self.scale, sign, to.as_mut_ptr());
                }
            }
            Fourier::Complex(transform, scratch, turns) => {
                let at = |i: usize| if is_sine { x[n - 1 - i] } else { x[i] };
                let (even, of) = (n.is_multiple_of(2), |[re, im]: [R; 2]| R::Complex::from_parts(re, im));
                if even {
                    let turned = (0..n / 2).map(|j| turns.turned([at(2 * j), at(n - 1 - 2 * j)], 4 * j));
                    spectrum.iter_mut().zip(turned).for_each(|(to, z)| *to = of(z));
                } else {
                    let turned = (0..n).map(|j| turns.turned([at(j), R::ZERO], 2 * j));
                    spectrum.iter_mut().zip(turned).for_each(|(to, z)| *to = of(z));
                    spectrum[n..].fill(of([R::ZERO; 2]));
                }
                transform.process_with_scratch(R::lane(spectrum), R::lane(scratch));
                let (scale, step) = (self.scale + self.scale, if even { 4 } else { 2 });
                for (k, z) in spectrum[..if even { n / 2 } else { n }].iter().enumerate() {
                    let [re, im] = turns.turned([z.real(), z.imag()], step * k + 1).map(|part| part * scale);
                    if even {
                        to[2 * k] = re;
                        to[n - 1 - 2 * k] = if is_sine { im } else { R::ZERO - im };
                    } else {
                        to[k] = if is_sine && k % 2 == 1 { R::ZERO - re } else { re };
                    }
                }
            }
        }
        weigh(to, self.after);
    }

    /// Returns the first `n` elements in the precision of the transform. Missing elements are 0. The first and the last
    /// element are multiplied by the factors `before`.
    ///
    /// # Safety
    /// The elements must exist until the result is dropped.
    unsafe fn given<'e>(&mut self, elements: Elements) -> &'e [R] {
        let n = self.plan.n;
        let start: *const R = if elements.dtype == R::DTYPE && elements.len >= n && self.before == [R::ONE; 2] {
            elements.start.cast()
        } else {
            // SAFETY: the elements exist, and there is room for `n` numbers.
            unsafe { pad(elements, R::DTYPE, self.given.as_mut_ptr().cast(), n) };
            weigh(&mut self.given, self.before);
            self.given.as_ptr()
        };
        // SAFETY: there are `n` numbers at the address, and nobody changes them during the transform.
        unsafe { std::slice::from_raw_parts(start, n) }
    }
}

/// Multiplies the first and the last number by these factors.
fn weigh<R: Engine>(x: &mut [R], [first, last]: [R; 2]) {
    if first != R::ONE {
        x[0] = x[0] * first;
    }
    if last != R::ONE {
        let end = x.len() - 1;
        x[end] = x[end] * last;
    }
}

/// Writes the numbers, followed by their mirror image. For a sine transform, the mirror image has the opposite sign,
/// and a 0 precedes both the numbers and the mirror image. For a cosine transform, the mirror image lacks the first and
/// the last number.
fn mirror<R: Engine>(x: &[R], is_sine: bool, to: &mut [R]) {
    let n = x.len();
    if is_sine {
        (to[0], to[n + 1]) = (R::ZERO, R::ZERO);
        to[1..=n].copy_from_slice(x);
        to[n + 2..].iter_mut().zip(x.iter().rev()).for_each(|(to, &x)| *to = R::ZERO - x);
    } else {
        to[..n].copy_from_slice(x);
        to[n..].iter_mut().zip(x[1..n - 1].iter().rev()).for_each(|(to, &x)| *to = x);
    }
}

/// Number of pairs of numbers that the loops below handle at a time. The compiler vectorises loops over such a block,
/// but not loops over whole arrays that are read or written in reverse order.
const BLOCK: usize = 8;

/// Reads a block of `N` numbers.
///
/// # Safety
/// The numbers must exist.
#[inline(always)]
unsafe fn block<R: Copy, const N: usize>(from: *const R) -> [R; N] {
    // SAFETY: the caller guarantees the numbers.
    unsafe { from.cast::<[R; N]>().read_unaligned() }
}

/// Writes a block of numbers.
///
/// # Safety
/// There must be room for the numbers.
#[inline(always)]
unsafe fn put<R: Copy, const N: usize>(numbers: [R; N], to: *mut R) {
    // SAFETY: the caller guarantees the room.
    unsafe { to.cast::<[R; N]>().write_unaligned(numbers) }
}

versions! {
    /// Writes the numbers with even indices, followed by the numbers with odd indices in reverse order, multiplied by
    /// `sign`.
    ///
    /// # Safety
    /// Both arrays must have `n` numbers.
    unsafe fn fold[R: Engine][R](x: *const R, n: usize, sign: R, to: *mut R) {
        // SAFETY: the caller guarantees the numbers, and each block is within the arrays.
        unsafe {
            let mut j = 0;
            while j + BLOCK <= n / 2 {
                let pairs: [R; 2 * BLOCK] = block(x.add(2 * j));
                let (mut even, mut odd) = ([R::ZERO; BLOCK], [R::ZERO; BLOCK]);
                for i in 0..BLOCK {
                    even[i] = pairs[2 * i];
                    odd[BLOCK - 1 - i] = pairs[2 * i + 1] * sign;
                }
                put(even, to.add(j));
                put(odd, to.add(n - j - BLOCK));
                j += BLOCK;
            }
            for j in j..n / 2 {
                *to.add(j) = *x.add(2 * j);
                *to.add(n - 1 - j) = *x.add(2 * j + 1) * sign;
            }
            if n % 2 == 1 {
                *to.add(n / 2) = *x.add(n - 1);
            }
        }
    }

    /// Inverse of [`fold`]. Multiplies the numbers with even indices by `even`, and the others by `odd`.
    ///
    /// # Safety
    /// Both arrays must have `n` numbers.
    unsafe fn unfold[R: Engine][R](x: *const R, n: usize, even: R, odd: R, to: *mut R) {
        // SAFETY: the caller guarantees the numbers, and each block is within the arrays.
        unsafe {
            let mut j = 0;
            while j + BLOCK <= n / 2 {
                let (low, high): ([R; BLOCK], [R; BLOCK]) = (block(x.add(j)), block(x.add(n - j - BLOCK)));
                let mut pairs = [R::ZERO; 2 * BLOCK];
                for i in 0..BLOCK {
                    pairs[2 * i] = low[i] * even;
                    pairs[2 * i + 1] = high[BLOCK - 1 - i] * odd;
                }
                put(pairs, to.add(2 * j));
                j += BLOCK;
            }
            for j in j..n / 2 {
                *to.add(2 * j) = *x.add(j) * even;
                *to.add(2 * j + 1) = *x.add(n - 1 - j) * odd;
            }
            if n % 2 == 1 {
                *to.add(n - 1) = *x.add(n / 2) * even;
            }
        }
    }

    /// Rotates frequency k by the angle -pi k / (2 n), multiplies it by `scale`, and writes its real part as number k
    /// and the negative of its imaginary part as number `n - k`. If `reversed` is true, the numbers are written in
    /// reverse order.
    ///
    /// # Safety
    /// There must be `n / 2 + 1` frequencies, as pairs of numbers, and room for `n` numbers.
    unsafe fn turn_frequencies[R: Engine][R](
        z: *const R, turns: &Turns<R>, n: usize, scale: R, to: *mut R, reversed: bool,
    ) {
        let (cos, sin) = (turns.cos.as_ptr(), turns.sin.as_ptr());
        let (last, end) = (n - 1, n.div_ceil(2));
        // SAFETY: the caller guarantees the frequencies and the room, there are `n + 1` cosines and sines, and each
        // block is within the arrays.
        unsafe {
            *to.add(if reversed { last } else { 0 }) = *z * scale;
            if n.is_multiple_of(2) {
                let k = n / 2;
                let number = (*z.add(2 * k) * *cos.add(k) + *z.add(2 * k + 1) * *sin.add(k)) * scale;
                *to.add(if reversed { last - k } else { k }) = number;
            }
            let mut k = 1;
            while k + BLOCK <= end {
                let (pairs, cos, sin): ([R; 2 * BLOCK], [R; BLOCK], [R; BLOCK]) =
                    (block(z.add(2 * k)), block(cos.add(k)), block(sin.add(k)));
                let (mut low, mut high) = ([R::ZERO; BLOCK], [R::ZERO; BLOCK]);
                for i in 0..BLOCK {
                    low[i] = (pairs[2 * i] * cos[i] + pairs[2 * i + 1] * sin[i]) * scale;
                    high[i] = (pairs[2 * i] * sin[i] - pairs[2 * i + 1] * cos[i]) * scale;
                }
                if reversed {
                    low.reverse();
                    put(low, to.add(n - k - BLOCK));
                    put(high, to.add(k - 1));
                } else {
                    high.reverse();
                    put(low, to.add(k));
                    put(high, to.add(n + 1 - k - BLOCK));
                }
                k += BLOCK;
            }
            for k in k..end {
                let low = (*z.add(2 * k) * *cos.add(k) + *z.add(2 * k + 1) * *sin.add(k)) * scale;
                let high = (*z.add(2 * k) * *sin.add(k) - *z.add(2 * k + 1) * *cos.add(k)) * scale;
                *to.add(if reversed { last - k } else { k }) = low;
                *to.add(if reversed { k - 1 } else { n - k }) = high;
            }
        }
    }

    /// Computes the complex frequencies `to[k] = (x[k] - i x[n - k]) exp(i pi k / (2 n))` for `k` from 0 to `n / 2`,
    /// where `x[n]` counts as 0. If `reversed` is true, the numbers of `x` are read in reverse order.
    ///
    /// # Safety
    /// `x` must have `n` numbers, and `to` must have room for `n / 2 + 1` frequencies of two numbers each.
    unsafe fn turn_elements[R: Engine][R](x: *const R, turns: &Turns<R>, n: usize, to: *mut R, reversed: bool) {
        let (cos, sin, end) = (turns.cos.as_ptr(), turns.sin.as_ptr(), n / 2 + 1);
        // SAFETY: the caller guarantees the numbers and the room, there are `n + 1` cosines and sines, and each block
        // is within the arrays.
        unsafe {
            *to = *x.add(if reversed { n - 1 } else { 0 });
            *to.add(1) = R::ZERO;
            let mut k = 1;
            while k + BLOCK <= end {
                let (mut low, mut high): ([R; BLOCK], [R; BLOCK]) = if reversed {
                    (block(x.add(n - k - BLOCK)), block(x.add(k - 1)))
                } else {
                    (block(x.add(k)), block(x.add(n + 1 - k - BLOCK)))
                };
                if reversed {
                    low.reverse();
                } else {
                    high.reverse();
                }
                let (cos, sin): ([R; BLOCK], [R; BLOCK]) = (block(cos.add(k)), block(sin.add(k)));
                let mut pairs = [R::ZERO; 2 * BLOCK];
                for i in 0..BLOCK {
                    pairs[2 * i] = low[i] * cos[i] + high[i] * sin[i];
                    pairs[2 * i + 1] = low[i] * sin[i] - high[i] * cos[i];
                }
                put(pairs, to.add(2 * k));
                k += BLOCK;
            }
            for k in k..end {
                let low = *x.add(if reversed { n - 1 - k } else { k });
                let high = *x.add(if reversed { k - 1 } else { n - k });
                *to.add(2 * k) = low * *cos.add(k) + high * *sin.add(k);
                *to.add(2 * k + 1) = low * *sin.add(k) - high * *cos.add(k);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::typed::{dct, dst, idct, idst},
        *,
    };
    use backend_core::{
        Error, Real, f16,
        numpyish::{
            NdArray, Numpyish, simd,
            testing::{counting, layouts},
        },
    };
    use ndarray::{ArrayD, Axis, IxDyn};
    use std::f64::consts::{FRAC_1_SQRT_2, PI, SQRT_2};

    const B: Numpyish = Numpyish::new();

    /// Computes the unscaled transform of one lane by its definition.
    fn defined(x: &[f64], wave: Wave, kind: usize) -> Vec<f64> {
        let n = x.len() as f64;
        let sum = |k: usize, term: fn(f64, f64, f64) -> f64| -> f64 {
            x.iter().enumerate().map(|(j, x)| 2.0 * x * (PI * term(j as f64, k as f64, n)).cos()).sum()
        };
        // sin(pi t) = cos(pi (t - 1/2))
        let element = |k: usize| match (wave, kind) {
            (Wave::Cosine, 1) => {
                let (first, last) = (x[0], x[x.len() - 1] * if k.is_multiple_of(2) { 1.0 } else { -1.0 });
                sum(k, |j, k, n| j * k / (n - 1.0)) - first - last
            }
            (Wave::Cosine, 2) => sum(k, |j, k, n| (2.0 * j + 1.0) * k / (2.0 * n)),
            (Wave::Cosine, 3) => sum(k, |j, k, n| j * (2.0 * k + 1.0) / (2.0 * n)) - x[0],
            (Wave::Cosine, _) => sum(k, |j, k, n| (2.0 * j + 1.0) * (2.0 * k + 1.0) / (4.0 * n)),
            (Wave::Sine, 1) => sum(k, |j, k, n| (j + 1.0) * (k + 1.0) / (n + 1.0) - 0.5),
            (Wave::Sine, 2) => sum(k, |j, k, n| (2.0 * j + 1.0) * (k + 1.0) / (2.0 * n) - 0.5),
            (Wave::Sine, 3) => {
                let last = x[x.len() - 1] * if k.is_multiple_of(2) { 1.0 } else { -1.0 };
                sum(k, |j, k, n| (j + 1.0) * (2.0 * k + 1.0) / (2.0 * n) - 0.5) - last
            }
            (Wave::Sine, _) => sum(k, |j, k, n| (2.0 * j + 1.0) * (2.0 * k + 1.0) / (4.0 * n) - 0.5),
        };
        (0..x.len()).map(element).collect()
    }

    /// Computes the orthonormal transform of one lane by its definition.
    fn orthonormal(x: &[f64], wave: Wave, kind: usize) -> Vec<f64> {
        let (n, mut x) = (x.len(), x.to_vec());
        let (first, last) = (0, n - 1);
        match (wave, kind) {
            (Wave::Cosine, 1) => [first, last].iter().for_each(|&i| x[i] *= SQRT_2),
            (Wave::Cosine, 3) => x[first] *= SQRT_2,
            (Wave::Sine, 3) => x[last] *= SQRT_2,
            _ => {}
        }
        let mut y = defined(&x, wave, kind);
        match (wave, kind) {
            (Wave::Cosine, 1) => [first, last].iter().for_each(|&i| y[i] *= FRAC_1_SQRT_2),
            (Wave::Cosine, 2) => y[first] *= FRAC_1_SQRT_2,
            (Wave::Sine, 2) => y[last] *= FRAC_1_SQRT_2,
            _ => {}
        }
        let whole = match (wave, kind) {
            (Wave::Cosine, 1) => 2 * (n - 1),
            (Wave::Sine, 1) => 2 * (n + 1),
            _ => 2 * n,
        };
        y.iter().map(|y| y / (whole as f64).sqrt()).collect()
    }

    type Op<T> = fn(&Numpyish, &NdArray<T>, usize, Option<usize>, isize, Norm) -> Result<NdArray<T>>;

    fn ops<T: Real>(wave: Wave) -> [Op<T>; 2] {
        match wave {
            Wave::Cosine => [dct, idct],
            Wave::Sine => [dst, idst],
        }
    }

    fn waves(shape: &[usize]) -> ArrayD<f64> {
        counting::<f64>(shape).mapv(|i| (i * 1.7).sin() + 0.3 * (i * i * 0.3).cos() + 0.1)
    }

    fn furthest(got: &NdArray<f64>, expected: &ArrayD<f64>) -> f64 {
        assert_eq!(got.shape(), expected.shape());
        let most = expected.iter().fold(1.0, |most: f64, e| most.max(e.abs()));
        got.iter().zip(expected).map(|(g, e)| (g - e).abs() / most).fold(0.0, f64::max)
    }

    /// Computes the expected result: cuts each lane to `n` points, or pads it with zeros, and transforms it by `of`.
    fn expected(x: &ArrayD<f64>, axis: usize, n: usize, of: impl Fn(&[f64]) -> Vec<f64>) -> ArrayD<f64> {
        let mut shape = x.shape().to_vec();
        shape[axis] = n;
        let mut out = ArrayD::zeros(IxDyn(&shape));
        for (from, mut to) in x.lanes(Axis(axis)).into_iter().zip(out.lanes_mut(Axis(axis))) {
            let mut lane = from.to_vec();
            lane.resize(n, 0.0);
            to.iter_mut().zip(of(&lane)).for_each(|(t, v)| *t = v);
        }
        out
    }

    #[test]
    fn every_kind_by_its_definition() {
        let lengths = if cfg!(miri) { vec![1, 2, 3, 4, 5] } else { (1..=18).chain([21, 32, 50, 101, 128]).collect() };
        for n in lengths {
            let x = waves(&[n]);
            for wave in [Wave::Cosine, Wave::Sine] {
                let [forward, inverse] = ops::<f64>(wave);
                for kind in 1..=4 {
                    if (wave, kind, n) == (Wave::Cosine, 1, 1) {
                        continue;
                    }
                    let y = forward(&B, &x.to_shared(), kind, None, -1, Norm::Backward).unwrap();
                    let off = furthest(&y, &expected(&x, 0, n, |x| defined(x, wave, kind)));
                    assert!(off < 1e-13, "{wave:?} {kind} {n}: {off}");
                    let y = forward(&B, &x.to_shared(), kind, None, -1, Norm::Ortho).unwrap();
                    let off = furthest(&y, &expected(&x, 0, n, |x| orthonormal(x, wave, kind)));
                    assert!(off < 1e-13, "{wave:?} {kind} {n}: {off}");
                    for norm in [Norm::Backward, Norm::Ortho, Norm::Forward] {
                        let y = forward(&B, &x.to_shared(), kind, None, 0, norm).unwrap();
                        let off = furthest(&inverse(&B, &y, kind, None, 0, norm).unwrap(), &x);
                        assert!(off < 1e-13, "{wave:?} {kind} {n} {norm:?}: {off}");
                    }
                }
            }
        }
    }

    #[test]
    fn layouts_lengths_and_axes() {
        for shape in if cfg!(miri) { &[[2, 3, 4]][..] } else { &[[2, 3, 4], [9, 5, 6]] } {
            let x = waves(shape);
            for (axis, &len) in shape.iter().enumerate() {
                for n in [len, len + 3, len - 1] {
                    for wave in [Wave::Cosine, Wave::Sine] {
                        for kind in 1..=4 {
                            if (wave, kind, n) == (Wave::Cosine, 1, 1) {
                                continue;
                            }
                            let right = expected(&x, axis, n, |x| orthonormal(x, wave, kind));
                            for a in layouts(&x) {
                                let y = ops(wave)[0](&B, &a, kind, Some(n), axis as isize, Norm::Ortho).unwrap();
                                assert!(furthest(&y, &right) < 1e-13, "{wave:?} {kind} {shape:?} {axis} {n}");
                            }
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn other_dtypes() {
        for kind in 1..=4 {
            for wave in [Wave::Cosine, Wave::Sine] {
                let x = waves(&[6, 5]);
                let right = expected(&x, 0, 7, |x| defined(x, wave, kind));
                let narrow = x.mapv(|x| x as f32).into_shared();
                let y = ops::<f32>(wave)[0](&B, &narrow, kind, Some(7), 0, Norm::Backward).unwrap();
                assert!(furthest(&y.mapv(f64::from).into_shared(), &right) < 1e-6, "{kind} {wave:?}");
                let narrow = x.mapv(f16::from_f64).into_shared();
                let y = ops::<f16>(wave)[0](&B, &narrow, kind, Some(7), 0, Norm::Backward).unwrap();
                assert!(furthest(&y.mapv(f64::from).into_shared(), &right) < 2e-3, "{kind} {wave:?}");
            }
        }
    }

    #[test]
    fn instruction_sets_agree() {
        for n in if cfg!(miri) { [6, 7, 8] } else { [96, 75, 127] } {
            let x = waves(&[3, n]).into_shared();
            for wave in [Wave::Cosine, Wave::Sine] {
                for kind in 2..=3 {
                    let mut results = Vec::new();
                    simd::with_each(|_| {
                        let y = ops::<f64>(wave)[0](&B, &x, kind, None, 1, Norm::Ortho).unwrap();
                        results.push(y);
                    });
                    // the Fourier transform of one lane rounds differently with each instruction set
                    let off = results.iter().map(|y| furthest(y, &results[0].to_owned())).fold(0.0, f64::max);
                    assert!(off < 1e-14, "{wave:?} {kind} {n}: {off}");
                }
            }
        }
    }

    #[test]
    fn wrong_arguments_and_empty_arrays() {
        let x = waves(&[2, 3]).into_shared();
        let norm = Norm::Backward;
        assert!(matches!(dct(&B, &x, 0, None, 0, norm), Err(Error::Argument { op: "dct", .. })));
        assert!(matches!(idst(&B, &x, 5, None, 0, norm), Err(Error::Argument { op: "idst", .. })));
        assert!(matches!(dct(&B, &x, 1, Some(1), 0, norm), Err(Error::Shape { op: "dct", .. })));
        assert!(matches!(dst(&B, &x, 1, Some(0), 0, norm), Err(Error::Shape { op: "dst", .. })));
        assert!(matches!(idct(&B, &x, 2, None, 2, norm), Err(Error::Axis { op: "idct", .. })));
        assert!(matches!(dct(&B, &x, 2, Some(usize::MAX), 0, norm), Err(Error::Memory { .. })));
        let none = ArrayD::<f64>::zeros(IxDyn(&[0, 3])).into_shared();
        assert_eq!(dst(&B, &none, 1, Some(1 << 40), 1, norm).unwrap().shape(), [0, 1 << 40]);
    }
}
