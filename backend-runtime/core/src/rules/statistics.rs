//! Rules for the shapes of samples and of their weights.

use super::count;
use crate::{DType, Error, Result, raw::RawElement};

/// Returns the shape to which the weights are reshaped so that they broadcast to the elements. Either the weights have
/// the shape of the elements; or `axes` is a single axis, and there is one weight for each index of this axis.
pub fn weighted(op: &'static str, x: &[usize], weights: &[usize], axes: &[usize]) -> Result<Vec<usize>> {
    match (weights, axes) {
        (weights, _) if weights == x => Ok(x.to_vec()),
        (&[n], &[axis]) if n == x[axis] => {
            let mut shape = vec![1; x.len()];
            shape[axis] = n;
            Ok(shape)
        }
        _ => Err(Error::shapes(op, x, weights)),
    }
}

/// Returns the number of variables, and the number of observations of each variable. The variables are the rows if
/// `rowvar` is true, and the columns otherwise.
pub fn variables(op: &'static str, x: &[usize], rowvar: bool) -> Result<(usize, usize)> {
    match *x {
        [n] => Ok((1, n)),
        [rows, columns] if rowvar => Ok((rows, columns)),
        [rows, columns] => Ok((columns, rows)),
        _ => Err(Error::shape(op, x, "must have one or two axes")),
    }
}

/// Returns the number of edges of `bins` bins of equal width, the first edge and the last edge. Without a lower bound,
/// the first edge is the smallest element, and without an upper bound, the last edge is the largest element; `ends`
/// returns both elements. If there are no elements, these edges are 0 and 1. The edges are finite in `T`, the dtype of
/// the elements.
pub fn bin_range(
    op: &'static str,
    dtype: DType,
    bins: usize,
    (low, high): (Option<f64>, Option<f64>),
    ends: impl FnOnce() -> Result<Option<(f64, f64)>>,
) -> Result<(usize, f64, f64)> {
    if bins == 0 {
        return Err(Error::argument(op, "`bins` is 0, but must be at least 1"));
    }
    let edges = bins.checked_add(1).ok_or_else(|| Error::memory(op, usize::MAX))?;
    count(op, &[edges], dtype.size())?;
    let (low, high) = match (low, high) {
        (Some(low), Some(high)) => (low, high),
        _ => {
            let (least, most) = ends()?.unwrap_or((0.0, 1.0));
            (low.unwrap_or(least), high.unwrap_or(most))
        }
    };
    // a bound in `f64` may be too large for the dtype
    let is_number = |x: f64| RawElement::of(x).to(dtype).to_f64().is_finite();
    if !is_number(low) || !is_number(high) || low > high {
        return Err(Error::argument(
            op,
            format!("the bin range goes from {low} to {high}, but must be finite and increasing"),
        ));
    }
    Ok(if low == high { (edges, low - 0.5, high + 0.5) } else { (edges, low, high) })
}

/// Returns the number of edges of bins. Returns an error unless the shape has one axis with at least 2 edges.
pub fn bin_edges(op: &'static str, edges: &[usize]) -> Result<usize> {
    match edges {
        [0 | 1] => Err(Error::shape(op, edges, "of the bin edges must have at least 2 elements")),
        [n] => Ok(*n),
        _ => Err(Error::shape(op, edges, "of the bin edges must have one axis")),
    }
}

/// Returns the error for bin edges that do not ascend.
pub fn not_ascending(op: &'static str) -> Error {
    Error::argument(op, "the bin edges must ascend")
}

/// Returns the number of counts of integers, which is at least `minlength` and large enough for the largest integer.
/// `ends` are the smallest and the largest integer; `None` if there are no integers.
pub fn counted_places(op: &'static str, ends: Option<(i64, i64)>, minlength: usize, size: usize) -> Result<usize> {
    let mut len = minlength;
    if let Some((least, most)) = ends {
        let Ok(most) = usize::try_from(most) else { return Err(negative(op, least)) };
        if least < 0 {
            return Err(negative(op, least));
        }
        len = len.max(most.saturating_add(1));
    }
    count(op, &[len], size.max(size_of::<i64>()))
}

fn negative(op: &'static str, least: i64) -> Error {
    Error::argument(op, format!("an element is {least}, but none must be negative"))
}

/// Returns the number of elements to count. If there are weights, there must be one weight for each element.
pub fn counted_numbers(op: &'static str, x: &[usize], weights: Option<&[usize]>) -> Result<usize> {
    let &[n] = x else { return Err(Error::shape(op, x, "must have one axis")) };
    match weights {
        Some(weights) if *weights != [n] => Err(Error::shapes(op, x, weights)),
        _ => Ok(n),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_of_an_axis_or_of_all_elements() {
        assert_eq!(weighted("average", &[2, 3], &[2, 3], &[0, 1]), Ok(vec![2, 3]));
        assert_eq!(weighted("average", &[2, 3], &[3], &[1]), Ok(vec![1, 3]));
        assert!(matches!(weighted("average", &[2, 3], &[3], &[0]), Err(Error::Shapes { .. })));
        assert!(matches!(weighted("average", &[2, 3], &[3], &[0, 1]), Err(Error::Shapes { .. })));
    }

    #[test]
    fn variables_are_rows_or_columns() {
        assert_eq!(variables("cov", &[4], false), Ok((1, 4)));
        assert_eq!(variables("cov", &[2, 3], true), Ok((2, 3)));
        assert_eq!(variables("cov", &[2, 3], false), Ok((3, 2)));
        assert!(matches!(variables("cov", &[2, 3, 4], true), Err(Error::Shape { .. })));
    }
}
