//! Tests that random arrays can be made in parts. The random stream consists of numbered blocks of a few numbers each.
//! If each part is seeded at the block of its first element, the parts together equal the whole array.

use crate::common::*;
use backends::{
    Profile, Recorded, Result,
    grad::{Dual, Var, jvp, vjp},
    prelude::*,
};

/// A function that makes random numbers of a given shape.
type Maker<B, T> = fn(&B, &[usize]) -> Result<<B as Arrays>::Array<T>>;

/// Compares an array made in one call with arrays made in two parts, for each cut at the boundary of a block. A block
/// of the random stream gives `per_block` numbers.
fn parts<B: Backend, T: Element>(b: &B, of: &str, per_block: usize, shape: &[usize], make: Maker<B, T>) -> Checked {
    let [first, others @ ..] = shape else { return Err("a shape without axes".into()) };
    let row = others.iter().product::<usize>().max(1);
    for (seed, begin) in [(7, 0_u64), (8, 3), (9, u64::from(u32::MAX) - 2), (u64::MAX, u64::MAX - 4)] {
        b.seed_at(seed, begin)?;
        let whole = b.to_ndarray(&make(b, shape)?)?;
        for cut in (0..=*first).filter(|cut| (cut * row).is_multiple_of(per_block)) {
            let (mut upper, mut lower) = (shape.to_vec(), shape.to_vec());
            (upper[0], lower[0]) = (cut, first - cut);
            b.seed_at(seed, begin.wrapping_add((cut * row / per_block) as u64))?;
            let lower = b.to_ndarray(&make(b, &lower)?)?;
            b.seed_at(seed, begin)?;
            let upper = b.to_ndarray(&make(b, &upper)?)?;
            let both = ndarray::concatenate(ndarray::Axis(0), &[upper.view(), lower.view()])?;
            assert_eq!(whole, both, "{of}: seed {seed}, block {begin}, cut at {cut}");
        }
    }
    Ok(())
}

fn numbers<B: Backend>(b: &B) -> Checked {
    the_first_block(b)?;
    parts::<B, f64>(b, "uniform float64", 2, &[37], |b, shape| b.random_uniform(shape))?;
    parts::<B, f32>(b, "uniform float32", 4, &[9, 6], |b, shape| b.random_uniform(shape))?;
    parts::<B, f16>(b, "uniform float16", 4, &[27], |b, shape| b.random_uniform(shape))?;
    parts::<B, Complex<f64>>(b, "uniform complex128", 1, &[5, 3], |b, shape| b.random_uniform(shape))?;
    parts::<B, Complex<f32>>(b, "normal complex64", 2, &[10, 3], |b, shape| b.random_normal(shape))?;
    parts::<B, f64>(b, "normal float64", 2, &[11, 5], |b, shape| b.random_normal(shape))?;
    parts::<B, f32>(b, "normal float32", 4, &[41], |b, shape| b.random_normal(shape))?;
    parts::<B, i64>(b, "integers", 2, &[23], |b, shape| b.random_integers(shape, -9, 9))?;
    parts::<B, f64>(b, "gamma", 1, &[3, 7], |b, shape| b.random_gamma(shape, 0.3))?;
    parts::<B, i64>(b, "poisson", 1, &[13], |b, shape| b.random_poisson(shape, 11.0_f32))?;
    Ok(())
}

/// `seed_at` with block 0 is the same as `seed`, even if other numbers were drawn before. Six float64 numbers fill
/// three blocks, so block 3 continues the stream after these numbers.
fn the_first_block<B: Backend>(b: &B) -> Checked {
    let next = || b.to_ndarray(&b.random_uniform::<f64>([6])?);
    b.seed(5);
    let (one, two) = (next()?, next()?);
    b.seed_at(5, 0)?;
    assert_eq!((next()?, next()?), (one, two.clone()));
    b.seed_at(5, 3)?;
    assert_eq!(next()?, two);
    Ok(())
}

/// Uses the random streams that all handles of a backend share. No other test uses these streams at the same time.
#[test]
fn parts_have_the_numbers_of_the_whole() {
    on_every_backend!(numbers);
}

#[test]
fn backends_that_wrap_others_pass_it_on() {
    fn check<B: Backend>(name: &str, b: &B) {
        the_first_block(b).unwrap_or_else(|why| panic!("{name}: {why}"));
    }
    let b = Numpyish::seeded(1); // this backend has its own stream
    check("AnyBackend", &AnyBackend::from(b.clone()));
    let watched = Profile::new().watch(b.clone());
    check("Watched", &watched);
    check("a watched AnyBackend", &AnyBackend::from(watched));
    check("Recorded", &Recorded::new(b.clone()));
    let x = b.ones::<f64>([2]).unwrap();
    let in_reverse = |d: &_, x: &Var<Numpyish, f64>| {
        check("Diff", d);
        Ok(x.clone())
    };
    vjp(&b, in_reverse, &x).unwrap();
    let forwards = |j: &_, x: &Dual<Numpyish, f64>| {
        check("Jvp", j);
        Ok(x.clone())
    };
    jvp(&b, forwards, &x, &x).unwrap();
}
