//! `TiffInfo`: what a TIFF file says beside the pixels.

/// Information of a TIFF file. [`TiffReader::info`](crate::TiffReader::info) returns that of the first page, and
/// [`TiffFiles::save_tiff`](crate::TiffFiles::save_tiff) writes it to every page, but the description only to the
/// first.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct TiffInfo {
    /// Pixels per unit along (rows, columns), or `None` if the file does not say it. The size of a pixel is the
    /// reciprocal.
    pub resolution: Option<[f64; 2]>,
    /// The unit of the resolution. Programs such as ImageJ name other units in the description.
    pub unit: ResolutionUnit,
    /// The text of the page. ImageJ, OME and `tifffile` store the sizes and names of axes there.
    pub description: Option<String>,
    /// The compression of the pages.
    pub compression: TiffCompression,
}

/// The unit of the resolution of a TIFF file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ResolutionUnit {
    /// No unit, or another unit.
    #[default]
    None,
    /// Pixels per inch.
    Inch,
    /// Pixels per centimetre.
    Centimeter,
}

/// The compression of the pages of a TIFF file. None of them loses information.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum TiffCompression {
    /// No compression.
    #[default]
    None,
    /// Deflate, as in zip files.
    Deflate,
    /// The method of Lempel, Ziv and Welch.
    Lzw,
    /// Runs of equal bytes.
    PackBits,
}

impl TiffInfo {
    /// No information, and no compression.
    pub fn new() -> TiffInfo {
        TiffInfo::default()
    }

    /// Sets the pixels per unit along (rows, columns).
    pub fn resolution(mut self, pixels: [f64; 2], unit: ResolutionUnit) -> TiffInfo {
        self.resolution = Some(pixels);
        self.unit = unit;
        self
    }

    /// Sets the text of the first page.
    pub fn description(mut self, text: impl Into<String>) -> TiffInfo {
        self.description = Some(text.into());
        self
    }

    /// Sets the compression.
    pub fn compression(mut self, compression: TiffCompression) -> TiffInfo {
        self.compression = compression;
        self
    }
}
