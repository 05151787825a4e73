//! Where the extremes are.

use super::{
    super::{
        NdArray, Numpyish,
        buffer::{self, CHEAP},
        convert::{convert, is_half},
        layout,
    },
    fold::{self, BLOCK, Fold, Max, Min, is_nan},
};
use crate::{Element, Error, Ordered, Result, element::same, shape};
use std::cmp::Ordering;

/// Index of the largest element along one axis, the first of equals; the first NaN, if there is one.
pub fn argmax<T: Ordered>(_: &Numpyish, x: &NdArray<T>, axis: isize, keepdims: bool) -> Result<NdArray<i64>> {
    arg::<T, Max>("argmax", x, axis, keepdims, Ordering::Greater)
}

/// Index of the smallest element along one axis, the first of equals; the first NaN, if there is one.
pub fn argmin<T: Ordered>(_: &Numpyish, x: &NdArray<T>, axis: isize, keepdims: bool) -> Result<NdArray<i64>> {
    arg::<T, Min>("argmin", x, axis, keepdims, Ordering::Less)
}

fn arg<T: Ordered, F>(
    op: &'static str,
    x: &NdArray<T>,
    axis: isize,
    keepdims: bool,
    better: Ordering,
) -> Result<NdArray<i64>>
where
    F: Fold<f32, Acc = f32, Given = ()> + Fold<T, Acc = T, Given = ()>,
{
    let axis = shape::axis(op, axis, x.ndim())?;
    if x.shape()[axis] == 0 && x.shape().iter().enumerate().all(|(i, &d)| i == axis || d > 0) {
        return Err(Error::shape(op, x.shape(), "has no elements to choose from"));
    }
    let find = |(): &mut (), lane: &[T], out: &mut [i64]| {
        let best = if is_half::<T>() { best::<T, f32, F>(lane, better) } else { best::<T, T, F>(lane, better) };
        out[0] = best as i64;
        Ok(())
    };
    let found = layout::map_lanes(op, x, axis, 1, CHEAP, || Ok(()), find)?;
    Ok(if keepdims { found } else { found.index_axis_move(ndarray::Axis(axis), 0) })
}

/// Index of the best element of a lane that is not empty, compared in `A`.
fn best<T: Ordered, A: Ordered, F: Fold<A, Acc = A, Given = ()>>(lane: &[T], better: Ordering) -> usize {
    if lane.len() < 2 * CHEAP {
        return best_of_part::<T, A, F>(lane, better).0;
    }
    let mut parts = vec![(0, A::default()); lane.len().div_ceil(CHEAP)];
    buffer::chunks(&mut parts, 1, 1, |first, bests| {
        for (best, part) in bests.iter_mut().zip(lane[first * CHEAP..].chunks(CHEAP)) {
            *best = best_of_part::<T, A, F>(part, better);
        }
    });
    let mut best = parts[0];
    for (k, &(i, value)) in parts.iter().enumerate() {
        if beats(value, best.1, better) {
            best = (k * CHEAP + i, value);
        }
    }
    best.0
}

/// Index and value of the best element. The best of each block is found by the loop that finds a maximum; only the best
/// block is searched for it.
fn best_of_part<T: Ordered, A: Ordered, F: Fold<A, Acc = A, Given = ()>>(lane: &[T], better: Ordering) -> (usize, A) {
    let mut wide = [A::default(); BLOCK];
    let mut best = (0, A::default());
    for (k, block) in lane.chunks(BLOCK).enumerate() {
        let value = fold::block::<A, F>(values(block, &mut wide), ());
        if k == 0 || beats(value, best.1, better) {
            best = (k, value);
        }
    }
    let (k, value) = best;
    let block = values(&lane[k * BLOCK..lane.len().min((k + 1) * BLOCK)], &mut wide);
    let place = block.iter().position(|&v| if is_nan(value) { is_nan(v) } else { v == value });
    (k * BLOCK + place.unwrap_or(0), value)
}

fn values<'a, T: Element, A: Element>(from: &'a [T], wide: &'a mut [A]) -> &'a [A] {
    if let Some(ready) = same::<T, A>(from) {
        return ready;
    }
    convert(from, wide);
    &wide[..from.len()]
}

/// Whether a later value is better than the best so far; nothing beats NaN.
fn beats<A: Ordered>(value: A, best: A, better: Ordering) -> bool {
    !is_nan(best) && (is_nan(value) || value.partial_cmp(&best) == Some(better))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        f16,
        numpyish::layout::tests::{counting, layouts},
    };
    use ndarray::{ArrayD, Axis, IxDyn};

    const B: Numpyish = Numpyish::new();

    #[test]
    fn first_of_equals_in_every_layout() {
        for shape in [&[3, 4, 5][..], &[2, 3000], &[3000, 2], &[300_000], &[1, 7]] {
            let x = counting::<i32>(shape).mapv(|i| i.wrapping_mul(7919) % 1009 % 50);
            for a in layouts(&x) {
                for axis in 0..shape.len() {
                    let most = argmax(&B, &a, axis as isize, false).unwrap();
                    let least = argmin(&B, &a, axis as isize, true).unwrap().index_axis_move(Axis(axis), 0);
                    let lanes = x.lanes(Axis(axis));
                    for ((lane, most), least) in lanes.into_iter().zip(&most).zip(&least) {
                        let lane = lane.to_vec();
                        let max = lane.iter().max().unwrap();
                        assert_eq!(*most as usize, lane.iter().position(|v| v == max).unwrap());
                        let min = lane.iter().min().unwrap();
                        assert_eq!(*least as usize, lane.iter().position(|v| v == min).unwrap());
                    }
                }
            }
        }
    }

    #[test]
    fn the_first_nan_wins() {
        for n in [10, 5000, 300_000] {
            let mut x = ArrayD::from_elem(IxDyn(&[n]), f16::ONE);
            x[n / 3] = f16::INFINITY;
            x[n / 2] = f16::NAN;
            x[n - 1] = f16::NAN;
            let x = x.into_shared();
            assert_eq!(argmax(&B, &x, 0, false).unwrap()[[]], n as i64 / 2);
            assert_eq!(argmin(&B, &x, 0, false).unwrap()[[]], n as i64 / 2);
            assert_eq!(argmin(&B, &x.mapv(|v| !v.is_nan()).into_shared(), 0, false).unwrap()[[]], n as i64 / 2);
        }
    }

    #[test]
    fn nothing_to_choose_from() {
        let none = ArrayD::<f32>::zeros(IxDyn(&[0, 3])).into_shared();
        assert!(matches!(argmax(&B, &none, 0, false), Err(Error::Shape { op: "argmax", .. })));
        assert_eq!(argmax(&B, &none, 1, false).unwrap().shape(), [0]);
        assert_eq!(argmin(&B, &none, 1, true).unwrap().shape(), [0, 1]);
        assert!(matches!(argmin(&B, &none, 2, false), Err(Error::Axis { op: "argmin", .. })));
        let scalar = ArrayD::<f32>::zeros(IxDyn(&[])).into_shared();
        assert!(matches!(argmin(&B, &scalar, -1, false), Err(Error::Axis { .. })));
    }
}
