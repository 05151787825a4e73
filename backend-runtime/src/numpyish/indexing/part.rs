//! Parts of arrays by a range or an index per axis.

use crate::{
    Element, Result, Slice,
    numpyish::{
        NdArray, Numpyish, Operand,
        buffer::Buffer,
        copy,
        raw::{RawArray, View, view, view_operand},
        region::Region,
        typed::{Change, Step, changed_by, typed},
    },
    rules,
};
use ndarray::Slice as Part;

/// A part of the array, sharing its memory.
pub fn getitem<T: Element>(_: &Numpyish, x: &NdArray<T>, slices: &[Slice]) -> Result<NdArray<T>> {
    changed_by(x, part(x.shape(), slices))
}

fn part(shape: &[usize], slices: &[Slice]) -> Result<Change> {
    let spans = rules::spans("getitem", slices, shape)?;
    let mut steps: Vec<Step> =
        spans.iter().enumerate().map(|(axis, span)| Step::Slice(axis, ndarray_slice(span))).collect();
    let dropped = spans.iter().enumerate().rev().filter(|(_, span)| span.drop);
    steps.extend(dropped.map(|(axis, _)| Step::Index(axis, 0)));
    Ok(Change::View(steps))
}

/// The same part in ndarray's words: there a negative step begins at the last index of the range.
pub(super) fn ndarray_slice(span: &rules::Span) -> Part {
    let first = span.start as isize;
    match span.len as isize {
        0 => Part::new(0, Some(0), 1),
        1 => Part::new(first, Some(first + 1), 1),
        len => {
            let last = first + (len - 1) * span.step;
            Part::new(first.min(last), Some(first.max(last) + 1), span.step)
        }
    }
}

/// A copy of the array in which a part is replaced by values, broadcast to it.
pub fn setitem<T: Element>(
    _: &Numpyish,
    x: &NdArray<T>,
    slices: &[Slice],
    values: Operand<'_, T>,
) -> Result<NdArray<T>> {
    typed(replaced(view(x), slices, view_operand(&values)))
}

fn replaced(x: View<'_>, slices: &[Slice], values: View<'_>) -> Result<RawArray> {
    const OP: &str = "setitem";
    let spans = rules::spans(OP, slices, x.shape)?;
    let whole = rules::c_strides(x.shape);
    let start: usize = spans.iter().zip(&whole).map(|(span, &stride)| span.start * stride as usize).sum();
    let kept = || spans.iter().zip(&whole).filter(|(span, _)| !span.drop);
    let lengths: Vec<usize> = kept().map(|(span, _)| span.len).collect();
    let strides: Vec<isize> = kept().map(|(span, &s)| if span.len > 1 { span.step * s } else { s }).collect();
    let kept = rules::assigned(OP, values.shape, &lengths)?.len();
    let extra = values.shape.len() - kept;
    let values = (0..extra).fold(Region::of(values), |values, _| values.at(0, 0)).broadcast(OP, &lengths)?;
    let mut out = Buffer::new(OP, rules::count(OP, x.shape, x.dtype.size())?, x.dtype)?;
    copy::place(&mut out, 0, &whole, x);
    copy::place(&mut out, start, &strides, values.view());
    // SAFETY: the copy of the array has written every element.
    unsafe { RawArray::new(OP, x.shape.to_vec(), out) }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{counting, list};
    use super::*;

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

    #[test]
    fn replacing_a_part_leaves_the_original() {
        let x = counting(&[2, 3]);
        let y = setitem(&B, &x, &[Slice::ALL, Slice::ALL.step(-2)], Operand::Scalar(9)).unwrap();
        assert_eq!(list(&y), [9, 1, 9, 9, 4, 9]);
        assert_eq!(list(&x), [0, 1, 2, 3, 4, 5]);
        let column = counting(&[2, 1]);
        let y = setitem(&B, &x, &[], Operand::array(&column)).unwrap();
        assert_eq!(list(&y), [0, 0, 0, 1, 1, 1]);
        assert!(setitem(&B, &x, &[Slice::at(0)], Operand::array(&counting(&[2]))).is_err());
    }

    #[test]
    fn values_may_have_more_leading_axes_than_the_part() {
        let x = counting(&[2, 3]);
        let y = setitem(&B, &x, &[Slice::at(1)], Operand::array(&counting(&[1, 1, 3]))).unwrap();
        assert_eq!(list(&y), [0, 1, 2, 0, 1, 2]);
        let far = Slice { start: Some(1), stop: None, step: isize::MAX, drop: false };
        assert_eq!(list(&setitem(&B, &x, &[far, far], Operand::Scalar(9)).unwrap()), [0, 1, 2, 3, 9, 5]);
        assert_eq!(list(&getitem(&B, &x, &[far, Slice::ALL.step(isize::MIN)]).unwrap()), [5]);
    }
}
