//! Indexing by lists of indices. The indexed axes are first made adjacent, because libtorch differs from NumPy in two
//! points: the position of the index arrays' axes, and integers among index arrays.

use super::from_zero;
use crate::{
    Torch,
    call::{OpContext, args},
    ops,
    strategy::{Detour, DtypeStrategy},
    tensor::{Arg, Number, Tensor, Tensors},
};
use backend_core::{
    DType, DTypeKind, Index, Indices, Result,
    raw::{RawElement, RawOperand, RawTarget},
    rules::{self, Kept, Selection},
};

/// Returns the elements that a list of indices selects. The result is a view if the list has only slices, integers and
/// new axes, and no slice runs backwards.
pub fn get(on: OpContext<'_>, x: &Tensor, index: Indices<'_, Torch>) -> Result<Tensor> {
    let selection = Selection::of(on.op, on.backend, x.shape(), index.iter())?;
    let picked = Picked::new(on, &selection, index, on.dtype.size())?;
    let chosen = picked.checked(on, x.shape())?;
    let part = GatherView::of(on, &on.enter(DtypeStrategy::Wrap, x)?, &selection, &picked, false)?;
    let view = on.reverse(&part.view, &part.backwards)?;
    if selection.is_view() {
        return on.leave(DtypeStrategy::Wrap, view);
    }
    let chosen = Tensors::of(part.all(&chosen));
    let got = on.call(&ops::INDEX, &[Arg::Tensor(&view), Arg::Tensors(chosen)])?;
    on.leave(DtypeStrategy::Wrap, got)
}

/// Writes values to the elements that a list of indices selects; for equal indices the last value wins. Returns the
/// changed array.
pub fn set(
    on: OpContext<'_>,
    x: RawTarget<'_, Tensor>,
    index: Indices<'_, Torch>,
    values: RawOperand<'_, Tensor>,
) -> Result<Tensor> {
    put(on, &x, index, values, DtypeStrategy::Wrap, false)
}

/// Adds values to the elements that a list of indices selects; for equal indices all values are added. Returns the
/// changed array.
pub fn add_at(
    on: OpContext<'_>,
    x: RawTarget<'_, Tensor>,
    index: Indices<'_, Torch>,
    values: RawOperand<'_, Tensor>,
) -> Result<Tensor> {
    // 16-bit floats are summed in float32, and complex numbers by parts
    let via = if on.dtype.kind() == DTypeKind::Real { DtypeStrategy::Float32 } else { DtypeStrategy::Parts };
    put(on, &x, index, values, via, true)
}

/// Writes values to the elements that a list of indices selects or, if `adds` is true, adds them. Returns the changed
/// array. It is `x` itself if the selection is empty. It is also `x` itself under three conditions: `x` is the only
/// handle of memory that libtorch owns, its elements do not overlap, and its dtype needs no conversion to float32.
/// Otherwise it is a new array.
fn put(
    on: OpContext<'_>,
    x: &Tensor,
    index: Indices<'_, Torch>,
    values: RawOperand<'_, Tensor>,
    via: DtypeStrategy,
    adds: bool,
) -> Result<Tensor> {
    let selection = Selection::of(on.op, on.backend, x.shape(), index.iter())?;
    let picked = Picked::new(on, &selection, index, on.dtype.size())?;
    let [values] = on.operands(DtypeStrategy::Direct, [values])?;
    on.require(&[x, &values])?;
    let kept = rules::assigned(on.op, values.shape(), &picked.shape)?.to_vec();
    let single = values.size() == 1;
    let chosen = picked.checked(on, x.shape())?;
    if picked.shape.contains(&0) {
        return Ok(x.clone());
    }
    let detour = via.detour(on.dtype);
    let mut target = x.clone();
    // the tensor must have exactly 2 handles, because `target` itself is a second handle
    if !target.is_alone(2) || rules::overlaps(target.shape(), &signed(target.strides())) {
        let copy = on.call(&ops::CLONE, args![&on.enter(DtypeStrategy::Wrap, &target)?])?;
        target = on.leave(DtypeStrategy::Wrap, copy)?;
    }
    let entered = detour.enter(on, &target)?;
    let has_parts = matches!(detour, Detour::Parts(_));
    let part = GatherView::of(on, &entered, &selection, &picked, has_parts)?;
    let more: &[usize] = if has_parts { &[2] } else { &[] };
    let values = detour.enter(on, &on.reshape(&values, &kept)?)?;
    // new axes are added in front, so that the axis of complex parts stays last
    let full = [&vec![1; picked.shape.len() - kept.len()], values.shape()].concat();
    let values = on.call(&ops::EXPAND, args![&on.reshape(&values, &full)?, &[&picked.shape, more].concat()])?;
    let behind = |axis: &usize| if *axis < selection.before { *axis } else { axis - part.chosen + picked.arrays.len() };
    let backwards: Vec<usize> = part.backwards.iter().map(behind).collect();
    let values = on.reverse(&values, &backwards)?;
    if selection.is_view() {
        let values = if adds { on.call(&ops::ADD, args![&part.view, &values])? } else { values };
        on.call(&ops::COPY_IN_PLACE, args![&part.view, &values])?;
    } else {
        let values = if adds || single { values } else { picked.last(on, &selection, &chosen, x.shape(), &values)? };
        let chosen = Tensors::of(part.all(&chosen));
        let arguments = [Arg::Tensor(&part.view), Arg::Tensors(chosen), Arg::Tensor(&values), Arg::Bool(adds)];
        on.call(&ops::INDEX_PUT_IN_PLACE, &arguments)?;
    }
    if matches!(detour, Detour::Float32(_)) { detour.leave(on, entered) } else { Ok(target) }
}

fn signed(strides: &[usize]) -> Vec<isize> {
    strides.iter().map(|&stride| stride as isize).collect()
}

/// The index arrays of a list of indices.
struct Picked {
    /// For each indexed axis: the axis, its indices, and whether an index may be out of range. `None` stands for a mask
    /// without axes.
    along: Vec<(Option<usize>, Tensor, bool)>,
    /// Shape of the result.
    shape: Vec<usize>,
    /// Common shape of the index arrays, after broadcasting.
    arrays: Vec<usize>,
}

impl Picked {
    fn new(on: OpContext<'_>, selection: &Selection, index: Indices<'_, Torch>, size: usize) -> Result<Picked> {
        let items: Vec<Index<'_, Torch>> = index.iter().collect();
        let (mut along, mut shapes) = (Vec::new(), Vec::new());
        for pick in &selection.picks {
            match items[pick.item] {
                Index::Array(x) => {
                    along.push((Some(pick.axis), x.tensor().clone(), true));
                    shapes.push(x.shape().to_vec());
                }
                Index::Mask(x) => {
                    // each row has the indices of one true element
                    let rows = on.call(&ops::NONZERO, args![x])?;
                    let n = rows.shape()[0];
                    shapes.push(vec![n]);
                    if pick.axes == 0 {
                        along.push((None, on.full(&[n], RawElement::zero(DType::Int64))?, false));
                    }
                    let columns = if pick.axes == 0 { Vec::new() } else { on.list(&ops::UNBIND, args![&rows, 1_i64])? };
                    let each = columns.into_iter().enumerate();
                    along.extend(each.map(|(k, column)| (Some(pick.axis + k), column, false)));
                }
                Index::Slice(_) | Index::New | Index::Rest => {}
            }
        }
        let (shape, arrays) = selection.shape(on.op, shapes.iter().map(|shape| &shape[..]), size)?;
        Ok(Picked { along, shape, arrays })
    }

    /// The indices into an array of this shape, checked and made non-negative. If the index arrays are empty after
    /// broadcasting, no index is checked.
    fn checked(&self, on: OpContext<'_>, shape: &[usize]) -> Result<Vec<Tensor>> {
        let none = self.arrays.contains(&0);
        let one = |(axis, indices, may_miss): &(Option<usize>, Tensor, bool)| match axis {
            Some(axis) if *may_miss && !none => from_zero(on, indices, *axis, shape[*axis]),
            // empty index arrays have no index that is out of range
            _ if none => on.full(&self.arrays, RawElement::zero(DType::Int64)),
            _ => Ok(indices.clone()),
        };
        self.along.iter().map(one).collect()
    }

    /// The values to write. Each value is replaced by the last value for the same element, so that libtorch's order of
    /// writes does not matter.
    fn last(
        &self,
        on: OpContext<'_>,
        selection: &Selection,
        chosen: &[Tensor],
        shape: &[usize],
        values: &Tensor,
    ) -> Result<Tensor> {
        let n: usize = self.arrays.iter().product();
        if n < 2 {
            return Ok(values.clone());
        }
        let lengths: Vec<usize> = self.along.iter().map(|(axis, ..)| axis.map_or(1, |axis| shape[axis])).collect();
        let count = rules::count(on.op, &lengths, size_of::<i64>())?;
        let mut places = on.full(&self.arrays, RawElement::zero(DType::Int64))?;
        for (indices, stride) in chosen.iter().zip(rules::c_strides(&lengths)) {
            let along = on.call(&ops::MUL, args![indices, Number::of(stride as i64)])?;
            places = on.call(&ops::ADD, args![&places, &along])?;
        }
        let places = on.reshape(&places, &[n])?;
        let none = on.full(&[count], RawElement::of(-1_i64))?;
        let last = on.call(&ops::SCATTER_REDUCE, args![&none, 0_i64, &places, &on.count_up(n)?, "amax"])?;
        let last = on.pick(&last, 0, &places)?;
        let (before, rest) = self.shape.split_at(selection.before);
        let behind = &rest[self.arrays.len()..];
        let rows = on.reshape(values, &[before, &[n], behind].concat())?;
        on.reshape(&on.pick(&rows, selection.before, &last)?, &self.shape)
    }
}

/// A view of the part of an array from which a list of indices selects. The view has first the axes that come before
/// the index arrays' axes in the result, then the indexed axes, then the remaining axes.
struct GatherView {
    view: Tensor,
    /// Number of axes before the indexed axes.
    before: usize,
    /// Number of indexed axes.
    chosen: usize,
    /// The axes of the view that run backwards in the result.
    backwards: Vec<usize>,
}

impl GatherView {
    /// Makes the view. `has_parts` says whether `x` has a last axis of length 2 for the parts of complex numbers.
    fn of(
        on: OpContext<'_>,
        x: &Tensor,
        selection: &Selection,
        picked: &Picked,
        has_parts: bool,
    ) -> Result<GatherView> {
        let (spans, strides) = (&selection.spans, x.strides());
        let mut offset = x.offset();
        if spans.iter().all(|span| span.len > 0) {
            for (span, &stride) in spans.iter().zip(strides) {
                let last = span.start as isize + (span.len as isize - 1) * if span.len > 1 { span.step } else { 0 };
                offset += span.start.min(last as usize) * stride;
            }
        }
        let mut axes: Vec<(usize, usize)> = Vec::new();
        let mut backwards = Vec::new();
        let keep = |kept: &Kept, axes: &mut Vec<(usize, usize)>, backwards: &mut Vec<usize>| match *kept {
            Kept::Axis(axis) if spans[axis].len > 1 => {
                if spans[axis].step < 0 {
                    backwards.push(axes.len());
                }
                axes.push((spans[axis].len, strides[axis] * spans[axis].step.unsigned_abs()));
            }
            Kept::Axis(axis) => axes.push((spans[axis].len, 1)),
            Kept::New => axes.push((1, 1)),
        };
        let (before, behind) = selection.kept.split_at(selection.before);
        before.iter().for_each(|kept| keep(kept, &mut axes, &mut backwards));
        let chosen = picked.along.iter().map(|(axis, ..)| axis.map_or((1, 1), |axis| (spans[axis].len, strides[axis])));
        axes.extend(chosen);
        behind.iter().for_each(|kept| keep(kept, &mut axes, &mut backwards));
        if has_parts {
            axes.push((2, 1));
        }
        let (lengths, strides): (Vec<usize>, Vec<usize>) = axes.into_iter().unzip();
        let view = on.call(&ops::AS_STRIDED, args![x, &lengths, &strides, offset])?;
        Ok(GatherView { view, before: before.len(), chosen: picked.along.len(), backwards })
    }

    /// libtorch's list of indices, with `None` for the axes before the indexed axes.
    fn all<'a>(&self, chosen: &'a [Tensor]) -> Vec<Option<&'a Tensor>> {
        std::iter::repeat_n(None, self.before).chain(chosen.iter().map(Some)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use backend_core::{Arrays, Slice, available, raw::TypedArray};

    /// An array is changed in place if it is the only handle of memory that libtorch owns; other handles never see a
    /// change.
    #[test]
    fn in_place_where_nobody_else_looks() {
        let Some(b) = available("torch", Torch::cpu()) else { return };
        let on = b.on::<f64>("test");
        let number = |x: f64| RawOperand::Scalar(RawElement::of(x));
        let elements = |x: &Tensor| b.to_ndarray(&on.array::<f64>(x.clone()).unwrap()).unwrap();
        let mut x = on.full(&[3], RawElement::of(1.0)).unwrap();
        let start = x.data();
        let part = [Slice::from(1..)];
        x = set(on, RawTarget::new(&mut x), Indices::Slices(&part), number(2.0)).unwrap();
        assert_eq!(x.data(), start);
        let i = on.array::<i64>(on.full(&[2], RawElement::of(0_i64)).unwrap()).unwrap();
        x = add_at(on, RawTarget::new(&mut x), Indices::Any(&[Index::Array(&i)]), number(2.0)).unwrap();
        assert_eq!((x.data(), elements(&x).as_slice()), (start, Some(&[5.0, 2.0, 2.0][..])));
        let view = get(on, &x, Indices::Slices(&part)).unwrap();
        x = set(on, RawTarget::new(&mut x), Indices::Slices(&part), number(3.0)).unwrap();
        assert!(x.data() != start && elements(&view).as_slice() == Some(&[2.0, 2.0]));
        // memory that the host allocated belongs to its owner, and is not changed in place
        let host = ndarray::arr1(&[1.0, 2.0]).into_dyn().into_shared();
        let mut x = b.from_ndarray(host.clone()).unwrap();
        let x = set(on, x.target(), Indices::Slices(&[]), number(0.0)).unwrap();
        assert_eq!(host.as_slice(), Some(&[1.0, 2.0][..]));
        assert!(x.is(DType::Float64));
    }
}
