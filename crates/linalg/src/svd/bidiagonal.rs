//! Reduction of real matrices to bidiagonal form by reflections, in one pass over the matrix for each column.
//!
//! G. W. Howell, J. W. Demmel, C. T. Fulton, S. Hammarling and K. Marmol, "Cache efficient bidiagonalization using BLAS
//! 2.5 operators", ACM Transactions on Mathematical Software 34 (2008). The reflections of a step are applied to the
//! rest of the matrix in the pass of the next step, which also computes both products with the rest that the next step
//! needs. Most of the time is for reading and writing the rest, so one pass instead of two saves nearly half of it.

use crate::{
    Result,
    instructions::{Set, versions},
    lanes::{F64x8, LANES},
    room::list,
};

/// Number of columns that are processed at a time.
const GROUP: usize = 4;

/// Alignment of the columns in bytes: the size of a cache line.
const ALIGNMENT: usize = 64;

/// Vectors shorter than 2^-900 count as 0. The largest element of the matrix is at least 2^-200.
const NEGLIGIBLE: f64 = f64::from_bits((1023 - 900) << 52);

/// Products with rows shorter than 2^-400 may underflow.
const SHORT: f64 = f64::from_bits((1023 - 400) << 52);

/// Eight rows of a column.
type Eight = [f64; LANES];

/// The data of one step's pass over all columns to the right. `u`, `before`, `z` and `next` have
/// one element per row; `y` and `v` have one element per column.
pub struct Step<'a> {
    /// The left reflection of this step (`u`) and of the previous step (`before`). Elements above the first row of a
    /// reflection are 0.
    u: &'a [Eight],
    before: &'a [Eight],
    /// The product of the columns to the right and the right reflection of the previous step.
    z: &'a [Eight],
    /// The product of the columns to the right and the row `v`. The pass computes this product.
    next: &'a mut [Eight],
    /// The product of the left reflection and the columns to the right. Before the pass, this is the product of the
    /// previous step; the pass replaces it by the product of this step.
    y: &'a mut [f64],
    /// The right reflection of the previous step. The pass replaces it by the row of the matrix.
    v: &'a mut [f64],
    /// The factor of this step's left reflection.
    factor: f64,
    /// The index of the row, and the index of the first row in the vectors.
    row: usize,
    first: usize,
}

/// The sum of the eight numbers of each vector.
#[inline(never)] // when it is inlined, the compiler transposes the vectors in the loop over the rows
fn sums_of(sums: &[F64x8; GROUP]) -> [f64; GROUP] {
    sums.map(|F64x8(s)| ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7])))
}

/// Passes over `GROUP` columns of the rest, from column `j` on.
#[inline(always)]
fn columns(step: &mut Step<'_>, group: &mut [f64], stride: usize, j: usize) {
    let (first, count) = (step.first, step.u.len());
    let (u, before, z) = (&step.u[..count], &step.before[..count], &step.z[..count]);
    let next = &mut step.next[..count];
    let (a, others) = group.split_at_mut(stride);
    let (b, others) = others.split_at_mut(stride);
    let (c, d) = others.split_at_mut(stride);
    let a = &mut a[first..].as_chunks_mut().0[..count];
    let b = &mut b[first..].as_chunks_mut().0[..count];
    let c = &mut c[first..].as_chunks_mut().0[..count];
    let d = &mut d[first..].as_chunks_mut().0[..count];
    let y = &mut step.y[j..j + GROUP];
    let v = &mut step.v[j..j + GROUP];
    let of_y = [F64x8::all(y[0]), F64x8::all(y[1]), F64x8::all(y[2]), F64x8::all(y[3])];
    let of_v = [F64x8::all(v[0]), F64x8::all(v[1]), F64x8::all(v[2]), F64x8::all(v[3])];
    let mut sums = [F64x8::all(0.0); GROUP];
    for i in 0..count {
        let (u, before, z) = (F64x8(u[i]), F64x8(before[i]), F64x8(z[i]));
        let x = F64x8(a[i]) - before * of_y[0] - z * of_v[0];
        sums[0] = sums[0] + u * x;
        a[i] = x.0;
        let x = F64x8(b[i]) - before * of_y[1] - z * of_v[1];
        sums[1] = sums[1] + u * x;
        b[i] = x.0;
        let x = F64x8(c[i]) - before * of_y[2] - z * of_v[2];
        sums[2] = sums[2] + u * x;
        c[i] = x.0;
        let x = F64x8(d[i]) - before * of_y[3] - z * of_v[3];
        sums[3] = sums[3] + u * x;
        d[i] = x.0;
    }
    let (at, lane) = ((step.row - first) / LANES, step.row % LANES);
    let sums = sums_of(&sums);
    for (g, x) in [a[at][lane], b[at][lane], c[at][lane], d[at][lane]].into_iter().enumerate() {
        y[g] = step.factor * sums[g];
        v[g] = x - y[g];
    }
    let [p, q, r, s] = [v[0], v[1], v[2], v[3]];
    let next = next.as_flattened_mut();
    let (a, b, c, d) = (a.as_flattened(), b.as_flattened(), c.as_flattened(), d.as_flattened());
    let count = next.len();
    let (a, b, c, d) = (&a[..count], &b[..count], &c[..count], &d[..count]);
    for i in 0..count {
        next[i] += (p * a[i] + q * b[i]) + (r * c[i] + s * d[i]);
    }
}

versions! {
    /// Passes over all columns of the rest, which are `stride` apart.
    pub fn pass(step: &mut Step<'_>, rest: &mut [f64], stride: usize) {
        step.next.fill([0.0; LANES]);
        let mut j = 0;
        while j < step.y.len() {
            columns(step, &mut rest[j * stride..(j + GROUP) * stride], stride, j);
            j += GROUP;
        }
    }
}

/// Euclidean length.
fn length(x: &[f64]) -> f64 {
    let square: f64 = x.iter().map(|x| x * x).sum();
    if (1e-280..1e280).contains(&square) {
        return square.sqrt();
    }
    let largest = x.iter().fold(0.0, |largest: f64, x| if x.is_nan() { f64::INFINITY } else { largest.max(x.abs()) });
    if largest == 0.0 || largest.is_infinite() {
        return largest;
    }
    largest * x.iter().map(|x| (x / largest) * (x / largest)).sum::<f64>().sqrt()
}

/// A reflection `1 - factor u u'` that maps a vector to a multiple of the first unit vector.
struct Reflection {
    /// The first element of the mapped vector.
    to: f64,
    factor: f64,
    /// The factor that scales `u` so that its first element is 1.
    inverse: f64,
}

impl Reflection {
    /// Overwrites the vector with `u`.
    fn of(x: &mut [f64]) -> Reflection {
        let (first, rest) = x.split_at_mut(1);
        let head = std::mem::replace(&mut first[0], 1.0);
        let of_rest = length(rest);
        if of_rest < NEGLIGIBLE {
            rest.fill(0.0);
            return Reflection { to: head, factor: 0.0, inverse: 0.0 };
        }
        let to = -length(&[head, of_rest]).copysign(head);
        let inverse = 1.0 / (head - to);
        rest.iter_mut().for_each(|x| *x *= inverse);
        Reflection { to, factor: (to - head) / to, inverse }
    }
}

/// The first aligned position in `room`.
fn aligned(room: &[f64]) -> usize {
    match room.as_ptr().align_offset(ALIGNMENT) {
        usize::MAX => 0,
        offset => offset,
    }
}

/// Computes the bidiagonal form of an `m` by `n` matrix with `m >= n`: the diagonal, and the `n - 1` elements above it.
/// The magnitude of the largest element must be between 2^-200 and 2^200.
pub fn reduce(set: Set, a: &[f64], m: usize, n: usize, diagonal: &mut [f64], above: &mut [f64]) -> Result<()> {
    // columns that are a large power of two apart would share few lines of the cache
    let stride = m.next_multiple_of(LANES) + if m.next_multiple_of(512) - m < LANES { LANES } else { 0 };
    // up to three columns of zeros complete the last group
    let room = &mut list(stride * (n + GROUP - 1 + 4) + ALIGNMENT, 0.0)?;
    let start = aligned(room);
    let (vectors, rest) = room[start..].split_at_mut(stride * 4);
    rest.chunks_exact_mut(stride).zip(a.chunks_exact(m)).for_each(|(to, from)| to[..m].copy_from_slice(from));
    let (u, vectors) = vectors.split_at_mut(stride);
    let (before, vectors) = vectors.split_at_mut(stride);
    let (z, vectors) = vectors.split_at_mut(stride);
    let (mut u, mut before, next) = (u, before, vectors);
    let (mut y, mut v) = (list(n + GROUP - 1, 0.0)?, list(n + GROUP - 1, 0.0)?);
    for k in 0..n {
        let (column, rest) = rest[k * stride..].split_at_mut(stride);
        for i in k..m {
            column[i] -= before[i] * y[k] + z[i] * v[k];
        }
        u[..k].fill(0.0);
        u[k..m].copy_from_slice(&column[k..m]);
        let Reflection { to, factor, .. } = Reflection::of(&mut u[k..m]);
        diagonal[k] = to;
        if k + 1 == n {
            break;
        }
        let (first, width) = (k / LANES * LANES, (n - k - 1).next_multiple_of(GROUP));
        let mut step = Step {
            u: u[first..].as_chunks().0,
            before: before[first..].as_chunks().0,
            z: z[first..].as_chunks().0,
            next: next[first..].as_chunks_mut().0,
            y: &mut y[k + 1..k + 1 + width],
            v: &mut v[k + 1..k + 1 + width],
            factor,
            row: k,
            first,
        };
        pass(set, &mut step, rest, stride);
        let (y, row) = (&y[k + 1..n], &mut v[k + 1..n]);
        let right = Reflection::of(row);
        above[k] = right.to;
        z[k] = 0.0;
        if right.factor == 0.0 {
            z[k + 1..].fill(0.0);
        } else {
            let along: f64 = y.iter().zip(row.iter()).map(|(y, v)| y * v).sum();
            if right.to.abs() < SHORT {
                product(&mut next[k + 1..m], rest, row, k + 1, stride);
            } else {
                // the right reflection is the row with `right.to` subtracted from its first
                // element, times `right.inverse`
                for (next, x) in next[k + 1..m].iter_mut().zip(&rest[k + 1..m]) {
                    *next = (*next - right.to * x) * right.inverse;
                }
            }
            for i in k + 1..m {
                z[i] = right.factor * (next[i] - along * u[i]);
            }
        }
        u[k] = 0.0;
        std::mem::swap(&mut u, &mut before);
    }
    Ok(())
}

/// The product of the rest's rows from `first` on and a vector.
fn product(to: &mut [f64], rest: &[f64], v: &[f64], first: usize, stride: usize) {
    to.fill(0.0);
    for (column, v) in rest.chunks_exact(stride).zip(v) {
        to.iter_mut().zip(&column[first..]).for_each(|(to, x)| *to += v * x);
    }
}
