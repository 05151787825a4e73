//! A picture in memory: rectangles, text, and PNG bytes.

use embedded_graphics::{
    Pixel,
    mono_font::{MonoTextStyle, ascii::FONT_10X20},
    pixelcolor::Rgb888,
    prelude::{DrawTarget, Drawable, OriginDimensions, Point, RgbColor, Size},
    text::{Alignment, Baseline, Text, TextStyleBuilder},
};
use std::{convert::Infallible, error::Error};

/// Width and height of a letter.
pub const LETTER: [i32; 2] = [10, 20];

pub const INK: [u8; 3] = [30, 34, 42];

pub struct Canvas {
    width: i32,
    height: i32,
    pixels: Vec<[u8; 3]>,
}

/// How text lies to its point.
pub enum Place {
    /// Centred below.
    Below,
    /// Ends before it, centred vertically.
    Before,
    /// Begins after it, centred vertically.
    After,
    /// Centred on it, turned to be read from the right.
    Turned,
}

impl Canvas {
    /// A white canvas.
    pub fn new(width: i32, height: i32) -> Canvas {
        Canvas { width, height, pixels: vec![[255; 3]; (width * height) as usize] }
    }

    pub fn dot(&mut self, x: i32, y: i32, color: [u8; 3]) {
        if (0..self.width).contains(&x) && (0..self.height).contains(&y) {
            self.pixels[(y * self.width + x) as usize] = color;
        }
    }

    /// A filled rectangle.
    pub fn fill(&mut self, x: i32, y: i32, width: i32, height: i32, color: [u8; 3]) {
        for (dx, dy) in (0..height).flat_map(|dy| (0..width).map(move |dx| (dx, dy))) {
            self.dot(x + dx, y + dy, color);
        }
    }

    /// The outline around a rectangle.
    pub fn frame(&mut self, x: i32, y: i32, width: i32, height: i32) {
        for (x, y, width, height) in [
            (x - 1, y - 1, width + 2, 1),
            (x - 1, y + height, width + 2, 1),
            (x - 1, y, 1, height),
            (x + width, y, 1, height),
        ] {
            self.fill(x, y, width, height, INK);
        }
    }

    pub fn text(&mut self, x: i32, y: i32, place: Place, text: &str) {
        let (alignment, baseline) = match place {
            Place::Below => (Alignment::Center, Baseline::Top),
            Place::Before => (Alignment::Right, Baseline::Middle),
            Place::After => (Alignment::Left, Baseline::Middle),
            Place::Turned => return self.turned(x, y, text),
        };
        let letters = MonoTextStyle::new(&FONT_10X20, Rgb888::new(INK[0], INK[1], INK[2]));
        let style = TextStyleBuilder::new().alignment(alignment).baseline(baseline).build();
        let Ok(_) = Text::with_text_style(text, Point::new(x, y), letters, style).draw(self);
    }

    fn turned(&mut self, x: i32, y: i32, text: &str) {
        let (length, height) = (LETTER[0] * text.len() as i32, LETTER[1]);
        let mut level = Canvas::new(length, height);
        level.text(length / 2, 0, Place::Below, text);
        for (across, down) in (0..height).flat_map(|down| (0..length).map(move |across| (across, down))) {
            let color = level.pixels[(down * length + across) as usize];
            self.dot(x - height / 2 + down, y + length / 2 - across, color);
        }
    }

    /// The bytes of a PNG file.
    pub fn png(&self) -> Result<Vec<u8>, Box<dyn Error>> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, self.width as u32, self.height as u32);
        encoder.set_color(png::ColorType::Rgb);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(self.pixels.as_flattened())?;
        writer.finish()?;
        Ok(bytes)
    }
}

impl OriginDimensions for Canvas {
    fn size(&self) -> Size {
        Size::new(self.width as u32, self.height as u32)
    }
}

impl DrawTarget for Canvas {
    type Color = Rgb888;
    type Error = Infallible;

    fn draw_iter<I: IntoIterator<Item = Pixel<Rgb888>>>(&mut self, pixels: I) -> Result<(), Infallible> {
        for Pixel(at, color) in pixels {
            self.dot(at.x, at.y, [color.r(), color.g(), color.b()]);
        }
        Ok(())
    }
}
