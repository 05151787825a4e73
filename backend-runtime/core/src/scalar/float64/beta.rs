//! The beta function and its logarithm, computed with twice the precision. Arguments of at least 8 use Stirling's
//! formula. The recurrence of the gamma function converts smaller arguments to arguments of at least 8. The formulas
//! are 5.11.1 and 5.12.1 of the NIST Digital Library of Mathematical Functions.

use super::constants::PI;
use super::exact::{Wide, product, quotient, sum, sum_ordered, wide_product, wide_sum};
use super::exp::exp_of;
use super::gamma::correction;
use super::log::log;
use super::power::wide_log;
use super::special::{HALF_LN_2_PI, HALF_LN_2_PI_LOW};
use super::trig::sin_pi;

/// Arguments of at least this value use Stirling's formula.
const FAR: f64 = 8.0;

/// Magnitude of the smaller argument below which `beta(x, y)` is `1 / x + 1 / y`.
const TINY: f64 = 1e-20;

/// Computes the product `x (x + 1) ..` of `n` factors, for a positive `x`. The first factor is multiplied by the last,
/// the second by the second last, and so on: `(x + i) (x + n - 1 - i) = x (x + n - 1) + i (n - 1 - i)`. So the loop
/// needs half as many steps.
#[inline(always)]
fn rising(x: Wide, n: f64) -> Wide {
    let last = n - 1.0;
    let plus = |x: Wide, by: f64| {
        let (high, low) = sum(x.0, by);
        (high, low + x.1)
    };
    // the result is not rounded again to a high and a low part, because the low parts of so few factors stay small
    let times = |x: Wide, y: Wide| {
        let (high, low) = product(x.0, y.0);
        (high, x.1.mul_add(y.0, x.0.mul_add(y.1, low)))
    };
    let ends = times(x, plus(x, last));
    let middle = plus(x, 0.5 * last);
    let mut all = if (0.5 * n).trunc() == 0.5 * n { (1.0, 0.0) } else { middle };
    let mut i = 0.0;
    while i < last - i {
        all = times(all, plus(ends, i * (last - i)));
        i += 1.0;
    }
    sum_ordered(all.0, all.1)
}

/// Computes the logarithm of `1 + above / below`, for positive numbers.
#[inline(always)]
fn log1p_ratio(above: Wide, below: Wide) -> Wide {
    let (high, low) = quotient(above.0, above.1, below.0, below.1);
    let (one, lost) = sum(1.0, high);
    let (log, log_low) = wide_log(one);
    wide_sum((log, log_low), (0.0, (lost + low) / one))
}

/// Computes the logarithm of the beta function, for positive finite arguments.
#[inline(always)]
fn log_positive(x: f64, y: f64) -> Wide {
    let steps = |x: f64| if x < FAR { (FAR - x).ceil() } else { 0.0 };
    let moved = |x: f64| sum(x, steps(x));
    let (small, large) = if x < y { (x, y) } else { (y, x) };
    let ((a, b), whole) = ((moved(large), moved(small)), sum(large, small));
    // `factors` is the logarithm of the factors by which the recurrence converts the arguments to `a` and `b`
    let below = wide_product(rising((large, 0.0), steps(large)), rising((small, 0.0), steps(small)));
    let total = steps(large) + steps(small);
    let factors = if large > 1e20 {
        let (log, log_low) = wide_log(large);
        let (high, low) = product(log, total);
        let (log_below, log_below_low) = wide_log(below.0);
        let log_below_low = log_below_low + below.1 / below.0;
        wide_sum((high, log_low.mul_add(total, low)), (-log_below, -log_below_low))
    } else {
        let above = rising(whole, total);
        let (ratio, low) = quotient(above.0, above.1, below.0, below.1);
        wide_sum(wide_log(ratio), (0.0, low / ratio))
    };
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

/// The beta function as `factor` times the exponential of `sign * log(beta(of.0, of.1))`. Both numbers in `of` are
/// positive.
struct Parts {
    factor: f64,
    sign: f64,
    of: (f64, f64),
}

/// Returns the parts of a value that is `factor` alone, without an exponential.
fn plain(factor: f64) -> Parts {
    Parts { factor, sign: 0.0, of: (1.0, 1.0) }
}

/// Returns the parts for positive arguments, where `x` is the smaller argument.
#[inline(always)]
fn positive(x: f64, y: f64) -> Parts {
    if y == f64::INFINITY {
        return plain(if x == y { f64::NAN } else { 0.0 });
    }
    if x < TINY { plain(1.0 / x + 1.0 / y) } else { Parts { factor: 1.0, sign: 1.0, of: (x, y) } }
}

/// Returns the parts for arguments of which at least one is NaN or not positive.
#[inline(never)]
fn reflected(x: f64, y: f64) -> Parts {
    let whole = |x: f64| x <= 0.0 && x.trunc() == x;
    let (x, y) = if whole(y) || y < x && !whole(x) { (y, x) } else { (x, y) };
    if x.is_nan() || y.is_nan() {
        return plain(f64::NAN);
    }
    // if `gamma(x)` has a pole, `gamma(x + y)` may also have a pole, and the two poles cancel
    if whole(x) {
        let finite = y.trunc() == y && 1.0 - x - y > 0.0;
        let sign = if (0.5 * y).trunc() == 0.5 * y { 1.0 } else { -1.0 };
        if finite && y > 0.0 && x.is_finite() {
            let other = 1.0 - x - y;
            let parts = if other < y { positive(other, y) } else { positive(y, other) };
            return Parts { factor: sign * parts.factor, ..parts };
        }
        let sign = if finite { sign } else { 1.0f64.copysign(x) };
        return plain(if x == 0.0 || finite { sign * f64::INFINITY } else { f64::INFINITY });
    }
    if x == f64::NEG_INFINITY || y == f64::INFINITY {
        return plain(f64::NAN);
    }
    let both = x + y;
    let sine = |x: f64| sin_pi(x.abs()).copysign(1.0) * sine_sign(x);
    if -x < TINY && (y.abs() < TINY || y > 0.0) {
        return plain(1.0 / x + 1.0 / y);
    }
    if y > 0.0 && both > 0.0 {
        return Parts { factor: PI / (sine(x) * y), sign: -1.0, of: (1.0 - x, both) };
    }
    if whole(both) {
        return plain(0.0);
    }
    if y > 0.0 {
        return Parts { factor: sine(both) / sine(x), sign: 1.0, of: (y, 1.0 - both) };
    }
    let factor = PI * sine(both) / (sine(x) * sine(y) * (1.0 - both));
    Parts { factor, sign: -1.0, of: (1.0 - x, 1.0 - y) }
}

/// Returns the sign of `sin(pi x)`.
fn sine_sign(x: f64) -> f64 {
    let floor = x.floor();
    if (0.5 * floor).trunc() == 0.5 * floor { 1.0 } else { -1.0 }
}

/// Splits the beta function into two factors. Returns the first factor itself, and the logarithm of the second factor.
#[inline(always)]
fn parts(x: f64, y: f64) -> (f64, Wide) {
    let (small, large) = if x < y { (x, y) } else { (y, x) };
    let Parts { factor, sign, of } = if small > 0.0 { positive(small, large) } else { reflected(x, y) };
    if sign == 0.0 {
        return (factor, (0.0, 0.0));
    }
    let (high, low) = log_positive(of.0, of.1);
    (factor, (sign * high, sign * low))
}

outlined! {
    /// Beta function, `gamma(x) gamma(y) / gamma(x + y)`. Within 3 ulp for positive arguments.
    pub fn beta(x: f64, y: f64) -> f64 {
        // exact: beta(1, y) is 1 / y
        if x == 1.0 && y > 0.0 || y == 1.0 && x > 0.0 {
            return 1.0 / (x * y);
        }
        let (factor, (high, low)) = parts(x, y);
        if factor == 0.0 || !factor.is_finite() { factor } else { factor * exp_of(high, low) }
    }

    /// Logarithm of the magnitude of the beta function. Within 3 ulp for positive arguments.
    pub fn betaln(x: f64, y: f64) -> f64 {
        if x == 1.0 && y > 0.0 || y == 1.0 && x > 0.0 {
            return -log(x * y);
        }
        let (factor, (high, low)) = parts(x, y);
        high + (low + log(factor.abs()))
    }
}
