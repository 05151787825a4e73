//! A k-d tree in host memory, and its searches.
//!
//! A node is a box around its points. The lower bound of the distance to a box is computed by the same operations as a
//! distance, in the same order, so that rounding never makes it exceed the computed distance of a point in the box.
//! Therefore no point is missed, and the results are those of a comparison of all pairs.

use rayon::prelude::*;

/// Maximum number of points in a leaf.
const LEAF: usize = 12;
/// Number of query points that one task searches.
const QUERIES_PER_TASK: usize = 256;

/// The square of a distance, and the index of the point.
pub type Found = (f64, usize);

/// A k-d tree.
pub struct Tree {
    axes: usize,
    /// The points, in the order of the leaves.
    points: Vec<f64>,
    /// The index of each point in the order of the user.
    indices: Vec<usize>,
    /// The nodes. The root is the first; the left child of a node follows the node.
    nodes: Vec<Node>,
    /// The smallest, then the largest coordinates of the points of each node.
    boxes: Vec<f64>,
}

/// A range of the points.
struct Node {
    from: usize,
    to: usize,
    /// The number of the right child; 0 for a leaf.
    right: usize,
    /// The axis along which the points are divided.
    axis: usize,
    /// The smallest coordinate of the right child's points along this axis.
    middle: f64,
}

/// Points and their indices while the tree is built.
struct Builder<'p> {
    axes: usize,
    points: &'p [f64],
    nodes: Vec<Node>,
    boxes: Vec<f64>,
}

impl Builder<'_> {
    /// Adds the node of the points `indices`, which begin at `from` in the order of the leaves. The longest side of the
    /// box is divided at the median.
    fn add(&mut self, indices: &mut [usize], from: usize) {
        let axes = self.axes;
        let (mut low, mut high) = (vec![f64::INFINITY; axes], vec![f64::NEG_INFINITY; axes]);
        for &i in indices.iter() {
            for (axis, x) in self.points[i * axes..(i + 1) * axes].iter().enumerate() {
                low[axis] = low[axis].min(*x);
                high[axis] = high[axis].max(*x);
            }
        }
        let node = self.nodes.len();
        self.nodes.push(Node { from, to: from + indices.len(), right: 0, axis: 0, middle: 0.0 });
        let longest = (0..axes).max_by(|&i, &j| (high[i] - low[i]).total_cmp(&(high[j] - low[j])));
        self.boxes.extend(low.iter().chain(&high));
        // points that are all equal stay in one leaf
        let Some(axis) = longest.filter(|&axis| indices.len() > LEAF && high[axis] > low[axis]) else { return };
        let points = self.points;
        let middle = indices.len() / 2;
        indices.select_nth_unstable_by(middle, |&i, &j| {
            points[i * axes + axis].total_cmp(&points[j * axes + axis]).then(i.cmp(&j))
        });
        (self.nodes[node].axis, self.nodes[node].middle) = (axis, points[indices[middle] * axes + axis]);
        let (left, right) = indices.split_at_mut(middle);
        self.add(left, from);
        self.nodes[node].right = self.nodes.len();
        self.add(right, from + middle);
    }
}

impl Tree {
    /// The tree of `count` points, whose coordinates follow each other.
    pub fn new(points: Vec<f64>, count: usize, axes: usize) -> Tree {
        let mut indices: Vec<usize> = (0..count).collect();
        let mut builder = Builder { axes, points: &points, nodes: Vec::new(), boxes: Vec::new() };
        if count > 0 {
            builder.add(&mut indices, 0);
        }
        let Builder { nodes, boxes, .. } = builder;
        let points = indices.iter().flat_map(|&i| &points[i * axes..(i + 1) * axes]).copied().collect();
        Tree { axes, points, indices, nodes, boxes }
    }

    /// The number of points.
    pub fn len(&self) -> usize {
        self.indices.len()
    }

    /// The number of coordinates of a point.
    pub fn axes(&self) -> usize {
        self.axes
    }

    /// The `k` nearest points of each of `count` queries, ascending by distance and index. Missing points have an
    /// infinite distance and the number of points as index.
    pub fn nearest(&self, queries: &[f64], count: usize, k: usize) -> Vec<Found> {
        let mut found = vec![(f64::INFINITY, self.len()); count * k];
        if k == 0 || self.nodes.is_empty() {
            return found;
        }
        let of = |part: &[usize]| {
            let mut found = vec![(f64::INFINITY, self.len()); part.len() * k];
            for (nearest, &i) in found.chunks_mut(k).zip(part) {
                self.for_axes(Nearest { query: self.query(queries, i), nearest });
            }
            found
        };
        self.in_tasks(queries, count, of, |place, part: Vec<Found>| {
            for (nearest, i) in part.chunks(k).zip(place) {
                found[i * k..(i + 1) * k].copy_from_slice(nearest);
            }
        });
        found
    }

    /// All points within `radius` of each of `count` queries, ascending by index.
    pub fn within(&self, queries: &[f64], count: usize, radius: f64) -> Vec<Vec<Found>> {
        let mut rows = vec![Vec::new(); count];
        if self.nodes.is_empty() {
            return rows;
        }
        let largest = largest_square(radius);
        let of = |part: &[usize]| {
            let row = |i: &usize| {
                let mut found = Vec::new();
                self.for_axes(Within { query: self.query(queries, *i), largest, found: &mut found });
                found.sort_unstable_by_key(|(_, index)| *index);
                found
            };
            part.iter().map(row).collect::<Vec<_>>()
        };
        self.in_tasks(queries, count, of, |place, part: Vec<Vec<Found>>| {
            part.into_iter().zip(place).for_each(|(row, i)| rows[*i] = row);
        });
        rows
    }

    /// Searches parts of the queries on all threads, and passes the result of each part to `store`. The queries of a
    /// part are close to each other, so that they visit the same nodes.
    fn in_tasks<R: Send>(
        &self,
        queries: &[f64],
        count: usize,
        of: impl Fn(&[usize]) -> R + Send + Sync,
        mut store: impl FnMut(&[usize], R),
    ) {
        let mut order: Vec<(usize, usize)> = (0..count).map(|i| (self.leaf(self.query(queries, i)), i)).collect();
        order.sort_unstable();
        let order: Vec<usize> = order.into_iter().map(|(_, i)| i).collect();
        let parts = order.chunks(QUERIES_PER_TASK);
        match backends::runtime::threads::count() {
            1 => parts.for_each(|part| store(part, of(part))),
            _ => {
                let found: Vec<R> = order.par_chunks(QUERIES_PER_TASK).map(of).collect();
                parts.zip(found).for_each(|(part, found)| store(part, found));
            }
        }
    }

    /// The number of the leaf on whose side of every division a query is.
    fn leaf(&self, query: &[f64]) -> usize {
        let mut number = 0;
        while self.nodes[number].right != 0 {
            number = self.children(number, query).0;
        }
        number
    }

    /// The child of a node on the side of the query, and the other child.
    #[inline(always)]
    fn children(&self, number: usize, query: &[f64]) -> (usize, usize) {
        let Node { right, axis, middle, .. } = self.nodes[number];
        if query[axis] < middle { (number + 1, right) } else { (right, number + 1) }
    }

    fn query<'q>(&self, queries: &'q [f64], i: usize) -> &'q [f64] {
        &queries[i * self.axes..(i + 1) * self.axes]
    }

    /// Runs a search in a version for the number of coordinates.
    fn for_axes(&self, search: impl Search) {
        match self.axes {
            1 => self.run::<1>(search),
            2 => self.run::<2>(search),
            3 => self.run::<3>(search),
            _ => self.run::<0>(search),
        }
    }

    /// Visits the leaves that a search cannot exclude, the nearest first. There are `D` coordinates; 0 means any number.
    #[inline(always)]
    fn run<const D: usize>(&self, mut search: impl Search) {
        let mut waiting: Vec<(f64, usize)> = Vec::with_capacity(64);
        waiting.push((self.bound::<D>(search.query(), 0), 0));
        while let Some((bound, mut number)) = waiting.pop() {
            if bound > search.largest() {
                continue;
            }
            // goes down on the side of the query; the other children wait
            while self.nodes[number].right != 0 {
                let (near, far) = self.children(number, search.query());
                let bound = self.bound::<D>(search.query(), far);
                if bound <= search.largest() {
                    waiting.push((bound, far));
                }
                number = near;
            }
            let node = &self.nodes[number];
            let axes = if D == 0 { self.axes } else { D };
            for place in node.from..node.to {
                let square = distance::<D>(search.query(), &self.points[place * axes..(place + 1) * axes]);
                if square <= search.largest() {
                    search.add((square, self.indices[place]));
                }
            }
        }
    }

    /// A lower bound of the square of the distance between a query and the points of a node.
    #[inline(always)]
    fn bound<const D: usize>(&self, query: &[f64], node: usize) -> f64 {
        let axes = if D == 0 { self.axes } else { D };
        let (low, high) = self.boxes[2 * node * axes..2 * (node + 1) * axes].split_at(axes);
        let gap = |axis: usize| (low[axis] - query[axis]).max(query[axis] - high[axis]).max(0.0);
        (0..axes).fold(0.0, |sum, axis| sum + gap(axis) * gap(axis))
    }
}

/// The largest number whose square root is at most the radius, after rounding.
fn largest_square(radius: f64) -> f64 {
    let mut square = radius * radius;
    while square.sqrt() > radius {
        square = square.next_down();
    }
    while square.is_finite() && square.next_up().sqrt() <= radius {
        square = square.next_up();
    }
    square
}

/// The square of the distance between two points.
#[inline(always)]
fn distance<const D: usize>(x: &[f64], y: &[f64]) -> f64 {
    let axes = if D == 0 { x.len() } else { D };
    let (x, y) = (&x[..axes], &y[..axes]);
    (0..axes).fold(0.0, |sum, axis| sum + (y[axis] - x[axis]) * (y[axis] - x[axis]))
}

/// A search for the neighbours of one query.
trait Search {
    /// The coordinates of the query.
    fn query(&self) -> &[f64];
    /// The largest square of a distance at which a point may belong to the result.
    fn largest(&self) -> f64;
    /// Adds a point whose square of the distance is at most `largest`.
    fn add(&mut self, point: Found);
}

/// The search for the nearest points. The list of the points found so far is sorted.
struct Nearest<'a> {
    query: &'a [f64],
    nearest: &'a mut [Found],
}

impl Search for Nearest<'_> {
    #[inline(always)]
    fn query(&self) -> &[f64] {
        self.query
    }

    #[inline(always)]
    fn largest(&self) -> f64 {
        self.nearest[self.nearest.len() - 1].0
    }

    #[inline(always)]
    fn add(&mut self, point: Found) {
        let is_before = |x: &Found, y: &Found| x.0 < y.0 || x.0 == y.0 && x.1 < y.1;
        let mut place = self.nearest.len() - 1;
        if !is_before(&point, &self.nearest[place]) {
            return;
        }
        while place > 0 && is_before(&point, &self.nearest[place - 1]) {
            self.nearest[place] = self.nearest[place - 1];
            place -= 1;
        }
        self.nearest[place] = point;
    }
}

/// The search for all points within a radius.
struct Within<'a> {
    query: &'a [f64],
    largest: f64,
    found: &'a mut Vec<Found>,
}

impl Search for Within<'_> {
    #[inline(always)]
    fn query(&self) -> &[f64] {
        self.query
    }

    #[inline(always)]
    fn largest(&self) -> f64 {
        self.largest
    }

    #[inline(always)]
    fn add(&mut self, point: Found) {
        self.found.push(point);
    }
}
