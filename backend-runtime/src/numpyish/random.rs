//! Random numbers, by the recipe of [`crate::random`].

use super::{
    NdArray, Numpyish,
    buffer::{self, COSTLY},
};
use crate::{DType, Element, Error, Float, Integer, Real, Result, random, shape};

/// Uniform in [low, high).
pub fn uniform<T: Float>(b: &Numpyish, shape: &[usize], low: f64, high: f64) -> Result<NdArray<T>> {
    const OP: &str = "random_uniform";
    finite(OP, "low", low)?;
    finite(OP, "high", high)?;
    let (from, to) = (<T::Real as Element>::from_f64(low), <T::Real as Element>::from_f64(high));
    // what rounding would carry to `high` is the value below it
    let inside = move |x: T::Real| if x == to && from != to { to.nextafter(from) } else { x };
    if <T::Real as Element>::DTYPE == DType::Float64 {
        filled(b, OP, shape, move |block| {
            [0, 1].map(|i| random::unit_f64(block[2 * i], block[2 * i + 1])).map(|u| inside(Real::of(low + u * (high - low))))
        })
    } else {
        let (low, high) = (low as f32, high as f32);
        filled(b, OP, shape, move |block| {
            block.map(random::unit_f32).map(|u| inside(Real::of((low + u * (high - low)).into())))
        })
    }
}

/// Normally distributed.
pub fn normal<T: Float>(b: &Numpyish, shape: &[usize], mean: f64, std: f64) -> Result<NdArray<T>> {
    const OP: &str = "random_normal";
    finite(OP, "mean", mean)?;
    finite(OP, "std", std)?;
    if std < 0.0 {
        return Err(Error::argument(OP, format!("std is {std}; it is not negative")));
    }
    if <T::Real as Element>::DTYPE == DType::Float64 {
        filled(b, OP, shape, move |block| random::normal_f64(block).map(|z| Real::of(mean + std * z)))
    } else {
        let (mean, std) = (mean as f32, std as f32);
        filled(b, OP, shape, move |block| random::normal_f32(block).map(|z| Real::of((mean + std * z).into())))
    }
}

/// Uniform integers in [low, high).
pub fn integers<T: Integer>(b: &Numpyish, shape: &[usize], low: T, high: T) -> Result<NdArray<T>> {
    const OP: &str = "random_integers";
    if low >= high {
        return Err(Error::argument(OP, format!("low is {low} and high {high}; low is below high")));
    }
    // the difference of two integers of at most 64 bits, wrapped, is their distance
    let (low, high): (u64, u64) = (low.cast(), high.cast());
    let distance = high.wrapping_sub(low);
    let n = shape::count(OP, shape, size_of::<T>())?;
    let v = blocks(b, OP, n, move |block| {
        [0, 1].map(|i| T::from_u64(low.wrapping_add(random::below(distance, random::bits(block, i)))))
    })?;
    buffer::array(OP, shape, v)
}

/// A random order of 0 .. n - 1.
pub fn permutation<T: Integer>(b: &Numpyish, n: usize) -> Result<NdArray<T>> {
    const OP: &str = "random_permutation";
    let largest: u64 = T::MAX.cast();
    if n > 0 && (n - 1) as u64 > largest {
        return Err(Error::argument(OP, format!("{n} numbers do not fit {}", T::DTYPE)));
    }
    shape::count(OP, &[n], size_of::<(u64, T)>())?;
    let keys = blocks(b, OP, n, |block| [0, 1].map(|i| random::bits(block, i)))?;
    let mut pairs = buffer::vec::<(u64, T)>(OP, n)?;
    pairs.extend(keys.into_iter().zip(0..).map(|(key, i)| (key, T::from_u64(i))));
    pairs.sort_by_key(|(key, _)| *key);
    let mut order = buffer::vec::<T>(OP, n)?;
    order.extend(pairs.into_iter().map(|(_, i)| i));
    buffer::array(OP, &[n], order)
}

fn finite(op: &'static str, name: &str, value: f64) -> Result<()> {
    if value.is_finite() { Ok(()) } else { Err(Error::argument(op, format!("{name} is {value}; it is finite"))) }
}

/// An array of reals, or of complex numbers whose parts are taken as twice as many reals.
fn filled<T: Float, const N: usize>(
    b: &Numpyish,
    op: &'static str,
    shape: &[usize],
    make: impl Fn([u32; 4]) -> [T::Real; N] + Sync,
) -> Result<NdArray<T>> {
    let parts = size_of::<T>() / size_of::<T::Real>();
    let n = shape::count(op, shape, size_of::<T>())?;
    let v = blocks(b, op, n * parts, make)?;
    if parts == 1 {
        let mut same = buffer::vec::<T>(op, n)?;
        same.extend(v.into_iter().map(T::from_real));
        return buffer::array(op, shape, same);
    }
    let mut pairs = buffer::vec::<T>(op, n)?;
    let (reals, _) = v.as_chunks::<2>();
    pairs.extend(reals.iter().map(|&[re, im]| T::from_complex(num_complex::Complex::new(re.to_f64(), im.to_f64()))));
    buffer::array(op, shape, pairs)
}

/// `n` elements, `N` of each block.
fn blocks<R: Element, const N: usize>(
    b: &Numpyish,
    op: &'static str,
    n: usize,
    make: impl Fn([u32; 4]) -> [R; N] + Sync,
) -> Result<Vec<R>> {
    let (key, first) = b.stream().take(n.div_ceil(N) as u64);
    let mut v = buffer::zeroed::<R>(op, n)?;
    buffer::chunks(&mut v, N, COSTLY, |start, part| {
        let block = first.wrapping_add((start / N) as u64);
        for (i, group) in part.chunks_mut(N).enumerate() {
            let made = make(random::philox(key, block.wrapping_add(i as u64)));
            group.copy_from_slice(&made[..group.len()]);
        }
    });
    Ok(v)
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_complex::Complex;

    fn moments(x: &NdArray<f64>) -> (f64, f64) {
        let mean = x.iter().sum::<f64>() / x.len() as f64;
        (mean, x.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / x.len() as f64)
    }

    #[test]
    fn uniform_fills_its_range() {
        let x = uniform::<f64>(&Numpyish::seeded(1), &[100_000], -1.0, 3.0).unwrap();
        assert!(x.iter().all(|v| (-1.0..3.0).contains(v)));
        let (mean, var) = moments(&x);
        assert!((mean - 1.0).abs() < 0.02 && (var - 16.0 / 12.0).abs() < 0.02, "{mean} {var}");
    }

    #[test]
    fn narrow_dtypes_stay_below_high() {
        let x = uniform::<half::f16>(&Numpyish::seeded(1), &[100_000], 0.0, 1.0).unwrap();
        assert!(x.iter().all(|v| v.to_f32() < 1.0));
        assert!(x.iter().any(|v| v.to_f32() > 0.999));
    }

    #[test]
    fn normal_has_its_moments() {
        let x = normal::<f64>(&Numpyish::seeded(1), &[100_000], 5.0, 2.0).unwrap();
        let (mean, var) = moments(&x);
        assert!((mean - 5.0).abs() < 0.05 && (var - 4.0).abs() < 0.1, "{mean} {var}");
        let tail = x.iter().filter(|v| (*v - 5.0).abs() > 4.0).count() as f64 / 100_000.0;
        assert!((tail - 0.0455).abs() < 0.005, "{tail} beyond two standard deviations");
    }

    #[test]
    fn one_seed_gives_one_stream_however_it_is_taken() {
        let (a, b) = (Numpyish::seeded(3), Numpyish::seeded(3));
        let whole = uniform::<f64>(&a, &[40_000], 0.0, 1.0).unwrap();
        let (first, second) =
            (uniform::<f64>(&b, &[10_000], 0.0, 1.0).unwrap(), uniform::<f64>(&b, &[30_000], 0.0, 1.0).unwrap());
        assert!(whole.iter().eq(first.iter().chain(second.iter())));
        b.stream().reseed(3);
        let complex = uniform::<Complex<f64>>(&b, &[20_000], 0.0, 1.0).unwrap();
        assert!(whole.iter().eq(complex.iter().flat_map(|z| [&z.re, &z.im])));
        assert!(whole != uniform::<f64>(&Numpyish::seeded(4), &[40_000], 0.0, 1.0).unwrap());
    }

    #[test]
    fn integers_stay_in_range_of_any_dtype() {
        let b = Numpyish::seeded(5);
        let x = integers::<i8>(&b, &[10_000], -128, 127).unwrap();
        assert!(x.iter().any(|&v| v == -128) && x.iter().any(|&v| v == 126) && x.iter().all(|&v| v < 127));
        let x = integers::<u64>(&b, &[1000], 1, u64::MAX).unwrap();
        assert!(x.iter().any(|&v| v > u64::MAX / 2));
        let x = integers::<i64>(&b, &[1000], i64::MIN, i64::MAX).unwrap();
        assert!(x.iter().any(|&v| v < 0) && x.iter().any(|&v| v > 0));
        assert!(integers::<i32>(&b, &[1], 2, 2).is_err());
    }

    #[test]
    fn permutations_hold_every_number() {
        let mut x = permutation::<i64>(&Numpyish::seeded(6), 1000).unwrap().into_iter().collect::<Vec<_>>();
        assert!(x.windows(2).any(|w| w[0] > w[1]));
        x.sort_unstable();
        assert!(x.into_iter().eq(0..1000));
        assert_eq!(permutation::<u8>(&Numpyish::new(), 256).unwrap().len(), 256);
        assert!(permutation::<u8>(&Numpyish::new(), 257).is_err());
        assert!(permutation::<i64>(&Numpyish::new(), usize::MAX).is_err());
    }

    #[test]
    fn bad_arguments_are_errors() {
        let b = Numpyish::new();
        assert!(uniform::<f32>(&b, &[2], f64::NAN, 1.0).is_err());
        assert!(normal::<f32>(&b, &[2], 0.0, -1.0).is_err());
        assert!(normal::<f32>(&b, &[usize::MAX, 2], 0.0, 1.0).is_err());
    }
}
