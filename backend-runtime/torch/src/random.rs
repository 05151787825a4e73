//! Random numbers, generated as described in [`backend_core::random`], so that they are the same on every backend. On the CPU,
//! the code of the backend `Numpyish` computes them. On a GPU, libtorch's integer ops compute them; normally
//! distributed numbers may then differ in the last digits, because they need logarithms and sines.

mod distributions;

pub use distributions::{
    random_beta, random_binomial, random_exponential, random_gamma, random_multinomial, random_poisson,
    random_truncated_normal,
};

use super::{
    TorchArray,
    array::from_host,
    call::{OpContext, args},
    casting::convert,
    ops,
    tensor::{Number, Tensor},
};
use backend_core::{
    Arrays, DType, DTypeKind, Element, HostArray, Real, Result, dispatch, numpyish, numpyish::typed::typed,
    raw::RawElement, rules,
};
use backend_numpyish::random;

/// Mask of the low 32 bits of an int64.
const WORD: i64 = 0xFFFF_FFFF;

/// Moves an array that the CPU code has computed to the backend's device.
fn moved<T: Element>(on: OpContext<'_>, x: HostArray<T>) -> Result<Tensor> {
    let moved = from_host(x, on.backend.index()).map_err(|why| why.within(on.op))?;
    Ok(moved.tensor().clone())
}

/// The context of the same call on the CPU backend.
fn host(on: OpContext<'_>) -> numpyish::OpContext<'_> {
    numpyish::OpContext::new(on.backend.host(), on.op, on.dtype)
}

/// Uniform random numbers in [low, high).
pub fn random_uniform(on: OpContext<'_>, shape: &[usize], low: f64, high: f64) -> Result<Tensor> {
    let b = on.backend;
    if b.index() < 0 {
        return dispatch!(on.dtype, T: [Float16, BFloat16, Float32, Float64, Complex64, Complex128] => {
            moved(on, typed::<T>(random::random_uniform(host(on), shape, low, high))?)
        });
    }
    rules::check_uniform(on.op, on.dtype, low, high)?;
    uniform_on_device(on, shape, low, high)
}

/// Normally distributed random numbers.
pub fn random_normal(on: OpContext<'_>, shape: &[usize], mean: f64, std: f64) -> Result<Tensor> {
    let b = on.backend;
    if b.index() < 0 {
        return dispatch!(on.dtype, T: [Float16, BFloat16, Float32, Float64, Complex64, Complex128] => {
            moved(on, typed::<T>(random::random_normal(host(on), shape, mean, std))?)
        });
    }
    rules::check_normal(on.op, mean, std)?;
    normal_on_device(on, shape, mean, std)
}

/// Uniform random integers in [low, high).
pub fn random_integers(on: OpContext<'_>, shape: &[usize], low: RawElement, high: RawElement) -> Result<Tensor> {
    let b = on.backend;
    dispatch!(on.dtype, T: [Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64] => {
        if b.index() < 0 {
            return moved(on, typed::<T>(random::random_integers(host(on), shape, low, high))?);
        }
        rules::check_integers(on.op, low.cast::<T>(), high.cast::<T>())?;
        integers_on_device(on, shape, low.cast(), high.cast())
    })
}

/// A random permutation of the integers from 0 to n - 1.
pub fn random_permutation(on: OpContext<'_>, n: usize) -> Result<Tensor> {
    let b = on.backend;
    dispatch!(on.dtype, T: [Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64] => {
        if b.index() < 0 {
            return moved(on, typed::<T>(random::random_permutation(host(on), n))?);
        }
        rules::check_permutation(on.op, n, on.dtype)?;
        permutation_on_device(on, n)
    })
}

/// Random 32-bit words. The generator makes them in blocks of four words.
struct Words {
    /// Words 0 and 2 of the blocks, as int64 of shape (2, blocks).
    even: Tensor,
    /// Words 1 and 3 of the blocks, as int64 of shape (2, blocks).
    odd: Tensor,
}

impl Words {
    /// Makes the words for `n` elements. Each block gives `each` elements.
    fn of(on: OpContext<'_>, n: usize, each: usize) -> Result<Words> {
        const MULTIPLIERS: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
        const WEYL: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];
        rules::count(on.op, &[n], size_of::<[i64; 8]>())?;
        let blocks = n.div_ceil(each);
        let (key, first) = on.backend.host().stream().take(blocks as u64);
        let column = |words: [u32; 2]| -> Result<TorchArray<i64>> {
            on.backend.from_ndarray(ndarray::arr2(&words.map(|w| [i64::from(w)])).into_dyn().into_shared())
        };
        let and = |x: &Tensor| on.call(&ops::BITWISE_AND, args![x, Number::of(WORD)]);
        let xor = |x: &Tensor, y: &Tensor| on.call(&ops::BITWISE_XOR, args![x, y]);
        let high = |x: &Tensor| and(&on.call(&ops::SHIFT_RIGHT, args![x, Number::of(32_i64)])?);
        let multipliers = column(MULTIPLIERS)?;
        let counter = on.call(&ops::ADD, args![&on.count_up(blocks)?, Number::of(first as i64)])?;
        let none = on.call(&ops::ZEROS_LIKE, args![&counter])?;
        let mut even = on.call(&ops::STACK, args![&[and(&counter)?, none.clone()][..], 0_i64])?;
        let mut odd = on.call(&ops::STACK, args![&[high(&counter)?, none][..], 0_i64])?;
        let mut key = [key as u32, (key >> 32) as u32];
        for _ in 0..10 {
            // the two rows of the product are swapped, because each is combined with the other row of the words
            let product = on.reverse(&on.call(&ops::MUL, args![&even, &multipliers])?, &[0])?;
            even = xor(&xor(&high(&product)?, &odd)?, column(key)?.tensor())?;
            odd = and(&product)?;
            key = [key[0].wrapping_add(WEYL[0]), key[1].wrapping_add(WEYL[1])];
        }
        Ok(Words { even, odd })
    }

    /// Pairs of words as 64-bit integers, with the even word in the high half. Each block has two pairs.
    fn bits(&self, on: OpContext<'_>) -> Result<Tensor> {
        let high = on.call(&ops::SHIFT_LEFT, args![&self.even, Number::of(32_i64)])?;
        on.call(&ops::BITWISE_OR, args![&high, &self.odd])
    }

    /// float64 numbers in [0, 1) from the high 53 bits of two words. Each block gives two numbers.
    fn units64(&self, on: OpContext<'_>) -> Result<Tensor> {
        let shifted = on.call(&ops::SHIFT_RIGHT, args![&self.bits(on)?, Number::of(11_i64)])?;
        let bits = on.call(&ops::BITWISE_AND, args![&shifted, Number::of((1_i64 << 53) - 1)])?;
        on.call(&ops::MUL, args![&on.cast(&bits, DType::Float64)?, Number::of(2_f64.powi(-53))])
    }
}

/// float32 numbers in [0, 1) from the high 24 bits of each word.
fn units32(on: OpContext<'_>, words: &Tensor) -> Result<Tensor> {
    let bits = on.call(&ops::SHIFT_RIGHT, args![words, Number::of(8_i64)])?;
    on.call(&ops::MUL, args![&on.cast(&bits, DType::Float32)?, Number::of(2_f32.powi(-24))])
}

/// Returns the first `n` elements, block by block. The last axis of `members` counts the blocks; the other axes count
/// the elements of one block.
fn in_order(on: OpContext<'_>, members: &Tensor, n: usize) -> Result<Tensor> {
    let by_block = on.call(&ops::MOVEDIM, args![members, -1_i64, 0_i64])?;
    on.narrow(&on.reshape(&by_block, &[members.size()])?, 0, 0, n)
}

/// Checks the size of an array of the call's dtype and this shape, and returns the number of real numbers in it. A
/// complex number counts as two.
fn reals(on: OpContext<'_>, shape: &[usize]) -> Result<usize> {
    let size = on.dtype.size();
    Ok(rules::count(on.op, shape, size)? * (size / on.dtype.to_real().size()))
}

/// Arranges real numbers, in order, as an array of this shape and of the call's dtype. Each complex number takes two of
/// them.
fn from_reals(on: OpContext<'_>, reals: &Tensor, shape: &[usize]) -> Result<Tensor> {
    if on.dtype.kind() != DTypeKind::Complex {
        return on.reshape(reals, shape);
    }
    let pairs = on.reshape(reals, &[shape, &[2]].concat())?;
    on.call(&ops::VIEW_AS_COMPLEX, args![&on.call(&ops::CONTIGUOUS, args![&pairs])?])
}

/// Returns the upper limit in the real dtype, and the replacement for values that rounding moves up to this limit. The
/// replacement is the next number below the upper limit, or the limit itself if both limits are equal.
fn last_below(dtype: DType, low: f64, high: f64) -> Result<(Number, Number)> {
    dispatch!(dtype, T: [Float16, BFloat16, Float32, Float64] => {
        let [from, to] = [low, high].map(<T as Element>::from_f64);
        let below = if from == to { to } else { Real::nextafter(to, from) };
        Ok((Number::of(to), Number::of(below)))
    })
}

fn uniform_on_device(on: OpContext<'_>, shape: &[usize], low: f64, high: f64) -> Result<Tensor> {
    let (n, real) = (reals(on, shape)?, on.dtype.to_real());
    let scaled = |units: &Tensor, low: Number, distance: Number| {
        on.call(&ops::ADD, args![&on.call(&ops::MUL, args![units, distance])?, low])
    };
    let values = if real == DType::Float64 {
        let units = in_order(on, &Words::of(on, n, 2)?.units64(on)?, n)?;
        scaled(&units, Number::of(low), Number::of(high - low))?
    } else {
        let words = Words::of(on, n, 4)?;
        let members = on.call(&ops::STACK, args![&[words.even, words.odd][..], 1_i64])?;
        let (low, high) = (low as f32, high as f32);
        scaled(&units32(on, &in_order(on, &members, n)?)?, Number::of(low), Number::of(high - low))?
    };
    let values = on.cast(&values, real)?;
    let (to, below) = last_below(real, low, high)?;
    let beyond = on.call(&ops::EQ, args![&values, to])?;
    from_reals(on, &on.select(&beyond, below, &values)?, shape)
}

fn normal_on_device(on: OpContext<'_>, shape: &[usize], mean: f64, std: f64) -> Result<Tensor> {
    let (n, real) = (reals(on, shape)?, on.dtype.to_real());
    // this is the Box-Muller transform: 1 - u is in (0, 1], so its logarithm is finite
    let pair = |u: &Tensor, v: &Tensor, one: Number, minus_two: Number, turn: Number, axis: i64| {
        let rest = on.call(&ops::ADD, args![&on.call(&ops::NEG, args![u])?, one])?;
        let squared = on.call(&ops::MUL, args![&on.call(&ops::LOG, args![&rest])?, minus_two])?;
        let radius = on.call(&ops::SQRT, args![&squared])?;
        let angle = on.call(&ops::MUL, args![v, turn])?;
        let [cos, sin] =
            [&ops::COS, &ops::SIN].map(|f| on.call(&ops::MUL, args![&radius, &on.call(f, args![&angle])?]));
        on.call(&ops::STACK, args![&[cos?, sin?][..], axis])
    };
    let scaled =
        |z: &Tensor, mean: Number, std: Number| on.call(&ops::ADD, args![&on.call(&ops::MUL, args![z, std])?, mean]);
    let values = if real == DType::Float64 {
        let units = Words::of(on, n, 2)?.units64(on)?;
        let [u, v] = [0_i64, 1].map(|row| on.call(&ops::SELECT, args![&units, 0_i64, row]));
        let turn = Number::of(std::f64::consts::TAU);
        let z = pair(&u?, &v?, Number::of(1.0), Number::of(-2.0), turn, 0)?;
        scaled(&in_order(on, &z, n)?, Number::of(mean), Number::of(std))?
    } else {
        let words = Words::of(on, n, 4)?;
        let (u, v) = (units32(on, &words.even)?, units32(on, &words.odd)?);
        let turn = Number::of(std::f32::consts::TAU);
        let z = pair(&u, &v, Number::of(1_f32), Number::of(-2_f32), turn, 1)?;
        scaled(&in_order(on, &z, n)?, Number::of(mean as f32), Number::of(std as f32))?
    };
    from_reals(on, &on.cast(&values, real)?, shape)
}

/// Integers in [low, high). Limits of uint64 are given as the int64 with the same bits.
fn integers_on_device(on: OpContext<'_>, shape: &[usize], low: i64, high: i64) -> Result<Tensor> {
    let n = rules::count(on.op, shape, on.dtype.size())?;
    let distance = high.wrapping_sub(low);
    let [upper, lower] = [(distance >> 32) & WORD, distance & WORD];
    let Words { even, odd } = Words::of(on, n, 2)?;
    let times = |x: &Tensor, y: i64| on.call(&ops::MUL, args![x, Number::of(y)]);
    let add = |x: &Tensor, y: &Tensor| on.call(&ops::ADD, args![x, y]);
    let word = |x: &Tensor| on.call(&ops::BITWISE_AND, args![x, Number::of(WORD)]);
    let high = |x: &Tensor| word(&on.call(&ops::SHIFT_RIGHT, args![x, Number::of(32_i64)])?);
    // computes the high 64 bits of the product of 64 random bits and the distance `high - low`, from products of 32-bit
    // words
    let (left, right) = (times(&odd, upper)?, times(&even, lower)?);
    let middle = add(&add(&word(&left)?, &word(&right)?)?, &high(&times(&odd, lower)?)?)?;
    let carried = add(&add(&high(&left)?, &high(&right)?)?, &high(&middle)?)?;
    let below = in_order(on, &add(&times(&even, upper)?, &carried)?, n)?;
    let values = on.call(&ops::ADD, args![&below, Number::of(low)])?;
    convert(on, &on.reshape(&values, shape)?, DType::Int64, on.dtype)
}

fn permutation_on_device(on: OpContext<'_>, n: usize) -> Result<Tensor> {
    let keys = in_order(on, &Words::of(on, n, 2)?.bits(on)?, n)?;
    // the sort is signed and the keys are unsigned, so the first bit of each key is flipped
    let keys = on.call(&ops::BITWISE_XOR, args![&keys, Number::of(i64::MIN)])?;
    let (_, order) = on.pair(&ops::SORT, args![&keys, true, 0_i64, false])?;
    convert(on, &order, DType::Int64, on.dtype)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Torch,
        tests::{host, torch},
    };
    use backend_core::{Complex, Float, bf16, f16};

    /// Returns the numbers for one seed twice: once computed by the CPU code, and once by the code for GPUs.
    fn both<T: Element>(
        b: &Torch,
        cpu: impl Fn(OpContext<'_>) -> Result<Tensor>,
        gpu: impl Fn(OpContext<'_>) -> Result<Tensor>,
    ) -> (HostArray<T>, HostArray<T>) {
        let run = |f: &dyn Fn(OpContext<'_>) -> Result<Tensor>| {
            let b = b.clone().seeded(0x1234_5678_9ABC_DEF0);
            let on = b.on::<T>("random");
            let next = || host(&b, &on.array::<T>(f(on).unwrap()).unwrap());
            (next(), next())
        };
        let ((x, x_next), (y, y_next)) = (run(&cpu), run(&gpu));
        assert_ne!(x, x_next, "the stream goes on");
        assert_eq!(x_next.shape(), y_next.shape());
        (x, y)
    }

    fn uniforms<T: Float>(b: &Torch, shape: &[usize]) {
        for (low, high) in [(0.0, 1.0), (-3.0, 5.0)] {
            let (x, y) =
                both::<T>(b, |on| random_uniform(on, shape, low, high), |on| uniform_on_device(on, shape, low, high));
            assert_eq!(x, y, "{}", T::DTYPE);
        }
    }

    fn normals<T: Float>(b: &Torch, shape: &[usize], tolerance: f64) {
        let (x, y) = both::<T>(b, |on| random_normal(on, shape, 1.0, 2.0), |on| normal_on_device(on, shape, 1.0, 2.0));
        for (x, y) in x.iter().zip(&y) {
            let far = (x.cast::<Complex<f64>>() - y.cast::<Complex<f64>>()).norm();
            assert!(far <= tolerance, "{x} and {y} in {}", T::DTYPE);
        }
    }

    fn counts<T: backend_core::Integer>(b: &Torch, low: T, high: T) {
        let (x, y) = both::<T>(
            b,
            |on| random_integers(on, &[101], RawElement::of(low), RawElement::of(high)),
            |on| integers_on_device(on, &[101], low.cast(), high.cast()),
        );
        assert_eq!(x, y);
        let (x, y) = both::<T>(b, |on| random_permutation(on, 99), |on| permutation_on_device(on, 99));
        assert_eq!(x, y);
    }

    #[test]
    fn a_gpu_makes_the_same_numbers() {
        let Some(b) = torch() else { return };
        uniforms::<f64>(&b, &[3, 7]);
        uniforms::<f32>(&b, &[3, 7]);
        uniforms::<f16>(&b, &[999]);
        uniforms::<bf16>(&b, &[999]);
        uniforms::<Complex<f32>>(&b, &[5]);
        uniforms::<Complex<f64>>(&b, &[5]);
        normals::<f64>(&b, &[101], 1e-14);
        normals::<f32>(&b, &[101], 1e-5);
        normals::<bf16>(&b, &[101], 0.1);
        normals::<Complex<f32>>(&b, &[11], 1e-5);
        normals::<Complex<f64>>(&b, &[11], 1e-14);
        counts::<i64>(&b, i64::MIN, i64::MAX);
        counts::<u64>(&b, 3, u64::MAX);
        counts::<i8>(&b, -100, 100);
        counts::<u16>(&b, 0, 60_000);
    }
}
