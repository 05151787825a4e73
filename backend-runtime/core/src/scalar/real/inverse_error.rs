//! The inverses of the error function and of its complement, computed by polynomials in `w = -log(1 - x^2)` and in
//! `sqrt(w)`. These variables are from M. Giles, "Approximating the erfinv function" (2011).

use super::F;
use super::exact::polynomial;
use super::log::{log, log_normal};
use super::special::{
    INVERSE_0, INVERSE_0_MIDDLE, INVERSE_1, INVERSE_1_MIDDLE, INVERSE_2, INVERSE_2_MIDDLE, INVERSE_3, INVERSE_3_MIDDLE,
    INVERSE_3_START,
};

/// Above this value of `w`, polynomials in the square root of `w` are used.
const FAR: F = 6.25;

/// Computes `erfinv(x) / x` as a function of `w`, for a `w` up to [`FAR`].
#[inline(always)]
fn ratio_near(w: F) -> F {
    polynomial(w - INVERSE_0_MIDDLE, &INVERSE_0)
}

/// Computes `erfinv(x) / x` as a function of `w`, for `sqrt(w)` up to [`INVERSE_3_START`].
#[inline(always)]
fn ratio(w: F) -> F {
    let root = w.sqrt();
    let middle = polynomial(root - INVERSE_1_MIDDLE, &INVERSE_1);
    let far = polynomial(root - INVERSE_2_MIDDLE, &INVERSE_2);
    let value = if root < 4.0 { middle } else { far };
    if w < FAR { ratio_near(w) } else { value }
}

/// For magnitudes of `x` below this value, `w` is below [`FAR`]. The op table has the same number for `erfinv`, so that
/// loops can check that all elements of a block are below it.
const NEAR: F = 0.999;

/// Inverse of the error function. Infinite at 1 and -1, NaN for larger magnitudes. Within 3 ulp.
#[inline(always)]
pub fn erfinv(x: F) -> F {
    let size = x.abs();
    let w = -log_normal((1.0 - size) * (1.0 + size));
    let value = x * if size < NEAR { ratio_near(w) } else { ratio(w) };
    let value = if size == 1.0 { F::INFINITY.copysign(x) } else { value };
    if size <= 1.0 { value } else { F::NAN }
}

/// Inverse of `1 - erf(x)`. Infinite at 0 and 2, NaN below 0 and above 2. Within 3 ulp.
#[inline(always)]
pub fn erfcinv(x: F) -> F {
    let w = -log(x * (2.0 - x));
    let root = w.sqrt();
    let tail = root * polynomial((root - INVERSE_3_MIDDLE) / (root + INVERSE_3_MIDDLE), &INVERSE_3);
    let value = (1.0 - x) * if root < INVERSE_3_START { ratio(w) } else { tail };
    let value = if x == 0.0 { F::INFINITY } else { value };
    let value = if x == 2.0 { F::NEG_INFINITY } else { value };
    if (x - 1.0).abs() <= 1.0 { value } else { F::NAN }
}
