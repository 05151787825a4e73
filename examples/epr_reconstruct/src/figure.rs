//! Pictures of the data and the results: colour maps with axes and a colour bar.

use crate::canvas::{Canvas, INK, LETTER, Place};
use backends_epr::Scan;
use colorgrad::{BasisGradient, Gradient, preset};
use ndarray::ArrayD;
use std::error::Error;

/// A matrix with its place in the world.
pub struct Panel {
    /// Row 0 is drawn at the bottom.
    pub values: ArrayD<f64>,
    pub title: String,
    /// Names of the vertical and the horizontal axis.
    pub labels: [String; 2],
    /// Where each of them begins and ends.
    pub extents: [[f64; 2]; 2],
}

/// Room around each panel: for the labels at its left and below it, and for the title.
const LEFT: i32 = 100;
const BELOW: i32 = 80;
/// Room above for the title, and for those of the panels.
const ABOVE: [i32; 2] = [56, 84];
const RIGHT: i32 = 30;
/// The colour bar, and the room for its labels and its name.
const BAR: i32 = 26;
const BAR_LABELS: i32 = 130;
const UNITS: &str = "arbitrary units";
const TICK: i32 = 7;

/// The measured projections, one below the other.
pub fn sinogram(scan: &Scan, values: &ArrayD<f64>) -> Result<Vec<u8>, Box<dyn Error>> {
    let field = scan.field();
    let panel = Panel {
        values: values.clone(),
        title: String::new(),
        labels: ["projection".into(), "magnetic field (G)".into()],
        extents: [[0.5, values.shape()[0] as f64 + 0.5], [field[0], field[field.len() - 1]]],
    };
    // the spectra are derivatives, so that 0 is the middle colour; the few highest peaks may saturate
    let mut magnitudes: Vec<f64> = values.iter().map(|v| v.abs()).collect();
    magnitudes.sort_by(f64::total_cmp);
    let largest = magnitudes.get(magnitudes.len() * 995 / 1000).copied().unwrap_or(0.0);
    let scale = Scale { from: -largest, to: largest, colors: preset::rd_bu(), reversed: true };
    draw("Measured projections", &[panel], &[[1000, 560]], &scale)
}

/// A reconstruction: all panels in one scale of length and of colour.
pub fn image(title: &str, panels: &[Panel]) -> Result<Vec<u8>, Box<dyn Error>> {
    let all = || panels.iter().flat_map(|p| p.values.iter().copied());
    let (from, to) = (all().fold(f64::INFINITY, f64::min), all().fold(f64::NEG_INFINITY, f64::max));
    let scale = Scale { from, to, colors: preset::inferno(), reversed: false };
    let length = |p: &Panel, axis: usize| p.extents[axis][1] - p.extents[axis][0];
    let tallest = panels.iter().map(|p| length(p, 0)).fold(0.0, f64::max);
    let widest = panels.iter().map(|p| length(p, 1)).fold(0.0, f64::max);
    let highest = if panels.len() == 1 { 800.0 } else { 520.0 };
    let per_length = f64::min(highest / tallest, 900.0 / widest);
    let size = |p: &Panel| [1, 0].map(|axis| ((length(p, axis) * per_length) as i32).max(40));
    draw(title, panels, &panels.iter().map(size).collect::<Vec<_>>(), &scale)
}

/// Values to colours.
struct Scale {
    from: f64,
    to: f64,
    colors: BasisGradient,
    reversed: bool,
}

impl Scale {
    fn color(&self, value: f64) -> [u8; 3] {
        let part = if self.to > self.from { (value - self.from) / (self.to - self.from) } else { 0.5 };
        let part = if self.reversed { 1.0 - part } else { part };
        let [r, g, b, _] = self.colors.at(part as f32).to_rgba8();
        [r, g, b]
    }
}

/// Panels of these sizes (width, height) side by side, and the colour bar.
fn draw(title: &str, panels: &[Panel], sizes: &[[i32; 2]], scale: &Scale) -> Result<Vec<u8>, Box<dyn Error>> {
    let height = sizes.iter().map(|s| s[1]).max().unwrap_or(0);
    let panels_width: i32 = sizes.iter().map(|s| LEFT + s[0] + RIGHT).sum();
    let width = (panels_width + BAR + BAR_LABELS).max(LETTER[0] * (title.len() as i32 + 4));
    let above = ABOVE[usize::from(panels.iter().any(|p| !p.title.is_empty()))];
    let mut canvas = Canvas::new(width, above + height + BELOW);
    canvas.text(width / 2, 18, Place::Below, title);
    let mut x = LEFT;
    for (panel, &[panel_width, panel_height]) in panels.iter().zip(sizes) {
        draw_panel(&mut canvas, panel, [x, above + height - panel_height], [panel_width, panel_height], scale);
        x += panel_width + RIGHT + LEFT;
    }
    let x = x - LEFT;
    for y in 0..height {
        let value = scale.from + (scale.to - scale.from) * (1.0 - (f64::from(y) + 0.5) / f64::from(height));
        canvas.fill(x, above + y, BAR, 1, scale.color(value));
    }
    canvas.frame(x, above, BAR, height);
    canvas.text(x + BAR + BAR_LABELS - 14, above + height / 2, Place::Turned, UNITS);
    for (part, label) in ticks([scale.from, scale.to], height / 60) {
        let y = above + height - 1 - (part * f64::from(height - 1)).round() as i32;
        canvas.fill(x + BAR, y, TICK, 1, INK);
        canvas.text(x + BAR + TICK + 4, y, Place::After, &label);
    }
    canvas.png()
}

fn draw_panel(canvas: &mut Canvas, panel: &Panel, [left, top]: [i32; 2], [width, height]: [i32; 2], scale: &Scale) {
    let (rows, columns) = (panel.values.shape()[0], panel.values.shape()[1]);
    for y in 0..height {
        for x in 0..width {
            let row = (f64::from(height - 1 - y) + 0.5) / f64::from(height) * rows as f64;
            let column = (f64::from(x) + 0.5) / f64::from(width) * columns as f64;
            let value = panel.values[[(row as usize).min(rows - 1), (column as usize).min(columns - 1)]];
            canvas.dot(left + x, top + y, scale.color(value));
        }
    }
    canvas.frame(left, top, width, height);
    canvas.text(left + width / 2, top - LETTER[1] - 8, Place::Below, &panel.title);
    for (part, label) in ticks(panel.extents[1], width / 90) {
        let x = left + (part * f64::from(width - 1)).round() as i32;
        canvas.fill(x, top + height, 1, TICK, INK);
        canvas.text(x, top + height + TICK + 3, Place::Below, &label);
    }
    for (part, label) in ticks(panel.extents[0], height / 60) {
        let y = top + height - 1 - (part * f64::from(height - 1)).round() as i32;
        canvas.fill(left - TICK, y, TICK, 1, INK);
        canvas.text(left - TICK - 4, y, Place::Before, &label);
    }
    canvas.text(left + width / 2, top + height + TICK + LETTER[1] + 12, Place::Below, &panel.labels[1]);
    canvas.text(left - LEFT + 16, top + height / 2, Place::Turned, &panel.labels[0]);
}

/// About `wanted` round numbers between two: where each is, as a part of the way, and its text.
fn ticks([from, to]: [f64; 2], wanted: i32) -> Vec<(f64, String)> {
    let least = (to - from) / f64::from(wanted.max(2));
    if !(least > 0.0 && least.is_finite()) {
        return vec![(0.5, short(from, 0))];
    }
    let power = 10.0_f64.powf(least.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|m| m * power).into_iter().find(|s| *s >= least * 0.999).unwrap_or(least);
    let digits = (-step.log10().floor()).max(0.0) as usize;
    let first = (from / step).ceil() as i64;
    let last = (to / step).floor() as i64;
    (first..=last).map(|i| i as f64 * step).map(|value| ((value - from) / (to - from), short(value, digits))).collect()
}

/// A number in few letters.
fn short(value: f64, digits: usize) -> String {
    if value != 0.0 && (digits > 4 || value.abs() >= 1e6) {
        format!("{value:.1e}")
    } else {
        format!("{value:.digits$}")
    }
}
