//! Finished pictures, and PNG files of them.

use crate::{Error, Result, color::Rgb, error::MAX_PIXELS};
use std::{borrow::Cow, fs, path::Path, sync::Arc};

/// Red, green and blue of each pixel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    width: u32,
    height: u32,
    /// Row by row from the top.
    pixels: Vec<u8>,
}

impl Picture {
    pub(crate) fn new(width: u32, height: u32, pixels: Vec<u8>) -> Picture {
        Picture { width, height, pixels }
    }

    /// The width in pixels.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// The height in pixels.
    pub fn height(&self) -> u32 {
        self.height
    }

    /// Red, green and blue of each pixel, row by row from the top.
    pub fn as_bytes(&self) -> &[u8] {
        &self.pixels
    }

    /// The colour of a pixel; (0, 0) is at the top left. `None` outside of the picture.
    pub fn pixel(&self, x: u32, y: u32) -> Option<Rgb> {
        if x >= self.width || y >= self.height {
            return None;
        }
        let at = (y as usize * self.width as usize + x as usize) * 3;
        self.pixels.get(at..at + 3)?.try_into().ok()
    }

    /// Centres the picture on a white area that is at least as large as the picture.
    fn padded(&self, width: u32, height: u32) -> Cow<'_, Picture> {
        if (self.width, self.height) == (width, height) {
            return Cow::Borrowed(self);
        }
        let mut pixels = vec![255; width as usize * height as usize * 3];
        let (left, top) = ((width - self.width) as usize / 2, (height - self.height) as usize / 2);
        let line = self.width as usize * 3;
        for (row, from) in self.pixels.chunks_exact(line).enumerate() {
            let at = ((top + row) * width as usize + left) * 3;
            pixels[at..at + line].copy_from_slice(from);
        }
        Cow::Owned(Picture { width, height, pixels })
    }

    /// Encodes the picture as a PNG file.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Library`] if the encoder fails.
    pub fn png(&self) -> Result<Vec<u8>> {
        encoded(self, &[], None)
    }

    /// Writes the picture into a PNG file.
    ///
    /// # Errors
    ///
    /// Returns [`Error::File`] if the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        write(path.as_ref(), &self.png()?)
    }
}

/// Encodes pictures as an animated PNG file, which browsers show, with this number of frames per second. The animation
/// repeats endlessly. Programs that cannot show animations show the first frame. A frame that is smaller than another
/// one is centred on white; give all frames the same [`Axes::range`](crate::Axes::range) and size of plot, so that they
/// have the same size.
///
/// # Errors
///
/// Returns [`Error::Empty`] without frames, and [`Error::Argument`] if `per_second` is 0.
///
/// ```
/// use backends_plot::prelude::*;
///
/// let frame = |k: u8| imshow(&ndarray::arr2(&[[k, 1], [2, 3]])).range(0.0, 3.0).size(60, 60).draw();
/// let frames = (0..3).map(frame).collect::<Result<Vec<_>, _>>()?;
/// let bytes = animation(&frames, 20)?;
/// assert_eq!(bytes[1..4], *b"PNG");
/// # Ok::<(), backends_plot::Error>(())
/// ```
pub fn animation(frames: &[Picture], per_second: u16) -> Result<Vec<u8>> {
    let [first, others @ ..] = frames else { return Err(Error::Empty { call: "animation" }) };
    if per_second == 0 {
        let reason = "the number of frames per second must be positive, but it is 0".into();
        return Err(Error::Argument { call: "animation", reason });
    }
    let width = frames.iter().map(|frame| frame.width).fold(0, u32::max);
    let height = frames.iter().map(|frame| frame.height).fold(0, u32::max);
    let (wide, high) = (u64::from(width), u64::from(height));
    if wide * high > MAX_PIXELS {
        return Err(Error::Size { width: wide, height: high });
    }
    encoded(&first.padded(width, height), others, Some(per_second))
}

/// Writes pictures into an animated PNG file; see [`animation`].
///
/// # Errors
///
/// Returns the errors of [`animation`], and [`Error::File`] if the file cannot be written.
pub fn save_animation(path: impl AsRef<Path>, frames: &[Picture], per_second: u16) -> Result<()> {
    write(path.as_ref(), &animation(frames, per_second)?)
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    fs::write(path, bytes).map_err(|e| Error::File { path: path.to_owned(), source: Arc::new(e) })
}

fn encoded(first: &Picture, others: &[Picture], per_second: Option<u16>) -> Result<Vec<u8>> {
    let encode = || -> std::result::Result<Vec<u8>, png::EncodingError> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, first.width, first.height);
        encoder.set_color(png::ColorType::Rgb);
        if let Some(per_second) = per_second {
            encoder.set_animated(others.len() as u32 + 1, 0)?;
            encoder.set_frame_delay(1, per_second)?;
        }
        let mut writer = encoder.write_header()?;
        writer.write_image_data(&first.pixels)?;
        for other in others {
            writer.write_image_data(&other.padded(first.width, first.height).pixels)?;
        }
        writer.finish()?;
        Ok(bytes)
    };
    encode().map_err(|e| Error::Library { reason: e.to_string() })
}
