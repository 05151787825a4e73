//! Loops that spread the values of points over the cells of a window, and loops that interpolate at points from the
//! cells of a window. A window is a separate array for the cells of the grid that the points touch.

use super::rows::{CellPart, Row};
use crate::fft::vector::Plain;
#[cfg(not(target_arch = "x86_64"))]
use backend_core::numpyish::simd;
use backend_core::{numpyish::simd::set, spreading::MAX_WIDTH};
#[cfg(target_arch = "x86_64")]
use {crate::fft::vector::Vector, std::arch::x86_64::*};

/// The arguments of a loop: points, their values, and the window of cells that the points touch.
pub struct Job<R> {
    /// Address of the window's first cell. Cells are complex numbers.
    pub window: *mut R,
    /// Distance from one row of the window to the next, in cells. `plane` is the distance from one plane to the next.
    pub row: usize,
    pub plane: usize,
    /// Smallest cell index that a point of this job may have along each axis; `high` is the largest one.
    pub low: [i32; 3],
    pub high: [i32; 3],
    /// The points' records. Each record has the point's position along each axis, and then the point's index.
    pub records: *const i64,
    pub points: usize,
    /// Address of the values of all points, which are complex numbers.
    pub values: *mut R,
    /// The largest index in `values` that a point may have.
    pub last: usize,
    /// The polynomials that approximate the kernel, one for each cell along an axis. The coefficients are sorted by
    /// power, from the highest to the lowest, with [`MAX_WIDTH`] coefficients for each power.
    pub polynomials: *const R,
    pub terms: usize,
    pub width: usize,
    /// A mask for one row of a point's neighbourhood. All bits are set for the real numbers of the row's `width`
    /// complex cells, and no bits for the rest of the last vector.
    pub mask: *const R,
    /// If the kernel is differentiated along an axis: the axis, and the polynomials of the derivative.
    pub derived: Option<(usize, *const R)>,
}

/// A loop for one instruction set, one number of vectors per row of `width` cells, and one number of axes.
///
/// # Safety
/// The processor must have the instruction set. The window must have room for whole vectors in each row of the
/// neighbourhoods of all points between `low` and `high`, and nobody else may use it. The records, values and
/// polynomials must be as long as the job says. While the loop runs, only loops of this type may write the values.
pub type Loop<R> = unsafe fn(&Job<R>);

/// Number of points by which the prefetching of values runs ahead of their use.
const AHEAD: usize = 24;

/// Returns the index of the point that a record belongs to. The index of a wrong record becomes `job.last`.
///
/// # Safety
/// The job has this record.
#[inline(always)]
unsafe fn number<R, const AXES: usize>(job: &Job<R>, record: usize) -> usize {
    // SAFETY: the caller guarantees the record.
    let number = unsafe { *job.records.add(record * (AXES + 1) + AXES) } as usize;
    number.min(job.last)
}

/// Returns the address of the value of a record's point, and prefetches the value of a later record.
///
/// # Safety
/// The job has this record.
#[inline(always)]
unsafe fn value<R, const AXES: usize>(job: &Job<R>, record: usize) -> *mut R {
    // SAFETY: both records exist, and every point's index is the index of a value.
    unsafe {
        let later = number::<R, AXES>(job, (record + AHEAD).min(job.points - 1));
        #[cfg(target_arch = "x86_64")]
        _mm_prefetch::<_MM_HINT_T0>(job.values.add(2 * later).cast());
        #[cfg(not(target_arch = "x86_64"))]
        simd::prefetch(job.values.add(2 * later));
        job.values.add(2 * number::<R, AXES>(job, record))
    }
}

/// Returns the index in the window of the first cell of a point's neighbourhood, and the variable of the kernel's
/// polynomials along each axis, from -1 to 1.
///
/// # Safety
/// The job has this record.
#[inline(always)]
unsafe fn place<R: CellPart, const AXES: usize>(job: &Job<R>, record: usize) -> (usize, [R; AXES]) {
    let mut t = [R::default(); AXES];
    let mut cell = 0;
    for axis in 0..AXES {
        // SAFETY: the caller guarantees the record.
        let place = f64::from_bits(unsafe { *job.records.add(record * (AXES + 1) + axis) } as u64);
        // the records may come from a user, and a wrong record must not lead out of the window; NaN becomes `low`
        let (low, high) = (f64::from(job.low[axis]), f64::from(job.high[axis]));
        let within = if place > low { place } else { low };
        let within = if within < high + 1.0 { within } else { high };
        // SAFETY: the number is at least `low` and less than `high + 1`, so an `i32` can hold it.
        let whole = unsafe { within.to_int_unchecked::<i32>() };
        t[axis] = R::narrow((within - f64::from(whole)) * 2.0 - 1.0);
        cell += (whole - job.low[axis]) as usize * [1, job.row, job.plane][axis];
    }
    (cell, t)
}

/// Returns the kernel's values for the cells of a point's neighbourhood along each axis. These values are real, so they
/// need only half as many vectors as a row of complex cells, and the remaining vectors are 0.
///
/// # Safety
/// The conditions of [`Loop`] hold.
#[inline(always)]
unsafe fn kernel<V: Row<Real: CellPart>, const VECTORS: usize, const AXES: usize>(
    job: &Job<V::Real>,
    t: [V::Real; AXES],
) -> [[V; VECTORS]; AXES] {
    // SAFETY: the polynomials have whole vectors of coefficients.
    unsafe {
        let used = VECTORS.div_ceil(2);
        let t = t.map(|t| V::splat(t));
        let mut values = [[V::splat(V::Real::default()); VECTORS]; AXES];
        for i in 0..used {
            let highest = V::load(job.polynomials.add(i * V::LANES));
            for of_axis in &mut values {
                of_axis[i] = highest;
            }
        }
        for term in 1..job.terms {
            for i in 0..used {
                let next = V::load(job.polynomials.add(term * MAX_WIDTH + i * V::LANES));
                for (of_axis, t) in values.iter_mut().zip(t) {
                    of_axis[i] = of_axis[i].mul_add(t, next);
                }
            }
        }
        if let Some((axis, polynomials)) = job.derived {
            for (i, derived) in values[axis].iter_mut().enumerate().take(used) {
                let mut value = V::load(polynomials.add(i * V::LANES));
                for term in 1..job.terms {
                    value = value.mul_add(t[axis], V::load(polynomials.add(term * MAX_WIDTH + i * V::LANES)));
                }
                *derived = value;
            }
        }
        values
    }
}

/// Returns the kernel's values along an axis as an array of numbers.
///
/// # Safety
/// The processor has the instruction set.
#[inline(always)]
unsafe fn numbers<V: Row<Real: CellPart>, const VECTORS: usize>(values: &[V; VECTORS]) -> [V::Real; MAX_WIDTH] {
    let mut all = [V::Real::default(); MAX_WIDTH];
    for (i, value) in values.iter().enumerate().take(VECTORS.div_ceil(2)) {
        // SAFETY: the stored vectors, half as many as in a complex row, have at most as many elements as the widest
        // kernel.
        unsafe { value.store(all.as_mut_ptr().add(i * V::LANES)) };
    }
    all
}

/// Returns vector `i` of the kernel's values along the contiguous axis. Each value appears twice, for the real and
/// the imaginary part of a cell.
///
/// # Safety
/// The processor has the instruction set.
#[inline(always)]
unsafe fn doubled<V: Row, const VECTORS: usize>(values: &[V; VECTORS], i: usize) -> V {
    // SAFETY: the caller guarantees the instruction set.
    unsafe { if i.is_multiple_of(2) { values[i / 2].double_low() } else { values[i / 2].double_high() } }
}

/// Sets the elements of `line` beyond the kernel's width to 0; only the second half of the vectors has such elements.
/// Multiplying them by a weight of 0 would not be enough, because 0 times infinity is NaN.
///
/// # Safety
/// The conditions of [`Loop`] hold.
#[inline(always)]
unsafe fn within_kernel<V: Row<Real: CellPart>, const VECTORS: usize>(job: &Job<V::Real>, line: &mut [V; VECTORS]) {
    for (i, x) in line.iter_mut().enumerate().skip(VECTORS / 2) {
        // SAFETY: the mask is as long as the vectors.
        *x = unsafe { x.masked(job.mask.add(i * V::LANES)) };
    }
}

/// Adds each point's value, weighted by the kernel, to the cells of its neighbourhood.
///
/// # Safety
/// The conditions of [`Loop`] hold.
#[inline(always)]
unsafe fn spread<V: Row<Real: CellPart>, const VECTORS: usize, const AXES: usize>(job: &Job<V::Real>) {
    // SAFETY: the caller guarantees all lengths, and the window has all cells of a point's neighbourhood.
    unsafe {
        for record in 0..job.points {
            let (cell, t) = place::<_, AXES>(job, record);
            let kernel = kernel::<V, VECTORS, AXES>(job, t);
            let from = value::<_, AXES>(job, record);
            let value = V::pairs(*from, *from.add(1));
            let mut line = [value; VECTORS];
            for (i, x) in line.iter_mut().enumerate() {
                *x = doubled(&kernel[0], i).mul(*x);
            }
            within_kernel(job, &mut line);
            let to = job.window.add(2 * cell);
            if AXES == 1 {
                for (i, x) in line.iter().enumerate() {
                    let to = to.add(i * V::LANES);
                    V::load(to).add(*x).store(to);
                }
                continue;
            }
            let down = numbers(&kernel[1 % AXES]);
            let rows = |to: *mut V::Real, line: [V; VECTORS]| {
                for y in 0..job.width {
                    let (to, weight) = (to.add(2 * y * job.row), V::splat(*down.get_unchecked(y)));
                    for (i, x) in line.iter().enumerate() {
                        let to = to.add(i * V::LANES);
                        x.mul_add(weight, V::load(to)).store(to);
                    }
                }
            };
            if AXES == 2 {
                rows(to, line);
                continue;
            }
            let deep = numbers(&kernel[2 % AXES]);
            for z in 0..job.width {
                let weight = V::splat(*deep.get_unchecked(z));
                rows(to.add(2 * z * job.plane), line.map(|x| x.mul(weight)));
            }
        }
    }
}

/// Stores, for each point, the sum of the cells in its neighbourhood, each of them weighted by the kernel.
///
/// # Safety
/// The conditions of [`Loop`] hold.
#[inline(always)]
unsafe fn interpolate<V: Row<Real: CellPart>, const VECTORS: usize, const AXES: usize>(job: &Job<V::Real>) {
    // SAFETY: the caller guarantees all lengths, and the window has all cells of a point's neighbourhood.
    unsafe {
        let zero = V::splat(V::Real::default());
        for record in 0..job.points {
            let (cell, t) = place::<_, AXES>(job, record);
            let kernel = kernel::<V, VECTORS, AXES>(job, t);
            let from = job.window.add(2 * cell).cast_const();
            let mut line = [zero; VECTORS];
            if AXES == 1 {
                for (i, x) in line.iter_mut().enumerate() {
                    *x = V::load(from.add(i * V::LANES));
                }
            } else {
                let down = numbers(&kernel[1 % AXES]);
                let rows = |from: *const V::Real| {
                    let mut line = [zero; VECTORS];
                    for y in 0..job.width {
                        let (from, weight) = (from.add(2 * y * job.row), V::splat(*down.get_unchecked(y)));
                        for (i, x) in line.iter_mut().enumerate() {
                            *x = V::load(from.add(i * V::LANES)).mul_add(weight, *x);
                        }
                    }
                    line
                };
                if AXES == 2 {
                    line = rows(from);
                } else {
                    let deep = numbers(&kernel[2 % AXES]);
                    for z in 0..job.width {
                        let (plane, weight) = (rows(from.add(2 * z * job.plane)), V::splat(*deep.get_unchecked(z)));
                        for (x, sum) in line.iter_mut().zip(plane) {
                            *x = sum.mul_add(weight, *x);
                        }
                    }
                }
            }
            within_kernel(job, &mut line);
            // the partial sums take 64 bytes for vectors of any length: `even` alone, or `even` and `odd` together
            let whole = V::LANES * size_of::<V::Real>() == 64;
            let (mut even, mut odd) = (zero, zero);
            for (i, x) in line.iter().enumerate() {
                let weight = doubled(&kernel[0], i);
                if whole || i.is_multiple_of(2) {
                    even = weight.mul_add(*x, even);
                } else {
                    odd = weight.mul_add(*x, odd);
                }
            }
            let (re, im) = V::sum_pairs(even, odd);
            V::Real::store_pair(value::<_, AXES>(job, record), re, im);
        }
    }
}

/// Defines, for each loop body, one function per instruction set.
macro_rules! choices {
    ($($choose:ident $body:ident $avx512:ident $avx2:ident $plain:ident;)*) => {$(
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl")]
        unsafe fn $avx512<V: Row<Real: CellPart>, const VECTORS: usize, const AXES: usize>(job: &Job<V::Real>) {
            // SAFETY: the caller guarantees the conditions of a loop.
            unsafe { $body::<V, VECTORS, AXES>(job) }
        }

        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,fma,f16c")]
        unsafe fn $avx2<V: Row<Real: CellPart>, const VECTORS: usize, const AXES: usize>(job: &Job<V::Real>) {
            // SAFETY: the caller guarantees the conditions of a loop.
            unsafe { $body::<V, VECTORS, AXES>(job) }
        }

        unsafe fn $plain<V: Row<Real: CellPart>, const VECTORS: usize, const AXES: usize>(job: &Job<V::Real>) {
            // SAFETY: the caller guarantees the conditions of a loop.
            unsafe { $body::<V, VECTORS, AXES>(job) }
        }
    )*};
}
choices! {
    spreader spread spread_avx512 spread_avx2 spread_plain;
    interpolator interpolate interpolate_avx512 interpolate_avx2 interpolate_plain;
}

/// Chooses the loop for a number of vectors per row and a number of axes.
macro_rules! table {
    ($f:ident, $v:ty, $vectors:expr, $axes:expr, [$($n:literal)*]) => {
        match ($axes, $vectors) {
            $((1, $n) => $f::<$v, $n, 1>, (2, $n) => $f::<$v, $n, 2>, (_, $n) => $f::<$v, $n, 3>,)*
            // the list has every number of vectors that a kernel may need
            _ => unreachable!("a kernel has at most {MAX_WIDTH} cells"),
        }
    };
}

/// Real types for which the loops are defined.
pub trait Loops: CellPart {
    /// Returns the loop that spreads with a kernel of this width on a grid with this number of axes.
    fn spread(width: usize, axes: usize) -> Loop<Self>;
    /// Returns the loop that interpolates with a kernel of this width on a grid with this number of axes.
    fn interpolate(width: usize, axes: usize) -> Loop<Self>;
}

macro_rules! loops {
    ($($r:ident: $wide:ident [$($w:literal)*] $narrow:ident [$($n:literal)*] $lanes:literal [$($p:literal)*];)*) => {$(
        impl Loops for $r {
            fn spread(width: usize, axes: usize) -> Loop<$r> {
                let vectors = |lanes: usize| (2 * width).div_ceil(lanes);
                match set() {
                    #[cfg(target_arch = "x86_64")]
                    2 => table!(spread_avx512, $wide, vectors($wide::LANES), axes, [$($w)*]),
                    #[cfg(target_arch = "x86_64")]
                    1 => table!(spread_avx2, $narrow, vectors($narrow::LANES), axes, [$($n)*]),
                    _ => {
                        table!(spread_plain, Plain<$r, $lanes>, vectors($lanes).next_power_of_two(), axes, [$($p)*])
                    }
                }
            }

            fn interpolate(width: usize, axes: usize) -> Loop<$r> {
                let vectors = |lanes: usize| (2 * width).div_ceil(lanes);
                match set() {
                    #[cfg(target_arch = "x86_64")]
                    2 => table!(interpolate_avx512, $wide, vectors($wide::LANES), axes, [$($w)*]),
                    #[cfg(target_arch = "x86_64")]
                    1 => table!(interpolate_avx2, $narrow, vectors($narrow::LANES), axes, [$($n)*]),
                    _ => {
                        table!(interpolate_plain, Plain<$r, $lanes>, vectors($lanes).next_power_of_two(), axes, [$($p)*])
                    }
                }
            }
        }
    )*};
}
loops! {
    f64: __m512d [1 2 3 4] __m256d [1 2 3 4 5 6 7 8] 4 [1 2 4 8];
    f32: __m512 [1 2] __m256 [1 2 3 4] 8 [1 2 4];
}
