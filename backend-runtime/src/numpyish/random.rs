//! Random numbers, by the recipe of [`crate::random`]: they do not depend on the number of threads.

pub(crate) mod distributions;
mod many;
mod permutation;
mod words;

pub use distributions::{
    random_beta, random_binomial, random_exponential, random_gamma, random_multinomial, random_poisson,
    random_truncated_normal,
};

use super::{
    NdArray, Numpyish,
    buffer::Buffer,
    copy,
    parallel::{self, COSTLY},
    raw::{RawArray, View},
    simd::versions,
    sorting,
    typed::typed,
};
use crate::{
    DType, DTypeKind, Float, Integer, Precision, Real, Result, bf16, f16,
    random::{BoxMuller, below, unit_f32, unit_f64},
    rules,
};

/// Uniform random numbers in [low, high).
pub fn random_uniform<T: Float>(b: &Numpyish, shape: &[usize], low: f64, high: f64) -> Result<NdArray<T>> {
    typed(uniform_of(b, T::DTYPE, shape, low, high))
}

fn uniform_of(b: &Numpyish, dtype: DType, shape: &[usize], low: f64, high: f64) -> Result<RawArray> {
    match dtype.to_real() {
        DType::Float16 => uniform_in::<f16, f32>(b, dtype, shape, low, high),
        DType::BFloat16 => uniform_in::<bf16, f32>(b, dtype, shape, low, high),
        DType::Float32 => uniform_in::<f32, f32>(b, dtype, shape, low, high),
        _ => uniform_in::<f64, f64>(b, dtype, shape, low, high),
    }
}

/// `uniform_of` for reals `T`, or complex numbers of two `T`, generated in the precision `R`.
fn uniform_in<T: Real, R: Generator>(
    b: &Numpyish,
    dtype: DType,
    shape: &[usize],
    low: f64,
    high: f64,
) -> Result<RawArray> {
    let op = "random_uniform";
    rules::check_uniform(op, dtype, low, high)?;
    let start = R::of(low);
    let length = R::of(high) - start;
    let (from, to) = (T::of(low), T::of(high));
    // the number below `high`, which replaces values that round up to `high`
    let below = if from == to { to } else { to.nextafter(from) };
    // SAFETY: `out` has room for all numbers that the loop writes.
    make::<T, R>(b, op, dtype, shape, R::uniform, |made, out| unsafe { scale(made, out, start, length, to, below) })
}

/// Normally distributed random numbers.
pub fn random_normal<T: Float>(b: &Numpyish, shape: &[usize], mean: f64, std: f64) -> Result<NdArray<T>> {
    typed(normal_of(b, T::DTYPE, shape, mean, std))
}

fn normal_of(b: &Numpyish, dtype: DType, shape: &[usize], mean: f64, std: f64) -> Result<RawArray> {
    match dtype.to_real() {
        DType::Float16 => normal_in::<f16, f32>(b, dtype, shape, mean, std),
        DType::BFloat16 => normal_in::<bf16, f32>(b, dtype, shape, mean, std),
        DType::Float32 => normal_in::<f32, f32>(b, dtype, shape, mean, std),
        _ => normal_in::<f64, f64>(b, dtype, shape, mean, std),
    }
}

fn normal_in<T: Real, R: Generator>(
    b: &Numpyish,
    dtype: DType,
    shape: &[usize],
    mean: f64,
    std: f64,
) -> Result<RawArray> {
    let op = "random_normal";
    rules::check_normal(op, mean, std)?;
    let (mean, std) = (R::of(mean), R::of(std));
    // SAFETY: `out` has room for all numbers that the loop writes.
    make::<T, R>(b, op, dtype, shape, R::normal, |made, out| unsafe { shift(made, out, mean, std) })
}

versions! {
    /// Scales numbers of [0, 1) to a range; a value that rounds up to the range's end becomes the value below it.
    unsafe fn scale[T: Real, R: Precision][T, R](made: &[R], out: *mut T, start: R, length: R, end: T, below: T) {
        for (i, &u) in made.iter().enumerate() {
            let x: T = (start + length * u).cast();
            // SAFETY: `out` has room for as many elements as `made` has numbers.
            unsafe { *out.add(i) = if x == end { below } else { x } };
        }
    }

    /// Turns standard normal numbers into numbers of this mean and standard deviation.
    unsafe fn shift[T: Real, R: Precision][T, R](made: &[R], out: *mut T, mean: R, std: R) {
        for (i, &z) in made.iter().enumerate() {
            // SAFETY: `out` has room for as many elements as `made` has numbers.
            unsafe { *out.add(i) = (mean + std * z).cast() };
        }
    }
}

/// Uniform random integers in `low .. high`.
pub fn random_integers<T: Integer>(b: &Numpyish, shape: &[usize], low: T, high: T) -> Result<NdArray<T>> {
    rules::check_integers("random_integers", low, high)?;
    typed(integers_of(b, T::DTYPE, shape, low.cast(), high.cast()))
}

/// `random_integers` for any dtype. Differences and sums modulo 2^64 are correct for signed dtypes too.
fn integers_of(b: &Numpyish, dtype: DType, shape: &[usize], low: u64, high: u64) -> Result<RawArray> {
    let op = "random_integers";
    let range = high.wrapping_sub(low);
    let out = Buffer::new(op, rules::count(op, shape, dtype.size())?, dtype)?;
    fill(b, &out, out.len(), 2, |key, block, out, n| {
        let mut words = [0; PART];
        words::fill(key, block, &mut words[..n]);
        for (i, &word) in words[..n].iter().enumerate() {
            let x = low.wrapping_add(below(range, word));
            // SAFETY: `out` has room for `n` elements, and the low bits of `x` are right for signed and unsigned
            // dtypes.
            unsafe {
                match dtype.size() {
                    1 => *out.add(i) = x as u8,
                    2 => *out.cast::<u16>().add(i) = x as u16,
                    4 => *out.cast::<u32>().add(i) = x as u32,
                    _ => *out.cast::<u64>().add(i) = x,
                }
            }
        }
    });
    // SAFETY: every element has been written.
    unsafe { RawArray::new(op, shape.to_vec(), out) }
}

/// A random order of 0 .. n - 1: the sorting order of random keys.
pub fn random_permutation<T: Integer>(b: &Numpyish, n: usize) -> Result<NdArray<T>> {
    typed(permutation_of(b, T::DTYPE, T::MAX.cast(), n))
}

fn permutation_of(b: &Numpyish, dtype: DType, largest: u64, n: usize) -> Result<RawArray> {
    let op = "random_permutation";
    rules::check_permutation(op, n, dtype, largest)?;
    let keys = Buffer::new(op, rules::count(op, &[n], size_of::<u64>())?, DType::UInt64)?;
    fill(b, &keys, n, 2, |key, block, out, n| {
        // SAFETY: `out` has room for `n` words.
        words::fill(key, block, unsafe { std::slice::from_raw_parts_mut(out.cast(), n) });
    });
    let keys = View { start: keys.start(), dtype: DType::UInt64, shape: &[n], strides: &[1] };
    let out = Buffer::new(op, n, dtype)?;
    let to = copy::Ends { from: out.start().cast_const(), to: out.start() };
    let write = |start: usize, places: &[u64], bits: u64| {
        let to = &to;
        for (i, place) in (start..).zip(places) {
            let x = place & bits;
            // SAFETY: the result has room for `n` elements, and the number fits the dtype.
            unsafe {
                match dtype.size() {
                    1 => *to.to.add(i) = x as u8,
                    2 => *to.to.cast::<u16>().add(i) = x as u16,
                    4 => *to.to.cast::<u32>().add(i) = x as u32,
                    _ => *to.to.cast::<u64>().add(i) = x,
                }
            }
        }
    };
    if permutation::suits(n) {
        permutation::ordered(op, keys.as_slice(), write)?;
    } else {
        let order = sorting::sorting_indices(keys, 0, false).map_err(|e| e.within(op))?;
        let strides = order.strides();
        for (i, &x) in order.view(&strides).as_slice::<i64>().iter().enumerate() {
            write(i, &[x as u64], u64::MAX);
        }
    }
    // SAFETY: every element has been written.
    unsafe { RawArray::new(op, vec![n], out) }
}

/// Number of elements made at once, so few that they stay in the first-level cache.
const PART: usize = 1024;

/// Fills a buffer with `n` numbers from the next blocks of the stream. `f` gets the key, the first block of a part, the
/// part's address, and its length: at most [`PART`] numbers.
fn fill(b: &Numpyish, out: &Buffer, n: usize, per_block: usize, f: impl Fn(u64, u64, *mut u8, usize) + Sync) {
    let (key, first) = b.stream().take(n.div_ceil(per_block) as u64);
    if n == 0 {
        return;
    }
    let size = out.len() * out.dtype().size() / n;
    parallel::parallel(n.div_ceil(PART), (COSTLY / PART).max(1), |parts| {
        for part in parts {
            let start = part * PART;
            // SAFETY: the part lies in the buffer, and no other task writes it.
            let to = unsafe { out.start().add(start * size) };
            f(key, first.wrapping_add((start / per_block) as u64), to, PART.min(n - start));
        }
    });
}

/// Makes an array of real numbers, or of complex numbers of two reals each. `numbers` makes reals of type `R`, and
/// `last` converts them to elements.
fn make<T: Real, R: Generator>(
    b: &Numpyish,
    op: &'static str,
    dtype: DType,
    shape: &[usize],
    numbers: fn(u64, u64, &mut [R]),
    last: impl Fn(&[R], *mut T) + Sync,
) -> Result<RawArray> {
    let out = Buffer::new(op, rules::count(op, shape, dtype.size())?, dtype)?;
    let parts = if dtype.kind() == DTypeKind::Complex { 2 } else { 1 };
    assert_eq!(dtype.size(), parts * size_of::<T>());
    fill(b, &out, parts * out.len(), R::PER_BLOCK, |key, block, to, n| {
        let mut made = [R::ZERO; PART];
        numbers(key, block, &mut made[..n]);
        last(&made[..n], to.cast());
    });
    // SAFETY: every element has been written.
    unsafe { RawArray::new(op, shape.to_vec(), out) }
}

/// Precisions in which random numbers are made: `f32` and `f64`. Both functions fill a slice from the blocks from
/// `block` on.
trait Generator: Precision {
    /// Number of random numbers made from one block of the generator.
    const PER_BLOCK: usize;

    fn uniform(key: u64, block: u64, out: &mut [Self]);
    fn normal(key: u64, block: u64, out: &mut [Self]);
}

/// Defines a loop over the words of blocks, in which `$last` makes `$per` numbers from each word.
macro_rules! from_words {
    ($name:ident $loop:ident: $t:ty, $per:literal, |$w:ident| $last:expr) => {
        /// Makes at most [`PART`] numbers from the blocks from `block` on.
        fn $name(key: u64, block: u64, out: &mut [$t]) {
            let mut words = [0; PART / $per];
            let words = &mut words[..out.len().div_ceil($per)];
            words::fill(key, block, words);
            // SAFETY: the loop has no safety conditions.
            unsafe { $loop(words, out) }
        }

        versions! {
            unsafe fn $loop[][](words: &[u64], out: &mut [$t]) {
                let (whole, rest) = out.as_chunks_mut::<$per>();
                for (out, &$w) in whole.iter_mut().zip(words) {
                    *out = $last;
                }
                if let (false, Some(&$w)) = (rest.is_empty(), words.last()) {
                    rest.copy_from_slice(&$last[..rest.len()]);
                }
            }
        }
    };
}
from_words!(uniform_f64 units_f64: f64, 1, |w| [unit_f64((w >> 32) as u32, w as u32)]);
from_words!(uniform_f32 units_f32: f32, 2, |w| [unit_f32((w >> 32) as u32), unit_f32(w as u32)]);

/// Turns pairs of uniform numbers into pairs of normal ones.
fn normal_pairs<R: BoxMuller>(x: &mut [R]) {
    let n = x.len() / 2;
    let mut radius = [R::ZERO; PART / 2];
    let mut angle = [R::ZERO; PART / 2];
    let mut cosine = [R::ZERO; PART / 2];
    let pairs = x.as_chunks_mut::<2>().0;
    pairs.iter().zip(&mut radius).zip(&mut angle).for_each(|((p, r), a)| [*r, *a] = *p);
    cosine[..n].copy_from_slice(&angle[..n]);
    // SAFETY: the loops have no safety conditions.
    unsafe {
        radii(&mut radius[..n]);
        cosines(&mut cosine[..n]);
        sines(&mut angle[..n]);
    }
    let sine = angle;
    pairs.iter_mut().zip(&radius).zip(&cosine).zip(&sine).for_each(|(((p, &r), &c), &s)| *p = [r * c, r * s]);
}

versions! {
    unsafe fn radii[R: BoxMuller][R](x: &mut [R]) {
        for x in x {
            *x = R::radius(*x);
        }
    }

    unsafe fn cosines[R: BoxMuller][R](x: &mut [R]) {
        for x in x {
            *x = R::cosine(*x);
        }
    }

    unsafe fn sines[R: BoxMuller][R](x: &mut [R]) {
        for x in x {
            *x = R::sine(*x);
        }
    }
}

macro_rules! generator {
    ($($r:ident $per:literal $uniform:ident;)*) => {$(
        impl Generator for $r {
            const PER_BLOCK: usize = $per;

            fn uniform(key: u64, block: u64, out: &mut [$r]) {
                $uniform(key, block, out);
            }

            fn normal(key: u64, block: u64, out: &mut [$r]) {
                let whole = out.len().next_multiple_of(2);
                let mut made = [0.0; PART];
                $uniform(key, block, &mut made[..whole]);
                normal_pairs(&mut made[..whole]);
                out.copy_from_slice(&made[..out.len()]);
            }
        }
    )*};
}
generator! {
    f32 4 uniform_f32;
    f64 2 uniform_f64;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Complex, Error, bf16, f16,
        random::{bits, normal_f32, normal_f64, philox},
    };

    fn seeded() -> Numpyish {
        Numpyish::seeded(42)
    }

    /// Compares with elements made one at a time by the recipe.
    #[test]
    fn elements_follow_the_recipe() {
        const N: usize = 20_003;
        let double: NdArray<f64> = random_uniform(&seeded(), &[N], -1.0, 3.0).unwrap();
        let single: NdArray<f32> = random_uniform(&seeded(), &[N], -1.0, 3.0).unwrap();
        let half: NdArray<f16> = random_uniform(&seeded(), &[N], -1.0, 3.0).unwrap();
        let normals: NdArray<f64> = random_normal(&seeded(), &[N], 5.0, 2.0).unwrap();
        let brains: NdArray<bf16> = random_normal(&seeded(), &[N], 5.0, 2.0).unwrap();
        let whole: NdArray<i16> = random_integers(&seeded(), &[N], -30_000, 30_000).unwrap();
        for i in 0..N {
            let (two, four) = (philox(42, i as u64 / 2), philox(42, i as u64 / 4));
            let (k, word) = (i % 2 * 2, four[i % 4]);
            assert_eq!(double[i], -1.0 + 4.0 * unit_f64(two[k], two[k + 1]));
            assert_eq!(single[i], -1.0 + 4.0 * unit_f32(word));
            let nearest = f16::from_f32(-1.0 + 4.0 * unit_f32(word));
            assert_eq!(half[i], if nearest.to_f32() == 3.0 { f16::from_bits(nearest.to_bits() - 1) } else { nearest });
            assert!((normals[i] - (5.0 + 2.0 * normal_f64(two)[i % 2])).abs() < 1e-14);
            assert!((brains[i].to_f32() - (5.0 + 2.0 * normal_f32(four)[i % 4])).abs() < 0.05);
            assert_eq!(whole[i] as i64, below(60_000, bits(two, i % 2)) as i64 - 30_000);
        }
    }

    #[test]
    fn complex_numbers_are_pairs_of_reals() {
        let z: NdArray<Complex<f32>> = random_normal(&seeded(), &[7, 5], 0.0, 1.0).unwrap();
        let x: NdArray<f32> = random_normal(&seeded(), &[70], 0.0, 1.0).unwrap();
        assert!(z.iter().flat_map(|z| [z.re, z.im]).eq(x.iter().copied()));
        let z: NdArray<Complex<f64>> = random_uniform(&seeded(), &[3], 1.0, 2.0).unwrap();
        assert!(z.iter().all(|z| z.re >= 1.0 && z.im >= 1.0 && z.re < 2.0 && z.im < 2.0 && z.re != z.im));
    }

    #[test]
    fn a_stream_goes_on() {
        let b = seeded();
        let first: NdArray<f64> = random_uniform(&b, &[3], 0.0, 1.0).unwrap();
        let second: NdArray<f64> = random_uniform(&b, &[2], 0.0, 1.0).unwrap();
        let whole: NdArray<f64> = random_uniform(&seeded(), &[6], 0.0, 1.0).unwrap();
        assert_eq!(first.as_slice().unwrap(), &whole.as_slice().unwrap()[..3]);
        assert_eq!(second.as_slice().unwrap(), &whole.as_slice().unwrap()[4..], "a block is never used twice");
    }

    #[test]
    fn moments() {
        const N: usize = 200_000;
        fn check(x: impl Iterator<Item = f64>, mean: f64, std: f64, kurtosis: f64) {
            let x: Vec<f64> = x.collect();
            let of = |p: i32, m: f64| x.iter().map(|v| (v - m).powi(p)).sum::<f64>() / N as f64;
            let (m, s) = (of(1, 0.0), of(2, mean).sqrt());
            assert!((m - mean).abs() < 5.0 * std / (N as f64).sqrt(), "mean {m}");
            assert!((s / std - 1.0).abs() < 0.01, "std {s}");
            assert!((of(4, mean) / s.powi(4) - kurtosis).abs() < 0.1, "kurtosis");
        }
        let twelfth = (1.0_f64 / 12.0).sqrt();
        check(random_uniform::<f64>(&seeded(), &[N], 0.0, 1.0).unwrap().iter().copied(), 0.5, twelfth, 1.8);
        check(random_uniform::<f32>(&seeded(), &[N], 0.0, 1.0).unwrap().iter().map(|v| v.to_f64()), 0.5, twelfth, 1.8);
        check(random_normal::<f64>(&seeded(), &[N], 3.0, 2.0).unwrap().iter().copied(), 3.0, 2.0, 3.0);
        check(random_normal::<f32>(&seeded(), &[N], 3.0, 2.0).unwrap().iter().map(|v| v.to_f64()), 3.0, 2.0, 3.0);
        let dice = random_integers::<u8>(&seeded(), &[N], 1, 7).unwrap();
        for face in 1..7 {
            let share = dice.iter().filter(|&&d| d == face).count() as f64 / N as f64;
            assert!((share - 1.0 / 6.0).abs() < 0.005);
        }
    }

    #[test]
    fn bounds_hold_in_every_dtype() {
        let small: NdArray<f16> = random_uniform(&seeded(), &[50_000], 0.0, 1.0).unwrap();
        assert!(small.iter().all(|&v| v >= f16::ZERO && v < f16::ONE));
        let brain: NdArray<bf16> = random_uniform(&seeded(), &[50_000], 1.0, 2.0).unwrap();
        assert!(brain.iter().all(|&v| v >= bf16::ONE && v.to_f32() < 2.0));
        let tight: NdArray<f32> = random_uniform(&seeded(), &[50_000], 1.0, 1.0 + 3e-7).unwrap();
        assert!(tight.iter().all(|&v| (1.0..1.0 + 3e-7_f32).contains(&v)));
        let every: NdArray<i64> = random_integers(&seeded(), &[100], i64::MIN, i64::MAX).unwrap();
        assert!(every.iter().any(|&v| v < 0) && every.iter().any(|&v| v > 0));
        assert!(random_integers::<u8>(&seeded(), &[100], 254, 255).unwrap().iter().all(|&v| v == 254));
    }

    #[test]
    fn permutations() {
        for n in [0, 1, 2, 100, 5000] {
            let p: NdArray<i32> = random_permutation(&seeded(), n).unwrap();
            let mut sorted: Vec<i32> = p.iter().copied().collect();
            assert!(n < 100 || !sorted.is_sorted());
            sorted.sort_unstable();
            assert!(sorted.into_iter().eq(0..n as i32));
        }
        assert_eq!(random_permutation::<u8>(&seeded(), 256).unwrap().len(), 256);
        assert!(matches!(
            random_permutation::<u8>(&seeded(), 257),
            Err(Error::Argument { op: "random_permutation", .. })
        ));
        assert!(matches!(random_permutation::<i64>(&seeded(), usize::MAX / 2), Err(Error::Memory { .. })));
    }

    #[test]
    fn what_is_refused() {
        for (low, high) in [(f64::NAN, 1.0), (0.0, f64::INFINITY), (-f64::MAX, f64::MAX)] {
            let r = random_uniform::<f64>(&seeded(), &[2], low, high);
            assert!(matches!(r, Err(Error::Argument { op: "random_uniform", .. })), "{low} {high}");
        }
        assert!(random_uniform::<f32>(&seeded(), &[2], 0.0, 1e300).is_err(), "infinite as f32");
        assert!(matches!(
            random_normal::<f32>(&seeded(), &[2], 0.0, -1.0),
            Err(Error::Argument { op: "random_normal", .. })
        ));
        assert!(matches!(random_integers(&seeded(), &[2], 3, 3), Err(Error::Argument { op: "random_integers", .. })));
        assert!(matches!(random_uniform::<f32>(&seeded(), &[usize::MAX, 2], 0.0, 1.0), Err(Error::Memory { .. })));
        assert_eq!(random_normal::<f64>(&seeded(), &[0, 3], 0.0, 1.0).unwrap().shape(), [0, 3]);
        assert_eq!(random_uniform::<f64>(&seeded(), &[], 2.0, 2.0).unwrap()[[]], 2.0);
    }
}
