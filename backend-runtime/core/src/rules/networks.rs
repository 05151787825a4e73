//! Rules for normalizations, losses and attention of neural networks.

use super::{broadcast, count, reduction};
use crate::{Axes, Error, Result};

/// Returns the normalized axes in increasing order, and the shape in which a weight or a bias broadcasts to the
/// elements. A weight has one element for each position along the normalized axes.
pub fn normalized(
    op: &'static str,
    x: &[usize],
    axes: Axes,
    weights: [Option<&[usize]>; 2],
) -> Result<(Vec<isize>, Vec<usize>)> {
    let mut axes = reduction(op, axes, x.len())?;
    axes.sort_unstable();
    let lengths: Vec<usize> = axes.iter().map(|&axis| x[axis]).collect();
    if let Some(weight) = weights.into_iter().flatten().find(|&weight| *weight != lengths) {
        return Err(Error::shapes(op, x, weight));
    }
    let shape = x.iter().enumerate().map(|(axis, &len)| if axes.contains(&axis) { len } else { 1 }).collect();
    Ok((axes.into_iter().map(|axis| axis as isize).collect(), shape))
}

/// Returns the shape in which an array with one element for each channel broadcasts to the elements. The channels are
/// axis 1.
pub fn channels<'a>(
    op: &'static str,
    x: &[usize],
    of_channels: impl IntoIterator<Item = &'a [usize]>,
) -> Result<Vec<usize>> {
    let [_, channels, lengths @ ..] = x else {
        return Err(Error::shape(op, x, "must have at least two axes, the batch axis and the channel axis"));
    };
    if let Some(other) = of_channels.into_iter().find(|&other| *other != [*channels]) {
        return Err(Error::shapes(op, x, other));
    }
    Ok([&[1, *channels][..], &vec![1; lengths.len()]].concat())
}

/// Returns the shape that has one axis for the groups of channels, and one axis for the elements of a group.
pub fn channel_groups(op: &'static str, x: &[usize], groups: usize) -> Result<[usize; 3]> {
    let [batch, channels, lengths @ ..] = x else {
        return Err(Error::shape(op, x, "must have at least two axes, the batch axis and the channel axis"));
    };
    if groups == 0 || !channels.is_multiple_of(groups) {
        let why = format!("`groups` is {groups}, but must divide {channels}, the number of channels");
        return Err(Error::argument(op, why));
    }
    let size = lengths.iter().try_fold(channels / groups, |n, &len| n.checked_mul(len));
    let shape = [*batch, groups, size.ok_or_else(|| Error::memory(op, usize::MAX))?];
    count(op, &shape, 1)?;
    Ok(shape)
}

/// Returns the axis of the classes and their number. The classes are axis 1 of an array of at least two axes, and the
/// axis of an array of one axis. The targets have the shape of the scores without this axis, and there may be a weight
/// for each class.
pub fn classes(op: &'static str, x: &[usize], target: &[usize], weight: Option<&[usize]>) -> Result<(usize, usize)> {
    let axis = match x.len() {
        0 => return Err(Error::shape(op, x, "must have an axis of classes")),
        1 => 0,
        _ => 1,
    };
    if *target != [&x[..axis], &x[axis + 1..]].concat() {
        return Err(Error::shapes(op, x, target));
    }
    match weight {
        Some(weight) if *weight != [x[axis]] => Err(Error::shapes(op, x, weight)),
        _ => Ok((axis, x[axis])),
    }
}

/// The shapes of an attention.
#[derive(Debug, PartialEq, Eq)]
pub struct Attention {
    /// Shape of the result.
    pub shape: Vec<usize>,
    /// The leading axes of all arrays, broadcast together.
    pub batches: Vec<usize>,
    /// Number of queries.
    pub queries: usize,
    /// Number of keys and of values.
    pub keys: usize,
}

/// Plans an attention. The last two axes of the queries, keys and values are the axes of a matrix, and the leading axes
/// broadcast. Each of `masks` broadcasts to the scores, which have a row for each query and a column for each key.
pub fn attention(
    op: &'static str,
    query: &[usize],
    key: &[usize],
    value: &[usize],
    masks: [Option<&[usize]>; 2],
    size: usize,
) -> Result<Attention> {
    let of_matrix = |shape: &[usize]| match *shape {
        [.., rows, columns] => Ok((rows, columns)),
        _ => Err(Error::shape(op, shape, "must have at least two axes, the axes of a matrix")),
    };
    let leading = |shape: &[usize]| shape[..shape.len().saturating_sub(2)].to_vec();
    let ((queries, inner), (keys, width), (values, columns)) = (of_matrix(query)?, of_matrix(key)?, of_matrix(value)?);
    if inner != width {
        return Err(Error::shapes(op, query, key));
    }
    if keys != values {
        return Err(Error::shapes(op, key, value));
    }
    let mut batches = broadcast(op, &leading(query), &leading(key)).map_err(|_| Error::shapes(op, query, key))?;
    batches = broadcast(op, &batches, &leading(value)).map_err(|_| Error::shapes(op, query, value))?;
    for mask in masks.into_iter().flatten() {
        let refused = || Error::shapes(op, &[&batches[..], &[queries, keys]].concat(), mask);
        let fits = |axis: usize, len: usize| mask.len() < axis || [1, len].contains(&mask[mask.len() - axis]);
        if !fits(1, keys) || !fits(2, queries) {
            return Err(refused());
        }
        let all = broadcast(op, &batches, &leading(mask)).map_err(|_| refused())?;
        batches = all;
    }
    let shape = [&batches[..], &[queries, columns]].concat();
    count(op, &shape, size)?;
    // even a single query has a score for each key
    count(op, &[&batches[..], &[queries.min(1), keys]].concat(), size)?;
    Ok(Attention { shape, batches, queries, keys })
}

/// Returns the shape of the distances between the rows of two matrices. The leading axes broadcast.
pub fn distances(op: &'static str, x1: &[usize], x2: &[usize], size: usize) -> Result<Vec<usize>> {
    let refused = || Error::shapes(op, x1, x2);
    let ([leading1 @ .., n, width], [leading2 @ .., m, width2]) = (x1, x2) else { return Err(refused()) };
    if width != width2 {
        return Err(refused());
    }
    let batches = broadcast(op, leading1, leading2).map_err(|_| refused())?;
    let shape = [&batches[..], &[*n, *m]].concat();
    count(op, &shape, size)?;
    Ok(shape)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_of_normalized_axes() {
        let of = |axes: Axes, weight: &[usize]| normalized("layer_norm", &[2, 3, 4], axes, [Some(weight), None]);
        assert_eq!(of((-1).into(), &[4]), Ok((vec![2], vec![1, 1, 4])));
        assert_eq!(of([2, 0].into(), &[2, 4]), Ok((vec![0, 2], vec![2, 1, 4])));
        assert!(matches!(of([2, 0].into(), &[4, 2]), Err(Error::Shapes { .. })));
        assert!(matches!(of(1.into(), &[4]), Err(Error::Shapes { .. })));
        assert_eq!(normalized("layer_norm", &[], (-1).into(), [None, None]), Ok((vec![], vec![])));
    }

    #[test]
    fn channels_are_axis_1() {
        assert_eq!(channels("batch_norm", &[2, 3, 4, 5], [&[3][..], &[3]]), Ok(vec![1, 3, 1, 1]));
        assert!(matches!(channels("batch_norm", &[2, 3], [&[2][..]]), Err(Error::Shapes { .. })));
        assert!(matches!(channels("batch_norm", &[3], []), Err(Error::Shape { .. })));
        assert_eq!(channel_groups("group_norm", &[2, 6, 4], 3), Ok([2, 3, 8]));
        assert_eq!(channel_groups("group_norm", &[0, 6], 2), Ok([0, 2, 3]));
        assert!(matches!(channel_groups("group_norm", &[2, 6], 4), Err(Error::Argument { .. })));
        assert!(matches!(channel_groups("group_norm", &[2, 6], 0), Err(Error::Argument { .. })));
        assert!(matches!(channel_groups("group_norm", &[6], 1), Err(Error::Shape { .. })));
        let large = [0, 2, usize::MAX];
        assert!(matches!(channel_groups("group_norm", &large, 1), Err(Error::Memory { .. })));
    }

    #[test]
    fn targets_are_classes() {
        assert_eq!(classes("nll_loss", &[5], &[], None), Ok((0, 5)));
        assert_eq!(classes("nll_loss", &[2, 5, 3], &[2, 3], Some(&[5])), Ok((1, 5)));
        assert!(matches!(classes("nll_loss", &[2, 5, 3], &[2, 5], None), Err(Error::Shapes { .. })));
        assert!(matches!(classes("nll_loss", &[2, 5], &[2], Some(&[2])), Err(Error::Shapes { .. })));
        assert!(matches!(classes("nll_loss", &[], &[], None), Err(Error::Shape { .. })));
    }

    #[test]
    fn shapes_of_attention() {
        let of = |query: &[usize], key: &[usize], value: &[usize], mask: Option<&[usize]>| {
            attention("attention", query, key, value, [mask, None], 8).map(|plan| (plan.shape, plan.queries, plan.keys))
        };
        assert_eq!(of(&[2, 1, 3, 4], &[6, 5, 4], &[5, 7], None), Ok((vec![2, 6, 3, 7], 3, 5)));
        assert_eq!(of(&[3, 4], &[5, 4], &[5, 7], Some(&[5])), Ok((vec![3, 7], 3, 5)));
        assert_eq!(of(&[3, 4], &[5, 4], &[5, 7], Some(&[2, 3, 1])), Ok((vec![2, 3, 7], 3, 5)));
        assert_eq!(of(&[3, 4], &[0, 4], &[0, 7], Some(&[])), Ok((vec![3, 7], 3, 0)));
        for mask in [&[4][..], &[4, 5], &[5, 1]] {
            assert!(matches!(of(&[3, 4], &[5, 4], &[5, 7], Some(mask)), Err(Error::Shapes { .. })), "{mask:?}");
        }
        assert!(matches!(of(&[3, 4], &[5, 3], &[5, 7], None), Err(Error::Shapes { .. })));
        assert!(matches!(of(&[3, 4], &[5, 4], &[4, 7], None), Err(Error::Shapes { .. })));
        assert!(matches!(of(&[2, 3, 4], &[3, 5, 4], &[5, 7], None), Err(Error::Shapes { .. })));
        assert!(matches!(of(&[4], &[5, 4], &[5, 7], None), Err(Error::Shape { .. })));
        assert!(matches!(of(&[1, 0], &[1 << 62, 0], &[1 << 62, 0], None), Err(Error::Memory { .. })));
    }

    #[test]
    fn shapes_of_distances() {
        assert_eq!(distances("cdist", &[2, 1, 3, 4], &[6, 5, 4], 8), Ok(vec![2, 6, 3, 5]));
        assert!(matches!(distances("cdist", &[3, 4], &[5, 3], 8), Err(Error::Shapes { .. })));
        assert!(matches!(distances("cdist", &[4], &[5, 4], 8), Err(Error::Shapes { .. })));
        assert!(matches!(distances("cdist", &[1 << 40, 0], &[1 << 40, 0], 8), Err(Error::Memory { .. })));
    }
}
