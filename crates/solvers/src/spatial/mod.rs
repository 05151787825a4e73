//! Searches among points in space.
//!
//! ```
//! use backends::{Error, prelude::*};
//! use backends_solvers::spatial::KdTree;
//!
//! let b = Numpyish::new();
//! let points = b.asarray([[0.0, 0.0], [1.0, 0.0], [0.0, 3.0]])?;
//! let tree = KdTree::new(&b, &points)?;
//! let near = tree.query(&b, &b.asarray([[0.9, 0.0]])?, 2)?;
//! assert_eq!(near.indices, b.asarray([[1_i64, 0]])?);
//! // the distances of all pairs of points that are at most 2 apart, as a sparse matrix
//! let pairs = tree.within(&b, &points, 2.0)?;
//! assert_eq!(pairs.to_dense(&b)?, b.asarray([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])?);
//! assert_eq!(pairs.nnz(), 5);
//! # Ok::<(), Error>(())
//! ```

mod kd_tree;
mod search;

pub use kd_tree::{KdTree, Neighbors};
