//! Interpolation between the elements of an array: at given coordinates, through an affine map, or on another grid.

use super::{
    Pixel,
    grid::Rows,
    pixels,
    sample::{Place, SampledAxis, Taps, anywhere, inside},
    spline::spline_filter_along,
};
use crate::manipulation::padded_by;
use backend_core::{
    Boundary, DType, Lengths, Result,
    numpyish::{
        OpContext,
        buffer::Buffer,
        copy::{self, Ends, Packed},
        parallel,
        raw::{RawArray, View},
        simd::versions,
    },
    rules::{self, MAX_SAMPLED_AXES, SPLINE_BORDER, Sampling},
};
use std::ops::Range;

/// The parameters of an interpolation.
#[derive(Clone, Copy, Debug)]
pub struct Spline {
    /// The order of the spline.
    pub order: usize,
    /// The rule for positions beyond the edges.
    pub mode: Boundary,
    /// The value beyond the edges, for modes in which this value is a constant.
    pub cval: f64,
    /// True if the elements are samples, from which spline coefficients are computed first. False if they are
    /// coefficients.
    pub prefilter: bool,
}

/// The values of `x` at given coordinates. Index `k` along the first axis of `coordinates` has the coordinates along
/// axis `k` of `x`.
pub fn map_coordinates(
    _: OpContext<'_>,
    x: View<'_>,
    coordinates: View<'_>,
    order: usize,
    mode: Boundary,
    cval: f64,
    prefilter: bool,
) -> Result<RawArray> {
    map_coordinates_of(x, coordinates, Spline { order, mode, cval, prefilter })
}

/// Like `map_coordinates`, for arrays whose dtype is known only at run time.
pub fn map_coordinates_of(x: View<'_>, coordinates: View<'_>, spline: Spline) -> Result<RawArray> {
    const OP: &str = "map_coordinates";
    let sampling = rules::mapped(OP, x.shape, coordinates.shape, x.dtype.size())?;
    let packed = copy::pack(OP, coordinates)?;
    let points = Points::new(&packed, coordinates.dtype, [sampling.points as isize, 1, 0]);
    interpolated(OP, x, &sampling, Source::Points(points), spline)
}

/// Interpolates a batch of grids linearly at given coordinates. Each point of a grid has one value per channel.
pub fn grid_sample(
    _: OpContext<'_>,
    grid: View<'_>,
    coordinates: View<'_>,
    mode: Boundary,
    cval: f64,
) -> Result<RawArray> {
    grid_sample_of(grid, coordinates, mode, cval)
}

/// Like `grid_sample`, for arrays whose dtype is known only at run time.
pub fn grid_sample_of(grid: View<'_>, coordinates: View<'_>, mode: Boundary, cval: f64) -> Result<RawArray> {
    const OP: &str = "grid_sample";
    let sampling = rules::grid_sampled(OP, grid.shape, coordinates.shape, grid.dtype.size())?;
    let packed = copy::pack(OP, coordinates)?;
    let axes = sampling.lengths.len();
    let batch = if coordinates.shape[0] == 1 { 0 } else { sampling.points * axes };
    let points = Points::new(&packed, coordinates.dtype, [1, axes as isize, batch as isize]);
    interpolated(OP, grid, &sampling, Source::Points(points), Spline { order: 1, mode, cval, prefilter: false })
}

/// Transforms the last axes by an affine map: `y[o] = x[matrix o + offset]`.
#[allow(clippy::too_many_arguments)] // the arguments of the op
pub fn affine_transform(
    _: OpContext<'_>,
    x: View<'_>,
    matrix: View<'_>,
    offset: Option<View<'_>>,
    shape: Option<Lengths>,
    order: usize,
    mode: Boundary,
    cval: f64,
    prefilter: bool,
) -> Result<RawArray> {
    affine_transform_of(x, matrix, offset, shape, Spline { order, mode, cval, prefilter })
}

/// Like `affine_transform`, for arrays whose dtype is known only at run time.
pub fn affine_transform_of(
    x: View<'_>,
    matrix: View<'_>,
    offset: Option<View<'_>>,
    shape: Option<Lengths>,
    spline: Spline,
) -> Result<RawArray> {
    const OP: &str = "affine_transform";
    let map = rules::affine(OP, x.shape, matrix.shape, offset.map(|o| o.shape), shape, x.dtype.size())?;
    let (n, m) = (map.grid.len(), wide(OP, matrix)?);
    let columns = matrix.shape[1];
    let offset = match offset {
        Some(offset) => wide(OP, offset)?,
        None if map.homogeneous => (0..n).map(|row| m[row * columns + n]).collect(),
        None => vec![0.0; n],
    };
    let rows = (0..n).map(|row| m[row * columns..][..n].to_vec()).collect();
    interpolated(OP, x, &map.sampling, Source::Map { rows, offset, grid: map.grid }, spline)
}

/// The elements of a small array, as float64.
fn wide(op: &'static str, x: View<'_>) -> Result<Vec<f64>> {
    let packed = copy::pack(op, x)?;
    let numbers = Points::new(&packed, x.dtype, [0, 1, 0]);
    // SAFETY: each offset leads to an element of the array.
    Ok((0..x.len()).map(|i| unsafe { numbers.at(i as isize) }).collect())
}

/// Interpolates the array at the points of a grid of another shape, which covers the same extent.
#[allow(clippy::too_many_arguments)] // the arguments of the op
pub fn zoom(
    _: OpContext<'_>,
    x: View<'_>,
    shape: &[usize],
    order: usize,
    mode: Boundary,
    cval: f64,
    prefilter: bool,
    grid_mode: bool,
) -> Result<RawArray> {
    zoom_of(x, shape, Spline { order, mode, cval, prefilter }, grid_mode)
}

/// Like `zoom`, for an array whose dtype is known only at run time.
pub fn zoom_of(x: View<'_>, shape: &[usize], spline: Spline, grid_mode: bool) -> Result<RawArray> {
    let sampling = rules::zoomed("zoom", x.shape, shape, x.dtype.size())?;
    interpolated("zoom", x, &sampling, Source::Grid { shape: shape.to_vec(), cells: grid_mode }, spline)
}

/// The positions at which an array is interpolated.
enum Source<'a> {
    Points(Points<'a>),
    /// For each index `o` of a grid, the position `rows o + offset`, where `rows` is a matrix.
    Map {
        rows: Vec<Vec<f64>>,
        offset: Vec<f64>,
        grid: Vec<usize>,
    },
    /// The points of a grid of another shape, which covers the extent of the array. Their positions are computed axis
    /// by axis.
    Grid {
        shape: Vec<usize>,
        cells: bool,
    },
}

/// Coordinates in memory. `strides` has three distances in elements: between the components of a point, between
/// points, and between the entries of a batch.
struct Points<'a> {
    start: *const u8,
    dtype: DType,
    strides: [isize; 3],
    memory: std::marker::PhantomData<&'a u8>,
}

// SAFETY: `Points` only reads elements, and borrows their memory.
unsafe impl Sync for Points<'_> {}

impl<'a> Points<'a> {
    fn new(packed: &'a Packed<'_>, dtype: DType, strides: [isize; 3]) -> Points<'a> {
        Points { start: packed.start(), dtype, strides, memory: std::marker::PhantomData }
    }

    /// # Safety
    /// There must be an element at `offset`.
    #[inline(always)]
    unsafe fn at(&self, offset: isize) -> f64 {
        match self.dtype {
            // SAFETY: the caller guarantees an element at `offset`.
            DType::Float32 => f64::from(unsafe { *self.start.cast::<f32>().offset(offset) }),
            // SAFETY: the caller guarantees an element at `offset`, and coordinates are float32 or float64.
            _ => unsafe { *self.start.cast::<f64>().offset(offset) },
        }
    }
}

/// An interpolation with all its parameters.
struct Job<'a> {
    axes: [SampledAxis; MAX_SAMPLED_AXES],
    count: usize,
    channels: usize,
    points: usize,
    /// Distance, in elements, between consecutive arrays of the stack; 0 if the stack has one array. The arrays of a
    /// stack have different indices along the axes before the interpolated axes.
    apart: usize,
    order: usize,
    cval: f64,
    source: &'a Source<'a>,
    /// For each axis of a grid, the taps (the coefficients that a value depends on, and their weights) of all its
    /// positions. Empty if `source` is not [`Source::Grid`].
    tables: Vec<Vec<Taps>>,
}

fn interpolated(
    op: &'static str,
    x: View<'_>,
    sampling: &Sampling,
    source: Source<'_>,
    spline: Spline,
) -> Result<RawArray> {
    let Spline { mode, cval, .. } = spline;
    let order = rules::spline_order(op, spline.order)?;
    let count = sampling.lengths.len();
    let n = rules::count(op, &sampling.shape, x.dtype.size())?;
    if n == 0 {
        return RawArray::empty(op, sampling.shape.clone(), x.dtype);
    }
    // the array to interpolate, in C order: samples or coefficients, with a border if needed
    let before = sampling.first;
    let border = rules::spline_border(mode, order, spline.prefilter);
    let made: RawArray;
    let (mut from, strides, of_filter);
    from = x;
    let bordered = match border {
        Some(with) => {
            let axis = |k: usize| if (before..before + count).contains(&k) { SPLINE_BORDER } else { 0 };
            let widths: Vec<usize> = (0..x.shape.len()).flat_map(|k| [axis(k); 2]).collect();
            Some(padded_by(op, x, &widths, with, cval)?)
        }
        None => None,
    };
    if let Some(bordered) = &bordered {
        strides = bordered.strides();
        from = bordered.view(&strides);
    }
    let filter = spline.prefilter && order > 1;
    let x = if filter {
        made = spline_filter_along(op, from, before..before + count, order, mode)?;
        of_filter = made.strides();
        made.view(&of_filter)
    } else {
        from
    };
    let packed = copy::pack(op, x)?;

    let lengths = &x.shape[before..before + count];
    let apart = lengths.iter().product::<usize>() * sampling.channels;
    let arrays: usize = x.shape[..before].iter().product();
    let none = SampledAxis { len: 1, stride: 0, order, mode, border: 0.0 };
    let mut axes = [none; MAX_SAMPLED_AXES];
    let mut stride = sampling.channels as isize;
    for (axis, &len) in axes[..count].iter_mut().zip(lengths).rev() {
        let border = if border.is_some() { SPLINE_BORDER as f64 } else { 0.0 };
        *axis = SampledAxis { len, stride, border, ..none };
        stride *= len as isize;
    }
    let tables = match &source {
        Source::Grid { shape, cells } => tables(op, &axes[..count], &sampling.lengths, shape, *cells)?,
        _ => Vec::new(),
    };
    let apart = if arrays == 1 { 0 } else { apart };
    let (channels, points) = (sampling.channels, sampling.points);
    let job = Job { axes, count, channels, points, apart, order, cval, source: &source, tables };
    let out = Buffer::new(op, n, x.dtype)?;
    pixels!(x.dtype, P => {
        let ends = Ends { from: packed.start().cast::<P>(), to: out.start().cast::<P>() };
        let run: unsafe fn(&Job<'_>, *const P, *mut P, Range<usize>) = match (count, order) {
            (1, 0) => sampled::<P, 1, 1>,
            (1, 1) => sampled::<P, 1, 2>,
            (1, 3) => sampled::<P, 1, 4>,
            (2, 0) => sampled::<P, 2, 1>,
            (2, 1) => sampled::<P, 2, 2>,
            (2, 3) => sampled::<P, 2, 4>,
            (3, 0) => sampled::<P, 3, 1>,
            (3, 1) => sampled::<P, 3, 2>,
            (3, 3) => sampled::<P, 3, 4>,
            _ => sampled::<P, 0, 0>,
        };
        let points = |range: Range<usize>| {
            let ends = &ends;
            // SAFETY: the coefficients have the lengths in `job.axes`, and each point of the result belongs to one task
            // only.
            unsafe { run(&job, ends.from, ends.to, range) }
        };
        let last = job.tables.last().map_or(0, Vec::len);
        if last > 0 && Rows::<P>::suit(count, order, channels, job.axes[count - 1].len, last) {
            let rows = Rows { tables: &job.tables, apart, from: ends.from, to: ends.to, one_by_one: &points };
            // SAFETY: the coefficients have the lengths in `job.axes`, and each point of the result belongs to one task
            // only.
            unsafe { if order == 1 { rows.run::<2>(op, n)? } else { rows.run::<4>(op, n)? } }
        } else {
            parallel::parallel_timed(n / channels, channels, points);
        }
        Ok(())
    })?;
    // SAFETY: every point has been written.
    unsafe { RawArray::new(op, sampling.shape.clone(), out) }
}

/// Computes the taps (offsets and weights of coefficients) of all positions of a grid, as one list for each axis.
fn tables(
    op: &'static str,
    axes: &[SampledAxis],
    lengths: &[usize],
    shape: &[usize],
    cells: bool,
) -> Result<Vec<Vec<Taps>>> {
    let mut all = Vec::with_capacity(axes.len());
    for ((axis, &from), &to) in axes.iter().zip(lengths).zip(shape) {
        let mut table = rules::list(op, to)?;
        table.extend((0..to).map(|i| {
            let mut taps = Taps::NONE;
            axis.taps(rules::zoomed_place(i, from, to, cells), &mut taps);
            taps
        }));
        all.push(table);
    }
    Ok(all)
}

versions! {
    /// Writes the values at a range of points, which are counted through all arrays of the stack. `N` is the number of
    /// axes, and `W` is the number of coefficients along each axis. If both are 0, these numbers are read from the job.
    ///
    /// # Safety
    /// `x` must have the coefficients of the job, and `out` must have room for its points. Nobody else may use the
    /// points of the range.
    unsafe fn sampled[P: Pixel, const N: usize, const W: usize][P, N, W](job: &Job<'_>, x: *const P, out: *mut P, range: Range<usize>) {
        let count = if N > 0 { N } else { job.count };
        let beyond = P::number(job.cval);
        let mut taps = [Taps::NONE; MAX_SAMPLED_AXES];
        let mut place = [0.0; MAX_SAMPLED_AXES];
        let mut index = [0_usize; MAX_SAMPLED_AXES];
        let mut outer = [0.0; MAX_SAMPLED_AXES];
        let grid: &[usize] = match job.source {
            Source::Map { grid, .. } => grid,
            Source::Grid { shape, .. } => shape,
            Source::Points(_) => &[],
        };
        let (mut stack, mut point) = (range.start / job.points, range.start % job.points);
        let mut rest = point;
        for (axis, &len) in grid.iter().enumerate().rev() {
            index[axis] = rest % len;
            rest /= len;
        }
        let mut is_row_new = true;
        for at in range {
            if point == job.points {
                (stack, point) = (stack + 1, 0);
            }
            match job.source {
                Source::Points(points) => {
                    let [component, apart, batch] = points.strides;
                    let start = stack as isize * batch + point as isize * apart;
                    for axis in 0..count {
                        // SAFETY: the offset leads to a coordinate of a point.
                        place[axis] = unsafe { points.at(start + axis as isize * component) };
                    }
                }
                Source::Map { rows, offset, .. } => {
                    let last = count - 1;
                    if is_row_new {
                        for axis in 0..count {
                            outer[axis] = (0..last).fold(0.0, |sum, k| sum + index[k] as f64 * rows[axis][k]);
                        }
                    }
                    for axis in 0..count {
                        place[axis] = outer[axis] + index[last] as f64 * rows[axis][last] + offset[axis];
                    }
                }
                Source::Grid { .. } => {
                    for axis in 0..count {
                        taps[axis] = job.tables[axis][index[axis]];
                    }
                }
            }
            if job.tables.is_empty() {
                for axis in 0..count {
                    job.axes[axis].taps(place[axis], &mut taps[axis]);
                }
            }
            let mut whole = Place::Inside;
            for taps in &taps[..count] {
                match taps.place {
                    Place::Outside => whole = Place::Outside,
                    Place::Edge if whole == Place::Inside => whole = Place::Edge,
                    _ => {}
                }
            }
            // SAFETY: an array of the stack begins at this offset.
            let x = unsafe { x.add(stack * job.apart) };
            for channel in 0..job.channels {
                // SAFETY: the point is inside, or its taps have been mapped inside, and `at` is a point of the result.
                unsafe {
                    let x = x.add(channel);
                    let value = match whole {
                        Place::Outside => beyond,
                        Place::Inside if N > 0 && job.channels == 1 => inside::<P, N, W>(x, &taps, &job.axes, 1),
                        Place::Inside if N > 0 => inside::<P, N, W>(x, &taps, &job.axes, job.channels as isize),
                        _ => anywhere(x, 0, &taps[..count], job.order + 1, beyond),
                    };
                    *out.add(at * job.channels + channel) = P::rounded(value);
                }
            }
            point += 1;
            is_row_new = false;
            for axis in (0..grid.len()).rev() {
                index[axis] += 1;
                if index[axis] < grid[axis] {
                    break;
                }
                index[axis] = 0;
                is_row_new = true;
            }
            is_row_new |= grid.len() > 1 && index[grid.len() - 1] == 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::typed::{affine_transform, map_coordinates, zoom},
        *,
    };
    use backend_core::{
        Error,
        numpyish::{Numpyish, testing::layouts},
    };
    use ndarray::{ArrayD, Axis, IxDyn, Slice, arr1, arr2};

    const B: Numpyish = Numpyish::new();

    fn image(shape: &[usize]) -> ArrayD<f64> {
        let mut at = 0;
        ArrayD::from_shape_simple_fn(IxDyn(shape), || {
            at += 1;
            f64::from(at * 7919 % 101) - 50.0
        })
    }

    /// The array is large enough for several threads. Their ranges begin in the middle of rows and in the middle of
    /// arrays of the stack.
    #[test]
    fn a_shift_by_whole_numbers_moves_elements() {
        let x = image(&[3, 61, 67]);
        let unit = arr2(&[[1.0, 0.0], [0.0, 1.0]]).into_dyn().into_shared();
        let offset = arr1(&[2.0, -3.0]).into_dyn().into_shared();
        let mut expected = ArrayD::from_elem(x.raw_dim(), 9.0);
        let (rows, columns) = (Slice::from(2..), Slice::from(..-3));
        let part = x.slice_axis(Axis(1), rows).slice_axis(Axis(2), columns).to_owned();
        let (rows, columns) = (Slice::from(..-2), Slice::from(3..));
        expected.slice_axis_mut(Axis(1), rows).slice_axis_mut(Axis(2), columns).assign(&part);
        for x in layouts(&x) {
            for order in [0, 1, 3, 5] {
                let y =
                    affine_transform(&B, &x, &unit, Some(&offset), None, order, Boundary::Constant, 9.0, true).unwrap();
                let near = y.iter().zip(&expected).all(|(y, e)| (y - e).abs() < 1e-9);
                assert!(near, "order {order}");
            }
        }
    }

    /// Compares `zoom`, which combines whole lines of coefficients in more than one span, with `map_coordinates` at the
    /// same positions, point by point.
    #[test]
    fn a_grid_is_its_places() {
        for (from, to) in [(&[7, 1300][..], &[11, 1900][..]), (&[9, 1300], &[5, 700]), (&[5, 6, 40], &[9, 4, 61])] {
            let x = image(from).into_shared();
            let mut at = ArrayD::zeros([&[to.len()], to].concat());
            for (index, value) in at.indexed_iter_mut() {
                let axis = index[0];
                *value = rules::zoomed_place(index[axis + 1], from[axis], to[axis], false);
            }
            let at = at.into_shared();
            for order in [1, 3] {
                for mode in [Boundary::Constant, Boundary::Nearest, Boundary::Reflect, Boundary::GridConstant] {
                    let by_places = map_coordinates(&B, &x, &at, order, mode, 9.0, true).unwrap();
                    let rows = zoom(&B, &x, to, order, mode, 9.0, true, false).unwrap();
                    let near = rows.iter().zip(&by_places).all(|(y, e)| (y - e).abs() < 1e-10);
                    assert!(near, "{from:?} {to:?} order {order} {mode}");
                }
            }
        }
    }

    #[test]
    fn places_that_are_not_known() {
        let x = image(&[5, 6]).into_shared();
        let (nan, inf) = (f64::NAN, f64::INFINITY);
        let at = arr2(&[[1.0, nan, inf, -inf, 1e300], [1.0, 1.0, 1.0, 1.0, 1.0]]).into_dyn().into_shared();
        let of = |mode| map_coordinates(&B, &x, &at, 1, mode, 7.0, true).unwrap().iter().copied().collect::<Vec<_>>();
        assert_eq!(of(Boundary::Constant)[2..], [7.0, 7.0, 7.0]);
        assert_eq!(of(Boundary::GridConstant)[2..], [7.0, 7.0, 7.0]);
        assert_eq!(of(Boundary::Nearest)[2..], [x[[4, 1]], x[[0, 1]], x[[4, 1]]]);
        for mode in [Boundary::Constant, Boundary::Reflect, Boundary::Mirror, Boundary::Wrap, Boundary::GridWrap] {
            assert!(of(mode)[1].is_nan() && of(mode)[0] == x[[1, 1]], "{mode}");
        }
        assert!(of(Boundary::GridWrap)[2].is_nan());
    }

    #[test]
    fn what_is_refused() {
        let x = image(&[5, 6]).into_shared();
        let at = image(&[2, 3]).into_shared();
        let refused = map_coordinates(&B, &x, &at, 6, Boundary::Constant, 0.0, true);
        assert!(matches!(refused, Err(Error::Argument { op: "map_coordinates", .. })));
        let none = image(&[0, 6]).into_shared();
        let refused = map_coordinates(&B, &none, &at, 1, Boundary::Constant, 0.0, true);
        assert!(matches!(refused, Err(Error::Shape { op: "map_coordinates", .. })));
    }
}
