//! The legend of a plot: the names of its curves, points and histograms.

use crate::{
    canvas::{Anchor, Canvas, Rect, text_width},
    color::{INK, Rgb, WHITE},
    content::Content,
    style::NUMBER,
};

/// Sizes in pixels: the margin around the entries, the height of an entry, the length of its sign, and the distance
/// from the edges of the plot.
const PAD: f64 = 8.0;
const ROW: f64 = 22.0;
const SIGN: f64 = 28.0;
const MARGIN: f64 = 10.0;

/// Draws the legend into the corner of the plot that has the fewest of the `drawn` pixels. Without names, there is no
/// legend. `opacity` is the opacity of the bars.
pub(crate) fn draw(canvas: &mut Canvas, plot: Rect, contents: &[Content], opacity: f64, drawn: &[[f64; 2]]) {
    let named: Vec<_> = contents.iter().filter_map(|content| Some((content, content.entry()?))).collect();
    let room = ((plot.height() - 2.0 * (MARGIN + PAD)) / ROW).floor().max(1.0) as usize;
    let mut names: Vec<String> = named.iter().map(|(_, (name, _))| (*name).to_owned()).collect();
    if names.len() > room {
        names.truncate(room - 1);
        names.push(format!("… and {} more", named.len() + 1 - room));
    }
    if names.is_empty() {
        return;
    }
    let widest = names.iter().map(|name| text_width(name, NUMBER)).fold(0.0, f64::max);
    let size = [3.0 * PAD + SIGN + widest, 2.0 * PAD + ROW * names.len() as f64];
    let place = corner(plot, size, drawn);
    canvas.fill(place, WHITE, 0.85);
    canvas.frame(place, [190, 193, 200], 1.0);
    for (k, name) in names.iter().enumerate() {
        let y = place.top + PAD + ROW * (k as f64 + 0.5);
        let x = place.left + PAD;
        canvas.text(name, [x + SIGN + PAD, y], NUMBER, Anchor::Left);
        let is_count = names.len() < named.len() && k + 1 == names.len();
        if let (false, Some((content, (_, color)))) = (is_count, named.get(k)) {
            sign(canvas, content, [x, y], *color, opacity);
        }
    }
}

fn sign(canvas: &mut Canvas, content: &Content, [x, y]: [f64; 2], color: Rgb, opacity: f64) {
    match content {
        Content::Curve(series) => canvas.lines(&[[x, y], [x + SIGN, y]], color, series.size.min(ROW / 2.0)),
        Content::Points(series) if series.is_ring => ring(canvas, [x + SIGN / 2.0, y], ROW * 0.7),
        Content::Points(series) => canvas.disc([x + SIGN / 2.0, y], series.size.min(ROW * 0.8) / 2.0, color),
        Content::Bars(_) => canvas.fill(Rect::new(x, y - 5.0, SIGN, 10.0), color, opacity),
        Content::Image(_) => {}
    }
}

/// Draws a white ring with dark edges.
pub(crate) fn ring(canvas: &mut Canvas, center: [f64; 2], diameter: f64) {
    for (thick, color) in [(4.5, INK), (2.2, WHITE)] {
        canvas.circle(center, diameter / 2.0, color, thick);
    }
}

/// The corner with the fewest drawn pixels; among equally free corners, the upper right one is preferred.
fn corner(plot: Rect, [width, height]: [f64; 2], drawn: &[[f64; 2]]) -> Rect {
    let [left, right] = [plot.left + MARGIN, plot.right - MARGIN - width];
    let [top, bottom] = [plot.top + MARGIN, plot.bottom - MARGIN - height];
    let places = [[right, top], [left, top], [right, bottom], [left, bottom]];
    let places = places.map(|[x, y]| Rect::new(x.round(), y.round(), width, height));
    let hidden = |place: &Rect| drawn.iter().filter(|point| place.contains(**point)).count();
    // `min_by_key` returns the first of several equal corners
    places.into_iter().min_by_key(hidden).unwrap_or(plot)
}
