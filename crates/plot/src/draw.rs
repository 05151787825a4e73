//! Draws a plot whose sizes are known.

use crate::{
    canvas::{Anchor, Canvas, Rect},
    color::{GRID, INK},
    content::{Content, Plane},
    layout::PlotLayout,
    legend,
    style::{NAME, NUMBER, NUMBER_GAP, TICK, TITLE},
};

/// The opacity of histograms, if a plot has several of them.
const SEVERAL: f64 = 0.6;

/// The distance in pixels of the points of a curve at which the legend looks for a free corner.
const SAMPLE: f64 = 6.0;

/// Draws a plot into a rectangle, and the texts around it.
pub(crate) fn draw(canvas: &mut Canvas, plan: &PlotLayout<'_>, rect: Rect) {
    let plane = Plane { rect, scales: [&plan.scales[0], &plan.scales[1]] };
    let contents = &plan.axes.contents;
    let has_image = contents.iter().any(|content| matches!(content, Content::Image(_)));
    if !has_image {
        grid(canvas, plan, rect);
    }
    let bars = contents.iter().filter(|content| matches!(content, Content::Bars(_))).count();
    let opacity = if bars > 1 { SEVERAL } else { 1.0 };
    let mut colors = plan.colors.iter();
    let mut drawn = Vec::new();
    for content in contents {
        match content {
            Content::Image(image) => {
                if let Some(colors) = colors.next() {
                    image.paint(canvas, rect, plane.scales, colors);
                }
            }
            Content::Curve(series) => {
                for part in plane.curve(series) {
                    canvas.lines(&part, series.color, series.size);
                    sample(&part, &mut drawn);
                }
            }
            Content::Points(series) => {
                for point in plane.points(series) {
                    match series.is_ring {
                        true => legend::ring(canvas, point, series.size),
                        false => canvas.disc(point, series.size / 2.0, series.color),
                    }
                    drawn.push(point);
                }
            }
            Content::Bars(bars) => {
                for bar in plane.bars(bars) {
                    canvas.fill(bar, bars.color, opacity);
                    let middle = (bar.left + bar.right) / 2.0;
                    sample(&[[middle, bar.top], [middle, bar.bottom]], &mut drawn);
                }
            }
        }
    }
    axes(canvas, plan, rect);
    legend::draw(canvas, rect, contents, opacity, &drawn);
    if let Some(bar) = &plan.bar {
        bar.draw(canvas, rect);
    }
}

/// Adds points at equal distances on a line.
fn sample(line: &[[f64; 2]], to: &mut Vec<[f64; 2]>) {
    to.extend(line.first());
    for pair in line.windows(2) {
        let [dx, dy] = [0, 1].map(|axis| pair[1][axis] - pair[0][axis]);
        let count = (dx.hypot(dy) / SAMPLE).ceil().max(1.0) as usize;
        to.extend((1..=count).map(|k| {
            let part = k as f64 / count as f64;
            [pair[0][0] + dx * part, pair[0][1] + dy * part]
        }));
    }
}

/// The pixel of a position along an axis of `length` pixels that starts at `start`.
fn at(start: f64, length: f64, part: f64) -> f64 {
    (start + part * length).round()
}

fn grid(canvas: &mut Canvas, plan: &PlotLayout<'_>, rect: Rect) {
    for (part, _) in &plan.ticks[0].major {
        canvas.fill(Rect::new(at(rect.left, rect.width(), *part), rect.top, 1.0, rect.height()), GRID, 1.0);
    }
    for (part, _) in &plan.ticks[1].major {
        canvas.fill(Rect::new(rect.left, at(rect.bottom, -rect.height(), *part), rect.width(), 1.0), GRID, 1.0);
    }
}

/// Draws the frame, the ticks with their numbers, the names of the axes and the title.
fn axes(canvas: &mut Canvas, plan: &PlotLayout<'_>, rect: Rect) {
    let Rect { left, top, right, bottom } = rect;
    let around = Rect { left: left - 1.0, top: top - 1.0, right: right + 1.0, bottom: bottom + 1.0 };
    canvas.frame(around, INK, 1.0);
    let [across, up] = &plan.ticks;
    for (part, text) in &across.major {
        let x = at(left, rect.width(), *part);
        canvas.fill(Rect::new(x, bottom, 1.0, TICK), INK, 1.0);
        canvas.text(text, [x, bottom + TICK + NUMBER_GAP + NUMBER / 2.0], NUMBER, Anchor::Center);
    }
    for (part, text) in &up.major {
        let y = at(bottom, -rect.height(), *part);
        canvas.fill(Rect::new(left - TICK, y, TICK, 1.0), INK, 1.0);
        canvas.text(text, [left - TICK - NUMBER_GAP, y], NUMBER, Anchor::Right);
    }
    for part in &across.minor {
        canvas.fill(Rect::new(at(left, rect.width(), *part), bottom, 1.0, TICK / 2.0), INK, 1.0);
    }
    for part in &up.minor {
        canvas.fill(Rect::new(left - TICK / 2.0, at(bottom, -rect.height(), *part), TICK / 2.0, 1.0), INK, 1.0);
    }
    let [xname, yname] = &plan.axes.names;
    let middle = [(left + right) / 2.0, (top + bottom) / 2.0];
    canvas.text(xname, [middle[0], bottom + plan.name_depth()], NAME, Anchor::Center);
    canvas.text(yname, [left - plan.name_distance(), middle[1]], NAME, Anchor::Upwards);
    canvas.text(&plan.axes.title, [middle[0], top - plan.title_height()], TITLE, Anchor::Center);
}
