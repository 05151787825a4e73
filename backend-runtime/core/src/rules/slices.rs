//! Rules for slices of axes, as in Python.

use super::check_broadcast_to;
use crate::{Error, Result, Slice};

/// A [`Slice`], resolved for an axis of a certain length: the first index, the number of elements and the step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// First index.
    pub start: usize,
    /// Number of elements.
    pub len: usize,
    /// Distance from one selected index to the next.
    pub step: isize,
    /// True if the result does not have the axis.
    pub drop: bool,
}

/// Resolves a slice of `axis`, which has length `len`, by Python's rule: bounds beyond the ends are clamped, but a
/// single index must be in range.
pub fn span(op: &'static str, slice: Slice, axis: usize, len: usize) -> Result<Span> {
    // in `i128`, the sum of a length and any negative bound does not overflow
    let n = len as i128;
    let from_start = |x: i128| if x < 0 { x.saturating_add(n) } else { x };
    if slice.drop {
        let index = slice.start.unwrap_or(0);
        return match usize::try_from(from_start(index)) {
            Ok(start) if start < len => Ok(Span { start, len: 1, step: 1, drop: true }),
            _ => Err(Error::index(op, index, axis, len)),
        };
    }
    let step = slice.step as i128;
    if step == 0 {
        return Err(Error::argument(op, "the step of a slice is 0, but must not be 0"));
    }
    let (low, high) = if step > 0 { (0, n) } else { (-1, n - 1) };
    let clamp = |x: i128| from_start(x).clamp(low, high);
    let start = slice.start.map_or(if step > 0 { 0 } else { n - 1 }, clamp);
    let stop = slice.stop.map_or(if step > 0 { n } else { -1 }, clamp);
    let distance = if step > 0 { stop - start } else { start - stop };
    // the distance is at most `len`, so it fits `usize`; a 128-bit division would take most of this function's time
    let count = match slice.step {
        _ if distance <= 0 => 0,
        1 | -1 => distance as usize,
        step => (distance - 1) as usize / step.unsigned_abs() + 1,
    };
    Ok(Span { start: start.max(0) as usize, len: count, step: slice.step, drop: false })
}

/// Resolves slices to one span for each axis. An axis without a slice is taken whole. Too many slices are an error.
pub fn spans(op: &'static str, slices: &[Slice], shape: &[usize]) -> Result<Vec<Span>> {
    if slices.len() > shape.len() {
        return Err(Error::shape(
            op,
            shape,
            format!("has {} axes, but {} slices were given", shape.len(), slices.len()),
        ));
    }
    let rest = std::iter::repeat(&Slice::ALL);
    let lengths = shape.iter().enumerate();
    lengths.zip(slices.iter().chain(rest)).map(|((axis, &len), &slice)| span(op, slice, axis, len)).collect()
}

/// Returns the shape `values` without the leading axes of length 1 that `part` does not have. `part` is the shape of
/// the elements that the values replace. Returns an error unless the returned shape broadcasts to `part`.
pub fn assigned<'a>(op: &'static str, values: &'a [usize], part: &[usize]) -> Result<&'a [usize]> {
    let extra = values.len().saturating_sub(part.len());
    let kept = if values[..extra].iter().all(|&d| d == 1) { &values[extra..] } else { values };
    check_broadcast_to(op, kept, part)?;
    Ok(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(clippy::reversed_empty_ranges)] // empty ranges are allowed, as in Python
    fn slices_follow_python() {
        let s = |slice: Slice| span("getitem", slice, 1, 5).map(|s| (s.start, s.len, s.step));
        assert_eq!(s((1..-1).into()), Ok((1, 3, 1)));
        assert_eq!(s((-100..100).into()), Ok((0, 5, 1)));
        assert_eq!(s(Slice::ALL.step(-2)), Ok((4, 3, -2)));
        assert_eq!(s(Slice::from(3..1)), Ok((3, 0, 1)));
        assert_eq!(s(Slice::from(0..0).step(-1)), Ok((0, 0, -1)));
        assert_eq!(s(Slice::at(-1)), Ok((4, 1, 1)));
        assert_eq!(s(Slice::at(5)), Err(Error::index("getitem", 5, 1, 5)));
        assert!(s(Slice::ALL.step(0)).is_err());
        assert_eq!(s(Slice::from(0..usize::MAX)), Ok((0, 5, 1)), "beyond the end, and not -1");
        let beyond = usize::MAX as i128;
        assert_eq!(s(Slice::from(usize::MAX)), Err(Error::index("getitem", beyond, 1, 5)));
    }

    /// Tests all combinations of extreme bounds and extreme lengths.
    #[test]
    fn slices_at_the_ends_of_numbers() {
        let lengths = [0, 1, 5, isize::MAX as usize - 1, isize::MAX as usize, usize::MAX];
        let bounds = [
            None,
            Some(0),
            Some(1),
            Some(-1),
            Some(i128::from(i64::MAX)),
            Some(i128::from(i64::MIN)),
            Some(i128::MAX),
            Some(i128::MIN),
        ];
        for len in lengths {
            for start in bounds {
                for stop in bounds {
                    for step in [1, -1, 2, isize::MAX, isize::MIN] {
                        let slice = Slice { start, stop, step, drop: false };
                        let span = span("getitem", slice, 0, len).unwrap();
                        let last = span.start as i128 + (span.len as i128 - 1) * step as i128;
                        let inside = |at: i128| (0..len as i128).contains(&at);
                        assert!(
                            span.len == 0 || inside(span.start as i128) && inside(last),
                            "{slice:?} of {len}: {span:?}"
                        );
                    }
                }
                let index = Slice { start, stop: None, step: 1, drop: true };
                assert!(span("getitem", index, 0, len).map_or(true, |span| span.start < len));
            }
        }
    }

    #[test]
    fn values_may_have_leading_axes_of_one() {
        assert_eq!(assigned("setitem", &[1, 1, 3], &[2, 3]), Ok(&[1, 3][..]));
        assert_eq!(assigned("setitem", &[], &[2]), Ok(&[][..]));
        assert_eq!(assigned("setitem", &[2, 3], &[3]), Err(Error::shapes("setitem", &[2, 3], &[3])));
        assert_eq!(assigned("setitem", &[2], &[3]), Err(Error::shapes("setitem", &[2], &[3])));
    }
}
