//! Files whose elements follow a header of fixed length, without compression.

use crate::files::{Stream, explain, named};
use backend_runtime::{
    Element,
    encoded::{Elements, Layout, damaged},
    parts::Part,
};
use ndarray::ArrayD;
use std::{
    fmt,
    io::{Result, SeekFrom},
};

/// An array in a file, of which parts are read.
pub struct RawArray {
    pub name: String,
    pub from: Box<dyn Stream>,
    pub elements: Elements,
    pub shape: Vec<usize>,
    /// True if the first index changes fastest (Fortran order).
    pub fortran: bool,
    /// The offset of the first element, in bytes.
    pub start: u64,
}

/// Returns the number of bytes of an array, which begin at the offset `start`. Returns an error unless a file of
/// `length` bytes holds them.
pub fn data_bytes(elements: Elements, shape: &[usize], start: u64, length: u64) -> Result<usize> {
    let bytes = shape.iter().try_fold(elements.dtype().size(), |n, &axis| n.checked_mul(axis));
    match bytes {
        Some(n) if (n as u64).checked_add(start).is_some_and(|end| end <= length) => Ok(n),
        _ => Err(damaged(format!(
            "{} bytes of data for the shape {shape:?} of {}-byte elements",
            length.saturating_sub(start),
            elements.dtype().size(),
        ))),
    }
}

impl RawArray {
    pub fn read<T: Element>(&mut self, part: impl Part) -> Result<ArrayD<T>> {
        let layout = Layout { elements: self.elements, shape: &self.shape, fortran: self.fortran, start: self.start };
        let from = &mut self.from;
        let mut at = None;
        let read = layout.read_part(part, |offset, block| {
            // a seek discards the buffer of the file, so there is none between blocks that follow each other
            if at != Some(offset) {
                from.seek(SeekFrom::Start(offset))?;
            }
            at = Some(offset + block.len() as u64);
            from.read_exact(block).map_err(|e| explain(e, "the data are shorter than the header declares"))
        });
        read.map_err(named(&self.name))
    }
}

impl fmt::Debug for RawArray {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RawArray { name, elements, shape, start, .. } = self;
        f.debug_struct("RawArray")
            .field("name", name)
            .field("elements", elements)
            .field("shape", shape)
            .field("start", start)
            .finish_non_exhaustive()
    }
}

/// The numbers of a header, by their offsets in bytes.
pub struct Fields<'a> {
    pub bytes: &'a [u8],
    pub big: bool,
}

macro_rules! number {
    ($($name:ident -> $type:ident),*) => {
        impl Fields<'_> {
            $(pub fn $name(&self, at: usize) -> $type {
                let mut number = [0; size_of::<$type>()];
                number.copy_from_slice(&self.bytes[at..at + size_of::<$type>()]);
                if self.big { $type::from_be_bytes(number) } else { $type::from_le_bytes(number) }
            })*
        }
    };
}

number!(i32 -> i32, f32 -> f32);
#[cfg(feature = "nifti")]
number!(i16 -> i16, i64 -> i64, f64 -> f64);

/// The text in a field of fixed length, without the spaces and zeros at its end.
pub fn text(field: &[u8]) -> String {
    let end = field.iter().position(|&byte| byte == 0).unwrap_or(field.len());
    String::from_utf8_lossy(&field[..end]).trim_end().to_string()
}
