//! The colour bar of an image.

use crate::{
    canvas::{Anchor, Canvas, Rect, text_width},
    color::{ColorMap, INK},
    image::Image,
    scale::{Scale, Ticks},
    style::{NAME, NUMBER, NUMBER_GAP, TICK},
};

/// A colour bar with its numbers and its label.
#[derive(Debug)]
pub(crate) struct ColorBar {
    map: ColorMap,
    label: String,
    ticks: Ticks,
    /// Whether some values are below the range of the colours, and whether some are above it.
    beyond: [bool; 2],
}

/// Sizes in pixels: the gap between the plot and the bar, the width of the bar, and the gap between the numbers and the
/// label.
const GAP: f64 = 16.0;
const WIDTH: f64 = 22.0;
const LABEL_GAP: f64 = 10.0;

impl ColorBar {
    /// The colour bar for an image whose colours have this scale, in a plot of this height. `bounds` is the range of
    /// the values.
    pub fn new(image: &Image, scale: Scale, bounds: Option<[f64; 2]>, height: f64) -> ColorBar {
        let [low, high] = [scale.from.min(scale.to), scale.from.max(scale.to)];
        let mut beyond = bounds.map_or([false; 2], |[least, most]| [least < low, most > high]);
        if scale.from > scale.to {
            beyond.reverse();
        }
        let ticks = scale.ticks((height / 55.0).clamp(2.0, 12.0) as usize);
        ColorBar { map: image.map.clone(), label: image.label.clone(), ticks, beyond }
    }

    fn widest_number(&self) -> f64 {
        self.ticks.major.iter().map(|(_, text)| text_width(text, NUMBER)).fold(0.0, f64::max)
    }

    /// The width of the gap before the bar, the bar, its numbers and its label together.
    pub fn width(&self) -> f64 {
        let label = if self.label.is_empty() { 0.0 } else { LABEL_GAP + NAME };
        GAP + WIDTH + TICK + NUMBER_GAP + self.widest_number() + label
    }

    /// The length of the label, which runs along the bar.
    pub fn label_length(&self) -> f64 {
        text_width(&self.label, NAME)
    }

    /// Draws the bar to the right of a plot.
    pub fn draw(&self, canvas: &mut Canvas, plot: Rect) {
        let rect = Rect::new(plot.right + GAP, plot.top, WIDTH, plot.height());
        // a pointed end shows that values exist beyond it
        let point = (WIDTH * 0.6).min(rect.height() / 4.0).round();
        let [below, above] = self.beyond.map(|is| if is { point } else { 0.0 });
        let bar = Rect { top: rect.top + above, bottom: rect.bottom - below, ..rect };
        let rows = bar.height();
        canvas.pixels(bar, |_, y| self.map.at(1.0 - (y as f64 + 0.5) / rows));
        canvas.frame(bar, INK, 1.0);
        let middle = (bar.left + bar.right) / 2.0;
        for (is, tip, base, color) in [
            (self.beyond[0], rect.bottom, bar.bottom, self.map.at(0.0)),
            (self.beyond[1], rect.top, bar.top, self.map.at(1.0)),
        ] {
            if is {
                canvas.polygon(&[[bar.left, base], [bar.right, base], [middle, tip]], color);
                canvas.lines(&[[bar.left + 0.5, base], [middle, tip], [bar.right - 0.5, base]], INK, 1.0);
            }
        }
        for (part, text) in &self.ticks.major {
            let y = (bar.bottom - part * rows).round().clamp(bar.top, bar.bottom - 1.0);
            canvas.fill(Rect::new(bar.right, y, TICK, 1.0), INK, 1.0);
            canvas.text(text, [bar.right + TICK + NUMBER_GAP, y], NUMBER, Anchor::Left);
        }
        for part in &self.ticks.minor {
            let y = (bar.bottom - part * rows).round().clamp(bar.top, bar.bottom - 1.0);
            canvas.fill(Rect::new(bar.right, y, TICK / 2.0, 1.0), INK, 1.0);
        }
        let x = bar.right + TICK + NUMBER_GAP + self.widest_number() + LABEL_GAP + NAME / 2.0;
        canvas.text(&self.label, [x, (rect.top + rect.bottom) / 2.0], NAME, Anchor::Upwards);
    }
}
