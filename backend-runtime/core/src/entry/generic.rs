//! Arguments and results of rows that are computed by other ops. These rows take typed arrays. The element types may be
//! types of `element::dynamic`.

use super::{AnyArray, Arg, ArrayValue, Call, Outputs};
use crate::{
    Arrays, DType, Element, Error, HostArray, Operand, Result, dispatch,
    numpyish::{raw::RawArray, typed::typed},
    raw::RawElement,
    rules,
};
use ndarray::ShapeError;
use std::{any::Any, borrow::Cow};

/// Returns the backend of an entry.
///
/// # Panics
/// If the backend has another type. Only a mistake in generated code can cause this.
pub fn backend<B: Arrays>(b: &dyn Any) -> &B {
    b.downcast_ref().expect("the backend has the type for which the entry is made")
}

impl Call<'_, '_> {
    /// Returns a handle of an array.
    pub fn any_array<T: Element>(&self, place: usize) -> Result<AnyArray<T>> {
        AnyArray::of_value(self.op, ArrayValue::of(self.array_ref(place)))
    }

    /// Returns a handle of an array; `None` if the call omits it.
    pub fn optional_any_array<T: Element>(&self, place: usize) -> Result<Option<AnyArray<T>>> {
        if self.is_absent(place) { Ok(None) } else { self.any_array(place).map(Some) }
    }

    /// Returns an operand.
    pub fn any_operand<B: Arrays<Array<T> = AnyArray<T>>, T: Element>(
        &self,
        place: usize,
    ) -> Result<Operand<'_, B, T>> {
        match &self.args()[place] {
            Arg::Element(x) => Ok(Operand::Scalar(x.cast())),
            _ => Ok(Operand::Array(Cow::Owned(self.any_array(place)?))),
        }
    }

    /// Returns handles of the arrays in a list.
    pub fn any_arrays<T: Element>(&self, place: usize) -> Result<Vec<AnyArray<T>>> {
        let Arg::Arrays(arrays) = &self.args()[place] else { return Ok(Vec::new()) };
        let mut all = rules::list(self.op, arrays.len())?;
        for x in arrays {
            all.push(AnyArray::of_value(self.op, ArrayValue::of(*x))?);
        }
        Ok(all)
    }
}

/// Copies an array to the host, with elements of a type of `element::dynamic`.
pub fn to_elements<B: Arrays, T: Element>(b: &B, op: &'static str, x: &AnyArray<T>) -> Result<HostArray<T>> {
    let (shape, elements) = elements(b, op, ArrayValue::of(x.value()))?;
    let elements = collected(op, elements.into_iter().map(|x| x.cast::<T>()))?;
    let why = |error: ShapeError| Error::shape(op, &shape, error.to_string());
    HostArray::from_shape_vec(&shape[..], elements).map_err(why)
}

/// Collects elements. If there is too little memory, the result is an error.
fn collected<T>(op: &'static str, elements: impl ExactSizeIterator<Item = T>) -> Result<Vec<T>> {
    let (mut all, n) = (Vec::new(), elements.len());
    all.try_reserve_exact(n).map_err(|_| Error::memory(op, n.saturating_mul(size_of::<T>())))?;
    all.extend(elements);
    Ok(all)
}

fn elements<B: Arrays>(b: &B, op: &'static str, x: ArrayValue) -> Result<(Vec<usize>, Vec<RawElement>)> {
    dispatch!(x.dtype(op)?, T => {
        let host = b.to_ndarray(&B::of_value::<T>(op, x)?)?;
        Ok((host.shape().to_vec(), collected(op, host.iter().map(|x| RawElement::of(*x)))?))
    })
}

/// Makes an array from elements of a type of `element::dynamic`.
pub fn of_elements<B: Arrays, T: Element>(b: &B, op: &'static str, x: &HostArray<T>) -> Result<AnyArray<T>> {
    let elements = collected(op, x.iter().map(|x| x.to_raw()))?;
    AnyArray::of_value(op, value_of(b, op, x.shape(), T::dtype(), elements)?)
}

fn value_of<B: Arrays>(
    b: &B,
    op: &'static str,
    shape: &[usize],
    dtype: DType,
    elements: Vec<RawElement>,
) -> Result<ArrayValue> {
    dispatch!(dtype, T => {
        let elements = collected(op, elements.into_iter().map(|x| x.cast::<T>()))?;
        let why = |error: ShapeError| Error::shape(op, shape, error.to_string());
        let x = b.from_ndarray::<T>(HostArray::from_shape_vec(shape, elements).map_err(why)?)?;
        B::array_ref::<T>(&x).map(ArrayValue::of).ok_or_else(|| Error::unsupported(op, B::NAME))
    })
}

/// Converts the result of a loop over host memory to an array of a type of `element::dynamic`.
pub fn of_raw<B: Arrays, T: Element>(b: &B, x: RawArray) -> Result<AnyArray<T>> {
    let value = dispatch!(x.dtype(), U => {
        let x = b.of_loop::<U>(typed(Ok(x))?)?;
        B::array_ref::<U>(&x).map(ArrayValue::of).ok_or_else(|| Error::unsupported("of_raw", B::NAME))
    })?;
    AnyArray::of_value("of_raw", value)
}

impl Outputs {
    /// The output of an op whose result is an array.
    pub fn of_array<T: Element>(x: AnyArray<T>) -> Outputs {
        Outputs::One(x.into_value())
    }

    /// The outputs of an op whose result is a list of arrays.
    pub fn of_list<T: Element>(op: &'static str, arrays: Vec<AnyArray<T>>) -> Result<Outputs> {
        let mut all = rules::list(op, arrays.len())?;
        all.extend(arrays.into_iter().map(AnyArray::into_value));
        Ok(Outputs::Many(all))
    }
}
