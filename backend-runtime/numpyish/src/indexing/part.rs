//! Basic indexing of arrays, by a range or an index for each axis.

use backend_core::{
    Result, Slice,
    numpyish::{
        OpContext,
        raw::View,
        typed::{Change, Step},
    },
    rules,
};
use ndarray::Slice as NdarraySlice;

/// Selects a range or a single index of each axis. The result is a view that shares the memory of `x`.
pub fn getitem(on: OpContext<'_>, x: View<'_>, slices: &[Slice]) -> Result<Change> {
    let spans = rules::spans(on.op, slices, x.shape)?;
    let parts = spans.iter().enumerate().map(|(axis, span)| Step::Slice(axis, ndarray_slice(span)));
    let dropped = spans.iter().enumerate().rev().filter(|(_, span)| span.drop);
    Ok(Change::of(parts.chain(dropped.map(|(axis, _)| Step::Index(axis, 0)))))
}

/// Converts a span to an ndarray slice. If the step is negative, the range of an ndarray slice begins at the smallest
/// selected index, although this index is selected last.
pub(super) fn ndarray_slice(span: &rules::Span) -> NdarraySlice {
    let first = span.start as isize;
    match span.len as isize {
        0 => NdarraySlice::new(0, Some(0), 1),
        1 => NdarraySlice::new(first, Some(first + 1), 1),
        len => {
            let last = first + (len - 1) * span.step;
            NdarraySlice::new(first.min(last), Some(first.max(last) + 1), span.step)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{
        tests::{counting, list},
        typed::getitem,
    };
    use super::*;
    use backend_core::numpyish::Numpyish;

    const B: Numpyish = Numpyish::new();

    #[test]
    fn slices_share_memory() {
        let x = counting(&[3, 4]);
        let part = getitem(&B, &x, &[Slice::from(1..), Slice::ALL.step(-2)]).unwrap();
        assert_eq!(list(&part), [7, 5, 11, 9]);
        assert_eq!(part.as_ptr(), x.as_ptr().wrapping_add(7));
        assert_eq!(getitem(&B, &x, &[Slice::at(-1)]).unwrap().shape(), [4]);
        #[allow(clippy::reversed_empty_ranges)] // the part is empty, as in Python
        let none = Slice::from(2..1);
        assert_eq!(getitem(&B, &x, &[none]).unwrap().shape(), [0, 4]);
        assert!(getitem(&B, &x, &[Slice::at(3)]).is_err());
        assert!(getitem(&B, &x, &[Slice::ALL; 3]).is_err());
    }
}
