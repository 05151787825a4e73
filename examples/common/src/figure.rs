//! Pictures of arrays, which may be animated: colour maps next to each other, with axes and a common colour bar.

use colorgrad::{BasisGradient, Gradient};
use ndarray::ArrayD;
use plotters::{
    coord::{Shift, types::RangedCoordf64},
    prelude::*,
    style::{
        FontStyle, register_font,
        text_anchor::{HPos, Pos, VPos},
    },
};
use std::{error::Error, sync::Once};

/// A matrix of values with its coordinates, drawn as a colour map.
pub struct Panel {
    /// The values; row 0 is drawn at the bottom.
    pub values: ArrayD<f64>,
    /// The title above the panel; may be empty.
    pub title: String,
    /// Names of the vertical and the horizontal axis.
    pub labels: [String; 2],
    /// The first and the last coordinate of the vertical and of the horizontal axis.
    pub extents: [[f64; 2]; 2],
    /// The positions (vertical, horizontal) of ring-shaped marks.
    pub marks: Vec<[f64; 2]>,
}

/// A map from values to colours.
pub struct Colors {
    /// The colours of the values, on a scale from 0 to 1.
    pub gradient: BasisGradient,
    /// True if the gradient is reversed: the start of the range then has the gradient's last colour.
    pub reversed: bool,
    /// The values that get the first and the last colour. Values outside of the range get these colours too, and a
    /// remark in the picture states the percentage of such values.
    pub range: [f64; 2],
    /// The name of the values, with their unit.
    pub name: String,
}

/// Red, green and blue of each pixel, row by row from the top.
pub struct Picture {
    width: u32,
    height: u32,
    pixels: Vec<u8>,
}

pub(crate) const INK: RGBColor = RGBColor(30, 34, 42);
pub(crate) const FONT: &str = "sans-serif";
pub(crate) const TITLE: u32 = 26;
pub(crate) const NAME: u32 = 19;
pub(crate) const NUMBER: u32 = 17;

/// Space in pixels on the left of each panel and below it, for the labels.
const LEFT: u32 = 96;
const BELOW: u32 = 66;
const RIGHT: u32 = 30;
/// Space in pixels: above the panels for the title of the picture, above each panel for its title, and below the
/// panels for the remark on values outside of the range.
const ABOVE: u32 = 58;
const PANEL_TITLE: u32 = 32;
const REMARK: u32 = 28;
/// Width in pixels of the colour bar, and of the space for its labels and name.
const BAR: u32 = 24;
const BAR_LABELS: u32 = 120;

pub(crate) type Area<'a> = DrawingArea<BitMapBackend<'a>, Shift>;
type Chart<'a, 'b> = ChartContext<'a, BitMapBackend<'b>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

impl Colors {
    /// Creates colours whose range reaches from the smallest to the largest value of the panels.
    pub fn of(panels: &[Panel], gradient: BasisGradient, name: &str) -> Colors {
        let all = || panels.iter().flat_map(|p| p.values.iter().copied());
        let range = [all().fold(f64::INFINITY, f64::min), all().fold(f64::NEG_INFINITY, f64::max)];
        Colors { gradient, reversed: false, range, name: name.into() }
    }

    /// Returns the range. A range of a single value is extended on both sides. Without values, returns an interval
    /// around 0.
    fn bounds(&self) -> [f64; 2] {
        let [from, to] = self.range;
        if from < to {
            return [from, to];
        }
        let middle = if from.is_finite() { from } else { 0.0 };
        let half = if middle == 0.0 { 1.0 } else { middle.abs() / 2.0 };
        [middle - half, middle + half]
    }

    fn color(&self, value: f64) -> RGBColor {
        let [from, to] = self.bounds();
        let part = (value - from) / (to - from);
        let part = if self.reversed { 1.0 - part } else { part };
        let [r, g, b, _] = self.gradient.at(part as f32).to_rgba8();
        RGBColor(r, g, b)
    }

    /// The remark on values outside of the range; `None` if there are no such values.
    fn remark(&self, panels: &[Panel]) -> Option<String> {
        let [from, to] = self.bounds();
        let all = panels.iter().flat_map(|p| &p.values);
        let beyond = all.clone().filter(|v| !(from..=to).contains(*v)).count();
        let percent = 100.0 * beyond as f64 / all.count() as f64;
        (beyond > 0).then(|| format!("{percent:.2} % of the values lie beyond the ends of the colour scale"))
    }
}

/// Draws panels next to each other at the same scale. The tallest panel is `highest` pixels high, or less if the widest
/// panel would be wider than 900 pixels.
pub fn to_scale(title: &str, panels: &[Panel], colors: &Colors, highest: u32) -> Result<Picture, Box<dyn Error>> {
    let length = |p: &Panel, axis: usize| p.extents[axis][1] - p.extents[axis][0];
    let longest = |axis| panels.iter().map(|p| length(p, axis)).fold(0.0, f64::max);
    let per_length = f64::min(f64::from(highest) / longest(0), 900.0 / longest(1));
    let size = |p: &Panel| [1, 0].map(|axis| ((length(p, axis) * per_length) as u32).max(40));
    draw(title, panels, &panels.iter().map(size).collect::<Vec<_>>(), colors)
}

/// Draws panels with the given sizes (width, height) next to each other, and the colour bar.
pub fn draw(title: &str, panels: &[Panel], sizes: &[[u32; 2]], colors: &Colors) -> Result<Picture, Box<dyn Error>> {
    prepare();
    let highest = sizes.iter().map(|s| s[1]).max().unwrap_or(0);
    let remark = colors.remark(panels);
    let above = ABOVE + if panels.iter().any(|p| !p.title.is_empty()) { PANEL_TITLE } else { 0 };
    let words = [(title, TITLE), (remark.as_deref().unwrap_or(""), NUMBER)].map(|(text, size)| breadth(text, size));
    let width = sizes.iter().map(|s| LEFT + s[0] + RIGHT).sum::<u32>() + BAR + BAR_LABELS;
    let width = words.into_iter().fold(width, u32::max);
    let height = above + highest + BELOW + if remark.is_some() { REMARK } else { 0 };
    Picture::painted(width, height, |root| {
        root.fill(&WHITE)?;
        text(root, title, [width / 2, 18], TITLE, HPos::Center)?;
        let mut left = 0;
        for (panel, &[panel_width, panel_height]) in panels.iter().zip(sizes) {
            let top = above + highest - panel_height;
            if !panel.title.is_empty() {
                text(root, &panel.title, [left + LEFT + panel_width / 2, top - PANEL_TITLE], NAME, HPos::Center)?;
            }
            let area =
                root.clone().shrink((left as i32, top as i32), (LEFT + panel_width + RIGHT, panel_height + BELOW));
            draw_panel(root, &area, panel, [panel_width, panel_height], colors)?;
            left += LEFT + panel_width + RIGHT;
        }
        draw_bar(root, &root.clone().shrink((left as i32, above as i32), (BAR + BAR_LABELS, highest)), colors)?;
        if let Some(remark) = remark {
            text(root, &remark, [width / 2, height - REMARK], NUMBER, HPos::Center)?;
        }
        Ok(())
    })
}

/// Registers the font on the first call.
pub(crate) fn prepare() {
    static REGISTERED: Once = Once::new();
    REGISTERED.call_once(|| {
        let registered = register_font(FONT, FontStyle::Normal, dejavu::sans::regular());
        assert!(registered.is_ok(), "DejaVu Sans is a font");
    });
}

/// The approximate width of a text in pixels, with some space on both sides.
fn breadth(text: &str, size: u32) -> u32 {
    (text.chars().count() as u32 + 3) * size * 6 / 10
}

pub(crate) fn text(root: &Area<'_>, text: &str, at: [u32; 2], size: u32, across: HPos) -> Result<(), Box<dyn Error>> {
    let style = (FONT, size).into_font().color(&INK).pos(Pos::new(across, VPos::Top));
    root.draw(&Text::new(text.to_owned(), (at[0] as i32, at[1] as i32), style))?;
    Ok(())
}

/// Draws the name of an axis, centred.
fn name(area: &Area<'_>, name: &str, at: [u32; 2], turned: FontTransform) -> Result<(), Box<dyn Error>> {
    let style = (FONT, NAME).into_font().transform(turned).color(&INK).pos(Pos::new(HPos::Center, VPos::Center));
    area.draw(&Text::new(name.to_owned(), (at[0] as i32, at[1] as i32), style))?;
    Ok(())
}

/// Sets the colour of each pixel of a chart. `color` receives the position of the pixel, as fractions of the width
/// (from the left) and of the height (from the bottom).
fn paint(root: &Area<'_>, chart: &Chart<'_, '_>, color: impl Fn(f64, f64) -> RGBColor) -> Result<(), Box<dyn Error>> {
    let (columns, rows) = chart.plotting_area().get_pixel_range();
    let part = |at: i32, of: i32| (f64::from(at) + 0.5) / f64::from(of);
    let mut pixels = Vec::new();
    for y in rows.clone() {
        for x in columns.clone() {
            let across = part(x - columns.start, columns.end - columns.start);
            let up = part(rows.end - 1 - y, rows.end - rows.start);
            let RGBColor(r, g, b) = color(across, up);
            pixels.extend([r, g, b]);
        }
    }
    let size = ((columns.end - columns.start) as u32, (rows.end - rows.start) as u32);
    let pixels = BitMapElement::with_owned_buffer((columns.start, rows.start), size, pixels);
    root.draw(&pixels.expect("three bytes for each pixel"))?;
    let frame = [(columns.start, rows.start), (columns.end, rows.end)];
    root.draw(&Rectangle::new(frame, INK.stroke_width(1)))?;
    Ok(())
}

fn draw_panel(
    root: &Area<'_>,
    area: &Area<'_>,
    panel: &Panel,
    [width, height]: [u32; 2],
    colors: &Colors,
) -> Result<(), Box<dyn Error>> {
    let [[bottom, top], [left, right]] = panel.extents;
    let mut chart = ChartBuilder::on(area)
        .margin_right(RIGHT)
        .x_label_area_size(BELOW)
        .y_label_area_size(LEFT)
        .build_cartesian_2d(left..right, bottom..top)?;
    let numbers = [panel.extents[0], panel.extents[1]].map(Numbers::over);
    chart
        .configure_mesh()
        .disable_mesh()
        .axis_style(INK)
        .label_style((FONT, NUMBER).into_font().color(&INK))
        .x_labels((width / 90).max(2) as usize)
        .y_labels((height / 60).max(2) as usize)
        .x_label_formatter(&|v| numbers[1].show(*v))
        .y_label_formatter(&|v| numbers[0].show(*v))
        .draw()?;
    name(area, &panel.labels[1], [LEFT + width / 2, height + BELOW - NAME / 2 - 4], FontTransform::None)?;
    name(area, &panel.labels[0], [NAME / 2 + 10, height / 2], FontTransform::Rotate270)?;
    let (rows, columns) = (panel.values.shape()[0], panel.values.shape()[1]);
    paint(root, &chart, |across, up| {
        let [row, column] = [(up, rows), (across, columns)].map(|(part, n)| ((part * n as f64) as usize).min(n - 1));
        colors.color(panel.values[[row, column]])
    })?;
    let ring = |radius: i32, color: RGBColor, thick: u32| {
        panel.marks.iter().map(move |&[up, across]| Circle::new((across, up), radius, color.stroke_width(thick)))
    };
    // a white ring with a dark edge is visible on every colour
    chart.draw_series(ring(9, BLACK, 4))?;
    chart.draw_series(ring(9, WHITE, 2))?;
    Ok(())
}

fn draw_bar(root: &Area<'_>, area: &Area<'_>, colors: &Colors) -> Result<(), Box<dyn Error>> {
    let [from, to] = colors.bounds();
    let mut chart =
        ChartBuilder::on(area).right_y_label_area_size(BAR_LABELS).build_cartesian_2d(0.0..1.0, from..to)?;
    let numbers = Numbers::over([from, to]);
    chart
        .configure_mesh()
        .disable_mesh()
        .disable_x_axis()
        .axis_style(INK)
        .set_tick_mark_size(LabelAreaPosition::Right, 8)
        .label_style((FONT, NUMBER).into_font().color(&INK))
        .y_labels((area.dim_in_pixel().1 / 60).max(2) as usize)
        .y_label_formatter(&|v| numbers.show(*v))
        .draw()?;
    let (width, height) = area.dim_in_pixel();
    name(area, &colors.name, [width - NAME / 2 - 8, height / 2], FontTransform::Rotate270)?;
    paint(root, &chart, |_, up| colors.color(from + up * (to - from)))
}

/// The number format of the labels along an axis; all labels of an axis have the same format.
pub(crate) struct Numbers {
    digits: usize,
    powers: bool,
}

impl Numbers {
    /// A format with enough digits to distinguish values that differ by a twentieth of the range.
    pub(crate) fn over([from, to]: [f64; 2]) -> Numbers {
        let digits = -((to - from) / 20.0).log10().floor();
        let powers = digits > 5.0 || from.abs().max(to.abs()) >= 1e6;
        Numbers { digits: digits.clamp(0.0, 5.0) as usize, powers }
    }

    pub(crate) fn show(&self, value: f64) -> String {
        if self.powers {
            return format!("{value:.2e}");
        }
        let text = format!("{value:.*}", self.digits);
        let short = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
        if short == "-0" { "0".into() } else { short.replace('-', "\u{2212}") }
    }
}

impl Picture {
    /// Creates a picture of this size, and calls `paint` to draw it.
    pub(crate) fn painted(
        width: u32,
        height: u32,
        paint: impl FnOnce(&Area<'_>) -> Result<(), Box<dyn Error>>,
    ) -> Result<Picture, Box<dyn Error>> {
        let mut pixels = vec![0; (width * height * 3) as usize];
        {
            let root = BitMapBackend::with_buffer(&mut pixels, (width, height)).into_drawing_area();
            paint(&root)?;
            root.present()?;
        }
        Ok(Picture { width, height, pixels })
    }

    /// Encodes the picture as a PNG file.
    pub fn png(&self) -> Result<Vec<u8>, Box<dyn Error>> {
        self.encode(|_| Ok(()), &[])
    }

    /// Encodes an animated PNG file, which browsers can show. Its first frame is this picture, followed by `others`,
    /// which must have the same size.
    pub fn animated(&self, others: &[Picture], per_second: u16) -> Result<Vec<u8>, Box<dyn Error>> {
        if let Some(other) = others.iter().find(|p| (p.width, p.height) != (self.width, self.height)) {
            let sizes = (self.width, self.height, other.width, other.height);
            return Err(format!("pictures of an animation differ in size: {sizes:?}").into());
        }
        let frames = others.len() as u32 + 1;
        self.encode(
            |encoder| {
                encoder.set_animated(frames, 0)?;
                encoder.set_frame_delay(1, per_second)
            },
            others,
        )
    }

    fn encode(
        &self,
        set: impl FnOnce(&mut png::Encoder<'_, &mut Vec<u8>>) -> Result<(), png::EncodingError>,
        others: &[Picture],
    ) -> Result<Vec<u8>, Box<dyn Error>> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, self.width, self.height);
        encoder.set_color(png::ColorType::Rgb);
        set(&mut encoder)?;
        let mut writer = encoder.write_header()?;
        writer.write_image_data(&self.pixels)?;
        others.iter().try_for_each(|other| writer.write_image_data(&other.pixels))?;
        writer.finish()?;
        Ok(bytes)
    }
}
