//! Reads the arguments of a call by name for library functions that take arrays of any dtype. Such an array is called
//! raw: its dtype is a value, not a type.

use super::{Args, DynArray, Value};
use crate::{
    Arrays, DType, Element, Error, Result, dispatch,
    raw::{RawElement, RawOperand},
    rules,
};

/// A backend whose arrays wrap raw arrays of a library, and add the dtype as a type parameter.
pub trait RawArrays: Arrays {
    /// A raw array of the library, whose dtype is a value.
    type Raw: Clone;

    /// Returns the raw array that `x` wraps.
    fn raw<T: Element>(x: &Self::Array<T>) -> &Self::Raw;

    /// Wraps a raw array of the library. Returns an error that names the op if the array's dtype is not `T`.
    fn typed<T: Element>(op: &'static str, raw: Self::Raw) -> Result<Self::Array<T>>;

    /// Returns the dtype of the array.
    fn dtype(op: &'static str, raw: &Self::Raw) -> Result<DType>;
}

/// A function that reads the arguments of a call by name and calls the library's function for the op.
pub type RawCall<L> = fn(&L, &Args<'_, L>) -> Result<Value<L>>;

/// A library whose functions take raw arrays, which may have any dtype.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RawLibrary {
    /// NVIDIA GPUs.
    Cuda,
    /// libtorch.
    Torch,
}

/// An array argument, which was given as an array or made from numbers.
#[derive(Debug)]
pub enum RawArg<'a, A> {
    /// An array of the call.
    Given(&'a A),
    /// An array made from the numbers of the argument.
    Made(A),
}

impl<A> RawArg<'_, A> {
    /// Returns the array.
    pub fn raw(&self) -> &A {
        match self {
            RawArg::Given(x) => x,
            RawArg::Made(x) => x,
        }
    }
}

impl<A: Clone> RawArg<'_, A> {
    /// Returns an owned handle of the array.
    pub fn into_raw(self) -> A {
        match self {
            RawArg::Given(x) => x.clone(),
            RawArg::Made(x) => x,
        }
    }
}

/// An argument that is an array or a number.
#[derive(Debug)]
pub enum RawOperandArg<'a, A> {
    /// An array.
    Array(RawArg<'a, A>),
    /// A number.
    Scalar(RawElement),
}

impl<A> RawOperandArg<'_, A> {
    /// Returns the operand, in the form that the library's function takes.
    pub fn operand(&self) -> RawOperand<'_, A> {
        match self {
            RawOperandArg::Array(x) => RawOperand::Array(x.raw()),
            RawOperandArg::Scalar(x) => RawOperand::Scalar(*x),
        }
    }
}

/// Returns the arrays of a list of arguments.
pub fn raw_list<'a, A>(list: &'a [RawArg<'_, A>]) -> Vec<&'a A> {
    list.iter().map(RawArg::raw).collect()
}

impl<'a, L: RawArrays> Args<'a, L> {
    /// Reads a parameter as an array of this dtype. Its value may be an array, a number, or nested lists of numbers.
    pub fn raw_array(&self, param: usize, dtype: DType) -> Result<RawArg<'a, L::Raw>> {
        self.raw_of(param, self.values[param].unwrap_or(&Value::None), dtype)
    }

    fn raw_of(&self, param: usize, value: &'a Value<L>, dtype: DType) -> Result<RawArg<'a, L::Raw>> {
        match value {
            Value::Array(x) => dispatch!(dtype, T => {
                let wrong = || self.wrong(self.op.params[param].name, value, &format!("an array of {dtype}"));
                x.get::<T>().map(|x| RawArg::Given(L::raw(x))).ok_or_else(wrong)
            }),
            _ => dispatch!(dtype, T => Ok(RawArg::Made(L::raw(&self.made::<T>(param, value)?).clone()))),
        }
    }

    /// Reads a parameter as an array of this dtype, if the call gives it.
    pub fn optional_raw_array(&self, param: usize, dtype: DType) -> Result<Option<RawArg<'a, L::Raw>>> {
        self.find(param).map(|_| self.raw_array(param, dtype)).transpose()
    }

    /// Reads a parameter as a list of arrays of this dtype.
    pub fn raw_arrays(&self, param: usize, dtype: DType) -> Result<Vec<RawArg<'a, L::Raw>>> {
        let name = self.op.params[param].name;
        let value = self.values[param].unwrap_or(&Value::None);
        let Value::List(items) = value else {
            return Err(self.wrong(name, value, &format!("a list of arrays of {dtype}")));
        };
        items.iter().map(|item| self.raw_of(param, item, dtype)).collect()
    }

    /// Reads a parameter as an operand of this dtype: an array or a number.
    pub fn raw_operand(&self, param: usize, dtype: DType) -> Result<RawOperandArg<'a, L::Raw>> {
        match self.values[param] {
            Some(Value::Array(_) | Value::List(_)) | None => self.raw_array(param, dtype).map(RawOperandArg::Array),
            Some(_) => self.raw_scalar(param, dtype).map(RawOperandArg::Scalar),
        }
    }

    /// Reads a parameter as a lower bound. If the call gives no bound, returns the lowest value of the dtype.
    pub fn raw_lower_bound(&self, param: usize, dtype: DType) -> Result<RawOperandArg<'a, L::Raw>> {
        self.raw_bound(param, dtype, false)
    }

    /// Reads a parameter as an upper bound. If the call gives no bound, returns the highest value of the dtype.
    pub fn raw_upper_bound(&self, param: usize, dtype: DType) -> Result<RawOperandArg<'a, L::Raw>> {
        self.raw_bound(param, dtype, true)
    }

    fn raw_bound(&self, param: usize, dtype: DType, upper: bool) -> Result<RawOperandArg<'a, L::Raw>> {
        use crate::Ordered;
        if !matches!(self.values[param], Some(Value::None | Value::All) | None) {
            return self.raw_operand(param, dtype);
        }
        let open: Result<RawElement> = dispatch!(dtype, T: [
            Bool, Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64, Float16, BFloat16, Float32, Float64
        ] => Ok(RawElement::of(if upper { T::HIGHEST } else { T::LOWEST })));
        open.map(RawOperandArg::Scalar).map_err(|_| Error::dtype(self.op.name, dtype))
    }

    /// Reads a parameter as a number of this dtype.
    pub fn raw_scalar(&self, param: usize, dtype: DType) -> Result<RawElement> {
        dispatch!(dtype, T => self.scalar::<T>(param).map(RawElement::of))
    }

    /// Converts a raw array, which a library's function has returned, to a value.
    pub fn raw_value(&self, x: L::Raw) -> Result<Value<L>> {
        let op = self.op.name;
        dispatch!(L::dtype(op, &x)?, T => Ok(Value::Array(DynArray::of::<T>(L::typed::<T>(op, x)?))))
    }

    /// Converts raw arrays, which a library's function has returned, to a value that is a list of arrays.
    pub fn raw_values(&self, arrays: impl IntoIterator<Item = L::Raw>) -> Result<Value<L>> {
        let arrays = arrays.into_iter();
        let mut values = rules::list(self.op.name, arrays.size_hint().0)?;
        for x in arrays {
            values.push(self.raw_value(x)?);
        }
        Ok(Value::List(values))
    }
}
