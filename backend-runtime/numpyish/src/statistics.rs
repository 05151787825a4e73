//! Ops that count elements: `histogram` and `bincount`. If there are many more elements than counters, each task counts
//! a range of the elements with separate counters, which are then added up.

use super::{
    OpContext,
    buffer::{self, Buffer},
    convert::reals_to_f64,
    copy::{self, Packed},
    creation, indexing,
    parallel::{self, CHEAP, Shared},
    raw::{RawArray, View},
    reduction,
};
use backend_core::{Axes, DType, Element, Real, Result, dispatch, raw::RawElement, rules};
use std::{
    ops::Range,
    sync::{Mutex, OnceLock, PoisonError},
};

/// Returns the number of elements in each bin, and the edges of the bins.
pub fn histogram(
    on: OpContext<'_>,
    x: View<'_>,
    bins: usize,
    low: Option<f64>,
    high: Option<f64>,
    edges: Option<View<'_>>,
) -> Result<[RawArray; 2]> {
    let OpContext { op, dtype, .. } = on;
    let edges = match edges {
        Some(edges) => {
            rules::bin_edges(op, edges.shape)?;
            copy::to_raw(op, edges)?
        }
        None => {
            let (count, low, high) = rules::bin_range(op, dtype, bins, (low, high), || {
                if x.len() == 0 {
                    return Ok(None);
                }
                let least = numbers(op, &reduction::min_of(x.into(), Axes::All, false)?)?;
                let most = numbers(op, &reduction::max_of(x.into(), Axes::All, false)?)?;
                Ok(least.first().copied().zip(most.first().copied()))
            })?;
            let [low, high] = [low, high].map(|end| RawElement::of(end).to(dtype));
            creation::linspace(on, low, high, count, true)?
        }
    };
    let bins = Bins::new(op, numbers(op, &edges)?)?;
    let counts = dispatch!(dtype, T: [Float16, BFloat16, Float32, Float64] => binned::<T>(op, x, &bins))?;
    Ok([counts, edges])
}

/// Returns the elements of an array in C order, whose dtype is a real float, as `f64`.
fn numbers(op: &'static str, x: &RawArray) -> Result<Vec<f64>> {
    let strides = x.strides();
    let x = x.view(&strides);
    // SAFETY: the array has this number of elements of its dtype, without gaps.
    unsafe { reals_to_f64(op, x.dtype, x.start, x.len()) }
}

/// Returns the number of elements in each bin. `T` is the type of the elements.
fn binned<T: Real>(op: &'static str, x: View<'_>, bins: &Bins) -> Result<RawArray> {
    let counts = counted(op, x, bins.edges.len() - 1, |x: &[T], counts| {
        for x in x {
            if let Some(bin) = bins.of(x.to_f64()) {
                counts[bin] += 1;
            }
        }
    })?;
    RawArray::from_vec(op, vec![counts.len()], counts)
}

/// The bins of a histogram, stored as their ascending edges.
struct Bins {
    edges: Vec<f64>,
    /// Average number of bins per unit of the elements' values.
    density: f64,
}

impl Bins {
    fn new(op: &'static str, edges: Vec<f64>) -> Result<Bins> {
        if !edges.is_sorted() {
            return Err(rules::not_ascending(op));
        }
        let last = edges.len() - 1;
        let density = last as f64 / (edges[last] - edges[0]);
        Ok(Bins { edges, density })
    }

    /// Index of the bin that contains `x`, or `None` if `x` is outside the edges. Guesses the bin as if all bins had
    /// the same width, and does a binary search if the guess is wrong.
    #[inline(always)]
    fn of(&self, x: f64) -> Option<usize> {
        let (edges, last) = (&self.edges[..], self.edges.len() - 2);
        if !(edges[0] <= x && x <= edges[last + 1]) {
            return None;
        }
        if x == edges[last + 1] {
            return Some(last);
        }
        let guess = (((x - edges[0]) * self.density) as usize).min(last);
        if edges[guess] <= x && x < edges[guess + 1] {
            return Some(guess);
        }
        Some(edges.partition_point(|&edge| edge <= x) - 1)
    }
}

/// Returns, for each integer from 0 on, how often it occurs in `x`. If weights are given, returns the sum of the
/// weights of all occurrences instead.
pub fn bincount(on: OpContext<'_>, x: View<'_>, weights: Option<View<'_>>, minlength: usize) -> Result<RawArray> {
    let OpContext { op, dtype, .. } = on;
    let n = rules::counted_numbers(op, x.shape, weights.map(|weights| weights.shape))?;
    let ends = if n > 0 { Some(ends(op, x)?) } else { None };
    let len = rules::counted_places(op, ends, minlength, dtype.size())?;
    if let Some(weights) = weights {
        let zeros = Buffer::zeroed(op, len, dtype)?;
        let start = View { start: zeros.start(), dtype, shape: &[len], strides: &[1] };
        return indexing::scatter_add(on, start, x, weights, 0);
    }
    let counts = counted(op, x, len, |x: &[i64], counts| {
        for &x in x {
            counts[x as usize] += 1;
        }
    })?;
    if dtype == DType::Int64 {
        return RawArray::from_vec(op, vec![len], counts);
    }
    dispatch!(dtype, T: [
        Int8, Int16, Int32, UInt8, UInt16, UInt32, UInt64,
        Float16, BFloat16, Float32, Float64, Complex64, Complex128
    ] => converted::<T>(op, &counts))
}

/// Converts counts to the type `T`.
fn converted<T: Element>(op: &'static str, counts: &[i64]) -> Result<RawArray> {
    let mut all = buffer::zeros::<T>(op, counts.len())?;
    let shared = Shared::new(&mut all);
    parallel::parallel(counts.len(), CHEAP, |range| {
        // SAFETY: each task has its own range.
        let part = unsafe { shared.part(range.clone()) };
        part.iter_mut().zip(&counts[range]).for_each(|(to, &count)| *to = count.cast());
    });
    RawArray::from_vec(op, vec![counts.len()], all)
}

/// Returns the minimum and the maximum of a non-empty array.
fn ends(op: &'static str, x: View<'_>) -> Result<(i64, i64)> {
    let packed = copy::pack(op, x)?;
    // SAFETY: `packed` has the elements of `x`, which are of type `i64`.
    let numbers = unsafe { packed.slice::<i64>(x.len()) };
    let all = Mutex::new((i64::MAX, i64::MIN));
    parallel::parallel(numbers.len(), CHEAP, |range| {
        let part = &numbers[range];
        let (least, most) = part.iter().fold((i64::MAX, i64::MIN), |(least, most), &x| (least.min(x), most.max(x)));
        let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
        *all = (all.0.min(least), all.1.max(most));
    });
    Ok(all.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// Counts elements with `places` counters. `count` gets a slice of the elements and increments the counters. Each task
/// has separate counters if adding them up costs little compared to counting.
fn counted<T: Element>(
    op: &'static str,
    x: View<'_>,
    places: usize,
    count: impl Fn(&[T], &mut [i64]) + Sync,
) -> Result<Vec<i64>> {
    let packed: Packed<'_> = copy::pack(op, x)?;
    // SAFETY: `packed` has the elements of `x`, which are of type `T`.
    let elements = unsafe { packed.slice::<T>(x.len()) };
    let mut all = buffer::zeros::<i64>(op, places)?;
    let grain = CHEAP.max(places.saturating_mul(8));
    if elements.len() < 2 * grain {
        count(elements, &mut all);
    } else {
        let (sums, failed) = (Mutex::new(&mut all), OnceLock::new());
        parallel::parallel(elements.len(), grain, |range: Range<usize>| match buffer::zeros::<i64>(op, places) {
            Ok(mut own) => {
                count(&elements[range], &mut own);
                let mut sums = sums.lock().unwrap_or_else(PoisonError::into_inner);
                sums.iter_mut().zip(&own).for_each(|(sum, own)| *sum += own);
            }
            Err(e) => _ = failed.set(e),
        });
        if let Some(e) = failed.into_inner() {
            return Err(e);
        }
    }
    Ok(all)
}

/// The ops over arrays with a static dtype, for tests.
#[cfg(any(test, feature = "testing"))]
#[allow(missing_docs)] // each function is the op of its name
pub mod typed {
    use crate::statistics;
    use backend_core::{
        Element, Numeric, Real, Result,
        numpyish::{NdArray, Numpyish, OpContext, raw::view, typed::typed},
    };

    pub fn histogram<T: Real>(
        b: &Numpyish,
        x: &NdArray<T>,
        bins: usize,
        low: Option<f64>,
        high: Option<f64>,
        edges: Option<&NdArray<T>>,
    ) -> Result<(NdArray<i64>, NdArray<T>)> {
        let on = OpContext::new(b, "histogram", <T as Element>::DTYPE);
        let [counts, edges] = statistics::histogram(on, view(x), bins, low, high, edges.map(view))?;
        Ok((typed(Ok(counts))?, typed(Ok(edges))?))
    }

    pub fn bincount<T: Numeric>(
        b: &Numpyish,
        x: &NdArray<i64>,
        weights: Option<&NdArray<T>>,
        minlength: usize,
    ) -> Result<NdArray<T>> {
        let on = OpContext::new(b, "bincount", <T as Element>::DTYPE);
        typed(statistics::bincount(on, view(x), weights.map(view), minlength))
    }
}

#[cfg(test)]
mod tests {
    use super::typed::{bincount, histogram};
    use backend_core::numpyish::{NdArray, Numpyish, testing::Dice};
    use ndarray::{ArrayD, IxDyn};

    fn list<T: Copy>(x: &NdArray<T>) -> Vec<T> {
        x.iter().copied().collect()
    }

    /// Counts the elements in each bin by comparing each element with every edge.
    fn compared(x: &[f64], edges: &[f64]) -> Vec<i64> {
        let last = edges.len() - 2;
        let is_in = |x: f64, bin: usize| {
            edges[bin] <= x
                && (x < edges[bin + 1] || x == edges[last + 1] && bin == last)
                && (x != edges[last + 1] || bin == last)
        };
        (0..=last).map(|bin| x.iter().filter(|x| is_in(**x, bin)).count() as i64).collect()
    }

    #[test]
    fn bins_are_those_between_edges() {
        let mut dice = Dice(9);
        for n in [1, 10, 1000, 300_000] {
            let x: Vec<f64> =
                (0..n).map(|_| dice.below(4000) as f64 / 1000.0 - 1.0).chain([f64::NAN, f64::INFINITY]).collect();
            let array = ArrayD::from_shape_vec(IxDyn(&[x.len()]), x.clone()).unwrap().into_shared();
            for bins in [1, 7, 100] {
                let (counts, edges) = histogram(&Numpyish::new(), &array, bins, Some(-0.7), Some(2.9), None).unwrap();
                assert_eq!(list(&counts), compared(&x, &list(&edges)));
            }
            for edges in
                [vec![0.0, 0.0, 1.0, 1.0], vec![f64::NEG_INFINITY, 0.5, f64::INFINITY], vec![-1.0, -0.99, -0.98, 2.0]]
            {
                let given = ArrayD::from_shape_vec(IxDyn(&[edges.len()]), edges.clone()).unwrap().into_shared();
                let (counts, _) = histogram(&Numpyish::new(), &array, 10, None, None, Some(&given)).unwrap();
                assert_eq!(list(&counts), compared(&x, &edges));
            }
        }
    }

    #[test]
    fn numbers_are_counted_by_every_thread() {
        let x = ArrayD::from_shape_fn(IxDyn(&[500_000]), |i| (i[0] * i[0] % 1013) as i64).into_shared();
        let counts: NdArray<i64> = bincount(&Numpyish::new(), &x, None, 0).unwrap();
        let mut expected = vec![0; counts.len()];
        x.iter().for_each(|&x| expected[x as usize] += 1);
        assert_eq!(list(&counts), expected);
    }
}
