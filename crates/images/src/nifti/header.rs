//! The header of a NIfTI image: 348 bytes in version 1, 540 bytes in version 2.

use super::{NiftiInfo, affine};
use crate::{
    files::explain,
    raw::{Fields, text},
};
use backend_runtime::{
    DType,
    encoded::{Elements, damaged},
};
use std::io::{Read, Result, copy, sink};

/// The dtypes, with their codes.
pub const DTYPES: [(DType, i16); 12] = [
    (DType::UInt8, 2),
    (DType::Int16, 4),
    (DType::Int32, 8),
    (DType::Float32, 16),
    (DType::Complex64, 32),
    (DType::Float64, 64),
    (DType::Int8, 256),
    (DType::UInt16, 512),
    (DType::UInt32, 768),
    (DType::Int64, 1024),
    (DType::UInt64, 1280),
    (DType::Complex128, 1792),
];

/// The units of space, with their codes.
pub const SPACE: [(&str, u8); 3] = [("meter", 1), ("mm", 2), ("micron", 3)];

/// The units of time, with their codes.
pub const TIME: [(&str, u8); 6] = [("sec", 8), ("msec", 16), ("usec", 24), ("hz", 32), ("ppm", 40), ("rads", 48)];

/// The lengths of the headers of versions 1 and 2, in bytes.
pub const LENGTHS: [usize; 2] = [348, 540];

/// What a header says.
pub struct Header {
    pub elements: Elements,
    pub shape: Vec<usize>,
    /// The offset of the first element, in bytes.
    pub start: u64,
    /// The number of bytes that were read.
    length: u64,
    pub scaling: Option<(f64, f64)>,
    pub info: NiftiInfo,
}

/// The fields that both versions have, as numbers of version 2.
struct Common {
    magic: [u8; 3],
    code: i16,
    dim: [i64; 8],
    size: [f64; 8],
    start: f64,
    scaling: (f64, f64),
    units: u8,
    description: String,
    codes: [i32; 2],
    quaternion: [f64; 3],
    offset: [f64; 3],
    rows: [[f64; 4]; 3],
}

impl Header {
    /// Reads a file up to the end of its header.
    pub fn read(from: &mut impl Read) -> Result<Header> {
        let mut bytes = [0; LENGTHS[1]];
        let short = |e| explain(e, "the file ends within its header");
        let (before, rest) = bytes.split_at_mut(LENGTHS[0]);
        from.read_exact(before).map_err(short)?;
        let found = [false, true].into_iter().find_map(|big| {
            let length = usize::try_from(Fields { bytes: before, big }.i32(0)).ok()?;
            LENGTHS.contains(&length).then_some((big, length))
        });
        let Some((big, length)) = found else {
            return Err(damaged("not a NIfTI file: it does not begin with the length of a header"));
        };
        if length == LENGTHS[1] {
            from.read_exact(rest).map_err(short)?;
        }
        let fields = Fields { bytes: &bytes[..length], big };
        let common = if length == LENGTHS[0] { version_1(&fields) } else { version_2(&fields) };
        common.header(big, length as u64)
    }

    /// Reads the bytes between the header and the elements.
    pub fn skip_to_data(&self, from: &mut impl Read) -> Result<()> {
        let count = self.start - self.length;
        match copy(&mut from.take(count), &mut sink())? == count {
            true => Ok(()),
            false => Err(damaged("the file ends before its data")),
        }
    }
}

impl Common {
    fn header(self, big: bool, length: u64) -> Result<Header> {
        match &self.magic {
            b"n+1" | b"n+2" => {}
            b"ni1" | b"ni2" => return Err(damaged("the data are in another file (.img), which is not read")),
            _ => return Err(damaged("not a NIfTI file: the mark `n+1` or `n+2` is missing")),
        }
        let rank = usize::try_from(self.dim[0]).unwrap_or(0);
        let lengths = self.dim.get(1..=rank).unwrap_or_default();
        let shape: Vec<usize> = lengths.iter().map(|&n| usize::try_from(n).unwrap_or(0)).collect();
        if shape.is_empty() || shape.contains(&0) {
            return Err(damaged(format!("the header declares {} axes of the lengths {:?}", self.dim[0], lengths)));
        }
        let known = DTYPES.iter().find(|(_, code)| *code == self.code);
        let Some((dtype, _)) = known else {
            return Err(damaged(format!("elements of the datatype {}, which no array has", self.code)));
        };
        let extension = length + 4;
        let start = match self.start {
            0.0 => extension,
            start if start >= length as f64 && start < 2_f64.powi(53) => start as u64,
            start => return Err(damaged(format!("the header declares data at byte {start}"))),
        };
        let (factor, offset) = self.scaling;
        let is_scaled = factor != 0.0 && factor.is_finite() && offset.is_finite() && self.scaling != (1.0, 0.0);
        let size = self.size;
        let affine = match self.codes {
            [_, rows] if rows > 0 => Some(self.rows),
            [quaternion, _] if quaternion > 0 => {
                Some(affine::of_quaternion(self.quaternion, self.offset, [size[0], size[1], size[2], size[3]]))
            }
            _ => None,
        };
        let unit = |all: &[(&'static str, u8)], mask: u8| {
            all.iter().find(|(_, code)| *code == self.units & mask).map(|(name, _)| *name)
        };
        Ok(Header {
            elements: Elements::new(*dtype, big),
            start,
            length,
            scaling: is_scaled.then_some(self.scaling),
            info: NiftiInfo {
                voxel_size: size[1..=rank].to_vec(),
                affine,
                space_unit: unit(&SPACE, 0b111),
                time_unit: unit(&TIME, 0b11_1000),
                description: self.description,
            },
            shape,
        })
    }
}

fn version_1(fields: &Fields<'_>) -> Common {
    let float = |at: usize| f64::from(fields.f32(at));
    Common {
        magic: mark(fields.bytes, 344),
        code: fields.i16(70),
        dim: list(|k| i64::from(fields.i16(40 + 2 * k))),
        size: list(|k| float(76 + 4 * k)),
        start: float(108),
        scaling: (float(112), float(116)),
        units: fields.bytes[123],
        description: text(&fields.bytes[148..228]),
        codes: [252, 254].map(|at| i32::from(fields.i16(at))),
        quaternion: list(|k| float(256 + 4 * k)),
        offset: list(|k| float(268 + 4 * k)),
        rows: list(|row| list(|k| float(280 + 16 * row + 4 * k))),
    }
}

fn version_2(fields: &Fields<'_>) -> Common {
    Common {
        magic: mark(fields.bytes, 4),
        code: fields.i16(12),
        dim: list(|k| fields.i64(16 + 8 * k)),
        size: list(|k| fields.f64(104 + 8 * k)),
        start: fields.i64(168) as f64,
        scaling: (fields.f64(176), fields.f64(184)),
        units: u8::try_from(fields.i32(500)).unwrap_or(0),
        description: text(&fields.bytes[240..320]),
        codes: [344, 348].map(|at| fields.i32(at)),
        quaternion: list(|k| fields.f64(352 + 8 * k)),
        offset: list(|k| fields.f64(376 + 8 * k)),
        rows: list(|row| list(|k| fields.f64(400 + 32 * row + 8 * k))),
    }
}

fn mark(bytes: &[u8], at: usize) -> [u8; 3] {
    [bytes[at], bytes[at + 1], bytes[at + 2]]
}

/// The list of the values of a function at 0, 1, 2 and so on.
fn list<T, const N: usize>(f: impl FnMut(usize) -> T) -> [T; N] {
    std::array::from_fn(f)
}
