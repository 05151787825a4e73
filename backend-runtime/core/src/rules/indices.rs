//! Rules for the shapes of gathers, scatters and masks.

use super::{axis, broadcast, count, index::fits};
use crate::{DType, Error, Result};

/// Returns the axis along which elements are taken, and the shape of the result. In this shape, the axes of the indices
/// replace the axis.
pub fn taken(
    op: &'static str,
    x: &[usize],
    indices: &[usize],
    along: isize,
    size: usize,
) -> Result<(usize, Vec<usize>)> {
    let along = axis(op, along, x.len())?;
    let shape = [&x[..along], indices, &x[along + 1..]].concat();
    count(op, &shape, size)?;
    Ok((along, shape))
}

/// A gather along an axis with one index for each position of the result, as in `take_along_axis`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Along {
    /// Axis along which elements are taken.
    pub axis: usize,
    /// Shape to which the array broadcasts.
    pub x: Vec<usize>,
    /// Shape to which the indices broadcast: the shape of the result.
    pub shape: Vec<usize>,
}

/// Plans a gather along an axis with one index for each position. The other axes broadcast. `size` is the size of an
/// element in bytes.
pub fn along(op: &'static str, x: &[usize], indices: &[usize], along: isize, size: usize) -> Result<Along> {
    let axis = axis(op, along, x.len())?;
    let refused = || Error::shapes(op, x, indices);
    if indices.len() != x.len() {
        return Err(refused());
    }
    let with = |shape: &[usize], len: usize| [&shape[..axis], &[len], &shape[axis + 1..]].concat();
    let others = broadcast(op, &with(x, 1), &with(indices, 1)).map_err(|_| refused())?;
    let (x, shape) = (with(&others, x[axis]), with(&others, indices[axis]));
    count(op, &x, size)?;
    count(op, &shape, size.max(size_of::<i64>()))?;
    Ok(Along { axis, x, shape })
}

/// Returns the axis of a scatter, along which the indices select positions. The values must have the shape of the
/// array, except along this axis, where they have one entry for each index.
pub fn scattered(op: &'static str, x: &[usize], indices: &[usize], values: &[usize], along: isize) -> Result<usize> {
    let along = axis(op, along, x.len())?;
    let &[many] = indices else {
        return Err(Error::shape(op, indices, "of the indices must have one axis"));
    };
    let mut wanted = x.to_vec();
    wanted[along] = many;
    if values == wanted { Ok(along) } else { Err(Error::shapes(op, &wanted, values)) }
}

/// Returns an error if an index into an array of this shape may exceed the largest number of the integer dtype
/// `dtype`.
pub fn check_indices(op: &'static str, shape: &[usize], dtype: DType) -> Result<()> {
    match shape.iter().find(|&&len| len > 0 && !dtype.holds((len - 1) as i128)) {
        Some(len) => {
            Err(Error::argument(op, format!("an axis has {len} elements, but their indices must fit {dtype}")))
        }
        None => Ok(()),
    }
}

/// Returns the shape of the result of a segment op: the shape of `x`, with length `segments` along the axis. `named` is
/// the shape of the 1-D array with the segment number of each index of `x` along the axis.
pub fn segmented(
    op: &'static str,
    x: &[usize],
    named: &[usize],
    segments: usize,
    along: isize,
    size: usize,
) -> Result<Vec<usize>> {
    let mut shape = x.to_vec();
    shape[axis(op, along, x.len())?] = segments;
    scattered(op, &shape, named, x, along)?;
    count(op, &shape, size)?;
    Ok(shape)
}

/// Returns three facts about 1-D `indices` that divide an axis into segments: the axis, the length of the axis, and the
/// number of segments (one for each index). Checks that a result with one more segment fits in memory.
pub fn cut(
    op: &'static str,
    x: &[usize],
    indices: &[usize],
    along: isize,
    size: usize,
) -> Result<(usize, usize, usize)> {
    let along = axis(op, along, x.len())?;
    let &[many] = indices else {
        return Err(Error::shape(op, indices, "of the indices must have one axis"));
    };
    let mut shape = x.to_vec();
    shape[along] = many.saturating_add(1);
    count(op, &shape, size)?;
    Ok((along, x[along], many))
}

/// Returns the axis along which `k` elements are selected. Returns an error if the axis has fewer elements.
pub fn chosen(op: &'static str, x: &[usize], k: usize, along: isize) -> Result<usize> {
    let axis = axis(op, along, x.len())?;
    match x[axis] {
        len if k <= len => Ok(axis),
        len => Err(Error::argument(op, format!("k is {k}, but must be at most {len}, the length of axis {axis}"))),
    }
}

/// Returns the axis along which elements are partitioned around the element at `kth`, and the index of that element,
/// counted from the start.
pub fn partitioned(op: &'static str, x: &[usize], kth: isize, along: isize) -> Result<(usize, usize)> {
    let axis = axis(op, along, x.len())?;
    let len = x[axis];
    let place = if kth < 0 { kth as i128 + len as i128 } else { kth as i128 };
    match usize::try_from(place) {
        Ok(place) if place < len => Ok((axis, place)),
        _ => Err(Error::index(op, kth as i128, axis, len)),
    }
}

/// An array, regarded as a list of cells. A mask selects some of the cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Masked {
    /// Number of cells, which is the number of elements of the mask. If the mask has no elements, the array may have
    /// more cells.
    pub cells: usize,
    /// Shape of each cell, which consists of the axes that the mask does not have. A mask of 0 dimensions selects the
    /// whole array or nothing.
    pub cell: Vec<usize>,
}

/// Checks that a mask fits the first axes of an array, and describes the cells of the array: each element of the mask
/// belongs to one cell, which has the remaining axes of the array.
pub fn masked(op: &'static str, x: &[usize], mask: &[usize]) -> Result<Masked> {
    match x.split_at_checked(mask.len()) {
        Some((axes, cell)) if fits(axes, mask) => Ok(Masked { cells: mask.iter().product(), cell: cell.to_vec() }),
        _ => Err(Error::shapes(op, x, mask)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_of_gathers() {
        assert_eq!(taken("take", &[2, 3], &[4, 5], 1, 8), Ok((1, vec![2, 4, 5])));
        assert_eq!(taken("take", &[2, 3], &[], -2, 8), Ok((0, vec![3])));
        assert!(matches!(taken("take", &[], &[1], 0, 8), Err(Error::Axis { .. })));
        let gather = along("take_along_axis", &[2, 3], &[1, 5], 1, 8).unwrap();
        assert_eq!((gather.axis, gather.x, gather.shape), (1, vec![2, 3], vec![2, 5]));
        assert!(matches!(along("take_along_axis", &[2, 3], &[3, 5], 1, 8), Err(Error::Shapes { .. })));
        assert!(matches!(along("take_along_axis", &[2, 3], &[5], 1, 8), Err(Error::Shapes { .. })));
    }

    #[test]
    fn shapes_of_scatters() {
        assert_eq!(scattered("scatter", &[2, 3], &[5], &[2, 5], -1), Ok(1));
        assert!(matches!(scattered("scatter", &[2, 3], &[5], &[2, 3], -1), Err(Error::Shapes { .. })));
        assert!(matches!(scattered("scatter", &[2, 3], &[5, 1], &[2, 5], -1), Err(Error::Shape { .. })));
    }

    #[test]
    fn indices_fit_into_their_dtype() {
        assert_eq!(check_indices("indices", &[128, 1], DType::Int8), Ok(()));
        assert!(matches!(check_indices("indices", &[1, 129], DType::Int8), Err(Error::Argument { .. })));
    }

    #[test]
    fn segments_along_an_axis() {
        assert_eq!(segmented("segment_sum", &[2, 3], &[3], 5, -1, 8), Ok(vec![2, 5]));
        assert!(matches!(segmented("segment_sum", &[2, 3], &[2], 5, -1, 8), Err(Error::Shapes { .. })));
        assert!(matches!(segmented("segment_sum", &[2, 3], &[3], usize::MAX, -1, 8), Err(Error::Memory { .. })));
        assert_eq!(cut("indexed_segment_sum", &[2, 3], &[4], 0, 8), Ok((0, 2, 4)));
        assert!(matches!(cut("indexed_segment_sum", &[2, 3], &[4, 1], 0, 8), Err(Error::Shape { .. })));
    }

    #[test]
    fn places_among_the_elements_of_an_axis() {
        assert_eq!(chosen("topk", &[2, 3], 3, -1), Ok(1));
        assert!(matches!(chosen("topk", &[2, 3], 4, -1), Err(Error::Argument { .. })));
        assert_eq!(partitioned("partition", &[2, 3], -3, 1), Ok((1, 0)));
        assert!(matches!(partitioned("partition", &[2, 3], 3, 1), Err(Error::Index { .. })));
        assert!(matches!(partitioned("partition", &[2, 0], isize::MIN, 1), Err(Error::Index { .. })));
    }

    #[test]
    fn masks_of_fewer_axes() {
        assert_eq!(masked("boolean_mask", &[2, 3], &[2, 3]), Ok(Masked { cells: 6, cell: vec![] }));
        assert_eq!(masked("boolean_mask", &[2, 3], &[2]), Ok(Masked { cells: 2, cell: vec![3] }));
        assert_eq!(masked("boolean_mask", &[2, 3], &[]), Ok(Masked { cells: 1, cell: vec![2, 3] }));
        assert_eq!(masked("boolean_mask", &[2, 3], &[0]), Ok(Masked { cells: 0, cell: vec![3] }));
        assert_eq!(masked("boolean_mask", &[2, 3, 4], &[2, 0]), Ok(Masked { cells: 0, cell: vec![4] }));
        assert!(matches!(masked("boolean_mask", &[0, 3], &[1, 0]), Err(Error::Shapes { .. })));
        assert!(matches!(masked("boolean_mask", &[2, 3], &[3]), Err(Error::Shapes { .. })));
        assert!(matches!(masked("boolean_mask", &[2], &[2, 1]), Err(Error::Shapes { .. })));
    }
}
