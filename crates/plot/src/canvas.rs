//! A surface to draw on, by the crate `plotters`. It has more pixels than the picture. Averaging these pixels makes
//! edges smooth and the distances of letters even.

use crate::{
    Error, Result,
    color::{INK, Rgb},
    error::MAX_PIXELS,
    picture::Picture,
};
use plotters::{
    backend::DrawingBackend,
    prelude::{BitMapBackend, Color, RGBColor, ShapeStyle},
    style::{FontDesc, FontFamily, FontStyle, FontTransform, register_font},
};
use std::sync::Once;

/// The number of drawn pixels for each pixel of the picture, along each axis.
const FINE: usize = 3;

const FONT: &str = "backends-plot DejaVu Sans";

/// Height of capital letters and digits, as a fraction of the font size.
const CAPITAL: f64 = 0.626;

/// The longest text in characters.
const LONGEST: usize = 200;

/// A rectangle in pixels: left, top, right, bottom.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rect {
    pub left: f64,
    pub top: f64,
    pub right: f64,
    pub bottom: f64,
}

impl Rect {
    pub fn new(left: f64, top: f64, width: f64, height: f64) -> Rect {
        Rect { left, top, right: left + width, bottom: top + height }
    }

    pub fn width(&self) -> f64 {
        self.right - self.left
    }

    pub fn height(&self) -> f64 {
        self.bottom - self.top
    }

    pub fn contains(&self, [x, y]: [f64; 2]) -> bool {
        (self.left..=self.right).contains(&x) && (self.top..=self.bottom).contains(&y)
    }
}

/// The place of a text relative to its point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Anchor {
    Left,
    Center,
    Right,
    /// Centred, and turned to run upwards.
    Upwards,
}

/// A surface of a fixed size. Coordinates are in pixels of the picture.
pub(crate) struct Canvas {
    width: usize,
    height: usize,
    fine: Vec<u8>,
    failed: Option<String>,
}

impl Canvas {
    /// A white surface.
    pub fn new(width: u64, height: u64) -> Result<Canvas> {
        if width == 0 || height == 0 || width.saturating_mul(height) > MAX_PIXELS {
            return Err(Error::Size { width, height });
        }
        let (width, height) = (width as usize, height as usize);
        let bytes = width * height * FINE * FINE * 3;
        let mut fine = Vec::new();
        if fine.try_reserve_exact(bytes).is_err() {
            return Err(Error::Library {
                reason: format!("the picture needs {bytes} bytes of memory, which are not free"),
            });
        }
        fine.resize(bytes, 255);
        prepare()?;
        Ok(Canvas { width, height, fine, failed: None })
    }

    fn draw<E: std::fmt::Display>(&mut self, draw: impl FnOnce(&mut BitMapBackend<'_>) -> std::result::Result<(), E>) {
        let size = ((self.width * FINE) as u32, (self.height * FINE) as u32);
        let mut backend = BitMapBackend::with_buffer(&mut self.fine, size);
        let outcome = draw(&mut backend);
        drop(backend);
        if let (Err(e), None) = (outcome, &self.failed) {
            self.failed = Some(e.to_string());
        }
    }

    /// Fills a rectangle; `opacity` is from 0 to 1.
    pub fn fill(&mut self, rect: Rect, color: Rgb, opacity: f64) {
        let [left, top, right, bottom] = [rect.left, rect.top, rect.right, rect.bottom].map(fine);
        if left < right && top < bottom {
            self.draw(|to| to.draw_rect((left, top), (right, bottom), &style(color, 1).color.mix(opacity), true));
        }
    }

    /// Draws a frame inside the edges of a rectangle. Its width is `thick` pixels.
    pub fn frame(&mut self, rect: Rect, color: Rgb, thick: f64) {
        let Rect { left, top, right, bottom } = rect;
        for side in [
            Rect { bottom: top + thick, ..rect },
            Rect { top: bottom - thick, ..rect },
            Rect { right: left + thick, ..rect },
            Rect { left: right - thick, ..rect },
        ] {
            self.fill(side, color, 1.0);
        }
    }

    /// Draws connected lines with round corners. A single point is a disc.
    pub fn lines(&mut self, points: &[[f64; 2]], color: Rgb, width: f64) {
        let thick = (width * FINE as f64).round().max(1.0) as u32;
        let style = style(color, thick);
        for pair in points.windows(2) {
            let [from, to] = [pair[0], pair[1]].map(|[x, y]| (fine(x), fine(y)));
            self.draw(|on| on.draw_line(from, to, &style));
        }
        if points.len() == 1 {
            self.disc(points[0], width.max(2.0), color);
        } else if thick > 2 {
            points.iter().for_each(|point| self.disc(*point, width / 2.0, color));
        }
    }

    /// Fills a circle.
    pub fn disc(&mut self, [x, y]: [f64; 2], radius: f64, color: Rgb) {
        let radius = fine(radius).max(1) as u32;
        self.draw(|to| to.draw_circle((fine(x), fine(y)), radius, &style(color, 1), true));
    }

    /// Draws the line of a circle.
    pub fn circle(&mut self, [x, y]: [f64; 2], radius: f64, color: Rgb, thick: f64) {
        let style = style(color, fine(thick).max(1) as u32);
        self.draw(|to| to.draw_circle((fine(x), fine(y)), fine(radius).max(1) as u32, &style, false));
    }

    /// Fills a polygon.
    pub fn polygon(&mut self, corners: &[[f64; 2]], color: Rgb) {
        let corners: Vec<_> = corners.iter().map(|[x, y]| (fine(*x), fine(*y))).collect();
        self.draw(|to| to.fill_polygon(corners, &style(color, 1)));
    }

    /// Draws a line of text. Its digits are centred vertically (for turned text, horizontally) at the point.
    pub fn text(&mut self, text: &str, [x, y]: [f64; 2], size: f64, anchor: Anchor) {
        let text = clean(text);
        let width = measured(&text, size);
        // plotters places the base line at half of the font size
        let base = size * (CAPITAL - 1.0) / 2.0;
        let (at, turn) = match anchor {
            Anchor::Left => ([x, y + base], FontTransform::None),
            Anchor::Center => ([x - width / 2.0, y + base], FontTransform::None),
            Anchor::Right => ([x - width, y + base], FontTransform::None),
            Anchor::Upwards => ([x + base, y + width / 2.0], FontTransform::Rotate270),
        };
        let style = font(size).transform(turn).color(&style(INK, 1).color);
        self.draw(|to| to.draw_text(&text, &style, (fine(at[0]), fine(at[1]))));
    }

    /// Sets each pixel of a rectangle to `color(column, row)`. The edges of the rectangle must be whole numbers.
    pub fn pixels(&mut self, rect: Rect, color: impl Fn(usize, usize) -> Rgb) {
        let (left, top) = (rect.left as usize, rect.top as usize);
        let columns = (rect.width() as usize).min(self.width.saturating_sub(left));
        let rows = (rect.height() as usize).min(self.height.saturating_sub(top));
        let line = self.width * FINE * 3;
        for row in 0..rows {
            let start = (top + row) * FINE * line + left * FINE * 3;
            let length = columns * FINE * 3;
            for column in 0..columns {
                let at = start + column * FINE * 3;
                let color = color(column, row);
                self.fine[at..at + FINE * 3].chunks_exact_mut(3).for_each(|pixel| pixel.copy_from_slice(&color));
            }
            (1..FINE).for_each(|k| self.fine.copy_within(start..start + length, start + k * line));
        }
    }

    /// The picture.
    pub fn finish(self) -> Result<Picture> {
        if let Some(reason) = self.failed {
            return Err(Error::Library { reason });
        }
        let line = self.width * FINE * 3;
        let mut pixels = Vec::with_capacity(self.width * self.height * 3);
        let mut sums = vec![0_u16; self.width * 3];
        for rows in self.fine.chunks_exact(line * FINE) {
            sums.fill(0);
            for row in rows.chunks_exact(line) {
                for (sum, part) in sums.as_chunks_mut::<3>().0.iter_mut().zip(row.as_chunks::<{ FINE * 3 }>().0) {
                    sum[0] += u16::from(part[0]) + u16::from(part[3]) + u16::from(part[6]);
                    sum[1] += u16::from(part[1]) + u16::from(part[4]) + u16::from(part[7]);
                    sum[2] += u16::from(part[2]) + u16::from(part[5]) + u16::from(part[8]);
                }
            }
            let count = (FINE * FINE) as u16;
            pixels.extend(sums.iter().map(|sum| ((sum + count / 2) / count) as u8));
        }
        Ok(Picture::new(self.width as u32, self.height as u32, pixels))
    }
}

/// A coordinate in drawn pixels.
fn fine(at: f64) -> i32 {
    (at * FINE as f64).round() as i32
}

fn style(color: Rgb, width: u32) -> ShapeStyle {
    ShapeStyle { color: RGBColor(color[0], color[1], color[2]).into(), filled: true, stroke_width: width }
}

fn font(size: f64) -> FontDesc<'static> {
    FontDesc::new(FontFamily::Name(FONT), size * FINE as f64, FontStyle::Normal)
}

/// Registers the font on the first call.
fn prepare() -> Result<()> {
    static REGISTERED: Once = Once::new();
    let mut outcome = Ok(());
    REGISTERED.call_once(|| {
        let reason = || "the font cannot be read".into();
        outcome = register_font(FONT, FontStyle::Normal, dejavu::sans::regular())
            .map_err(|_| Error::Library { reason: reason() });
    });
    outcome
}

/// Returns the text in one line, without characters that cannot be drawn. A very long text is cut.
fn clean(text: &str) -> String {
    let is_long = text.chars().count() > LONGEST;
    let seen = text.chars().take(LONGEST).map(|c| if c.is_control() { ' ' } else { c });
    seen.chain(is_long.then_some('…')).collect()
}

fn measured(text: &str, size: f64) -> f64 {
    let width = font(size).layout_box(text).map_or(0, |(_, (right, _))| right);
    f64::from(width) / FINE as f64
}

/// The width of a text in pixels, rounded up.
pub(crate) fn text_width(text: &str, size: f64) -> f64 {
    match prepare() {
        Ok(()) if !text.is_empty() => measured(&clean(text), size).ceil(),
        _ => 0.0,
    }
}
