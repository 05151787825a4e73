//! The regularised incomplete gamma functions. They use the series 8.11.4 and the continued fraction 8.9.2 of the NIST
//! Digital Library of Mathematical Functions, and Temme's expansion 8.12.3 if both parameters are large and close to
//! each other.

use super::constants::PI;
use super::erfc;
use super::exact::{polynomial, product, quotient, sum, wide_sum};
use super::exp::{exp, exp_of, expm1};
use super::gamma::{correction, gamma, lgamma1p};
use super::log::log;
use super::power::wide_log;
use super::temme::TEMME;

/// Temme's expansion is accurate to all digits if `a` is at least this value.
const LARGE: f64 = 100.0;

/// Maximum number of steps of a series or a continued fraction. Usually some hundred steps are enough.
const STEPS: usize = 10_000;

/// Computes `x^a exp(-x) / gamma(a + 1)`.
#[inline(always)]
fn prefactor(a: f64, x: f64) -> f64 {
    if a < 8.0 {
        let (log, log_low) = wide_log(x);
        let (power, lost) = product(log, a);
        let (high, low) = sum(power, -x);
        return exp_of(high, low + log_low.mul_add(a, lost)) / gamma(a + 1.0);
    }
    // exp(a (log(x / a) - (x - a) / a)) / sqrt(2 pi a), multiplied by the correction of Stirling's formula
    let (ratio, ratio_low) = quotient(x, 0.0, a, 0.0);
    let (apart, apart_low) = sum(x, -a);
    let (near, near_low) = wide_log(ratio);
    let (power, lost) = product(near, a);
    let lost = (near_low + ratio_low / ratio).mul_add(a, lost);
    let (high, low) = wide_sum((power, lost), (-apart, -apart_low));
    let (high, lost) = sum(high, -correction(a));
    exp_of(high, low + lost) / (2.0 * PI * a).sqrt()
}

/// Computes the lower incomplete gamma function by its series.
#[inline(always)]
fn series(a: f64, x: f64) -> f64 {
    let (mut term, mut total, mut at) = (1.0, 1.0, a);
    for _ in 0..STEPS {
        at += 1.0;
        term *= x / at;
        total += term;
        if term <= total * (f64::EPSILON / 8.0) {
            break;
        }
    }
    prefactor(a, x) * total
}

/// Computes the upper incomplete gamma function by its continued fraction, with Lentz's method.
#[inline(always)]
fn fraction(a: f64, x: f64) -> f64 {
    const MIN_DENOMINATOR: f64 = 1e-300;
    let mut b = x + 1.0 - a;
    let mut c = 1.0 / MIN_DENOMINATOR;
    let mut d = 1.0 / b;
    let mut value = d;
    let mut i = 1.0;
    for _ in 0..STEPS {
        let an = i * (a - i);
        b += 2.0;
        d = an.mul_add(d, b);
        d = if d.abs() < MIN_DENOMINATOR { MIN_DENOMINATOR } else { d };
        c = b + an / c;
        c = if c.abs() < MIN_DENOMINATOR { MIN_DENOMINATOR } else { c };
        d = 1.0 / d;
        let step = d * c;
        value *= step;
        if (step - 1.0).abs() <= f64::EPSILON {
            break;
        }
        i += 1.0;
    }
    prefactor(a, x) * a * value
}

/// Computes the upper incomplete gamma function for `x` and `a` near 0: 1 minus the series of the lower function,
/// without cancellation.
#[inline(always)]
fn upper_series(a: f64, x: f64) -> f64 {
    let (mut power, mut total, mut n) = (1.0, 0.0, 1.0);
    for _ in 0..STEPS {
        power *= -x / n;
        let term = power * (a / (a + n));
        total += term;
        if term.abs() <= total.abs() * (f64::EPSILON / 8.0) {
            break;
        }
        n += 1.0;
    }
    let exponent = a.mul_add(log(x), -lgamma1p(a));
    -expm1(exponent) - exp(exponent) * total
}

/// Computes the lower (`sign` is -1) or the upper (`sign` is 1) incomplete gamma function for a large `a` and an `x`
/// near `a`.
#[inline(always)]
fn temme(a: f64, x: f64, sign: f64) -> f64 {
    // half the square of eta: mu - log(1 + mu), with mu = (x - a) / a
    let mu = (x - a) / a;
    let r = mu / (2.0 + mu);
    let square = r * r;
    let tail = polynomial(
        square,
        &[
            1.0 / 3.0,
            1.0 / 5.0,
            1.0 / 7.0,
            1.0 / 9.0,
            1.0 / 11.0,
            1.0 / 13.0,
            1.0 / 15.0,
            1.0 / 17.0,
            1.0 / 19.0,
            1.0 / 21.0,
            1.0 / 23.0,
            1.0 / 25.0,
        ],
    );
    let half = r.mul_add(mu, -2.0 * (square * r) * tail);
    let eta = (2.0 * half).sqrt().copysign(mu);
    let inverse = 1.0 / a;
    let mut total = 0.0;
    for row in TEMME.iter().rev() {
        total = f64::mul_add(total, inverse, polynomial(eta, row));
    }
    let rest = exp(-a * half) / (2.0 * PI * a).sqrt() * total;
    0.5 * erfc(sign * eta * (0.5 * a).sqrt()) + sign * rest
}

/// Returns the lower and the upper incomplete gamma function for arguments at which they are exactly 0, 1 or NaN;
/// `None` for all other arguments.
#[inline(always)]
fn limits(a: f64, x: f64) -> Option<(f64, f64)> {
    if a.is_nan() || x.is_nan() || a < 0.0 || x < 0.0 {
        return Some((f64::NAN, f64::NAN));
    }
    let (none, all) = (Some((0.0, 1.0)), Some((1.0, 0.0)));
    match (a == 0.0, x == 0.0, a == f64::INFINITY, x == f64::INFINITY) {
        (true, true, ..) | (.., true, true) => Some((f64::NAN, f64::NAN)),
        (true, ..) | (.., true) => all,
        (_, true, ..) | (_, _, true, _) => none,
        _ => None,
    }
}

/// Method by which the incomplete gamma functions are computed.
enum GammaMethod {
    Near,
    Fraction,
    UpperSeries,
    Series,
}

#[inline(always)]
fn gamma_method(a: f64, x: f64) -> GammaMethod {
    if a > LARGE && (x - a).abs() < 0.3 * a {
        GammaMethod::Near
    } else if x > 1.1 && x > a {
        GammaMethod::Fraction
    } else if x <= 1.1 && (if x <= 0.5 { -0.4 / log(x) >= a } else { x * 1.1 >= a }) {
        GammaMethod::UpperSeries
    } else {
        GammaMethod::Series
    }
}

outlined! {
    /// Regularised lower incomplete gamma function: NaN for negative arguments.
    pub fn gammainc(a: f64, x: f64) -> f64 {
        if let Some((lower, _)) = limits(a, x) {
            return lower;
        }
        match gamma_method(a, x) {
            GammaMethod::Near => temme(a, x, -1.0),
            GammaMethod::Fraction => 1.0 - fraction(a, x),
            // the series is accurate for small `x`, unlike 1 minus the upper function
            GammaMethod::UpperSeries | GammaMethod::Series => series(a, x),
        }
    }

    /// Regularised upper incomplete gamma function: NaN for negative arguments.
    pub fn gammaincc(a: f64, x: f64) -> f64 {
        if let Some((_, upper)) = limits(a, x) {
            return upper;
        }
        match gamma_method(a, x) {
            GammaMethod::Near => temme(a, x, 1.0),
            GammaMethod::Fraction => fraction(a, x),
            GammaMethod::UpperSeries => upper_series(a, x),
            GammaMethod::Series => 1.0 - series(a, x),
        }
    }
}
