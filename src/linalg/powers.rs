//! Powers and exponentials of square matrices.

use crate::{Backend, Error, Numeric, Real, Result, SolveTriangularOptions, SumOptions, WideFloat, runtime::rules};

/// Inverses of square matrices.
pub fn inv<B: Backend, T: WideFloat>(b: &B, x: &B::Array<T>) -> Result<B::Array<T>> {
    let n = rules::square("inv", b.shape(x))?;
    b.solve(x, &b.eye::<T>(n)?)
}

/// Solves systems of linear equations, given the Cholesky factors `x1` of their matrices.
pub fn cholesky_solve<B: Backend, T: WideFloat>(
    b: &B,
    x1: &B::Array<T>,
    x2: &B::Array<T>,
    upper: bool,
) -> Result<B::Array<T>> {
    let adjoint = b.conj(b.matrix_transpose(x1)?)?;
    let (lower, upper) = if upper { (&adjoint, x1) } else { (x1, &adjoint) };
    let by_lower = |options: SolveTriangularOptions| b.solve_triangular_with(lower, x2, options.lower(true));
    let within = |error: Error| error.within("cholesky_solve");
    let between = by_lower(SolveTriangularOptions::new()).map_err(within)?;
    // if `x2` is one vector for a stack of matrices, `between` has one vector per matrix, which becomes a matrix of one
    // column
    let is_vector = b.shape(x2).len() == 1 && b.shape(&between).len() > 1;
    let between = if is_vector { b.expand_dims(&between, -1)? } else { between };
    let solution = b.solve_triangular(upper, &between).map_err(within)?;
    if is_vector { b.squeeze(&solution, -1) } else { Ok(solution) }
}

/// Integer power of a matrix: the product of the powers x, x^2, x^4, .. that the binary digits of `n` select. A
/// negative `n` gives a power of the inverse.
pub fn matrix_power<B: Backend, T: WideFloat>(b: &B, x: &B::Array<T>, n: isize) -> Result<B::Array<T>> {
    let size = rules::square("matrix_power", b.shape(x))?;
    if n == 0 {
        return b.broadcast_to(&b.eye::<T>(size)?, b.shape(x));
    }
    let mut square = if n < 0 { b.inv(x)? } else { x.clone() };
    let (mut left, mut power) = (n.unsigned_abs(), None);
    loop {
        if left % 2 == 1 {
            power = Some(match power {
                None => square.clone(),
                Some(power) => b.matmul(&power, &square)?,
            });
        }
        left /= 2;
        if left == 0 {
            break;
        }
        square = b.matmul(&square, &square)?;
    }
    power.ok_or_else(|| Error::argument("matrix_power", "the power must have a digit"))
}

/// Coefficients of the Pade approximant of degree 13 to the exponential, lowest power first (Higham, 2005).
const PADE: [f64; 14] = [
    64_764_752_532_480_000.0,
    32_382_376_266_240_000.0,
    7_771_770_303_897_600.0,
    1_187_353_796_428_800.0,
    129_060_195_264_000.0,
    10_559_470_521_600.0,
    670_442_572_800.0,
    33_522_128_640.0,
    1_323_241_920.0,
    40_840_800.0,
    960_960.0,
    16_380.0,
    182.0,
    1.0,
];

/// The largest 1-norm for which the approximant is accurate to double precision.
const LARGEST: f64 = 5.371920351148152;

/// Matrix exponential by scaling and squaring: the matrix is divided by a power of 2, and the approximant is squared
/// repeatedly.
pub fn expm<B: Backend, T: WideFloat>(b: &B, x: &B::Array<T>) -> Result<B::Array<T>> {
    let n = rules::square("expm", b.shape(x))?;
    if b.shape(x).contains(&0) {
        return Ok(x.clone());
    }
    // 1-norm of each matrix: the largest column sum of magnitudes
    let sums = b.sum_with(&b.abs(x)?, -2, SumOptions::new().keepdims(true))?;
    let norm = b.max_with(&sums, -1, crate::MaxOptions::new().keepdims(true))?;
    let halvings = b.ceil(&b.log2(&b.divide(&norm, T::Real::of(LARGEST))?)?)?;
    // matrices with a small, infinite or NaN norm are not halved
    let halvings = b.r#where(&b.isfinite(&norm)?, &b.maximum(&halvings, T::Real::ZERO)?, T::Real::ZERO)?;
    let most = b.item(b.max(&halvings, ..)?)?.to_f64();
    let scale = b.pow(T::Real::of(0.5), &halvings)?;
    let x = b.multiply(x, &b.astype::<T, _>(&scale)?)?;

    let of = |k: usize| T::from_real(T::Real::of(PADE[k]));
    let one = b.eye::<T>(n)?;
    let x2 = b.matmul(&x, &x)?;
    let x4 = b.matmul(&x2, &x2)?;
    let x6 = b.matmul(&x4, &x2)?;
    // for k = 0 the even terms of the polynomial, for k = 1 the odd terms divided by x; x^6 is factored out of the
    // three highest terms
    let terms = |k: usize| {
        let (a, c, d) = (of(12 + k), of(10 + k), of(8 + k));
        let (e, f, g, h) = (of(6 + k), of(4 + k), of(2 + k), of(k));
        let (p2, p4, p6, one) = (&x2, &x4, &x6, &one);
        let high = expr!(b, a * p6 + c * p4 + d * p2)?;
        let high = b.matmul(p6, &high)?;
        expr!(b, high + e * p6 + f * p4 + g * p2 + h * one)
    };
    let (even, odd) = (terms(0)?, b.matmul(&x, &terms(1)?)?);
    let mut power = b.solve(&b.subtract(&even, &odd)?, &b.add(&even, &odd)?)?;
    for k in 0..most as usize {
        let squared = b.matmul(&power, &power)?;
        power = b.r#where(&b.greater(&halvings, T::Real::of(k as f64))?, &squared, &power)?;
    }
    Ok(power)
}
