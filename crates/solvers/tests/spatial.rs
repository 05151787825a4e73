//! Neighbours by the k-d tree beside a comparison of all pairs, and components of graphs.

use backends::{AnyBackend, Error, prelude::*, runtime::available};
use backends_solvers::{
    sparse::{Connection, Coo, connected_components},
    spatial::KdTree,
};

fn every_backend() -> Vec<AnyBackend> {
    let mut backends: Vec<AnyBackend> = vec![Numpyish::new().into()];
    backends.extend(available("torch", Torch::cpu()).map(AnyBackend::from));
    backends.extend(available("cuda", Cuda::new(0)).map(AnyBackend::from));
    backends
}

/// Numbers of a linear congruential generator, on a coarse grid so that distances are equal and points occur twice.
fn numbers(seed: u64, count: usize, steps: u64) -> Vec<f64> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % steps
    };
    (0..count).map(|_| next() as f64 / steps as f64 - 0.25).collect()
}

/// All points by distance and index, for one query.
fn sorted(points: &[f64], query: &[f64], axes: usize) -> Vec<(f64, i64)> {
    let square = |point: &[f64]| point.iter().zip(query).fold(0.0, |sum, (x, y)| sum + (x - y) * (x - y));
    let mut all: Vec<(f64, i64)> = points.chunks(axes).enumerate().map(|(i, p)| (square(p), i as i64)).collect();
    all.sort_by(|x, y| x.0.total_cmp(&y.0).then(x.1.cmp(&y.1)));
    all.into_iter().map(|(square, i)| (square.sqrt(), i)).collect()
}

fn as_array<T: Precision>(b: &AnyBackend, x: &[f64], axes: usize) -> <AnyBackend as Arrays>::Array<T> {
    let x: Vec<T> = x.iter().map(|x| T::of(*x)).collect();
    b.reshape(b.asarray(x).unwrap(), [-1, axes as i64]).unwrap()
}

/// Compares the searches with a comparison of all pairs.
fn finds<T: Precision>(b: &AnyBackend, n: usize, axes: usize, steps: u64) {
    let exact = |x: Vec<f64>| -> Vec<f64> { x.into_iter().map(|x| T::of(x).to_f64()).collect() };
    let points = exact(numbers(1 + n as u64, n * axes, steps));
    // some queries are points
    let queries: Vec<f64> = exact(numbers(7, 20 * axes, 3 * steps)).into_iter().chain(points.clone()).collect();
    let tree = KdTree::new(b, &as_array::<T>(b, &points, axes)).unwrap();
    assert_eq!((tree.len(), tree.is_empty()), (n, n == 0));
    let array = as_array::<T>(b, &queries, axes);
    for k in [1, 2, 7, n + 2] {
        let found = tree.query(b, &array, k).unwrap();
        assert_eq!(found.distances.shape(), [queries.len() / axes, k]);
        let (distances, indices) = (b.to_vec(&found.distances).unwrap(), b.to_vec(&found.indices).unwrap());
        for (i, query) in queries.chunks(axes).enumerate() {
            let mut expected = sorted(&points, query, axes);
            expected.resize(expected.len().max(k), (f64::INFINITY, n as i64));
            for (place, (distance, index)) in expected.into_iter().take(k).enumerate() {
                assert_eq!(distances[i * k + place], T::of(distance), "{n} {axes} {k} {i} {place}");
                assert_eq!(indices[i * k + place], index, "{n} {axes} {k} {i} {place}");
            }
        }
    }
    for radius in [0.0, 0.25, 0.5, 3.0, f64::INFINITY] {
        let found = tree.within(b, &array, radius).unwrap();
        assert_eq!(found.shape(), [queries.len() / axes, n]);
        let (ends, columns) = (b.to_vec(found.indptr()).unwrap(), b.to_vec(found.indices()).unwrap());
        let values = b.to_vec(found.values()).unwrap();
        for (i, query) in queries.chunks(axes).enumerate() {
            let mut expected: Vec<_> = sorted(&points, query, axes).into_iter().filter(|x| x.0 <= radius).collect();
            expected.sort_by_key(|(_, index)| *index);
            let range = ends[i] as usize..ends[i + 1] as usize;
            let found: Vec<_> = columns[range.clone()].iter().copied().zip(values[range].iter().copied()).collect();
            let expected: Vec<_> = expected.into_iter().map(|(distance, i)| (i, T::of(distance))).collect();
            assert_eq!(found, expected, "{n} {axes} {radius} {i}");
        }
    }
}

#[test]
fn neighbours_are_those_of_all_pairs() {
    let numpyish = Numpyish::new().into();
    for axes in [1, 2, 3, 4, 10] {
        for (n, steps) in [(1, 4), (2, 2), (13, 3), (60, 4), (300, 1 << 20)] {
            finds::<f64>(&numpyish, n, axes, steps);
        }
        finds::<f32>(&numpyish, 50, axes, 64);
    }
    for b in every_backend() {
        finds::<f64>(&b, 40, 2, 8);
        finds::<f32>(&b, 0, 3, 8);
    }
}

#[test]
fn any_number_of_threads_finds_the_same() {
    let b: AnyBackend = Numpyish::new().into();
    let points = as_array::<f64>(&b, &numbers(5, 9000, 1 << 30), 3);
    let found = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let tree = KdTree::new(&b, &points).unwrap();
            let near = tree.query(&b, &points, 5).unwrap();
            let pairs = tree.within(&b, &points, 0.05).unwrap();
            (b.to_vec(&near.indices).unwrap(), b.to_vec(pairs.indices()).unwrap(), b.to_vec(pairs.values()).unwrap())
        })
    };
    assert_eq!(found(1), found(3));
}

#[test]
fn mistakes_are_explained() {
    for b in every_backend() {
        let array = |x: &[f64], axes| as_array::<f64>(&b, x, axes);
        let tree = KdTree::new(&b, &array(&[0.0, 1.0, 2.0, 3.0], 2)).unwrap();
        let said = |e: Error| e.to_string();
        let flat = b.asarray([1.0, 2.0]).unwrap();
        let wrong = |why: String, expected: &str| assert!(why.contains(expected), "{why}");
        wrong(said(KdTree::new(&b, &flat).err().unwrap()), "KdTree::new: shape [2] must have two axes");
        wrong(said(KdTree::new(&b, &array(&[f64::NAN], 1)).err().unwrap()), "KdTree::new: coordinates must be finite");
        wrong(said(tree.query(&b, &flat, 1).err().unwrap()), "KdTree::query: shape [2] must be (queries, 2)");
        wrong(said(tree.query(&b, &array(&[0.0; 3], 3), 1).err().unwrap()), "KdTree::query: shape [1, 3]");
        wrong(said(tree.query(&b, &array(&[0.0; 4], 2), usize::MAX).err().unwrap()), "do not fit into memory");
        wrong(said(tree.within(&b, &array(&[0.0, f64::INFINITY], 2), 1.0).err().unwrap()), "must be finite");
        wrong(said(tree.within(&b, &array(&[0.0; 2], 2), -1.0).err().unwrap()), "must not be negative");
        let long = Coo::from_triplets(&b, [(0, 1, 1.0)], [1, 2]).unwrap().to_csr(&b).unwrap();
        let why = said(connected_components(&b, &long, Connection::Weak).err().unwrap());
        wrong(why, "connected_components: shape [1, 2] must be square");
    }
}

/// Compares components with the pairs of nodes that reach each other.
#[test]
fn components_are_those_of_the_paths() {
    for b in every_backend() {
        for (n, count) in [(0, 0), (1, 0), (1, 1), (6, 3), (6, 9), (12, 12), (12, 18), (30, 40)] {
            let ends = numbers(n as u64 * 31 + count as u64, 2 * count, n as u64 * 1000 + 1);
            let node = |x: &f64| ((x + 0.25) * n as f64) as usize % n;
            let edges: Vec<(usize, usize, f64)> = ends.chunks(2).map(|e| (node(&e[0]), node(&e[1]), 1.0)).collect();
            let graph = Coo::from_triplets(&b, edges.clone(), [n, n]).unwrap().to_csr(&b).unwrap();
            let reach = |is_directed: bool| {
                let mut reach = vec![vec![false; n]; n];
                (0..n).for_each(|i| reach[i][i] = true);
                for (i, j, _) in &edges {
                    reach[*i][*j] = true;
                    reach[*j][*i] |= !is_directed;
                }
                for k in 0..n {
                    let of_k = reach[k].clone();
                    for row in reach.iter_mut().filter(|row| row[k]) {
                        row.iter_mut().zip(&of_k).for_each(|(to, of_k)| *to |= of_k);
                    }
                }
                reach
            };
            for (connection, is_directed) in [(Connection::Weak, false), (Connection::Strong, true)] {
                let reach = reach(is_directed);
                // numbers in the order of the smallest nodes
                let (mut expected, mut next) = (Vec::<i64>::new(), 0);
                for (i, row) in reach.iter().enumerate() {
                    let earlier = (0..i).find(|&j| row[j] && reach[j][i]);
                    expected.push(earlier.map_or(next, |j| expected[j]));
                    next += i64::from(earlier.is_none());
                }
                let found = connected_components(&b, &graph, connection).unwrap();
                assert_eq!(b.to_vec(&found.labels).unwrap(), expected, "{connection:?} {edges:?}");
                assert_eq!(found.count as i64, next);
            }
        }
    }
}
