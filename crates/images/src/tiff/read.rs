//! `TiffReader`: reads pages of a TIFF file.

use super::{
    TiffInfo, TiffPage, directories,
    page::{Pages, explain, info},
};
use crate::files::{ReadArray, Source, invalid, named, on, value};
use backend_runtime::{
    Arrays, DType, Element, Value,
    encoded::{Elements, damaged, reserved},
};
use ndarray::{ArrayD, IxDyn};
use std::{
    fmt,
    io::{Read, Result, Seek},
    ops::{Bound, Range, RangeBounds},
    path::Path,
};
use tiff::decoder::{Decoder, Limits};

/// A TIFF file, from which all pages or some of them are read.
pub struct TiffReader {
    name: String,
    decoder: Pages,
    pages: Vec<TiffPage>,
    info: TiffInfo,
}

impl TiffReader {
    /// Opens a file, and reads the descriptions of all its pages.
    ///
    /// # Errors
    /// An error that names the file: of the system; `InvalidData` if the file is damaged, or too short for its pages;
    /// `Unsupported` if the crate does not read its kind of pixels or compression.
    pub fn open(path: impl AsRef<Path>) -> Result<TiffReader> {
        TiffReader::of(Source::open(path.as_ref())?)
    }

    /// Opens a file in memory. Error messages name the file `name`.
    ///
    /// # Errors
    /// The errors of [`TiffReader::open`].
    pub fn from_bytes(name: &str, bytes: Vec<u8>) -> Result<TiffReader> {
        TiffReader::of(Source::of_bytes(name, bytes))
    }

    fn of(source: Source) -> Result<TiffReader> {
        let Source { name, mut from, length } = source;
        let open = || {
            directories::check(&mut *from, length)?;
            from.rewind()?;
            // the lists of the descriptions lie within the file, so they may be as long as they are
            let mut limits = Limits::unlimited();
            limits.intermediate_buffer_size = usize::try_from(length).unwrap_or(usize::MAX);
            let mut decoder = Decoder::new(from).map_err(explain)?.with_limits(limits);
            let info = info(&mut decoder)?;
            let (mut pages, mut left) = (Vec::new(), length);
            loop {
                let page = TiffPage::of(&mut decoder, &mut left);
                pages.push(page.map_err(named(&format!("page {}", pages.len())))?);
                if !decoder.more_images() {
                    break;
                }
                decoder.next_image().map_err(explain)?;
            }
            check_images(&info, pages.len())?;
            Ok((decoder, pages, info))
        };
        let (decoder, pages, info) = open().map_err(named(&name))?;
        Ok(TiffReader { name, decoder, pages, info })
    }

    /// The pages, in the order of the file.
    pub fn pages(&self) -> &[TiffPage] {
        &self.pages
    }

    /// The shape of the whole array: (pages, rows, columns), or (pages, rows, columns, samples).
    ///
    /// # Errors
    /// `InvalidData` if the pages differ in shape or dtype. Then [`TiffReader::read`] reads pages that are equal.
    pub fn shape(&self) -> Result<Vec<usize>> {
        let page = self.common(0..self.pages.len())?;
        Ok([&[self.pages.len()], &page.shape[..]].concat())
    }

    /// The dtype of the elements in the file.
    ///
    /// # Errors
    /// The error of [`TiffReader::shape`].
    pub fn dtype(&self) -> Result<DType> {
        Ok(self.common(0..self.pages.len())?.dtype)
    }

    /// The resolution, the description and the compression of the first page.
    pub fn info(&self) -> &TiffInfo {
        &self.info
    }

    /// Reads a range of pages, such as `..` or `2..5`, as elements of `T`. Converts like
    /// [`TiffFiles::load_tiff`](crate::TiffFiles::load_tiff). The axes are those of [`TiffReader::shape`].
    ///
    /// # Errors
    /// An error that names the file: of the system; `InvalidData` if the file is damaged, or if the pages of the range
    /// differ in shape or dtype; `InvalidInput` if there are no such pages, or if `T` does not hold the elements.
    pub fn read<T: Element>(&mut self, pages: impl RangeBounds<usize>) -> Result<ArrayD<T>> {
        let range = self.range(pages)?;
        let page = self.common(range.clone())?.clone();
        let name = self.name.clone();
        self.stack(range, &page).map_err(named(&name))
    }

    /// Reads a range of pages, and moves them to a backend.
    ///
    /// # Errors
    /// The errors of [`TiffReader::read`], and the errors of the backend.
    pub fn array<B: Arrays, T: Element>(&mut self, b: &B, pages: impl RangeBounds<usize>) -> Result<B::Array<T>> {
        on(b, self.read(pages)?)
    }

    /// Reads all pages in their own dtype on a backend.
    ///
    /// # Errors
    /// The errors of [`TiffReader::read`], and the errors of the backend.
    pub fn value<B: Arrays>(&mut self, b: &B) -> Result<Value<B>> {
        value(b, self.dtype()?, Whole(self))
    }

    fn range(&self, pages: impl RangeBounds<usize>) -> Result<Range<usize>> {
        let count = self.pages.len();
        let start = match pages.start_bound() {
            Bound::Included(&n) => n,
            Bound::Excluded(&n) => n.saturating_add(1),
            Bound::Unbounded => 0,
        };
        let end = match pages.end_bound() {
            Bound::Included(&n) => n.saturating_add(1),
            Bound::Excluded(&n) => n,
            Bound::Unbounded => count,
        };
        if start < end && end <= count {
            return Ok(start..end);
        }
        Err(named(&self.name)(invalid(format!("the pages {start}..{end} of {count} pages"))))
    }

    /// The shape and dtype that all pages of a range have.
    fn common(&self, range: Range<usize>) -> Result<&TiffPage> {
        let first = &self.pages[range.start];
        let other = range.clone().find(|&k| {
            let page = &self.pages[k];
            (&page.shape, page.dtype) != (&first.shape, first.dtype)
        });
        let Some(k) = other else { return Ok(first) };
        let page = &self.pages[k];
        Err(named(&self.name)(damaged(format!(
            "page {} has the shape {:?} and the dtype {}, but page {k} has {:?} and {}",
            range.start, first.shape, first.dtype, page.shape, page.dtype
        ))))
    }

    fn stack<T: Element>(&mut self, range: Range<usize>, page: &TiffPage) -> Result<ArrayD<T>> {
        let elements = Elements::native(page.dtype);
        elements.fit::<T>()?;
        let count: usize = page.shape.iter().product();
        let all = count.checked_mul(range.len()).ok_or_else(|| damaged("more elements than there may be"))?;
        let mut values = reserved::<T>(all)?;
        let shape = [&[range.len()], &page.shape[..]].concat();
        let (mut bytes, mut block) = (Vec::new(), Vec::new());
        for k in range {
            self.decode(k, &mut bytes).map_err(named(&format!("page {k}")))?;
            if page.dtype == DType::Bool {
                bytes = bits(&bytes, page.shape[1]);
            }
            let mut rest = &bytes[..];
            let is_planar = self.pages[k].encoding.is_planar;
            if !is_planar {
                elements.read(&mut values, count, &mut block, |part| rest.read_exact(part))?;
                continue;
            }
            // the samples of a pixel do not follow each other
            let mut planes = reserved::<T>(count)?;
            elements.read(&mut planes, count, &mut block, |part| rest.read_exact(part))?;
            let [rows, columns, samples] = [page.shape[0], page.shape[1], page.shape[2]];
            let pixels = rows * columns;
            values.extend((0..count).map(|i| planes[i % samples * pixels + i / samples]));
        }
        ArrayD::from_shape_vec(IxDyn(&shape), values).map_err(|_| damaged(format!("the shape {shape:?} is too large")))
    }

    /// Decodes a page into `bytes`, in the byte order of the machine.
    fn decode(&mut self, k: usize, bytes: &mut Vec<u8>) -> Result<()> {
        let encoding = self.pages[k].encoding;
        if bytes.len() != encoding.bytes {
            *bytes = reserved(encoding.bytes)?;
            bytes.resize(encoding.bytes, 0);
        }
        self.decoder.seek_to_image(k).map_err(explain)?;
        self.decoder.read_image_bytes(bytes).map_err(explain)?;
        if encoding.is_inverted {
            bytes.iter_mut().for_each(|byte| *byte = !*byte);
        }
        Ok(())
    }
}

/// Returns the elements of pixels of one bit. Each row begins with a new byte.
fn bits(bytes: &[u8], columns: usize) -> Vec<u8> {
    let row = |row: &[u8]| (0..columns).map(|k| row[k / 8] >> (7 - k % 8) & 1).collect::<Vec<u8>>();
    bytes.chunks_exact(columns.div_ceil(8)).flat_map(row).collect()
}

/// Returns an error for a file of ImageJ that describes only the first of its images. ImageJ writes such files if they
/// are larger than 4 GB.
fn check_images(info: &TiffInfo, pages: usize) -> Result<()> {
    let text = info.description.as_deref().filter(|text| text.starts_with("ImageJ=")).unwrap_or_default();
    let images = text.lines().find_map(|line| line.strip_prefix("images=")?.trim().parse::<usize>().ok());
    match images {
        Some(images) if pages == 1 && images > 1 => {
            Err(damaged(format!("{images} images after the description of one page, as ImageJ writes large files")))
        }
        _ => Ok(()),
    }
}

struct Whole<'a>(&'a mut TiffReader);

impl ReadArray for Whole<'_> {
    fn run<T: Element>(self) -> Result<ArrayD<T>> {
        self.0.read(..)
    }
}

impl fmt::Debug for TiffReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TiffReader { name, pages, info, .. } = self;
        f.debug_struct("TiffReader")
            .field("name", name)
            .field("pages", pages)
            .field("info", info)
            .finish_non_exhaustive()
    }
}
