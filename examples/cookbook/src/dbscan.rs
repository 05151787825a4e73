//! DBSCAN.
//!
//! Finds clusters of points that lie close together (Ester, Kriegel, Sander and Xu, 1996). The label -1 marks noise.

use backends::{Backend, Precision, Result, expr};
use backends_solvers::sparse::{Connection, Coo, connected_components};
use backends_solvers::spatial::KdTree;

/// The number of the cluster of each point (n,), from points (n, axes). A point with at least `min_points` points within
/// `radius`, itself included, is a core point. Core points within `radius` of each other are in one cluster.
pub fn dbscan<B: Backend, T: Precision>(
    b: &B, points: &B::Array<T>, radius: f64, min_points: i64,
) -> Result<B::Array<i64>> {
    let n = b.shape(points)[0] as i64;
    let near = KdTree::new(b, points)?.within(b, points, radius)?;
    let core = expr!(b, diff(near.indptr()) >= min_points)?;
    let near = near.to_coo(b)?;
    let (rows, columns) = (near.row_indices(), near.column_indices());
    let links = expr!(b, core[rows] & core[columns])?;
    let (from, to) = (expr!(b, rows[&links])?, expr!(b, columns[&links])?);
    let graph = Coo::new(b, b.ones::<T>([b.shape(&from)[0]])?, from, to, near.shape())?.to_csr(b)?;
    let component = connected_components(b, &graph, Connection::Weak)?.labels;
    // every point belongs to the smallest cluster among the core points near it
    let cores = expr!(b, core[columns])?;
    let (points, clusters) = (expr!(b, rows[&cores])?, expr!(b, take(component, columns[&cores], 0))?);
    let label = b.scatter_min(b.full([n as usize], n)?, points, clusters, 0)?;
    let found = b.unique_values(b.boolean_mask(&label, b.less(&label, n)?)?)?;
    expr!(b, where(label < n, searchsorted(found, label), -1))
}
