//! Broadcasting of shapes.

use crate::{Error, Result};

/// Returns the shape that two shapes broadcast to.
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

/// Returns the shape that all shapes broadcast to; `[]` if there are no shapes.
pub fn broadcast_all<'a>(op: &'static str, shapes: impl IntoIterator<Item = &'a [usize]>) -> Result<Vec<usize>> {
    shapes.into_iter().try_fold(Vec::new(), |shape, next| broadcast(op, &shape, next))
}

/// Returns an error unless `from` broadcasts to exactly `to`.
pub fn check_broadcast_to(op: &'static str, from: &[usize], to: &[usize]) -> Result<()> {
    let fits = from.len() <= to.len() && from.iter().rev().zip(to.iter().rev()).all(|(&f, &t)| f == t || f == 1);
    if fits { Ok(()) } else { Err(Error::shapes(op, from, to)) }
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
}
