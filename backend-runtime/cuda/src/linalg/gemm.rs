//! A matrix product in the form that cuBLAS takes: column-major matrices and one batch axis.

/// Strides of a matrix, in elements: from one row to the next, and from one column to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Matrix {
    pub(crate) row: isize,
    pub(crate) column: isize,
}

/// The memory layout of a matrix in cuBLAS's terms: column-major or row-major, with a leading dimension. The leading
/// dimension is the distance in elements between columns of a column-major matrix, or between rows of a row-major
/// matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stored {
    /// Whether the matrix is row-major, so that cuBLAS reads its transpose.
    pub(crate) by_rows: bool,
    pub(crate) leading: i64,
}

impl Matrix {
    /// Returns the layout in which cuBLAS can read the matrix; `None` if the matrix must be copied first.
    pub(crate) fn stored(self, rows: usize, columns: usize) -> Option<Stored> {
        // the stride of an axis of length 1 is never used, so any value fits
        let fits = |step: isize, across: isize, len: usize, others: usize| {
            let dense = step == 1 || len <= 1;
            let apart = across >= len.max(1) as isize || others <= 1;
            (dense && apart).then(|| if others <= 1 { len.max(1) as i64 } else { across as i64 })
        };
        if let Some(leading) = fits(self.column, self.row, columns, rows) {
            return Some(Stored { by_rows: true, leading });
        }
        fits(self.row, self.column, rows, columns).map(|leading| Stored { by_rows: false, leading })
    }
}

/// One call of cuBLAS, which computes `batches` products of column-major matrices. Each product is the m x k matrix
/// `op(first)` times the k x n matrix `op(second)`, where `op` transposes the matrix if this is requested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) transpose_first: bool,
    pub(crate) transpose_second: bool,
    pub(crate) m: i64,
    pub(crate) n: i64,
    pub(crate) k: i64,
    /// Leading dimensions of the first matrix, the second matrix and the result, in elements.
    pub(crate) leading: [i64; 3],
    /// For the first matrix, the second matrix and the result: distance from one batch to the next, in elements.
    pub(crate) strides: [i64; 3],
    pub(crate) batches: i64,
}

/// The merged leading axes of a product: their lengths, and their strides in the left operand, the right operand and
/// the result.
#[derive(Clone, Debug)]
pub(crate) struct Batches<'a> {
    pub(crate) shape: &'a [usize],
    pub(crate) strides: [&'a [isize]; 3],
}

impl Batches<'_> {
    /// The longest axis. Along this axis, one call computes all batches; each index of the other axes needs its own
    /// call.
    fn inside(&self) -> Option<usize> {
        (0..self.shape.len()).max_by_key(|&axis| (self.shape[axis], axis))
    }

    /// Offsets of the left matrix, the right matrix and the result in elements, for each call.
    pub(crate) fn offsets(&self) -> Vec<[isize; 3]> {
        let inside = self.inside();
        let mut all = vec![[0; 3]];
        for axis in (0..self.shape.len()).filter(|&axis| Some(axis) != inside) {
            let at = |from: [isize; 3], i: usize| [0, 1, 2].map(|k| from[k] + i as isize * self.strides[k][axis]);
            all = all.into_iter().flat_map(|from| (0..self.shape[axis]).map(move |i| at(from, i))).collect();
        }
        all
    }

    /// The parameters that all calls share; `None` if cuBLAS cannot read a matrix.
    pub(crate) fn call(&self, matrices: [Matrix; 3], rows: usize, inner: usize, columns: usize) -> Option<Call> {
        let left = matrices[0].stored(rows, inner)?;
        let right = matrices[1].stored(inner, columns)?;
        let out = matrices[2].stored(rows, columns).filter(|stored| stored.by_rows)?;
        let (batches, strides) = match self.inside() {
            Some(axis) => (self.shape[axis], self.strides.map(|strides| strides[axis] as i64)),
            None => (1, [0; 3]),
        };
        // cuBLAS reads the C-order result as its transpose in column-major order. So the call multiplies the transpose
        // of the right matrix by the transpose of the left matrix
        Some(Call {
            transpose_first: !right.by_rows,
            transpose_second: !left.by_rows,
            m: columns as i64,
            n: rows as i64,
            k: inner as i64,
            leading: [right.leading, left.leading, out.leading],
            strides: [strides[1], strides[0], strides[2]],
            batches: batches as i64,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computes what cuBLAS computes for a call, element by element. Matrices are column-major, with `leading` elements
    /// from one column to the next.
    fn interpret(call: &Call, first: &[i64], second: &[i64], out: &mut [i64]) {
        let stored = |rows: i64, columns: i64, transposed: bool| if transposed { columns } else { rows };
        assert!(call.leading[0] >= stored(call.m, call.k, call.transpose_first).max(1));
        assert!(call.leading[1] >= stored(call.k, call.n, call.transpose_second).max(1));
        assert!(call.leading[2] >= call.m.max(1));
        let at = |x: &[i64], start: i64, leading: i64, transposed: bool, row: i64, column: i64| {
            let (row, column) = if transposed { (column, row) } else { (row, column) };
            x[(start + row + column * leading) as usize]
        };
        for batch in 0..call.batches {
            let [a, b, c] = call.strides.map(|stride| stride * batch);
            for i in 0..call.m {
                for j in 0..call.n {
                    let terms = (0..call.k).map(|l| {
                        at(first, a, call.leading[0], call.transpose_first, i, l)
                            * at(second, b, call.leading[1], call.transpose_second, l, j)
                    });
                    out[(c + i + j * call.leading[2]) as usize] = terms.sum();
                }
            }
        }
    }

    /// All supported memory layouts of a rows x columns matrix, each with the number of elements of memory that it
    /// needs.
    fn layouts(rows: usize, columns: usize) -> Vec<(Matrix, usize)> {
        let (r, c) = (rows as isize, columns as isize);
        vec![
            (Matrix { row: c, column: 1 }, rows * columns),
            (Matrix { row: 1, column: r }, rows * columns),
            (Matrix { row: c + 3, column: 1 }, rows * (columns + 3)),
            (Matrix { row: 1, column: r + 2 }, columns * (rows + 2)),
        ]
    }

    fn number(i: usize) -> i64 {
        (i as i64 * 7919) % 13 - 6
    }

    #[test]
    fn every_layout_gives_the_product() {
        for (rows, inner, columns) in [(3, 4, 5), (1, 4, 5), (3, 1, 5), (3, 4, 1), (1, 1, 1), (1, 6, 1), (2, 2, 2)] {
            for (left, left_span) in layouts(rows, inner) {
                for (right, right_span) in layouts(inner, columns) {
                    let x: Vec<i64> = (0..2 * left_span).map(number).collect();
                    let y: Vec<i64> = (0..right_span).map(|i| number(i + 5)).collect();
                    let batches =
                        Batches { shape: &[2], strides: [&[left_span as isize], &[0], &[(rows * columns) as isize]] };
                    let out_matrix = Matrix { row: columns as isize, column: 1 };
                    let call = batches.call([left, right, out_matrix], rows, inner, columns).unwrap();
                    assert_eq!(batches.offsets(), [[0; 3]]);
                    let mut out = vec![99; 2 * rows * columns];
                    interpret(&call, &y, &x, &mut out);
                    for (i, &got) in out.iter().enumerate() {
                        let (batch, row, column) = (i / (rows * columns), i / columns % rows, i % columns);
                        let expected: i64 = (0..inner)
                            .map(|k| {
                                let a =
                                    batch * left_span + (row as isize * left.row + k as isize * left.column) as usize;
                                let b = (k as isize * right.row + column as isize * right.column) as usize;
                                x[a] * y[b]
                            })
                            .sum();
                        assert_eq!(got, expected, "{rows} {inner} {columns} {left:?} {right:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn what_must_be_copied_first() {
        assert_eq!(Matrix { row: 10, column: 2 }.stored(3, 4), None, "every second column");
        assert_eq!(Matrix { row: -4, column: 1 }.stored(3, 4), None, "backwards");
        assert_eq!(Matrix { row: 0, column: 1 }.stored(3, 4), None, "one row repeated");
        assert_eq!(Matrix { row: 7, column: 0 }.stored(5, 1), Some(Stored { by_rows: true, leading: 7 }));
        assert_eq!(Matrix { row: 0, column: 1 }.stored(1, 4), Some(Stored { by_rows: true, leading: 4 }));
        assert_eq!(Matrix { row: 0, column: 3 }.stored(1, 4), Some(Stored { by_rows: false, leading: 3 }));
    }

    #[test]
    fn the_longest_leading_axis_is_inside_a_call() {
        let batches = Batches { shape: &[2, 5, 3], strides: [&[100, 10, 0], &[0, 0, 7], &[300, 60, 20]] };
        let offsets = batches.offsets();
        assert_eq!(offsets.len(), 6);
        assert_eq!(offsets[1], [0, 7, 20]);
        assert_eq!(offsets[5], [100, 14, 340]);
        let m = Matrix { row: 2, column: 1 };
        let call = batches.call([m, m, m], 2, 2, 2).unwrap();
        assert_eq!((call.batches, call.strides), (5, [0, 10, 60]));
    }
}
