//! Results of entries.

use super::{ArrayMut, ArrayRef, Call};
use crate::{DType, DynArray, Error, Result, numpyish::Numpyish};

/// An array of any library and dtype.
#[derive(Clone)]
#[non_exhaustive]
pub enum ArrayValue {
    /// An array of the CPU.
    Numpyish(DynArray<Numpyish>),
    /// An array of an NVIDIA GPU.
    #[cfg(feature = "cuda")]
    Cuda(crate::cuda::RawArray),
    /// A tensor of libtorch.
    #[cfg(feature = "torch")]
    Torch(crate::torch::Tensor),
}

impl ArrayValue {
    /// A handle of the array.
    pub(crate) fn of(x: ArrayRef<'_>) -> ArrayValue {
        match x {
            ArrayRef::Numpyish(x) => ArrayValue::Numpyish(x.handle()),
            #[cfg(feature = "cuda")]
            ArrayRef::Cuda(x) => ArrayValue::Cuda(x.clone()),
            #[cfg(feature = "torch")]
            ArrayRef::Torch(x) => ArrayValue::Torch(x.clone()),
        }
    }

    /// Dtype of the elements. Returns an error, which names the op `op`, if no dtype of this crate describes them.
    pub fn dtype(&self, op: &'static str) -> Result<DType> {
        let _ = op; // not needed in builds without libtorch
        match self {
            ArrayValue::Numpyish(x) => Ok(x.dtype()),
            #[cfg(feature = "cuda")]
            ArrayValue::Cuda(x) => Ok(x.dtype),
            #[cfg(feature = "torch")]
            ArrayValue::Torch(x) => {
                x.dtype().ok_or_else(|| Error::library(op, "torch", "a tensor of a dtype that this library lacks"))
            }
        }
    }

    /// Borrows the array.
    #[inline]
    pub fn by_ref(&self) -> ArrayRef<'_> {
        match self {
            ArrayValue::Numpyish(x) => ArrayRef::Numpyish(x.as_nd_array()),
            #[cfg(feature = "cuda")]
            ArrayValue::Cuda(x) => ArrayRef::Cuda(x),
            #[cfg(feature = "torch")]
            ArrayValue::Torch(x) => ArrayRef::Torch(x),
        }
    }

    /// Borrows the array exclusively.
    #[inline]
    pub fn by_mut(&mut self) -> ArrayMut<'_> {
        match self {
            ArrayValue::Numpyish(x) => ArrayMut::Numpyish(x.as_nd_array_mut()),
            #[cfg(feature = "cuda")]
            ArrayValue::Cuda(x) => ArrayMut::Cuda(x),
            #[cfg(feature = "torch")]
            ArrayValue::Torch(x) => ArrayMut::Torch(x),
        }
    }

    /// Lengths of the axes.
    #[inline]
    pub fn shape(&self) -> &[usize] {
        self.by_ref().shape()
    }

    /// The device of the memory, as named by its library: `"cpu"`, `"cuda:0"`.
    pub fn device(&self) -> String {
        match self {
            ArrayValue::Numpyish(_) => "cpu".into(),
            #[cfg(feature = "cuda")]
            ArrayValue::Cuda(x) => x.memory.device().name(),
            #[cfg(feature = "torch")]
            ArrayValue::Torch(x) => x.device_name(),
        }
    }

    /// Name of the backend that the array belongs to.
    pub fn backend(&self) -> &'static str {
        use crate::Arrays;
        match self {
            ArrayValue::Numpyish(_) => Numpyish::NAME,
            #[cfg(feature = "cuda")]
            ArrayValue::Cuda(_) => crate::cuda::Cuda::NAME,
            #[cfg(feature = "torch")]
            ArrayValue::Torch(_) => crate::torch::Torch::NAME,
        }
    }
}

/// The results of an entry.
#[non_exhaustive]
pub enum Outputs {
    /// One array.
    One(ArrayValue),
    /// Several arrays: a list, or the fields of a result with names, in order.
    Many(Vec<ArrayValue>),
    /// No array, because the op has changed its target.
    Target,
}

/// The result of a library's function, which becomes an array of any dtype.
pub trait ToValue {
    /// Makes the array. The first array among the call's arguments may share its memory with the result.
    fn to_value(self, call: &Call<'_, '_>) -> Result<ArrayValue>;
}

#[cfg(feature = "cuda")]
impl ToValue for crate::cuda::RawArray {
    fn to_value(self, _: &Call<'_, '_>) -> Result<ArrayValue> {
        Ok(ArrayValue::Cuda(self))
    }
}

#[cfg(feature = "torch")]
impl ToValue for crate::torch::Tensor {
    fn to_value(self, _: &Call<'_, '_>) -> Result<ArrayValue> {
        Ok(ArrayValue::Torch(self))
    }
}

impl Outputs {
    /// Handles of the results, or of the target if the op has changed it.
    pub fn values(&self, call: &Call<'_, '_>) -> Vec<ArrayValue> {
        match self {
            Outputs::One(x) => vec![x.clone()],
            Outputs::Many(all) => all.clone(),
            Outputs::Target => call.target().map(ArrayValue::of).into_iter().collect(),
        }
    }

    /// The output of an op with one result.
    pub fn one<R: ToValue>(call: &Call<'_, '_>, result: Result<R>) -> Result<Outputs> {
        Ok(Outputs::One(result?.to_value(call)?))
    }

    /// The outputs of an op with several results.
    pub fn many<R: ToValue>(call: &Call<'_, '_>, results: Result<impl IntoIterator<Item = R>>) -> Result<Outputs> {
        let results = results?.into_iter();
        let mut values = crate::rules::list(call.op, results.size_hint().0)?;
        for result in results {
            values.push(result.to_value(call)?);
        }
        Ok(Outputs::Many(values))
    }
}

impl std::fmt::Debug for ArrayValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ArrayValue::Numpyish(x) => x.fmt(f),
            #[cfg(feature = "cuda")]
            ArrayValue::Cuda(x) => x.fmt(f),
            #[cfg(feature = "torch")]
            ArrayValue::Torch(x) => x.fmt(f),
        }
    }
}
