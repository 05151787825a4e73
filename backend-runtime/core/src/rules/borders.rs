//! Rules for padding: widths of borders, the padded shape, and the source of each element of the padded array.

use super::{count, list};
use crate::{Error, PadMode, Result};

/// Expands `widths` to two numbers for each axis: the widths of the borders before and after the elements. As in NumPy,
/// `widths` is one number for all borders, one pair for all axes, or one pair for each axis.
fn border_widths(op: &'static str, shape: &[usize], widths: &[usize]) -> Result<Vec<usize>> {
    match widths {
        all if all.len() == 2 * shape.len() => Ok(all.to_vec()),
        &[one] => Ok(vec![one; 2 * shape.len()]),
        &[before, after] => Ok([before, after].repeat(shape.len())),
        _ => Err(Error::shape(
            op,
            shape,
            format!("needs 1, 2 or {} widths, but {} were given", 2 * shape.len(), widths.len()),
        )),
    }
}

/// Returns the widths of the borders, two for each axis (before and after the elements), and the padded shape. `size`
/// is the size of an element in bytes.
pub fn padded(
    op: &'static str,
    shape: &[usize],
    widths: &[usize],
    mode: PadMode,
    size: usize,
) -> Result<(Vec<usize>, Vec<usize>)> {
    let widths = border_widths(op, shape, widths)?;
    check_borders(op, shape, &widths, mode)?;
    let sum = |(&d, w): (&usize, &[usize])| d.checked_add(w[0])?.checked_add(w[1]);
    let lengths: Option<Vec<usize>> = shape.iter().zip(widths.chunks_exact(2)).map(sum).collect();
    let lengths = lengths.ok_or_else(|| Error::memory(op, usize::MAX))?;
    count(op, &lengths, size)?;
    Ok((widths, lengths))
}

/// Returns an error if an axis of length 0 has a border, because there is no element to repeat. The mode `Constant`
/// repeats no elements, so it allows these borders.
pub fn check_borders(op: &'static str, shape: &[usize], widths: &[usize], mode: PadMode) -> Result<()> {
    let bare = shape.iter().zip(widths.chunks_exact(2)).any(|(&len, width)| len == 0 && width != [0, 0]);
    match mode {
        PadMode::Constant => Ok(()),
        _ if bare => Err(Error::argument(
            op,
            format!("an axis is empty, but mode `{mode}` must have an element to repeat along each axis"),
        )),
        _ => Ok(()),
    }
}

/// Returns, for each index of the padded axis, the index of the source element on the original axis, which has length
/// `len`. Borders may be longer than the original axis.
pub fn pad_sources(op: &'static str, len: usize, before: usize, after: usize, mode: PadMode) -> Result<Vec<usize>> {
    check_borders(op, &[len], &[before, after], mode)?;
    let total = len.saturating_add(before).saturating_add(after);
    let mut sources = list(op, total)?;
    let n = len as isize;
    sources.extend((0..total).map(|i| {
        let i = i as isize - before as isize;
        let source = match mode {
            PadMode::Constant | PadMode::Edge => i.clamp(0, n - 1),
            PadMode::Wrap => i.rem_euclid(n),
            PadMode::Symmetric => {
                let k = i.rem_euclid(2 * n);
                k.min(2 * n - 1 - k)
            }
            PadMode::Reflect if n == 1 => 0,
            PadMode::Reflect => {
                let k = i.rem_euclid(2 * (n - 1));
                k.min(2 * (n - 1) - k)
            }
        };
        source as usize
    }));
    Ok(sources)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_with_borders() {
        let of =
            |shape: &[usize], widths: &[usize], mode| padded("pad", shape, widths, mode, 8).map(|(_, shape)| shape);
        assert_eq!(of(&[3, 0], &[1, 2, 0, 0], PadMode::Edge), Ok(vec![6, 0]));
        let widths = |shape: &[usize], given: &[usize]| border_widths("pad", shape, given);
        assert_eq!(widths(&[3, 4], &[1]), Ok(vec![1, 1, 1, 1]));
        assert_eq!(widths(&[3, 4], &[1, 2]), Ok(vec![1, 2, 1, 2]));
        assert_eq!(widths(&[3, 4], &[1, 2, 3, 4]), Ok(vec![1, 2, 3, 4]));
        assert_eq!(widths(&[], &[1, 2]), Ok(vec![]));
        assert!(matches!(widths(&[3, 4], &[1, 2, 3]), Err(Error::Shape { .. })));
        assert!(matches!(widths(&[3, 4], &[]), Err(Error::Shape { .. })));
        assert!(matches!(of(&[0], &[1, 0], PadMode::Wrap), Err(Error::Argument { .. })));
        assert_eq!(of(&[0], &[1, 0], PadMode::Constant), Ok(vec![1]));
        assert!(matches!(of(&[3], &[usize::MAX, 1], PadMode::Constant), Err(Error::Memory { .. })));
        assert!(matches!(of(&[3], &[1 << 60, 1 << 60], PadMode::Constant), Err(Error::Memory { .. })));
    }

    #[test]
    fn borders_repeat_what_is_there() {
        let of = |mode| pad_sources("pad", 3, 4, 5, mode).unwrap();
        assert_eq!(of(PadMode::Wrap), [2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1]);
        assert_eq!(of(PadMode::Reflect), [0, 1, 2, 1, 0, 1, 2, 1, 0, 1, 2, 1]);
        assert_eq!(of(PadMode::Symmetric), [2, 2, 1, 0, 0, 1, 2, 2, 1, 0, 0, 1]);
        assert_eq!(of(PadMode::Edge), [0, 0, 0, 0, 0, 1, 2, 2, 2, 2, 2, 2]);
        assert!(matches!(pad_sources("pad", 1, usize::MAX, 1, PadMode::Wrap), Err(Error::Memory { .. })));
    }
}
