//! Support for backends that wrap another backend: the functions that their generated methods call before and after
//! each op.

use crate::{
    ArrayAttributes, Arrays, DType, Element, Index, Indices, Number, OpInfo, Operand, Result, by_name::ToLiteral,
};
use std::any::Any;

/// Calls `f`, which is rarely needed. This function is never inlined, so that the common path stays short.
#[doc(hidden)]
#[cold]
#[inline(never)]
pub fn rarely<R>(f: impl FnOnce() -> Result<R>) -> Result<R> {
    f()
}

/// A backend whose ops run on another backend. The methods that are generated for a backend with `wrap = true` call the
/// methods of this trait.
pub trait Wrap: Arrays {
    /// The wrapped backend.
    type Within: Arrays;

    /// State that exists while a call runs. It is dropped when the call ends, even if the call ends with an error.
    type Running;

    /// Returns the backend that runs the ops.
    fn within(&self) -> &Self::Within;

    /// Begins a call. If this function returns an error, the op does not run.
    ///
    /// # Errors
    /// Errors of the backend.
    fn begin(&self, call: &Call<'_>) -> Result<Self::Running>;

    /// Converts an array of this backend to an array of the wrapped backend.
    ///
    /// # Errors
    /// If the array has no counterpart in the wrapped backend.
    fn open<'a, T: Element>(
        &'a self,
        op: &'static str,
        x: &'a Self::Array<T>,
    ) -> Result<&'a <Self::Within as Arrays>::Array<T>>;

    /// Converts the result of an op to an array of this backend.
    ///
    /// # Errors
    /// If the backend refuses the result.
    fn close<T: Element>(
        &self,
        running: &mut Self::Running,
        x: <Self::Within as Arrays>::Array<T>,
    ) -> Result<Self::Array<T>>;

    /// Changes an array of this backend by `f`, a function that changes an array of the wrapped backend.
    ///
    /// The default changes a copy. An implementation that can pass the array itself makes no copy.
    ///
    /// # Errors
    /// Errors of the function.
    fn change<T: Element>(
        &self,
        running: &mut Self::Running,
        op: &'static str,
        x: &mut Self::Array<T>,
        f: impl FnOnce(&mut <Self::Within as Arrays>::Array<T>) -> Result<()>,
    ) -> Result<()> {
        let mut within = self.open(op, x)?.clone();
        f(&mut within)?;
        *x = self.close(running, within)?;
        Ok(())
    }

    /// Converts an operand to an operand of the wrapped backend.
    ///
    /// # Errors
    /// The errors of [`Wrap::open`].
    fn open_operand<'a, T: Element>(
        &'a self,
        op: &'static str,
        x: &'a Operand<'_, Self, T>,
    ) -> Result<Operand<'a, Self::Within, T>> {
        Ok(match x {
            Operand::Array(x) => Operand::array(self.open(op, x)?),
            Operand::Scalar(x) => Operand::Scalar(*x),
        })
    }

    /// Converts a list of arrays to arrays of the wrapped backend.
    ///
    /// # Errors
    /// The errors of [`Wrap::open`].
    fn open_all<'a, T: Element>(
        &'a self,
        op: &'static str,
        arrays: &[&'a Self::Array<T>],
    ) -> Result<Vec<&'a <Self::Within as Arrays>::Array<T>>> {
        let mut all = Vec::with_capacity(arrays.len());
        for x in arrays {
            all.push(self.open(op, x)?);
        }
        Ok(all)
    }

    /// Converts a list of indices of this backend to a list of indices of the wrapped backend.
    ///
    /// # Errors
    /// The errors of [`Wrap::open`].
    fn open_indices<'a>(
        &'a self,
        op: &'static str,
        indices: Indices<'a, Self>,
    ) -> Result<Vec<Index<'a, Self::Within>>> {
        indices.on::<Self::Within>(|x| self.open(op, x), |x| self.open(op, x))
    }
}

/// A call of an op, as it is passed to the backend when the call begins.
#[derive(Debug)]
pub struct Call<'a> {
    /// The op; `None` for calls that are not ops: a formula, or a copy from or to the host.
    pub info: Option<&'static OpInfo>,
    /// The op's name; `expr!` for a formula.
    pub op: &'static str,
    /// The text of the formula, if the call is a formula, a reduction of a formula, or the gradient of a formula.
    pub formula: Option<&'a str>,
    /// The dtype `T` of the op.
    pub dtype: DType,
    /// The dtype `U`, if the op has a second dtype.
    pub to: Option<DType>,
    /// True if the op is composed of other ops, each of which is a separate call inside this call.
    pub is_composed: bool,
    /// The parameters with their arguments, including the defaults of options.
    pub args: &'a [(&'static str, Arg<'a>)],
}

/// The argument of a parameter.
#[derive(Debug)]
pub enum Arg<'a> {
    /// An array.
    Array(&'a dyn AnyTyped),
    /// A host array that becomes an array of the backend.
    Host(&'a dyn AnyTyped),
    /// A list of arrays.
    Arrays(Vec<&'a dyn AnyTyped>),
    /// A list of indices.
    Index(Vec<IndexArg<'a>>),
    /// A number of the op's dtype.
    Number(Number),
    /// Any other argument, which can be written as a literal.
    Plain(&'a dyn ToLiteral),
    /// An omitted option.
    Absent,
}

/// An item of a list of indices.
#[derive(Debug)]
pub enum IndexArg<'a> {
    /// An array of indices, or a mask.
    Array(&'a dyn AnyTyped),
    /// A slice, an index, `NewAxis` or `...`.
    Plain(String),
}

/// An array without its static type, as a trait object. The methods return its shape and its dtype.
pub trait AnyTyped {
    /// Returns the lengths of the axes.
    fn lengths(&self) -> &[usize];

    /// Returns the dtype of the elements.
    fn element(&self) -> DType;

    /// Returns the array, for downcasting.
    fn as_any(&self) -> &dyn Any;
}

impl<A: ArrayAttributes + 'static> AnyTyped for A {
    fn lengths(&self) -> &[usize] {
        self.shape()
    }

    fn element(&self) -> DType {
        A::DType::dtype()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl std::fmt::Debug for dyn AnyTyped + '_ {
    /// Writes dtype and shape, such as `float64[2, 3]`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{:?}", self.element(), self.lengths())
    }
}

impl<'a> IndexArg<'a> {
    fn array<A: ArrayAttributes + 'static>(x: &'a A) -> IndexArg<'a> {
        IndexArg::Array(x)
    }
}

impl<'a> Arg<'a> {
    /// Makes the argument of a parameter that is an array.
    #[inline]
    pub fn array<A: ArrayAttributes + 'static>(x: &'a A) -> Arg<'a> {
        Arg::Array(x)
    }

    /// Makes the argument of a parameter that is an optional array; [`Arg::Absent`] if there is no array.
    #[inline]
    pub fn optional<A: ArrayAttributes + 'static>(x: Option<&'a A>) -> Arg<'a> {
        x.map_or(Arg::Absent, Arg::array)
    }

    /// Makes the argument of a parameter that is an array or a number.
    #[inline]
    pub fn operand<B: Arrays, T: Element>(x: &'a Operand<'_, B, T>) -> Arg<'a> {
        match x {
            Operand::Array(x) => Arg::array(&**x),
            Operand::Scalar(x) => Arg::Number(Number::of(*x)),
        }
    }

    /// Makes the argument of a parameter that is a list of arrays.
    pub fn arrays<A: ArrayAttributes + 'static>(xs: &[&'a A]) -> Arg<'a> {
        Arg::Arrays(xs.iter().map(|x| *x as &dyn AnyTyped).collect())
    }

    /// Makes the argument of a parameter that is a list of indices.
    pub fn index<B: Arrays>(items: Indices<'a, B>) -> Arg<'a> {
        let item = |item| match item {
            Index::Array(x) => IndexArg::array(x),
            Index::Mask(x) => IndexArg::array(x),
            Index::Slice(slice) => IndexArg::Plain(ToLiteral::text(&slice)),
            Index::New => IndexArg::Plain("NewAxis".into()),
            Index::Rest => IndexArg::Plain("...".into()),
        };
        Arg::Index(items.iter().map(item).collect())
    }
}

/// Implements the methods of [`Arrays`](crate::Arrays) that a wrapper forwards to the wrapped backend. They concern the
/// device and its memory. Use this macro inside the wrapper's `impl`.
#[macro_export]
macro_rules! forward_to_within {
    () => {
        fn device(&self) -> ::std::string::String {
            $crate::Arrays::device($crate::Wrap::within(self))
        }

        fn device_info(&self) -> $crate::Result<$crate::DeviceInfo> {
            $crate::Arrays::device_info($crate::Wrap::within(self))
        }

        fn memory(&self) -> $crate::Result<$crate::MemoryInfo> {
            $crate::Arrays::memory($crate::Wrap::within(self))
        }

        fn reset_peak_memory(&self) -> $crate::Result<()> {
            $crate::Arrays::reset_peak_memory($crate::Wrap::within(self))
        }

        fn free_cache(&self) -> $crate::Result<()> {
            $crate::Arrays::free_cache($crate::Wrap::within(self))
        }

        fn synchronize(&self) -> $crate::Result<()> {
            $crate::Arrays::synchronize($crate::Wrap::within(self))
        }
    };
}
