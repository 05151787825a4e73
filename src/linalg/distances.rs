//! Distances between the rows of two matrices.

use crate::{
    Backend, CdistOptions, ConcatOptions, Error, Real, Result, manipulation::part, runtime::rules, segments::is_16_bit,
};

/// Maximum number of differences of coordinates that a block computes. The differences are in memory only if the
/// backend does not run the formula in one pass.
pub(crate) const MAX_DIFFERENCES: usize = 1 << 24;

/// Distances of order `p` between the rows of two matrices.
pub fn cdist<B: Backend, T: Real>(b: &B, x1: &B::Array<T>, x2: &B::Array<T>, p: f64) -> Result<B::Array<T>> {
    const OP: &str = "cdist";
    // NaN is refused, too
    if !matches!(p.partial_cmp(&0.0), Some(std::cmp::Ordering::Greater | std::cmp::Ordering::Equal)) {
        return Err(Error::argument(OP, format!("`p` is {p}, but must not be negative")));
    }
    let shape = rules::distances(OP, b.shape(x1), b.shape(x2), T::dtype().size())?;
    if is_16_bit::<T>() {
        let (x1, x2) = (b.astype::<f32, _>(x1)?, b.astype::<f32, _>(x2)?);
        return b.astype::<T, _>(b.cdist_with(&x1, &x2, CdistOptions::new().p(p))?);
    }
    if shape.contains(&0) || b.shape(x1).ends_with(&[0]) {
        return b.zeros::<T>(shape);
    }
    let (x1, x2) = (b.expand_dims(x1, -2)?, b.expand_dims(x2, -3)?);
    in_blocks(b, b.shape(&x1), b.shape(&x2), MAX_DIFFERENCES, |rows| distances(b, &rows.of(b, &x1)?, &x2, p))
}

/// A block of rows of the first matrix. In all arrays, these rows are the third axis from the end.
pub(crate) struct Rows {
    start: usize,
    end: usize,
}

impl Rows {
    /// The rows of an array.
    pub fn of<B: Backend, T: Real>(&self, b: &B, x: &B::Array<T>) -> Result<B::Array<T>> {
        match b.shape(x) {
            [.., rows, _, _] if *rows <= self.end - self.start => Ok(x.clone()),
            shape => part(b, x, shape.len() - 3, self.start as i128..self.end as i128),
        }
    }
}

/// Applies a function to blocks of the rows of the first matrix, with at most `most` differences in a block, and joins
/// the results along their second-to-last axis. `x1` and `x2` are the shapes of the points. Their last three axes are
/// the rows of the first matrix, the rows of the second matrix, and the coordinates.
pub(crate) fn in_blocks<B: Backend, T: Real>(
    b: &B,
    x1: &[usize],
    x2: &[usize],
    most: usize,
    f: impl Fn(Rows) -> Result<B::Array<T>>,
) -> Result<B::Array<T>> {
    let shape = rules::broadcast("cdist", x1, x2)?;
    let rows = shape[shape.len() - 3];
    let all = shape.iter().fold(1_usize, |n, &len| n.saturating_mul(len));
    let size = (most / (all / rows.max(1)).max(1)).max(1);
    if rows <= size {
        return f(Rows { start: 0, end: rows });
    }
    let starts = (0..rows).step_by(size);
    let parts = starts.map(|start| f(Rows { start, end: rows.min(start + size) })).collect::<Result<Vec<_>>>()?;
    b.concat_with(parts, ConcatOptions::new().axis(-2))
}

/// Distances along the last axis of two arrays that broadcast.
fn distances<B: Backend, T: Real>(b: &B, x1: &B::Array<T>, x2: &B::Array<T>, p: f64) -> Result<B::Array<T>> {
    if p == 0.0 {
        return b.astype::<T, _>(expr!(b, count_nonzero(x1 != x2, -1))?);
    }
    if p == 1.0 {
        return expr!(b, sum(abs(x1 - x2), -1));
    }
    if p == 2.0 {
        return expr!(b, sqrt(sum(square(x1 - x2), -1)));
    }
    if p == f64::INFINITY {
        return expr!(b, max(abs(x1 - x2), -1));
    }
    let (power, root) = (T::of(p), T::of(1.0 / p));
    expr!(b, pow(sum(pow(abs(x1 - x2), power), -1), root))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::*;

    #[test]
    fn blocks_give_the_same_distances() {
        let b = Numpyish::new();
        let x = b.random_normal::<f64>([2, 7, 3]).unwrap();
        let (x1, x2) = (b.expand_dims(&x, -2).unwrap(), b.expand_dims(&x, -3).unwrap());
        for p in [0.0, 1.0, 1.5, 2.0, f64::INFINITY] {
            let whole = b.cdist_with(&x, &x, CdistOptions::new().p(p)).unwrap();
            for most in [1, 84, 85, 126] {
                let in_blocks =
                    in_blocks(&b, b.shape(&x1), b.shape(&x2), most, |rows| distances(&b, &rows.of(&b, &x1)?, &x2, p));
                assert_eq!(in_blocks.unwrap(), whole, "{p} {most}");
            }
        }
    }

    #[test]
    fn near_points_keep_their_digits() {
        let b = Numpyish::new();
        let x = b.asarray([[1e8, 1.0], [1e8, 1.0 + 1e-8]]).unwrap();
        let y = b.cdist(&x, &x).unwrap();
        assert!((y[[0, 1]] - 1e-8).abs() < 1e-15, "{y}");
    }
}
