//! Tests of errors that depend on elements. One rank has an element that causes an error, and all ranks must return the
//! error of a single rank.

use backends::{OPS, Result, prelude::*, runtime::available};
use backends_sharded::{Policy, Sharded, world::threads};

/// Number of rows of the arrays. The ranks have 30 rows each.
const ROWS: usize = 90;

/// A call with an element that causes an error. The arguments are the backend and the row of this element.
type Call<B> = fn(&B, usize) -> Result<()>;

/// Indices of rows, one of which is out of range.
fn places<B: Backend>(b: &B, wrong: usize) -> Result<B::Array<i64>> {
    b.from_iter((0..ROWS).map(|row| if row == wrong { ROWS as i64 } else { row as i64 }))
}

/// Indices from 0 to 3, except for one element, which is 4.
fn classes<B: Backend>(b: &B, wrong: usize) -> Result<B::Array<i64>> {
    b.from_iter((0..ROWS).map(|row| if row == wrong { 4 } else { row as i64 % 4 }))
}

fn row<B: Backend>(b: &B) -> Result<B::Array<f64>> {
    b.linspace(0.0, 1.0, ROWS)
}

/// Numbers that ascend, except for one number.
fn numbers<B: Backend>(b: &B, wrong: usize, value: f64) -> Result<B::Array<f64>> {
    b.from_iter((0..ROWS).map(|row| if row == wrong { value } else { row as f64 / ROWS as f64 }))
}

/// The row starts of a sparse matrix with one element in each row.
fn starts<B: Backend>(b: &B) -> Result<B::Array<i64>> {
    b.arange(0, ROWS as i64 + 1, 1)
}

/// Scores of 4 classes.
fn scores<B: Backend>(b: &B) -> Result<B::Array<f64>> {
    b.reshape(b.linspace(0.0, 1.0, 4 * ROWS)?, [ROWS as isize, 4])
}

/// Matrices of shape (2, 2): one of them is `value` times the identity, and the others are the identity.
fn matrices<B: Backend>(b: &B, wrong: usize, value: f64) -> Result<B::Array<f64>> {
    let factors = b.from_iter((0..ROWS).map(|row| if row == wrong { value } else { 1.0 }))?;
    let eye = b.eye::<f64>(2)?;
    b.r#where(b.equal(&eye, 0.0)?, 0.0, b.reshape(factors, [ROWS as isize, 1, 1])?)
}

/// One scattering op.
macro_rules! scattered {
    ($op:ident) => {
        |b, wrong| b.$op(row(b)?, places(b, wrong)?, row(b)?, 0).map(drop)
    };
}

/// One op on segments, of which each has one row.
macro_rules! segments {
    ($op:ident) => {
        |b, wrong| b.$op(row(b)?, places(b, wrong)?, ROWS).map(drop)
    };
}

/// One op on matrices, of which one is `value` times the identity.
macro_rules! factored {
    ($op:ident, $value:expr) => {
        |b, wrong| b.$op(matrices(b, wrong, $value)?).map(drop)
    };
}

/// The calls, each with the op that the error must name.
fn calls<B: Backend>() -> Vec<(&'static str, Call<B>)> {
    vec![
        ("take", |b, wrong| b.take(row(b)?, places(b, wrong)?, 0).map(drop)),
        ("take_along_axis", |b, wrong| {
            let indices = b.expand_dims(classes(b, wrong)?, 1)?;
            b.take_along_axis(scores(b)?, indices, 1).map(drop)
        }),
        ("get", |b, wrong| b.get(row(b)?, ix![&places(b, wrong)?]).map(drop)),
        ("set", |b, wrong| b.set(&mut row(b)?, ix![&places(b, wrong)?], 1.0)),
        ("add_at", |b, wrong| b.add_at(&mut row(b)?, ix![&places(b, wrong)?], 1.0)),
        ("index_put", |b, wrong| b.index_put(row(b)?, ix![&places(b, wrong)?], 1.0).map(drop)),
        ("scatter", scattered!(scatter)),
        ("scatter_add", scattered!(scatter_add)),
        ("scatter_mul", scattered!(scatter_mul)),
        ("scatter_max", scattered!(scatter_max)),
        ("scatter_min", scattered!(scatter_min)),
        ("scatter_mean", scattered!(scatter_mean)),
        ("segment_sum", segments!(segment_sum)),
        ("segment_prod", segments!(segment_prod)),
        ("segment_max", segments!(segment_max)),
        ("segment_min", segments!(segment_min)),
        ("segment_mean", segments!(segment_mean)),
        ("indexed_segment_sum", |b, wrong| b.indexed_segment_sum(row(b)?, places(b, wrong)?).map(drop)),
        ("unravel_index", |b, wrong| b.unravel_index(places(b, wrong)?, [5, ROWS / 5]).map(drop)),
        ("ravel_multi_index", |b, wrong| b.ravel_multi_index([&places(b, wrong)?], [ROWS]).map(drop)),
        ("searchsorted", |b, wrong| {
            let places = places(b, wrong)?;
            b.searchsorted_with(row(b)?, row(b)?, SearchsortedOptions::new().sorter(&places)).map(drop)
        }),
        ("csr_matmul", |b, wrong| b.csr_matmul(row(b)?, places(b, wrong)?, starts(b)?, row(b)?).map(drop)),
        ("csc_matmul", |b, wrong| b.csc_matmul(row(b)?, places(b, wrong)?, starts(b)?, row(b)?, ROWS).map(drop)),
        ("sampled_matmul", |b, wrong| {
            b.sampled_matmul(places(b, wrong)?, starts(b)?, scores(b)?, scores(b)?).map(drop)
        }),
        ("nll_loss", |b, wrong| b.nll_loss(scores(b)?, classes(b, wrong)?).map(drop)),
        ("cross_entropy", |b, wrong| b.cross_entropy(scores(b)?, classes(b, wrong)?).map(drop)),
        ("partition", |b, _| b.partition(scores(b)?, 4).map(drop)),
        ("argpartition", |b, _| b.argpartition(scores(b)?, 4).map(drop)),
        ("repeat_each", |b, wrong| {
            let counts =
                b.subtract(0, b.equal(places(b, wrong)?, ROWS as i64).and_then(|at| b.astype::<i64, _>(at))?)?;
            b.repeat_each(row(b)?, counts, 0).map(drop)
        }),
        ("bincount", |b, wrong| b.bincount::<i64>(b.subtract(ROWS as i64 - 1, places(b, wrong)?)?).map(drop)),
        ("quantile", |b, wrong| b.quantile(row(b)?, numbers(b, wrong, 2.0)?, ..).map(drop)),
        ("percentile", |b, wrong| b.percentile(row(b)?, numbers(b, wrong, -1.0)?, ..).map(drop)),
        ("histogram", |b, wrong| {
            let edges = numbers(b, wrong, -1.0)?;
            b.histogram_with(row(b)?, HistogramOptions::new().edges(&edges)).map(drop)
        }),
        ("cholesky", factored!(cholesky, -1.0)),
        ("svd", factored!(svd, f64::NAN)),
        ("svdvals", factored!(svdvals, f64::NAN)),
        ("eigh", factored!(eigh, f64::INFINITY)),
        ("eigvalsh", factored!(eigvalsh, f64::NAN)),
        ("eig", factored!(eig, f64::NAN)),
        ("eigvals", factored!(eigvals, f64::INFINITY)),
        ("inv", factored!(inv, 0.0)),
        ("pinv", factored!(pinv, f64::NAN)),
        ("matrix_rank", factored!(matrix_rank, f64::NAN)),
        ("matrix_power", |b, wrong| b.matrix_power(matrices(b, wrong, 0.0)?, -1).map(drop)),
        ("solve", |b, wrong| b.solve(matrices(b, wrong, 0.0)?, matrices(b, wrong, 1.0)?).map(drop)),
        ("solve_triangular", |b, wrong| {
            b.solve_triangular(matrices(b, wrong, 0.0)?, matrices(b, wrong, 1.0)?).map(drop)
        }),
        ("cholesky_solve", |b, wrong| b.cholesky_solve(matrices(b, wrong, 0.0)?, matrices(b, wrong, 1.0)?).map(drop)),
        ("lstsq", |b, wrong| b.lstsq(b.expand_dims(numbers(b, wrong, f64::NAN)?, 1)?, row(b)?).map(drop)),
        ("nufft_sort", |b, wrong| b.nufft_sort(b.expand_dims(numbers(b, wrong, f64::NAN)?, 1)?, [16], 4).map(drop)),
        ("nufft1d_type1", |b, wrong| {
            let values = b.astype::<Complex<f64>, _>(row(b)?)?;
            b.nufft1d_type1(numbers(b, wrong, f64::NAN)?, values, 8).map(drop)
        }),
        ("nufft1d_type2", |b, wrong| {
            b.nufft1d_type2(numbers(b, wrong, f64::INFINITY)?, b.ones::<Complex<f64>>([8])?).map(drop)
        }),
    ]
}

type Open = fn() -> Result<AnyBackend>;

/// Calls the given ops, or all ops if the list is empty, on `ranks` ranks. Returns for each rank the texts of the
/// errors of its calls.
fn errors(open: Open, ranks: usize, wrong: usize, ops: &[&str]) -> Vec<Vec<String>> {
    threads::run(ranks, |world| {
        let b = Sharded::with(open().unwrap(), world.clone(), Policy::new().least(8)).unwrap();
        let error = |(op, call): (&str, Call<Sharded<AnyBackend>>)| {
            let why = call(&b, wrong).expect_err(op);
            assert_eq!(why.op(), Some(op), "{why}");
            // the ranks can still compute together
            assert_eq!(b.item(b.sum(b.ones::<f64>([ROWS]).unwrap(), ..).unwrap()), Ok(ROWS as f64), "after {op}");
            why.to_string()
        };
        calls().into_iter().filter(|(op, _)| ops.is_empty() || ops.contains(op)).map(error).collect()
    })
}

fn on_the_cpu() -> Result<AnyBackend> {
    Ok(Numpyish::seeded(0).into())
}

/// Compares the errors on 3 ranks with the errors on one rank on the CPU.
fn all_ranks_have_the_error(open: Open, ops: &[&str]) {
    for wrong in [10, 40, 80] {
        let alone = &errors(on_the_cpu, 1, wrong, ops)[0];
        for (rank, of_rank) in errors(open, 3, wrong, ops).iter().enumerate() {
            assert_eq!(of_rank, alone, "rank {rank}, the wrong element is in row {wrong}");
        }
    }
}

#[test]
fn an_error_of_one_rank_is_the_error_of_all_ranks() {
    all_ranks_have_the_error(on_the_cpu, &[]);
}

#[test]
fn an_error_of_one_rank_with_torch() {
    let open = || Ok(Torch::cpu()?.seeded(0).into());
    if available("torch", open()).is_some() {
        all_ranks_have_the_error(open, &[]);
    }
}

/// On a GPU, an op that all ranks call with the same indices reports a wrong index only in a later call. So these ops
/// are not tested here.
#[test]
fn an_error_of_one_rank_on_a_gpu() {
    let open = || Ok(Cuda::seeded(0, 0)?.into());
    if available("cuda", open()).is_some() {
        let ops =
            ["take_along_axis", "nll_loss", "cross_entropy", "cholesky", "solve", "svdvals", "eigh", "nufft_sort"];
        all_ranks_have_the_error(open, &ops);
    }
}

#[test]
fn sorted_points_that_are_wrong_on_one_rank() {
    for wrong in 0..3 {
        let of_ranks = threads::run(3, |world| {
            let b = Sharded::with(Numpyish::seeded(0), world.clone(), Policy::new().least(8)).unwrap();
            let points = b.expand_dims(row(&b).unwrap(), 1).unwrap();
            let mut sorted = b.nufft_sort(&points, [16], 4).unwrap();
            // the last number of a part is the number of points of the rank
            let end = (wrong + 1) * b.shape(&sorted)[0] / 3;
            b.set(&mut sorted, ix![end - 1], -1).unwrap();
            let (values, grid) = (b.ones::<Complex<f64>>([ROWS]).unwrap(), b.ones::<Complex<f64>>([16]).unwrap());
            let spread = b.nufft_spread_with(&points, values, [16], 4, 9.0, NufftSpreadOptions::new().sorted(&sorted));
            let interpolated =
                b.nufft_interpolate_with(&points, grid, 4, 9.0, NufftInterpolateOptions::new().sorted(&sorted));
            [spread, interpolated].map(|result| result.map(drop).unwrap_err().to_string())
        });
        for of_rank in of_ranks {
            for (why, op) in of_rank.iter().zip(["nufft_spread", "nufft_interpolate"]) {
                assert!(why.starts_with(&format!("{op}: `sorted` is not the result of")), "{why}");
            }
        }
    }
}

#[test]
fn every_row_with_an_index_error_is_tested() {
    let tested: Vec<&str> = calls::<AnyBackend>().iter().map(|(op, _)| *op).collect();
    let has_index = |doc: &str| doc.lines().any(|line| line.starts_with("- `Index`"));
    // slices and indices of axes are the same on all ranks
    let of_slices = ["getitem"];
    let rows = OPS.iter().filter(|op| has_index(op.doc) && !of_slices.contains(&op.name));
    let missing: Vec<&str> = rows.map(|op| op.name).filter(|name| !tested.contains(name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
    assert!(OPS.iter().filter(|op| has_index(op.doc)).count() > 20);
}
