//! Gray-Scott model.
//!
//! Simulates two substances that react and diffuse, and form patterns.

use backends::{Backend, Precision, Result, expr};

/// The concentrations after some steps, from concentrations `u` and `v` on a periodic grid (rows, columns).
pub fn gray_scott<B: Backend, T: Precision>(
    b: &B, [mut u, mut v]: [B::Array<T>; 2], feed: f64, kill: f64, steps: usize,
) -> Result<[B::Array<T>; 2]> {
    let laplacian = |x: &B::Array<T>| expr!(b, roll(x, 1, 0) + roll(x, -1, 0) + roll(x, 1, 1) + roll(x, -1, 1) - 4 * x);
    for _ in 0..steps {
        let (diffusion_u, diffusion_v) = (laplacian(&u)?, laplacian(&v)?);
        let reaction = expr!(b, u * square(v))?;
        expr!(b, u += 0.16 * diffusion_u - reaction + feed * (1 - u))?;
        expr!(b, v += 0.08 * diffusion_v + reaction - (feed + kill) * v)?;
    }
    Ok([u, v])
}
