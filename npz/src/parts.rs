//! Parts of arrays in `.npy` files: what does not fit into memory is read and written piece by piece.

use crate::npy::{self, Element, Written, header::Header};
use ndarray::{ArrayD, ArrayRef, IxDyn};
use std::{
    fs::File,
    io::{BufReader, Error, ErrorKind, Result, Seek, SeekFrom, Write},
    marker::PhantomData,
    ops::Range,
    path::Path,
};

/// A `.npy` file of which parts are read.
pub struct NpyReader {
    file: BufReader<File>,
    header: Header,
    element: Element,
}

impl NpyReader {
    /// Opens a file of real numbers; its length has to be what its header promises.
    pub fn open(path: impl AsRef<Path>) -> Result<NpyReader> {
        let path = path.as_ref();
        let open = || {
            let mut file = BufReader::new(File::open(path)?);
            let header = Header::read(&mut file)?;
            let element = Element::of(&header)?;
            npy::count(&header, element, file.get_ref().metadata()?.len())?;
            Ok(NpyReader { file, header, element })
        };
        open().map_err(|e: Error| Error::new(e.kind(), format!("{}: {e}", path.display())))
    }

    /// The shape of the whole array.
    pub fn shape(&self) -> &[usize] {
        &self.header.shape
    }

    /// The part of the array within these ranges, one for each axis, as `f64`.
    pub fn read(&mut self, ranges: &[Range<usize>]) -> Result<ArrayD<f64>> {
        let shape = part_shape(self.shape(), ranges)?;
        // the axes from the slowest to the fastest in the file
        let mut axes: Vec<usize> = (0..shape.len()).collect();
        if self.header.fortran {
            axes.reverse();
        }
        let [lengths, inner] = [&self.header.shape, &shape].map(|s| axes.iter().map(|&k| s[k]).collect::<Vec<_>>());
        let starts: Vec<usize> = axes.iter().map(|&k| ranges[k].start).collect();
        let mut values = Vec::new();
        let count = shape.iter().product();
        let refused = |_| Error::new(ErrorKind::OutOfMemory, format!("{count} numbers do not fit into memory"));
        values.try_reserve_exact(count).map_err(refused)?;
        for (at, n) in rows(&lengths, &starts, &inner) {
            let offset = self.header.length + at as u64 * self.element.width as u64;
            self.file.seek(SeekFrom::Start(offset))?;
            values.extend(self.element.read(&mut self.file, n)?);
        }
        let part = ArrayD::from_shape_vec(IxDyn(&inner), values).expect("as many numbers as were read");
        Ok(if self.header.fortran { part.reversed_axes() } else { part })
    }
}

/// A `.npy` file that is written part by part.
pub struct NpyWriter<T> {
    file: File,
    start: u64,
    shape: Vec<usize>,
    element: PhantomData<T>,
}

impl<T: Written> NpyWriter<T> {
    /// Begins a file of this shape, all zeros: an empty one that was opened for writing.
    pub fn new(mut file: File, shape: &[usize]) -> Result<NpyWriter<T>> {
        let header = npy::header::<T>(shape);
        let start = header.len() as u64;
        let count = shape.iter().try_fold(size_of::<T>() as u64, |n, &d| n.checked_mul(d as u64));
        let length = count.and_then(|n| n.checked_add(start));
        let length =
            length.ok_or_else(|| Error::new(ErrorKind::InvalidInput, format!("the shape {shape:?} is too large")))?;
        file.write_all(&header)?;
        file.set_len(length)?;
        Ok(NpyWriter { file, start, shape: shape.to_vec(), element: PhantomData })
    }

    /// Writes a part, the first element of which goes to `start`.
    pub fn write(&mut self, start: &[usize], part: &ArrayRef<T, IxDyn>) -> Result<()> {
        let ranges: Vec<_> = start.iter().zip(part.shape()).map(|(&at, &n)| at..at.saturating_add(n)).collect();
        part_shape(&self.shape, &ranges)?;
        let mut elements = part.iter();
        for (at, n) in rows(&self.shape, start, part.shape()) {
            let mut bytes = Vec::with_capacity(n * size_of::<T>());
            elements.by_ref().take(n).for_each(|x| x.append(&mut bytes));
            self.file.seek(SeekFrom::Start(self.start + (at * size_of::<T>()) as u64))?;
            self.file.write_all(&bytes)?;
        }
        Ok(())
    }
}

/// The lengths of ranges that lie within the shape.
fn part_shape(shape: &[usize], ranges: &[Range<usize>]) -> Result<Vec<usize>> {
    let within = |(range, &n): (&Range<usize>, &usize)| range.start <= range.end && range.end <= n;
    if ranges.len() != shape.len() || !ranges.iter().zip(shape).all(within) {
        return Err(Error::new(ErrorKind::InvalidInput, format!("{ranges:?} is no part of the shape {shape:?}")));
    }
    Ok(ranges.iter().map(|r| r.end - r.start).collect())
}

/// Where the contiguous pieces of a part begin in the whole array, and how many elements they have.
fn rows<'a>(shape: &'a [usize], start: &'a [usize], part: &'a [usize]) -> impl Iterator<Item = (usize, usize)> + 'a {
    let outer = shape.len().saturating_sub(1);
    let n = part.last().copied().unwrap_or(1);
    let count = if n == 0 { 0 } else { part[..outer].iter().product() };
    (0..count).map(move |row| {
        let (mut left, mut at, mut stride) = (row, 0, 1);
        for axis in (0..shape.len()).rev() {
            let index = if axis == outer { 0 } else { left % part[axis] };
            left = if axis == outer { left } else { left / part[axis] };
            at += (start[axis] + index) * stride;
            stride *= shape[axis];
        }
        (at, n)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{decode, encode};
    use ndarray::{Array, s};
    use std::fs;

    fn file(name: &str) -> std::path::PathBuf {
        std::env::temp_dir().join(format!("backends-npz-parts-{}-{name}", std::process::id()))
    }

    #[test]
    fn parts_are_those_of_the_whole() {
        let whole = Array::from_shape_fn((3, 4, 5), |(i, j, k)| (100 * i + 10 * j + k) as f64).into_dyn();
        let path = file("read.npy");
        // the same array in both orders
        let fortran = [
            b"\x93NUMPY\x01\0\x3e\0{'descr': '<f8', 'fortran_order': True, 'shape': (3, 4, 5)}   ".to_vec(),
            whole.t().iter().flat_map(|x| x.to_le_bytes()).collect(),
        ];
        for bytes in [encode(&whole), fortran.concat()] {
            assert_eq!(decode(&bytes).unwrap(), whole);
            fs::write(&path, &bytes).unwrap();
            let mut reader = NpyReader::open(&path).unwrap();
            assert_eq!(reader.shape(), [3, 4, 5]);
            assert_eq!(reader.read(&[0..3, 0..4, 0..5]).unwrap(), whole);
            assert_eq!(reader.read(&[1..3, 2..3, 1..4]).unwrap(), whole.slice(s![1..3, 2..3, 1..4]).into_dyn());
            assert_eq!(reader.read(&[1..1, 0..4, 0..5]).unwrap().shape(), [0, 4, 5]);
            assert_eq!(reader.read(&[0..3, 0..4, 2..2]).unwrap().shape(), [3, 4, 0]);
            for wrong in [&[0..3, 0..4, 0..6][..], &[0..3, 0..4], &[0..1, Range { start: 3, end: 2 }, 0..1]] {
                assert!(reader.read(wrong).unwrap_err().to_string().contains("no part of the shape [3, 4, 5]"));
            }
        }
        fs::write(&path, &encode(&whole)[..200]).unwrap();
        assert!(NpyReader::open(&path).err().unwrap().to_string().contains("bytes of data for the shape"));
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
        assert_eq!(decode(&fs::read(&path).unwrap()).unwrap(), whole.mapv(f64::from));
        // a file whose data nobody wrote has zeros
        NpyWriter::<f64>::new(File::create(&path).unwrap(), &[2, 2]).unwrap();
        assert_eq!(decode(&fs::read(&path).unwrap()).unwrap(), ArrayD::<f64>::zeros(vec![2, 2]));
        let huge = NpyWriter::<f64>::new(File::create(&path).unwrap(), &[usize::MAX, 2]);
        assert!(huge.err().unwrap().to_string().contains("too large"));
        fs::remove_file(path).unwrap();
    }
}
