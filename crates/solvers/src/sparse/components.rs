//! Connected components of graphs, whose edges are the stored elements of a sparse matrix.

use super::Csr;
use backends::{Backend, Error, Numeric, Result};

/// When two nodes of a directed graph are connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Connection {
    /// There is a path between them that follows edges in any direction. For undirected graphs.
    Weak,
    /// There are paths in both directions that follow the directions of the edges.
    Strong,
}

/// The components of a graph: the result of [`connected_components`].
pub struct Components<I> {
    /// The number of components.
    pub count: usize,
    /// The number of the component of each node, an int64 array of shape (nodes,).
    pub labels: I,
}

/// Finds the connected components of a graph. `graph` (nodes, nodes) has a stored element for each edge, from the node of
/// the row to the node of the column; its value does not matter. The components are numbered by their smallest nodes.
/// The search runs on the host, as in `scipy.sparse.csgraph.connected_components`.
///
/// ```
/// use backends::{Error, prelude::*};
/// use backends_solvers::sparse::{Connection, Coo, connected_components};
///
/// let b = Numpyish::new();
/// // the edges 0 -> 2 and 1 -> 3 -> 1
/// let graph = Coo::from_triplets(&b, [(0, 2, 1.0), (1, 3, 1.0), (3, 1, 1.0)], [4, 4])?.to_csr(&b)?;
/// let weak = connected_components(&b, &graph, Connection::Weak)?;
/// assert_eq!((weak.count, weak.labels), (2, b.asarray([0_i64, 1, 0, 1])?));
/// let strong = connected_components(&b, &graph, Connection::Strong)?;
/// assert_eq!((strong.count, strong.labels), (3, b.asarray([0_i64, 1, 2, 1])?));
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
/// `Error::Shape` if the matrix is not square.
pub fn connected_components<B: Backend, T: Numeric>(
    b: &B,
    graph: &Csr<B, T>,
    connection: Connection,
) -> Result<Components<B::Array<i64>>> {
    let shape = graph.shape();
    if shape[0] != shape[1] {
        return Err(Error::shape("connected_components", &shape, "must be square"));
    }
    let list = |x: &B::Array<i64>| -> Result<Vec<usize>> { Ok(b.to_vec(x)?.into_iter().map(|i| i as usize).collect()) };
    let edges = Edges { ends: list(graph.indptr())?, targets: list(graph.indices())? };
    let members = match connection {
        Connection::Weak => edges.weak(),
        Connection::Strong => edges.strong(),
    };
    // numbers the components by their smallest nodes
    let (mut numbers, mut count) = (vec![-1_i64; members.len()], 0);
    let number = |member: usize| {
        if numbers[member] < 0 {
            numbers[member] = count;
            count += 1;
        }
        numbers[member]
    };
    let labels: Vec<i64> = members.into_iter().map(number).collect();
    Ok(Components { count: count as usize, labels: b.asarray(labels)? })
}

/// The edges of a graph: node `i` has the edges to `targets[ends[i]..ends[i + 1]]`.
struct Edges {
    ends: Vec<usize>,
    targets: Vec<usize>,
}

impl Edges {
    fn nodes(&self) -> usize {
        self.ends.len() - 1
    }

    fn of(&self, node: usize) -> &[usize] {
        &self.targets[self.ends[node]..self.ends[node + 1]]
    }

    /// A member of the component of each node, the same for all its nodes; by a union of the two nodes of each edge.
    fn weak(&self) -> Vec<usize> {
        fn root(parents: &mut [usize], mut node: usize) -> usize {
            while parents[node] != node {
                parents[node] = parents[parents[node]];
                node = parents[node];
            }
            node
        }
        let mut parents: Vec<usize> = (0..self.nodes()).collect();
        for from in 0..self.nodes() {
            for &to in self.of(from) {
                let (x, y) = (root(&mut parents, from), root(&mut parents, to));
                parents[x.max(y)] = x.min(y);
            }
        }
        (0..self.nodes()).map(|node| root(&mut parents, node)).collect()
    }

    /// A member of the strong component of each node, the same for all its nodes (Tarjan, 1972, without recursion).
    fn strong(&self) -> Vec<usize> {
        const NONE: usize = usize::MAX;
        let n = self.nodes();
        // the order in which nodes are found, and the earliest node that each of them reaches
        let (mut order, mut earliest) = (vec![NONE; n], vec![NONE; n]);
        let (mut members, mut open, mut found) = (vec![NONE; n], Vec::new(), 0);
        for start in 0..n {
            // the path to the current node, with the number of edges of each node that were followed
            let mut path = if order[start] == NONE { vec![(start, 0)] } else { continue };
            while let Some((node, edge)) = path.pop() {
                if edge == 0 {
                    (order[node], earliest[node]) = (found, found);
                    found += 1;
                    open.push(node);
                } else {
                    // the last edge led to a node whose search is complete
                    let to = self.of(node)[edge - 1];
                    if members[to] == NONE {
                        earliest[node] = earliest[node].min(earliest[to]);
                    }
                }
                match self.of(node).get(edge) {
                    Some(&to) => {
                        path.push((node, edge + 1));
                        if order[to] == NONE {
                            path.push((to, 0));
                        }
                    }
                    None if earliest[node] == order[node] => {
                        while let Some(member) = open.pop() {
                            members[member] = node;
                            if member == node {
                                break;
                            }
                        }
                    }
                    None => {}
                }
            }
        }
        members
    }
}
