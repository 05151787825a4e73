//! Writes NIfTI images, little endian.

use super::{
    NiftiInfo, affine,
    header::{DTYPES, LENGTHS, SPACE, TIME},
};
use crate::files::{absent, invalid};
use backend_runtime::{Element, HostArray, encoded::write_elements};
use flate2::{Compression, write::GzEncoder};
use std::{
    fs::File,
    io::{BufWriter, Result, Write},
    path::Path,
};

pub fn save<T: Element>(path: &Path, x: &HostArray<T>, info: &NiftiInfo) -> Result<()> {
    let code = DTYPES.iter().find(|(known, _)| *known == T::DTYPE).map(|(_, code)| *code);
    let header = header(x.shape(), code.ok_or_else(|| absent("NIfTI", T::DTYPE))?, T::DTYPE.size(), info)?;
    // the first index changes fastest
    let elements = x.view().reversed_axes();
    let file = BufWriter::new(File::create(path)?);
    if path.extension().is_some_and(|end| end.eq_ignore_ascii_case("gz")) {
        let mut packed = GzEncoder::new(file, Compression::default());
        packed.write_all(&header)?;
        write_elements(&mut packed, &elements)?;
        packed.finish()?.flush()
    } else {
        let mut file = file;
        file.write_all(&header)?;
        write_elements(&mut file, &elements)?;
        file.flush()
    }
}

/// The header, with the four zeros that say that no extension follows.
fn header(shape: &[usize], code: i16, width: usize, info: &NiftiInfo) -> Result<Vec<u8>> {
    if !(1..=7).contains(&shape.len()) || shape.contains(&0) {
        return Err(invalid(format!("NIfTI images have no arrays of the shape {shape:?}")));
    }
    if info.description.len() > 80 {
        return Err(invalid("the description of a NIfTI image has at most 80 bytes"));
    }
    let bits = (8 * width) as i16;
    let mut size = [1.0; 8];
    if let Some(rows) = &info.affine {
        size[1..4].copy_from_slice(&affine::sizes(rows));
    }
    size[1..].iter_mut().zip(&info.voxel_size).for_each(|(to, from)| *to = *from);
    let units = unit(info.space_unit, &SPACE)? | unit(info.time_unit, &TIME)?;
    let rows = info.affine.unwrap_or_default();
    // 2 means that the positions are aligned with another image, as `nibabel` writes
    let aligned = if info.affine.is_some() { 2 } else { 0 };
    let short: Option<Vec<i16>> = shape.iter().map(|&n| i16::try_from(n).ok()).collect();

    let mut bytes;
    if let Some(short) = short {
        bytes = vec![0; LENGTHS[0] + 4];
        let mut put = |at: usize, field: &[u8]| bytes[at..at + field.len()].copy_from_slice(field);
        let mut float = |at: usize, number: f64| put(at, &(number as f32).to_le_bytes());
        size.iter().enumerate().for_each(|(k, number)| float(76 + 4 * k, *number));
        float(108, (LENGTHS[0] + 4) as f64);
        float(112, 1.0);
        rows.iter().flatten().enumerate().for_each(|(k, number)| float(280 + 4 * k, *number));
        put(0, &(LENGTHS[0] as i32).to_le_bytes());
        put(38, b"r");
        put(40, &(shape.len() as i16).to_le_bytes());
        (1..8).for_each(|k| put(40 + 2 * k, &short.get(k - 1).unwrap_or(&1).to_le_bytes()));
        put(70, &code.to_le_bytes());
        put(72, &bits.to_le_bytes());
        put(123, &[units]);
        put(148, info.description.as_bytes());
        put(254, &(aligned as i16).to_le_bytes());
        put(344, b"n+1");
    } else {
        bytes = vec![0; LENGTHS[1] + 4];
        let mut put = |at: usize, field: &[u8]| bytes[at..at + field.len()].copy_from_slice(field);
        put(0, &(LENGTHS[1] as i32).to_le_bytes());
        put(4, b"n+2\0\r\n\x1a\n");
        put(12, &code.to_le_bytes());
        put(14, &bits.to_le_bytes());
        put(16, &(shape.len() as i64).to_le_bytes());
        (1..8).for_each(|k| put(16 + 8 * k, &(*shape.get(k - 1).unwrap_or(&1) as i64).to_le_bytes()));
        size.iter().enumerate().for_each(|(k, number)| put(104 + 8 * k, &number.to_le_bytes()));
        put(168, &(LENGTHS[1] as i64 + 4).to_le_bytes());
        put(176, &1_f64.to_le_bytes());
        put(240, info.description.as_bytes());
        put(348, &i32::to_le_bytes(aligned));
        rows.iter().flatten().enumerate().for_each(|(k, number)| put(400 + 8 * k, &number.to_le_bytes()));
        put(500, &i32::from(units).to_le_bytes());
    }
    Ok(bytes)
}

fn unit(name: Option<&str>, all: &[(&str, u8)]) -> Result<u8> {
    let Some(name) = name else { return Ok(0) };
    let known = all.iter().find(|(known, _)| *known == name).map(|(_, code)| *code);
    known.ok_or_else(|| invalid(format!("`{name}` is not a unit of NIfTI")))
}
