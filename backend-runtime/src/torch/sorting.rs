//! Sorting, searching and sets. Everything is built on one stable sort.

use super::{
    Operand, Torch, TorchArray,
    call::{OpContext, args},
    indexing::take,
    ops,
    strategy::{DtypeStrategy, signed},
    tensor::{Number, Tensor},
};
use crate::{DType, DTypeKind, Element, Ordered, Result, Side, rules};

/// The elements as libtorch sorts them.
fn sortable<T: Element>(on: OpContext<'_>, x: &TorchArray<T>) -> Result<Tensor> {
    let x = on.enter(DtypeStrategy::Order, x)?;
    if T::DTYPE == DType::Bool { on.cast(&x, DType::UInt8) } else { Ok(x) }
}

/// The inverse of [`sortable`].
fn from_sortable<T: Element>(on: OpContext<'_>, x: Tensor) -> Result<TorchArray<T>> {
    if T::DTYPE == DType::Bool { on.array(on.cast(&x, DType::Bool)?) } else { on.leave(DtypeStrategy::Order, x) }
}

/// Sorted elements and their indices, stable, NaN last.
fn ordered<T: Element>(
    on: OpContext<'_>,
    x: &TorchArray<T>,
    axis: usize,
    descending: bool,
) -> Result<(Tensor, Tensor)> {
    let x = sortable(on, x)?;
    if x.size() == 0 {
        // libtorch loops over all lanes even if they have no elements, and there may be 2^60 of them
        let indices = on.full(x.shape(), 0_i64)?;
        return Ok((x, indices));
    }
    // libtorch has NaN first where it sorts downwards; negated floats go upwards
    let negated = descending && T::DTYPE.kind() == DTypeKind::Real;
    let keys = if negated { on.call(&ops::NEG, args![&x])? } else { x };
    let (sorted, indices) = on.pair(&ops::SORT, args![&keys, true, axis, descending && !negated])?;
    Ok((if negated { on.call(&ops::NEG, args![&sorted])? } else { sorted }, indices))
}

/// Sorted along one axis.
pub fn sort<T: Ordered>(b: &Torch, x: &TorchArray<T>, axis: isize, descending: bool) -> Result<TorchArray<T>> {
    let on = b.on("sort");
    let axis = rules::axis(on.op, axis, x.shape().len())?;
    from_sortable(on, ordered(on, x, axis, descending)?.0)
}

/// Indices that sort along one axis.
pub fn argsort<T: Ordered>(b: &Torch, x: &TorchArray<T>, axis: isize, descending: bool) -> Result<TorchArray<i64>> {
    let on = b.on("argsort");
    let (axis, shape, _) = rules::scan(on.op, x.shape(), axis, false, size_of::<i64>())?;
    on.array(on.reshape(&ordered(on, x, axis, descending)?.1, &shape)?)
}

/// Indices at which to insert x2 into the sorted x1.
pub fn searchsorted<T: Ordered>(
    b: &Torch,
    x1: &TorchArray<T>,
    x2: Operand<'_, T>,
    side: Side,
    sorter: Option<&TorchArray<i64>>,
) -> Result<TorchArray<i64>> {
    let on = b.on("searchsorted");
    rules::sorted(on.op, x1.shape())?;
    let ordered = match sorter {
        None => None,
        Some(sorter) => {
            rules::sorter(on.op, x1.shape(), sorter.shape())?;
            Some(take(b, x1, sorter, Some(0)).map_err(|e| e.within(on.op))?)
        }
    };
    let x2 = match x2 {
        Operand::Array(x) => x.into_owned(),
        Operand::Scalar(x) => on.array(on.full(&[], x)?)?,
    };
    let (sorted, values) = (keys(on, ordered.as_ref().unwrap_or(x1))?, keys(on, &x2)?);
    on.array(on.call(&ops::SEARCHSORTED, args![&sorted, &values, false, side == Side::Right])?)
}

/// Contiguous integers in the order of the elements, all NaN last and equal: libtorch's search takes NaN as the smallest.
fn keys<T: Ordered>(on: OpContext<'_>, x: &TorchArray<T>) -> Result<Tensor> {
    if T::DTYPE.kind() != DTypeKind::Real {
        return on.call(&ops::CONTIGUOUS, args![&sortable(on, x)?]);
    }
    // the sum makes 0 of -0; negative numbers, whose bits run the other way, are inverted but for the sign
    let integer = signed(T::DTYPE);
    let plus_zero = on.call(&ops::ADD, args![x, Number::of(0_i64)])?;
    let bits = on.call(&ops::VIEW_DTYPE, args![&plus_zero, integer])?;
    let negative = on.call(&ops::SHIFT_RIGHT, args![&bits, Number::of(8 * T::DTYPE.size() as i64 - 1)])?;
    let largest = i64::MAX >> (64 - 8 * T::DTYPE.size());
    let inverse = on.call(&ops::BITWISE_AND, args![&negative, Number::of(largest)])?;
    let ordered = on.call(&ops::BITWISE_XOR, args![&bits, &inverse])?;
    let keys = on.call(&ops::MASKED_FILL, args![&ordered, &on.call(&ops::ISNAN, args![x])?, Number::of(largest)])?;
    on.call(&ops::CONTIGUOUS, args![&keys])
}

/// Complex numbers of one axis in NumPy's order, and where they were: by real part, then by imaginary part; behind them those
/// with an unknown imaginary part, then with an unknown real part, then with both.
fn by_parts(on: OpContext<'_>, x: &Tensor) -> Result<(Tensor, Tensor)> {
    let order_of = |key: &Tensor| Ok(on.pair(&ops::SORT, args![key, true, 0_i64, false])?.1);
    let unknown = |part: &Tensor| on.cast(&on.call(&ops::ISNAN, args![part])?, DType::UInt8);
    // stable sorts, from the least to the most important key
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

/// The distinct elements of an array, and where they are.
struct Distinct {
    /// The flattened elements, sorted.
    sorted: Tensor,
    /// Index that each sorted element had before.
    order: Tensor,
    /// For each sorted element, whether it is the first of its value.
    is_first: Tensor,
    /// Indices of these, among the sorted ones.
    firsts: Tensor,
}

impl Distinct {
    fn of<T: Element>(on: OpContext<'_>, x: &TorchArray<T>) -> Result<Distinct> {
        let flat: TorchArray<T> = on.array(on.reshape(x.tensor(), &[x.tensor().size()])?)?;
        let (sorted, order) = match T::DTYPE.kind() {
            DTypeKind::Complex => by_parts(on, flat.tensor())?,
            _ => ordered::<T>(on, &flat, 0, false)?,
        };
        let n = sorted.size();
        let is_first = if n == 0 {
            on.call(&ops::NE, args![&order, &order])?
        } else {
            // NaN is unequal to its neighbour, so each is a first one
            let differs =
                on.call(&ops::NE, args![&on.narrow(&sorted, 0, 1, n - 1)?, &on.narrow(&sorted, 0, 0, n - 1)?])?;
            on.call(&ops::CAT, args![&[on.full(&[1], true)?, differs][..], 0_i64])?
        };
        let firsts = on.call(&ops::NONZERO, args![&is_first])?;
        let firsts = on.reshape(&firsts, &[firsts.size()])?;
        Ok(Distinct { sorted, order, is_first, firsts })
    }

    fn values<T: Element>(&self, on: OpContext<'_>) -> Result<TorchArray<T>> {
        from_sortable(on, on.pick(&self.sorted, 0, &self.firsts)?)
    }

    fn counts(&self, on: OpContext<'_>) -> Result<TorchArray<i64>> {
        let ends =
            on.call(&ops::CAT, args![&[self.firsts.clone(), on.full(&[1], self.sorted.size() as i64)?][..], 0_i64])?;
        let n = self.firsts.size();
        on.array(on.call(&ops::SUB, args![&on.narrow(&ends, 0, 1, n)?, &on.narrow(&ends, 0, 0, n)?])?)
    }

    /// For each element of the array, in its shape, the index of its value.
    fn inverse(&self, on: OpContext<'_>, shape: &[usize]) -> Result<TorchArray<i64>> {
        let rank = on.call(&ops::CUMSUM, args![&self.is_first, 0_i64])?;
        let rank = on.call(&ops::SUB, args![&rank, Number::of(1_i64)])?;
        // each place is written once, as the order is a permutation
        let inverse =
            on.call(&ops::SCATTER, args![&on.call(&ops::ZEROS_LIKE, args![&rank])?, 0_i64, &self.order, &rank])?;
        on.array(on.reshape(&inverse, shape)?)
    }

    /// Where the first of each value is in the flattened array.
    fn indices(&self, on: OpContext<'_>) -> Result<TorchArray<i64>> {
        on.array(on.pick(&self.order, 0, &self.firsts)?)
    }
}

/// The distinct elements, sorted.
pub fn unique_values<T: Element>(b: &Torch, x: &TorchArray<T>) -> Result<TorchArray<T>> {
    let on = b.on("unique_values");
    Distinct::of(on, x)?.values(on)
}

/// The distinct elements and how often each is there.
pub fn unique_counts<T: Element>(b: &Torch, x: &TorchArray<T>) -> Result<(TorchArray<T>, TorchArray<i64>)> {
    let on = b.on("unique_counts");
    let distinct = Distinct::of(on, x)?;
    Ok((distinct.values(on)?, distinct.counts(on)?))
}

/// The distinct elements and the index of every element's value.
pub fn unique_inverse<T: Element>(b: &Torch, x: &TorchArray<T>) -> Result<(TorchArray<T>, TorchArray<i64>)> {
    let on = b.on("unique_inverse");
    let distinct = Distinct::of(on, x)?;
    Ok((distinct.values(on)?, distinct.inverse(on, x.shape())?))
}

/// What [`unique_all`] gives: values, first indices, inverse, counts.
type All<T> = (TorchArray<T>, TorchArray<i64>, TorchArray<i64>, TorchArray<i64>);

/// The distinct elements, the first index of each, the inverse and the counts.
pub fn unique_all<T: Element>(b: &Torch, x: &TorchArray<T>) -> Result<All<T>> {
    let on = b.on("unique_all");
    let distinct = Distinct::of(on, x)?;
    Ok((distinct.values(on)?, distinct.indices(on)?, distinct.inverse(on, x.shape())?, distinct.counts(on)?))
}
