//! Sorting, searching and sets, all based on libtorch's stable sort.

use super::{
    call::{OpContext, args},
    indexing::take,
    ops,
    strategy::{DtypeStrategy, signed},
    tensor::{Number, Tensor},
};
use backend_core::{
    DType, DTypeKind, Result, Side,
    raw::{RawElement, RawOperand},
    rules,
};

/// Converts the elements to a dtype that libtorch can sort, preserving their order.
fn sortable(on: OpContext<'_>, x: &Tensor) -> Result<Tensor> {
    let x = on.enter(DtypeStrategy::Order, x)?;
    if on.dtype == DType::Bool { on.cast(&x, DType::UInt8) } else { Ok(x) }
}

/// The inverse of [`sortable`].
fn from_sortable(on: OpContext<'_>, x: Tensor) -> Result<Tensor> {
    if on.dtype == DType::Bool { on.cast(&x, DType::Bool) } else { on.leave(DtypeStrategy::Order, x) }
}

/// Returns the sorted elements, in the dtype that [`sortable`] gives them, and their original indices. The sort is
/// stable, and puts NaN last.
fn ordered(on: OpContext<'_>, x: &Tensor, axis: usize, descending: bool) -> Result<(Tensor, Tensor)> {
    let x = sortable(on, x)?;
    if x.size() == 0 {
        // no call is made, because libtorch loops over all lanes (1-D slices along the axis), even if they are empty,
        // and there may be 2^60 lanes
        let indices = on.full(x.shape(), RawElement::of(0_i64))?;
        return Ok((x, indices));
    }
    // descending sorts of libtorch put NaN first, so floats are negated and sorted in ascending order
    let negated = descending && on.dtype.kind() == DTypeKind::Real;
    let keys = if negated { on.call(&ops::NEG, args![&x])? } else { x };
    let (sorted, indices) = on.pair(&ops::SORT, args![&keys, true, axis, descending && !negated])?;
    Ok((if negated { on.call(&ops::NEG, args![&sorted])? } else { sorted }, indices))
}

/// Sorts along one axis.
pub fn sort(on: OpContext<'_>, x: &Tensor, axis: isize, descending: bool) -> Result<Tensor> {
    let axis = rules::axis(on.op, axis, x.ndim())?;
    from_sortable(on, ordered(on, x, axis, descending)?.0)
}

/// Indices that would sort the array along one axis.
pub fn argsort(on: OpContext<'_>, x: &Tensor, axis: isize, descending: bool) -> Result<Tensor> {
    let (axis, shape, _) = rules::scan(on.op, x.shape(), axis, false, size_of::<i64>())?;
    on.reshape(&ordered(on, x, axis, descending)?.1, &shape)
}

/// For each element of `x2`, returns an index of the sorted 1-D array `x1`: if the element is inserted there, `x1`
/// stays sorted. If `x1` is not sorted, `sorter` has the indices that sort it.
pub fn searchsorted(
    on: OpContext<'_>,
    x1: &Tensor,
    x2: RawOperand<'_, Tensor>,
    side: Side,
    sorter: Option<&Tensor>,
) -> Result<Tensor> {
    rules::sorted(on.op, x1.shape())?;
    let ordered = match sorter {
        None => None,
        Some(sorter) => {
            rules::sorter(on.op, x1.shape(), sorter.shape())?;
            on.with_dtype(DType::Int64).require(&[sorter])?;
            Some(take(on, x1, sorter, Some(0))?)
        }
    };
    let x2 = match x2 {
        RawOperand::Array(x) => x.clone(),
        RawOperand::Scalar(x) => on.full(&[], x)?,
    };
    on.require(&[x1, &x2])?;
    let (sorted, values) = (keys(on, ordered.as_ref().unwrap_or(x1))?, keys(on, &x2)?);
    on.call(&ops::SEARCHSORTED, args![&sorted, &values, false, side == Side::Right])
}

/// Converts the elements to integers in contiguous memory that have the same order. NaN becomes the largest integer,
/// because libtorch's search would treat NaN as the smallest element.
fn keys(on: OpContext<'_>, x: &Tensor) -> Result<Tensor> {
    if on.dtype.kind() != DTypeKind::Real {
        return on.call(&ops::CONTIGUOUS, args![&sortable(on, x)?]);
    }
    // adding 0 turns -0 into 0; the bits of negative numbers have the opposite order, so all their bits except the sign
    // are inverted
    let integer = signed(on.dtype);
    let plus_zero = on.call(&ops::ADD, args![x, Number::of(0_i64)])?;
    let bits = on.call(&ops::VIEW_DTYPE, args![&plus_zero, integer])?;
    let negative = on.call(&ops::SHIFT_RIGHT, args![&bits, Number::of(8 * on.dtype.size() as i64 - 1)])?;
    let largest = i64::MAX >> (64 - 8 * on.dtype.size());
    let inverse = on.call(&ops::BITWISE_AND, args![&negative, Number::of(largest)])?;
    let ordered = on.call(&ops::BITWISE_XOR, args![&bits, &inverse])?;
    let keys = on.call(&ops::MASKED_FILL, args![&ordered, &on.call(&ops::ISNAN, args![x])?, Number::of(largest)])?;
    on.call(&ops::CONTIGUOUS, args![&keys])
}

/// Sorts a 1-D array of complex numbers in NumPy's order, and returns the sorted numbers and their original indices.
/// Numbers without NaN are first, sorted by real part and then by imaginary part. Numbers with a NaN imaginary part
/// follow, then numbers with a NaN real part, then numbers in which both parts are NaN.
fn by_parts(on: OpContext<'_>, x: &Tensor) -> Result<(Tensor, Tensor)> {
    let order_of = |key: &Tensor| Ok(on.pair(&ops::SORT, args![key, true, 0_i64, false])?.1);
    let unknown = |part: &Tensor| on.cast(&on.call(&ops::ISNAN, args![part])?, DType::UInt8);
    // the array is sorted stably by one key after another, beginning with the least important key
    let mut order = order_of(&on.call(&ops::IMAG, args![x])?)?;
    let mut sorted = on.pick(x, 0, &order)?;
    for step in 0..2 {
        let re = on.call(&ops::REAL, args![&sorted])?;
        let key = if step == 0 {
            re
        } else {
            let re = unknown(&re)?;
            let twice = on.call(&ops::ADD, args![&re, &re])?;
            on.call(&ops::ADD, args![&twice, &unknown(&on.call(&ops::IMAG, args![&sorted])?)?])?
        };
        let next = order_of(&key)?;
        (sorted, order) = (on.pick(&sorted, 0, &next)?, on.pick(&order, 0, &next)?);
    }
    Ok((sorted, order))
}

/// The sorted elements of an array, and the positions of the distinct elements.
struct Distinct {
    /// The flattened elements, sorted.
    sorted: Tensor,
    /// Original index of each sorted element.
    order: Tensor,
    /// For each sorted element, whether it is the first element with its value.
    is_first: Tensor,
    /// For each distinct value, the position in `sorted` of the first element with this value.
    firsts: Tensor,
}

impl Distinct {
    fn of(on: OpContext<'_>, x: &Tensor) -> Result<Distinct> {
        let flat = on.reshape(x, &[x.size()])?;
        let (sorted, order) = match on.dtype.kind() {
            DTypeKind::Complex => by_parts(on, &flat)?,
            _ => ordered(on, &flat, 0, false)?,
        };
        let n = sorted.size();
        let is_first = if n == 0 {
            on.call(&ops::NE, args![&order, &order])?
        } else {
            // NaN differs from its neighbour, so each NaN is a first element
            let differs =
                on.call(&ops::NE, args![&on.narrow(&sorted, 0, 1, n - 1)?, &on.narrow(&sorted, 0, 0, n - 1)?])?;
            on.call(&ops::CAT, args![&[on.full(&[1], RawElement::of(true))?, differs][..], 0_i64])?
        };
        let firsts = on.call(&ops::NONZERO, args![&is_first])?;
        let firsts = on.reshape(&firsts, &[firsts.size()])?;
        Ok(Distinct { sorted, order, is_first, firsts })
    }

    fn values(&self, on: OpContext<'_>) -> Result<Tensor> {
        from_sortable(on, on.pick(&self.sorted, 0, &self.firsts)?)
    }

    fn counts(&self, on: OpContext<'_>) -> Result<Tensor> {
        let ends = on.call(
            &ops::CAT,
            args![&[self.firsts.clone(), on.full(&[1], RawElement::of(self.sorted.size() as i64))?][..], 0_i64],
        )?;
        let n = self.firsts.size();
        on.call(&ops::SUB, args![&on.narrow(&ends, 0, 1, n)?, &on.narrow(&ends, 0, 0, n)?])
    }

    /// Returns, for each element of the original array, the index of its value among the distinct values. The result
    /// has the shape `shape` of the original array.
    fn inverse(&self, on: OpContext<'_>, shape: &[usize]) -> Result<Tensor> {
        let rank = on.call(&ops::CUMSUM, args![&self.is_first, 0_i64])?;
        let rank = on.call(&ops::SUB, args![&rank, Number::of(1_i64)])?;
        // each index is written once, because the order is a permutation
        let inverse =
            on.call(&ops::SCATTER, args![&on.call(&ops::ZEROS_LIKE, args![&rank])?, 0_i64, &self.order, &rank])?;
        on.reshape(&inverse, shape)
    }

    /// Returns, for each distinct value, the index of its first occurrence in the flattened array.
    fn indices(&self, on: OpContext<'_>) -> Result<Tensor> {
        on.pick(&self.order, 0, &self.firsts)
    }
}

/// The distinct elements, sorted.
pub fn unique_values(on: OpContext<'_>, x: &Tensor) -> Result<Tensor> {
    Distinct::of(on, x)?.values(on)
}

/// The distinct elements, and the number of occurrences of each.
pub fn unique_counts(on: OpContext<'_>, x: &Tensor) -> Result<[Tensor; 2]> {
    let distinct = Distinct::of(on, x)?;
    Ok([distinct.values(on)?, distinct.counts(on)?])
}

/// The distinct elements, and for each element of `x` the index of its value among the distinct elements.
pub fn unique_inverse(on: OpContext<'_>, x: &Tensor) -> Result<[Tensor; 2]> {
    let distinct = Distinct::of(on, x)?;
    Ok([distinct.values(on)?, distinct.inverse(on, x.shape())?])
}

/// Returns four arrays: the distinct elements; the index of the first occurrence of each distinct element; for each
/// element of `x`, the index of its value among the distinct elements; and the number of occurrences of each distinct
/// element.
pub fn unique_all(on: OpContext<'_>, x: &Tensor) -> Result<[Tensor; 4]> {
    let distinct = Distinct::of(on, x)?;
    Ok([distinct.values(on)?, distinct.indices(on)?, distinct.inverse(on, x.shape())?, distinct.counts(on)?])
}
