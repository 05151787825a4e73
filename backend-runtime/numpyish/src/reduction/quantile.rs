//! `quantile`: quantiles by partial sorting, with interpolation between neighbouring elements.

use super::super::{
    OpContext,
    buffer::{self},
    convert::{computed_in, convert, reals_from_f64, reals_to_f64},
    copy,
    layout::{self, LaneFn, LaneFormat},
    parallel::COSTLY,
    raw::{RawArray, View},
    simd::versions,
    sorting::Sortable,
};
use backend_core::{Axes, DType, Interpolation, Precision, Result, rules};

/// Quantiles over axes. The axes of `q` are the first axes of the result.
pub fn quantile(
    _: OpContext<'_>,
    x: View<'_>,
    q: View<'_>,
    axis: Axes,
    method: Interpolation,
    keepdims: bool,
) -> Result<RawArray> {
    if computed_in(x.dtype) == DType::Float64 {
        quantiles_in::<f64>(x, q, axis, method, keepdims)
    } else {
        quantiles_in::<f32>(x, q, axis, method, keepdims)
    }
}

/// Computes quantiles in the precision `A`.
fn quantiles_in<A: Ranked>(
    x: View<'_>,
    q: View<'_>,
    axis: Axes,
    method: Interpolation,
    keepdims: bool,
) -> Result<RawArray> {
    let op = "quantile";
    let axes = rules::reduction(op, axis, x.shape.len())?;
    let n = axes.iter().map(|&a| x.shape[a]).product::<usize>();
    // SAFETY: the packed copy has `q.len()` elements.
    let qs = unsafe { reals_to_f64(op, q.dtype, copy::pack(op, q)?.start(), q.len())? };
    if qs.iter().any(|q| !(0.0..=1.0).contains(q)) {
        return Err(rules::quantile_range(op));
    }
    rules::require_elements(op, x.shape, &axes)?;
    let kept: Vec<usize> = (0..x.shape.len()).filter(|a| !axes.contains(a)).collect();
    let kept_shape: Vec<usize> = kept.iter().map(|&a| x.shape[a]).collect();
    let mut result_shape = q.shape.to_vec();
    result_shape.extend(rules::reduced(x.shape, &axes, keepdims));
    let mut places: Vec<Place<A>> = buffer::vec(op, qs.len())?;
    places.extend(qs.iter().map(|&q| Place::of(q, n, method)));
    let mut needed: Vec<usize> = buffer::vec(op, 2 * qs.len())?;
    needed.extend(places.iter().flat_map(|p| [p.low, p.high]));
    needed.sort_unstable();
    needed.dedup();

    let new = || -> Result<LaneFn<'_>> {
        let mut ranks = buffer::vec::<A::Rank>(op, n)?;
        let (places, needed) = (&places, &needed);
        Ok(Box::new(move |lane, out| {
            // SAFETY: the lane has `n` elements, `ranks` has room for `n` ranks, and `out` has room for one result per
            // [`Place`]. A number is converted into the memory of its rank, which has the same size.
            unsafe {
                convert(x.dtype, A::DTYPE, lane, ranks.as_mut_ptr().cast(), n);
                let nan = rank::<A>(ranks.as_mut_ptr(), n);
                ranks.set_len(n);
                if nan || n == 0 {
                    reals_from_f64(x.dtype, places.iter().map(|_| f64::NAN), out);
                } else {
                    select(&mut ranks, needed, 0);
                    let value = |place: usize| A::ranked(ranks[place]);
                    let between = places.iter().map(|p| p.between(value(p.low), value(p.high)).to_f64());
                    reals_from_f64(x.dtype, between, out);
                }
            }
            Ok(())
        }))
    };
    // puts the kept axes first, and then the reduced axes, which become one axis of `lanes`
    let order: Vec<usize> = kept.iter().chain(&axes).copied().collect();
    let moved_shape: Vec<usize> = order.iter().map(|&k| x.shape[k]).collect();
    let moved_strides: Vec<isize> = order.iter().map(|&k| x.strides[k]).collect();
    let moved = View { shape: &moved_shape, strides: &moved_strides, ..x };
    let packed = if axes.len() == 1 { copy::Packed::Borrowed(moved) } else { copy::pack(op, moved)? };
    let mut lanes_shape = kept_shape;
    lanes_shape.push(n);
    let packed_strides = rules::c_strides(&lanes_shape);
    let strides = if axes.len() == 1 { &moved_strides } else { &packed_strides };
    let lanes = View { start: packed.start(), dtype: x.dtype, shape: &lanes_shape, strides };
    let out = LaneFormat { dtype: x.dtype, len: places.len() };
    // SAFETY: the function reads a lane of `n` elements and writes one result for each place.
    let found = unsafe { layout::map_lanes(op, lanes, kept.len(), out, COSTLY, &new)? };
    // moves the axis of the quantiles to the front
    let mut first: Vec<usize> = vec![kept.len()];
    first.extend(0..kept.len());
    let found = found.permuted(&first);
    let values = copy::to_buffer(op, found.view(&found.strides()))?;
    // SAFETY: every element has been written.
    unsafe { RawArray::new(op, result_shape, values) }
}

/// Position of a quantile between two elements of the sorted lane.
struct Place<A> {
    low: usize,
    high: usize,
    /// Position between `low` and `high`, from 0 to 1, or `None` if the quantile is exactly the element `low`.
    part: Option<A>,
}

impl<A: Precision> Place<A> {
    fn of(q: f64, n: usize, method: Interpolation) -> Place<A> {
        let last = n.saturating_sub(1);
        let exact = q * last as f64;
        // the position is rounded as in NumPy: quantile 0.3 of eleven elements must be the fourth, also in `f32`
        let index = if last < 1 << 24 { A::of(exact).to_f64() } else { exact };
        let (floor, ceil) = (index.floor(), index.ceil());
        let (low, part) = match method {
            Interpolation::Linear => (floor, index - floor),
            Interpolation::Midpoint => (floor, if floor == ceil { 0.0 } else { 0.5 }),
            Interpolation::Lower => return Place::at(floor as usize),
            Interpolation::Higher => return Place::at((ceil as usize).min(last)),
            Interpolation::Nearest => return Place::at(index.round_ties_even() as usize),
        };
        let low = (low as usize).min(last);
        Place { low, high: (low + 1).min(last), part: Some(A::of(part)) }
    }

    fn at(index: usize) -> Place<A> {
        Place { low: index, high: index, part: None }
    }

    /// Interpolates from the nearer of `low` and `high`, so that the results at both ends are exact.
    fn between(&self, low: A, high: A) -> A {
        let Some(part) = self.part else { return low };
        let step = high - low;
        if !step.is_finite() {
            return between_ends(low, high, part);
        }
        if part >= A::of(0.5) { high - step * (A::ONE - part) } else { low + step * part }
    }
}

/// Interpolates between values whose difference is not finite: a value is infinite, or both values are large and have
/// opposite signs.
#[cold]
fn between_ends<A: Precision>(low: A, high: A, part: A) -> A {
    if part == A::ZERO || low == high {
        return low;
    }
    if part == A::ONE { high } else { low * (A::ONE - part) + high * part }
}

/// A float type whose numbers can be mapped to integers of the same order. Two integers are compared in one
/// instruction. -0.0 is less than 0.0 in this order.
trait Ranked: Precision {
    /// The integer type, as wide as the float.
    type Rank: Sortable;
    /// The rank of a number.
    fn rank(self) -> Self::Rank;
    /// The number that has this rank.
    fn ranked(rank: Self::Rank) -> Self;
}

macro_rules! ranked {
    ($($float:ident $unsigned:ident $signed:ident)*) => {$(
        impl Ranked for $float {
            type Rank = $unsigned;

            #[inline(always)]
            fn rank(self) -> $unsigned {
                let bits = self.to_bits();
                // flips all bits of a negative number, and the sign bit of any other number
                bits ^ ((bits as $signed >> ($signed::BITS - 1)) as $unsigned | 1 << ($unsigned::BITS - 1))
            }

            #[inline(always)]
            fn ranked(rank: $unsigned) -> $float {
                let bits = ((!rank) as $signed >> ($signed::BITS - 1)) as $unsigned | 1 << ($unsigned::BITS - 1);
                $float::from_bits(rank ^ bits)
            }
        }
    )*};
}
ranked!(f32 u32 i32 f64 u64 i64);

versions! {
    /// Replaces `n` numbers by their ranks, and returns whether any of them is NaN.
    unsafe fn rank[A: Ranked][A](x: *mut A::Rank, n: usize) -> bool {
        let mut nan = false;
        for i in 0..n {
            // SAFETY: there are `n` numbers, which are as wide as their ranks.
            unsafe {
                let number = x.add(i).cast::<A>().read();
                nan |= number.is_nan();
                x.add(i).write(number.rank());
            }
        }
        nan
    }
}

/// Reorders a slice: each index in `indices` gets the element that it would have in the sorted slice. `indices` is
/// sorted, and the index `first` means the first element of the slice.
fn select<K: Sortable>(x: &mut [K], indices: &[usize], first: usize) {
    let Some(&index) = indices.get(indices.len() / 2) else {
        return;
    };
    let (low, high) = indices.split_at(indices.len() / 2);
    let k = index - first;
    K::select(x, k);
    select(&mut x[..k], low, first);
    select(&mut x[k + 1..], &high[1..], index + 1);
}

#[cfg(test)]
mod tests {
    use super::{super::typed::quantile, *};
    use backend_core::{
        Error, f16,
        numpyish::{
            NdArray, Numpyish,
            testing::{counting, layouts},
        },
    };
    use ndarray::{ArrayD, IxDyn, arr0, arr1};

    const B: Numpyish = Numpyish::new();

    fn q(values: &[f64]) -> NdArray<f64> {
        arr1(values).into_dyn().into_shared()
    }

    #[test]
    fn every_layout_axis_and_method() {
        let x = counting::<f64>(&[5, 6, 7]).mapv(|v| (v * 7919.0) % 211.0);
        let qs = [0.0, 0.25, 0.3, 0.5, 0.77, 1.0];
        for a in layouts(&x) {
            for axes in [&[0][..], &[1], &[2], &[0, 2], &[1, 0], &[0, 1, 2]] {
                let n: usize = axes.iter().map(|&i: &isize| x.shape()[i as usize]).product();
                let got = quantile(&B, &a, &q(&qs), Axes::from(axes), Interpolation::Linear, false).unwrap();
                let mut sorted = x.clone();
                // the reference result sorts each lane
                sorted = sorted.permuted_axes(
                    (0..3)
                        .filter(|i| !axes.contains(&(*i as isize)))
                        .chain(axes.iter().map(|&i| i as usize))
                        .collect::<Vec<_>>(),
                );
                let mut flat: Vec<f64> = sorted.iter().copied().take(n).collect();
                flat.sort_by(f64::total_cmp);
                for (k, &p) in qs.iter().enumerate() {
                    let at = p * (n - 1) as f64;
                    let (low, high) = (flat[at.floor() as usize], flat[at.ceil() as usize]);
                    let expected = low + (high - low) * at.fract();
                    let first = *got.index_axis(ndarray::Axis(0), k).iter().next().unwrap();
                    assert!((first - expected).abs() < 1e-12, "{axes:?} {p}");
                }
            }
        }
    }

    #[test]
    fn ranks_have_the_order_of_the_numbers() {
        fn check<A: Ranked>(numbers: &[f64]) {
            let numbers: Vec<A> = numbers.iter().map(|&x| A::of(x)).collect();
            assert!(numbers.windows(2).all(|pair| pair[0].rank() < pair[1].rank()), "{numbers:?}");
            assert!(numbers.iter().all(|x| format!("{x:?}") == format!("{:?}", A::ranked(x.rank()))));
        }
        let ordered = [f64::NEG_INFINITY, -1e30, -1.5, -1e-44, -0.0, 0.0, 1e-44, 1.0, 1e30, f64::INFINITY];
        check::<f64>(&ordered);
        check::<f32>(&ordered);
    }

    #[test]
    fn methods_and_shapes() {
        let x = q(&[3.0, 1.0, 2.0, 4.0]);
        let run = |method| {
            quantile(&B, &x, &q(&[0.5, 0.4]), Axes::All, method, false).unwrap().iter().copied().collect::<Vec<_>>()
        };
        assert_eq!(run(Interpolation::Lower), [2.0, 2.0]);
        assert_eq!(run(Interpolation::Higher), [3.0, 3.0]);
        assert_eq!(run(Interpolation::Midpoint), [2.5, 2.5]);
        assert_eq!(run(Interpolation::Nearest), [3.0, 2.0], "1.5 goes to the even index, 2");
        let two = arr0(0.5).into_dyn().into_shared();
        assert_eq!(quantile(&B, &x, &two, Axes::All, Interpolation::Linear, true).unwrap().shape(), [1]);
        let grid = ArrayD::from_elem(IxDyn(&[2, 3]), 0.1).into_shared();
        let m = counting::<f64>(&[4, 5]).into_shared();
        assert_eq!(quantile(&B, &m, &grid, Axes::from(0), Interpolation::Linear, true).unwrap().shape(), [2, 3, 1, 5]);
    }

    #[test]
    fn single_precision_rounds_the_place_as_numpy_does() {
        let x = counting::<f32>(&[11]).into_shared();
        let at = arr1(&[0.3_f32]).into_dyn().into_shared();
        assert_eq!(quantile(&B, &x, &at, Axes::All, Interpolation::Higher, false).unwrap()[[0]], 3.0);
        let half = counting::<f16>(&[4001]).mapv(|v| v / f16::from_f32(2.0)).into_shared();
        let middle = arr1(&[f16::from_f32(0.5)]).into_dyn().into_shared();
        assert_eq!(
            quantile(&B, &half, &middle, Axes::All, Interpolation::Linear, false).unwrap()[[0]].to_f32(),
            1000.0
        );
    }

    #[test]
    fn nan_empty_and_wrong() {
        let x = q(&[1.0, f64::NAN, 2.0]);
        assert!(quantile(&B, &x, &q(&[0.0]), Axes::All, Interpolation::Lower, false).unwrap()[[0]].is_nan());
        for bad in [-0.1, 1.5, f64::NAN] {
            let r = quantile(&B, &x, &q(&[0.5, bad]), Axes::All, Interpolation::Linear, false);
            assert!(matches!(r, Err(Error::Argument { op: "quantile", .. })));
        }
        let none = ArrayD::<f64>::zeros(IxDyn(&[0, 3])).into_shared();
        assert!(matches!(
            quantile(&B, &none, &q(&[0.5]), Axes::from(0), Interpolation::Linear, false),
            Err(Error::Shape { .. })
        ));
        assert_eq!(
            quantile(&B, &none, &q(&[0.5]), Axes::from(1), Interpolation::Linear, false).unwrap().shape(),
            [1, 0]
        );
        assert_eq!(quantile(&B, &x, &q(&[]), Axes::All, Interpolation::Linear, false).unwrap().shape(), [0]);
        assert!(quantile(&B, &x, &q(&[0.5]), Axes::from(1), Interpolation::Linear, false).is_err());
        let infinite = q(&[f64::NEG_INFINITY, f64::INFINITY]);
        assert_eq!(
            quantile(&B, &infinite, &q(&[0.0]), Axes::All, Interpolation::Lower, false).unwrap()[[0]],
            f64::NEG_INFINITY
        );
    }
}
