//! `NpyReader` and `NpyWriter`: read and write parts of arrays in `.npy` files, for arrays that do not fit into memory.

use crate::{
    files::{at, host, on},
    npy::{self, header::Header},
};
use backend_runtime::{
    Arrays, DType, Element, IntoArray,
    encoded::{BLOCK, Elements, Layout, little_endian},
    parts::{self, Part},
};
use ndarray::{ArrayD, ArrayRef, IxDyn};
use std::{
    fs::File,
    io::{BufReader, Error, ErrorKind, Read, Result, Seek, SeekFrom, Write},
    marker::PhantomData,
    path::Path,
};

/// Reads a part of an array. `fill` fills the slice that it receives with the bytes of the file from the given offset
/// on.
pub(crate) fn read_part<T: Element>(
    header: &Header,
    elements: Elements,
    part: impl Part,
    fill: impl FnMut(u64, &mut [u8]) -> Result<()>,
) -> Result<ArrayD<T>> {
    let layout = Layout { elements, shape: &header.shape, fortran: header.fortran, start: header.length };
    layout.read_part(part, fill)
}

/// Writes `part` to an array in C order, so that the first element of `part` is at index `start`. `store` writes the
/// bytes that it receives to the file, from the given offset on.
pub(crate) fn write_part<T: Element>(
    shape: &[usize],
    data: u64,
    start: &[usize],
    part: &ArrayRef<T, IxDyn>,
    mut store: impl FnMut(u64, &[u8]) -> Result<()>,
) -> Result<()> {
    let ranges = parts::ranges_at("write", shape, start, part.shape())?;
    let room = BLOCK / size_of::<T>();
    let (mut elements, mut block) = (part.iter().copied(), Vec::new());
    for (mut at, mut left) in parts::runs(shape, &ranges) {
        while left > 0 {
            let n = left.min(room);
            block.clear();
            block.extend(elements.by_ref().take(n));
            store(data + at as u64 * size_of::<T>() as u64, &little_endian(&block))?;
            (at, left) = (at + n, left - n);
        }
    }
    Ok(())
}

/// A `.npy` file from which parts of the array are read.
#[derive(Debug)]
pub struct NpyReader {
    file: BufReader<File>,
    header: Header,
    elements: Elements,
}

impl NpyReader {
    /// Opens a file. The length of the file must match its header.
    pub fn open(path: impl AsRef<Path>) -> Result<NpyReader> {
        let path = path.as_ref();
        let open = || {
            let (file, length) = crate::open_file(path)?;
            let mut file = BufReader::new(file);
            let header = Header::read(&mut file)?;
            let elements = npy::elements::of(&header)?;
            npy::count(&header, elements, length)?;
            Ok(NpyReader { file, header, elements })
        };
        open().map_err(at(path))
    }

    /// The shape of the whole array.
    pub fn shape(&self) -> &[usize] {
        &self.header.shape
    }

    /// The dtype of the elements in the file.
    pub fn dtype(&self) -> DType {
        self.elements.dtype()
    }

    /// Reads a `Part` of the array as elements of `T`; see [`Npz::get`](crate::Npz::get).
    pub fn read<T: Element>(&mut self, part: impl Part) -> Result<ArrayD<T>> {
        let file = &mut self.file;
        read_part(&self.header, self.elements, part, |offset, block| {
            file.seek(SeekFrom::Start(offset))?;
            file.read_exact(block)
        })
    }

    /// Reads a part of the array and moves it to a backend.
    pub fn array<B: Arrays, T: Element>(&mut self, b: &B, part: impl Part) -> Result<B::Array<T>> {
        on(b, self.read(part)?)
    }
}

/// A `.npy` file to which parts of the array are written.
#[derive(Debug)]
pub struct NpyWriter<T> {
    file: File,
    start: u64,
    shape: Vec<usize>,
    element: PhantomData<T>,
}

/// The header of a file with an array of this dtype and shape, and the length of the whole file in bytes.
pub(crate) fn begin(dtype: DType, shape: &[usize]) -> Result<(Vec<u8>, u64)> {
    let header = npy::header(dtype, shape);
    let bytes = shape.iter().try_fold(dtype.size() as u64, |n, &d| n.checked_mul(d as u64));
    let length = bytes.and_then(|n| n.checked_add(header.len() as u64)).filter(|&n| n <= i64::MAX as u64);
    let length =
        length.ok_or_else(|| Error::new(ErrorKind::InvalidInput, format!("the shape {shape:?} is too large")))?;
    Ok((header, length))
}

impl<T: Element> NpyWriter<T> {
    /// Writes a `.npy` file of zeros of this shape to an empty file that is open for writing.
    pub fn new(mut file: File, shape: &[usize]) -> Result<NpyWriter<T>> {
        let (header, length) = begin(T::DTYPE, shape)?;
        file.write_all(&header)?;
        file.set_len(length)?;
        Ok(NpyWriter { file, start: header.len() as u64, shape: shape.to_vec(), element: PhantomData })
    }

    /// Creates a file of zeros of this shape. An existing file is overwritten.
    pub fn create(path: impl AsRef<Path>, shape: &[usize]) -> Result<NpyWriter<T>> {
        let path = path.as_ref();
        File::create(path).and_then(|file| NpyWriter::new(file, shape)).map_err(at(path))
    }

    /// Writes `part` to the array, so that the first element of `part` is at index `start`.
    pub fn write(&mut self, start: &[usize], part: &ArrayRef<T, IxDyn>) -> Result<()> {
        let file = &mut self.file;
        write_part(&self.shape, self.start, start, part, |offset, bytes| {
            file.seek(SeekFrom::Start(offset))?;
            file.write_all(bytes)
        })
    }

    /// Like `write`, for an array of a backend.
    pub fn write_array<'a, B: Arrays>(
        &mut self,
        b: &B,
        start: &[usize],
        part: impl IntoArray<'a, B::Array<T>>,
    ) -> Result<()> {
        self.write(start, &host(b, &*part.into_array())?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{decode, encode};
    use ndarray::{Array, s};
    use std::{fs, ops::Range};

    fn file(name: &str) -> std::path::PathBuf {
        std::env::temp_dir().join(format!("backends-npz-parts-{}-{name}", std::process::id()))
    }

    #[test]
    fn parts_are_those_of_the_whole() {
        let whole = Array::from_shape_fn((3, 4, 5), |(i, j, k)| (100 * i + 10 * j + k) as f64).into_dyn();
        let path = file("read.npy");
        // the same array in C order and in Fortran order
        let fortran = [
            b"\x93NUMPY\x01\0\x3e\0{'descr': '<f8', 'fortran_order': True, 'shape': (3, 4, 5)}   ".to_vec(),
            whole.t().iter().flat_map(|x| x.to_le_bytes()).collect(),
        ];
        for bytes in [encode(&whole), fortran.concat()] {
            assert_eq!(decode::<f64>(&bytes).unwrap(), whole);
            fs::write(&path, &bytes).unwrap();
            let mut reader = NpyReader::open(&path).unwrap();
            assert_eq!(reader.shape(), [3, 4, 5]);
            assert_eq!(reader.read::<f64>(&[0..3, 0..4, 0..5]).unwrap(), whole);
            assert_eq!(reader.read::<f64>(&[1..3, 2..3, 1..4]).unwrap(), whole.slice(s![1..3, 2..3, 1..4]).into_dyn());
            assert_eq!(reader.read::<f64>(&[1..1, 0..4, 0..5]).unwrap().shape(), [0, 4, 5]);
            assert_eq!(reader.read::<f64>(&[0..3, 0..4, 2..2]).unwrap().shape(), [3, 4, 0]);
            for wrong in [&[0..3, 0..4, 0..6][..], &[0..3, 0..4], &[0..1, Range { start: 3, end: 2 }, 0..1]] {
                assert!(reader.read::<f64>(wrong).unwrap_err().to_string().contains("must lie within shape [3, 4, 5]"));
            }
        }
        fs::write(&path, &encode(&whole)[..200]).unwrap();
        assert!(NpyReader::open(&path).err().unwrap().to_string().contains("bytes of data for the shape"));
        fs::remove_file(path).unwrap();
    }

    #[test]
    fn a_file_that_is_cut_while_it_is_read_is_an_error() {
        let path = file("cut.npy");
        fs::write(&path, encode(&ArrayD::<f64>::zeros(vec![100, 1000]))).unwrap();
        let mut reader = NpyReader::open(&path).unwrap();
        assert_eq!(reader.read::<f64>(&[99..100, 0..1000]).unwrap().len(), 1000);
        File::options().write(true).open(&path).unwrap().set_len(400_000).unwrap();
        assert_eq!(reader.read::<f64>(&[99..100, 0..1000]).unwrap_err().kind(), ErrorKind::UnexpectedEof);
        assert_eq!(reader.read::<f64>(&[10..20, 0..1000]).unwrap().len(), 10_000, "what is left is read");
        fs::remove_file(path).unwrap();
    }

    #[test]
    fn what_is_written_in_parts_is_whole() {
        let whole = Array::from_shape_fn((3, 4, 5), |(i, j, k)| (100 * i + 10 * j + k) as i32).into_dyn();
        let path = file("write.npy");
        let mut writer = NpyWriter::<i32>::new(File::create(&path).unwrap(), &[3, 4, 5]).unwrap();
        for (at, part) in [
            ([0, 0, 0], s![0..2, 0..4, 0..5]),
            ([2, 0, 0], s![2..3, 0..4, 0..2]),
            ([2, 0, 2], s![2..3, 0..1, 2..5]),
            ([2, 1, 2], s![2..3, 1..4, 2..5]),
        ] {
            writer.write(&at, &whole.slice(part).to_owned().into_dyn()).unwrap();
        }
        assert!(writer.write(&[2, 0, 0], &whole).is_err());
        drop(writer);
        assert_eq!(decode::<i32>(&fs::read(&path).unwrap()).unwrap(), whole);
        // a file without written data contains zeros
        NpyWriter::<f64>::create(&path, &[2, 2]).unwrap();
        assert_eq!(decode::<f64>(&fs::read(&path).unwrap()).unwrap(), ArrayD::<f64>::zeros(vec![2, 2]));
        let huge = NpyWriter::<f64>::new(File::create(&path).unwrap(), &[usize::MAX, 2]);
        assert!(huge.err().unwrap().to_string().contains("too large"));
        fs::remove_file(path).unwrap();
    }
}
