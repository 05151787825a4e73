//! Rules for images: the shapes of interpolations and filters, and the handling of coordinates beyond an edge.

use super::count;
use crate::{Boundary, Error, Lengths, PadMode, Result};

/// Maximum number of axes along which an array is interpolated.
pub const MAX_SAMPLED_AXES: usize = 8;

/// Width of the border that is added to an array before the spline filter, if the mode needs a border. Elements beyond
/// this border would have no significant effect.
pub const SPLINE_BORDER: usize = 12;

/// An interpolation in a stack of arrays with channels. The stack has the shape `stack` x `lengths` x `channels`, and
/// each array has `points` positions at which values are computed.
#[derive(Clone, Debug, PartialEq)]
pub struct Sampling {
    /// Number of arrays in the stack of the result.
    pub stack: usize,
    /// First axis along which the array is interpolated.
    pub first: usize,
    /// Lengths of the axes along which the array is interpolated.
    pub lengths: Vec<usize>,
    /// Number of channels, which are the elements at each position of the array.
    pub channels: usize,
    /// Number of positions in each array of the stack.
    pub points: usize,
    /// Shape of the result.
    pub shape: Vec<usize>,
}

impl Sampling {
    fn new(
        op: &'static str,
        x: &[usize],
        [first, stack, channels]: [usize; 3],
        lengths: &[usize],
        shape: Vec<usize>,
        size: usize,
    ) -> Result<Sampling> {
        if lengths.is_empty() || lengths.len() > MAX_SAMPLED_AXES {
            return Err(Error::shape(op, x, format!("must have 1 to {MAX_SAMPLED_AXES} axes that are interpolated")));
        }
        let n = count(op, &shape, size)?;
        if n > 0 && lengths.contains(&0) {
            return Err(Error::shape(op, x, "must have elements to interpolate"));
        }
        let points = n.checked_div(stack * channels).unwrap_or(0);
        Ok(Sampling { stack, first, lengths: lengths.to_vec(), channels, points, shape })
    }
}

/// Returns `order`, the order of a spline. Returns an error unless it is between 0 and 5.
pub fn spline_order(op: &'static str, order: usize) -> Result<usize> {
    match order {
        0..=5 => Ok(order),
        _ => Err(Error::argument(op, format!("`order` is {order}, but must be between 0 and 5"))),
    }
}

/// Plans an interpolation at given coordinates. The first axis of `coordinates` has one entry for each axis of the
/// array. The other axes are the axes of the result.
pub fn mapped(op: &'static str, x: &[usize], coordinates: &[usize], size: usize) -> Result<Sampling> {
    match coordinates {
        [n, points @ ..] if *n == x.len() => Sampling::new(op, x, [0, 1, 1], x, points.to_vec(), size),
        _ => Err(Error::shapes(op, x, coordinates)),
    }
}

/// Plans an interpolation of a batch of grids with channels. The last axis of the coordinates has one coordinate for
/// each axis of the grid. If the batch of grids or the batch of coordinates has length 1, it broadcasts.
pub fn grid_sampled(op: &'static str, grid: &[usize], coordinates: &[usize], size: usize) -> Result<Sampling> {
    let ([batch, lengths @ .., channels], [batches, points @ .., n]) = (grid, coordinates) else {
        return Err(Error::shapes(op, grid, coordinates));
    };
    let fits = *n == lengths.len() && (batch == batches || *batch == 1 || *batches == 1);
    if !fits {
        return Err(Error::shapes(op, grid, coordinates));
    }
    let stack = if *batch == 1 { *batches } else { *batch };
    let shape = [&[stack], points, &[*channels]].concat();
    Sampling::new(op, grid, [1, stack, *channels], lengths, shape, size)
}

/// An affine map of the last axes of an array.
#[derive(Clone, Debug, PartialEq)]
pub struct AffineMap {
    /// The plan of the interpolation at the mapped positions.
    pub sampling: Sampling,
    /// Lengths of the result's last axes.
    pub grid: Vec<usize>,
    /// True if the last column of the matrix is the offset.
    pub homogeneous: bool,
}

/// Plans the affine map that a square matrix describes. The matrix may have one more column, which is the offset. A
/// matrix with this column may also have one more row.
pub fn affine(
    op: &'static str,
    x: &[usize],
    matrix: &[usize],
    offset: Option<&[usize]>,
    grid: Option<Lengths>,
    size: usize,
) -> Result<AffineMap> {
    let (n, homogeneous) = match *matrix {
        [rows, columns] if rows == columns && rows <= x.len() => (rows, false),
        [rows, columns] if rows + 1 == columns && rows <= x.len() => (rows, true),
        [rows, columns] if rows == columns && rows == x.len() + 1 => (rows - 1, true),
        _ => return Err(Error::shapes(op, x, matrix)),
    };
    if let Some(offset) = offset {
        if homogeneous {
            return Err(Error::argument(
                op,
                "`offset` is given, but must be left out because the matrix has a column of offsets",
            ));
        }
        if *offset != [n] {
            return Err(Error::shapes(op, matrix, offset));
        }
    }
    let (before, lengths) = x.split_at(x.len() - n);
    let grid = resized(op, lengths, grid)?;
    let shape = [before, &grid].concat();
    let sampling = Sampling::new(op, x, [before.len(), count(op, before, 1)?, 1], lengths, shape, size)?;
    Ok(AffineMap { sampling, grid, homogeneous })
}

fn resized(op: &'static str, lengths: &[usize], given: Option<Lengths>) -> Result<Vec<usize>> {
    let Some(given) = given else { return Ok(lengths.to_vec()) };
    match given.as_slice() {
        Some(grid) if grid.len() == lengths.len() => Ok(grid.to_vec()),
        _ => {
            Err(Error::argument(op, format!("`shape` has {} lengths, but must have {}", given.count(), lengths.len())))
        }
    }
}

/// Plans an interpolation at the points of a grid of shape `shape` that covers the whole array.
pub fn zoomed(op: &'static str, x: &[usize], shape: &[usize], size: usize) -> Result<Sampling> {
    if shape.len() != x.len() {
        return Err(Error::shapes(op, x, shape));
    }
    Sampling::new(op, x, [0, 1, 1], x, shape.to_vec(), size)
}

/// Returns the coordinate, on an axis of length `from`, of index `i` of a resized axis of length `to`. Both axes have
/// the same extent: from the first to the last element, or if `cells` is true, from the outer edge of the first element
/// to the outer edge of the last element. If `cells` is false, the coordinates of the first and the last element are
/// exact.
pub fn zoomed_place(i: usize, from: usize, to: usize, cells: bool) -> f64 {
    let (i, to) = (i as f64, to as f64);
    if cells {
        (i + 0.5) * (from as f64 / to) - 0.5
    } else if to > 1.0 {
        i * (from as f64 - 1.0) / (to - 1.0)
    } else {
        i
    }
}

/// Returns the mode of the border to add to an array before the spline filter; `None` if no border is needed, because
/// the filter does not run, or because the filter itself implements the mode.
pub fn spline_border(mode: Boundary, order: usize, prefilter: bool) -> Option<PadMode> {
    match mode {
        Boundary::Nearest if prefilter && order > 1 => Some(PadMode::Edge),
        Boundary::GridConstant if prefilter && order > 1 => Some(PadMode::Constant),
        _ => None,
    }
}

/// Returns the poles of the filter that converts samples to coefficients of a spline. They are the roots of the
/// filter's polynomial that lie inside the unit circle.
pub fn spline_poles(order: usize) -> &'static [f64] {
    const QUADRATIC: [f64; 1] = [-0.171_572_875_253_809_9];
    const CUBIC: [f64; 1] = [-0.267_949_192_431_122_7];
    const QUARTIC: [f64; 2] = [-0.361_341_225_900_220_2, -0.013_725_429_297_339_122];
    const QUINTIC: [f64; 2] = [-0.430_575_347_099_973_8, -0.043_096_288_203_264_65];
    match order {
        2 => &QUADRATIC,
        3 => &CUBIC,
        4 => &QUARTIC,
        5 => &QUINTIC,
        _ => &[],
    }
}

/// The continuation of samples beyond the ends of an axis, for a spline's filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SplineEnds {
    /// Mirrored about the end element, which is not repeated.
    Mirror,
    /// Mirrored about the edge, so that the end element is repeated.
    Reflect,
    /// Periodic.
    Wrap,
}

/// Returns the continuation of the samples that the filter uses for a boundary mode.
pub fn spline_ends(mode: Boundary) -> SplineEnds {
    match mode {
        Boundary::Reflect | Boundary::Nearest => SplineEnds::Reflect,
        Boundary::GridWrap => SplineEnds::Wrap,
        _ => SplineEnds::Mirror,
    }
}

/// Returns the index of the element that a filter reads at `index`, which may be beyond the ends of the axis; `None` if
/// the filter takes the constant value there. As in SciPy's filters, the mode `wrap` has the period `len`, so that no
/// two of the `len` elements coincide.
pub fn extended(index: isize, len: usize, mode: Boundary) -> Option<usize> {
    let len = isize::try_from(len).unwrap_or(isize::MAX);
    if (0..len).contains(&index) {
        return Some(index as usize);
    }
    // the products below saturate only for lengths that no array in memory has
    let mirrored = |period: isize| {
        let at = index.rem_euclid(period.max(1));
        if at < len { at } else { period - 1 - at }
    };
    let index = match mode {
        _ if len == 0 => return None,
        Boundary::Constant | Boundary::GridConstant => return None,
        Boundary::Nearest => index.clamp(0, len - 1),
        Boundary::Wrap | Boundary::GridWrap => index.rem_euclid(len),
        Boundary::Reflect => mirrored(len.saturating_mul(2)),
        Boundary::Mirror if len == 1 => 0,
        Boundary::Mirror => {
            let period = (len - 1).saturating_mul(2);
            let at = index.rem_euclid(period);
            at.min(period - at)
        }
    };
    Some(index as usize)
}

/// A window along an axis, described by the number of elements before its middle element, and the number of all
/// elements except the middle one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Number of elements before the middle element.
    pub before: usize,
    /// Number of all elements except the middle element.
    pub border: usize,
}

/// Returns the window of `size` elements, shifted by `origin` to the left. If `size` is even, the middle element is the
/// second of the two middle elements.
pub fn window(op: &'static str, len: usize, size: usize, origin: isize) -> Result<Window> {
    let before = (size / 2).checked_add_signed(origin).filter(|&before| before < size);
    let Some(before) = before else {
        let why = match size {
            0 => "the window has 0 elements, but must have at least 1".to_string(),
            _ => format!("`origin` is {origin}, but must lie within the window of {size}"),
        };
        return Err(Error::argument(op, why));
    };
    // the sum of the lengths of axis and window must not overflow
    count(op, &[len.saturating_add(size)], 1)?;
    Ok(Window { before, border: size - 1 })
}

/// Returns a window of `size` elements for a minimum or maximum filter, cut to `2 * len` elements before and after the
/// middle element. At every position, the cut window covers all elements of the axis and of its continuation beyond
/// both ends. A longer window would only repeat these elements.
pub fn covering_window(op: &'static str, len: usize, size: usize) -> Result<Window> {
    let window = window(op, len, size, 0)?;
    let most = len.saturating_mul(2);
    let (before, after) = (window.before.min(most), (window.border - window.before).min(most));
    Ok(Window { before, border: before + after })
}

/// Returns the number of weights of a filter along one axis. `shape` is the shape of the weights.
pub fn weights(op: &'static str, shape: &[usize]) -> Result<usize> {
    match shape {
        [n] if *n > 0 => Ok(*n),
        _ => Err(Error::shape(op, shape, "of `weights` must have one axis that is not empty")),
    }
}

/// Returns the size of a window along each axis. `sizes` has one number for all axes, or one number for each axis.
pub fn window_sizes(op: &'static str, shape: &[usize], sizes: &[usize]) -> Result<Vec<usize>> {
    match sizes {
        all if all.len() == shape.len() => Ok(all.to_vec()),
        &[one] => Ok(vec![one; shape.len()]),
        _ => Err(Error::shape(op, shape, format!("must have {} axes, like the window", sizes.len()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_fit_arrays() {
        let shape = |x: &[usize], c: &[usize]| mapped("op", x, c, 8).map(|s| (s.points, s.shape));
        assert_eq!(shape(&[3, 4], &[2, 5, 6]), Ok((30, vec![5, 6])));
        assert_eq!(shape(&[3], &[1]), Ok((1, vec![])));
        assert!(matches!(shape(&[3, 4], &[3, 5]), Err(Error::Shapes { .. })));
        assert!(matches!(shape(&[], &[0, 2]), Err(Error::Shape { .. })));
        assert!(matches!(shape(&[3, 0], &[2, 5]), Err(Error::Shape { .. })));
        assert_eq!(shape(&[3, 0], &[2, 0]), Ok((0, vec![0])));
        let sampled = |x: &[usize], c: &[usize]| grid_sampled("op", x, c, 8).map(|s| s.shape);
        assert_eq!(sampled(&[1, 3, 4, 2], &[5, 6, 2]), Ok(vec![5, 6, 2]));
        assert_eq!(sampled(&[5, 3, 4, 2], &[1, 6, 7, 2]), Ok(vec![5, 6, 7, 2]));
        assert!(sampled(&[5, 3, 4, 2], &[4, 6, 2]).is_err());
        assert!(sampled(&[5, 3, 4, 2], &[5, 6, 3]).is_err());
        assert!(sampled(&[5], &[5, 0]).is_err());
    }

    #[test]
    fn matrices_of_affine_maps() {
        let of = |x: &[usize], m: &[usize], o: Option<&[usize]>| affine("op", x, m, o, None, 8);
        assert_eq!(of(&[5, 3, 4], &[2, 2], None).unwrap().sampling.stack, 5);
        assert!(!of(&[3, 4], &[2, 2], Some(&[2])).unwrap().homogeneous);
        assert!(of(&[3, 4], &[2, 3], None).unwrap().homogeneous);
        assert!(of(&[3, 4], &[3, 3], None).unwrap().homogeneous);
        assert!(matches!(of(&[3, 4], &[3, 3], Some(&[2])), Err(Error::Argument { .. })));
        assert!(matches!(of(&[3, 4], &[2, 2], Some(&[3])), Err(Error::Shapes { .. })));
        assert!(matches!(of(&[3, 4], &[4, 4], None), Err(Error::Shapes { .. })));
        assert!(affine("op", &[3, 4], &[2, 2], None, Some(Lengths::from(5)), 8).is_err());
    }

    #[test]
    fn zooms_reach_both_ends() {
        for (from, to) in [(3, 10), (10, 3), (7, 7), (5, 1)] {
            assert_eq!(zoomed_place(0, from, to, false), 0.0);
            let last = zoomed_place(to - 1, from, to, false);
            assert_eq!(last, if to > 1 { from as f64 - 1.0 } else { 0.0 });
        }
        assert_eq!(zoomed_place(0, 4, 8, true), -0.25);
    }

    #[test]
    fn filters_go_beyond_the_ends() {
        let of = |mode| (-5..9).map(|i| extended(i, 3, mode).map_or(9, |i| i)).collect::<Vec<_>>();
        assert_eq!(of(Boundary::Reflect), [1, 2, 2, 1, 0, 0, 1, 2, 2, 1, 0, 0, 1, 2]);
        assert_eq!(of(Boundary::Mirror), [1, 0, 1, 2, 1, 0, 1, 2, 1, 0, 1, 2, 1, 0]);
        assert_eq!(of(Boundary::Wrap), [1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2]);
        assert_eq!(of(Boundary::Nearest), [0, 0, 0, 0, 0, 0, 1, 2, 2, 2, 2, 2, 2, 2]);
        assert_eq!(of(Boundary::Constant), [9, 9, 9, 9, 9, 0, 1, 2, 9, 9, 9, 9, 9, 9]);
        assert_eq!(extended(-3, 1, Boundary::Mirror), Some(0));
        assert_eq!(window("op", 5, 4, 0), Ok(Window { before: 2, border: 3 }));
        assert_eq!(window("op", 5, 3, -1), Ok(Window { before: 0, border: 2 }));
        assert!(matches!(window("op", 5, 3, 2), Err(Error::Argument { .. })));
        assert!(matches!(window("op", 5, 0, 0), Err(Error::Argument { .. })));
        assert!(matches!(window("op", 5, usize::MAX, 0), Err(Error::Memory { .. })));
        assert_eq!(covering_window("op", 5, 4), window("op", 5, 4, 0));
        assert_eq!(covering_window("op", 5, 1 << 50), Ok(Window { before: 10, border: 20 }));
    }

    /// Checks that each pole is a root of the polynomial whose coefficients are proportional to the values of a
    /// B-spline at integers.
    #[test]
    fn poles_are_roots() {
        let polynomials: [&[f64]; 4] =
            [&[1.0, 6.0, 1.0], &[1.0, 4.0, 1.0], &[1.0, 76.0, 230.0, 76.0, 1.0], &[1.0, 26.0, 66.0, 26.0, 1.0]];
        for (order, coefficients) in (2..).zip(polynomials) {
            for &pole in spline_poles(order) {
                let value = coefficients.iter().fold(0.0, |sum, c| sum * pole + c);
                assert!(value.abs() < 1e-13 && pole.abs() < 1.0, "{order}: {pole} gives {value}");
            }
        }
    }
}
