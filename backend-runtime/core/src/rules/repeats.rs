//! Rules for arrays and elements that are repeated along axes.

use super::{axis, count};
use crate::{Error, Result};

/// A repetition by broadcasting: the array is reshaped to `apart`, broadcast to `target`, and reshaped to `shape`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repeats {
    /// Shape of the result.
    pub shape: Vec<usize>,
    /// Shape of the array with an additional axis of length 1 for each axis that repeats.
    pub apart: Vec<usize>,
    /// Like `apart`, but the length of each additional axis is the number of repetitions. The elements of an array of
    /// this shape, in C order, are the elements of the result.
    pub target: Vec<usize>,
}

/// Plans the repetition of a whole array along each axis. If `times` has more numbers than the array has axes, axes are
/// added in front. `size` is the size of an element in bytes.
pub fn tiled(op: &'static str, shape: &[usize], times: &[usize], size: usize) -> Result<Repeats> {
    let ndim = shape.len().max(times.len());
    let aligned = |list: &[usize]| [vec![1; ndim - list.len()], list.to_vec()].concat();
    let (lengths, times) = (aligned(shape), aligned(times));
    let pairs = |of: &dyn Fn(usize) -> usize| (0..ndim).flat_map(|k| [of(k), lengths[k]]).collect();
    let shape = products(op, &lengths, &times, size)?;
    Ok(Repeats { shape, apart: pairs(&|_| 1), target: pairs(&|k| times[k]) })
}

/// Returns the axis along which every element is repeated, and the plan of the repetition.
pub fn repeated(
    op: &'static str,
    shape: &[usize],
    times: usize,
    along: isize,
    size: usize,
) -> Result<(usize, Repeats)> {
    let along = axis(op, along, shape.len())?;
    let mut each = vec![1; shape.len()];
    each[along] = times;
    let with = |n: usize| {
        let mut apart = shape.to_vec();
        apart.insert(along + 1, n);
        apart
    };
    Ok((along, Repeats { shape: products(op, shape, &each, size)?, apart: with(1), target: with(times) }))
}

/// Returns the axis along which every element is repeated by its own count. `counts` is the shape of the counts: one
/// count for each index of the axis, or one count for all elements.
pub fn counted(op: &'static str, shape: &[usize], counts: &[usize], along: isize) -> Result<usize> {
    let along = axis(op, along, shape.len())?;
    match counts {
        [] | [1] => Ok(along),
        [n] if *n == shape[along] => Ok(along),
        _ => Err(Error::shape(op, counts, format!("of `counts` must be [1] or [{}]", shape[along]))),
    }
}

/// Multiplies lengths and repetitions, axis by axis.
fn products(op: &'static str, lengths: &[usize], times: &[usize], size: usize) -> Result<Vec<usize>> {
    let product = |(&l, &t): (&usize, &usize)| l.checked_mul(t).ok_or_else(|| Error::memory(op, usize::MAX));
    let shape = lengths.iter().zip(times).map(product).collect::<Result<Vec<_>>>()?;
    count(op, &shape, size)?;
    Ok(shape)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_of_repeated_arrays() {
        let tiles = tiled("tile", &[2, 3], &[4], 8).unwrap();
        assert_eq!((tiles.shape, tiles.apart, tiles.target), (vec![2, 12], vec![1, 2, 1, 3], vec![1, 2, 4, 3]));
        assert_eq!(tiled("tile", &[3], &[2, 0], 8).unwrap().shape, [2, 0]);
        let (axis, repeats) = repeated("repeat", &[2, 3], 4, 0, 8).unwrap();
        assert_eq!((axis, repeats.shape, repeats.target), (0, vec![8, 3], vec![2, 4, 3]));
        assert!(matches!(repeated("repeat", &[2], usize::MAX, 0, 8), Err(Error::Memory { .. })));
        assert!(matches!(tiled("tile", &[1 << 40], &[1 << 40], 1), Err(Error::Memory { .. })));
        assert!(matches!(repeated("repeat", &[], 1, 0, 8), Err(Error::Axis { .. })));
        assert_eq!(counted("repeat_each", &[2, 3], &[3], -1), Ok(1));
        assert_eq!(counted("repeat_each", &[2, 3], &[], 0), Ok(0));
        assert!(matches!(counted("repeat_each", &[2, 3], &[2], 1), Err(Error::Shape { .. })));
        assert!(matches!(counted("repeat_each", &[2], &[2, 1], 0), Err(Error::Shape { .. })));
    }
}
