//! NumPy's `.npy` format, for arrays of real numbers. No input makes it panic, or reserve memory for data that the input
//! cannot hold.

pub(crate) mod header;

use half::f16;
use header::Header;
use ndarray::{ArrayD, ArrayRef, IxDyn, ShapeBuilder};
use std::io::{Error, ErrorKind, Read, Result};

const MAGIC: &[u8] = b"\x93NUMPY";

fn damaged(why: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidData, why.into())
}

/// The error of a read; data that end early are reported with `why`.
fn explain(e: Error, why: &str) -> Error {
    if e.kind() == ErrorKind::UnexpectedEof { damaged(why) } else { e }
}

/// Reads an array of any real, integer or boolean dtype; integers that `f64` does not hold are rounded to the nearest.
pub fn decode(bytes: &[u8]) -> Result<ArrayD<f64>> {
    read(&mut &*bytes, bytes.len() as u64)
}

/// The shape of the array in a file of `length` bytes, without its data.
pub(crate) fn read_shape(from: &mut impl Read, length: u64) -> Result<Vec<usize>> {
    let header = Header::read(from)?;
    count(&header, Element::of(&header)?, length)?;
    Ok(header.shape)
}

/// Reads an array from a file that has, or is said to have, `length` bytes. No more of it is read than its header
/// promises, and it is an error if it ends before or after that.
pub(crate) fn read(from: &mut impl Read, length: u64) -> Result<ArrayD<f64>> {
    let header = Header::read(from)?;
    let element = Element::of(&header)?;
    let values = element.read(from, count(&header, element, length)?)?;
    // the checksum of a compressed file is verified at its end
    if from.read(&mut [0])? != 0 {
        return Err(damaged("there are more data than the header promises"));
    }
    let shape = IxDyn(&header.shape).set_f(header.fortran);
    ArrayD::from_shape_vec(shape, values).map_err(|_| damaged(format!("the shape {:?} is too large", header.shape)))
}

/// The number of elements that the header promises, where a file of `length` bytes has exactly these.
pub(crate) fn count(header: &Header, element: Element, length: u64) -> Result<usize> {
    let count = header.shape.iter().try_fold(1_usize, |n, &d| n.checked_mul(d));
    let end = count.and_then(|n| n.checked_mul(element.width)).map(|n| n as u64);
    let end = end.and_then(|n| n.checked_add(header.length));
    match count {
        Some(count) if end == Some(length) => Ok(count),
        _ => Err(damaged(format!(
            "{} bytes of data for the shape {:?} of {}-byte elements",
            length.saturating_sub(header.length),
            header.shape,
            element.width,
        ))),
    }
}

/// How the numbers of a file are written.
#[derive(Clone, Copy)]
pub(crate) struct Element {
    pub(crate) width: usize,
    /// The values of a block of bytes, appended to others.
    convert: fn(&[u8], &mut Vec<f64>),
}

impl Element {
    pub(crate) fn of(header: &Header) -> Result<Element> {
        let descr = header.descr.as_str();
        let refuse = || damaged(format!("elements of dtype `{}`; real numbers are needed", descr.escape_debug()));
        let (order, kind) = descr.split_at_checked(1).ok_or_else(refuse)?;
        let big = match order {
            "<" => false,
            ">" => true,
            "|" | "=" => cfg!(target_endian = "big"),
            _ => return Err(refuse()),
        };
        macro_rules! element {
            ($t:ty) => {
                element!($t, |x| x as f64)
            };
            ($t:ty, $to_f64:expr) => {{
                const WIDTH: usize = size_of::<$t>();
                fn convert(bytes: &[u8], to: &mut Vec<f64>, read: fn([u8; WIDTH]) -> $t) {
                    to.extend(bytes.as_chunks().0.iter().map(|element| read(*element)).map($to_f64));
                }
                if big {
                    Element { width: WIDTH, convert: |bytes, to| convert(bytes, to, <$t>::from_be_bytes) }
                } else {
                    Element { width: WIDTH, convert: |bytes, to| convert(bytes, to, <$t>::from_le_bytes) }
                }
            }};
        }
        Ok(match kind {
            "f8" => element!(f64),
            "f4" => element!(f32),
            "f2" => element!(f16, f16::to_f64),
            "i8" => element!(i64),
            "i4" => element!(i32),
            "i2" => element!(i16),
            "i1" => element!(i8),
            "u8" => element!(u64),
            "u4" => element!(u32),
            "u2" => element!(u16),
            "u1" | "b1" => element!(u8),
            _ => return Err(refuse()),
        })
    }

    pub(crate) fn read(self, from: &mut impl Read, count: usize) -> Result<Vec<f64>> {
        let mut values = Vec::new();
        let refused = |_| Error::new(ErrorKind::OutOfMemory, format!("{count} numbers do not fit into memory"));
        values.try_reserve_exact(count).map_err(refused)?;
        let mut buffer = vec![0; count.saturating_mul(self.width).min(1 << 16)];
        while values.len() < count {
            let bytes = (count - values.len()).saturating_mul(self.width).min(buffer.len());
            let block = &mut buffer[..bytes];
            from.read_exact(block).map_err(|e| explain(e, "the data end before the header's promise is kept"))?;
            (self.convert)(block, &mut values);
        }
        Ok(values)
    }
}

/// An element that [`encode`] writes.
pub trait Written: Copy {
    /// NumPy's name of it.
    const DESCR: &'static str;

    /// Its bytes, little endian.
    fn append(self, to: &mut Vec<u8>);
}

macro_rules! written {
    ($($t:ty = $descr:literal)*) => {$(
        impl Written for $t {
            const DESCR: &'static str = $descr;
            fn append(self, to: &mut Vec<u8>) {
                to.extend(self.to_le_bytes());
            }
        }
    )*};
}
written!(f32 = "<f4" f64 = "<f8" i32 = "<i4");

/// The bytes of a `.npy` file, in C order.
pub fn encode<T: Written>(array: &ArrayRef<T, IxDyn>) -> Vec<u8> {
    let mut bytes = header::<T>(array.shape());
    array.iter().for_each(|x| x.append(&mut bytes));
    bytes
}

/// The beginning of a file of such an array, up to its data.
pub(crate) fn header<T: Written>(shape: &[usize]) -> Vec<u8> {
    let shape: String = shape.iter().map(|n| format!("{n}, ")).collect();
    let mut header = format!("{{'descr': '{}', 'fortran_order': False, 'shape': ({shape}), }}", T::DESCR);
    // the data begin at a multiple of 64, after 10 bytes and the header's newline
    header.push_str(&" ".repeat(63 - (header.len() + 10) % 64));
    header.push('\n');
    [MAGIC, &[1, 0], &(header.len() as u16).to_le_bytes(), header.as_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{arr0, array};

    #[test]
    fn what_is_written_is_read() {
        let x = array![[1.5, -2.0, f64::MAX], [0.0, 1e-300, 7.0]].into_dyn();
        assert_eq!(decode(&encode(&x)).unwrap(), x);
        assert_eq!(decode(&encode(&x.mapv(|v| v as f32))).unwrap()[[0, 0]], 1.5);
        assert_eq!(decode(&encode(&arr0(3.0).into_dyn())).unwrap(), arr0(3.0).into_dyn());
        assert_eq!(encode(&x).len() % 64, 48, "48 bytes of data after a header of whole 64 bytes");
    }

    #[test]
    fn order_and_endianness_are_honoured() {
        let header = "{'descr': '>i2', 'fortran_order': True, 'shape': (2, 2), }\n";
        let bytes =
            [MAGIC, &[1, 0, header.len() as u8, 0], header.as_bytes(), &[0, 1, 0, 2, 0, 3, 0xff, 0xff]].concat();
        assert_eq!(decode(&bytes).unwrap(), array![[1.0, 3.0], [2.0, -1.0]].into_dyn());
    }

    /// A file of these elements, of version 2 of the format.
    fn file(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
        let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}}}");
        [MAGIC, &[2, 0], &(header.len() as u32).to_le_bytes(), header.as_bytes(), data].concat()
    }

    #[test]
    fn every_real_dtype_is_read() {
        for (descr, bytes, value) in [
            ("<f8", &(-2.5_f64).to_le_bytes()[..], -2.5),
            (">f8", &(-2.5_f64).to_be_bytes(), -2.5),
            (">f4", &(-2.5_f32).to_be_bytes(), -2.5),
            ("<f2", &[0x00, 0xc1], -2.5),
            (">f2", &[0xc1, 0x00], -2.5),
            ("<i8", &(-7_i64).to_le_bytes(), -7.0),
            (">i4", &(-7_i32).to_be_bytes(), -7.0),
            ("|i1", &[0xf9], -7.0),
            (">u8", &u64::MAX.to_be_bytes(), 18446744073709551616.0),
            (">u4", &[0xff, 0, 0, 1], 4278190081.0),
            ("<u2", &[1, 0xff], 65281.0),
            ("|u1", &[0xff], 255.0),
            ("|b1", &[1], 1.0),
        ] {
            assert_eq!(decode(&file(descr, "(1,)", bytes)).unwrap(), array![value].into_dyn(), "{descr}");
        }
        for descr in ["<c8", "<f16", "|O", "|S4", "<U4", "|V8", "<M8[ns]", "", "f8", "<f", "<é8"] {
            let why = decode(&file(descr, "(1,)", &[0; 8])).unwrap_err().to_string();
            assert!(why.contains("real numbers are needed"), "{descr}: {why}");
        }
    }

    #[test]
    fn shapes_that_hold_nothing_are_read_and_impossible_ones_refused() {
        for (shape, lengths) in [("(0,)", &[0][..]), ("(3, 0)", &[3, 0]), ("(0, 18446744073709551615)", &[])] {
            match decode(&file("<f8", shape, &[])) {
                Ok(x) => assert_eq!(x.shape(), lengths, "{shape}"),
                Err(e) => assert!(lengths.is_empty() && e.to_string().contains("too large"), "{shape}: {e}"),
            }
        }
        for shape in ["(4611686018427387904,)", "(2305843009213693952, 8)", "(1000000000, 1000000000, 1000000000)"] {
            let why = decode(&file("<f8", shape, &[0; 8])).unwrap_err().to_string();
            assert!(why.contains("8 bytes of data for the shape"), "{shape}: {why}");
        }
        let long = [MAGIC, &[2, 0], &u32::MAX.to_le_bytes(), &[b' '; 100][..]].concat();
        assert!(decode(&long).unwrap_err().to_string().contains("4294967295 bytes"));
    }

    #[test]
    fn damage_is_an_error() {
        let whole = encode(&array![1.0, 2.0].into_dyn());
        for length in 0..whole.len() {
            assert!(decode(&whole[..length]).is_err(), "cut to {length} bytes");
        }
        assert!(decode(&[&whole[..], &[0]].concat()).is_err(), "one byte too many");
        // whatever one byte becomes, it is an error or an array, no panic
        for at in 0..whole.len() {
            for byte in 0..=255 {
                let mut changed = whole.clone();
                changed[at] = byte;
                let _ = decode(&changed);
            }
        }
        for (from, to) in [("(2, )", "(-2,)"), ("(2, )", "(2,0)"), ("<f8", "<c8"), ("<f8", "|O8"), ("False", "Wrong")] {
            let text: Vec<u8> = String::from_utf8_lossy(&whole[6..]).replace(from, to).into_bytes();
            assert!(decode(&[MAGIC, &text].concat()).is_err(), "{from} to {to}");
        }
    }
}
