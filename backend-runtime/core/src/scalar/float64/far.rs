//! The remainder of large numbers modulo pi/2, computed in integer arithmetic with as many bits of 2/pi as the number
//! needs.

use super::constants::{FRAC_2_PI_BITS, FRAC_PI_2, FRAC_PI_2_LOW};
use super::exact::{product, sum_ordered};

/// Splits the angle `x` into a number of quarter turns and a remainder `high + low` in [-pi/4, pi/4]. Only the low two
/// bits of the number are correct. `x` is finite and at least 2^16 in magnitude.
#[cold]
#[inline(never)]
pub fn turns(x: f64) -> (u64, f64, f64) {
    // x = mantissa 2^exponent
    let bits = x.to_bits();
    let mantissa = bits & ((1 << 52) - 1) | 1 << 52;
    let exponent = (bits >> 52 & 0x7ff) as i64 - (1023 + 52);
    // the relevant bits of 2/pi: higher bits contribute whole turns only, and lower bits are insignificant
    let start = exponent - 2;
    let window = [0, 64, 128].map(|offset| word(start + offset));
    // the product modulo 2^192, in units of 2^-190 quarter turns
    let high = mantissa.wrapping_mul(window[0]);
    let middle = mantissa as u128 * window[1] as u128;
    let low = mantissa as u128 * window[2] as u128;
    let lower = (middle << 64).wrapping_add(low);
    let carry = (lower < low) as u64;
    let upper = high.wrapping_add((middle >> 64) as u64).wrapping_add(carry);
    // round to the nearest quarter turn
    let quarters = upper >> 62;
    let fraction = ((upper as u128) << 66) | (lower >> 62);
    let up = fraction >> 127 == 1;
    let size = if up { fraction.wrapping_neg() } else { fraction };
    let quarters = quarters + up as u64;
    // split the remainder into its leading 53 bits and the next 64 bits
    let shift = size.leading_zeros();
    let size = size << (shift & 127);
    let unit = 2f64.powi(-(shift as i32) - 53);
    let first = (size >> 75) as f64 * unit;
    let second = (size << 53 >> 64) as f64 * (unit * 2f64.powi(-64));
    // convert quarter turns to radians
    let (high, lost) = product(first, FRAC_PI_2);
    let (high, low) = sum_ordered(high, lost + (first * FRAC_PI_2_LOW + second * FRAC_PI_2));
    let back = up != x.is_sign_negative();
    let quarters = if x.is_sign_negative() { quarters.wrapping_neg() } else { quarters };
    if back { (quarters, -high, -low) } else { (quarters, high, low) }
}

/// Returns the 64 bits of 2/pi that begin with the bit of weight 2^-(1 + start). Bits before the first bit of 2/pi are
/// 0.
fn word(start: i64) -> u64 {
    let at = |i: i64| usize::try_from(i).ok().and_then(|i| FRAC_2_PI_BITS.get(i)).copied().unwrap_or(0);
    let (index, shift) = (start.div_euclid(64), start.rem_euclid(64) as u32);
    let pair = (at(index) as u128) << 64 | at(index + 1) as u128;
    (pair << shift >> 64) as u64
}
