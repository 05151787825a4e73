//! First steps with the library: arrays, ops, options, errors, and one function for every backend.
//!
//! `cargo run --example quickstart`

use backends::{Result, lazy, prelude::*};

/// The fraction of random points in the unit square within `radius` of the origin; for radius 1 an estimate of pi / 4.
fn inside<B: Backend, T: Precision>(b: &B, n: usize, radius: T) -> Result<f64> {
    let (x, y) = (b.random_uniform::<T>([n])?, b.random_uniform::<T>([n])?);
    let count = expr!(b, count_nonzero(hypot(x, y) < radius, ..))?;
    Ok(b.item(count)? as f64 / n as f64)
}

fn main() -> Result<()> {
    let b = Numpyish::seeded(1);

    // an array of this backend is an ndarray, so the methods of ndarray work on it
    let x = b.asarray([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])?;
    println!("x =\n{x}");

    // operands may be arrays, numbers or literals, on either side, and calls can be nested
    let y = b.add(2.0, b.multiply(&x, 0.5)?)?;
    println!("2 + x / 2 =\n{y}");

    // a formula, written with the macro `expr!` or with operators, runs in one pass; `b.show` formats arrays of any
    // backend as NumPy prints them
    let mut y = expr!(b, 2 + x / 2)?;
    assert_eq!(y, (2 + lazy(&x) / 2).eval(&b)?);
    expr!(b, y += exp(-x * *2))?;
    println!("{:?} of {}:\n{}", y.shape(), y.dtype(), b.show(&y)?);

    // parameters with defaults are set by name
    println!("std over columns = {}", b.std_with(&x, 0, StdOptions::new().correction(1.0))?);
    println!("last column = {}", b.get(&x, ix![.., -1])?);
    println!("spectrum =\n{:.2}", b.fft(&x)?);

    // mistakes return errors whose texts name the arguments
    println!("error: {}", b.add(&x, b.zeros::<f64>([2])?).unwrap_err());

    // the same function runs on every available backend; the same seed gives the same random numbers
    println!("pi = {} on {}", 4.0 * inside(&b, 100_000, 1.0_f64)?, b.device());
    match Torch::cpu() {
        Ok(torch) => {
            torch.seed(1);
            println!("pi = {} on libtorch", 4.0 * inside(&torch, 100_000, 1.0_f64)?);
        }
        Err(why) => println!("no libtorch: {why}"),
    }
    Ok(())
}
