//! Random numbers, generated as described in [`crate::random`]: the same seed gives the same numbers on every backend.

mod distributions;

pub(super) use distributions::SAMPLERS;
pub use distributions::{
    random_beta, random_binomial, random_exponential, random_gamma, random_multinomial, random_poisson,
    random_truncated_normal,
};

use super::{
    OpContext,
    array::RawArray,
    kernel::{Argument, Bytes, Grid},
    program::{Instance, KernelList, Program, ProgramSource},
    sorting,
};
use crate::{DType, DTypeKind, Element, Real, Result, dispatch, raw::RawElement, rules};

static PROGRAM: Program = Program { name: "random", source: ProgramSource::File(include_str!("kernels/random.cuh")) };

/// The kernels of this file, for the list of all kernels in [`check`](crate::cuda::check).
pub(super) const KERNELS: KernelList = (&PROGRAM, || {
    let of = |kind: fn(DTypeKind) -> bool| DType::ALL.into_iter().filter(move |dtype| kind(dtype.kind()));
    let real = || of(|kind| kind == DTypeKind::Real);
    let integer = of(|kind| matches!(kind, DTypeKind::Signed | DTypeKind::Unsigned));
    let uniform = real().map(|dtype| Instance::new("uniform", "", &[dtype]));
    let normal = real().map(|dtype| Instance::new("normal", "", &[dtype]));
    uniform.chain(normal).chain(integer.map(|dtype| Instance::new("integers", "", &[dtype]))).collect()
});

/// Uniform random numbers in [low, high).
pub fn random_uniform(on: OpContext<'_>, shape: &[usize], low: f64, high: f64) -> Result<RawArray> {
    rules::check_uniform(on.op, on.dtype, low, high)?;
    let real = on.dtype.to_real();
    // the range is computed in the precision in which numbers are generated
    let made_in = |x: f64| if real == DType::Float64 { x } else { x as f32 as f64 };
    let start = made_in(low);
    let length = made_in(made_in(high) - start);
    let ends: Result<[Bytes; 2]> = dispatch!(real, R: [Float16, BFloat16, Float32, Float64] => {
        let (from, to) = (R::of(low), R::of(high));
        // `below` replaces values that rounding moves up to `high`
        let below = if from == to { to } else { to.nextafter(from) };
        Ok([Bytes::of(to), Bytes::of(below)])
    });
    let [to, below] = ends?;
    reals(on, shape, "uniform", &[&start, &length, &to, &below])
}

/// Normally distributed random numbers.
pub fn random_normal(on: OpContext<'_>, shape: &[usize], mean: f64, std: f64) -> Result<RawArray> {
    rules::check_normal(on.op, mean, std)?;
    reals(on, shape, "normal", &[&mean, &std])
}

/// Uniform random integers in `low .. high`.
pub fn random_integers(on: OpContext<'_>, shape: &[usize], low: RawElement, high: RawElement) -> Result<RawArray> {
    match on.dtype.kind() {
        DTypeKind::Unsigned => rules::check_integers(on.op, low.cast::<u64>(), high.cast::<u64>())?,
        _ => rules::check_integers(on.op, low.cast::<i64>(), high.cast::<i64>())?,
    }
    // arithmetic modulo 2^64 is correct for signed dtypes too
    let first = low.cast::<u64>();
    let range = high.cast::<u64>().wrapping_sub(first);
    let out = on.backend.uninit_raw(on.op, on.dtype, shape)?;
    make(on, &out, out.size(), 2, Instance::new("integers", "", &[on.dtype]), &[&first, &range])?;
    Ok(out)
}

/// A random permutation of 0 .. n - 1, computed by sorting random keys.
pub fn random_permutation(on: OpContext<'_>, n: usize) -> Result<RawArray> {
    let largest: Result<u64> = dispatch!(on.dtype, T: [Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64] => {
        Ok(Element::cast::<u64>(T::MAX))
    });
    rules::check_permutation(on.op, n, on.dtype, largest?)?;
    let keys = on.backend.uninit_raw(on.op, DType::UInt64, &[n])?;
    let all = (0_u64, 0_u64);
    make(on, &keys, n, 2, Instance::new("integers", "", &[DType::UInt64]), &[&all.0, &all.1])?;
    sorting::order_of(on.backend, on.op, &keys, on.dtype)
}

/// An array of random reals; a complex element takes two reals.
fn reals(on: OpContext<'_>, shape: &[usize], kernel: &'static str, arguments: &[&dyn Argument]) -> Result<RawArray> {
    let out = on.backend.uninit_raw(on.op, on.dtype, shape)?;
    let real = on.dtype.to_real();
    let parts = if on.dtype.kind() == DTypeKind::Complex { 2 } else { 1 };
    let per_block = if real == DType::Float64 { 2 } else { 4 };
    make(on, &out, out.size() * parts, per_block, Instance::new(kernel, "", &[real]), arguments)?;
    Ok(out)
}

/// Fills the memory of `out` with `n` numbers, and advances the random stream by the number of blocks that they need.
fn make(
    on: OpContext<'_>,
    out: &RawArray,
    n: usize,
    per_block: usize,
    kernel: Instance,
    rest: &[&dyn Argument],
) -> Result<()> {
    if n == 0 {
        return Ok(());
    }
    let (b, op) = (on.backend, on.op);
    let kernel = b.kernel(op, &PROGRAM, kernel)?;
    let blocks = n.div_ceil(per_block);
    let (key, first) = b.stream().take(blocks as u64);
    let (pointer, count, from) = (out.pointer(), n as u64, [key, first]);
    let arguments: Vec<&dyn Argument> =
        [&pointer as &dyn Argument, &count, &from].into_iter().chain(rest.iter().copied()).collect();
    // SAFETY: the arguments match the parameters of the kernel; the callers pass the last arguments in `rest`. `out`
    // has `n` numbers, and is a new array, so it is aligned for whole blocks.
    unsafe { b.launch(op, kernel, Grid::over(blocks), &arguments) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Complex, Error, Float, Integer, bf16,
        cuda::{Cuda, CudaArray, compare::assert_near, testing::device},
        f16,
        numpyish::{Numpyish, random as cpu},
        raw::TypedArray,
    };

    fn random_uniform<T: Float>(b: &Cuda, shape: &[usize], low: f64, high: f64) -> Result<CudaArray<T>> {
        const OP: &str = "random_uniform";
        CudaArray::from_raw(OP, super::random_uniform(OpContext::new(b, OP, T::DTYPE), shape, low, high)?)
    }

    fn random_normal<T: Float>(b: &Cuda, shape: &[usize], mean: f64, std: f64) -> Result<CudaArray<T>> {
        const OP: &str = "random_normal";
        CudaArray::from_raw(OP, super::random_normal(OpContext::new(b, OP, T::DTYPE), shape, mean, std)?)
    }

    fn random_integers<T: Integer>(b: &Cuda, shape: &[usize], low: T, high: T) -> Result<CudaArray<T>> {
        const OP: &str = "random_integers";
        let [low, high] = [low, high].map(RawElement::of);
        CudaArray::from_raw(OP, super::random_integers(OpContext::new(b, OP, T::DTYPE), shape, low, high)?)
    }

    fn random_permutation<T: Integer>(b: &Cuda, n: usize) -> Result<CudaArray<T>> {
        const OP: &str = "random_permutation";
        CudaArray::from_raw(OP, super::random_permutation(OpContext::new(b, OP, T::DTYPE), n)?)
    }

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
            same!(0.0; random_uniform::<f64>(-1.0, 3.0) random_uniform::<f32>(0.1, 0.3) random_uniform::<f16>(0.0, 1.0) random_uniform::<bf16>(1.0, 2.0));
            same!(0.0; random_uniform::<Complex<f32>>(0.0, 1.0) random_uniform::<Complex<f64>>(-2.0, 2.0) random_uniform::<f32>(2.0, 2.0));
            same!(0.0; random_integers::<i8>(-100, 100) random_integers::<u16>(7, 65535) random_integers::<i64>(i64::MIN, i64::MAX));
            same!(1e-14; random_normal::<f64>(5.0, 2.0) random_normal::<Complex<f64>>(0.0, 1.0));
            same!(1e-6; random_normal::<f32>(5.0, 2.0) random_normal::<Complex<f32>>(0.0, 1.0));
            same!(1e-2; random_normal::<bf16>(5.0, 2.0) random_normal::<f16>(-1.0, 0.5));
        }
        for n in [0, 1, 100, 5000] {
            let (got, expected) =
                (random_permutation::<i32>(&b, n).unwrap(), cpu::random_permutation::<i32>(&c, n).unwrap());
            assert_near(&b, &got, &expected, 0.0, "permutation");
        }
        let got = random_permutation::<u8>(&b, 256).unwrap();
        assert_near(&b, &got, &cpu::random_permutation::<u8>(&c, 256).unwrap(), 0.0, "permutation of u8");
    }

    #[test]
    fn what_is_refused() {
        let Some(b) = device() else { return };
        for (low, high) in [(f64::NAN, 1.0), (0.0, f64::INFINITY), (-f64::MAX, f64::MAX)] {
            let r = random_uniform::<f64>(&b, &[2], low, high);
            assert!(matches!(r, Err(Error::Argument { op: "random_uniform", .. })), "{low} {high}");
        }
        assert!(random_uniform::<f32>(&b, &[2], 0.0, 1e300).is_err(), "infinite as f32");
        assert!(matches!(random_normal::<f32>(&b, &[2], 0.0, -1.0), Err(Error::Argument { op: "random_normal", .. })));
        assert!(matches!(random_integers(&b, &[2], 3, 3), Err(Error::Argument { op: "random_integers", .. })));
        assert!(matches!(random_permutation::<u8>(&b, 257), Err(Error::Argument { op: "random_permutation", .. })));
        assert!(matches!(random_uniform::<f32>(&b, &[usize::MAX, 2], 0.0, 1.0), Err(Error::Memory { .. })));
    }
}
