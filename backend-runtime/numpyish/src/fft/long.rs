//! Transforms one long lane (a 1-D slice along the transformed axis) on all threads, by the four-step algorithm of D.
//! H. Bailey, "FFTs in external or hierarchical memory", The Journal of Supercomputing 4 (1990). The `n` points of the
//! lane are read as a matrix in C order. First its columns are transformed, then the elements are multiplied by powers
//! of e^(-2 pi i / n), and then the rows are transformed. The result is also a matrix in C order: its columns are the
//! transformed rows.
//!
//! Intermediate results are stored in blocks of a few columns each, so each task reads and writes contiguous memory.

use super::{
    super::{
        buffer, copy,
        layout::{self, Target},
        parallel::COSTLY,
        simd::prefetch,
    },
    columns::{LINE, Line},
    engine::Engine,
    stockham::{self, Kernel, LONGEST, Points, Turns, root},
};
use backend_core::Result;
use std::sync::Arc;

/// Minimum length of a lane that is transformed on all threads. A shorter lane stays in one core's cache in all stages.
pub const MIN_LONG_LENGTH: usize = 1 << 16;

/// Number of columns of a block. On every instruction set, it is a multiple of the number of lanes that the kernel
/// transforms at a time.
const BLOCK: usize = 16;

/// Number of blocks by which prefetching runs ahead of reading.
const AHEAD: usize = 4;

/// The plan for one length, shared by all transforms of that length.
pub struct LongPlan<R> {
    rows: usize,
    columns: usize,
    down: Arc<stockham::StockhamPlan<R>>,
    across: Arc<stockham::StockhamPlan<R>>,
    /// For each row of the matrix, the factors of the columns within a block: complex powers of e^(-2 pi i / n), by
    /// which the transformed columns are multiplied.
    near: Vec<R>,
    /// For each block and each row, the factor of the block's first column. The factor of an element is a `near`
    /// factor times a `far` factor.
    far: Vec<R>,
}

/// Returns the numbers of rows and columns of the matrix for `n` points, or `None` if `n` is unsuitable. The two
/// numbers are as close to each other as possible, and [`stockham`] has plans for both lengths.
pub fn sides(n: usize) -> Option<[usize; 2]> {
    if !n.is_multiple_of(BLOCK) || n > LONGEST * LONGEST {
        return None;
    }
    stockham::radices(n)?;
    let fits = |rows: usize| n.is_multiple_of(rows) && (n / rows).is_multiple_of(BLOCK);
    let rows = (2..=n.isqrt()).rev().find(|&rows| fits(rows))?;
    (n / rows <= LONGEST).then_some([rows, n / rows])
}

impl<R: Engine> LongPlan<R> {
    /// Builds the plan for a matrix whose numbers of rows and columns come from [`sides`]. `down` transforms its
    /// columns, and `across` its rows.
    pub fn new(op: &'static str, [down, across]: [Arc<stockham::StockhamPlan<R>>; 2]) -> Result<LongPlan<R>> {
        let (rows, columns) = (down.points, across.points);
        // few factors are stored: the factor of an element is the product of one number from each table
        let powers = |many: usize, of: &dyn Fn(usize) -> usize| -> Result<Vec<R>> {
            let mut all = buffer::vec(op, 2 * many)?;
            all.extend((0..many).flat_map(|k| root::<R>(of(k), rows * columns)));
            Ok(all)
        };
        let near = powers(rows * BLOCK, &|k| k / BLOCK * (k % BLOCK))?;
        let far = powers(rows * columns / BLOCK, &|k| k / rows * BLOCK * (k % rows))?;
        Ok(LongPlan { rows, columns, down, across, near, far })
    }

    /// Transforms a lane with exponent -2 pi i jk / n, or +2 pi i jk / n if `inverse` is true. Multiplies the results
    /// by `scale`.
    ///
    /// # Safety
    /// `from` must have all points. `between` and `to` must have room for as many points, and nobody else may use that
    /// room. `to` may equal `from`.
    pub unsafe fn run(
        &self,
        op: &'static str,
        [from, between, to]: [*mut R::Complex; 3],
        inverse: bool,
        scale: R,
    ) -> Result<()> {
        // all tasks use one kernel, so that they divide the lanes into groups of the same size
        let kernel = Kernel::new();
        // SAFETY: the caller guarantees the three arrays.
        unsafe {
            self.down(op, kernel, from, between, inverse)?;
            self.across(op, kernel, between, to, inverse, scale)
        }
    }

    /// Transforms the columns, multiplies the results by their factors, and writes the products in blocks of columns.
    ///
    /// # Safety
    /// The conditions of [`LongPlan::run`] hold.
    unsafe fn down(
        &self,
        op: &'static str,
        kernel: Kernel<R>,
        from: *mut R::Complex,
        to: *mut R::Complex,
        inverse: bool,
    ) -> Result<()> {
        let &LongPlan { rows, columns, .. } = self;
        let (from, to) = (Target(from.cast()), Target(to.cast()));
        let many = kernel.lanes;
        layout::in_tasks(columns / BLOCK, rows * BLOCK, COSTLY, &|blocks| {
            let (from, to) = (&from, &to);
            let lanes = LaneTransform::new(op, kernel, &self.down, inverse)?;
            for block in blocks {
                for first in (0..BLOCK).step_by(many) {
                    // SAFETY: each block of both arrays belongs to one task only; groups of lanes are parts of a block.
                    unsafe {
                        let source = lanes.points(from.0.cast::<R::Complex>().add(block * BLOCK + first), columns);
                        let ahead = if first + many < BLOCK { 2 * many as isize } else { 0 };
                        let target = to.0.cast::<R::Complex>().add(block * BLOCK * rows + first);
                        let (near, far) = (self.near[2 * first..].as_ptr(), self.far[2 * block * rows..].as_ptr());
                        let turns = Turns { near, stride: 2 * BLOCK, far, far_stride: 2 };
                        let target = Points { turns, ..lanes.points(target, BLOCK) };
                        lanes.run(R::ONE, Points { ahead, ..source }, target);
                    }
                }
            }
            Ok(())
        })
    }

    /// Transforms the rows, which are stored in blocks of columns, and writes each transformed row to a column of the
    /// result.
    ///
    /// # Safety
    /// The conditions of [`LongPlan::run`] hold.
    unsafe fn across(
        &self,
        op: &'static str,
        kernel: Kernel<R>,
        from: *mut R::Complex,
        to: *mut R::Complex,
        inverse: bool,
        scale: R,
    ) -> Result<()> {
        let &LongPlan { rows, columns, .. } = self;
        let (from, to) = (Target(from.cast()), Target(to.cast()));
        let many = kernel.lanes;
        layout::in_tasks(rows.div_ceil(many), columns * many, COSTLY, &|groups| {
            let (from, to) = (&from, &to);
            let lanes = LaneTransform::new(op, kernel, &self.across, inverse)?;
            for row in groups.map(|group| group * many) {
                let own = many.min(rows - row);
                // SAFETY: these rows of the blocks, and these columns of the result, belong to this task only.
                unsafe {
                    let packed = lanes.scratch[0].cast::<R::Complex>();
                    for column in (0..columns).step_by(BLOCK) {
                        let block = from.0.cast::<R::Complex>().add(column * rows + row * BLOCK);
                        // prefetches explicitly, because the next block is too far away for a hardware prefetcher
                        let next = block.wrapping_add(AHEAD * BLOCK * rows);
                        let lines = (0..own * BLOCK).step_by(LINE / size_of::<R::Complex>());
                        lines.for_each(|k| prefetch(next.wrapping_add(k)));
                        copy::transpose(block, (own, BLOCK), BLOCK, packed.add(column * many), many);
                    }
                    let result = to.0.cast::<R::Complex>().add(row);
                    if own == many {
                        lanes.run(scale, lanes.points(packed, many), lanes.points(result, rows));
                        continue;
                    }
                    let made = lanes.scratch[kernel.result_in(&self.across)].cast::<R::Complex>();
                    lanes.run(scale, lanes.points(packed, many), lanes.points(made, many));
                    for column in 0..columns {
                        result.add(column * rows).copy_from_nonoverlapping(made.add(column * many), own);
                    }
                }
            }
            Ok(())
        })
    }
}

/// The kernel, plan, direction and scratch memory with which a group of lanes is transformed at once.
struct LaneTransform<'a, R> {
    kernel: Kernel<R>,
    plan: &'a stockham::StockhamPlan<R>,
    inverse: bool,
    scratch: [*mut R; 3],
    _memory: Vec<Line>,
}

impl<'a, R: Engine> LaneTransform<'a, R> {
    fn new(
        op: &'static str,
        kernel: Kernel<R>,
        plan: &'a stockham::StockhamPlan<R>,
        inverse: bool,
    ) -> Result<LaneTransform<'a, R>> {
        let lines = (size_of::<R::Complex>() * plan.points * kernel.lanes).div_ceil(LINE);
        let mut memory: Vec<Line> = buffer::vec(op, 3 * lines)?;
        let start = memory.as_mut_ptr();
        // SAFETY: the vector has room for the three arrays. The first array is zeroed, for groups of fewer lanes.
        let scratch = unsafe {
            start.write_bytes(0, lines);
            [0, 1, 2].map(|k| start.add(k * lines).cast())
        };
        Ok(LaneTransform { kernel, plan, inverse, scratch, _memory: memory })
    }

    /// Describes the points of one group of lanes in memory. Consecutive points of a lane are `row` complex numbers
    /// apart.
    fn points(&self, start: *mut R::Complex, row: usize) -> Points<R> {
        Points {
            start: start.cast(),
            stride: 2 * row as isize,
            len: self.plan.points,
            ahead: 0,
            pairs: true,
            swapped: self.inverse,
            turns: Turns::NONE,
        }
    }

    /// # Safety
    /// `from` must have the points, and `to` room for the results.
    unsafe fn run(&self, scale: R, from: Points<R>, to: Points<R>) {
        // SAFETY: the caller guarantees the points and enough room, and the scratch memory is large enough for a group
        // of lanes.
        unsafe { self.kernel.run(self.plan, scale, from, to, self.scratch) }
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::typed::{fft, fftn, ifft},
        *,
    };
    use backend_core::{
        Complex, Norm,
        numpyish::{NdArray, Numpyish, simd},
    };
    use ndarray::{ArcArray, IxDyn};

    /// Computes a reference result by the definition of the transform.
    fn naive(x: &[Complex<f64>], sign: f64) -> Vec<Complex<f64>> {
        let n = x.len();
        let turn = |k: usize| Complex::from_polar(1.0, sign * std::f64::consts::TAU * (k % n) as f64 / n as f64);
        (0..n).map(|k| x.iter().enumerate().map(|(j, x)| x * turn(j * k)).sum()).collect()
    }

    #[test]
    fn matrices_of_any_sides() {
        let all: &[[usize; 2]] =
            if cfg!(miri) { &[[3, 16]] } else { &[[2, 16], [3, 16], [7, 32], [20, 48], [9, 80], [16, 16]] };
        for &sides in all {
            let n = sides[0] * sides[1];
            let x: Vec<_> = (0..n).map(|i| Complex::new((i as f64 * 1.7).sin(), (i * i) as f64 % 7.0 - 3.0)).collect();
            let lanes = sides.map(|n| Arc::new(stockham::StockhamPlan::new("fft", n).unwrap().unwrap()));
            let plan = LongPlan::<f64>::new("fft", lanes).unwrap();
            for (inverse, sign) in [(false, -1.0), (true, 1.0)] {
                let expected = naive(&x, sign);
                let mut results = Vec::new();
                simd::with_each(|_| {
                    let (mut between, mut out) = (vec![Complex::ZERO; n], vec![Complex::ZERO; n]);
                    let all = [x.as_ptr().cast_mut(), between.as_mut_ptr(), out.as_mut_ptr()];
                    // SAFETY: each array has room for all points, and the first is only read.
                    unsafe { plan.run("fft", all, inverse, 0.5).unwrap() };
                    let off = out.iter().zip(&expected).map(|(a, b)| (a * 2.0 - b).norm()).fold(0.0, f64::max);
                    assert!(off < 1e-13 * n as f64, "{sides:?} {inverse}: {off}");
                    let mut here = x.clone();
                    let start = here.as_mut_ptr();
                    // SAFETY: each array has room for all points, and the result overwrites the points.
                    unsafe { plan.run("fft", [start, between.as_mut_ptr(), start], inverse, 0.5).unwrap() };
                    results.extend([out, here]);
                });
                results.dedup();
                assert_eq!(results.len(), 1, "the same bits on every instruction set");
            }
        }
    }

    #[test]
    fn lengths() {
        assert_eq!(sides(1 << 16), Some([256, 256]));
        assert_eq!(sides(1 << 17), Some([256, 512]));
        assert_eq!(sides(1_000_000), Some([625, 1600]));
        assert_eq!(sides(3_usize.pow(12)), None, "no multiple of {BLOCK}");
        assert_eq!(sides(11 << 16), None, "another factor");
        assert_eq!(sides(1 << 30), None, "too long");
    }

    #[test]
    #[cfg_attr(miri, ignore = "too many points")]
    fn long_lanes_of_arrays() {
        let b = Numpyish::new();
        let shape = [3, MIN_LONG_LENGTH];
        let x = ArcArray::from_shape_fn(IxDyn(&shape), |i| {
            Complex::new((i[1] as f64).sin() * i[0] as f64, i[1] as f64 % 5.0)
        });
        let whole = fft(&b, &x, None, 1, Norm::Ortho).unwrap();
        let back = ifft(&b, &whole, None, -1, Norm::Ortho).unwrap();
        let off = |a: &NdArray<Complex<f64>>, b: &NdArray<Complex<f64>>| {
            assert_eq!(a.shape(), b.shape());
            a.iter().zip(b).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max)
        };
        assert!(off(&back, &x) < 1e-13);
        // an array of another layout gives the same bits; shorter lanes are padded with zeros, longer lanes are cut
        let turned = x.t().to_owned().into_shared().reversed_axes();
        assert_eq!(fft(&b, &turned, None, 1, Norm::Ortho).unwrap(), whole);
        let short = x.slice(ndarray::s![.., ..MIN_LONG_LENGTH - 7]).to_owned().into_dyn().into_shared();
        let mut filled = x.clone();
        filled.slice_mut(ndarray::s![.., MIN_LONG_LENGTH - 7..]).fill(Complex::ZERO);
        let padded = fft(&b, &short, Some(MIN_LONG_LENGTH), 1, Norm::Backward).unwrap();
        assert_eq!(padded, fft(&b, &filled, None, 1, Norm::Backward).unwrap());
    }

    /// Lanes whose length is not a power of two have the same bits on any number of threads: in double precision along
    /// two axes, and in single precision along one.
    #[test]
    #[cfg_attr(miri, ignore = "too many points")]
    fn any_number_of_threads_gives_the_same_bits() {
        const N: usize = 70_000;
        let b = Numpyish::new();
        let x = ArcArray::from_shape_fn(IxDyn(&[3, N]), |i| Complex::new((i[1] as f64 * 0.3).cos(), i[0] as f64 - 1.0));
        let narrow = x.mapv(|z| Complex::new(z.re as f32, z.im as f32)).into_shared();
        let of = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let both = |x: &NdArray<_>| fftn(&b, x, None, backend_core::Axes::from([1, 0]), Norm::Ortho).unwrap();
                (both(&x), ifft(&b, &narrow, None, 1, Norm::Ortho).unwrap())
            })
        };
        let one = of(1);
        assert!(of(2) == one && of(5) == one);
        let lanes = fft(&b, &x, None, 1, Norm::Ortho).unwrap();
        let expected = fft(&b, &lanes, None, 0, Norm::Ortho).unwrap();
        assert!(one.0.iter().zip(&expected).all(|(a, b)| (a - b).norm() < 1e-11));
        let back = fft(&b, &one.1, None, 1, Norm::Ortho).unwrap();
        let off = back.iter().zip(&narrow).map(|(a, b)| (a - b).norm()).fold(0.0, f32::max);
        assert!(off < 2e-6, "{off}");
    }
}
