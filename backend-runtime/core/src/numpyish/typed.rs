//! Conversion of raw arrays, whose dtype is known only at run time, to arrays with an element type. The functions are
//! compiled once per dtype, in this crate.

use super::{
    NdArray, Numpyish,
    buffer::Buffer,
    copy,
    kernel::Kernel,
    raw::{RawArray, View, view},
    run,
};
use crate::{
    At, Complex, DynArray, Element, HostArray, Result, bf16, f16,
    raw::{Argument, Finish},
    rules,
};
use ndarray::{Array, ArrayView, Axis, IxDyn, ShapeBuilder, Slice};
use std::sync::atomic::{Ordering, fence};

/// Copies an ndarray view of any layout to an array in C order.
pub fn copied<T: Element>(op: &'static str, x: ArrayView<'_, T, IxDyn>) -> Result<NdArray<T>> {
    let view = View { start: x.as_ptr().cast(), dtype: T::DTYPE, shape: x.shape(), strides: x.strides() };
    rules::count(op, view.shape, view.dtype.size())?;
    let elements = copy::to_buffer(op, view)?;
    // SAFETY: the copy writes every element.
    typed(unsafe { RawArray::new(op, x.shape().to_vec(), elements) })
}

/// Converts a raw array to an array of `T`, by a function that this crate compiles once per dtype.
#[inline]
pub fn typed<T: Element>(array: Result<RawArray>) -> Result<NdArray<T>> {
    match array {
        Ok(array) => Ok(T::numpyish_typed(array)),
        Err(why) => Err(why),
    }
}

/// A change of an array's axes that results in a view of the same memory.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Reverses the order of the axes.
    Reverse,
    /// Puts the axes in another order: axis `k` of the view is the axis of the array whose index is entry `k` of the
    /// list.
    Permute(Vec<usize>),
    /// Selects a range of indices of an axis. The fields are the axis and an ndarray slice.
    Slice(usize, Slice),
    /// Selects one index of an axis, and removes the axis. The fields are the axis and the index.
    Index(usize, usize),
    /// Inserts an axis of length 1.
    Insert(usize),
    /// Reverses the elements along an axis.
    Invert(usize),
    /// Changes the shape to another one with the same number of elements. The array must be in C order.
    Reshape(Vec<usize>),
}

/// The result of an op that only reorders elements: a view of the same memory, or a copy in new memory.
#[derive(Debug)]
pub enum Change {
    /// A view of the same memory, made by several steps.
    View(Vec<Step>),
    /// Like `View`, for a single step.
    One(Step),
    /// A copy in new memory.
    Copy(RawArray),
}

impl Change {
    /// Makes a view of the same memory by these steps: `One` for a single step, and otherwise `View`.
    pub fn of(steps: impl Iterator<Item = Step>) -> Change {
        let mut steps = steps.peekable();
        match steps.next() {
            Some(step) if steps.peek().is_none() => Change::One(step),
            first => Change::View(first.into_iter().chain(steps).collect()),
        }
    }
}

impl<T: Element> Argument for NdArray<T> {
    type Array<'a> = View<'a>;
    type Operand<'a> = View<'a>;
    type Target<'a> = &'a mut dyn Changeable;

    #[inline(always)]
    fn array(&self) -> View<'_> {
        view(self)
    }

    #[inline(always)]
    fn target(&mut self) -> &mut dyn Changeable {
        self
    }

    #[inline(always)]
    fn operand(&self) -> View<'_> {
        view(self)
    }

    #[inline(always)]
    fn scalar<'a, U: Element>(x: &'a U) -> View<'a>
    where
        T: 'a,
    {
        View::scalar(x)
    }
}

impl<T: Element, X> Finish<NdArray<T>, X> for RawArray {
    #[inline(always)]
    fn finish(self, _: &'static str, _: X) -> Result<NdArray<T>> {
        Ok(T::numpyish_typed(self))
    }
}

impl<T: Element> Finish<NdArray<T>, &NdArray<T>> for Change {
    #[inline(always)]
    fn finish(self, _: &'static str, x: &NdArray<T>) -> Result<NdArray<T>> {
        Ok(T::numpyish_changed(x, self))
    }
}

/// A result of an op that takes a list of arrays: an array of the list, or a copy in new memory.
#[derive(Debug)]
pub enum ItemOrCopy {
    /// The array at this place of the list. The result shares its memory.
    Item(usize),
    /// A copy in new memory.
    Copy(RawArray),
}

impl<T: Element> Finish<NdArray<T>, &[&NdArray<T>]> for ItemOrCopy {
    fn finish(self, _: &'static str, xs: &[&NdArray<T>]) -> Result<NdArray<T>> {
        Ok(match self {
            ItemOrCopy::Item(place) => xs[place].clone(),
            ItemOrCopy::Copy(array) => T::numpyish_typed(array),
        })
    }
}

/// An array of any dtype, whose elements an op changes in place.
pub trait Changeable {
    /// A view of the array.
    fn view(&self) -> View<'_>;

    /// Prepares the array for writing; see [`Typed::numpyish_changeable`].
    fn changeable(&mut self, op: &'static str) -> Result<*mut u8>;
}

impl<T: Element> Changeable for NdArray<T> {
    fn view(&self) -> View<'_> {
        view(self)
    }

    fn changeable(&mut self, op: &'static str) -> Result<*mut u8> {
        T::numpyish_changeable(op, self)
    }
}

/// Applies a change to an array.
#[inline]
pub fn changed_by<T: Element>(x: &NdArray<T>, change: Result<Change>) -> Result<NdArray<T>> {
    match change {
        Ok(change) => Ok(T::numpyish_changed(x, change)),
        Err(why) => Err(why),
    }
}

/// Functions that exist once per dtype, compiled in this crate rather than in callers. The names are long because a
/// trait bound `T: Element` brings them into the scope of users' code.
pub trait Typed: Sized {
    /// Converts a raw array to an array of this element type.
    ///
    /// # Panics
    /// If the raw array has another dtype.
    fn numpyish_typed(array: RawArray) -> HostArray<Self>;

    /// Wraps an array of this element type as an array whose dtype is a value.
    fn numpyish_dynamic(x: HostArray<Self>) -> DynArray<Numpyish>;

    /// Applies a change to an array. The result is a view of the same memory, or has new memory.
    ///
    /// # Panics
    /// If the change is a copy whose dtype differs from this element type.
    fn numpyish_changed(x: &HostArray<Self>, change: Change) -> HostArray<Self>;

    /// Prepares an array for writing. Afterwards, `x` is the only handle to its memory, and no two of its indices share
    /// an element. Copies the array to new memory if either condition does not hold yet. Returns the address of the
    /// first element.
    fn numpyish_changeable(op: &'static str, x: &mut HostArray<Self>) -> Result<*mut u8>;

    /// Returns whether `x` is the only handle to its memory, and the memory is so large that reusing it saves time.
    fn numpyish_is_alone(x: &mut HostArray<Self>) -> bool;

    /// Runs a kernel over operands and returns the result. `at` is the location of the op's call in the source; if it
    /// is known, an error contains it.
    ///
    /// # Safety
    /// The conditions of [`run::run`] hold, and `Self` has the dtype of the kernel's result.
    unsafe fn numpyish_run(kernel: &Kernel, op: *const u8, operands: &[View<'_>], at: At) -> Result<HostArray<Self>>;
}

/// A type whose arrays are never ndarrays: it stands for a dtype that is known only at run time.
pub trait NoNdArray: Sized {}

#[cold]
fn no_ndarray() -> ! {
    unreachable!("an array of a dtype that is known only at run time is no ndarray")
}

impl<T: NoNdArray> Typed for T {
    fn numpyish_typed(_: RawArray) -> HostArray<T> {
        no_ndarray()
    }

    fn numpyish_dynamic(_: HostArray<T>) -> DynArray<Numpyish> {
        no_ndarray()
    }

    fn numpyish_changed(_: &HostArray<T>, _: Change) -> HostArray<T> {
        no_ndarray()
    }

    fn numpyish_changeable(_: &'static str, _: &mut HostArray<T>) -> Result<*mut u8> {
        no_ndarray()
    }

    fn numpyish_is_alone(_: &mut HostArray<T>) -> bool {
        false
    }

    unsafe fn numpyish_run(_: &Kernel, _: *const u8, _: &[View<'_>], _: At) -> Result<HostArray<T>> {
        no_ndarray()
    }
}

macro_rules! typed {
    ($($variant:ident: $t:ty),* $(,)?) => {$(
        impl Typed for $t {
            fn numpyish_typed(array: RawArray) -> HostArray<$t> {
                into_ndarray(array)
            }

            #[inline]
            fn numpyish_dynamic(x: HostArray<$t>) -> DynArray<Numpyish> {
                DynArray::$variant(x)
            }

            fn numpyish_changed(x: &HostArray<$t>, change: Change) -> HostArray<$t> {
                match change {
                    Change::View(steps) => changed(x.clone(), &steps),
                    Change::One(step) => changed(x.clone(), std::slice::from_ref(&step)),
                    Change::Copy(array) => into_ndarray(array),
                }
            }

            fn numpyish_changeable(op: &'static str, x: &mut HostArray<$t>) -> Result<*mut u8> {
                if !x.is_unique() || rules::overlaps(x.shape(), x.strides()) {
                    *x = into_ndarray(copy::duplicate(op, view(x))?);
                }
                // `as_mut_ptr` copies nothing, because `x` is now the only handle of its memory
                Ok(x.as_mut_ptr().cast())
            }

            fn numpyish_is_alone(x: &mut HostArray<$t>) -> bool {
                is_alone(x)
            }

            unsafe fn numpyish_run(kernel: &Kernel, op: *const u8, operands: &[View<'_>], at: At) -> Result<HostArray<$t>> {
                // SAFETY: the caller guarantees the op and the operands.
                unsafe { computed(kernel, op, operands, at) }
            }
        }
    )*};
}
typed! {
    Bool: bool, Int8: i8, Int16: i16, Int32: i32, Int64: i64, UInt8: u8, UInt16: u16, UInt32: u32, UInt64: u64,
    Float16: f16, BFloat16: bf16, Float32: f32, Float64: f64, Complex64: Complex<f32>, Complex128: Complex<f64>,
}

fn into_ndarray<T: Element>(array: RawArray) -> NdArray<T> {
    let (buffer, shape, strides) = array.into_parts();
    // SAFETY: every element of a raw array has been written. The shape has as many elements as the buffer, and the
    // strides describe the same elements with the axes in another order.
    unsafe {
        let v = buffer.into_vec::<T>();
        match strides {
            Some(strides) => with_strides(&shape, &strides, v),
            None => in_c_order(&shape, v),
        }
    }
}

fn is_alone<T: Element>(x: &mut NdArray<T>) -> bool {
    let alone = run::is_reused(x.len(), size_of::<T>()) && x.is_unique();
    // another thread may have read the memory before it dropped its handle; the fence orders these reads before later
    // writes
    fence(Ordering::Acquire);
    alone
}

/// # Safety
/// The shape has as many elements as the vector.
#[inline(always)]
unsafe fn in_c_order<T: Element>(shape: &[usize], v: Vec<T>) -> NdArray<T> {
    match shape {
        // rank 1 is the most common rank; with a dynamic shape, the processor would stall while it reads lengths that
        // were just written
        &[_] => Array::from_vec(v).into_shared().into_dyn(),
        // SAFETY: a shape without axes has one element, and the caller guarantees that the vector has one element.
        [] => unsafe { Array::from_shape_vec_unchecked((), v) }.into_shared().into_dyn(),
        // SAFETY: the caller guarantees that the vector has as many elements as the shape.
        shape => unsafe { Array::from_shape_vec_unchecked(IxDyn(shape), v) }.into_shared(),
    }
}

/// # Safety
/// The shape has as many elements as the vector, and the strides describe an array without gaps.
#[inline(never)]
unsafe fn with_strides<T: Element>(shape: &[usize], strides: &[usize], v: Vec<T>) -> NdArray<T> {
    // SAFETY: the caller guarantees the number of elements and the strides.
    unsafe { Array::from_shape_vec_unchecked(IxDyn(shape).strides(IxDyn(strides)), v) }.into_shared()
}

fn changed<T: Element>(mut x: NdArray<T>, steps: &[Step]) -> NdArray<T> {
    for step in steps {
        match step {
            Step::Reverse => (0..x.ndim() / 2).for_each(|k| x.swap_axes(k, x.ndim() - 1 - k)),
            Step::Permute(order) => permute(&mut x, order),
            Step::Slice(axis, part) => x.slice_axis_inplace(Axis(*axis), *part),
            Step::Index(axis, index) => x = x.index_axis_move(Axis(*axis), *index),
            Step::Insert(axis) => x = x.insert_axis(Axis(*axis)),
            Step::Invert(axis) => x.invert_axis(Axis(*axis)),
            Step::Reshape(shape) => {
                x = x.into_shape_with_order(IxDyn(shape)).expect("an array in C order takes every shape of its size");
            }
        }
    }
    x
}

/// Moves axis `order[k]` to position `k` for every `k`, by swaps. ndarray's own function is large, and would be
/// compiled for every dtype.
fn permute<T: Element>(x: &mut NdArray<T>, order: &[usize]) {
    swaps(order, |from, to| x.swap_axes(from, to));
}

/// Puts axes in the order `order` by swaps. Calls `swap` with the positions of the two axes of each swap.
fn swaps(order: &[usize], mut swap: impl FnMut(usize, usize)) {
    for (k, &axis) in order.iter().enumerate() {
        // At first, `axis` is at position `axis`. If a position `from` is before `k`, an earlier swap has put its final
        // axis there, `order[from]`. That swap moved the previous axis of `from` to the position from which
        // `order[from]` came, so the search continues there.
        let mut from = axis;
        while from < k {
            from = order[from];
        }
        if from != k {
            swap(from, k);
        }
    }
}

/// # Safety
/// The conditions of [`run::run`] hold, and `T` has the dtype of the kernel's result.
#[inline(always)]
unsafe fn computed<T: Element>(kernel: &Kernel, op: *const u8, operands: &[View<'_>], at: At) -> Result<NdArray<T>> {
    // for arrays of few elements, the setup takes longer than the loop, so this path does as little setup as possible
    if let Some(aligned) = run::aligned(operands)
        && aligned.is_one_call(kernel)
    {
        assert_eq!(kernel.output(), T::DTYPE, "elements keep their dtype");
        let room = Buffer::new(kernel.name(), aligned.n, T::DTYPE).map_err(|why| why.placed(at))?;
        // SAFETY: the caller guarantees the op and the operands, `room` has room for all elements, and the loop writes
        // all of them.
        unsafe {
            aligned.call(kernel, op, room.start());
            return Ok(in_c_order(operands[aligned.lead].shape, room.into_vec()));
        }
    }
    // SAFETY: the caller guarantees the op and the operands.
    let (lead, c_order, buffer) = match unsafe { run::run(kernel, op, operands) }.map_err(|why| why.placed(at))? {
        run::Computed::Like { lead, c_order, buffer } => (operands[lead], c_order, buffer),
        run::Computed::Other(array) => return Ok(into_ndarray(*array)),
    };
    // SAFETY: the kernel has written all elements, and there are as many as the leading operand has. If this operand is
    // not in C order, its strides describe an array without gaps.
    unsafe {
        let v = buffer.into_vec::<T>();
        if c_order {
            return Ok(in_c_order(lead.shape, v));
        }
        let strides: Vec<usize> = lead.strides.iter().map(|&s| s as usize).collect();
        Ok(with_strides(lead.shape, &strides, v))
    }
}

#[cfg(test)]
mod tests {
    use super::{super::testing::array, *};

    #[test]
    fn an_array_that_is_not_alone_is_copied() {
        let mut x = array("test", &[2, 2], vec![1_i32, 2, 3, 4]).unwrap();
        let start = x.as_ptr();
        assert_eq!(i32::numpyish_changeable("test", &mut x).unwrap().cast_const(), start.cast(), "nothing is copied");
        let other = x.clone();
        assert_ne!(i32::numpyish_changeable("test", &mut x).unwrap().cast_const(), start.cast());
        assert_eq!(x, other);
    }

    #[test]
    fn orders_are_made_by_swaps() {
        for order in [&[0, 1, 2][..], &[2, 1, 0], &[1, 2, 0], &[2, 0, 1], &[3, 1, 0, 2], &[], &[0]] {
            let mut now: Vec<usize> = (0..order.len()).collect();
            swaps(order, |a, b| now.swap(a, b));
            assert_eq!(now, order);
        }
    }
}
