//! The header of an MRC file (MRC2014): 1024 bytes, then the extended header, then the elements.

use super::MrcInfo;
use crate::{
    files::invalid,
    raw::{Fields, text},
};
use backend_runtime::{
    DType,
    encoded::{Elements, damaged},
};
use std::io::Result;

/// The length of the header without the extended header, in bytes.
pub const LENGTH: usize = 1024;

/// Offsets of the fields, in bytes. Fields of three numbers are in the order of the format, which is the reverse of the
/// order of the array's axes.
mod at {
    pub const SIZE: usize = 0;
    pub const MODE: usize = 12;
    pub const START: usize = 16;
    pub const SAMPLING: usize = 28;
    pub const CELL: usize = 40;
    pub const ANGLES: usize = 52;
    pub const AXES: usize = 64;
    pub const STATISTICS: usize = 76;
    pub const SPACE_GROUP: usize = 88;
    pub const EXTENDED: usize = 92;
    pub const VERSION: usize = 108;
    pub const IMOD_STAMP: usize = 152;
    pub const IMOD_FLAGS: usize = 156;
    pub const ORIGIN: usize = 196;
    pub const MAP: usize = 208;
    pub const BYTE_ORDER: usize = 212;
    pub const DEVIATION: usize = 216;
    pub const LABEL_COUNT: usize = 220;
    pub const LABELS: usize = 224;
}

/// The number by which IMOD marks its files.
const IMOD: i32 = 1_146_047_817;

/// The length of a label, in bytes.
const LABEL: usize = 80;

/// The space groups of stacks of volumes.
const VOLUME_STACKS: std::ops::RangeInclusive<i32> = 401..=630;

/// The dtypes, with their modes.
const MODES: [(DType, i32); 6] = [
    (DType::Int8, 0),
    (DType::Int16, 1),
    (DType::Float32, 2),
    (DType::Complex64, 4),
    (DType::UInt16, 6),
    (DType::Float16, 12),
];

/// What a header says.
pub struct Header {
    pub elements: Elements,
    pub shape: Vec<usize>,
    /// The offset of the first element, in bytes.
    pub start: u64,
    pub info: MrcInfo,
}

/// The statistics of the elements.
pub struct Statistics {
    pub least: f64,
    pub largest: f64,
    pub mean: f64,
    pub deviation: f64,
}

/// The mode of a dtype, or `None` if the format does not have the dtype.
pub fn mode_of(dtype: DType) -> Option<i32> {
    MODES.iter().find(|(known, _)| *known == dtype).map(|(_, mode)| *mode)
}

pub fn read(bytes: &[u8; LENGTH]) -> Result<Header> {
    // some programs end the mark by a zero
    if &bytes[at::MAP..at::MAP + 3] != b"MAP" {
        return Err(damaged("not an MRC file: the mark `MAP` is missing"));
    }
    let fields = Fields { bytes, big: is_big(bytes) };
    let three = |at: usize| [2, 1, 0].map(|k| fields.i32(at + 4 * k));
    let size = three(at::SIZE);
    let shape = size.map(|n| usize::try_from(n).unwrap_or(0));
    if shape.contains(&0) {
        return Err(damaged(format!("the header declares the shape {size:?}")));
    }
    let dtype = dtype(&fields)?;
    let extended = fields.i32(at::EXTENDED);
    let extended = u64::try_from(extended)
        .map_err(|_| damaged(format!("the header declares an extended header of {extended} bytes")))?;
    let space_group = fields.i32(at::SPACE_GROUP);
    let sections = usize::try_from(fields.i32(at::SAMPLING + 8)).unwrap_or(0);
    let [all, rows, columns] = shape;
    let shape = match VOLUME_STACKS.contains(&space_group) {
        true if sections == 0 || all % sections != 0 => {
            return Err(damaged(format!("{all} sections do not make volumes of {sections} sections")));
        }
        true => vec![all / sections, sections, rows, columns],
        false => vec![all, rows, columns],
    };
    Ok(Header {
        elements: Elements::new(dtype, fields.big),
        shape,
        start: LENGTH as u64 + extended,
        info: info(&fields, space_group),
    })
}

/// Returns whether the numbers are big endian. If the file does not say so, the order in which the mode is a small
/// number is taken.
fn is_big(bytes: &[u8; LENGTH]) -> bool {
    match bytes[at::BYTE_ORDER] {
        0x44 => false,
        0x11 => true,
        _ => !(0..=101).contains(&Fields { bytes, big: false }.i32(at::MODE)),
    }
}

fn dtype(fields: &Fields<'_>) -> Result<DType> {
    let mode = fields.i32(at::MODE);
    let is_unsigned = fields.i32(at::IMOD_STAMP) == IMOD && fields.i32(at::IMOD_FLAGS) & 1 == 0;
    match MODES.iter().find(|(_, known)| *known == mode) {
        Some((DType::Int8, _)) if is_unsigned => Ok(DType::UInt8),
        Some((dtype, _)) => Ok(*dtype),
        None => Err(damaged(format!("elements of mode {mode}, which no array has"))),
    }
}

fn info(fields: &Fields<'_>, space_group: i32) -> MrcInfo {
    let three = |at: usize| [2, 1, 0].map(|k| fields.i32(at + 4 * k));
    let mut axes = three(at::AXES).map(|n| usize::try_from(n.saturating_sub(1)).unwrap_or(9));
    let mut sorted = axes;
    sorted.sort_unstable();
    if sorted != [0, 1, 2] {
        axes = [2, 1, 0]; // old files have no axes
    }
    let along = |at: usize| axes.map(|axis| f64::from(fields.f32(at + 4 * axis)));
    let (cell, sampling) = (along(at::CELL), axes.map(|axis| fields.i32(at::SAMPLING + 4 * axis)));
    let voxel_size = [0, 1, 2].map(|k| cell[k] / f64::from(sampling[k]));
    let has_size = voxel_size.iter().all(|size| size.is_finite() && *size > 0.0);
    let count = usize::try_from(fields.i32(at::LABEL_COUNT)).unwrap_or(0);
    let labels = fields.bytes[at::LABELS..].chunks_exact(LABEL).take(count).map(text);
    MrcInfo {
        voxel_size: has_size.then_some(voxel_size),
        origin: along(at::ORIGIN),
        start: three(at::START),
        axes: axes.map(|axis| ['x', 'y', 'z'][axis]),
        space_group: Some(space_group),
        labels: labels.collect(),
    }
}

/// The header of an array of this shape, little endian.
pub fn write(shape: &[usize], mode: i32, info: &MrcInfo, statistics: Option<Statistics>) -> Result<[u8; LENGTH]> {
    let refused = || invalid(format!("MRC files have no arrays of the shape {shape:?}"));
    let (volumes, [sections, rows, columns]) = match *shape {
        [rows, columns] => (1, [1, rows, columns]),
        [sections, rows, columns] => (1, [sections, rows, columns]),
        [volumes, sections, rows, columns] => (volumes, [sections, rows, columns]),
        _ => return Err(refused()),
    };
    let number = |n: usize| i32::try_from(n).ok().filter(|n| *n > 0).ok_or_else(refused);
    let sampling = [number(sections)?, number(rows)?, number(columns)?];
    let all = number(sections.checked_mul(volumes).ok_or_else(refused)?)?;
    let mut axes = [0; 3];
    for (axis, name) in axes.iter_mut().zip(info.axes) {
        *axis = ['x', 'y', 'z'].iter().position(|known| *known == name).unwrap_or(9);
    }
    let mut sorted = axes;
    sorted.sort_unstable();
    if sorted != [0, 1, 2] {
        return Err(invalid(format!("the axes {:?} are not the axes x, y and z of a cell", info.axes)));
    }
    if info.labels.len() > 10 || info.labels.iter().any(|label| label.len() > LABEL || !label.is_ascii()) {
        return Err(invalid("an MRC file has at most ten labels, of at most 80 ASCII characters each"));
    }
    let usual = if shape.len() == 2 { 0 } else { 1 };
    let space_group = match info.space_group.unwrap_or(usual) {
        group if shape.len() == 4 && !VOLUME_STACKS.contains(&group) => 401,
        group if shape.len() < 4 && VOLUME_STACKS.contains(&group) => group - 400,
        group => group,
    };

    let mut bytes = [0; LENGTH];
    let mut put = |at: usize, number: [u8; 4]| bytes[at..at + 4].copy_from_slice(&number);
    for (k, n) in [columns as i32, rows as i32, all].into_iter().enumerate() {
        put(at::SIZE + 4 * k, n.to_le_bytes());
    }
    put(at::MODE, mode.to_le_bytes());
    for k in 0..3 {
        let axis = axes[k];
        put(at::START + 4 * (2 - k), info.start[k].to_le_bytes());
        put(at::SAMPLING + 4 * axis, sampling[k].to_le_bytes());
        let cell = info.voxel_size.map_or(0.0, |size| size[k] * f64::from(sampling[k]));
        put(at::CELL + 4 * axis, (cell as f32).to_le_bytes());
        put(at::ANGLES + 4 * k, 90_f32.to_le_bytes());
        put(at::AXES + 4 * (2 - k), (axis as i32 + 1).to_le_bytes());
        put(at::ORIGIN + 4 * axis, (info.origin[k] as f32).to_le_bytes());
    }
    // numbers in this order mean that the statistics are unknown
    let unknown = Statistics { least: 0.0, largest: -1.0, mean: -2.0, deviation: -1.0 };
    let Statistics { least, largest, mean, deviation } = statistics.unwrap_or(unknown);
    for (k, number) in [least, largest, mean].into_iter().enumerate() {
        put(at::STATISTICS + 4 * k, (number as f32).to_le_bytes());
    }
    put(at::SPACE_GROUP, space_group.to_le_bytes());
    put(at::VERSION, 20_141_i32.to_le_bytes());
    put(at::MAP, *b"MAP ");
    put(at::BYTE_ORDER, [0x44, 0x44, 0, 0]);
    put(at::DEVIATION, (deviation as f32).to_le_bytes());
    put(at::LABEL_COUNT, (info.labels.len() as i32).to_le_bytes());
    for (place, label) in bytes[at::LABELS..].chunks_exact_mut(LABEL).zip(&info.labels) {
        place.fill(b' ');
        place[..label.len()].copy_from_slice(label.as_bytes());
    }
    Ok(bytes)
}
