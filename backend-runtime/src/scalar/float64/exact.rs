//! Sums and products with the part that rounding drops: `value + error` is exact.

/// `x + y`, where `|x| >= |y|` or `x` is 0.
#[inline(always)]
pub fn sum_ordered(x: f64, y: f64) -> (f64, f64) {
    let sum = x + y;
    (sum, y - (sum - x))
}

/// `x + y`.
#[inline(always)]
pub fn sum(x: f64, y: f64) -> (f64, f64) {
    let sum = x + y;
    let rest = sum - x;
    (sum, (x - (sum - rest)) + (y - rest))
}

/// `x * y`.
#[inline(always)]
pub fn product(x: f64, y: f64) -> (f64, f64) {
    let product = x * y;
    (product, x.mul_add(y, -product))
}

/// The polynomial with these coefficients, lowest first. Even and odd powers apart: half as long a chain of `mul_add`.
#[inline(always)]
pub fn polynomial<const N: usize>(x: f64, coefficients: &[f64; N]) -> f64 {
    let square = x * x;
    let (mut even, mut odd) = (0.0, 0.0);
    let mut i = N;
    while i > 0 {
        i -= 1;
        let part = if i % 2 == 0 { &mut even } else { &mut odd };
        *part = if i + 2 < N { f64::mul_add(*part, square, coefficients[i]) } else { coefficients[i] };
    }
    x.mul_add(odd, even)
}
