//! A page of a TIFF file: its shape and dtype, and the checks that precede the decoding of its pixels.

use super::{ResolutionUnit, TiffCompression, TiffInfo};
use crate::files::Stream;
use backend_runtime::{DType, encoded::damaged};
use std::io::{Error, ErrorKind, Result};
use tiff::{
    ColorType, TiffError,
    decoder::{Decoder, ifd::Value},
    tags::{CompressionMethod, PhotometricInterpretation, SampleFormat, Tag},
};

/// The decoder of a file on disk, or of a buffer in memory.
pub type Pages = Decoder<Box<dyn Stream>>;

/// A page of a TIFF file.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TiffPage {
    /// The lengths of the axes: (rows, columns), or (rows, columns, samples).
    pub shape: Vec<usize>,
    /// The dtype of the elements.
    pub dtype: DType,
    /// How the elements are encoded.
    pub(super) encoding: Encoding,
}

/// How the decoder returns the elements of a page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Encoding {
    /// Number of bytes of the decoded page.
    pub bytes: usize,
    /// True if all elements of a sample follow each other, instead of all samples of a pixel.
    pub is_planar: bool,
    /// True if the decoder has subtracted the elements from the largest integer, to make black zero.
    pub is_inverted: bool,
}

/// Translates an error of the decoder.
pub(super) fn explain(why: TiffError) -> Error {
    match why {
        TiffError::IoError(e) if e.kind() == ErrorKind::UnexpectedEof => damaged("the file ends within its data"),
        // the decompression of damaged data
        TiffError::IoError(e) if e.kind() == ErrorKind::InvalidInput => damaged(e.to_string()),
        TiffError::IoError(e) => e,
        TiffError::UnsupportedError(e) => Error::new(ErrorKind::Unsupported, format!("this kind of page: {e}")),
        other => damaged(other.to_string()),
    }
}

fn unsupported(what: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Unsupported, format!("{what} are not read"))
}

impl TiffPage {
    /// Reads the description of the page at which the decoder is. `left` is the number of bytes that the data of this
    /// page and the pages after it may have; the bytes of this page are subtracted.
    pub(super) fn of(decoder: &mut Pages, left: &mut u64) -> Result<TiffPage> {
        let (columns, rows) = decoder.dimensions().map_err(explain)?;
        if rows == 0 || columns == 0 {
            return Err(damaged(format!("a page of {rows} x {columns} pixels")));
        }
        let color = decoder.colortype().map_err(explain)?;
        let bits = u64::from(color.bit_depth());
        let layout = decoder.image_buffer_layout().map_err(explain)?;
        let dtype = match (layout.sample_format, bits) {
            (SampleFormat::Uint, 1) => DType::Bool,
            (SampleFormat::Uint, 8) => DType::UInt8,
            (SampleFormat::Uint, 16) => DType::UInt16,
            (SampleFormat::Uint, 32) => DType::UInt32,
            (SampleFormat::Uint, 64) => DType::UInt64,
            (SampleFormat::Int, 8) => DType::Int8,
            (SampleFormat::Int, 16) => DType::Int16,
            (SampleFormat::Int, 32) => DType::Int32,
            (SampleFormat::Int, 64) => DType::Int64,
            (SampleFormat::IEEEFP, 16) => DType::Float16,
            (SampleFormat::IEEEFP, 32) => DType::Float32,
            (SampleFormat::IEEEFP, 64) => DType::Float64,
            (format, bits) => return Err(unsupported(format!("elements of {bits} bits ({format:?})"))),
        };
        if matches!(color, ColorType::Palette(_) | ColorType::YCbCr(_) | ColorType::Lab(_)) {
            return Err(unsupported(format!("colours {color:?}")));
        }
        let stored: usize = decoder.find_tag_unsigned(Tag::SamplesPerPixel).map_err(explain)?.unwrap_or(1);
        let is_planar = layout.planes > 1;
        let samples = if is_planar { layout.planes } else { usize::from(color.num_samples()) };
        if samples != stored {
            return Err(unsupported(format!("pixels of {stored} samples, of which {samples} are colours,")));
        }
        if dtype == DType::Bool && samples != 1 {
            return Err(unsupported("pixels of several samples of one bit"));
        }
        let photometric = decoder.find_tag_unsigned(Tag::PhotometricInterpretation).map_err(explain)?;
        let is_inverted = photometric == Some(PhotometricInterpretation::WhiteIsZero.to_u16());
        if is_inverted && layout.sample_format != SampleFormat::Uint {
            return Err(unsupported("signed and float elements in which white is zero"));
        }

        let (rows, columns) = (rows as usize, columns as usize);
        let mut shape = vec![rows, columns];
        if samples > 1 {
            shape.push(samples);
        }
        let row = (columns as u64 * bits).div_ceil(8) * samples as u64;
        let bytes = row.checked_mul(rows as u64).and_then(|n| usize::try_from(n).ok());
        let page = format!("{rows} x {columns} pixels of {samples} x {bits} bits");
        let bytes = bytes.filter(|n| *n == layout.complete_len).ok_or_else(|| damaged(format!("a page of {page}")))?;
        let (packed, largest) = data(decoder, bits, samples)?;
        let unpacked = packed.saturating_mul(factor(decoder)?);
        if packed > *left || (bytes as u64) > unpacked || largest > unpacked.max(*left) {
            return Err(damaged(format!("the data of a page are too short for {page}")));
        }
        *left -= packed;
        Ok(TiffPage { shape, dtype, encoding: Encoding { bytes, is_planar, is_inverted } })
    }
}

/// Returns the number of bytes of the strips or tiles of a page, before they are decoded, and the number of bytes of
/// one decoded row of a strip or tile.
fn data(decoder: &mut Pages, bits: u64, samples: usize) -> Result<(u64, u64)> {
    let strips = decoder.find_tag_unsigned_vec::<u64>(Tag::StripByteCounts).map_err(explain)?;
    let counts = match strips {
        Some(counts) => counts,
        None => decoder.find_tag_unsigned_vec(Tag::TileByteCounts).map_err(explain)?.unwrap_or_default(),
    };
    let (columns, _) = decoder.chunk_dimensions();
    let row = u64::from(columns).saturating_mul(bits * samples as u64).div_ceil(8);
    Ok((counts.into_iter().fold(0, u64::saturating_add), row))
}

/// The largest factor by which the compression of a page can reduce data.
fn factor(decoder: &mut Pages) -> Result<u64> {
    let method = decoder.find_tag_unsigned(Tag::Compression).map_err(explain)?.unwrap_or(1);
    Ok(match CompressionMethod::from_u16(method) {
        Some(CompressionMethod::None) => 1,
        // two bytes for up to 128 equal ones
        Some(CompressionMethod::PackBits) => 64,
        // at least two bits for a repetition of 258 bytes
        Some(CompressionMethod::Deflate | CompressionMethod::OldDeflate) => 1032,
        // 12 bits for a string of fewer than 4096 bytes
        Some(CompressionMethod::LZW) => 2731,
        _ => return Err(unsupported(format!("pages that are compressed by method {method}"))),
    })
}

/// Reads the information of the page at which the decoder is.
pub(super) fn info(decoder: &mut Pages) -> Result<TiffInfo> {
    let mut ratio = |tag| match decoder.find_tag(tag) {
        Ok(Some(Value::Rational(n, d))) if n > 0 && d > 0 => Some(f64::from(n) / f64::from(d)),
        _ => None,
    };
    let resolution = [ratio(Tag::YResolution), ratio(Tag::XResolution)];
    let resolution = match resolution {
        [Some(rows), Some(columns)] => Some([rows, columns]),
        _ => None,
    };
    let unit = match decoder.find_tag_unsigned::<u16>(Tag::ResolutionUnit).map_err(explain)? {
        Some(1) => ResolutionUnit::None,
        Some(3) => ResolutionUnit::Centimeter,
        // inch is the unit if the page has none
        _ if resolution.is_some() => ResolutionUnit::Inch,
        _ => ResolutionUnit::None,
    };
    let description = match decoder.find_tag(Tag::ImageDescription) {
        Ok(Some(text)) => text.into_string().ok().map(|text| text.trim_end_matches('\0').to_string()),
        _ => None,
    };
    let method = decoder.find_tag_unsigned(Tag::Compression).map_err(explain)?.unwrap_or(1);
    let compression = match CompressionMethod::from_u16(method) {
        Some(CompressionMethod::Deflate | CompressionMethod::OldDeflate) => TiffCompression::Deflate,
        Some(CompressionMethod::LZW) => TiffCompression::Lzw,
        Some(CompressionMethod::PackBits) => TiffCompression::PackBits,
        _ => TiffCompression::None,
    };
    Ok(TiffInfo { resolution, unit, description, compression })
}
