//! NumPy's `.npy` format, for arrays of real numbers. No input panics or makes it allocate more than a few times its size.

use ndarray::{ArrayD, ArrayRef, IxDyn, ShapeBuilder};
use std::io::{Error, ErrorKind, Result};

const MAGIC: &[u8] = b"\x93NUMPY";

fn damaged(why: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidData, why.into())
}

/// Reads an array of any real, integer or boolean dtype.
pub fn decode(bytes: &[u8]) -> Result<ArrayD<f64>> {
    let rest = bytes.strip_prefix(MAGIC).ok_or_else(|| damaged("not a .npy file"))?;
    let short = || damaged("the file ends within its header");
    let (version, rest) = rest.split_first_chunk::<2>().ok_or_else(short)?;
    let (length, rest) = match version[0] {
        1 => rest.split_first_chunk().map(|(n, rest)| (u16::from_le_bytes(*n) as usize, rest)).ok_or_else(short)?,
        2 | 3 => rest.split_first_chunk().map(|(n, rest)| (u32::from_le_bytes(*n) as usize, rest)).ok_or_else(short)?,
        other => {
            return Err(damaged(format!("version {other} of the .npy format is unknown")));
        }
    };
    let (header, data) = rest.split_at_checked(length).ok_or_else(short)?;
    let header = Header::parse(std::str::from_utf8(header).map_err(|_| damaged("the header is no text"))?)?;

    let width = header.width()?;
    let count = header.shape.iter().try_fold(1_usize, |n, &d| n.checked_mul(d));
    let expected = count.and_then(|n| n.checked_mul(width));
    if expected != Some(data.len()) {
        let shape = &header.shape;
        return Err(damaged(format!("{} bytes of data for the shape {shape:?} of {width}-byte elements", data.len())));
    }
    let values = header.values(data)?;
    let shape = IxDyn(&header.shape).set_f(header.fortran);
    ArrayD::from_shape_vec(shape, values).map_err(|e| damaged(e.to_string()))
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
written!(f32 = "<f4" f64 = "<f8");

/// The bytes of a `.npy` file, in C order.
pub fn encode<T: Written>(array: &ArrayRef<T, IxDyn>) -> Vec<u8> {
    let shape: String = array.shape().iter().map(|n| format!("{n}, ")).collect();
    let mut header = format!("{{'descr': '{}', 'fortran_order': False, 'shape': ({shape}), }}", T::DESCR);
    // the data begin at a multiple of 64, after 10 bytes and the header's newline
    header.push_str(&" ".repeat(63 - (header.len() + 10) % 64));
    header.push('\n');
    let mut bytes = [MAGIC, &[1, 0], &(header.len() as u16).to_le_bytes(), header.as_bytes()].concat();
    array.iter().for_each(|x| x.append(&mut bytes));
    bytes
}

struct Header {
    descr: String,
    fortran: bool,
    shape: Vec<usize>,
}

impl Header {
    /// Reads the three entries of the Python dictionary that the header is.
    fn parse(text: &str) -> Result<Header> {
        let entry = |key: &str| {
            let quoted = [format!("'{key}':"), format!("\"{key}\":")];
            let found = quoted.iter().find_map(|k| text.split_once(k.as_str()));
            found.map(|(_, value)| value.trim_start()).ok_or_else(|| damaged(format!("the header has no `{key}`")))
        };
        let descr = entry("descr")?;
        let descr = descr.strip_prefix(['\'', '"']).and_then(|d| d.split_once(['\'', '"']));
        let fortran = entry("fortran_order")?;
        let shape = entry("shape")?.strip_prefix('(').and_then(|s| s.split_once(')'));
        let lengths = shape.map(|(inside, _)| inside.split(',').map(str::trim).filter(|n| !n.is_empty()));
        let shape = lengths.and_then(|all| all.map(|n| n.parse().ok()).collect::<Option<Vec<usize>>>());
        Ok(Header {
            descr: descr.ok_or_else(|| damaged("the elements are no numbers"))?.0.to_owned(),
            fortran: match fortran {
                f if f.starts_with("True") => true,
                f if f.starts_with("False") => false,
                _ => return Err(damaged("`fortran_order` is neither True nor False")),
            },
            shape: shape.ok_or_else(|| damaged("`shape` is no tuple of lengths"))?,
        })
    }

    fn refuse(&self) -> Error {
        damaged(format!("elements of dtype `{}`; real numbers are needed", self.descr))
    }

    /// Bytes of an element.
    fn width(&self) -> Result<usize> {
        match self.descr.get(2..) {
            Some("1") => Ok(1),
            Some("2") => Ok(2),
            Some("4") => Ok(4),
            Some("8") => Ok(8),
            _ => Err(self.refuse()),
        }
    }

    fn values(&self, data: &[u8]) -> Result<Vec<f64>> {
        let (order, kind) = self.descr.split_at_checked(1).ok_or_else(|| self.refuse())?;
        let big = match order {
            "<" | "|" | "=" => false,
            ">" => true,
            _ => return Err(self.refuse()),
        };
        macro_rules! read {
            ($t:ty) => {{
                let (elements, _) = data.as_chunks::<{ size_of::<$t>() }>();
                let value = |e: &[u8; _]| {
                    if big { <$t>::from_be_bytes(*e) } else { <$t>::from_le_bytes(*e) }
                };
                elements.iter().map(|e| value(e) as f64).collect()
            }};
        }
        Ok(match kind {
            "f8" => read!(f64),
            "f4" => read!(f32),
            "i8" => read!(i64),
            "i4" => read!(i32),
            "i2" => read!(i16),
            "i1" => read!(i8),
            "u8" => read!(u64),
            "u4" => read!(u32),
            "u2" => read!(u16),
            "u1" | "b1" => read!(u8),
            _ => return Err(self.refuse()),
        })
    }
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
        let huge = "{'descr': '<f8', 'fortran_order': False, 'shape': (0, 18446744073709551615), }\n";
        let _ = decode(&[MAGIC, &[1, 0, huge.len() as u8, 0], huge.as_bytes()].concat());
    }
}
