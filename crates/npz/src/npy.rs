//! The `.npy` format of NumPy. No input causes a panic, or an allocation that is larger than the input justifies.

pub(crate) mod elements;
pub(crate) mod header;

pub(crate) use backend_runtime::encoded::{damaged, reserved};

use backend_runtime::{
    DType, Element,
    encoded::{Elements, write_elements},
};
use header::Header;
use ndarray::{ArrayD, ArrayRef, IxDyn, ShapeBuilder};
use std::io::{Error, ErrorKind, Read, Result, Write};

const MAGIC: &[u8] = b"\x93NUMPY";

/// Returns an error with the text `why` if `e` reports that the data ended early; returns any other error unchanged.
fn explain(e: Error, why: &str) -> Error {
    if e.kind() == ErrorKind::UnexpectedEof { damaged(why) } else { e }
}

/// Reads an array from the bytes of a `.npy` file. Converts like [`Npz::get`](crate::Npz::get).
pub fn decode<T: Element>(bytes: &[u8]) -> Result<ArrayD<T>> {
    read(&mut &*bytes, bytes.len() as u64)
}

/// The shape and dtype of the array in a file of `length` bytes, without reading its data.
pub(crate) fn read_kind(from: &mut impl Read, length: u64) -> Result<(Vec<usize>, DType)> {
    let header = Header::read(from)?;
    let elements = elements::of(&header)?;
    count(&header, elements, length)?;
    Ok((header.shape, elements.dtype()))
}

/// Reads an array from a file whose actual or declared length is `length` bytes.
pub(crate) fn read<T: Element>(from: &mut impl Read, length: u64) -> Result<ArrayD<T>> {
    let header = Header::read(from)?;
    let elements = elements::of(&header)?;
    read_data(from, length, &header, elements)
}

/// Reads the data that follow the header, and no more than the header declares. A file that is shorter or longer is an
/// error.
pub(crate) fn read_data<T: Element>(
    from: &mut impl Read,
    length: u64,
    header: &Header,
    elements: Elements,
) -> Result<ArrayD<T>> {
    let count = count(header, elements, length)?;
    elements.fit::<T>()?;
    let mut values = reserved(count)?;
    elements.read(&mut values, count, &mut Vec::new(), |block| {
        from.read_exact(block).map_err(|e| explain(e, "the data are shorter than the header declares"))
    })?;
    // reads to the end of the file, because only then the checksum of a compressed file is verified
    if from.read(&mut [0])? != 0 {
        return Err(damaged("the data are longer than the header declares"));
    }
    let shape = IxDyn(&header.shape).set_f(header.fortran);
    ArrayD::from_shape_vec(shape, values).map_err(|_| damaged(format!("the shape {:?} is too large", header.shape)))
}

/// The number of elements that the header declares. Returns an error unless a file of `length` bytes holds exactly
/// these elements.
pub(crate) fn count(header: &Header, elements: Elements, length: u64) -> Result<usize> {
    let width = elements.dtype().size();
    let count = header.shape.iter().try_fold(1_usize, |n, &d| n.checked_mul(d));
    let end = count.and_then(|n| n.checked_mul(width)).map(|n| n as u64);
    let end = end.and_then(|n| n.checked_add(header.length));
    match count {
        Some(count) if end == Some(length) => Ok(count),
        _ => Err(damaged(format!(
            "{} bytes of data for the shape {:?} of {width}-byte elements",
            length.saturating_sub(header.length),
            header.shape,
        ))),
    }
}

/// Encodes an array as a `.npy` file, in C order.
pub fn encode<T: Element>(array: &ArrayRef<T, IxDyn>) -> Vec<u8> {
    let mut file = Vec::new();
    write(&mut file, array).expect("a vector takes what is written");
    file
}

/// Writes an array as a `.npy` file, in C order.
pub(crate) fn write<T: Element>(to: &mut impl Write, array: &ArrayRef<T, IxDyn>) -> Result<()> {
    to.write_all(&header(T::DTYPE, array.shape()))?;
    write_elements(to, array)
}

/// Returns the header of a `.npy` file: all bytes that precede the data.
pub(crate) fn header(dtype: DType, shape: &[usize]) -> Vec<u8> {
    let shape: String = shape.iter().map(|n| format!("{n}, ")).collect();
    let descr = elements::descr(dtype);
    let mut header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({shape}), }}");
    // version 1 of the format has two bytes for the length of the header, version 2 has four; the data begin at a
    // multiple of 64
    let short = header.len() + 64 <= usize::from(u16::MAX);
    let before = if short { 10 } else { 12 };
    header.push_str(&" ".repeat(63 - (header.len() + before) % 64));
    header.push('\n');
    let length = (header.len() as u32).to_le_bytes();
    let (version, length) = if short { ([1, 0], &length[..2]) } else { ([2, 0], &length[..]) };
    [MAGIC, &version, length, header.as_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{arr0, array};

    #[test]
    fn what_is_written_is_read() {
        let x = array![[1.5, -2.0, f64::MAX], [0.0, 1e-300, 7.0]].into_dyn();
        assert_eq!(decode::<f64>(&encode(&x)).unwrap(), x);
        assert_eq!(decode::<f64>(&encode(&x.mapv(|v| v as f32))).unwrap()[[0, 0]], 1.5);
        assert_eq!(decode::<f64>(&encode(&arr0(3.0).into_dyn())).unwrap(), arr0(3.0).into_dyn());
        assert_eq!(encode(&x).len() % 64, 48, "48 bytes of data after a header of whole 64 bytes");
        let (part, wide) = (x.slice(ndarray::s![.., ..;2]).into_dyn(), ArrayD::<u8>::ones(vec![1; 40]));
        assert_eq!(decode::<f64>(&encode(&part)).unwrap(), part);
        assert_eq!(decode::<u8>(&encode(&wide)).unwrap(), wide);
        for rank in [20_000, 30_000] {
            let long = header(DType::Float64, &vec![1; rank]);
            assert_eq!((long.len() % 64, long[6]), (0, if rank == 20_000 { 1 } else { 2 }));
        }
    }

    #[test]
    fn order_and_endianness_are_honoured() {
        let header = "{'descr': '>i2', 'fortran_order': True, 'shape': (2, 2), }\n";
        let bytes =
            [MAGIC, &[1, 0, header.len() as u8, 0], header.as_bytes(), &[0, 1, 0, 2, 0, 3, 0xff, 0xff]].concat();
        assert_eq!(decode::<f64>(&bytes).unwrap(), array![[1.0, 3.0], [2.0, -1.0]].into_dyn());
    }

    /// Returns the bytes of a file with these elements, in version 2 of the format.
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
            assert_eq!(decode::<f64>(&file(descr, "(1,)", bytes)).unwrap(), array![value].into_dyn(), "{descr}");
        }
        assert!(decode::<f64>(&file("<c8", "(1,)", &[0; 8])).unwrap_err().to_string().contains("does not hold"));
    }

    #[test]
    fn shapes_that_hold_nothing_are_read_and_impossible_ones_refused() {
        for (shape, lengths) in [("(0,)", &[0][..]), ("(3, 0)", &[3, 0]), ("(0, 18446744073709551615)", &[])] {
            match decode::<f64>(&file("<f8", shape, &[])) {
                Ok(x) => assert_eq!(x.shape(), lengths, "{shape}"),
                Err(e) => assert!(lengths.is_empty() && e.to_string().contains("too large"), "{shape}: {e}"),
            }
        }
        for shape in ["(4611686018427387904,)", "(2305843009213693952, 8)", "(1000000000, 1000000000, 1000000000)"] {
            let why = decode::<f64>(&file("<f8", shape, &[0; 8])).unwrap_err().to_string();
            assert!(why.contains("8 bytes of data for the shape"), "{shape}: {why}");
        }
        let long = [MAGIC, &[2, 0], &u32::MAX.to_le_bytes(), &[b' '; 100][..]].concat();
        assert!(decode::<f64>(&long).unwrap_err().to_string().contains("4294967295 bytes"));
    }

    #[test]
    fn damage_is_an_error() {
        let whole = encode(&array![1.0, 2.0].into_dyn());
        for length in 0..whole.len() {
            assert!(decode::<f64>(&whole[..length]).is_err(), "cut to {length} bytes");
        }
        assert!(decode::<f64>(&[&whole[..], &[0]].concat()).is_err(), "one byte too many");
        // changes each byte to every value, which must give an error or an array, but never a panic
        for at in 0..whole.len() {
            for byte in 0..=255 {
                let mut changed = whole.clone();
                changed[at] = byte;
                let _ = decode::<f64>(&changed);
            }
        }
        for (from, to) in [("(2, )", "(-2,)"), ("(2, )", "(2,0)"), ("<f8", "<c8"), ("<f8", "|O8"), ("False", "Wrong")] {
            let text: Vec<u8> = String::from_utf8_lossy(&whole[6..]).replace(from, to).into_bytes();
            assert!(decode::<f64>(&[MAGIC, &text].concat()).is_err(), "{from} to {to}");
        }
    }
}
