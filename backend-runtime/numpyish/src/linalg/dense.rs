//! Converts batches of matrices to double precision and column-major order for `backend-linalg`, and converts the
//! results back.

use super::pack;
use backend_core::{
    Complex, DType, Element, Error, Numeric, Result,
    numpyish::{
        buffer, copy, parallel,
        raw::{RawArray, View},
    },
    rules, threads,
};
use backend_linalg::{Alone, Failure, Scalar, Team};
use std::{ops::Range, sync::OnceLock};

/// Element types in which matrices are factorized: `f64` and `Complex<f64>`.
pub trait Wide: Scalar + Element + Numeric {}

impl<T: Scalar + Element + Numeric> Wide for T {}

/// Runs an expression with `S` bound to the type in which matrices of a real or complex dtype are factorized.
macro_rules! in_double {
    ($dtype:expr, $s:ident => $e:expr) => {
        match $dtype.kind() {
            backend_core::DTypeKind::Complex => {
                type $s = backend_core::Complex<f64>;
                $e
            }
            _ => {
                type $s = f64;
                $e
            }
        }
    };
}
pub(super) use in_double;

/// The storage order of a matrix: column by column, or row by row.
#[derive(Clone, Copy, PartialEq)]
pub enum Order {
    Columns,
    Rows,
}

/// Copies of the matrices of an array, one after another, with the array's leading axes broadcast to `leading`.
pub fn matrices<S: Wide>(op: &'static str, x: View<'_>, leading: &[usize], order: Order) -> Result<Vec<S>> {
    let split = x.shape.len() - 2;
    let missing = leading.len() - split;
    let stride = |k: usize| match k.checked_sub(missing) {
        Some(k) if x.shape[k] == leading[k + missing] => x.strides[k],
        _ => 0,
    };
    let (mut shape, mut strides) = (leading.to_vec(), (0..leading.len()).map(stride).collect::<Vec<_>>());
    let axes = if order == Order::Columns { [split + 1, split] } else { [split, split + 1] };
    shape.extend(axes.map(|k| x.shape[k]));
    strides.extend(axes.map(|k| x.strides[k]));
    let x = View { shape: &shape, strides: &strides, ..x };
    let elements = copy::to_buffer(op, x)?;
    // SAFETY: all elements have been copied, and have the dtype of this match arm.
    unsafe {
        match x.dtype {
            DType::Float32 => cast(op, elements.into_vec::<f32>()),
            DType::Complex64 => cast(op, elements.into_vec::<Complex<f32>>()),
            _ => Ok(elements.into_vec()),
        }
    }
}

/// Converts elements to another dtype.
fn cast<T: Element, U: Element>(op: &'static str, from: Vec<T>) -> Result<Vec<U>> {
    let mut to = buffer::vec(op, from.len())?;
    to.extend(from.into_iter().map(T::cast::<U>));
    Ok(to)
}

/// Returns an error if an element is infinite or NaN.
pub fn require_finite<S: Wide>(op: &'static str, elements: &[S]) -> Result<()> {
    if elements.iter().all(|x| x.is_finite()) { Ok(()) } else { Err(rules::not_finite(op)) }
}

/// An array of this shape and dtype, from elements in C order and in double precision.
pub fn array<S: Wide>(op: &'static str, shape: Vec<usize>, elements: Vec<S>, dtype: DType) -> Result<RawArray> {
    match dtype {
        DType::Float32 => RawArray::from_vec(op, shape, cast::<S, f32>(op, elements)?),
        DType::Complex64 => RawArray::from_vec(op, shape, cast::<S, Complex<f32>>(op, elements)?),
        _ => RawArray::from_vec(op, shape, elements),
    }
}

/// Like `array`, but the matrices in `elements` are stored column by column.
pub fn by_columns<S: Wide>(
    op: &'static str,
    mut shape: Vec<usize>,
    elements: Vec<S>,
    dtype: DType,
) -> Result<RawArray> {
    let n = shape.len();
    shape.swap(n - 2, n - 1);
    let mut order: Vec<usize> = (0..n).collect();
    order.swap(n - 2, n - 1);
    Ok(array(op, shape, elements, dtype)?.permuted(&order))
}

/// Minimum number of multiplications for which a second thread saves time.
const SEVERAL_THREADS: usize = 1 << 16;

/// Minimum number of rows or columns of a matrix on which several threads can work at the same time.
const SHARED_MATRIX: usize = 128;

/// Upper bound of the number of columns that a thread of [`Threads`] multiplies at a time.
const TILE: usize = 128;

/// The threads that work on one matrix. Before a thread runs a task, it checks that there is memory for the blocks that
/// matrix products allocate once per thread.
struct Threads<'a> {
    op: &'static str,
    /// The error of such a check.
    failed: &'a OnceLock<Error>,
}

impl Team for Threads<'_> {
    fn run(
        &self,
        tasks: usize,
        task: &(dyn Fn(usize) -> backend_linalg::Result<()> + Sync),
    ) -> backend_linalg::Result<()> {
        let failed = OnceLock::new();
        parallel::tasks(tasks, &|i| {
            let done = blocks(self.op).map_err(|why| {
                self.failed.get_or_init(|| why);
                Failure::Memory(0) // the caller reports the error in `self.failed`
            });
            if let Err(why) = done.and_then(|()| task(i)) {
                failed.get_or_init(|| why);
            }
        });
        failed.into_inner().map_or(Ok(()), Err)
    }
}

/// Checks that there is memory for the blocks that matrix products allocate once per thread.
fn blocks(op: &'static str) -> Result<()> {
    pack::block(op).and_then(|()| pack::block_of_factorizations(op))
}

/// Calls `f` for each matrix of a batch. Several threads work on different matrices if that saves time. If the batch is
/// a single large matrix, `f` can divide its work among the threads of the team that it gets; otherwise this team is the
/// calling thread alone, so that loops over threads are not nested. A matrix has at most `m` rows and at most `m`
/// columns. `written` is the number of elements of the result. If `written` is 0, `f` is not called, because a batch may
/// have any number of empty matrices. If several matrices fail, returns one of their errors.
pub fn each(
    op: &'static str,
    batch: usize,
    m: usize,
    written: usize,
    f: impl Fn(usize, &dyn Team) -> backend_linalg::Result<()> + Sync,
) -> Result<()> {
    groups(op, [batch, 1], m, written, |range, team| range.into_iter().try_for_each(|i| f(i, team)))
}

/// Like [`each`], but calls `f` for ranges of matrices, for the functions of `backend-linalg` that process several
/// small matrices at a time.
pub fn each_range(
    op: &'static str,
    batch: usize,
    m: usize,
    written: usize,
    f: impl Fn(Range<usize>, &dyn Team) -> backend_linalg::Result<()> + Sync,
) -> Result<()> {
    let group = if m <= backend_linalg::SMALL { backend_linalg::GROUP } else { 1 };
    groups(op, [batch, group], m, written, f)
}

/// Calls `f` for ranges of matrices, as [`each_range`]. All ranges start at multiples of `group`.
fn groups(
    op: &'static str,
    [batch, group]: [usize; 2],
    m: usize,
    written: usize,
    f: impl Fn(Range<usize>, &dyn Team) -> backend_linalg::Result<()> + Sync,
) -> Result<()> {
    if written == 0 {
        return Ok(());
    }
    let work = m.saturating_mul(m).saturating_mul(m).saturating_mul(group).max(1);
    // checks that there is memory for the operands that the factorization's matrix products pack; no product is larger
    // than the matrix
    pack::room(op, [m, m, m], DType::Complex128.size(), false)?;
    let failed: OnceLock<Error> = OnceLock::new();
    let all = Threads { op, failed: &failed };
    let is_shared = batch == 1 && m >= SHARED_MATRIX;
    let team: &dyn Team = if is_shared { &all } else { &Alone };
    if is_shared {
        // all threads pack operands at the same time; one side of each product has at most `m` elements, and the others have
        // at most `TILE`
        pack::room(op, [TILE, m.saturating_mul(threads::count()), TILE], DType::Complex128.size(), false)?;
    }
    parallel::parallel(batch.div_ceil(group), (SEVERAL_THREADS / work).max(1), |range| {
        let matrices = range.start * group..batch.min(range.end * group);
        if let Err(why) = blocks(op).and_then(|()| f(matrices, team).map_err(|why| error(op, why))) {
            failed.get_or_init(|| why);
        }
    });
    failed.into_inner().map_or(Ok(()), Err)
}

fn error(op: &'static str, why: Failure) -> Error {
    match why {
        Failure::Singular => rules::singular(op),
        Failure::NotPositiveDefinite => rules::not_positive_definite(op),
        Failure::NoConvergence => rules::failed(op),
        Failure::Memory(bytes) => buffer::no_memory(op, bytes),
        Failure::NotBuilt => Error::library(
            op,
            "numpyish",
            "this build has no factorizations, because the feature `linalg` of `backends` is off",
        ),
    }
}

/// A list divided into equal parts, one for each matrix. Several threads may write different parts at the same time.
pub struct Parts<T> {
    all: parallel::Shared<T>,
    size: usize,
}

impl<T> Parts<T> {
    /// Divides `list` into `n` parts of equal size.
    pub fn of(list: &mut [T], n: usize) -> Parts<T> {
        Parts { size: list.len().checked_div(n).unwrap_or(0), all: parallel::Shared::new(list) }
    }

    /// The part with index `i`.
    ///
    /// # Safety
    /// The list must be alive, and this part must not be in use.
    #[allow(clippy::mut_from_ref)] // callers keep parts disjoint
    pub unsafe fn at(&self, i: usize) -> &mut [T] {
        // SAFETY: the caller guarantees the list and the part, and parts with different indices do not overlap.
        unsafe { self.range(i..i + 1) }
    }

    /// The parts with these indices, as one slice.
    ///
    /// # Safety
    /// The list must be alive, and none of these parts may be in use.
    #[allow(clippy::mut_from_ref)] // callers keep parts disjoint
    pub unsafe fn range(&self, parts: Range<usize>) -> &mut [T] {
        // SAFETY: the caller guarantees the list and the parts, and parts with different indices do not overlap.
        unsafe { self.all.part(parts.start * self.size..parts.end * self.size) }
    }
}
