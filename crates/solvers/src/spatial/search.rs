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
        self.nodes.push(Node { from, to: from + indices.len(), right: 0 });
        let longest = (0..axes).max_by(|&i, &j| (high[i] - low[i]).total_cmp(&(high[j] - low[j])));
        self.boxes.extend(low.iter().chain(&high));
        // points that are all equal stay in one leaf
        let Some(axis) = longest.filter(|&axis| indices.len() > LEAF && high[axis] > low[axis]) else { return };
        let points = self.points;
        let middle = indices.len() / 2;
        indices.select_nth_unstable_by(middle, |&i, &j| {
            points[i * axes + axis].total_cmp(&points[j * axes + axis]).then(i.cmp(&j))
        });
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
        let task = |(number, found): (usize, &mut [Found])| {
            for (i, nearest) in found.chunks_mut(k).enumerate() {
                self.nearest_of(self.query(queries, number * QUERIES_PER_TASK + i), nearest);
            }
        };
        let tasks = QUERIES_PER_TASK.saturating_mul(k);
        match backends::runtime::threads::count() {
            1 => found.chunks_mut(tasks).enumerate().for_each(task),
            _ => found.par_chunks_mut(tasks).enumerate().for_each(task),
        }
        found
    }

    /// All points within `radius` of each of `count` queries, ascending by index.
    pub fn within(&self, queries: &[f64], count: usize, radius: f64) -> Vec<Vec<Found>> {
        if self.nodes.is_empty() {
            return vec![Vec::new(); count];
        }
        let largest = largest_square(radius);
        let row = |i: usize| {
            let mut found = Vec::new();
            self.within_of(self.query(queries, i), largest, &mut found);
            found.sort_unstable_by_key(|(_, index)| *index);
            found
        };
        match backends::runtime::threads::count() {
            1 => (0..count).map(row).collect(),
            _ => (0..count).into_par_iter().with_min_len(QUERIES_PER_TASK).map(row).collect(),
        }
    }

    fn query<'q>(&self, queries: &'q [f64], i: usize) -> &'q [f64] {
        &queries[i * self.axes..(i + 1) * self.axes]
    }

    /// Writes the nearest points of a query into `nearest`, whose length is their number.
    fn nearest_of(&self, query: &[f64], nearest: &mut [Found]) {
        match self.axes {
            1 => self.descend::<1>(query, nearest),
            2 => self.descend::<2>(query, nearest),
            3 => self.descend::<3>(query, nearest),
            _ => self.descend::<0>(query, nearest),
        }
    }

    /// [`Tree::nearest_of`] for `D` coordinates; 0 means any number.
    fn descend<const D: usize>(&self, query: &[f64], nearest: &mut [Found]) {
        let mut waiting: Vec<(f64, usize)> = Vec::with_capacity(32);
        waiting.push((self.bound::<D>(query, 0), 0));
        while let Some((bound, mut number)) = waiting.pop() {
            if bound > nearest[nearest.len() - 1].0 {
                continue;
            }
            // goes down to the nearer child; the other one waits
            while self.nodes[number].right != 0 {
                let (left, right) = (number + 1, self.nodes[number].right);
                let (to_left, to_right) = (self.bound::<D>(query, left), self.bound::<D>(query, right));
                let (near, far) =
                    if to_left <= to_right { (left, (to_right, right)) } else { (right, (to_left, left)) };
                waiting.push(far);
                number = near;
            }
            let node = &self.nodes[number];
            for place in node.from..node.to {
                let square = distance::<D>(query, &self.points[place * self.axes..(place + 1) * self.axes]);
                insert(nearest, (square, self.indices[place]));
            }
        }
    }

    /// Adds the points whose square of the distance is at most `largest` to `found`.
    fn within_of(&self, query: &[f64], largest: f64, found: &mut Vec<Found>) {
        let mut waiting = vec![0];
        while let Some(number) = waiting.pop() {
            if self.bound::<0>(query, number) > largest {
                continue;
            }
            let node = &self.nodes[number];
            if node.right != 0 {
                waiting.extend([number + 1, node.right]);
                continue;
            }
            for place in node.from..node.to {
                let square = distance::<0>(query, &self.points[place * self.axes..(place + 1) * self.axes]);
                if square <= largest {
                    found.push((square, self.indices[place]));
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

/// Inserts a point into the sorted list of the nearest points, if it is nearer than the last one.
#[inline(always)]
fn insert(nearest: &mut [Found], point: Found) {
    let is_before = |x: &Found, y: &Found| x.0 < y.0 || x.0 == y.0 && x.1 < y.1;
    let mut place = nearest.len() - 1;
    if !is_before(&point, &nearest[place]) {
        return;
    }
    while place > 0 && is_before(&point, &nearest[place - 1]) {
        nearest[place] = nearest[place - 1];
        place -= 1;
    }
    nearest[place] = point;
}
