//! Random numbers, by the recipe of [`crate::random`]: from the same seed the same as on every other backend.

use super::{
    Cuda, CudaArray,
    array::RawArray,
    kernel::{Argument, Grid},
    map::Bytes,
    program::{Instance, KernelList, Program, ProgramSource},
    sort,
};
use crate::{DType, Element, Error, Float, Integer, Kind, Numeric, Real, Result};

static PROGRAM: Program = Program { name: "random", source: ProgramSource::File(include_str!("kernels/random.cuh")) };

/// The kernels, listed for the check.
pub(super) const KERNELS: KernelList = (&PROGRAM, || {
    let of = |kind: fn(Kind) -> bool| DType::ALL.into_iter().filter(move |dtype| kind(dtype.kind()));
    let real = || of(|kind| kind == Kind::Real);
    let integer = of(|kind| matches!(kind, Kind::Signed | Kind::Unsigned));
    let uniform = real().map(|dtype| Instance::new("uniform", "", &[dtype]));
    let normal = real().map(|dtype| Instance::new("normal", "", &[dtype]));
    uniform.chain(normal).chain(integer.map(|dtype| Instance::new("integers", "", &[dtype]))).collect()
});

/// Uniform random numbers in [low, high).
pub fn uniform<T: Float>(b: &Cuda, shape: &[usize], low: f64, high: f64) -> Result<CudaArray<T>> {
    let op = "random_uniform";
    // the range is that of the precision numbers are made in
    let made_in = |x: f64| if T::Real::DTYPE == DType::Float64 { x } else { x as f32 as f64 };
    let start = made_in(low);
    let length = made_in(made_in(high) - start);
    let (from, to) = (T::Real::of(low), T::Real::of(high));
    if !(length.is_finite() && from.is_finite() && to.is_finite()) {
        return Err(Error::argument(op, format!("{low} .. {high} is no range of finite length in {}", T::DTYPE)));
    }
    // what rounding carries to `high`
    let below = if from == to { to } else { to.nextafter(from) };
    reals::<T>(b, op, shape, "uniform", &[&start, &length, &Bytes::of(to), &Bytes::of(below)])
}

/// Normally distributed random numbers.
pub fn normal<T: Float>(b: &Cuda, shape: &[usize], mean: f64, std: f64) -> Result<CudaArray<T>> {
    let op = "random_normal";
    if !(mean.is_finite() && std.is_finite() && std >= 0.0) {
        return Err(Error::argument(op, format!("mean is {mean}, std is {std}; both are finite, std is not negative")));
    }
    reals::<T>(b, op, shape, "normal", &[&mean, &std])
}

/// Uniform random integers in `low .. high`.
pub fn integers<T: Integer>(b: &Cuda, shape: &[usize], low: T, high: T) -> Result<CudaArray<T>> {
    let op = "random_integers";
    if low >= high {
        return Err(Error::argument(op, format!("low is {low}, high is {high}; low has to be less")));
    }
    // differences and sums modulo 2^64 are right for signed dtypes too
    let first = low.cast::<u64>();
    let range = high.cast::<u64>().wrapping_sub(first);
    let out = b.uninit_raw(op, T::DTYPE, shape)?;
    make(b, op, &out, out.size(), 2, Instance::new("integers", "", &[T::DTYPE]), &[&first, &range])?;
    Ok(CudaArray::of(out))
}

/// A random order of 0 .. n - 1: that of random keys.
pub fn permutation<T: Integer>(b: &Cuda, n: usize) -> Result<CudaArray<T>> {
    let op = "random_permutation";
    if n > 0 && (n - 1) as u64 > T::MAX.cast::<u64>() {
        return Err(Error::argument(op, format!("{n} numbers do not fit {}", T::DTYPE)));
    }
    let keys = b.uninit_raw(op, DType::UInt64, &[n])?;
    let all = (0_u64, 0_u64);
    make(b, op, &keys, n, 2, Instance::new("integers", "", &[DType::UInt64]), &[&all.0, &all.1])?;
    sort::order_of(b, op, &keys, T::DTYPE).map(CudaArray::of)
}

/// An array of real numbers, or of the pairs of them that complex elements are.
fn reals<T: Float>(
    b: &Cuda,
    op: &'static str,
    shape: &[usize],
    kernel: &'static str,
    arguments: &[&dyn Argument],
) -> Result<CudaArray<T>> {
    let out = b.uninit_raw(op, T::DTYPE, shape)?;
    let parts = if T::DTYPE.kind() == Kind::Complex { 2 } else { 1 };
    let per_block = if T::Real::DTYPE == DType::Float64 { 2 } else { 4 };
    make(b, op, &out, out.size() * parts, per_block, Instance::new(kernel, "", &[T::Real::DTYPE]), arguments)?;
    Ok(CudaArray::of(out))
}

/// Fills the memory of `out` with `n` numbers, from as many blocks of the stream as it takes.
fn make(
    b: &Cuda,
    op: &'static str,
    out: &RawArray,
    n: usize,
    per_block: usize,
    kernel: Instance,
    rest: &[&dyn Argument],
) -> Result<()> {
    if n == 0 {
        return Ok(());
    }
    let kernel = b.kernel(op, &PROGRAM, kernel)?;
    let blocks = n.div_ceil(per_block);
    let (key, first) = b.stream().take(blocks as u64);
    let (pointer, count, from) = (out.pointer(), n as u64, [key, first]);
    let arguments: Vec<&dyn Argument> =
        [&pointer as &dyn Argument, &count, &from].into_iter().chain(rest.iter().copied()).collect();
    // SAFETY: the arguments are those of the kernel, the rest as the callers give them; `out`, which is new and so
    // aligned for whole blocks, has `n` numbers.
    unsafe { b.launch(op, kernel, Grid::over(blocks), &arguments) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Complex, bf16,
        cuda::{compare::assert_near, testing::device},
        f16,
        numpyish::{Numpyish, random as cpu},
    };

    fn cpu_seeded() -> Numpyish {
        Numpyish::seeded(42)
    }

    #[test]
    fn numbers_are_those_of_the_cpu() {
        let Some(b) = device() else { return };
        let b = Cuda { random: crate::random::Stream::new(42), ..b };
        let c = cpu_seeded();
        for shape in [&[1001][..], &[3, 5], &[], &[0, 4]] {
            macro_rules! same {
                ($tolerance:expr; $($f:ident::<$t:ty>($($arg:expr),*))*) => {$(
                    let (got, expected) = ($f::<$t>(&b, shape, $($arg),*).unwrap(), cpu::$f::<$t>(&c, shape, $($arg),*).unwrap());
                    assert_near(&b, &got, &expected, $tolerance, stringify!($f::<$t>));
                )*};
            }
            same!(0.0; uniform::<f64>(-1.0, 3.0) uniform::<f32>(0.1, 0.3) uniform::<f16>(0.0, 1.0) uniform::<bf16>(1.0, 2.0));
            same!(0.0; uniform::<Complex<f32>>(0.0, 1.0) uniform::<Complex<f64>>(-2.0, 2.0) uniform::<f32>(2.0, 2.0));
            same!(0.0; integers::<i8>(-100, 100) integers::<u16>(7, 65535) integers::<i64>(i64::MIN, i64::MAX));
            same!(1e-14; normal::<f64>(5.0, 2.0) normal::<Complex<f64>>(0.0, 1.0));
            same!(1e-6; normal::<f32>(5.0, 2.0) normal::<Complex<f32>>(0.0, 1.0));
            same!(1e-2; normal::<bf16>(5.0, 2.0) normal::<f16>(-1.0, 0.5));
        }
        for n in [0, 1, 100, 5000] {
            let (got, expected) = (permutation::<i32>(&b, n).unwrap(), cpu::permutation::<i32>(&c, n).unwrap());
            assert_near(&b, &got, &expected, 0.0, "permutation");
        }
        let got = permutation::<u8>(&b, 256).unwrap();
        assert_near(&b, &got, &cpu::permutation::<u8>(&c, 256).unwrap(), 0.0, "permutation of u8");
    }

    #[test]
    fn what_is_refused() {
        let Some(b) = device() else { return };
        for (low, high) in [(f64::NAN, 1.0), (0.0, f64::INFINITY), (-f64::MAX, f64::MAX)] {
            let r = uniform::<f64>(&b, &[2], low, high);
            assert!(matches!(r, Err(Error::Argument { op: "random_uniform", .. })), "{low} {high}");
        }
        assert!(uniform::<f32>(&b, &[2], 0.0, 1e300).is_err(), "infinite as f32");
        assert!(matches!(normal::<f32>(&b, &[2], 0.0, -1.0), Err(Error::Argument { op: "random_normal", .. })));
        assert!(matches!(integers(&b, &[2], 3, 3), Err(Error::Argument { op: "random_integers", .. })));
        assert!(matches!(permutation::<u8>(&b, 257), Err(Error::Argument { op: "random_permutation", .. })));
        assert!(matches!(uniform::<f32>(&b, &[usize::MAX, 2], 0.0, 1.0), Err(Error::Memory { .. })));
    }
}
