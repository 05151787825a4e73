//! Rounding toward zero, down and up, computed from a comparison of the nearest number with the exact result.

use super::value::Float;
use std::cmp::Ordering;

/// Rounds to nearest, and ties to even.
pub(crate) const RN: u8 = 0;
/// Rounds toward zero.
pub(crate) const RZ: u8 = 1;
/// Rounds down.
pub(crate) const RM: u8 = 2;
/// Rounds up.
pub(crate) const RP: u8 = 3;

/// Rounds by `MODE`. `nearest` is the exact result rounded to nearest, and `to_exact` compares `nearest` with the exact
/// result.
pub(crate) fn directed<const MODE: u8, T: Float>(nearest: T, to_exact: Option<Ordering>) -> T {
    let down = match MODE {
        RM => true,
        RZ => !nearest.is_negative(),
        RP => false,
        _ => return nearest,
    };
    match to_exact {
        Some(Ordering::Greater) if down => nearest.below(),
        Some(Ordering::Less) if !down => nearest.above(),
        _ => nearest,
    }
}

/// Rounds the exact result `sum + error` to a 32-bit float. Here `error` is so small that the rounded 64-bit sum is
/// `sum`.
pub(crate) fn narrow<const MODE: u8>(sum: f64, error: f64) -> f32 {
    let nearest = sum as f32;
    let ordering = f64::from(nearest).partial_cmp(&sum).map(|ordering| match ordering {
        Ordering::Equal if error > 0.0 => Ordering::Less,
        Ordering::Equal if error < 0.0 => Ordering::Greater,
        other => other,
    });
    directed::<MODE, f32>(nearest, ordering)
}

/// Returns the sum rounded to 64 bits, and its exact rounding error.
pub(crate) fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let part = sum - a;
    (sum, (a - (sum - part)) + (b - part))
}

/// Rounds `x` to a 32-bit float by rounding to odd: the last bit of the result is 1 if `x` is not exactly
/// representable. A later rounding of the result to 16 bits then gives the same number as rounding `x` directly.
pub(crate) fn odd(x: f64) -> f32 {
    let toward_zero = narrow::<RZ>(x, 0.0);
    if x.is_finite() && f64::from(toward_zero) != x { f32::from_bits(toward_zero.to_bits() | 1) } else { toward_zero }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions() {
        let third = 1.0 / 3.0;
        assert_eq!(narrow::<RN>(third, 0.0), third as f32);
        for x in [third, -third, 1e-50, -1e-50, 1e300, -1e300, 0.1, 1e-42] {
            let (down, up, zero) = (narrow::<RM>(x, 0.0), narrow::<RP>(x, 0.0), narrow::<RZ>(x, 0.0));
            assert!(f64::from(down) < x && x < f64::from(up), "{x}");
            assert_eq!(down.next_up(), up);
            assert_eq!(zero, if x > 0.0 { down } else { up });
        }
        for exact in [0.0, 1.5, -2.0, f64::INFINITY] {
            assert_eq!(f64::from(narrow::<RM>(exact, 0.0)), exact);
            assert_eq!(f64::from(narrow::<RP>(exact, 0.0)), exact);
        }
        assert_eq!(narrow::<RP>(1.0, 1e-20), 1.0_f32.next_up());
        assert_eq!(narrow::<RM>(1.0, -1e-20), 1.0_f32.next_down());
        assert!(narrow::<RZ>(f64::NAN, 0.0).is_nan());
    }

    #[test]
    fn rounding_to_odd_keeps_what_decides_a_tie() {
        // `x` is slightly more than half a unit of f16 above 1
        let x = 1.0 + 2_f64.powi(-11) + 2_f64.powi(-40);
        assert_eq!(half::f16::from_f32(x as f32).to_f32(), 1.0);
        assert!(half::f16::from_f32(odd(x)).to_f32() > 1.0);
    }
}
