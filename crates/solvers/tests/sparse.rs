//! Compares sparse matrices with dense matrices on every backend. The elements are small integers, which every dtype
//! represents exactly.

use backends::{Error, Result, prelude::*};
use backends_npz::Npz;
use backends_solvers::sparse::{Coo, Csc, Csr, Dia, kron};
use ndarray::{Array2, ArrayD, Axis, IxDyn, arr0, arr1, arr2, s};

/// Runs a generic function on every backend available on this machine. Libtorch and the GPU are used through
/// `AnyBackend`, so that the function is compiled twice and not three times.
macro_rules! on_every_backend {
    ($check:path) => {
        $check(&Numpyish::new()).unwrap_or_else(|e| panic!("numpyish: {e}"));
        if let Some(torch) = backends::runtime::available("torch", Torch::cpu()) {
            $check(&AnyBackend::from(torch)).unwrap_or_else(|e| panic!("torch: {e}"));
        }
        if let Some(cuda) = backends::runtime::available("cuda", Cuda::new(0)) {
            $check(&AnyBackend::from(cuda)).unwrap_or_else(|e| panic!("cuda: {e}"));
        }
    };
}

/// Pseudorandom numbers, by a linear congruential generator.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % n.max(1)
    }

    fn value(&mut self) -> i64 {
        self.below(7) as i64 - 3
    }

    /// Elements in random order, some of them duplicates or zeros. Odd rows are empty.
    fn elements(&mut self, [rows, columns]: [usize; 2], count: usize) -> Vec<(usize, usize, i64)> {
        let count = if rows * columns == 0 { 0 } else { count };
        (0..count).map(|_| (2 * self.below(rows.div_ceil(2)), self.below(columns), self.value())).collect()
    }

    fn matrix(&mut self, shape: [usize; 2]) -> Array2<i64> {
        Array2::from_shape_simple_fn(shape, || self.value())
    }
}

fn dense(elements: &[(usize, usize, i64)], shape: [usize; 2]) -> Array2<i64> {
    let mut x = Array2::zeros(shape);
    for &(i, j, value) in elements {
        x[[i, j]] += value;
    }
    x
}

/// The shapes of the tested matrices, each with the number of elements that are given (duplicates and zeros included).
const MATRICES: &[([usize; 2], usize)] =
    &[([0, 0], 0), ([0, 3], 0), ([3, 0], 0), ([1, 1], 0), ([1, 1], 2), ([4, 6], 9), ([7, 3], 40), ([5, 5], 8)];

struct Checker<'b, B: Backend>(&'b B);

impl<B: Backend> Checker<'_, B> {
    fn array<T: Numeric>(&self, x: &ArrayD<i64>) -> B::Array<T> {
        self.0.asarray(x.mapv(T::from_i64)).unwrap()
    }

    #[track_caller]
    fn same<T: Numeric>(&self, found: Result<B::Array<T>>, expected: impl Into<ArrayD<i64>>) {
        let found = self.0.to_ndarray(&found.unwrap()).unwrap().into_owned();
        assert_eq!(found, expected.into().mapv(T::from_i64), "{}", T::DTYPE);
    }

    fn coo<T: Numeric>(&self, elements: &[(usize, usize, i64)], shape: [usize; 2]) -> Coo<B, T> {
        Coo::from_triplets(self.0, elements.iter().map(|&(i, j, x)| (i, j, T::from_i64(x))), shape).unwrap()
    }
}

fn conversions<B: Backend, T: Numeric>(b: &B) -> Result<()> {
    let (c, mut dice) = (Checker(b), Dice(1));
    for &(shape, count) in MATRICES {
        let elements = dice.elements(shape, count);
        let expected = dense(&elements, shape);
        let coo = c.coo::<T>(&elements, shape);
        let (csr, csc, dia) = (coo.to_csr(b)?, coo.to_csc(b)?, coo.to_dia(b)?);
        assert_eq!([coo.shape(), csr.shape(), csc.shape(), dia.shape()], [shape; 4]);
        let full = |x: Result<B::Array<T>>| c.same(x, expected.clone().into_dyn());
        full(coo.to_dense(b));
        full(csr.to_dense(b));
        full(csc.to_dense(b));
        full(dia.to_dense(b));
        full(csr.to_coo(b)?.to_dense(b));
        full(csr.to_csc(b)?.to_dense(b));
        full(csr.to_dia(b)?.to_dense(b));
        full(csc.to_coo(b)?.to_dense(b));
        full(csc.to_csr(b)?.to_dense(b));
        full(csc.to_dia(b)?.to_dense(b));
        full(dia.to_csr(b)?.to_dense(b));
        full(dia.to_csc(b)?.to_dense(b));
        let x = c.array::<T>(&expected.clone().into_dyn());
        let (of_coo, of_csr) = (Coo::from_dense(b, &x)?, Csr::from_dense(b, &x)?);
        let (of_csc, of_dia) = (Csc::from_dense(b, &x)?, Dia::from_dense(b, &x)?);
        let stored = expected.iter().filter(|&&x| x != 0).count();
        assert_eq!([of_coo.nnz(), of_csr.nnz(), of_csc.nnz()], [stored; 3]);
        full(of_coo.to_dense(b));
        full(of_csr.to_dense(b));
        full(of_csc.to_dense(b));
        full(of_dia.to_dense(b));
        // in each row, the columns are ascending and without duplicates, and `new` accepts the arrays
        let again = Csr::new(b, csr.values().clone(), csr.indices().clone(), csr.indptr().clone(), shape)?;
        let (indptr, indices) = (b.to_vec(again.indptr())?, b.to_vec(again.indices())?);
        for row in indptr.windows(2) {
            assert!(indices[row[0] as usize..row[1] as usize].windows(2).all(|pair| pair[0] < pair[1]));
        }
        assert_eq!(indptr.len(), shape[0] + 1);
        let transposed = expected.t().to_owned().into_dyn();
        c.same(coo.transpose().to_dense(b), transposed.clone());
        c.same(csr.transpose().to_dense(b), transposed.clone());
        c.same(csc.transpose().to_dense(b), transposed.clone());
        c.same(dia.transpose(b)?.to_dense(b), transposed);
    }
    let eye = Array2::eye(3).into_dyn();
    c.same(Coo::<B, T>::eye(b, 3)?.to_dense(b), eye.clone());
    c.same(Csr::<B, T>::eye(b, 3)?.to_dense(b), eye.clone());
    c.same(Csc::<B, T>::eye(b, 3)?.to_dense(b), eye.clone());
    c.same(Dia::<B, T>::eye(b, 3)?.to_dense(b), eye);
    c.same(Csr::<B, T>::eye(b, 0)?.to_dense(b), Array2::zeros([0, 0]).into_dyn());
    Ok(())
}

fn products<B: Backend, T: Numeric>(b: &B) -> Result<()> {
    let (c, mut dice) = (Checker(b), Dice(2));
    for &(shape, count) in MATRICES {
        let elements = dice.elements(shape, count);
        let a = dense(&elements, shape);
        let coo = c.coo::<T>(&elements, shape);
        let (csr, csc, dia) = (coo.to_csr(b)?, coo.to_csc(b)?, coo.to_dia(b)?);
        for width in [None, Some(0), Some(1), Some(3), Some(17)] {
            let x = dice.matrix([shape[1], width.unwrap_or(1)]);
            let y = dice.matrix([shape[0], width.unwrap_or(1)]);
            // if `width` is `None`, the operand is a vector: the only column of `x`
            let shaped = |x: &Array2<i64>| {
                let (len, x) = (x.nrows(), x.clone().into_dyn());
                if width.is_none() { x.into_shape_with_order(IxDyn(&[len])).unwrap() } else { x }
            };
            let (there, back) = (shaped(&a.dot(&x)), shaped(&a.t().dot(&y)));
            let (x, y) = (c.array::<T>(&shaped(&x)), c.array::<T>(&shaped(&y)));
            c.same(coo.matmul(b, &x), there.clone());
            c.same(csr.matmul(b, &x), there.clone());
            c.same(csc.matmul(b, &x), there.clone());
            c.same(dia.matmul(b, &x), there);
            c.same(csr.transpose_matmul(b, &y), back.clone());
            c.same(csc.transpose_matmul(b, &y), back.clone());
            c.same(dia.transpose_matmul(b, &y), back);
        }
        let others = dice.elements([shape[1], 4], 7);
        let other = c.coo::<T>(&others, [shape[1], 4]);
        let expected = a.dot(&dense(&others, [shape[1], 4]));
        c.same(csr.matmul_sparse(b, &other.to_csr(b)?)?.to_dense(b), expected.into_dyn());
        let factor = dice.elements([2, 3], 4);
        let (left, [rows, columns]) = (dense(&factor, [2, 3]), shape);
        let pair = |(i, j)| left[[i / rows, j / columns]] * a[[i % rows, j % columns]];
        let pairs = Array2::from_shape_fn([2 * rows, 3 * columns], pair);
        let product = kron(b, &c.coo::<T>(&factor, [2, 3]), &coo)?;
        assert_eq!(product.nnz(), 4 * elements.len());
        c.same(product.to_dense(b), pairs.into_dyn());
    }
    Ok(())
}

fn sums_and_parts<B: Backend, T: Numeric>(b: &B) -> Result<()> {
    let (c, mut dice) = (Checker(b), Dice(3));
    for &(shape, count) in MATRICES {
        let [rows, columns] = shape;
        let (elements, others) = (dice.elements(shape, count), dice.elements(shape, count));
        let (x, y) = (dense(&elements, shape), dense(&others, shape));
        let (sx, sy) = (c.coo::<T>(&elements, shape).to_csr(b)?, c.coo::<T>(&others, shape).to_csr(b)?);
        c.same(sx.add(b, &sy)?.to_dense(b), (&x + &y).into_dyn());
        c.same(sx.subtract(b, &sy)?.to_dense(b), (&x - &y).into_dyn());
        c.same(sx.multiply(b, &sy)?.to_dense(b), (&x * &y).into_dyn());
        c.same(sx.multiply_dense(b, &c.array(&y.clone().into_dyn()))?.to_dense(b), (&x * &y).into_dyn());
        c.same(sx.scale(b, T::from_i64(3))?.to_dense(b), (&x * 3).into_dyn());
        let vector = |x: &[i64]| arr1(x).into_dyn();
        let counted = |n: usize| c.array::<T>(&vector(&(0..n as i64).collect::<Vec<_>>()));
        let scaled = Array2::from_shape_fn(shape, |(i, j)| x[[i, j]] * i as i64);
        c.same(sx.scale_rows(b, &counted(rows))?.to_dense(b), scaled.into_dyn());
        let scaled = Array2::from_shape_fn(shape, |(i, j)| x[[i, j]] * j as i64);
        c.same(sx.scale_columns(b, &counted(columns))?.to_dense(b), scaled.into_dyn());
        c.same(sx.sum(b, ..), arr0(x.sum()).into_dyn());
        c.same(sx.sum(b, 0), x.sum_axis(Axis(0)).into_dyn());
        c.same(sx.sum(b, -1), x.sum_axis(Axis(1)).into_dyn());
        for offset in [isize::MIN, -7, -3, -1, 0, 1, 2, 6, isize::MAX] {
            let on = |i: usize| i.checked_add_signed(offset).filter(|&j| j < columns).map(|j| x[[i, j]]);
            let expected: Vec<i64> = (0..rows).filter_map(on).collect();
            c.same(sx.diagonal(b, offset), vector(&expected));
            c.same(sx.to_dia(b)?.diagonal(b, offset), vector(&expected));
        }
        let csc = sx.to_csc(b)?;
        for (i, j) in [(0, 0), (rows / 2, columns / 2), (rows.saturating_sub(1), columns.saturating_sub(1))] {
            if i < rows && j < columns {
                c.same(sx.get(b, i, j), arr0(x[[i, j]]).into_dyn());
            }
            let part = x.slice(s![i..rows, j..columns]).to_owned().into_dyn();
            c.same(sx.block(b, i..rows, j..columns)?.to_dense(b), part.clone());
            c.same(csc.columns(b, j..columns)?.rows(b, i..rows)?.to_dense(b), part);
            let part = x.slice(s![..i, ..j]).to_owned().into_dyn();
            c.same(sx.block(b, 0..i, 0..j)?.to_dense(b), part);
        }
        if rows > 1 {
            let taken = sx.take_rows(b, &b.asarray([-1_i64, 0, 0])?)?;
            c.same(taken.to_dense(b), x.select(Axis(0), &[rows - 1, 0, 0]).into_dyn());
        }
        let none = sx.take_rows(b, &b.zeros([0])?)?;
        assert_eq!((none.shape(), none.nnz()), ([0, columns], 0));
        let sparse = sx.eliminate_zeros(b)?;
        assert_eq!(sparse.nnz(), x.iter().filter(|&&x| x != 0).count());
        c.same(sparse.to_dense(b), x.into_dyn());
    }
    // columns that are not in order, with duplicates
    let (values, indices) = (c.array::<T>(&arr1(&[1, 2, 3]).into_dyn()), b.asarray([2_i64, 0, 2])?);
    let a = Csr::new(b, values, indices, b.asarray([0_i64, 3, 3])?, [2, 3])?;
    c.same(a.to_dense(b), arr2(&[[2, 0, 4], [0, 0, 0]]).into_dyn());
    assert_eq!(b.to_vec(a.sum_duplicates(b)?.indices())?, [0, 2]);
    c.same(a.multiply(b, &a)?.to_dense(b), arr2(&[[4, 0, 16], [0, 0, 0]]).into_dyn());
    Ok(())
}

fn batches<B: Backend, T: Numeric>(b: &B) -> Result<()> {
    let (c, mut dice) = (Checker(b), Dice(4));
    let places = [(0, 1), (2, 0), (2, 3)];
    let a = c.coo::<T>(&places.map(|(i, j)| (i, j, 1)), [3, 4]).to_csr(b)?;
    for batch in [0, 1, 3] {
        let values = dice.matrix([batch, 3]);
        let x = dice.matrix([batch, 8]).into_shape_with_order([batch, 4, 2]).unwrap();
        let mut expected = ndarray::Array3::zeros([batch, 3, 2]);
        for k in 0..batch {
            for (e, (i, j)) in places.into_iter().enumerate() {
                for column in 0..2 {
                    expected[[k, i, column]] += values[[k, e]] * x[[k, j, column]];
                }
            }
        }
        let values = c.array(&values.into_dyn());
        c.same(a.matmul_batched(b, &values, &c.array(&x.clone().into_dyn())), expected.clone().into_dyn());
        let (x, expected) = (x.index_axis_move(Axis(2), 1), expected.index_axis_move(Axis(2), 1));
        c.same(a.matmul_batched(b, &values, &c.array(&x.into_dyn())), expected.into_dyn());
    }
    Ok(())
}

/// Runs all checks in one dtype.
fn in_dtype<B: Backend, T: Numeric>(b: &B) -> Result<()> {
    conversions::<B, T>(b)?;
    products::<B, T>(b)?;
    sums_and_parts::<B, T>(b)?;
    batches::<B, T>(b)
}

fn in_f64<B: Backend>(b: &B) -> Result<()> {
    in_dtype::<B, f64>(b)
}

#[test]
fn in_double_precision() {
    on_every_backend!(in_f64);
}

/// A sample of dtypes is enough, because the ops' own tests cover every dtype.
#[test]
fn in_other_dtypes() {
    fn check<B: Backend>(b: &B) -> Result<()> {
        in_dtype::<B, f32>(b)?;
        in_dtype::<B, Complex<f64>>(b)?;
        in_dtype::<B, i32>(b)
    }
    check(&Numpyish::new()).unwrap();
    if let Some(torch) = backends::runtime::available("torch", Torch::cpu()) {
        check(&AnyBackend::from(torch)).unwrap();
    }
}

#[test]
fn conjugates() {
    let b = Numpyish::new();
    let z = Complex::new(1.0, 2.0);
    let a = Coo::from_triplets(&b, [(0, 1, z)], [2, 2]).unwrap().to_csr(&b).unwrap();
    let expected = b.asarray([z.conj()]).unwrap();
    assert_eq!(a.conj(&b).unwrap().values(), &expected);
    assert_eq!(a.transpose().conj(&b).unwrap().values(), &expected);
    assert_eq!(a.to_dia(&b).unwrap().conj(&b).unwrap().diagonal(&b, 1).unwrap(), expected);
}

fn refusals<B: Backend>(b: &B) -> Result<()> {
    let values = |n: usize| b.ones::<f64>([n]);
    let ints = |x: &[i64]| b.asarray(x.to_vec());
    let csr =
        |n: usize, indices: &[i64], indptr: &[i64]| Csr::new(b, values(n)?, ints(indices)?, ints(indptr)?, [2, 3]);
    let outside = csr(2, &[0, 3], &[0, 1, 2]).unwrap_err();
    assert_eq!(outside.to_string(), "Csr::new: index 3 is out of range for axis 1 of length 3");
    assert!(matches!(csr(2, &[0, -1], &[0, 1, 2]), Err(Error::Index { index: -1, axis: 1, len: 3, .. })));
    assert!(matches!(csr(3, &[0, 1], &[0, 1, 2]), Err(Error::Shapes { .. })));
    assert!(matches!(csr(2, &[0, 1], &[0, 2]), Err(Error::Shape { .. })));
    for indptr in [[0, 3, 2], [1, 1, 2], [0, 1, 1], [0, -1, 2]] {
        let falls = csr(2, &[0, 1], &indptr).unwrap_err().to_string();
        assert_eq!(falls, "Csr::new: the pointers must ascend from 0 to 2, the number of stored elements");
    }
    let csc = Csc::new(b, values(1)?, ints(&[3])?, ints(&[0, 1, 1])?, [3, 2]).unwrap_err();
    assert_eq!(csc.to_string(), "Csc::new: index 3 is out of range for axis 0 of length 3");
    let coo = |rows: &[i64], columns: &[i64]| Coo::new(b, values(2)?, ints(rows)?, ints(columns)?, [2, 3]);
    assert!(matches!(coo(&[0, 2], &[0, 0]), Err(Error::Index { index: 2, axis: 0, len: 2, .. })));
    assert!(matches!(coo(&[0, 1], &[0, 3]), Err(Error::Index { index: 3, axis: 1, len: 3, .. })));
    assert!(matches!(coo(&[0], &[0, 0]), Err(Error::Shapes { .. })));
    let far = Coo::from_triplets(b, [(usize::MAX, 0, 1.0)], [2, 2]);
    assert!(matches!(far, Err(Error::Index { axis: 0, len: 2, .. })));
    assert!(matches!(Coo::<B, f64>::from_triplets(b, [], [usize::MAX, 2]), Err(Error::Shape { .. })));
    assert!(matches!(Coo::from_dense(b, &values(3)?), Err(Error::Shape { .. })));
    assert!(matches!(Dia::<B, f64>::new(b.ones([2, 3])?, [0], [3, 3]), Err(Error::Shape { .. })));
    assert!(matches!(Dia::<B, f64>::new(b.ones([2, 3])?, [1, 1], [3, 3]), Err(Error::Argument { .. })));
    for offset in [3, -3, isize::MIN, isize::MAX] {
        assert!(matches!(Dia::<B, f64>::new(b.ones([1, 3])?, [offset], [3, 3]), Err(Error::Argument { .. })));
    }

    let a = csr(2, &[0, 1], &[0, 1, 2])?;
    for x in [values(2)?, b.ones([2, 1])?] {
        assert!(matches!(a.matmul(b, &x), Err(Error::Shapes { .. })));
        assert!(matches!(a.to_dia(b)?.matmul(b, &x), Err(Error::Shapes { .. })));
    }
    for x in [b.ones([3, 1, 1])?, b.asarray(1.0)?] {
        assert!(matches!(a.matmul(b, &x), Err(Error::Shape { .. })));
        assert!(matches!(a.to_dia(b)?.matmul(b, &x), Err(Error::Shape { .. })));
    }
    assert!(matches!(a.transpose_matmul(b, &values(3)?), Err(Error::Shapes { .. })));
    let square = Csr::<B, f64>::eye(b, 4)?;
    assert!(matches!(a.add(b, &square), Err(Error::Shapes { .. })));
    assert!(matches!(a.multiply(b, &square), Err(Error::Shapes { .. })));
    assert!(matches!(a.matmul_sparse(b, &square), Err(Error::Shapes { .. })));
    assert!(matches!(a.scale(b, &values(3)?), Err(Error::Shapes { .. })));
    assert!(matches!(a.scale_rows(b, &values(3)?), Err(Error::Shapes { .. })));
    assert!(matches!(a.get(b, 2, 0), Err(Error::Index { index: 2, axis: 0, len: 2, .. })));
    assert!(matches!(a.get(b, 0, 3), Err(Error::Index { index: 3, axis: 1, len: 3, .. })));
    assert!(matches!(a.sum(b, 2), Err(Error::Axis { axis: 2, ndim: 2, .. })));
    #[allow(clippy::reversed_empty_ranges)] // a reversed range is the mistake under test
    let backwards = a.rows(b, 2..1);
    assert!(matches!(backwards, Err(Error::Argument { .. })));
    assert!(matches!(a.columns(b, 0..4), Err(Error::Argument { .. })));
    assert!(matches!(a.take_rows(b, &ints(&[2])?), Err(Error::Index { index: 2, axis: 0, len: 2, .. })));
    assert!(matches!(a.with_values(values(1)?), Err(Error::Shapes { .. })));
    assert!(matches!(a.matmul_batched(b, &b.ones([1, 3])?, &b.ones([1, 3])?), Err(Error::Shapes { .. })));
    assert!(matches!(a.matmul_batched(b, &b.ones([1, 2])?, &b.ones([2, 3])?), Err(Error::Shapes { .. })));
    assert!(matches!(a.matmul_batched(b, &b.ones([2])?, &b.ones([1, 3])?), Err(Error::Shape { .. })));
    Ok(())
}

#[test]
fn what_is_no_matrix_is_refused() {
    on_every_backend!(refusals);
}

fn phiml<B: Backend>(b: &B) -> std::result::Result<(), Box<dyn std::error::Error>> {
    let root = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_else(|_| env!("CARGO_MANIFEST_DIR").into());
    let data = Npz::open(format!("{root}/../../tests/data/phiml_linear_solve.npz"))?;
    let (rows, columns) = (data.array(b, "coo_rows")?, data.array(b, "coo_cols")?);
    let coo = Coo::<B, f64>::new(b, data.array(b, "coo_vals")?, rows, columns, [4, 4])?;
    let near = |x: &B::Array<f64>, name: &str| -> std::result::Result<(), Box<dyn std::error::Error>> {
        let (found, expected): (_, ArrayD<f64>) = (b.to_ndarray(x)?.into_owned(), data.get(name)?);
        assert_eq!(found.shape(), expected.shape());
        for (&found, &expected) in found.iter().zip(&expected) {
            let (found, expected): (f64, f64) = (found, expected);
            assert!((found - expected).abs() <= 1e-12 * expected.abs().max(1.0), "{name}: {found} {expected}");
        }
        Ok(())
    };
    near(&coo.to_dense(b)?, "coo_dense")?;
    let x = data.array(b, "sparse_rhs")?;
    near(&coo.matmul(b, &x)?, "csr_times_dense")?;
    near(&coo.to_csc(b)?.matmul(b, &x)?, "csr_times_dense")?;
    near(&coo.to_dia(b)?.matmul(b, &x)?, "csr_times_dense")
}

#[test]
fn as_phiml_does() {
    on_every_backend!(phiml);
}

#[test]
fn as_text() {
    let b = Numpyish::new();
    let a = Coo::from_triplets(&b, [(0, 1, 2.0_f32)], [2, 3]).unwrap();
    assert_eq!(a.to_string(), "2 x 3 sparse matrix of float32, 1 elements stored as COO");
    let csr = a.to_csr(&b).unwrap();
    assert_eq!(csr.to_string(), "2 x 3 sparse matrix of float32, 1 elements stored as CSR");
    assert!(format!("{csr:?}").starts_with("Csr { shape: [2, 3], values: [2.0]"), "{csr:?}");
}
