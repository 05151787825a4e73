//! Serialization of dtypes and arrays by serde, for files of settings and results, and for messages. Requires the
//! feature `serde`.

use crate::{Arrays, DType, DynArray, Element, Error, HostArray, IntoArray, Value, bytes, dispatch};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::fmt;

impl Serialize for DType {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for DType {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<DType, D::Error> {
        struct Name;

        impl de::Visitor<'_> for Name {
            type Value = DType;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of a dtype, such as float32")
            }

            fn visit_str<E: de::Error>(self, name: &str) -> Result<DType, E> {
                name.parse().map_err(|_| E::invalid_value(de::Unexpected::Str(name), &self))
            }
        }

        from.deserialize_str(Name)
    }
}

/// An array of any backend as data: dtype, shape, and the bytes of the elements in C order and little endian.
///
/// | format | representation |
/// |---|---|
/// | a format for people, such as JSON | `{"dtype": "float32", "shape": [2, 3], "data": ".."}`, the data in base64, with padding |
/// | a binary format, such as postcard | the same three fields, with the data as bytes |
///
/// Every bit is preserved, including the bits of NaN, and the text is half as long as decimal numbers. Input is
/// checked: the dtype must exist, the bytes must match the shape, bools must be 0 or 1. Memory is allocated while the
/// bytes are read, and not in advance for the size that the data claim.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename = "Array", try_from = "Fields")]
pub struct ArrayData {
    dtype: DType,
    shape: Vec<usize>,
    #[serde(rename = "data", serialize_with = "data::serialize")]
    bytes: Vec<u8>,
}

/// The fields as they were read, before they are checked.
#[derive(Deserialize)]
#[serde(rename = "Array", deny_unknown_fields)]
struct Fields {
    dtype: DType,
    shape: Vec<usize>,
    #[serde(rename = "data", deserialize_with = "data::deserialize")]
    bytes: Vec<u8>,
}

impl TryFrom<Fields> for ArrayData {
    type Error = Error;

    fn try_from(Fields { dtype, shape, bytes }: Fields) -> Result<ArrayData, Error> {
        bytes::check("ArrayData", dtype, &shape, &bytes)?;
        Ok(ArrayData { dtype, shape, bytes })
    }
}

impl ArrayData {
    /// Copies an array of a backend to data.
    pub fn of<'a, B: Arrays, T: Element>(b: &B, x: impl IntoArray<'a, B::Array<T>>) -> Result<ArrayData, Error> {
        let x: HostArray<T> = b.to_ndarray(&*x.into_array())?;
        ArrayData::of_host(&x)
    }

    /// Copies an array whose dtype is known only at run time to data.
    pub fn of_value<B: Arrays>(b: &B, x: &Value<B>) -> Result<ArrayData, Error> {
        const OP: &str = "ArrayData::of_value";
        let Some(x) = x.as_array() else {
            return Err(Error::argument(OP, format!("{x} is given, but must be an array")));
        };
        dispatch!(x.dtype(), T => match x.get::<T>() {
            Some(x) => ArrayData::of(b, x),
            None => Err(Error::dtype(OP, x.dtype())),
        })
    }

    fn of_host<T: Element>(x: &HostArray<T>) -> Result<ArrayData, Error> {
        let mut bytes = bytes::of_array("ArrayData::of", x)?;
        if cfg!(target_endian = "big") {
            bytes::reverse(T::DTYPE, &mut bytes);
        }
        Ok(ArrayData { dtype: T::DTYPE, shape: x.shape().to_vec(), bytes })
    }

    /// Returns the dtype of the elements.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Returns the shape of the array.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Converts the data to an array of a backend.
    ///
    /// # Errors
    /// [`Error::Argument`] if `T` is not the dtype of the data.
    pub fn array<B: Arrays, T: Element>(&self, b: &B) -> Result<B::Array<T>, Error> {
        b.from_ndarray(self.host()?)
    }

    /// Converts the data to a [`Value`], which holds an array of a backend with the dtype of the data. Calls of ops by
    /// name take such values. [`Value::as_array`] returns the array.
    pub fn value<B: Arrays>(&self, b: &B) -> Result<Value<B>, Error> {
        dispatch!(self.dtype, T => Ok(Value::Array(DynArray::of::<T>(self.array::<B, T>(b)?))))
    }

    fn host<T: Element>(&self) -> Result<HostArray<T>, Error> {
        const OP: &str = "ArrayData::array";
        if self.dtype != T::DTYPE {
            return Err(Error::argument(OP, format!("the elements are {}, but must be {}", self.dtype, T::DTYPE)));
        }
        if cfg!(target_endian = "big") {
            let mut native = self.bytes.clone();
            bytes::reverse(self.dtype, &mut native);
            return bytes::to_array(OP, &self.shape, &native);
        }
        bytes::to_array(OP, &self.shape, &self.bytes)
    }
}

/// Serialization of fields that are ndarrays, which are the arrays of the CPU backend `Numpyish`.
///
/// The field has the attribute `#[serde(with = "backends::stored::array")]`. The representation is that of
/// [`ArrayData`].
pub mod array {
    use super::{ArrayData, Deserialize, Deserializer, Element, HostArray, Serialize, Serializer, de};
    use serde::ser;

    /// Writes the array.
    pub fn serialize<T: Element, S: Serializer>(x: &HostArray<T>, to: S) -> Result<S::Ok, S::Error> {
        ArrayData::of_host(x).map_err(ser::Error::custom)?.serialize(to)
    }

    /// Reads an array. A dtype other than `T` is an error.
    pub fn deserialize<'de, T: Element, D: Deserializer<'de>>(from: D) -> Result<HostArray<T>, D::Error> {
        ArrayData::deserialize(from)?.host().map_err(de::Error::custom)
    }
}

/// Serialization of bytes. In human-readable formats, they are written in base64.
mod data {
    use base64::{Engine, display::Base64Display, prelude::BASE64_STANDARD};
    use serde::{
        Deserializer, Serializer,
        de::{Error, SeqAccess, Visitor},
    };
    use std::fmt;

    /// Maximum number of bytes that are allocated before any byte is read, whatever length the data claim.
    const MAX_PREALLOCATED_BYTES: usize = 1 << 16;

    pub fn serialize<S: Serializer>(bytes: &[u8], to: S) -> Result<S::Ok, S::Error> {
        if to.is_human_readable() {
            to.collect_str(&Base64Display::new(bytes, &BASE64_STANDARD))
        } else {
            to.serialize_bytes(bytes)
        }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
        if from.is_human_readable() { from.deserialize_str(Text) } else { from.deserialize_byte_buf(Bytes) }
    }

    struct Text;

    impl Visitor<'_> for Text {
        type Value = Vec<u8>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("bytes in base64, with padding")
        }

        fn visit_str<E: Error>(self, text: &str) -> Result<Vec<u8>, E> {
            BASE64_STANDARD.decode(text).map_err(|why| E::custom(format_args!("the data are not in base64: {why}")))
        }
    }

    struct Bytes;

    impl<'de> Visitor<'de> for Bytes {
        type Value = Vec<u8>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("bytes")
        }

        fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
            Ok(bytes.to_vec())
        }

        fn visit_byte_buf<E: Error>(self, bytes: Vec<u8>) -> Result<Vec<u8>, E> {
            Ok(bytes)
        }

        // formats that have no type for bytes write lists of numbers
        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<u8>, A::Error> {
            let mut bytes = Vec::with_capacity(list.size_hint().unwrap_or(0).min(MAX_PREALLOCATED_BYTES));
            while let Some(byte) = list.next_element()? {
                bytes.push(byte);
            }
            Ok(bytes)
        }
    }
}
