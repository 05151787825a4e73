//! Sums and products with the part that rounding drops: `value + error` is exact.

use super::F;

/// `x + y`, where `|x| >= |y|` or `x` is 0.
#[inline(always)]
pub fn sum_ordered(x: F, y: F) -> (F, F) {
    let sum = x + y;
    (sum, y - (sum - x))
}

/// `x + y`.
#[inline(always)]
pub fn sum(x: F, y: F) -> (F, F) {
    let sum = x + y;
    let rest = sum - x;
    (sum, (x - (sum - rest)) + (y - rest))
}

/// `x * y`.
#[inline(always)]
pub fn product(x: F, y: F) -> (F, F) {
    let product = x * y;
    (product, x.mul_add(y, -product))
}

/// `(x + x_low) / (y + y_low)` with one division.
#[inline(always)]
pub fn quotient(x: F, x_low: F, y: F, y_low: F) -> (F, F) {
    let inverse = 1.0 / y;
    let estimate = x * inverse;
    let left = estimate.mul_add(-y, x) + estimate.mul_add(-y_low, x_low);
    (estimate, left * inverse)
}

/// The polynomial with these coefficients, lowest first. Even and odd powers apart: half as long a chain of `mul_add`.
#[inline(always)]
pub fn polynomial<const N: usize>(x: F, coefficients: &[F; N]) -> F {
    const { assert!(N > 1) }
    let square = x * x;
    let (mut highest, mut second, mut left) = (coefficients[N - 1], coefficients[N - 2], N - 2);
    while left > 1 {
        highest = highest.mul_add(square, coefficients[left - 1]);
        second = second.mul_add(square, coefficients[left - 2]);
        left -= 2;
    }
    if left == 1 {
        second.mul_add(x, highest.mul_add(square, coefficients[0]))
    } else {
        highest.mul_add(x, second)
    }
}
