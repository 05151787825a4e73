//! Powers of complex numbers.

use super::super::F;
use super::super::constants::{EXP_MIN, PI, PI_LOW, SQUARE_DOWN, SQUARE_HUGE, SQUARE_TINY, SQUARE_UP};
use super::super::exact::{Wide, product, wide_product, wide_sum};
use super::super::exp::{between, parts_of};
use super::super::inverse_trig::wide_angle;
use super::super::power::wide_log;
use super::super::trig::{needs_range_reduction, turn};
use super::exponential::{LIMIT, limited, scaled};
use super::{C, div, exp, log, times};

/// `x` to the power of `y`. 0 to the power of 0 is 1, and 0 to a power with a positive real part is 0. Powers with
/// integer real exponents below 100 in magnitude are computed by products, and are exact if the result is
/// representable. The error is within 4 ulp of the magnitude if `|y log(x)|` is below some hundreds.
#[inline(always)]
pub fn pow(x: C, y: C) -> C {
    if (y.re == 0.0) & (y.im == 0.0) {
        return C::new(1.0, 0.0);
    }
    if (x.re == 0.0) & (x.im == 0.0) {
        let value = if y.re > 0.0 { 0.0 } else { F::NAN };
        return C::new(value, value);
    }
    if (y.re == 1.0) & (y.im == 0.0) {
        return x;
    }
    if !(x.re.is_finite() & x.im.is_finite() & y.re.is_finite() & y.im.is_finite()) {
        return exp(times(log(x), y));
    }
    let whole = (y.im == 0.0) & (y.re.trunc() == y.re) & (y.re.abs() < 100.0);
    if whole && let Some(value) = whole_power(x, y.re as i32) {
        return value;
    }
    let (log, angle) = wide_polar(x);
    let minus = (-y.im, 0.0);
    let size = wide_sum(wide_product(log, (y.re, 0.0)), wide_product(angle, minus));
    let turns = wide_sum(wide_product(angle, (y.re, 0.0)), wide_product(log, (y.im, 0.0)));
    if needs_range_reduction(turns.0) | !turns.0.is_finite() | !size.0.is_finite() {
        return exp(C::new(size.0, turns.0));
    }
    let rest = if (size.0 > EXP_MIN) & (size.0 < LIMIT) { size.1 } else { 0.0 };
    let parts = parts_of(between(EXP_MIN, LIMIT, size.0), rest);
    let size = limited(1.0 + (parts.high + parts.low), size.0);
    let turned = turn(turns.0).plus(turns.1);
    C::new(scaled(size, turned.sin_after(1), parts.n), scaled(size, turned.sin_after(0), parts.n))
}

/// Computes the logarithm of the magnitude, and the angle, of a finite number other than 0. Each is a sum of two
/// floats.
#[inline(always)]
fn wide_polar(x: C) -> (Wide, Wide) {
    // the parts are scaled, so that their squares neither overflow nor lose bits
    let (width, height) = (x.re.abs(), x.im.abs());
    let larger = if width > height { width } else { height };
    let (scale, back) =
        if larger > SQUARE_HUGE { (SQUARE_DOWN, wide_log(1.0 / SQUARE_DOWN)) } else { (1.0, (0.0, 0.0)) };
    let (scale, back) = if larger < SQUARE_TINY { (SQUARE_UP, wide_log(1.0 / SQUARE_UP)) } else { (scale, back) };
    let (width, height) = (width * scale, height * scale);
    // log(s) / 2, where s = s_high (1 + s_low / s_high) is the sum of squares
    let squares = wide_sum(product(width, width), product(height, height));
    let twice = wide_sum(wide_log(squares.0), (squares.1 / squares.0, 0.0));
    let log = wide_sum((0.5 * twice.0, 0.5 * twice.1), back);

    let angle = wide_angle(height, width);
    let left = x.re.is_sign_negative();
    let angle = if left { wide_sum((PI, PI_LOW), (-angle.0, -angle.1)) } else { angle };
    (log, if x.im.is_sign_negative() { (-angle.0, -angle.1) } else { angle })
}

/// A complex number with two floats for each part.
type WideC = (Wide, Wide);

fn wide_times(x: WideC, y: WideC) -> WideC {
    let minus = |x: Wide| (-x.0, -x.1);
    (
        wide_sum(wide_product(x.0, y.0), minus(wide_product(x.1, y.1))),
        wide_sum(wide_product(x.0, y.1), wide_product(x.1, y.0)),
    )
}

/// Computes the power of a finite number with an integer exponent, by repeated squaring. Returns `None` if the result
/// leaves the range of normal numbers.
fn whole_power(x: C, n: i32) -> Option<C> {
    if n == 2 {
        return Some(times(x, x));
    }
    let mut base = ((x.re, 0.0), (x.im, 0.0));
    let mut wide = ((1.0, 0.0), (0.0, 0.0));
    let mut left = n.unsigned_abs();
    loop {
        if left & 1 == 1 {
            wide = wide_times(wide, base);
        }
        left >>= 1;
        if left == 0 {
            break;
        }
        base = wide_times(base, base);
    }
    let value = C::new(wide.0.0 + wide.0.1, wide.1.0 + wide.1.1);
    let value = if n < 0 { div(C::new(1.0, 0.0), value) } else { value };
    let larger = value.re.abs().max(value.im.abs());
    (F::MIN_POSITIVE..=F::MAX).contains(&larger).then_some(value)
}
