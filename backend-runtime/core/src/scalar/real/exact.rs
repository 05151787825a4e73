//! Sums and products that also return their rounding error, so that `value + error` is exact.

use super::F;

/// `x + y` and its rounding error, if `|x| >= |y|` or `x` is 0.
#[inline(always)]
pub fn sum_ordered(x: F, y: F) -> (F, F) {
    let sum = x + y;
    (sum, y - (sum - x))
}

/// `x + y` and its rounding error.
#[inline(always)]
pub fn sum(x: F, y: F) -> (F, F) {
    let sum = x + y;
    let rest = sum - x;
    (sum, (x - (sum - rest)) + (y - rest))
}

/// `x * y` and its rounding error.
#[inline(always)]
pub fn product(x: F, y: F) -> (F, F) {
    let product = x * y;
    (product, x.mul_add(y, -product))
}

/// A number as a sum of two floats, where the second is within the rounding error of the first.
pub type Wide = (F, F);

/// `x * y`. The relative error is about the square of the relative rounding error of one float.
#[inline(always)]
pub fn wide_product(x: Wide, y: Wide) -> Wide {
    let (high, low) = product(x.0, y.0);
    sum_ordered(high, low + x.0.mul_add(y.1, x.1 * y.0))
}

/// `x + y`. The error is about the larger operand times the square of the relative rounding error of one float.
#[inline(always)]
pub fn wide_sum(x: Wide, y: Wide) -> Wide {
    let (high, low) = sum(x.0, y.0);
    sum_ordered(high, low + (x.1 + y.1))
}

/// `(x + x_low) / (y + y_low)` as a sum of two floats, with one division.
#[inline(always)]
pub fn quotient(x: F, x_low: F, y: F, y_low: F) -> (F, F) {
    let inverse = 1.0 / y;
    let estimate = x * inverse;
    let left = estimate.mul_add(-y, x) + estimate.mul_add(-y_low, x_low);
    (estimate, left * inverse)
}

/// Evaluates the polynomial with these coefficients, lowest first. Even and odd powers are summed separately, so that
/// the chain of `mul_add` is half as long.
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
    if left == 1 { second.mul_add(x, highest.mul_add(square, coefficients[0])) } else { highest.mul_add(x, second) }
}
