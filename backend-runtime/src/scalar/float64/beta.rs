//! The beta function and its logarithm, by Stirling's formula for arguments from 8 on and the recurrence up to there, in twice
//! the precision: 5.11.1 and 5.12.1 of the NIST Digital Library of Mathematical Functions.

use super::constants::PI;
use super::exact::{Wide, product, quotient, sum, sum_ordered, wide_product, wide_sum};
use super::exp::exp_of;
use super::gamma::correction;
use super::log::log;
use super::power::wide_log;
use super::special::{HALF_LN_2_PI, HALF_LN_2_PI_LOW};
use super::trig::sin_pi;

/// From here on Stirling's formula is used.
const FAR: f64 = 8.0;

/// Below this in magnitude `beta(x, y)` is `1 / x + 1 / y`.
const TINY: f64 = 1e-20;

/// `x (x + 1) ..`, `n` factors.
fn rising(x: Wide, n: f64) -> Wide {
    let mut product = (1.0, 0.0);
    let mut i = 0.0;
    while i < n {
        let (high, low) = sum(x.0, i);
        product = wide_product(product, sum_ordered(high, low + x.1));
        i += 1.0;
    }
    product
}

/// The logarithm of `1 + above / below`, of positive numbers.
fn log1p_ratio(above: Wide, below: Wide) -> Wide {
    let (high, low) = quotient(above.0, above.1, below.0, below.1);
    let (one, lost) = sum(1.0, high);
    let (log, log_low) = wide_log(one);
    wide_sum((log, log_low), (0.0, (lost + low) / one))
}

/// The logarithm of the beta function of positive finite arguments.
fn log_positive(x: f64, y: f64) -> Wide {
    let steps = |x: f64| if x < FAR { (FAR - x).ceil() } else { 0.0 };
    let moved = |x: f64| sum(x, steps(x));
    let (small, large) = if x < y { (x, y) } else { (y, x) };
    let ((a, b), whole) = ((moved(large), moved(small)), sum(large, small));
    // the factors between
    let below = wide_product(rising((large, 0.0), steps(large)), rising((small, 0.0), steps(small)));
    let total = steps(large) + steps(small);
    let log_below = wide_log(below.0);
    let log_below = wide_sum(log_below, (0.0, below.1 / below.0));
    let log_above = if large > 1e20 {
        let (log, log_low) = wide_log(large);
        let (high, low) = product(log, total);
        (high, log_low.mul_add(total, low))
    } else {
        let above = rising(whole, total);
        wide_sum(wide_log(above.0), (0.0, above.1 / above.0))
    };
    let factors = wide_sum(log_above, (-log_below.0, -log_below.1));
    // log(gamma(a) gamma(b) / gamma(a + b))
    let first = wide_product(log1p_ratio(b, a), wide_sum(a, (-0.5, 0.0)));
    let second = wide_product(log1p_ratio(a, b), b);
    let (log, log_low) = wide_log(b.0);
    let half_log = (0.5 * log, 0.5 * (log_low + b.1 / b.0));
    let rest = correction(a.0) + (correction(b.0) - correction(a.0 + b.0));
    let negative = wide_sum(wide_sum(first, second), half_log);
    let main = wide_sum((HALF_LN_2_PI, HALF_LN_2_PI_LOW + rest), (-negative.0, -negative.1));
    wide_sum(main, factors)
}

/// The beta function as a factor times the exponential of a number.
fn parts(x: f64, y: f64) -> (f64, Wide) {
    let whole = |x: f64| x <= 0.0 && x.trunc() == x;
    let (x, y) = if whole(y) || y < x && !whole(x) { (y, x) } else { (x, y) };
    if x.is_nan() || y.is_nan() {
        return (f64::NAN, (0.0, 0.0));
    }
    // a pole of the one argument may meet that of the sum
    if whole(x) {
        let finite = y.trunc() == y && 1.0 - x - y > 0.0;
        let sign = if (0.5 * y).trunc() == 0.5 * y { 1.0 } else { -1.0 };
        if finite && y > 0.0 && x.is_finite() {
            let (factor, log) = parts(1.0 - x - y, y);
            return (sign * factor, log);
        }
        let sign = if finite { sign } else { 1.0f64.copysign(x) };
        return (if x == 0.0 || finite { sign * f64::INFINITY } else { f64::INFINITY }, (0.0, 0.0));
    }
    if x == f64::NEG_INFINITY {
        return (f64::NAN, (0.0, 0.0));
    }
    let both = x + y;
    let sine = |x: f64| sin_pi(x.abs()).copysign(1.0) * sine_sign(x);
    if x > 0.0 {
        if y == f64::INFINITY {
            return (if x == y { f64::NAN } else { 0.0 }, (0.0, 0.0));
        }
        if x < TINY {
            return (1.0 / x + 1.0 / y, (0.0, 0.0));
        }
        return (1.0, log_positive(x, y));
    }
    if y == f64::INFINITY {
        return (f64::NAN, (0.0, 0.0));
    }
    if -x < TINY && (y.abs() < TINY || y > 0.0) {
        return (1.0 / x + 1.0 / y, (0.0, 0.0));
    }
    if y > 0.0 && both > 0.0 {
        let (high, low) = log_positive(1.0 - x, both);
        return (PI / (sine(x) * y), (-high, -low));
    }
    if whole(both) {
        return (0.0, (0.0, 0.0));
    }
    if y > 0.0 {
        return (sine(both) / sine(x), log_positive(y, 1.0 - both));
    }
    let (high, low) = log_positive(1.0 - x, 1.0 - y);
    (PI * sine(both) / (sine(x) * sine(y) * (1.0 - both)), (-high, -low))
}

/// The sign of `sin(pi x)`.
fn sine_sign(x: f64) -> f64 {
    let floor = x.floor();
    if (0.5 * floor).trunc() == 0.5 * floor { 1.0 } else { -1.0 }
}

/// Beta function, `gamma(x) gamma(y) / gamma(x + y)`. Within 3 ulp for positive arguments.
#[inline(never)]
pub fn beta(x: f64, y: f64) -> f64 {
    // exact: the area of a triangle
    if x == 1.0 && y > 0.0 || y == 1.0 && x > 0.0 {
        return 1.0 / (x * y);
    }
    let (factor, (high, low)) = parts(x, y);
    if factor == 0.0 || !factor.is_finite() { factor } else { factor * exp_of(high, low) }
}

/// The logarithm of its magnitude. Within 3 ulp for positive arguments.
#[inline(never)]
pub fn betaln(x: f64, y: f64) -> f64 {
    if x == 1.0 && y > 0.0 || y == 1.0 && x > 0.0 {
        return -log(x * y);
    }
    let (factor, (high, low)) = parts(x, y);
    high + (low + log(factor.abs()))
}
