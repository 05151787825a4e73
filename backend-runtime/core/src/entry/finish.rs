//! Converts arrays with a static dtype to arguments of entries, and results of entries to such arrays.

use super::{Arg, ArrayRef, ArrayValue, Call, IndexItem, Outputs, Row};
use crate::{Arrays, Axes, DType, Element, Error, Index, Indices, Lengths, Number, Operand, Result, Slice, rules};
use std::borrow::Cow;

/// Runs the entry of a row on a backend, with an argument for each parameter of the row.
pub fn run<B: Arrays>(b: &B, row: &'static Row, (dtype, to): (DType, DType), args: &mut [Arg<'_>]) -> Result<Outputs> {
    b.run_row(row, &mut Call::new(row, dtype, args).with_to(to))
}

/// Converts the result of an op to an array.
#[inline]
pub fn one<B: Arrays, T: Element>(op: &'static str, outputs: Outputs) -> Result<B::Array<T>> {
    match outputs {
        Outputs::One(x) => B::of_value::<T>(op, x),
        _ => Err(several(op)),
    }
}

/// Converts the results of an op to a list of arrays.
pub fn list<B: Arrays, T: Element>(op: &'static str, outputs: Outputs) -> Result<Vec<B::Array<T>>> {
    let values = values(op, outputs)?;
    let mut all = rules::list(op, values.len())?;
    for x in values {
        all.push(B::of_value::<T>(op, x)?);
    }
    Ok(all)
}

/// Returns the results of an op with several results.
pub fn fields(op: &'static str, outputs: Outputs) -> Result<impl Iterator<Item = ArrayValue>> {
    values(op, outputs).map(Vec::into_iter)
}

/// Converts the next result of an op with several results to an array.
pub fn field<B: Arrays, T: Element>(
    op: &'static str,
    values: &mut dyn Iterator<Item = ArrayValue>,
) -> Result<B::Array<T>> {
    B::of_value::<T>(op, values.next().ok_or_else(|| several(op))?)
}

fn values(op: &'static str, outputs: Outputs) -> Result<Vec<ArrayValue>> {
    match outputs {
        Outputs::Many(all) => Ok(all),
        _ => Err(several(op)),
    }
}

#[cold]
#[inline(never)]
fn several(op: &'static str) -> Error {
    Error::argument(op, "its entry returned another number of results than the row states")
}

fn reference<B: Arrays, T: Element>(x: &B::Array<T>) -> Option<ArrayRef<'_>> {
    B::array_ref::<T>(x)
}

impl<'a> Arg<'a> {
    /// An array.
    #[inline]
    pub fn array<B: Arrays, T: Element>(x: &'a B::Array<T>) -> Arg<'a> {
        B::array_ref::<T>(x).map_or(Arg::Absent, Arg::Array)
    }

    /// An array that may be absent.
    #[inline]
    pub fn optional<B: Arrays, T: Element>(x: Option<&'a B::Array<T>>) -> Arg<'a> {
        x.map_or(Arg::Absent, |x| Arg::array::<B, T>(x))
    }

    /// An array. If it is passed by value, the result may overwrite it.
    #[inline]
    pub fn given<B: Arrays, T: Element>(x: &'a mut Cow<'_, B::Array<T>>) -> Arg<'a> {
        match x {
            Cow::Owned(x) => B::array_mut::<T>(x).map_or(Arg::Absent, Arg::Given),
            Cow::Borrowed(x) => Arg::array::<B, T>(x),
        }
    }

    /// An array that the op changes in place.
    #[inline]
    pub fn target<B: Arrays, T: Element>(x: &'a mut B::Array<T>) -> Arg<'a> {
        B::array_mut::<T>(x).map_or(Arg::Absent, Arg::Target)
    }

    /// An array or a number. If an array is passed by value, the result may overwrite it.
    #[inline]
    pub fn operand<B: Arrays, T: Element>(x: &'a mut Operand<'_, B, T>) -> Arg<'a> {
        match x {
            Operand::Array(x) => Arg::given::<B, T>(x),
            Operand::Scalar(x) => Arg::Element(x.to_raw()),
        }
    }

    /// A list of arrays.
    pub fn arrays<B: Arrays, T: Element>(xs: &[&'a B::Array<T>]) -> Arg<'a> {
        Arg::Arrays(xs.iter().filter_map(|x| reference::<B, T>(x)).collect())
    }

    /// A list of indices.
    pub fn index<B: Arrays>(indices: Indices<'a, B>) -> Arg<'a> {
        let item = |item| match item {
            Index::Slice(slice) => IndexItem::Slice(slice),
            Index::New => IndexItem::New,
            Index::Rest => IndexItem::Rest,
            Index::Array(x) => B::array_ref::<i64>(x).map_or(IndexItem::Rest, IndexItem::Array),
            Index::Mask(x) => B::array_ref::<bool>(x).map_or(IndexItem::Rest, IndexItem::Mask),
        };
        Arg::Index(indices.iter().map(item).collect())
    }

    /// A number of the dtype of the call.
    #[inline]
    pub fn element<T: Element>(x: T) -> Arg<'a> {
        Arg::Element(x.to_raw())
    }
}

macro_rules! from {
    ($($t:ty => |$x:ident| $arg:expr;)*) => {$(
        impl<'a> From<$t> for Arg<'a> {
            #[inline]
            fn from($x: $t) -> Arg<'a> {
                $arg
            }
        }
    )*};
}
from! {
    &'a Axes => |x| Arg::Axes(x);
    &'a Lengths => |x| Arg::Lengths(x);
    &'a Number => |x| Arg::Number(x);
    bool => |x| Arg::Bool(x);
    f64 => |x| Arg::Real(x);
    isize => |x| Arg::Integer(x as u64);
    usize => |x| Arg::Integer(x as u64);
    i64 => |x| Arg::Integer(x as u64);
    u64 => |x| Arg::Integer(x);
    &'a [usize] => |x| Arg::Usizes(x);
    &'a [isize] => |x| Arg::Isizes(x);
    &'a [Slice] => |x| Arg::Slices(x);
    &'a [u8] => |x| Arg::Bytes(x);
    &'a str => |x| Arg::Text(x);
}

impl<'a, X: Into<Arg<'a>>> From<Option<X>> for Arg<'a> {
    #[inline]
    fn from(x: Option<X>) -> Arg<'a> {
        x.map_or(Arg::Absent, Into::into)
    }
}
