//! Logarithms of complex numbers.

use super::super::constants::{ANGLE_DOWN, ANGLE_HUGE, ANGLE_TINY, ANGLE_UP, LOG2_E, LOG10_E};
use super::super::exact::{product, sum};
use super::super::log::log1p_of;
use super::super::{F, atan2, hypot, log as logarithm};
use super::C;

/// The logarithm of the magnitude.
#[inline(always)]
fn log_abs(x: C) -> F {
    // the parts are scaled to avoid overflow and lost bits
    let (width, height) = (x.re.abs(), x.im.abs());
    let larger = if width > height { width } else { height };
    let (scale, back) = if larger > ANGLE_HUGE { (ANGLE_DOWN, -ANGLE_DOWN.ln()) } else { (1.0, 0.0) };
    let (scale, back) = if larger < ANGLE_TINY { (ANGLE_UP, -ANGLE_UP.ln()) } else { (scale, back) };
    let apart = logarithm(hypot(width * scale, height * scale)) + back;
    // near the unit circle: log(1 + (x^2 + y^2 - 1)) / 2, with the difference as a sum of two floats
    let (square, square_low) = product(width, width);
    let (other, other_low) = product(height, height);
    let (first, second) = if width > height { (square, other) } else { (other, square) };
    let (over, lost) = sum(first - 1.0, second);
    let near = 0.5 * log1p_of(over, lost + (square_low + other_low));
    if (first > 0.5) & (over.abs() < 0.5) { near } else { apart }
}

/// Natural logarithm. The imaginary part is in [-pi, pi].
#[inline(always)]
pub fn log(x: C) -> C {
    C::new(log_abs(x), atan2(x.im, x.re))
}

/// Logarithm to base 2.
#[inline(always)]
pub fn log2(x: C) -> C {
    let log = log(x);
    C::new(log.re * LOG2_E, log.im * LOG2_E)
}

/// Logarithm to base 10.
#[inline(always)]
pub fn log10(x: C) -> C {
    let log = log(x);
    C::new(log.re * LOG10_E, log.im * LOG10_E)
}

/// `log(1 + x)`, accurate near 0.
#[inline(always)]
pub fn log1p(x: C) -> C {
    let one_plus = C::new(1.0 + x.re, x.im);
    // |1 + x|^2 - 1 = 2 re + re^2 + im^2
    let (square, square_low) = product(x.re, x.re);
    let (other, other_low) = product(x.im, x.im);
    let (squares, squares_lost) = sum(square, other);
    let (over, lost) = sum(2.0 * x.re, squares);
    let near = 0.5 * log1p_of(over, lost + (squares_lost + (square_low + other_low)));
    let small = (x.re.abs() < 0.5) & (x.im.abs() < 0.5);
    C::new(if small { near } else { log_abs(one_plus) }, atan2(x.im, one_plus.re))
}
