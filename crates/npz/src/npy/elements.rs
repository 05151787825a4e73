//! The names of the elements of a `.npy` file: their dtype and byte order.

use super::{damaged, header::Header};
use backend_runtime::{DType, encoded::Elements};
use std::io::Result;

/// NumPy's name of a dtype in little-endian order. NumPy has no bfloat16, so bfloat16 arrays of the package `ml_dtypes`
/// are written as untyped elements of two bytes.
pub fn descr(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool => "|b1",
        DType::Int8 => "|i1",
        DType::UInt8 => "|u1",
        DType::Int16 => "<i2",
        DType::Int32 => "<i4",
        DType::Int64 => "<i8",
        DType::UInt16 => "<u2",
        DType::UInt32 => "<u4",
        DType::UInt64 => "<u8",
        DType::Float16 => "<f2",
        DType::BFloat16 => "<V2",
        DType::Float32 => "<f4",
        DType::Float64 => "<f8",
        DType::Complex64 => "<c8",
        // the only dtype left is complex128
        _ => "<c16",
    }
}

/// The encoding that the header of a file specifies.
pub fn of(header: &Header) -> Result<Elements> {
    let name = header.descr.as_str();
    let refuse = || damaged(format!("elements of dtype `{}`, which no array has", name.escape_debug()));
    let (order, kind) = name.split_at_checked(1).ok_or_else(refuse)?;
    let big = match order {
        "<" => false,
        ">" => true,
        "|" | "=" => cfg!(target_endian = "big"),
        _ => return Err(refuse()),
    };
    let dtype = DType::ALL.into_iter().find(|&dtype| descr(dtype)[1..] == *kind).ok_or_else(refuse)?;
    Ok(Elements::new(dtype, big))
}

#[cfg(test)]
mod tests {
    use super::*;
    use backend_runtime::{Complex, Element, Result, bf16, bytes, dispatch, f16};

    fn named(descr: &str) -> std::io::Result<Elements> {
        of(&Header { descr: descr.into(), fortran: false, shape: vec![], length: 0 })
    }

    fn all<T: Element>(descr: &str, bytes: &[u8]) -> std::io::Result<Vec<T>> {
        let (elements, mut to, mut rest) = (named(descr)?, Vec::new(), bytes);
        elements.read(&mut to, bytes.len() / elements.dtype().size(), &mut Vec::new(), |block| {
            std::io::Read::read_exact(&mut rest, block)
        })?;
        Ok(to)
    }

    #[test]
    fn every_dtype_has_a_name_and_comes_back() {
        for dtype in DType::ALL {
            assert_eq!(named(descr(dtype)).unwrap(), Elements::new(dtype, false));
            let checked: Result<()> = dispatch!(dtype, T => {
                // the number of elements is larger than a block, and not a multiple of a block
                let x: Vec<T> = (0..70_001).map(|i| T::from_i64(i % 99)).collect();
                let mut little = bytes::as_bytes(&x).to_vec();
                if cfg!(target_endian = "big") {
                    bytes::reverse(dtype, &mut little);
                }
                let name = descr(dtype);
                assert_eq!(all::<T>(name, &little).unwrap(), x, "{dtype}");
                bytes::reverse(dtype, &mut little);
                let name = name.replace('<', ">");
                assert_eq!(all::<T>(&name, &little).unwrap(), x, "{dtype}, big endian");
                Ok(())
            });
            checked.unwrap();
        }
        for name in ["<f16", "|O", "|S4", "<U4", "|V8", "<M8[ns]", "", "f8", "<f", "<\u{e9}8", "<\u{e9}"] {
            let why = named(name).unwrap_err().to_string();
            assert!(why.contains("which no array has"), "{name}: {why}");
        }
    }

    #[test]
    fn what_a_dtype_does_not_hold_is_refused() {
        assert_eq!(all::<f64>("<u8", &u64::MAX.to_le_bytes()).unwrap(), [18446744073709551616.0]);
        assert_eq!(all::<f32>("<f8", &0.1_f64.to_le_bytes()).unwrap(), [0.1]);
        assert_eq!(all::<f16>("|i1", &[0xf9]).unwrap(), [f16::from_f32(-7.0)]);
        assert_eq!(all::<bf16>("<V2", &[0x20, 0xc0]).unwrap(), [bf16::from_f32(-2.5)]);
        assert_eq!(all::<Complex<f32>>("|b1", &[1]).unwrap(), [Complex::new(1.0, 0.0)]);
        assert_eq!(all::<u8>("|b1", &[1, 0]).unwrap(), [1, 0]);
        assert_eq!(all::<i64>("<u4", &u32::MAX.to_le_bytes()).unwrap(), [4294967295]);
        assert!(
            named("<c8")
                .unwrap()
                .fit::<f64>()
                .unwrap_err()
                .to_string()
                .contains("float64 does not hold elements of complex64")
        );
        assert!(named("<f8").unwrap().fit::<i64>().is_err() && named("<i8").unwrap().fit::<i32>().is_err());
        assert!(named("<u8").unwrap().fit::<i64>().is_err() && named("|u1").unwrap().fit::<bool>().is_err());
        assert!(all::<bool>("|b1", &[2]).unwrap_err().to_string().contains("a byte of a bool must be 0 or 1"));
    }
}
