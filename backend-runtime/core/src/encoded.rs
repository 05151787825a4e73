//! Elements that are stored in a file: their dtype and byte order, and parts of an array in such elements. The crates
//! that read and write formats of arrays use this module.

use crate::{
    DType, DTypeKind, Element, bytes, can_cast, dispatch,
    parts::{self, Part},
};
use ndarray::{ArrayD, ArrayRef, IxDyn};
use std::{
    borrow::Cow,
    io::{Error, ErrorKind, Result, Write},
};

/// Number of bytes that are converted at once.
pub const BLOCK: usize = 1 << 16;

/// Makes an error of the kind `InvalidData`, about the content of a file.
pub fn damaged(why: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidData, why.into())
}

/// Returns an empty vector with capacity for `count` elements.
///
/// # Errors
/// `OutOfMemory` if there is not enough memory.
pub fn reserved<T>(count: usize) -> Result<Vec<T>> {
    let mut values = Vec::new();
    let refused = |_| Error::new(ErrorKind::OutOfMemory, format!("{count} numbers do not fit into memory"));
    values.try_reserve_exact(count).map_err(refused)?;
    Ok(values)
}

/// The encoding of the elements of a file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Elements {
    dtype: DType,
    big: bool,
}

impl Elements {
    /// Elements of a dtype, whose numbers are big endian if `big` is true.
    pub fn new(dtype: DType, big: bool) -> Elements {
        Elements { dtype, big }
    }

    /// Elements of a dtype in the byte order of the machine.
    pub fn native(dtype: DType) -> Elements {
        Elements { dtype, big: cfg!(target_endian = "big") }
    }

    /// The dtype of the elements.
    pub fn dtype(self) -> DType {
        self.dtype
    }

    /// Returns whether the file has the byte order of the machine.
    pub fn are_native(self) -> bool {
        self.big == cfg!(target_endian = "big")
    }

    /// Returns an error if the elements cannot be converted to `T`, because more than precision would be lost.
    ///
    /// # Errors
    /// `InvalidInput`.
    pub fn fit<T: Element>(self) -> Result<()> {
        let rounded = T::DTYPE.kind() >= DTypeKind::Real && self.dtype.kind() <= T::DTYPE.kind();
        if rounded || self.dtype == DType::Bool || can_cast(self.dtype, T::DTYPE) {
            return Ok(());
        }
        let why = format!(
            "{} does not hold elements of {}; read them as such, and convert with astype",
            T::DTYPE,
            self.dtype
        );
        Err(Error::new(ErrorKind::InvalidInput, why))
    }

    /// Decodes `count` elements and appends them to `to`. `fill` writes the next bytes of the file into the slice that
    /// it receives. These slices are in the buffer `block`; a caller passes the same buffer again to avoid allocations.
    ///
    /// # Errors
    /// The errors of `fill` and of [`fit`](Elements::fit); `InvalidData` if a bool is neither 0 nor 1.
    pub fn read<T: Element>(
        self,
        to: &mut Vec<T>,
        count: usize,
        block: &mut Vec<u8>,
        mut fill: impl FnMut(&mut [u8]) -> Result<()>,
    ) -> Result<()> {
        self.fit::<T>()?;
        let width = self.dtype.size();
        let mut left = count.checked_mul(width).ok_or_else(|| damaged("more bytes than there may be"))?;
        if block.len() < left.min(BLOCK) {
            block.resize(left.min(BLOCK), 0);
        }
        while left > 0 {
            // the length of a full block is a multiple of the size of every dtype
            let part = &mut block[..left.min(BLOCK)];
            fill(part)?;
            if !self.are_native() {
                bytes::reverse(self.dtype, part);
            }
            self.convert(part, to).map_err(|why| damaged(why.to_string()))?;
            left -= part.len();
        }
        Ok(())
    }

    fn convert<T: Element>(self, bytes: &[u8], to: &mut Vec<T>) -> crate::Result<()> {
        const OP: &str = "the elements";
        if T::DTYPE == self.dtype {
            return bytes::extend(OP, to, bytes);
        }
        dispatch!(self.dtype, S => {
            let mut elements: Vec<S> = Vec::new();
            bytes::extend(OP, &mut elements, bytes)?;
            to.extend(elements.iter().map(|x| x.cast::<T>()));
            Ok(())
        })
    }
}

/// The place of an array in a file.
#[derive(Clone, Copy, Debug)]
pub struct Layout<'a> {
    /// The dtype and byte order of the elements.
    pub elements: Elements,
    /// The lengths of the axes.
    pub shape: &'a [usize],
    /// True if the first index changes fastest (Fortran order).
    pub fortran: bool,
    /// The offset of the first element, in bytes.
    pub start: u64,
}

impl Layout<'_> {
    /// Reads a part of the array. `fill` fills the slice that it receives with the bytes of the file from the given
    /// offset on. Converts like [`Elements::read`].
    ///
    /// # Errors
    /// The errors of [`Elements::read`]; an error if the array has no such part, or does not fit into memory.
    pub fn read_part<T: Element>(
        &self,
        part: impl Part,
        mut fill: impl FnMut(u64, &mut [u8]) -> Result<()>,
    ) -> Result<ArrayD<T>> {
        let ranges = part.ranges("read", self.shape)?;
        let shape = parts::shape_of("read", self.shape, &ranges)?;
        self.elements.fit::<T>()?;
        // the axes in the order of the file, beginning with the axis whose index changes most slowly
        let mut axes: Vec<usize> = (0..shape.len()).collect();
        if self.fortran {
            axes.reverse();
        }
        let [lengths, inner] = [self.shape, &shape[..]].map(|s| axes.iter().map(|&k| s[k]).collect::<Vec<_>>());
        let ranges: Vec<_> = axes.iter().map(|&k| ranges[k].clone()).collect();
        // if the part has no elements, the product of its lengths may overflow
        let mut values = reserved(if shape.contains(&0) { 0 } else { shape.iter().product() })?;
        let mut block = Vec::new();
        for (at, n) in parts::runs(&lengths, &ranges) {
            let mut offset = self.start + at as u64 * self.elements.dtype().size() as u64;
            self.elements.read(&mut values, n, &mut block, |block| {
                fill(offset, block)?;
                offset += block.len() as u64;
                Ok(())
            })?;
        }
        let part = ArrayD::from_shape_vec(IxDyn(&inner), values);
        let part = part.map_err(|_| damaged(format!("the shape {shape:?} is too large")))?;
        Ok(if self.fortran { part.reversed_axes() } else { part })
    }
}

/// Writes the elements in C order, little endian.
///
/// # Errors
/// The errors of the writer.
pub fn write_elements<T: Element>(to: &mut impl Write, array: &ArrayRef<T, IxDyn>) -> Result<()> {
    if let Some(elements) = array.as_slice().filter(|_| cfg!(target_endian = "little")) {
        return to.write_all(bytes::as_bytes(elements));
    }
    let room = BLOCK / T::DTYPE.size();
    let (mut elements, mut block) = (array.iter().copied(), Vec::with_capacity(room));
    loop {
        block.clear();
        block.extend(elements.by_ref().take(room));
        if block.is_empty() {
            return Ok(());
        }
        to.write_all(&little_endian(&block))?;
    }
}

/// The bytes of the elements, with each number in little-endian order.
pub fn little_endian<T: Element>(elements: &[T]) -> Cow<'_, [u8]> {
    let mut bytes = Cow::from(bytes::as_bytes(elements));
    if cfg!(target_endian = "big") {
        bytes::reverse(T::DTYPE, bytes.to_mut());
    }
    bytes
}
