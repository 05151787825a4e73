//! The k-d tree over the arrays of a backend.

use super::search::Tree;
use crate::sparse::Csr;
use backends::{Backend, Error, Precision, Result};
use std::marker::PhantomData;

/// A k-d tree: an index of points that finds the neighbours of a point without looking at all points.
///
/// The results are exact, with Euclidean distances, as in `scipy.spatial.KDTree`. The tree is in the host's memory, and
/// its searches run there, on all threads; points and results of other devices are copied. A tree is fast for few
/// coordinates (up to about 10); for more, [`cdist`](backends::Linalg::cdist) and [`topk`](backends::Sorting::topk) are
/// faster.
pub struct KdTree<T> {
    tree: Tree,
    dtype: PhantomData<T>,
}

/// The nearest neighbours of each query point: the result of [`KdTree::query`].
pub struct Neighbors<D, I> {
    /// The distances (queries, k), ascending in each row.
    pub distances: D,
    /// The indices (queries, k) of the neighbours among the points of the tree.
    pub indices: I,
}

impl<T: Precision> KdTree<T> {
    /// Builds the tree of `points` (n, coordinates).
    ///
    /// # Errors
    /// `Error::Shape` if `points` does not have two axes; `Error::Argument` if a coordinate is infinite or NaN.
    pub fn new<B: Backend>(b: &B, points: &B::Array<T>) -> Result<KdTree<T>> {
        const OP: &str = "KdTree::new";
        let shape = b.shape(points);
        let [_, axes] = shape[..] else {
            return Err(Error::shape(OP, shape, "must have two axes: points and coordinates"));
        };
        let points = coordinates(b, OP, points)?;
        Ok(KdTree { tree: Tree::new(points, shape[0], axes), dtype: PhantomData })
    }

    /// The number of points.
    pub fn len(&self) -> usize {
        self.tree.len()
    }

    /// Returns whether the tree has no points.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Finds the `k` nearest points of each of `queries` (queries, coordinates). Of points at the same distance, those
    /// with smaller indices come first. If the tree has fewer than `k` points, the distances of the missing ones are
    /// infinite, and their indices are the number of points, as in SciPy.
    ///
    /// # Errors
    /// `Error::Shape` if `queries` does not have two axes with as many coordinates as the points; `Error::Argument` if a
    /// coordinate is infinite or NaN; `Error::Memory` if memory is insufficient.
    pub fn query<B: Backend>(
        &self,
        b: &B,
        queries: &B::Array<T>,
        k: usize,
    ) -> Result<Neighbors<B::Array<T>, B::Array<i64>>> {
        const OP: &str = "KdTree::query";
        let (queries, count) = self.queries(b, OP, queries)?;
        let too_large = || Error::argument(OP, format!("{k} neighbours of {count} points do not fit into memory"));
        count.checked_mul(k).filter(|n| *n <= isize::MAX as usize / 16).ok_or_else(too_large)?;
        let found = self.tree.nearest(&queries, count, k);
        let distances = found.iter().map(|(square, _)| T::from_f64(square.sqrt())).collect::<Vec<T>>();
        let indices = found.iter().map(|(_, index)| *index as i64).collect::<Vec<i64>>();
        let shape = [count as i64, k as i64];
        Ok(Neighbors {
            distances: b.reshape(b.asarray(distances)?, shape)?,
            indices: b.reshape(b.asarray(indices)?, shape)?,
        })
    }

    /// Finds all points within `radius` of each of `queries` (queries, coordinates), a point at the distance `radius`
    /// included. The result is a sparse matrix (queries, points) of the distances, with ascending columns in each row.
    /// Distances of 0 are stored.
    ///
    /// # Errors
    /// `Error::Shape` if `queries` does not have two axes with as many coordinates as the points; `Error::Argument` if a
    /// coordinate is infinite or NaN, or if `radius` is negative or NaN; `Error::Memory` if memory is insufficient.
    pub fn within<B: Backend>(&self, b: &B, queries: &B::Array<T>, radius: f64) -> Result<Csr<B, T>> {
        const OP: &str = "KdTree::within";
        if radius.is_nan() || radius < 0.0 {
            return Err(Error::argument(OP, format!("the radius must not be negative or NaN, and it is {radius}")));
        }
        let (queries, count) = self.queries(b, OP, queries)?;
        let rows = self.tree.within(&queries, count, radius);
        let ends = rows.iter().scan(0, |end, row| {
            *end += row.len() as i64;
            Some(*end)
        });
        let ends: Vec<i64> = std::iter::once(0).chain(ends).collect();
        let distances: Vec<T> = rows.iter().flatten().map(|(square, _)| T::from_f64(square.sqrt())).collect();
        let indices: Vec<i64> = rows.iter().flatten().map(|(_, index)| *index as i64).collect();
        Csr::new(b, b.asarray(distances)?, b.asarray(indices)?, b.asarray(ends)?, [count, self.len()])
    }

    /// The coordinates of query points, and their number.
    fn queries<B: Backend>(&self, b: &B, op: &'static str, queries: &B::Array<T>) -> Result<(Vec<f64>, usize)> {
        let shape = b.shape(queries);
        if shape.len() != 2 || shape[1] != self.tree.axes() {
            let why = format!("must be (queries, {}), as the points have {0} coordinates", self.tree.axes());
            return Err(Error::shape(op, shape, why));
        }
        Ok((coordinates(b, op, queries)?, shape[0]))
    }
}

/// The coordinates of points on the host, which must be finite.
fn coordinates<B: Backend, T: Precision>(b: &B, op: &'static str, points: &B::Array<T>) -> Result<Vec<f64>> {
    let points: Vec<f64> = b.to_vec(points)?.into_iter().map(|x| x.to_f64()).collect();
    match points.iter().find(|x| !x.is_finite()) {
        Some(x) => Err(Error::argument(op, format!("coordinates must be finite, and one is {x}"))),
        None => Ok(points),
    }
}
