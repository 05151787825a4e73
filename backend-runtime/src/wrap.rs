//! Backends that wrap another: what their generated methods do around each op.

use crate::{
    ArrayAttributes, Arrays, DType, Element, Index, Indices, Number, OpInfo, Operand, Result, by_name::ToLiteral,
};
use std::any::Any;

/// Calls a function that is rarely called, in code of its own.
#[doc(hidden)]
#[cold]
#[inline(never)]
pub fn rarely<R>(f: impl FnOnce() -> Result<R>) -> Result<R> {
    f()
}

/// A backend whose ops run on another. The generated methods of a column with `wrap = true` call these.
pub trait Wrap: Arrays {
    /// The backend that is wrapped.
    type Within: Arrays;

    /// What is kept of a call while it runs; it is dropped when the call has ended, in an error too.
    type Running;

    /// The backend that runs the ops.
    fn within(&self) -> &Self::Within;

    /// A call begins; an error refuses it.
    ///
    /// # Errors
    /// What the backend refuses.
    fn begin(&self, call: &Call<'_>) -> Result<Self::Running>;

    /// An array of that backend, of one of this.
    ///
    /// # Errors
    /// Where it has none.
    fn open<'a, T: Element>(
        &'a self,
        op: &'static str,
        x: &'a Self::Array<T>,
    ) -> Result<&'a <Self::Within as Arrays>::Array<T>>;

    /// An array of this backend, of the result of an op.
    ///
    /// # Errors
    /// Where the result is refused.
    fn close<T: Element>(
        &self,
        running: &mut Self::Running,
        x: <Self::Within as Arrays>::Array<T>,
    ) -> Result<Self::Array<T>>;

    /// Changes an array of this backend, by a function over that of the backend within.
    ///
    /// The default changes a copy of it; where the array itself can be given, nothing is copied.
    ///
    /// # Errors
    /// Those of the function.
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

    /// An operand of the backend that is wrapped.
    ///
    /// # Errors
    /// As those of [`Wrap::open`].
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
}

/// A call of an op, as it begins.
#[derive(Debug)]
pub struct Call<'a> {
    /// The row; none of what is no op: a formula, or a copy from or to the host.
    pub info: Option<&'static OpInfo>,
    /// Its name: `expr!` of a formula.
    pub op: &'static str,
    /// The text of the formula, where it is one, a reduction of one, or the gradient of one.
    pub formula: Option<&'a str>,
    /// The dtype `T` of the row.
    pub dtype: DType,
    /// The dtype `U`, of a row that has one.
    pub to: Option<DType>,
    /// Whether the row is made of other ops, which are calls of their own within this one.
    pub is_composed: bool,
    /// The parameters with what is given for them, options with their defaults.
    pub args: &'a [(&'static str, Arg<'a>)],
}

/// What is given for a parameter.
#[derive(Debug)]
pub enum Arg<'a> {
    /// An array.
    Array(&'a dyn AnyTyped),
    /// An array of the host that becomes one of the backend.
    Host(&'a dyn AnyTyped),
    /// A list of arrays.
    Arrays(Vec<&'a dyn AnyTyped>),
    /// A list of indices.
    Index(Vec<IndexArg<'a>>),
    /// A number of the row's dtype.
    Number(Number),
    /// Anything else, which can be written down.
    Plain(&'a dyn ToLiteral),
    /// An option that is not given.
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

/// An array whose type is not known, but its attributes are.
pub trait AnyTyped {
    /// Lengths of the axes.
    fn lengths(&self) -> &[usize];

    /// The dtype of its elements.
    fn element(&self) -> DType;

    /// The array, for who knows its type.
    fn as_any(&self) -> &dyn Any;
}

impl<A: ArrayAttributes + 'static> AnyTyped for A {
    fn lengths(&self) -> &[usize] {
        self.shape()
    }

    fn element(&self) -> DType {
        A::DType::DTYPE
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl std::fmt::Debug for dyn AnyTyped + '_ {
    /// `float64[2, 3]`
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
    /// An array.
    #[inline]
    pub fn array<A: ArrayAttributes + 'static>(x: &'a A) -> Arg<'a> {
        Arg::Array(x)
    }

    /// An array that need not be given.
    #[inline]
    pub fn optional<A: ArrayAttributes + 'static>(x: Option<&'a A>) -> Arg<'a> {
        x.map_or(Arg::Absent, Arg::array)
    }

    /// An array or a number.
    #[inline]
    pub fn operand<B: Arrays, T: Element>(x: &'a Operand<'_, B, T>) -> Arg<'a> {
        match x {
            Operand::Array(x) => Arg::array(&**x),
            Operand::Scalar(x) => Arg::Number(Number::of(*x)),
        }
    }

    /// A list of arrays.
    pub fn arrays<A: ArrayAttributes + 'static>(xs: &[&'a A]) -> Arg<'a> {
        Arg::Arrays(xs.iter().map(|x| *x as &dyn AnyTyped).collect())
    }

    /// A list of indices.
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

/// The methods of [`Arrays`](crate::Arrays) in which a wrapper is the backend within it: device and memory. It stands in the implementation of the trait.
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
