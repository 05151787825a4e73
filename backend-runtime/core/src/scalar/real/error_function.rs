//! The error function `erf` and its complement `erfc`.

use super::F;
use super::constants::{ERF, ERF_MAX, ERF_MIDDLE, ERF_TAIL, ERFC, ERFC_FIRST, ERFC_FIRST_LOW, ERFC_MAX, ERFC_MIDDLE};
use super::exact::{polynomial, product, quotient, sum, sum_ordered};
use super::exp::{Parts, between, exp, parts_of, scale};

/// The error function for magnitudes up to 1.
#[inline(always)]
fn near_0(x: F) -> F {
    x.mul_add(polynomial(x * x, &ERF), x)
}

/// Error function. Within 1 ulp.
#[inline(always)]
pub fn erf(x: F) -> F {
    let size = x.abs();
    let small = near_0(size);
    // for large magnitudes, the result is 1 - erfc(x)
    let large = between(1.0, ERF_MAX, size);
    let inverse = 1.0 / (large + ERF_MIDDLE);
    let tail = inverse * polynomial((large - ERF_MIDDLE) * inverse, &ERF_TAIL);
    let large = exp(-large * large).mul_add(-tail, 1.0);
    (if size < 1.0 { small } else { large }).copysign(x)
}

/// `1 - erf(x)`, accurate for large x. Within 2 ulp.
#[inline(always)]
pub fn erfc(x: F) -> F {
    let size = between(0.0, ERFC_MAX, x.abs());
    let t = (size - ERFC_MIDDLE) / (size + ERFC_MIDDLE);
    let (above, above_low) = sum_ordered(ERFC_FIRST, t.mul_add(polynomial(t, &ERFC), ERFC_FIRST_LOW));
    let (below, below_low) = sum(1.0, 2.0 * size);
    let (ratio, ratio_low) = quotient(above, above_low, below, below_low);
    let (square, square_low) = product(size, size);
    let Parts { n, high, low } = parts_of(-square, -square_low);
    let tail = scale(ratio + ratio.mul_add(high, ratio.mul_add(low, ratio_low)), n);
    let value = if x < 0.0 { 2.0 - tail } else { tail };
    if size < 0.5 { 1.0 - near_0(x) } else { value }
}
