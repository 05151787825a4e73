//! Interpolated values. This module computes the weights of a spline at a position, and the weighted sum of the
//! coefficients around the position.

use super::Pixel;
use backend_core::{Boundary, rules::MAX_SAMPLED_AXES};

/// Maximum number of coefficients along one axis that a value depends on.
pub const MAX_TAPS: usize = 6;

/// The coefficients along one axis that a value depends on: their offsets in memory, and their weights.
#[derive(Clone, Copy, Debug)]
pub struct Taps {
    pub at: [isize; MAX_TAPS],
    pub weight: [f64; MAX_TAPS],
    pub place: Place,
}

/// The position of a point relative to the ends of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// All coefficients are within the array, next to each other along the axis.
    Inside,
    /// Some coefficients are beyond an edge. They are replaced by other coefficients or, at [`BEYOND`], by the value
    /// beyond the edge.
    Edge,
    /// The result is the value beyond the edge.
    Outside,
}

/// The offset that stands for the value beyond the edge.
pub const BEYOND: isize = isize::MIN;

impl Taps {
    pub const NONE: Taps = Taps { at: [0; MAX_TAPS], weight: [0.0; MAX_TAPS], place: Place::Outside };
}

/// One axis of an array of coefficients, with the parameters of the interpolation along it.
#[derive(Clone, Copy, Debug)]
pub struct SampledAxis {
    pub len: usize,
    pub stride: isize,
    pub order: usize,
    pub mode: Boundary,
    /// Number of border elements that were added before the first element of the array.
    pub border: f64,
}

impl SampledAxis {
    /// Computes the offsets and weights of the coefficients that the value at `place` depends on.
    #[inline(always)]
    pub fn taps(&self, place: f64, taps: &mut Taps) {
        let (len, order) = (self.len as isize, self.order);
        let place = place + self.border;
        let last = (len - 1) as f64;
        let at = if (0.0..=last).contains(&place) {
            place
        } else {
            match folded(place, last, self.mode, order) {
                Some(at) => at,
                None => {
                    taps.place = Place::Outside;
                    return;
                }
            }
        };
        if !at.is_finite() {
            // the value is NaN if the position is not finite
            taps.at = [0; MAX_TAPS];
            taps.weight = [f64::NAN; MAX_TAPS];
            taps.place = Place::Edge;
            return;
        }
        let nearest = if order & 1 == 1 { at.floor() } else { (at + 0.5).floor() };
        weights(order, at - nearest, &mut taps.weight);
        let start = nearest as isize - (order / 2) as isize;
        if start >= 0 && start + (order as isize) < len {
            taps.place = Place::Inside;
            for (k, offset) in taps.at.iter_mut().enumerate() {
                *offset = (start + k as isize) * self.stride;
            }
        } else {
            taps.place = Place::Edge;
            for (k, offset) in taps.at.iter_mut().enumerate() {
                *offset = match folded_index(start + k as isize, len, self.mode) {
                    Some(index) => index * self.stride,
                    None => BEYOND,
                };
            }
        }
    }
}

/// Maps a position beyond the ends of an axis to a position in or near the axis that has the same value. The last
/// element is at `last`. Returns `None` if the value is the constant beyond the edge. Returns a position that is not
/// finite if no position has the same value.
fn folded(at: f64, last: f64, mode: Boundary, order: usize) -> Option<f64> {
    let len = last + 1.0;
    // a position at least this far beyond an edge depends only on values beyond the edge
    let far = (order + 1) as f64;
    let periodic = |at: f64, period: f64| if period > 0.0 { at.rem_euclid(period) } else { at * 0.0 };
    match mode {
        _ if at.is_nan() => Some(at),
        Boundary::Constant => None,
        Boundary::GridConstant if at < -far || at > last + far => None,
        Boundary::GridConstant => Some(at),
        Boundary::Nearest => Some(at.clamp(-far, last + far)),
        Boundary::Mirror => {
            let at = periodic(at, 2.0 * last);
            Some(if at > last { 2.0 * last - at } else { at })
        }
        Boundary::Reflect => {
            let at = periodic(at + 0.5, 2.0 * len);
            Some(if at > len { 2.0 * len - at } else { at } - 0.5)
        }
        Boundary::Wrap if last == 0.0 => Some(at * 0.0),
        // in this mode, the first and the last element are the same point; a position on this point is mapped to the
        // end that is farther from `at`
        Boundary::Wrap if at < 0.0 => Some(at + last * ((-at / last).floor() + 1.0)),
        Boundary::Wrap => Some(at - last * (at / last).floor()),
        Boundary::GridWrap => Some(periodic(at, len)),
    }
}

/// Maps an index a few elements beyond the ends of an axis to the index that has the same value. Returns `None` if
/// the value is the constant beyond the edge.
fn folded_index(index: isize, len: isize, mode: Boundary) -> Option<isize> {
    if (0..len).contains(&index) {
        return Some(index);
    }
    Some(match mode {
        Boundary::GridConstant => return None,
        Boundary::Nearest => index.clamp(0, len - 1),
        Boundary::GridWrap => index.rem_euclid(len),
        Boundary::Reflect => {
            let index = index.rem_euclid(2 * len);
            index.min(2 * len - 1 - index)
        }
        _ if len == 1 => 0,
        Boundary::Constant | Boundary::Mirror | Boundary::Wrap => {
            let index = index.rem_euclid(2 * len - 2);
            index.min(2 * len - 2 - index)
        }
    })
}

/// Computes the weights of the coefficients around a position. For even orders, `t` is the distance of the position
/// from the middle coefficient. For odd orders, `t` is the distance from the last coefficient at or before the
/// position.
#[inline(always)]
fn weights(order: usize, t: f64, w: &mut [f64; MAX_TAPS]) {
    match order {
        0 => w[0] = 1.0,
        1 => (w[0], w[1]) = (1.0 - t, t),
        2 => {
            w[1] = 0.75 - t * t;
            w[2] = 0.5 * (t + 0.5) * (t + 0.5);
            w[0] = 1.0 - w[1] - w[2];
        }
        3 => {
            let u = 1.0 - t;
            w[1] = (t * t * (t - 2.0) * 3.0 + 4.0) / 6.0;
            w[2] = (u * u * (u - 2.0) * 3.0 + 4.0) / 6.0;
            w[0] = u * u * u / 6.0;
            w[3] = 1.0 - w[0] - w[1] - w[2];
        }
        4 => {
            let square = t * t;
            let beside = |u: f64| u * (u * (u * (5.0 - u) / 6.0 - 1.25) + 5.0 / 24.0) + 55.0 / 96.0;
            let outer = (0.5 - t) * (0.5 - t);
            w[0] = outer * outer / 24.0;
            w[1] = beside(1.0 + t);
            w[2] = square * (square * 0.25 - 0.625) + 115.0 / 192.0;
            w[3] = beside(1.0 - t);
            w[4] = 1.0 - w[0] - w[1] - w[2] - w[3];
        }
        _ => {
            let near = |u: f64| u * u * (u * u * (0.25 - u / 12.0) - 0.5) + 0.55;
            let far = |u: f64| u * (u * (u * (u * (u / 24.0 - 0.375) + 1.25) - 1.75) + 0.625) + 0.425;
            let u = 1.0 - t;
            w[0] = u * u * u * u * u / 120.0;
            w[1] = far(t + 1.0);
            w[2] = near(t);
            w[3] = near(u);
            w[4] = far(2.0 - t);
            w[5] = 1.0 - w[0] - w[1] - w[2] - w[3] - w[4];
        }
    }
}

/// Computes the value at a position, for `N` axes and `W` coefficients per axis. The coefficients are next to each
/// other along each axis. `step` is the stride of the last axis.
///
/// # Safety
/// All coefficients must exist: every axis must be [`Place::Inside`].
#[inline(always)]
pub unsafe fn inside<P: Pixel, const N: usize, const W: usize>(
    x: *const P,
    taps: &[Taps; MAX_SAMPLED_AXES],
    axes: &[SampledAxis; MAX_SAMPLED_AXES],
    step: isize,
) -> P::Total {
    let row = |from: isize| {
        let last = &taps[N - 1];
        // SAFETY: the caller guarantees that all coefficients exist.
        let at = |k: usize| unsafe { *x.offset(from + last.at[0] + k as isize * step) }.wide() * last.weight[k];
        (1..W).fold(at(0), |sum, k| sum + at(k))
    };
    let plane = |from: isize, axis: usize| {
        let taps = &taps[axis];
        let at = |k: usize| row(from + taps.at[0] + k as isize * axes[axis].stride) * taps.weight[k];
        (1..W).fold(at(0), |sum, k| sum + at(k))
    };
    match N {
        1 => row(0),
        2 => plane(0, 0),
        _ => {
            let at = |k: usize| plane(taps[0].at[0] + k as isize * axes[0].stride, 1) * taps[0].weight[k];
            (1..W).fold(at(0), |sum, k| sum + at(k))
        }
    }
}

/// Computes the value at any position, for any number of axes, by one recursive call per coefficient of an axis. `taps`
/// has only the axes that are still to be summed over, and `from` is the sum of the offsets along the axes before them.
/// `count` is the number of coefficients per axis, and `beyond` is the value beyond the edges.
///
/// # Safety
/// The coefficients must exist.
pub unsafe fn anywhere<P: Pixel>(x: *const P, from: isize, taps: &[Taps], count: usize, beyond: P::Total) -> P::Total {
    let Some((first, rest)) = taps.split_first() else {
        // SAFETY: the caller guarantees that the coefficient exists.
        return unsafe { *x.offset(from) }.wide();
    };
    let mut sum = P::number(0.0);
    for k in 0..count {
        let value = match first.at[k] {
            BEYOND => beyond,
            // SAFETY: the caller guarantees that the coefficients exist.
            at => unsafe { anywhere(x, from + at, rest, count, beyond) },
        };
        sum = sum + value * first.weight[k];
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_a_partition_and_a_spline() {
        for order in 0..=5 {
            for t in [0.0, 0.1, 0.25, 0.499] {
                let mut w = [0.0; MAX_TAPS];
                weights(order, t, &mut w);
                let total: f64 = w[..=order].iter().sum();
                assert!((total - 1.0).abs() < 1e-14, "{order} {t}");
                assert!(w[..=order].iter().all(|&w| (-1e-15..=1.0).contains(&w)), "{order} {t} {w:?}");
                // the weighted mean of the coefficients' positions is the position itself
                let middle = (order / 2) as f64;
                let mean: f64 = w[..=order].iter().enumerate().map(|(k, w)| w * (k as f64 - middle)).sum();
                assert!(order == 0 || (mean - t).abs() < 1e-14, "{order} {t} {mean}");
            }
        }
    }

    #[test]
    fn places_beyond_the_ends() {
        let of = |at, mode| folded(at, 4.0, mode, 1);
        assert_eq!(of(-1.5, Boundary::Mirror), Some(1.5));
        assert_eq!(of(5.5, Boundary::Mirror), Some(2.5));
        assert_eq!(of(-1.5, Boundary::Reflect), Some(0.5));
        assert_eq!(of(5.5, Boundary::Reflect), Some(3.5));
        assert_eq!(of(-1.5, Boundary::Wrap), Some(2.5));
        assert_eq!(of(8.0, Boundary::Wrap), Some(0.0));
        assert_eq!(of(-1.5, Boundary::GridWrap), Some(3.5));
        assert_eq!(of(1e300, Boundary::Nearest), Some(6.0));
        assert_eq!(of(-1e300, Boundary::GridConstant), None);
        assert_eq!(of(f64::INFINITY, Boundary::Constant), None);
        assert!(of(f64::NAN, Boundary::Constant).is_some_and(f64::is_nan));
        assert!(of(f64::INFINITY, Boundary::GridWrap).is_some_and(f64::is_nan));
        let index = |i, len, mode| folded_index(i, len, mode);
        assert_eq!(index(-2, 1, Boundary::Mirror), Some(0));
        assert_eq!(index(5, 4, Boundary::Reflect), Some(2));
        assert_eq!(index(-1, 4, Boundary::GridConstant), None);
    }
}
