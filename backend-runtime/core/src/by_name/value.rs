//! Arguments and results of calls by name.

use super::DynArray;
use crate::{
    Arrays, Axes, Complex, DType, DTypeKind, Element, Lengths, NewAxis, Number, Result, Slice, Widths, precision, rules,
};
use std::{fmt, ops::RangeFull};

/// An argument or a result of a call by name.
#[derive(Clone)]
#[non_exhaustive]
pub enum Value<B: Arrays> {
    /// An array.
    Array(DynArray<B>),
    /// `true` or `false`.
    Bool(bool),
    /// An integer: a length, an axis, or a scalar of any dtype except bool, if the dtype can represent it.
    Integer(i128),
    /// A real number.
    Float(f64),
    /// A complex number.
    Complex(Complex<f64>),
    /// The name of a choice or of a dtype: `"ortho"`, `"float32"`.
    Text(String),
    /// A list of axes, of lengths, of arrays, or of numbers that become an array.
    List(Vec<Value<B>>),
    /// A range of indices along an axis.
    Slice(Slice),
    /// Bytes, for ops that read an array from bytes.
    Bytes(Vec<u8>),
    /// `..`, which means all axes or a whole axis.
    All,
    /// A new axis, in a list of indices.
    New,
    /// All axes that no other item indexes: `...`.
    Rest,
    /// An omitted option.
    None,
}

impl<B: Arrays> Value<B> {
    /// Wraps a typed array as a value.
    pub fn array<T: Element>(x: B::Array<T>) -> Value<B> {
        Value::Array(DynArray::of::<T>(x))
    }

    /// Converts several results of an op to a value that is a list; `value` converts one of them. Returns an error if
    /// the memory for the list cannot be allocated.
    pub fn list<X>(op: &'static str, results: Vec<X>, value: impl Fn(X) -> Value<B>) -> Result<Value<B>> {
        let mut list = rules::list(op, results.len())?;
        list.extend(results.into_iter().map(value));
        Ok(Value::List(list))
    }

    /// Returns the array if the value is an array, and otherwise `None`.
    pub fn as_array(&self) -> Option<&DynArray<B>> {
        match self {
            Value::Array(x) => Some(x),
            _ => None,
        }
    }

    /// Returns the default dtype of the value, if it is a number or a list of numbers: int64, bool, or a dtype of the
    /// current [`precision`].
    pub(super) fn number_dtype(&self) -> Option<DType> {
        match self {
            Value::Bool(_) => Some(DType::Bool),
            Value::Integer(_) => Some(DType::Int64),
            Value::Float(_) => Some(precision()),
            Value::Complex(_) => Some(precision().to_complex()),
            Value::List(items) => {
                let rank = |dtype: &DType| dtype.kind();
                let dtypes: Option<Vec<DType>> = items.iter().map(Value::number_dtype).collect();
                dtypes?.into_iter().max_by_key(rank).or(Some(precision()))
            }
            _ => None,
        }
    }

    /// Converts the value, if it is a number, to an element of `T`. Returns `None` if `T` cannot represent the number,
    /// because a fraction would be lost or an integer would wrap around.
    pub(super) fn element<T: Element>(&self) -> Option<T> {
        let kind = T::dtype().kind();
        match *self {
            Value::Bool(x) => (kind == DTypeKind::Bool).then(|| T::from_i64(x.into())),
            Value::Integer(x) => match kind {
                DTypeKind::Bool => None,
                DTypeKind::Signed | DTypeKind::Unsigned => {
                    let bits = 8 * T::dtype().size() as u32;
                    let (least, most) = match kind {
                        DTypeKind::Signed => (-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1),
                        _ => (0, (1_i128 << bits) - 1),
                    };
                    // the integer is in range, so its low 64 bits determine the element
                    (least..=most).contains(&x).then(|| T::from_u64(x as u64))
                }
                DTypeKind::Real | DTypeKind::Complex => Some(T::from_f64(x as f64)),
            },
            Value::Float(x) => matches!(kind, DTypeKind::Real | DTypeKind::Complex).then(|| T::from_f64(x)),
            Value::Complex(x) => (kind == DTypeKind::Complex).then(|| T::from_complex(x)),
            _ => None,
        }
    }

    /// Describes the value briefly for error messages: "an array of float64".
    pub(super) fn what(&self) -> String {
        match self {
            Value::Array(x) => format!("an array of {}", x.dtype()),
            Value::Bool(x) => x.to_string(),
            Value::Integer(x) => x.to_string(),
            Value::Float(x) => format!("{x:?}"),
            Value::Complex(x) => x.to_string(),
            Value::Text(x) => format!("`{x}`"),
            Value::List(items) => format!("a list of {}", items.len()),
            Value::Slice(_) => "a slice".into(),
            Value::Bytes(bytes) => format!("{} bytes", bytes.len()),
            Value::All => "`..`".into(),
            Value::New => "`NewAxis`".into(),
            Value::Rest => "`...`".into(),
            Value::None => "nothing".into(),
        }
    }
}

macro_rules! from {
    ($($t:ty => |$x:ident| $value:expr;)*) => {$(
        impl<B: Arrays> From<$t> for Value<B> {
            fn from($x: $t) -> Value<B> {
                $value
            }
        }
    )*};
}
from! {
    bool => |x| Value::Bool(x);
    i32 => |x| Value::Integer(x.into());
    i64 => |x| Value::Integer(x.into());
    u64 => |x| Value::Integer(x.into());
    isize => |x| Value::Integer(x as i128);
    usize => |x| Value::Integer(x as i128);
    f64 => |x| Value::Float(x);
    Complex<f64> => |x| Value::Complex(x);
    &str => |x| Value::Text(x.into());
    String => |x| Value::Text(x);
    DType => |x| Value::Text(x.name().into());
    Slice => |x| Value::Slice(x);
    DynArray<B> => |x| Value::Array(x);
    RangeFull => |_x| Value::All;
    NewAxis => |_x| Value::New;
}

impl<B: Arrays, V: Into<Value<B>>> From<Vec<V>> for Value<B> {
    fn from(items: Vec<V>) -> Value<B> {
        Value::List(items.into_iter().map(Into::into).collect())
    }
}

impl<B: Arrays, V: Into<Value<B>>, const N: usize> From<[V; N]> for Value<B> {
    fn from(items: [V; N]) -> Value<B> {
        Value::List(items.into_iter().map(Into::into).collect())
    }
}

/// Conversion of a [`Value`] to a parameter other than an array.
pub trait FromValue: Sized {
    /// Describes the values that the type accepts, for error messages: "an integer".
    fn wanted() -> String;

    /// Converts a value to this type; `None` if the type does not accept it.
    fn from_value<B: Arrays>(value: &Value<B>) -> Option<Self>;
}

macro_rules! integers {
    ($($t:ty: $wanted:literal),*) => {$(
        impl FromValue for $t {
            fn wanted() -> String {
                $wanted.into()
            }

            fn from_value<B: Arrays>(value: &Value<B>) -> Option<$t> {
                match value {
                    Value::Integer(x) => (*x).try_into().ok(),
                    _ => None,
                }
            }
        }
    )*};
}
integers!(isize: "an integer", i64: "an integer", usize: "an integer of 0 or more", u64: "an integer of 0 or more");

impl FromValue for f64 {
    fn wanted() -> String {
        "a number".into()
    }

    fn from_value<B: Arrays>(value: &Value<B>) -> Option<f64> {
        match value {
            Value::Integer(x) => Some(*x as f64),
            Value::Float(x) => Some(*x),
            _ => None,
        }
    }
}

impl FromValue for Number {
    fn wanted() -> String {
        "a number".into()
    }

    fn from_value<B: Arrays>(value: &Value<B>) -> Option<Number> {
        match value {
            Value::Bool(x) => Some(Number::Bool(*x)),
            Value::Integer(x) => Some(Number::Integer(*x)),
            Value::Float(x) => Some(Number::Real(*x)),
            Value::Complex(x) => Some(Number::Complex(*x)),
            _ => None,
        }
    }
}

impl FromValue for Widths {
    fn wanted() -> String {
        "a number, a pair or a list of pairs of integers of 0 or more".into()
    }

    fn from_value<B: Arrays>(value: &Value<B>) -> Option<Widths> {
        let nested = match value {
            Value::List(items) => items.iter().map(|item| match item {
                Value::List(pair) if pair.len() == 2 => Vec::from_value(item),
                _ => None,
            }),
            _ => return Vec::from_value(value).map(Widths),
        };
        let pairs: Option<Vec<Vec<usize>>> = nested.collect();
        pairs
            .filter(|pairs| !pairs.is_empty())
            .map(|pairs| pairs.concat())
            .or_else(|| Vec::from_value(value))
            .map(Widths)
    }
}

impl FromValue for bool {
    fn wanted() -> String {
        "true or false".into()
    }

    fn from_value<B: Arrays>(value: &Value<B>) -> Option<bool> {
        match value {
            Value::Bool(x) => Some(*x),
            _ => None,
        }
    }
}

macro_rules! lists {
    ($($t:ty: $wanted:literal),*) => {$(
        impl FromValue for Vec<$t> {
            fn wanted() -> String {
                $wanted.into()
            }

            /// A single number counts as a list of length 1.
            fn from_value<B: Arrays>(value: &Value<B>) -> Option<Vec<$t>> {
                match value {
                    Value::List(items) => items.iter().map(FromValue::from_value).collect(),
                    one => <$t>::from_value(one).map(|x| vec![x]),
                }
            }
        }
    )*};
}
lists!(isize: "a list of integers", usize: "a list of integers of 0 or more", Slice: "a list of slices and indices");

impl FromValue for Slice {
    fn wanted() -> String {
        "a slice or an index".into()
    }

    fn from_value<B: Arrays>(value: &Value<B>) -> Option<Slice> {
        match value {
            Value::Slice(slice) => Some(*slice),
            Value::All => Some(Slice::ALL),
            Value::Integer(x) => Some(Slice { start: Some(*x), drop: true, ..Slice::ALL }),
            _ => None,
        }
    }
}

impl FromValue for Axes {
    fn wanted() -> String {
        "an axis, a list of axes, or `..` for all".into()
    }

    fn from_value<B: Arrays>(value: &Value<B>) -> Option<Axes> {
        match value {
            Value::All | Value::None => Some(Axes::All),
            other => Vec::<isize>::from_value(other).map(Axes::from),
        }
    }
}

impl FromValue for Option<isize> {
    fn wanted() -> String {
        "an axis, or `..` for the array as one row".into()
    }

    fn from_value<B: Arrays>(value: &Value<B>) -> Option<Option<isize>> {
        match value {
            Value::All | Value::None => Some(None),
            other => isize::from_value(other).map(Some),
        }
    }
}

impl FromValue for Lengths {
    fn wanted() -> String {
        "a list of lengths".into()
    }

    fn from_value<B: Arrays>(value: &Value<B>) -> Option<Lengths> {
        Vec::<usize>::from_value(value).map(Lengths::from)
    }
}

impl FromValue for DType {
    fn wanted() -> String {
        "the name of a dtype, such as \"float32\"".into()
    }

    fn from_value<B: Arrays>(value: &Value<B>) -> Option<DType> {
        match value {
            Value::Text(name) => name.parse().ok(),
            _ => None,
        }
    }
}

/// implemented manually, because a derived implementation would require `B: Debug`
impl<B: Arrays> fmt::Debug for Value<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Array(x) => x.fmt(f),
            Value::Slice(x) => x.fmt(f),
            Value::List(items) => f.debug_list().entries(items).finish(),
            Value::Bytes(bytes) => bytes.fmt(f),
            other => f.write_str(&other.what()),
        }
    }
}

impl<B: Arrays> fmt::Display for Value<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what())
    }
}
