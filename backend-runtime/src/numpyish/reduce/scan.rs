//! Running sums and products, and differences.

use super::super::{
    NdArray, Numpyish,
    buffer::{self, CHEAP, Shared},
    convert::{convert, is_half, narrow},
};
use crate::{Element, Numeric, Result, shape};
use multiversion::multiversion;

/// Running sum along one axis.
pub fn cumulative_sum<T: Element>(
    _: &Numpyish,
    x: &NdArray<T>,
    axis: isize,
    include_initial: bool,
) -> Result<NdArray<T::Sum>> {
    scan::<T, Adding>("cumulative_sum", x, axis, include_initial)
}

/// Running product along one axis.
pub fn cumulative_prod<T: Element>(
    _: &Numpyish,
    x: &NdArray<T>,
    axis: isize,
    include_initial: bool,
) -> Result<NdArray<T::Sum>> {
    scan::<T, Multiplying>("cumulative_prod", x, axis, include_initial)
}

/// Differences of neighbours along one axis, `n` times.
pub fn diff<T: Numeric>(_: &Numpyish, x: &NdArray<T>, axis: isize, n: usize) -> Result<NdArray<T>> {
    let op = "diff";
    let axis = shape::axis(op, axis, x.ndim())?;
    let (left, times) = shape::differences(x.shape(), axis, n);
    if left.contains(&0) {
        return buffer::array(op, &left, Vec::new());
    }
    let mut shape = x.shape().to_vec();
    let mut current = x.clone();
    for _ in 0..times {
        let inner: usize = shape[axis + 1..].iter().product();
        let from = buffer::packed(op, &current)?;
        let before = shape[axis] * inner;
        shape[axis] -= 1;
        let after = shape[axis] * inner;
        let mut out = buffer::zeroed(op, shape::count(op, &shape, size_of::<T>())?)?;
        // along the axis, an element and its neighbour are `inner` apart
        buffer::chunks(&mut out, after, CHEAP, |start, part| {
            for (k, to) in part.chunks_mut(after.max(1)).enumerate() {
                let slab = &from[(start / after + k) * before..][..before];
                subtract(&slab[inner..], slab, to);
            }
        });
        drop(from);
        current = buffer::array(op, &shape, out)?;
    }
    Ok(current)
}

#[multiversion(targets("x86_64+avx2+fma"))]
fn subtract<T: Numeric>(x: &[T], y: &[T], out: &mut [T]) {
    for ((o, x), y) in out.iter_mut().zip(x).zip(y) {
        *o = x.minus(*y);
    }
}

/// What is done to neighbours.
trait Step: 'static {
    fn none<A: Numeric>() -> A;
    fn step<A: Numeric>(acc: A, x: A) -> A;
}

struct Adding;

impl Step for Adding {
    #[inline(always)]
    fn none<A: Numeric>() -> A {
        A::ZERO
    }

    #[inline(always)]
    fn step<A: Numeric>(acc: A, x: A) -> A {
        acc.plus(x)
    }
}

struct Multiplying;

impl Step for Multiplying {
    #[inline(always)]
    fn none<A: Numeric>() -> A {
        A::ONE
    }

    #[inline(always)]
    fn step<A: Numeric>(acc: A, x: A) -> A {
        acc.times(x)
    }
}

fn scan<T: Element, F: Step>(
    op: &'static str,
    x: &NdArray<T>,
    axis: isize,
    include_initial: bool,
) -> Result<NdArray<T::Sum>> {
    if is_half::<T>() {
        scan_in::<T, f32, F>(op, x, axis, include_initial)
    } else {
        scan_in::<T, T::Sum, F>(op, x, axis, include_initial)
    }
}

/// Columns of a tile: their running values stay in the first-level cache.
const TILE: usize = 512;

/// Scans in `A`. With axes after the scanned one, whole rows are added to one another.
fn scan_in<T: Element, A: Numeric, F: Step>(
    op: &'static str,
    x: &NdArray<T>,
    axis: isize,
    include_initial: bool,
) -> Result<NdArray<T::Sum>> {
    let axis = shape::axis(op, axis, x.ndim())?;
    let mut shape = x.shape().to_vec();
    let len = shape[axis];
    let inner: usize = shape[axis + 1..].iter().product();
    let initial = include_initial as usize;
    shape[axis] = len.checked_add(initial).unwrap_or(len);
    let mut out = buffer::zeroed::<T::Sum>(op, shape::count(op, &shape, size_of::<T::Sum>())?)?;
    if out.is_empty() {
        return buffer::array(op, &shape, out);
    }
    let from = buffer::packed(op, x)?;
    let (before, after) = (len * inner, (len + initial) * inner);
    let slabs = out.len() / after;
    let tiles = inner.div_ceil(TILE);
    let shared = Shared::new(&mut out);
    buffer::parallel(slabs * tiles, CHEAP / (before / tiles).max(1), |range| {
        let mut acc = [A::ZERO; TILE];
        let mut wide = [A::ZERO; TILE];
        for task in range {
            let (slab, tile) = (task / tiles, task % tiles);
            let columns = tile * TILE..inner.min((tile + 1) * TILE);
            let width = columns.len();
            let from = &from[slab * before..][..before];
            // SAFETY: a task writes its own columns of its own slab.
            let row = |r: usize| unsafe {
                shared.part(slab * after + r * inner + columns.start..slab * after + r * inner + columns.end)
            };
            if inner == 1 {
                // SAFETY: as above.
                let to = unsafe { shared.part(slab * after..(slab + 1) * after) };
                to[..initial].fill(F::none());
                scan_lane::<T, A, F>(from, &mut to[initial..], &mut wide);
                continue;
            }
            acc.fill(F::none());
            if include_initial {
                row(0).fill(F::none());
            }
            for r in 0..len {
                convert(&from[r * inner + columns.start..][..width], &mut wide[..width]);
                step_row::<A, F>(&mut acc[..width], &wide);
                narrow(&acc[..width], row(r + initial));
            }
        }
    });
    drop(from);
    buffer::array(op, &shape, out)
}

#[multiversion(targets("x86_64+avx2+fma"))]
fn step_row<A: Numeric, F: Step>(acc: &mut [A], x: &[A]) {
    for (a, &v) in acc.iter_mut().zip(x) {
        *a = F::step(*a, v);
    }
}

/// Scans one lane, a block at a time.
fn scan_lane<T: Element, A: Numeric, F: Step>(from: &[T], to: &mut [impl Element], wide: &mut [A; TILE]) {
    let mut carry = F::none();
    for (from, to) in from.chunks(TILE).zip(to.chunks_mut(TILE)) {
        let wide = &mut wide[..from.len()];
        convert(from, wide);
        carry = scan_block::<A, F>(wide, carry);
        narrow(wide, to);
    }
}

/// Scans a block in place, from the value `carry` on, and gives the last value. Four quarters are scanned side by side,
/// which hides the latency of the additions; then what comes before each is added to it.
#[multiversion(targets("x86_64+avx2+fma"))]
fn scan_block<A: Numeric, F: Step>(x: &mut [A], carry: A) -> A {
    let quarter = x.len() / 4;
    let mut last = [F::none(); 4];
    {
        let (a, rest) = x.split_at_mut(quarter);
        let (b, rest) = rest.split_at_mut(quarter);
        let (c, d) = rest.split_at_mut(quarter);
        for (((a, b), c), d) in a.iter_mut().zip(b).zip(c).zip(d) {
            last = [F::step(last[0], *a), F::step(last[1], *b), F::step(last[2], *c), F::step(last[3], *d)];
            [*a, *b, *c, *d] = last;
        }
    }
    let mut before = carry;
    for (k, &end) in last.iter().enumerate() {
        x[k * quarter..(k + 1) * quarter].iter_mut().for_each(|v| *v = F::step(before, *v));
        before = F::step(before, end);
    }
    for v in &mut x[4 * quarter..] {
        before = F::step(before, *v);
        *v = before;
    }
    before
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Complex, bf16,
        numpyish::layout::tests::{counting, layouts},
    };
    use ndarray::{ArrayD, Axis, IxDyn, Slice};

    const B: Numpyish = Numpyish::new();

    #[test]
    fn running_sums_of_every_layout() {
        for shape in [&[3, 4, 5][..], &[2, 1200], &[1200, 3], &[7, 1000], &[300_001], &[700, 2, 300]] {
            let x = counting::<i32>(shape).mapv(|i| i.wrapping_mul(7919) % 101 - 50);
            let all = if x.len() > 100_000 { vec![x.clone().into_shared()] } else { layouts(&x) };
            for a in all {
                for axis in 0..shape.len() {
                    let mut expected = x.mapv(i64::from);
                    expected.accumulate_axis_inplace(Axis(axis), |&before, v| *v += before);
                    assert_eq!(cumulative_sum(&B, &a, axis as isize, false).unwrap(), expected);
                    let with = cumulative_sum(&B, &a, axis as isize, true).unwrap();
                    assert_eq!(with.slice_axis(Axis(axis), Slice::from(1..)), expected);
                    assert!(with.index_axis(Axis(axis), 0).iter().all(|&v| v == 0));
                    let mut expected = x.mapv(i64::from);
                    expected.accumulate_axis_inplace(Axis(axis), |&before, v| *v = v.wrapping_mul(before));
                    assert_eq!(cumulative_prod(&B, &a, axis as isize, false).unwrap(), expected);
                }
            }
        }
    }

    #[test]
    fn running_sums_of_other_dtypes() {
        let ones = ArrayD::from_elem(IxDyn(&[1000]), bf16::ONE).into_shared();
        let s = cumulative_sum(&B, &ones, 0, false).unwrap();
        assert_eq!(s[[999]], bf16::from_f32(1000.0), "summed in bf16 it would stay at 256");
        let z = ArrayD::from_elem(IxDyn(&[3, 2]), Complex::new(0.0_f32, 1.0)).into_shared();
        let p = cumulative_prod(&B, &z, 0, true).unwrap();
        assert_eq!(p[[3, 1]], Complex::new(0.0, -1.0));
        let flags = ArrayD::from_elem(IxDyn(&[5]), true).into_shared();
        assert_eq!(cumulative_sum(&B, &flags, 0, false).unwrap()[[4]], 5_i64);
        assert_eq!(
            cumulative_sum(&B, &ArrayD::from_elem(IxDyn(&[300]), 255_u8).into_shared(), 0, false).unwrap()[[299]],
            76_500_u64
        );
    }

    #[test]
    fn empty_and_wrong() {
        let none = ArrayD::<f64>::zeros(IxDyn(&[0, 3])).into_shared();
        assert_eq!(cumulative_sum(&B, &none, 0, false).unwrap().shape(), [0, 3]);
        assert_eq!(cumulative_prod(&B, &none, 0, true).unwrap(), ArrayD::ones(IxDyn(&[1, 3])));
        assert_eq!(cumulative_prod(&B, &none, 1, true).unwrap().shape(), [0, 4]);
        let scalar = ArrayD::<f64>::zeros(IxDyn(&[])).into_shared();
        assert_eq!(cumulative_sum(&B, &scalar, -1, false).unwrap_err().op(), Some("cumulative_sum"));
        assert_eq!(diff(&B, &scalar, -1, 1).unwrap_err().op(), Some("diff"));
    }

    #[test]
    fn differences() {
        for shape in [&[3, 4, 5][..], &[2, 9], &[9], &[600, 300]] {
            let x = counting::<u16>(shape).mapv(|i| i.wrapping_mul(7919));
            for a in layouts(&x) {
                for axis in 0..shape.len() {
                    for n in 0..4 {
                        let mut expected = x.clone();
                        for _ in 0..n.min(shape[axis]) {
                            let low = expected.slice_axis(Axis(axis), Slice::from(..-1)).to_owned();
                            let high = expected.slice_axis(Axis(axis), Slice::from(1..)).to_owned();
                            expected = ndarray::Zip::from(&high).and(&low).map_collect(|h, l| h.wrapping_sub(*l));
                        }
                        assert_eq!(diff(&B, &a, axis as isize, n).unwrap(), expected, "{shape:?} {axis} {n}");
                    }
                }
            }
        }
        let x = counting::<f64>(&[4]).into_shared();
        assert_eq!(diff(&B, &x, 0, usize::MAX).unwrap().shape(), [0]);
        let wide = ArrayD::<u32>::zeros(IxDyn(&[0, 1 << 48])).into_shared();
        assert_eq!(diff(&B, &wide, 1, 8_589_934_593).unwrap().shape(), [0, (1 << 48) - 8_589_934_593]);
    }
}
