//! Shapes: axes, broadcasting, slices and sizes, checked once here for every backend.

use crate::{Axes, Error, PadMode, Result, Slice};

/// An axis as an index into a shape of `ndim` axes; negative ones count from the end.
pub fn axis(op: &'static str, axis: isize, ndim: usize) -> Result<usize> {
    let index = if axis < 0 { ndim.checked_sub(axis.unsigned_abs()) } else { Some(axis.unsigned_abs()) };
    index.filter(|&index| index < ndim).ok_or(Error::Axis { op, axis: axis as i128, ndim })
}

/// Number of elements; an error where bytes of them would not fit `isize::MAX`.
pub fn count(op: &'static str, shape: &[usize], element_size: usize) -> Result<usize> {
    let too_large = Error::Memory { op, bytes: usize::MAX };
    // the product of the non-zero lengths must fit too: strides are computed from it
    let all = shape.iter().filter(|&&d| d != 0).try_fold(element_size.max(1), |n, &d| n.checked_mul(d));
    match all {
        Some(bytes) if bytes <= isize::MAX as usize => Ok(shape.iter().product()),
        _ => Err(too_large),
    }
}

/// The shape two shapes broadcast to.
pub fn broadcast(op: &'static str, left: &[usize], right: &[usize]) -> Result<Vec<usize>> {
    let ndim = left.len().max(right.len());
    let at = |shape: &[usize], i: usize| (i + shape.len()).checked_sub(ndim).map_or(1, |k| shape[k]);
    (0..ndim)
        .map(|i| match (at(left, i), at(right, i)) {
            (a, b) if a == b || b == 1 => Ok(a),
            (1, b) => Ok(b),
            _ => Err(Error::shapes(op, left, right)),
        })
        .collect()
}

/// The shape all shapes broadcast to; `[]` of none.
pub fn broadcast_all<'a>(op: &'static str, shapes: impl IntoIterator<Item = &'a [usize]>) -> Result<Vec<usize>> {
    shapes.into_iter().try_fold(Vec::new(), |shape, next| broadcast(op, &shape, next))
}

/// Whether `from` broadcasts to exactly `to`.
pub fn check_broadcast_to(op: &'static str, from: &[usize], to: &[usize]) -> Result<()> {
    let fits = from.len() <= to.len() && from.iter().rev().zip(to.iter().rev()).all(|(&f, &t)| f == t || f == 1);
    if fits { Ok(()) } else { Err(Error::shapes(op, from, to)) }
}

/// Strides, in elements, of a shape in C order. They mean something where [`count`] accepts the shape; they are computed
/// without a panic for every one.
pub fn c_strides(shape: &[usize]) -> Vec<isize> {
    let mut strides = vec![1_isize; shape.len()];
    for i in (1..shape.len()).rev() {
        strides[i - 1] = strides[i].wrapping_mul(shape[i].max(1) as isize);
    }
    strides
}

/// The shape without `axes`, or with them of length 1.
pub fn reduced(shape: &[usize], axes: &[usize], keepdims: bool) -> Vec<usize> {
    shape
        .iter()
        .enumerate()
        .filter_map(|(i, &d)| if !axes.contains(&i) { Some(d) } else { keepdims.then_some(1) })
        .collect()
}

/// A shape in which one length may be -1: what is left of `size` elements.
pub fn infer(op: &'static str, from: &[usize], to: &[isize]) -> Result<Vec<usize>> {
    let size: usize = from.iter().product();
    let refuse = || Error::Shape { op, shape: from.to_vec(), why: format!("cannot become {to:?}: {size} elements") };
    let known =
        to.iter().filter(|&&d| d >= 0).try_fold(1_usize, |n, &d| n.checked_mul(d as usize)).ok_or_else(refuse)?;
    let unknown = to.iter().filter(|&&d| d < 0).count();
    if to.iter().any(|&d| d < -1) || unknown > 1 || (unknown == 1 && known == 0) {
        return Err(refuse());
    }
    let missing = if unknown == 1 { size / known } else { 1 };
    let shape: Vec<usize> = to.iter().map(|&d| if d < 0 { missing } else { d as usize }).collect();
    if shape.iter().product::<usize>() == size { Ok(shape) } else { Err(refuse()) }
}

/// A [`Slice`] of an axis of known length: first index, number of elements, step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// First index.
    pub start: usize,
    /// Number of elements.
    pub len: usize,
    /// From one element to the next.
    pub step: isize,
    /// Whether the axis goes.
    pub drop: bool,
}

/// Python's rule for a slice of an axis of length `len`: bounds beyond the ends are clamped, a lone index is not.
pub fn span(op: &'static str, slice: Slice, len: usize) -> Result<Span> {
    // sums of a length and what is given fit, whatever they are
    let n = len as i128;
    let from_start = |x: i128| if x < 0 { x.saturating_add(n) } else { x };
    if slice.drop {
        let index = slice.start.unwrap_or(0);
        return match usize::try_from(from_start(index)) {
            Ok(start) if start < len => Ok(Span { start, len: 1, step: 1, drop: true }),
            _ => Err(Error::Index { op, index, len }),
        };
    }
    let step = slice.step as i128;
    if step == 0 {
        return Err(Error::argument(op, "a slice's step is not 0"));
    }
    let (low, high) = if step > 0 { (0, n) } else { (-1, n - 1) };
    let clamp = |x: i128| from_start(x).clamp(low, high);
    let start = slice.start.map_or(if step > 0 { 0 } else { n - 1 }, clamp);
    let stop = slice.stop.map_or(if step > 0 { n } else { -1 }, clamp);
    let distance = if step > 0 { stop - start } else { start - stop };
    let count = if distance <= 0 { 0 } else { (distance - 1) / step.abs() + 1 };
    // both lie in 0..=len
    Ok(Span { start: start.max(0) as usize, len: count as usize, step: slice.step, drop: false })
}

/// Spans of all axes; missing slices take the whole axis, too many are an error.
pub fn spans(op: &'static str, slices: &[Slice], shape: &[usize]) -> Result<Vec<Span>> {
    if slices.len() > shape.len() {
        return Err(Error::shape(op, shape, format!("{} slices are more than the axes", slices.len())));
    }
    let rest = std::iter::repeat(&Slice::ALL);
    shape.iter().zip(slices.iter().chain(rest)).map(|(&len, &slice)| span(op, slice, len)).collect()
}

/// The order of axes after moving some of them: axis k of the result is axis `order[k]`.
pub fn moved(op: &'static str, source: Axes, destination: Axes, ndim: usize) -> Result<Vec<usize>> {
    let (from, to) = (source.resolve(op, ndim)?, destination.resolve(op, ndim)?);
    if from.len() != to.len() {
        return Err(Error::argument(op, format!("{} axes cannot move to {} places", from.len(), to.len())));
    }
    let mut rest = (0..ndim).filter(|axis| !from.contains(axis));
    let place = |k| to.iter().position(|&t| t == k).map(|i| from[i]);
    Ok((0..ndim).filter_map(|k| place(k).or_else(|| rest.next())).collect())
}

/// Places of new axes in the result, in increasing order.
pub fn new_axes(op: &'static str, axes: Axes, ndim: usize) -> Result<Vec<usize>> {
    let Some(list) = axes.as_list() else {
        return Err(Error::argument(op, "new axes have places: name them"));
    };
    let mut places = axes.resolve(op, ndim + list.len())?;
    places.sort_unstable();
    Ok(places)
}

/// Axes that all have length 1, in increasing order.
pub fn single_axes(op: &'static str, axes: Axes, shape: &[usize]) -> Result<Vec<usize>> {
    let mut single = axes.resolve(op, shape.len())?;
    match single.iter().find(|&&axis| shape[axis] != 1) {
        Some(axis) => Err(Error::shape(op, shape, format!("axis {axis} does not have length 1"))),
        None => {
            single.sort_unstable();
            Ok(single)
        }
    }
}

/// The axis and the shape of arrays joined along it: all other axes are of one length.
pub fn joined(op: &'static str, shapes: &[&[usize]], along: isize) -> Result<(usize, Vec<usize>)> {
    let Some(first) = shapes.first() else {
        return Err(Error::argument(op, "there are no arrays to join"));
    };
    let along = axis(op, along, first.len())?;
    let mut shape = first.to_vec();
    for other in &shapes[1..] {
        let fits = other.len() == first.len() && (0..first.len()).all(|k| k == along || other[k] == first[k]);
        if !fits {
            return Err(Error::shapes(op, first, other));
        }
        shape[along] = shape[along].checked_add(other[along]).ok_or(Error::Memory { op, bytes: usize::MAX })?;
    }
    Ok((along, shape))
}

/// The new axis and the shape of arrays of one shape joined along it.
pub fn stacked(op: &'static str, shapes: &[&[usize]], along: isize) -> Result<(usize, Vec<usize>)> {
    let Some(first) = shapes.first() else {
        return Err(Error::argument(op, "there are no arrays to join"));
    };
    if let Some(other) = shapes.iter().find(|s| s != &first) {
        return Err(Error::shapes(op, first, other));
    }
    let along = axis(op, along, first.len() + 1)?;
    let mut shape = first.to_vec();
    shape.insert(along, shapes.len());
    Ok((along, shape))
}

/// The shape of differences of neighbours along an axis, `n` times, and how many times there is something to compute:
/// where nothing is left, or there was nothing, none.
pub fn differences(shape: &[usize], axis: usize, n: usize) -> (Vec<usize>, usize) {
    let mut left = shape.to_vec();
    left[axis] = left[axis].saturating_sub(n);
    let times = if left.contains(&0) { 0 } else { n };
    (left, times)
}

/// Lengths multiplied, axis by axis.
pub fn products(op: &'static str, lengths: &[usize], times: &[usize]) -> Result<Vec<usize>> {
    let product = |(&l, &t): (&usize, &usize)| l.checked_mul(t).ok_or(Error::Memory { op, bytes: usize::MAX });
    lengths.iter().zip(times).map(product).collect()
}

/// The distance of neighbouring frequencies of a transform of `n` points that are `d` apart.
pub fn frequency_step(op: &'static str, n: usize, d: f64) -> Result<f64> {
    if n == 0 || d == 0.0 {
        return Err(Error::argument(op, format!("n is {n} and d is {d}; neither may be 0")));
    }
    Ok(1.0 / (n as f64 * d))
}

/// How far each axis is shifted, in `0..length`, for shifts given in pairs with axes; one shift serves all of them.
pub fn shifts(op: &'static str, given: &[isize], axes: Axes, shape: &[usize]) -> Result<Vec<usize>> {
    let axes = axes.resolve(op, shape.len())?;
    if given.len() != axes.len() && given.len() != 1 {
        return Err(Error::argument(op, format!("{} shifts for {} axes", given.len(), axes.len())));
    }
    let mut shifts = vec![0; shape.len()];
    for (i, &axis) in axes.iter().enumerate() {
        let shift = given[if given.len() == 1 { 0 } else { i }];
        shifts[axis] = if shape[axis] == 0 { 0 } else { (shift as i128).rem_euclid(shape[axis] as i128) as usize };
    }
    Ok(shifts)
}

/// Shifts by about half of the axes: `half` of their lengths.
pub fn halves(op: &'static str, axes: Axes, shape: &[usize], half: fn(usize) -> usize) -> Result<Vec<usize>> {
    let mut shifts = vec![0; shape.len()];
    for axis in axes.resolve(op, shape.len())? {
        shifts[axis] = if shape[axis] == 0 { 0 } else { half(shape[axis]) % shape[axis] };
    }
    Ok(shifts)
}

/// The shape with borders, whose widths come in pairs: before and after each axis.
pub fn padded(op: &'static str, shape: &[usize], widths: &[usize]) -> Result<Vec<usize>> {
    if widths.len() != 2 * shape.len() {
        return Err(Error::shape(op, shape, format!("{} widths are not two for each axis", widths.len())));
    }
    let sum = |(&d, w): (&usize, &[usize])| d.checked_add(w[0])?.checked_add(w[1]);
    let lengths: Option<Vec<usize>> = shape.iter().zip(widths.chunks_exact(2)).map(sum).collect();
    lengths.ok_or(Error::Memory { op, bytes: usize::MAX })
}

/// Refuses borders of an axis without elements, which have nothing to repeat.
pub fn check_borders(op: &'static str, shape: &[usize], widths: &[usize], mode: PadMode) -> Result<()> {
    let bare = shape.iter().zip(widths.chunks_exact(2)).any(|(&len, width)| len == 0 && width != [0, 0]);
    match mode {
        PadMode::Constant => Ok(()),
        _ if bare => Err(Error::argument(op, format!("mode `{mode}` has nothing to repeat along an empty axis"))),
        _ => Ok(()),
    }
}

/// Which index of an axis of length `len` each index of the padded axis repeats. Borders may be longer than the axis.
pub fn pad_sources(op: &'static str, len: usize, before: usize, after: usize, mode: PadMode) -> Result<Vec<usize>> {
    check_borders(op, &[len], &[before, after], mode)?;
    let total = len.checked_add(before).and_then(|n| n.checked_add(after)).filter(|&n| n <= isize::MAX as usize / 8);
    let total = total.ok_or(Error::Memory { op, bytes: usize::MAX })?;
    let mut sources = Vec::new();
    sources.try_reserve_exact(total).map_err(|_| Error::Memory { op, bytes: total * 8 })?;
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

/// The shapes of a matrix product: `batches` times (rows, inner) by (inner, columns).
#[derive(Debug, PartialEq)]
pub struct Product {
    /// Of the result.
    pub shape: Vec<usize>,
    /// The leading axes, broadcast.
    pub batches: Vec<usize>,
    /// Of the left matrices and the result.
    pub rows: usize,
    /// Columns of the left matrices, rows of the right ones.
    pub inner: usize,
    /// Of the right matrices and the result.
    pub columns: usize,
}

impl Product {
    /// For operands of these shapes: a lone axis is a row on the left, a column on the right, and not in the result.
    pub fn of(op: &'static str, x1: &[usize], x2: &[usize]) -> Result<Product> {
        let refuse = || Error::shapes(op, x1, x2);
        let (leading1, rows, inner) = match x1 {
            [] => return Err(refuse()),
            [inner] => (&[][..], 1, *inner),
            [leading @ .., rows, inner] => (leading, *rows, *inner),
        };
        let (leading2, inner2, columns) = match x2 {
            [] => return Err(refuse()),
            [inner] => (&[][..], *inner, 1),
            [leading @ .., inner, columns] => (leading, *inner, *columns),
        };
        if inner != inner2 {
            return Err(refuse());
        }
        let batches = broadcast(op, leading1, leading2).map_err(|_| refuse())?;
        let mut shape = batches.clone();
        shape.extend((x1.len() > 1).then_some(rows));
        shape.extend((x2.len() > 1).then_some(columns));
        Ok(Product { shape, batches, rows, inner, columns })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broadcasting() {
        assert_eq!(broadcast("add", &[2, 1], &[3]).unwrap(), [2, 3]);
        assert_eq!(broadcast("add", &[0, 1], &[1, 4]).unwrap(), [0, 4]);
        assert_eq!(broadcast("add", &[], &[2]).unwrap(), [2]);
        assert_eq!(broadcast("add", &[2], &[3]), Err(Error::shapes("add", &[2], &[3])));
        assert!(check_broadcast_to("x", &[3, 1], &[3]).is_err());
    }

    #[test]
    fn sizes_over_any_memory_are_errors() {
        assert_eq!(count("zeros", &[2, 3], 8).unwrap(), 6);
        assert_eq!(count("zeros", &[0, usize::MAX], 1), Err(Error::Memory { op: "zeros", bytes: usize::MAX }));
        assert!(count("zeros", &[usize::MAX, 2], 1).is_err());
    }

    #[test]
    fn inferred_shapes() {
        assert_eq!(infer("reshape", &[2, 3], &[-1, 2]).unwrap(), [3, 2]);
        assert_eq!(infer("reshape", &[0], &[0, 5]).unwrap(), [0, 5]);
        for bad in [&[-1, -1][..], &[4], &[-1, 4], &[-2, 3]] {
            assert!(infer("reshape", &[2, 3], bad).is_err(), "{bad:?}");
        }
        assert!(infer("reshape", &[0], &[0, -1]).is_err());
    }

    #[test]
    #[allow(clippy::reversed_empty_ranges)] // empty parts, as in Python
    fn slices_follow_python() {
        let s = |slice: Slice| span("getitem", slice, 5).map(|s| (s.start, s.len, s.step));
        assert_eq!(s((1..-1).into()), Ok((1, 3, 1)));
        assert_eq!(s((-100..100).into()), Ok((0, 5, 1)));
        assert_eq!(s(Slice::ALL.step(-2)), Ok((4, 3, -2)));
        assert_eq!(s(Slice::from(3..1)), Ok((3, 0, 1)));
        assert_eq!(s(Slice::from(0..0).step(-1)), Ok((0, 0, -1)));
        assert_eq!(s(Slice::at(-1)), Ok((4, 1, 1)));
        assert_eq!(s(Slice::at(5)), Err(Error::Index { op: "getitem", index: 5, len: 5 }));
        assert!(s(Slice::ALL.step(0)).is_err());
        assert_eq!(s(Slice::from(0..usize::MAX)), Ok((0, 5, 1)), "beyond the end, and not -1");
        let beyond = usize::MAX as i128;
        assert_eq!(s(Slice::from(usize::MAX)), Err(Error::Index { op: "getitem", index: beyond, len: 5 }));
    }

    /// Every combination of bounds at the ends of their type and of lengths at the ends of theirs.
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
                        let span = span("getitem", slice, len).unwrap();
                        let last = span.start as i128 + (span.len as i128 - 1) * step as i128;
                        let inside = |at: i128| (0..len as i128).contains(&at);
                        assert!(
                            span.len == 0 || inside(span.start as i128) && inside(last),
                            "{slice:?} of {len}: {span:?}"
                        );
                    }
                }
                let index = Slice { start, stop: None, step: 1, drop: true };
                assert!(span("getitem", index, len).map_or(true, |span| span.start < len));
            }
        }
    }

    #[test]
    fn axes_at_the_ends_of_numbers() {
        assert_eq!(axis("sum", -2, 2), Ok(0));
        for (given, ndim) in [(isize::MIN, 0), (isize::MIN, 3), (isize::MAX, 3), (-4, 3), (0, 0), (-1, 0)] {
            assert_eq!(axis("sum", given, ndim), Err(Error::Axis { op: "sum", axis: given as i128, ndim }));
        }
    }

    #[test]
    fn differences_of_what_is_there() {
        assert_eq!(differences(&[2, 5], 1, 3), (vec![2, 2], 3));
        assert_eq!(differences(&[2, 5], 1, usize::MAX), (vec![2, 0], 0));
        assert_eq!(differences(&[0, 1 << 48], 1, 8_589_934_593), (vec![0, (1 << 48) - 8_589_934_593], 0));
        assert_eq!(differences(&[0], 0, 0), (vec![0], 0));
    }

    #[test]
    fn shapes_of_products() {
        let of =
            |x1: &[usize], x2: &[usize]| Product::of("matmul", x1, x2).map(|p| (p.shape, p.rows, p.inner, p.columns));
        assert_eq!(of(&[3, 4], &[4, 5]).unwrap(), (vec![3, 5], 3, 4, 5));
        assert_eq!(of(&[4], &[4]).unwrap(), (vec![], 1, 4, 1));
        assert_eq!(of(&[4], &[2, 4, 5]).unwrap(), (vec![2, 5], 1, 4, 5));
        assert_eq!(of(&[2, 1, 3, 4], &[6, 4, 5]).unwrap(), (vec![2, 6, 3, 5], 3, 4, 5));
        for (x1, x2) in [(&[][..], &[1][..]), (&[3], &[4]), (&[3, 4], &[3, 4]), (&[2, 3, 4], &[3, 4, 5])] {
            assert_eq!(of(x1, x2), Err(Error::shapes("matmul", x1, x2)));
        }
    }
}
