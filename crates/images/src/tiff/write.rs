//! Writes TIFF files.

use super::{ResolutionUnit, TiffCompression, TiffInfo};
use crate::files::{absent, invalid};
use backend_runtime::{DType, Element, HostArray, bytes};
use ndarray::Axis;
use std::{
    fs::File,
    io::{BufWriter, Error, Result, Seek, Write},
    path::Path,
};
use tiff::{
    TiffError,
    encoder::{Compression, DeflateLevel, Rational, TiffEncoder, TiffKind, TiffValue, colortype::ColorType},
    tags::{self, ExtraSamples, PhotometricInterpretation, SampleFormat, Tag},
};

/// Number of bytes of elements from which on a file is a BigTIFF. Offsets of other files have 32 bits, and the
/// descriptions of the pages and incompressible data take more bytes than the elements.
const BIG: usize = 3 << 30;

/// A sample of a pixel. Elements of float16 are written as their bits.
trait Sample: Element {
    const BITS: u16 = 8 * size_of::<Self>() as u16;
    const FORMAT: SampleFormat;
}

macro_rules! samples {
    ($($type:ty => $format:ident),*) => { $(impl Sample for $type { const FORMAT: SampleFormat = SampleFormat::$format; })* };
}

samples!(u8 => Uint, u16 => Uint, u32 => Uint, u64 => Uint, i8 => Int, i16 => Int, i32 => Int, i64 => Int);
samples!(f32 => IEEEFP, f64 => IEEEFP);

/// Pixels of `N` samples. If `HALF` is true, the samples are the bits of float16.
struct Pixels<T, const N: usize, const HALF: bool>(T);

impl<T: Sample + TiffValue, const N: usize, const HALF: bool> ColorType for Pixels<T, N, HALF> {
    type Inner = T;
    const TIFF_VALUE: PhotometricInterpretation = match N {
        3 => PhotometricInterpretation::RGB,
        _ => PhotometricInterpretation::BlackIsZero,
    };
    const BITS_PER_SAMPLE: &'static [u16] = &[T::BITS; N];
    const SAMPLE_FORMAT: &'static [SampleFormat] = &[if HALF { SampleFormat::IEEEFP } else { T::FORMAT }; N];

    /// No file is written with a predictor.
    fn horizontal_predict(_: &[T], _: &mut Vec<T>) {}
}

pub fn save<T: Element>(path: &Path, x: &HostArray<T>, info: &TiffInfo) -> Result<()> {
    let refused = || invalid(format!("TIFF files have no arrays of the shape {:?}", x.shape()));
    let (pages, size, samples) = match *x.shape() {
        [rows, columns] => (1, [rows, columns], 1),
        [pages, rows, columns] => (pages, [rows, columns], 1),
        [pages, rows, columns, samples @ 1..=4] => (pages, [rows, columns], samples),
        _ => return Err(refused()),
    };
    let [rows, columns] = size.map(|n| u32::try_from(n).unwrap_or(0));
    if pages == 0 || rows == 0 || columns == 0 {
        return Err(refused());
    }
    if matches!(T::DTYPE, DType::Bool | DType::BFloat16 | DType::Complex64 | DType::Complex128) {
        return Err(absent("TIFF", T::DTYPE));
    }
    if info.description.as_ref().is_some_and(|text| !text.is_ascii() || text.contains('\0')) {
        return Err(invalid("the description of a TIFF file is ASCII text"));
    }
    let resolution = info.resolution.map(|numbers| numbers.map(rational));
    if resolution.is_some_and(|numbers| numbers.contains(&None)) {
        return Err(invalid(format!("the resolution {:?} is not positive and less than 2^32", info.resolution)));
    }
    let resolution = resolution.and_then(|[y, x]| Some([y?, x?]));
    let job = Job { info, resolution, pages, size: [rows, columns], samples };
    let file = BufWriter::new(File::create(path)?);
    let compression = match info.compression {
        TiffCompression::None => Compression::Uncompressed,
        TiffCompression::Deflate => Compression::Deflate(DeflateLevel::Balanced),
        TiffCompression::Lzw => Compression::Lzw,
        TiffCompression::PackBits => Compression::Packbits,
    };
    if x.len().saturating_mul(size_of::<T>()) < BIG {
        job.write(TiffEncoder::new(file).map_err(explain)?.with_compression(compression), x)
    } else {
        job.write(TiffEncoder::new_big(file).map_err(explain)?.with_compression(compression), x)
    }
}

struct Job<'a> {
    info: &'a TiffInfo,
    resolution: Option<[(u32, u32); 2]>,
    pages: usize,
    /// (rows, columns)
    size: [u32; 2],
    samples: usize,
}

impl Job<'_> {
    fn write<T: Element, W: Write + Seek, K: TiffKind>(
        &self,
        mut to: TiffEncoder<W, K>,
        x: &HostArray<T>,
    ) -> Result<()> {
        for k in 0..self.pages {
            let page = if x.ndim() == 2 { x.view() } else { x.index_axis(Axis(0), k) };
            let elements: Vec<T> = page.iter().copied().collect();
            let bytes = bytes::as_bytes(&elements);
            let to = &mut to;
            match T::DTYPE {
                DType::UInt8 => self.samples::<u8, _, _, false>(to, bytes, k),
                DType::UInt16 => self.samples::<u16, _, _, false>(to, bytes, k),
                DType::UInt32 => self.samples::<u32, _, _, false>(to, bytes, k),
                DType::UInt64 => self.samples::<u64, _, _, false>(to, bytes, k),
                DType::Int8 => self.samples::<i8, _, _, false>(to, bytes, k),
                DType::Int16 => self.samples::<i16, _, _, false>(to, bytes, k),
                DType::Int32 => self.samples::<i32, _, _, false>(to, bytes, k),
                DType::Int64 => self.samples::<i64, _, _, false>(to, bytes, k),
                DType::Float16 => self.samples::<u16, _, _, true>(to, bytes, k),
                DType::Float32 => self.samples::<f32, _, _, false>(to, bytes, k),
                DType::Float64 => self.samples::<f64, _, _, false>(to, bytes, k),
                other => Err(absent("TIFF", other)),
            }?;
        }
        Ok(())
    }

    fn samples<S, W, K, const HALF: bool>(&self, to: &mut TiffEncoder<W, K>, bytes: &[u8], k: usize) -> Result<()>
    where
        S: Sample + TiffValue,
        [S]: TiffValue,
        W: Write + Seek,
        K: TiffKind,
    {
        let mut elements: Vec<S> = Vec::new();
        bytes::extend("save_tiff", &mut elements, bytes)?;
        match self.samples {
            1 => self.page::<Pixels<S, 1, HALF>, _, _>(to, &elements, &[], k),
            2 => self.page::<Pixels<S, 1, HALF>, _, _>(to, &elements, &[ExtraSamples::Unspecified], k),
            3 => self.page::<Pixels<S, 3, HALF>, _, _>(to, &elements, &[], k),
            _ => self.page::<Pixels<S, 3, HALF>, _, _>(to, &elements, &[ExtraSamples::UnassociatedAlpha], k),
        }
    }

    fn page<C: ColorType, W: Write + Seek, K: TiffKind>(
        &self,
        to: &mut TiffEncoder<W, K>,
        elements: &[C::Inner],
        extra: &[ExtraSamples],
        k: usize,
    ) -> Result<()>
    where
        [C::Inner]: TiffValue,
    {
        let [rows, columns] = self.size;
        let mut image = to.new_image::<C>(columns, rows).map_err(explain)?;
        if !extra.is_empty() {
            image.extra_samples(extra).map_err(explain)?;
        }
        if let Some([y, x]) = self.resolution {
            image.y_resolution(Rational { n: y.0, d: y.1 });
            image.x_resolution(Rational { n: x.0, d: x.1 });
        }
        image.resolution_unit(match self.info.unit {
            ResolutionUnit::None => tags::ResolutionUnit::None,
            ResolutionUnit::Inch => tags::ResolutionUnit::Inch,
            ResolutionUnit::Centimeter => tags::ResolutionUnit::Centimeter,
        });
        if let Some(text) = self.info.description.as_deref().filter(|_| k == 0) {
            image.encoder().write_tag(Tag::ImageDescription, text).map_err(explain)?;
        }
        image.write_data(elements).map_err(explain)
    }
}

fn explain(why: TiffError) -> Error {
    match why {
        TiffError::IoError(e) => e,
        other => invalid(other.to_string()),
    }
}

/// A fraction that is near a positive number, with the largest power of ten as denominator.
fn rational(number: f64) -> Option<(u32, u32)> {
    let scaled = |denominator: u32| {
        let n = (number * f64::from(denominator)).round();
        ((1.0..=f64::from(u32::MAX)).contains(&n)).then_some((n as u32, denominator))
    };
    let exact = scaled(1).filter(|(n, _)| f64::from(*n) == number);
    exact.or_else(|| (0..=9).rev().find_map(|power| scaled(10_u32.pow(power))))
}
