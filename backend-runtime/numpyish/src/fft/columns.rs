//! Fourier transforms of several complex lanes at a time, along an axis that is not the last one. A lane is a 1-D slice
//! along the axis.

use super::{
    super::{
        buffer,
        layout::{self, Dim, Offsets, Target},
        parallel::COSTLY,
    },
    engine::Engine,
    stockham::{Kernel, Points, StockhamPlan, Turns},
};
use backend_core::Result;
use std::{ops::Range, sync::Arc};

/// Size of a cache line in bytes.
pub const LINE: usize = 64;

/// Memory of the size and the alignment of a cache line.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub struct Line([u8; LINE]);

/// The transforms of all lanes of an array along one axis.
pub struct Columns<R> {
    /// The name of the op in errors.
    pub op: &'static str,
    /// The axis along which the lanes are transformed.
    pub axis: usize,
    /// The plan of the transform of one lane.
    pub plan: Arc<StockhamPlan<R>>,
    /// True if the exponent is +2 pi i jk / n instead of -2 pi i jk / n.
    pub inverse: bool,
    /// Factor by which the results are multiplied.
    pub scale: R,
}

impl<R: Engine> Columns<R> {
    /// Transforms the array at `from`, which has the lengths and strides `axes`. Writes the result to `to`, as an array
    /// of shape `shape` in C order.
    ///
    /// # Safety
    /// `from` must point to the elements. `to` must have room for the result, and nobody else may use it. `from` and
    /// `to` may be the same array.
    pub unsafe fn run(
        &self,
        mut axes: Vec<Dim>,
        from: *const R::Complex,
        shape: &[usize],
        to: *mut R::Complex,
    ) -> Result<()> {
        let lane = axes.remove(self.axis);
        let inner: usize = shape[self.axis + 1..].iter().product();
        let lanes = layout::size(&axes);
        if lanes == 0 {
            return Ok(());
        }
        let kernel = Kernel::<R>::new();
        let (from, to) = (Target(from.cast_mut().cast()), Target(to.cast()));
        // a group has only lanes that are neighbours in the result, so the last group of each row of lanes may be
        // smaller
        let in_row = inner.div_ceil(kernel.lanes);
        layout::in_tasks(lanes / inner * in_row, kernel.lanes * self.plan.points, COSTLY, &|groups| {
            let (from, to) = (&from, &to);
            let one = Task { columns: self, lane, kernel, inner, in_row };
            // SAFETY: the caller guarantees both arrays, and each group belongs to one task only.
            unsafe { one.run(groups, &axes, from.0.cast(), to.0.cast()) }
        })
    }
}

/// The work of one thread: the transforms of some groups of lanes.
struct Task<'a, R> {
    columns: &'a Columns<R>,
    /// The transformed axis of the input. If it is shorter than the transform, zeros follow its points.
    lane: Dim,
    kernel: Kernel<R>,
    /// Number of lanes in a row. A row consists of lanes that are neighbours in the result.
    inner: usize,
    /// Number of groups of lanes in a row.
    in_row: usize,
}

impl<R: Engine> Task<'_, R> {
    /// Transforms the groups of lanes whose numbers are in `groups`.
    ///
    /// # Safety
    /// The conditions of [`Columns::run`] hold.
    unsafe fn run(&self, groups: Range<usize>, axes: &[Dim], from: *mut R::Complex, to: *mut R::Complex) -> Result<()> {
        let (Columns { op, plan, inverse, scale, .. }, Dim { len: from_len, stride }) = (self.columns, self.lane);
        let (lanes, points) = (self.kernel.lanes, plan.points);
        let numbers = LINE / size_of::<R>();
        let lines = 2 * lanes * points / numbers;
        let mut scratch: Vec<Line> = buffer::vec(op, 3 * lines)?;
        let start = scratch.as_mut_ptr();
        // SAFETY: the vector has room for all three arrays.
        let scratch: [*mut R; 3] = unsafe { [0, 1, 2].map(|k| start.add(k * lines).cast()) };
        let packed = |k: usize| Points {
            start: scratch[k],
            stride: 2 * lanes as isize,
            len: points,
            ahead: 0,
            pairs: true,
            swapped: *inverse,
            turns: Turns::NONE,
        };
        let lane = |group: usize| group / self.in_row * self.inner + group % self.in_row * lanes;
        let mut offsets = Offsets::at(axes, lane(groups.start));
        let mut at = vec![0; lanes];
        for group in groups {
            let first = group % self.in_row * lanes;
            let many = lanes.min(self.inner - first);
            let at = &mut at[..many];
            at.iter_mut().zip(&mut offsets).for_each(|(a, o)| *a = o);
            let whole = many == lanes;
            let ahead = if first + 2 * lanes <= self.inner { 2 * lanes as isize } else { 0 };
            let side_by_side = whole && at.windows(2).all(|w| w[1] == w[0] + 1);
            // SAFETY: the lanes at these offsets exist, and only this task uses the lanes of the result. Each scratch
            // array has room for the points of all lanes of a group.
            unsafe {
                let source = if side_by_side {
                    Points {
                        start: from.offset(at[0]).cast(),
                        stride: 2 * stride,
                        len: from_len.min(points),
                        ahead,
                        ..packed(0)
                    }
                } else {
                    pack(from, at, stride, from_len, scratch[0].cast(), lanes, points);
                    packed(0)
                };
                let result = to.add(group / self.in_row * self.inner * points + first);
                if whole {
                    let stride = 2 * self.inner as isize;
                    let target = Points { start: result.cast(), stride, ahead, ..packed(0) };
                    self.kernel.run(plan, *scale, source, target, scratch);
                } else {
                    let target = packed(self.kernel.result_in(plan));
                    self.kernel.run(plan, *scale, source, target, scratch);
                    for i in 0..points {
                        let row = target.start.cast::<R::Complex>().add(i * lanes);
                        result.add(i * self.inner).copy_from_nonoverlapping(row, many);
                    }
                }
            }
        }
        Ok(())
    }
}

/// Packs the lanes that begin at the offsets in `at`: element 0 of every lane, then element 1 of every lane, and so on.
/// If a lane is shorter than `points`, or if there are fewer lanes than `lanes`, the missing elements are 0.
///
/// # Safety
/// The elements must exist, and `to` must have room for `points * lanes` elements.
unsafe fn pack<C: Default + Copy>(
    from: *const C,
    at: &[isize],
    stride: isize,
    len: usize,
    to: *mut C,
    lanes: usize,
    points: usize,
) {
    for i in 0..points {
        for k in 0..lanes {
            let there = at.get(k).filter(|_| i < len);
            // SAFETY: the caller guarantees the elements and enough room.
            unsafe { *to.add(i * lanes + k) = there.map_or(C::default(), |at| *from.offset(at + i as isize * stride)) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{
        super::{
            Numpyish, simd,
            testing::{counting, layouts},
        },
        stockham::{LONGEST, StockhamPlan},
        typed::{fft, ifft},
    };
    use backend_core::{Complex, Norm, numpyish::NdArray};
    use ndarray::{ArrayD, Axis, IxDyn, Slice};

    const B: Numpyish = Numpyish::new();
    type C<R> = Complex<R>;

    fn waves(shape: &[usize]) -> ArrayD<C<f64>> {
        counting::<f64>(shape).mapv(|i| C::new((i * 1.7).sin() + 0.3, (i * i * 0.3).cos()))
    }

    /// Computes the expected result: transforms each lane separately, as a 1-D array.
    fn lane_by_lane(x: &ArrayD<C<f64>>, axis: usize, n: usize, inverse: bool) -> ArrayD<C<f64>> {
        let mut shape = x.shape().to_vec();
        shape[axis] = n;
        let mut out = ArrayD::zeros(IxDyn(&shape));
        for (from, mut to) in x.lanes(Axis(axis)).into_iter().zip(out.lanes_mut(Axis(axis))) {
            let lane = from.to_owned().into_dyn().into_shared();
            let f = if inverse { ifft::<C<f64>> } else { fft::<C<f64>> };
            to.assign(&f(&B, &lane, Some(n), 0, Norm::Ortho).unwrap().into_dimensionality::<ndarray::Ix1>().unwrap());
        }
        out
    }

    fn furthest(got: &NdArray<C<f64>>, expected: &ArrayD<C<f64>>) -> f64 {
        assert_eq!(got.shape(), expected.shape());
        got.iter().zip(expected).map(|(g, e)| (g - e).norm()).fold(0.0, f64::max)
    }

    #[test]
    fn every_radix_as_lane_by_lane() {
        const LENGTHS: [usize; 25] =
            [2, 3, 4, 5, 7, 8, 12, 6, 9, 14, 16, 20, 21, 24, 32, 35, 49, 60, 64, 96, 105, 128, 200, 256, 800];
        for &n in if cfg!(miri) { &LENGTHS[..7] } else { &LENGTHS[..] } {
            assert!(StockhamPlan::<f64>::new("fft", n).unwrap().is_some());
            // with these shapes, there are full groups of lanes, groups with fewer lanes, and rows of few lanes
            for shape in [[1, n, 16], [2, n, 5], [3, n, 21]] {
                let z = waves(&shape);
                for inverse in [false, true] {
                    let f = if inverse { ifft::<C<f64>> } else { fft::<C<f64>> };
                    let got = f(&B, &z.clone().into_shared(), None, 1, Norm::Ortho).unwrap();
                    let off = furthest(&got, &lane_by_lane(&z, 1, n, inverse));
                    assert!(off < 1e-14, "{shape:?} {inverse}: {off}");
                }
            }
        }
    }

    #[test]
    fn layouts_and_lengths() {
        let (shapes, lengths): (&[_], &[_]) = if cfg!(miri) {
            (&[[3, 4, 5]], &[(0, 4), (1, 3)])
        } else {
            let lengths = &[(0, 12), (0, 5), (0, 30), (1, 16), (1, 9), (1, 7), (1, 11), (1, 40)];
            (&[[12, 9, 5], [5, 16, 18]], lengths)
        };
        for shape in shapes {
            let z = waves(shape);
            for &(axis, n) in lengths {
                let expected = lane_by_lane(&z, axis, n, false);
                for x in layouts(&z) {
                    let got = fft(&B, &x, Some(n), axis as isize, Norm::Ortho).unwrap();
                    let off = furthest(&got, &expected);
                    assert!(off < 1e-14, "{shape:?} {axis} {n} {:?}: {off}", x.strides());
                }
            }
        }
    }

    #[test]
    fn every_instruction_set_gives_the_same_bits() {
        let z = waves(if cfg!(miri) { &[2, 12, 9] } else { &[2, 840, 19] });
        let narrow = z.mapv(|z| C::new(z.re as f32, z.im as f32)).into_shared();
        let z = z.into_shared();
        let mut results = Vec::new();
        simd::with_each(|_| {
            let wide = fft(&B, &z, None, 1, Norm::Backward).unwrap();
            let bits = wide.iter().flat_map(|z| [z.re.to_bits(), z.im.to_bits()]);
            let mut all: Vec<u64> = bits.collect();
            let narrow = ifft(&B, &narrow, None, 1, Norm::Forward).unwrap();
            all.extend(narrow.iter().flat_map(|z| [u64::from(z.re.to_bits()), u64::from(z.im.to_bits())]));
            results.push(all);
        });
        results.dedup();
        assert_eq!(results.len(), 1);
    }

    #[test]
    fn single_precision_of_any_number_of_lanes() {
        for inner in if cfg!(miri) { 8..=9 } else { 8..=33 } {
            let z = waves(&[48, inner]);
            let narrow = z.mapv(|z| C::new(z.re as f32, z.im as f32)).into_shared();
            let got = fft(&B, &narrow, None, 0, Norm::Ortho).unwrap().mapv(|z| C::new(z.re.into(), z.im.into()));
            let off = furthest(&got.into_shared(), &lane_by_lane(&z, 0, 48, false));
            assert!(off < 3e-6, "{inner}: {off}");
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "too many points")]
    fn long_lanes_and_those_without_a_plan() {
        assert!(StockhamPlan::<f64>::new("fft", 2 * 11).unwrap().is_none());
        for n in [22, LONGEST, LONGEST + 1] {
            let z = waves(&[n, 4]);
            let got = fft(&B, &z.clone().into_shared(), None, 0, Norm::Ortho).unwrap();
            let few = z.slice_axis(Axis(1), Slice::from(1..2)).to_owned();
            let of_one = got.slice_axis(Axis(1), Slice::from(1..2)).to_owned().into_shared();
            let off = furthest(&of_one, &lane_by_lane(&few, 0, n, false));
            assert!(off < 1e-13, "{n}: {off}");
        }
    }
}
