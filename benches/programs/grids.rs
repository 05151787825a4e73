//! Programs on grids: stencils by slices and by `roll`, and the Mandelbrot set, which iterates a function at each
//! point.

use backends::{Result, prelude::*};

const HEAT_STEPS: usize = 5;
const RATE: f64 = 0.1;

/// Computes a few time steps of the heat equation, with constant boundary values.
pub fn heat<B: Backend>(b: &B, start: &B::Array<f64>) -> Result<B::Array<f64>> {
    let mut u = start.clone();
    for _ in 0..HEAT_STEPS {
        let around = b.add(b.get(&u, ix![..-2, 1..-1])?, b.get(&u, ix![2.., 1..-1])?)?;
        let around = b.add(around, b.get(&u, ix![1..-1, ..-2])?)?;
        let around = b.add(around, b.get(&u, ix![1..-1, 2..])?)?;
        let bent = b.subtract(around, b.multiply(4.0, b.get(&u, ix![1..-1, 1..-1])?)?)?;
        b.add_at(&mut u, ix![1..-1, 1..-1], b.multiply(RATE, bent)?)?;
    }
    Ok(u)
}

pub fn heat_formulas<B: Backend>(b: &B, start: &B::Array<f64>) -> Result<B::Array<f64>> {
    let mut u = start.clone();
    for _ in 0..HEAT_STEPS {
        expr! { b, u[1..-1, 1..-1] += RATE
        * (u[..-2, 1..-1] + u[2.., 1..-1] + u[1..-1, ..-2] + u[1..-1, 2..] - 4 * u[1..-1, 1..-1]) }?;
    }
    Ok(u)
}

const POISSON_STEPS: usize = 3;

/// Jacobi iteration for Poisson's equation in a box: each value becomes one sixth of the difference between the sum of
/// its six neighbours and the source.
pub fn poisson<B: Backend>(b: &B, (start, f): &(B::Array<f32>, B::Array<f32>)) -> Result<B::Array<f32>> {
    let mut u = start.clone();
    let f = b.get(f, ix![1..-1, 1..-1, 1..-1])?;
    for _ in 0..POISSON_STEPS {
        let sum = b.add(b.get(&u, ix![..-2, 1..-1, 1..-1])?, b.get(&u, ix![2.., 1..-1, 1..-1])?)?;
        let sum = b.add(sum, b.get(&u, ix![1..-1, ..-2, 1..-1])?)?;
        let sum = b.add(sum, b.get(&u, ix![1..-1, 2.., 1..-1])?)?;
        let sum = b.add(sum, b.get(&u, ix![1..-1, 1..-1, ..-2])?)?;
        let sum = b.add(sum, b.get(&u, ix![1..-1, 1..-1, 2..])?)?;
        let mean = b.divide(b.subtract(sum, &f)?, 6.0)?;
        b.set(&mut u, ix![1..-1, 1..-1, 1..-1], mean)?;
    }
    Ok(u)
}

pub fn poisson_formulas<B: Backend>(b: &B, (start, f): &(B::Array<f32>, B::Array<f32>)) -> Result<B::Array<f32>> {
    let mut u = start.clone();
    for _ in 0..POISSON_STEPS {
        expr! { b, u[1..-1, 1..-1, 1..-1] = (u[..-2, 1..-1, 1..-1] + u[2.., 1..-1, 1..-1]
        + u[1..-1, ..-2, 1..-1] + u[1..-1, 2.., 1..-1]
        + u[1..-1, 1..-1, ..-2] + u[1..-1, 1..-1, 2..] - f[1..-1, 1..-1, 1..-1]) / 6 }?;
    }
    Ok(u)
}

const GENERATIONS: usize = 3;

/// Game of life on a torus: a cell lives if its 3 by 3 square has three living cells, or four including the cell
/// itself.
pub fn life<B: Backend>(b: &B, start: &B::Array<u8>) -> Result<B::Array<u8>> {
    let mut x = start.clone();
    for _ in 0..GENERATIONS {
        let rows = b.add(b.add(&x, b.roll(&x, 1, 0)?)?, b.roll(&x, -1, 0)?)?;
        let count = b.add(b.add(&rows, b.roll(&rows, 1, 1)?)?, b.roll(&rows, -1, 1)?)?;
        let stays = b.bitwise_and(b.equal(&count, 4)?, b.equal(&x, 1)?)?;
        x = b.astype::<u8, bool>(b.bitwise_or(b.equal(&count, 3)?, stays)?)?;
    }
    Ok(x)
}

pub fn life_formulas<B: Backend>(b: &B, start: &B::Array<u8>) -> Result<B::Array<u8>> {
    let mut x = start.clone();
    for _ in 0..GENERATIONS {
        let rows = expr!(b, x + roll(x, 1, 0) + roll(x, -1, 0))?;
        let count = expr!(b, rows + roll(rows, 1, 1) + roll(rows, -1, 1))?;
        x = expr!(b, astype::<u8>((count == 3) | ((count == 4) & (x == 1))))?;
    }
    Ok(x)
}

const ITERATIONS: usize = 20;

/// The number of iterations of `z = z**2 + c` during which |z| is at most 2. Diverging values become infinite or NaN,
/// and comparisons with them are false.
pub fn mandelbrot<B: Backend>(b: &B, c: &B::Array<Complex<f64>>) -> Result<B::Array<i32>> {
    let mut z = b.zeros_like(c)?;
    let mut count = b.zeros::<i32>(c.shape())?;
    for _ in 0..ITERATIONS {
        z = b.add(b.square(z)?, c)?;
        count = b.add(count, b.astype::<i32, bool>(b.less_equal(b.abs(&z)?, 2.0)?)?)?;
    }
    Ok(count)
}

pub fn mandelbrot_formulas<B: Backend>(b: &B, c: &B::Array<Complex<f64>>) -> Result<B::Array<i32>> {
    let mut z = b.zeros_like(c)?;
    let mut count = b.zeros::<i32>(c.shape())?;
    for _ in 0..ITERATIONS {
        expr!(b, z = square(z) + c)?;
        expr!(b, count += astype::<i32>(abs(z) <= 2))?;
    }
    Ok(count)
}
