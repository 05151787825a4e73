//! Memory-mapped `.npy` files: pages are read from the file when they are accessed, so the array may be larger than
//! memory.

use crate::{
    files::{at, host, on},
    npy::{self, header::Header},
    open_file,
    parts::{begin, read_part, write_part},
};
use backend_runtime::{Arrays, DType, Element, IntoArray, encoded::Elements, parts::Part};
use memmap2::{MmapOptions, MmapRaw};
use ndarray::{ArrayD, ArrayRef, ArrayView, IxDyn, ShapeBuilder};
use std::{
    fs::{File, OpenOptions},
    io::{self, BufReader, Error, ErrorKind, Result, Write},
    ops::Deref,
    path::{Path, PathBuf},
};

/// A memory-mapped `.npy` file, for arrays that are larger than memory, and for reading parts in any order.
///
/// The mapped pages belong to the operating system's file cache: a page in memory is not read from the disk again,
/// processes share the pages, and the system frees pages if memory is short. `read` and `array` copy parts of the
/// array; [`Mapped::view`] does not copy.
///
/// ```
/// use backends::prelude::*;
/// use backends_npz::{Mapped, NumpyFiles};
///
/// # let path = std::env::temp_dir().join(format!("backends-npz-mapped-{}.npy", std::process::id()));
/// let b = Numpyish::new();
/// b.save_npy(&path, b.reshape(b.arange(0.0_f64, 60.0, 1.0)?, [6, 10])?)?;
///
/// // the sum of squares of a file, two rows at a time
/// let file = Mapped::open(&path)?;
/// let mut sum = 0.0;
/// for row in (0..file.shape()[0]).step_by(2) {
///     let x = file.array::<_, f64>(&b, slices![row..row + 2, ..])?;
///     sum += b.item(expr!(b, sum(x * x, ..))?)?;
/// }
/// assert_eq!(sum, 70210.0);
/// # std::fs::remove_file(path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Files that change
/// If another process writes to the file, each read returns the contents at that time. **Shortening the file while it
/// is mapped ends the process** (`SIGBUS` on Unix), because the system has no pages for the missing part. If other
/// processes may shorten the file, read parts with [`NpyReader`](crate::NpyReader), which returns an error instead.
/// Opening a file checks that the length matches the header.
#[derive(Debug)]
pub struct Mapped {
    map: MmapRaw,
    header: Header,
    elements: Elements,
    path: PathBuf,
}

impl Mapped {
    /// Maps a file for reading. The length of the file must match its header.
    pub fn open(path: impl AsRef<Path>) -> Result<Mapped> {
        let path = path.as_ref();
        let open = || {
            let (file, length) = open_file(path)?;
            Mapped::new(path, &file, length, |options, file| options.map_raw_read_only(file))
        };
        open().map_err(at(path))
    }

    fn new(
        path: &Path,
        file: &File,
        length: u64,
        map: impl FnOnce(&MmapOptions, &File) -> Result<MmapRaw>,
    ) -> Result<Mapped> {
        let header = Header::read(&mut BufReader::new(file))?;
        let elements = npy::elements::of(&header)?;
        npy::count(&header, elements, length)?;
        let room = usize::try_from(length).map_err(|_| Error::new(ErrorKind::OutOfMemory, "larger than any memory"))?;
        let map = map(MmapOptions::new().len(room), file)?;
        Ok(Mapped { map, header, elements, path: path.into() })
    }

    /// The shape of the array.
    pub fn shape(&self) -> &[usize] {
        &self.header.shape
    }

    /// The dtype of the elements in the file.
    pub fn dtype(&self) -> DType {
        self.elements.dtype()
    }

    /// Copies a `Part` of the array as elements of `T`; see [`Npz::get`](crate::Npz::get).
    pub fn read<T: Element>(&self, part: impl Part) -> Result<ArrayD<T>> {
        let read = read_part(&self.header, self.elements, part, |offset, block| {
            let offset = self.within(offset, block.len())?;
            // SAFETY: the bytes lie within the map, which is alive, and the block is separate memory. No reference to
            // the map is created, so another process may write to the file at the same time.
            unsafe { std::ptr::copy_nonoverlapping(self.map.as_ptr().add(offset), block.as_mut_ptr(), block.len()) };
            Ok(())
        });
        read.map_err(at(&self.path))
    }

    /// Copies a part of the array to a backend.
    pub fn array<B: Arrays, T: Element>(&self, b: &B, part: impl Part) -> Result<B::Array<T>> {
        on(b, self.read(part)?)
    }

    /// Returns a view of the whole array, without a copy. The file must store the elements in the machine's format.
    ///
    /// ```
    /// # use backends::prelude::*;
    /// # use backends_npz::{Mapped, NumpyFiles};
    /// # let path = std::env::temp_dir().join(format!("backends-npz-view-{}.npy", std::process::id()));
    /// let b = Numpyish::new();
    /// b.save_npy(&path, b.asarray([[1.0, 2.0], [3.0, 4.0]])?)?;
    /// let file = Mapped::open(&path)?;
    /// // SAFETY: no process writes to the file while the view exists.
    /// let view = unsafe { file.view::<f64>() }?;
    /// assert_eq!(view.sum(), 10.0);
    /// let column = b.asarray(view.slice(ndarray::s![.., 1]))?; // a backend computes with a copy
    /// assert_eq!(column, b.asarray([2.0, 4.0])?);
    /// # std::fs::remove_file(path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if the dtype or byte order differs, if the data are not aligned for the dtype, or if the dtype
    /// is bool, for which not every byte is valid (a file of bools can be viewed as `u8`). In these cases use
    /// [`Mapped::read`].
    ///
    /// # Safety
    /// While the view lives, no process may write to the file or shorten it.
    pub unsafe fn view<T: Element>(&self) -> Result<ArrayView<'_, T, IxDyn>> {
        let refuse =
            |why: String| Error::new(ErrorKind::InvalidInput, format!("{}: no view: {why}", self.path.display()));
        let flags = self.dtype() == DType::Bool && T::DTYPE == DType::UInt8;
        if T::DTYPE == DType::Bool {
            return Err(refuse("not every byte is a bool; map them as u8".into()));
        }
        if self.dtype() != T::DTYPE && !flags {
            return Err(refuse(format!("the elements are {}, but must be {}", self.dtype(), T::DTYPE)));
        }
        if !self.elements.are_native() && size_of::<T>() > 1 {
            return Err(refuse("the byte order of the elements is not the machine's".into()));
        }
        let count = npy::count(&self.header, self.elements, self.map.len() as u64)?;
        let offset = self.within(self.header.length, count * size_of::<T>())?;
        // SAFETY: the offset lies within the map.
        let start = unsafe { self.map.as_ptr().add(offset) }.cast::<T>();
        if !start.is_aligned() {
            return Err(refuse(format!(
                "the data begin at byte {offset}, which is not a valid alignment for elements of {}",
                T::DTYPE
            )));
        }
        let too_large = |_| refuse(format!("the shape {:?} is too large", self.shape()));
        let shape = IxDyn(self.shape()).set_f(self.header.fortran);
        // SAFETY: `count` elements lie within the map, at an aligned address, and all bytes are valid numbers. The
        // elements live as long as the map, and the caller guarantees that they do not change while the view lives.
        let elements = unsafe { std::slice::from_raw_parts(start, count) };
        ArrayView::from_shape(shape, elements).map_err(too_large)
    }

    /// Converts an offset in the file to an offset in the map. Returns an error if the map ends before `length` bytes
    /// from this offset.
    fn within(&self, offset: u64, length: usize) -> Result<usize> {
        let start =
            usize::try_from(offset).ok().filter(|at| at.checked_add(length).is_some_and(|end| end <= self.map.len()));
        start.ok_or_else(|| npy::damaged("the file is shorter than its header declares"))
    }
}

/// A `.npy` file that is memory-mapped for reading and writing: writes go to the file.
///
/// ```
/// use backends::prelude::*;
/// use backends_npz::{MappedMut, NumpyFiles};
///
/// # let path = std::env::temp_dir().join(format!("backends-npz-mapped-mut-{}.npy", std::process::id()));
/// let b = Numpyish::new();
/// let mut file = MappedMut::create::<f64>(&path, &[4, 3])?;
/// for row in 0..4 {
///     let x = b.full([1, 3], row as f64)?;
///     file.write_array(&b, &[row, 0], &x)?; // `[row, 0]` is the place of the first element
/// }
/// file.flush()?;
/// assert_eq!(b.item(b.sum(b.load_npy::<f64>(&path)?, ..)?)?, 18.0);
/// # std::fs::remove_file(path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// The section "Files that change" of [`Mapped`] applies to this type, too.
#[derive(Debug)]
pub struct MappedMut {
    mapped: Mapped,
}

impl MappedMut {
    /// Creates a file of zeros of this shape and allocates all of it on the disk. An existing file is overwritten.
    pub fn create<T: Element>(path: impl AsRef<Path>, shape: &[usize]) -> Result<MappedMut> {
        let path = path.as_ref();
        let create = || {
            let (header, length) = begin(T::DTYPE, shape)?;
            let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(true).open(path)?;
            file.write_all(&header)?;
            make_room(&mut file, header.len() as u64, length)
        };
        create().map_err(at(path))?;
        MappedMut::open(path)
    }

    /// Maps an existing file for reading and writing.
    pub fn open(path: impl AsRef<Path>) -> Result<MappedMut> {
        let path = path.as_ref();
        let open = || {
            let (_, length) = open_file(path)?;
            let file = OpenOptions::new().read(true).write(true).open(path)?;
            Mapped::new(path, &file, length, |options, file| options.map_raw(file))
        };
        Ok(MappedMut { mapped: open().map_err(at(path))? })
    }

    /// Writes `part` to the array, so that the first element of `part` is at index `start`. The dtype must be the dtype
    /// of the file.
    pub fn write<T: Element>(&mut self, start: &[usize], part: &ArrayRef<T, IxDyn>) -> Result<()> {
        let Mapped { map, header, elements, path } = &self.mapped;
        if elements.dtype() != T::DTYPE || !elements.are_native() || header.fortran {
            let why = format!(
                "{}: parts are written into files of their dtype in C order and little endian; this has {}{}, the part {}",
                path.display(),
                elements.dtype(),
                if header.fortran { " in Fortran's order" } else { "" },
                T::DTYPE
            );
            return Err(Error::new(ErrorKind::InvalidInput, why));
        }
        let write = write_part(&header.shape, header.length, start, part, |offset, bytes| {
            let offset = self.mapped.within(offset, bytes.len())?;
            // SAFETY: the bytes lie within the map, which is alive and writable. No view of the map exists, because a
            // view would borrow `self`.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), map.as_mut_ptr().add(offset), bytes.len()) };
            Ok(())
        });
        write.map_err(at(path))
    }

    /// Like `write`, for an array of a backend.
    pub fn write_array<'a, B: Arrays, T: Element>(
        &mut self,
        b: &B,
        start: &[usize],
        part: impl IntoArray<'a, B::Array<T>>,
    ) -> Result<()> {
        self.write(start, &host(b, &*part.into_array())?)
    }

    /// Waits until all writes are on the disk. Without this call the system writes them some time later, possibly after
    /// the process has ended.
    pub fn flush(&self) -> Result<()> {
        self.mapped.map.flush().map_err(at(&self.mapped.path))
    }
}

/// Parts are read by the methods of [`Mapped`].
impl Deref for MappedMut {
    type Target = Mapped;

    fn deref(&self) -> &Mapped {
        &self.mapped
    }
}

/// Extends a file with zeros to `length`, and allocates the space on the disk. A full disk is therefore an error here,
/// and does not end the process later, at a write to the mapped memory.
fn make_room(file: &mut File, start: u64, length: u64) -> Result<()> {
    #[cfg(target_os = "linux")]
    {
        use std::os::fd::AsRawFd;
        let bytes = length.try_into().map_err(|_| Error::from(ErrorKind::FileTooLarge))?;
        loop {
            // SAFETY: the file is open, and the call takes only numbers.
            if unsafe { libc::fallocate(file.as_raw_fd(), 0, 0, bytes) } == 0 {
                return Ok(());
            }
            match Error::last_os_error() {
                why if why.kind() == ErrorKind::Interrupted => {}
                // the file system does not support the call, so zeros are written instead
                why if matches!(why.raw_os_error(), Some(libc::EOPNOTSUPP | libc::ENOSYS)) => break,
                why => return Err(why),
            }
        }
    }
    io::copy(&mut io::Read::take(io::repeat(0), length - start), file).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{decode, encode};
    use backend_runtime::{Complex, Slice};
    use ndarray::{Array, arr1, s};
    use std::fs;

    fn file(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("backends-npz-mapped-{}-{name}", std::process::id()))
    }

    /// Returns the bytes of a `.npy` file of version 1.
    fn npy(descr: &str, fortran: bool, shape: &str, data: &[u8]) -> Vec<u8> {
        let order = if fortran { "True" } else { "False" };
        let header = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}}}");
        let header = format!("{header:117}\n");
        [b"\x93NUMPY\x01\x00", &(header.len() as u16).to_le_bytes()[..], header.as_bytes(), data].concat()
    }

    #[test]
    fn parts_and_views_are_those_of_the_file() {
        let whole = Array::from_shape_fn((3, 4, 5), |(i, j, k)| (100 * i + 10 * j + k) as f64).into_dyn();
        let path = file("read.npy");
        let data: Vec<u8> = whole.t().iter().flat_map(|x| x.to_le_bytes()).collect();
        for bytes in [encode(&whole), npy("<f8", true, "(3, 4, 5)", &data)] {
            fs::write(&path, bytes).unwrap();
            let mapped = Mapped::open(&path).unwrap();
            assert_eq!((mapped.shape(), mapped.dtype()), (&[3, 4, 5][..], DType::Float64));
            assert_eq!(mapped.read::<f64>(&[1..3, 2..3, 1..4]).unwrap(), whole.slice(s![1..3, 2..3, 1..4]).into_dyn());
            assert_eq!(mapped.read::<f32>(&[0..3, 0..4, 0..5]).unwrap(), whole.mapv(|x| x as f32));
            assert_eq!(mapped.read::<f32>(&[0..3, 0..0, 0..5]).unwrap().shape(), [3, 0, 5]);
            assert!(mapped.read::<f64>(&[0..3, 0..4, 0..6]).unwrap_err().to_string().contains("must lie within shape"));
            assert!(mapped.read::<i64>(&[0..3, 0..4, 0..5]).unwrap_err().to_string().contains("does not hold"));
            // SAFETY: nobody changes the file of this test.
            let view = unsafe { mapped.view::<f64>() };
            assert_eq!(view.unwrap(), whole);
            // SAFETY: nobody changes the file of this test.
            let other = unsafe { mapped.view::<Complex<f32>>() };
            assert!(other.unwrap_err().to_string().contains("the elements are float64, but must be complex64"));
        }
        fs::remove_file(path).unwrap();
    }

    #[test]
    fn what_memory_cannot_show_is_read() {
        let path = file("odd.npy");
        fs::write(&path, npy(">i2", false, "(2,)", &[0, 1, 0xff, 0xfe])).unwrap();
        let mapped = Mapped::open(&path).unwrap();
        // SAFETY: nobody changes the file of this test.
        assert!(unsafe { mapped.view::<i16>() }.unwrap_err().to_string().contains("the byte order of the elements"));
        assert_eq!(mapped.read::<i16>(..).unwrap(), arr1(&[1, -2]).into_dyn());
        // an odd header length makes the data begin one byte later
        let odd = npy("<f8", false, "(1,)", &2.5_f64.to_le_bytes());
        let odd = [&odd[..8], &[119, 0], &odd[10..127], b" \n", &odd[128..]].concat();
        fs::write(&path, odd).unwrap();
        let mapped = Mapped::open(&path).unwrap();
        // SAFETY: nobody changes the file of this test.
        assert!(unsafe { mapped.view::<f64>() }.unwrap_err().to_string().contains("begin at byte 129"));
        assert_eq!(mapped.read::<f64>(..).unwrap()[[0]], 2.5);
        fs::write(&path, npy("|b1", false, "(2,)", &[1, 7])).unwrap();
        let mapped = Mapped::open(&path).unwrap();
        // SAFETY: nobody changes the file of this test.
        unsafe {
            assert!(mapped.view::<bool>().unwrap_err().to_string().contains("map them as u8"));
            assert_eq!(mapped.view::<u8>().unwrap(), arr1(&[1, 7]).into_dyn());
        }
        assert!(mapped.read::<bool>([Slice::from(..1)]).unwrap()[[0]]);
        assert!(mapped.read::<bool>(..).unwrap_err().to_string().contains("a byte of a bool must be 0 or 1"));
        fs::write(&path, npy("<f8", false, "(3, 0)", &[])).unwrap();
        let mapped = Mapped::open(&path).unwrap();
        // SAFETY: nobody changes the file of this test.
        assert_eq!(unsafe { mapped.view::<f64>() }.unwrap().shape(), [3, 0]);
        fs::remove_file(path).unwrap();
    }

    #[test]
    fn files_of_another_length_are_refused() {
        let path = file("short.npy");
        let whole = encode(&arr1(&[1.0, 2.0]).into_dyn());
        for length in (0..whole.len()).chain([whole.len() + 1]) {
            fs::write(&path, [&whole[..], &[0]].concat().split_at(length).0).unwrap();
            assert!(Mapped::open(&path).is_err() && MappedMut::open(&path).is_err(), "{length} bytes");
        }
        fs::write(&path, npy("<f8", false, "(4611686018427387904,)", &[0; 16])).unwrap();
        assert!(Mapped::open(&path).unwrap_err().to_string().contains("16 bytes of data"));
        fs::remove_file(path).unwrap();
    }

    #[test]
    fn what_is_written_in_parts_is_in_the_file() {
        let whole = Array::from_shape_fn((3, 4, 5), |(i, j, k)| (100 * i + 10 * j + k) as i32).into_dyn();
        let path = file("write.npy");
        let mut mapped = MappedMut::create::<i32>(&path, &[3, 4, 5]).unwrap();
        assert_eq!(mapped.read::<i32>(&[0..3, 0..4, 0..5]).unwrap(), ArrayD::zeros(vec![3, 4, 5]));
        for (at, part) in
            [([0, 0, 0], s![0..2, 0..4, 0..5]), ([2, 0, 0], s![2..3, 0..4, 0..2]), ([2, 0, 2], s![2..3, 0..4, 2..5])]
        {
            mapped.write(&at, &whole.slice(part).to_owned().into_dyn()).unwrap();
        }
        assert!(mapped.write(&[2, 0, 0], &whole).unwrap_err().to_string().contains("must lie within shape"));
        assert!(
            mapped
                .write(&[0, 0, 0], &whole.mapv(f64::from))
                .unwrap_err()
                .to_string()
                .contains("this has int32, the part float64")
        );
        assert_eq!(mapped.read::<i32>(&[0..3, 0..4, 0..5]).unwrap(), whole);
        mapped.flush().unwrap();
        assert_eq!(decode::<i32>(&fs::read(&path).unwrap()).unwrap(), whole);
        drop(mapped);
        let mut again = MappedMut::open(&path).unwrap();
        again.write(&[1, 1, 1], &ArrayD::from_elem(vec![1, 1, 1], -1)).unwrap();
        assert_eq!(decode::<i32>(&fs::read(&path).unwrap()).unwrap()[[1, 1, 1]], -1);
        let data: Vec<u8> = whole.iter().flat_map(|x| x.to_le_bytes()).collect();
        fs::write(&path, npy("<i4", true, "(3, 4, 5)", &data)).unwrap();
        let why = MappedMut::open(&path).unwrap().write(&[0, 0, 0], &whole).unwrap_err().to_string();
        assert!(why.contains("int32 in Fortran's order"), "{why}");
        let huge = MappedMut::create::<f64>(&path, &[usize::MAX, 2]).unwrap_err().to_string();
        assert!(huge.contains("too large"), "{huge}");
        #[cfg(target_os = "linux")]
        assert!(MappedMut::create::<f64>(&path, &[1 << 59]).is_err(), "no disk has so much room");
        fs::remove_file(path).unwrap();
    }
}
