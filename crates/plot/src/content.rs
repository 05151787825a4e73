//! The drawings of a plot besides images: curves, points and bars.

use crate::{canvas::Rect, color::Rgb, image::Image, scale::Scale};

/// A thing that a plot shows.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    Image(Box<Image>),
    Curve(Series),
    Points(Series),
    Bars(Bars),
}

/// Points, which may be connected.
#[derive(Clone, Debug)]
pub(crate) struct Series {
    pub x: Vec<f64>,
    pub y: Vec<f64>,
    pub label: String,
    pub color: Rgb,
    /// The width of the line, or the diameter of the points, in pixels.
    pub size: f64,
    pub is_ring: bool,
}

/// The bars of a histogram.
#[derive(Clone, Debug)]
pub(crate) struct Bars {
    /// The edges of the bars, in ascending order: one more edge than bars.
    pub edges: Vec<f64>,
    pub counts: Vec<f64>,
    pub label: String,
    pub color: Rgb,
}

/// The smallest and the largest of the values.
fn extremes(values: impl Iterator<Item = f64> + Clone) -> [f64; 2] {
    [values.clone().fold(f64::INFINITY, f64::min), values.fold(f64::NEG_INFINITY, f64::max)]
}

impl Content {
    /// The text and the colour of the entry in the legend; `None` without a text.
    pub fn entry(&self) -> Option<(&str, Rgb)> {
        let (label, color) = match self {
            Content::Image(_) => return None,
            Content::Curve(series) | Content::Points(series) => (&series.label, series.color),
            Content::Bars(bars) => (&bars.label, bars.color),
        };
        (!label.is_empty()).then_some((label, color))
    }

    /// The horizontal and the vertical interval that contain everything that can be drawn on these axes. If nothing can
    /// be drawn, the first number of an interval is larger than the second one.
    pub fn bounds(&self, is_log: [bool; 2]) -> [[f64; 2]; 2] {
        match self {
            Content::Image(image) => {
                let [left, right, bottom, top] = image.edges();
                [[left, right], [bottom, top]].map(|ends| extremes(ends.into_iter()))
            }
            Content::Curve(series) | Content::Points(series) => {
                let is_seen = |v: f64, is_log: bool| v.is_finite() && (!is_log || v > 0.0);
                let pairs = series.x.iter().zip(&series.y).map(|(x, y)| [*x, *y]);
                let seen = pairs.filter(|[x, y]| is_seen(*x, is_log[0]) && is_seen(*y, is_log[1]));
                [extremes(seen.clone().map(|p| p[0])), extremes(seen.map(|p| p[1]))]
            }
            Content::Bars(bars) => {
                let edges = bars.edges.iter().copied().filter(|edge| !is_log[0] || *edge > 0.0);
                // on a logarithmic axis, the bar of a single value is visible
                let heights = bars.counts.iter().copied().filter(|count| *count > 0.0);
                let least = if is_log[1] { 0.5 } else { 0.0 };
                [extremes(edges), extremes(heights.chain([least]))]
            }
        }
    }
}

/// The axes of a plot, and its rectangle in pixels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plane<'a> {
    pub rect: Rect,
    /// The horizontal and the vertical axis.
    pub scales: [&'a Scale; 2],
}

impl Plane<'_> {
    /// The pixel of a point. `None` if a coordinate cannot be drawn.
    pub fn pixel(&self, x: f64, y: f64) -> Option<[f64; 2]> {
        let [across, up] = [self.scales[0].fraction(x)?, self.scales[1].fraction(y)?];
        Some([self.rect.left + across * self.rect.width(), self.rect.bottom - up * self.rect.height()])
    }

    /// The pixels of a curve, in connected parts within the plot. Points that cannot be drawn are gaps.
    pub fn curve(&self, series: &Series) -> Vec<Vec<[f64; 2]>> {
        let mut parts = Vec::new();
        let mut part: Vec<[f64; 2]> = Vec::new();
        for (x, y) in series.x.iter().zip(&series.y) {
            match self.pixel(*x, *y) {
                Some(point) => part.push(point),
                None => parts.push(std::mem::take(&mut part)),
            }
        }
        parts.push(part);
        parts.iter().flat_map(|part| clipped(&thinned(part), &self.rect)).collect()
    }

    /// The pixels of points within the plot. If several points have the same pixel, one of them is kept.
    pub fn points(&self, series: &Series) -> Vec<[f64; 2]> {
        let all = series.x.iter().zip(&series.y).filter_map(|(x, y)| self.pixel(*x, *y));
        // half a pixel of room for rounding
        let Rect { left, top, right, bottom } = self.rect;
        let room = Rect { left: left - 0.5, top: top - 0.5, right: right + 0.5, bottom: bottom + 0.5 };
        let mut seen = std::collections::HashSet::new();
        let is_new = |[x, y]: &[f64; 2]| seen.insert([x.round() as i64, y.round() as i64]);
        all.filter(|point| room.contains(*point)).filter(is_new).collect()
    }

    /// The rectangle of each bar.
    pub fn bars(&self, bars: &Bars) -> Vec<Rect> {
        let Rect { left, top, right, bottom } = self.rect;
        let up = self.scales[1];
        let ends = if up.from <= up.to { [bottom, top] } else { [top, bottom] };
        let zero = up.fraction(0.0).map_or(ends[0], |at| bottom - at * self.rect.height()).clamp(top, bottom);
        let bar = |(edges, count): (&[f64], &f64)| {
            let [x0, x1] = [self.pixel(edges[0], up.to), self.pixel(edges[1], up.to)];
            // on a logarithmic axis, an edge that is not positive is beyond the left end
            let (x0, x1) = (x0.map_or(left, |p| p[0]), x1?[0]);
            let y = bottom - up.fraction(*count)? * self.rect.height();
            let (y, zero) = (y.clamp(top, bottom).min(zero), zero.max(y.clamp(top, bottom)));
            let (x0, x1) = (x0.min(x1).clamp(left, right), x0.max(x1).clamp(left, right));
            (*count > 0.0).then_some(Rect { left: x0, top: y, right: x1, bottom: zero })
        };
        bars.edges.windows(2).zip(&bars.counts).filter_map(bar).collect()
    }
}

/// Drops points of a long curve that change nothing in the picture: of consecutive points in one column of pixels,
/// keeps the first, the highest, the lowest and the last one.
fn thinned(points: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let mut kept: Vec<[f64; 2]> = Vec::new();
    for group in points.chunk_by(|a, b| a[0].floor() == b[0].floor()) {
        if group.len() <= 4 {
            kept.extend(group);
            continue;
        }
        let by_height = |a: &&[f64; 2], b: &&[f64; 2]| a[1].total_cmp(&b[1]);
        let ends = [group.first(), group.iter().min_by(by_height), group.iter().max_by(by_height), group.last()];
        kept.extend(ends.into_iter().flatten());
    }
    kept
}

/// The parts of a curve inside of a rectangle.
fn clipped(points: &[[f64; 2]], rect: &Rect) -> Vec<Vec<[f64; 2]>> {
    if let [point] = points {
        return if rect.contains(*point) { vec![vec![*point]] } else { vec![] };
    }
    let mut parts: Vec<Vec<[f64; 2]>> = Vec::new();
    for pair in points.windows(2) {
        let Some([from, to]) = segment(pair[0], pair[1], rect) else { continue };
        match parts.last_mut() {
            Some(part) if part.last() == Some(&from) => part.push(to),
            _ => parts.push(vec![from, to]),
        }
    }
    parts
}

/// The part of a line inside of a rectangle.
fn segment(from: [f64; 2], to: [f64; 2], rect: &Rect) -> Option<[[f64; 2]; 2]> {
    let (mut start, mut end) = (0.0_f64, 1.0_f64);
    for (axis, low, high) in [(0, rect.left, rect.right), (1, rect.top, rect.bottom)] {
        let length = to[axis] - from[axis];
        if length == 0.0 {
            if from[axis] < low || from[axis] > high {
                return None;
            }
            continue;
        }
        let [a, b] = [(low - from[axis]) / length, (high - from[axis]) / length];
        (start, end) = (start.max(a.min(b)), end.min(a.max(b)));
    }
    let at = |part: f64| [0, 1].map(|axis| from[axis] + (to[axis] - from[axis]) * part);
    let first = if start == 0.0 { from } else { at(start) };
    let last = if end == 1.0 { to } else { at(end) };
    (start <= end).then_some([first, last])
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECT: Rect = Rect { left: 0.0, top: 0.0, right: 10.0, bottom: 10.0 };

    fn series(x: &[f64], y: &[f64]) -> Series {
        Series { x: x.into(), y: y.into(), label: String::new(), color: [0; 3], size: 1.0, is_ring: false }
    }

    #[test]
    fn curves_end_at_the_edges_and_at_gaps() {
        let scale = Scale::new(0.0, 10.0, false);
        let plane = Plane { rect: RECT, scales: [&scale, &scale] };
        assert_eq!(plane.curve(&series(&[-5.0, 15.0], &[5.0, 5.0])), [[[0.0, 5.0], [10.0, 5.0]]]);
        assert_eq!(plane.curve(&series(&[-5.0, 15.0], &[12.0, 12.0])), [[[0.0; 2]; 0]; 0]);
        let gap = plane.curve(&series(&[1.0, 2.0, 3.0, 4.0], &[1.0, f64::NAN, 2.0, 3.0]));
        assert_eq!(gap, [vec![[1.0, 9.0]], vec![[3.0, 8.0], [4.0, 7.0]]]);
        let far = plane.curve(&series(&[f64::MIN, f64::MAX], &[5.0, 5.0]));
        assert_eq!(far.len(), 1);
    }

    #[test]
    fn long_curves_are_thinned() {
        let x: Vec<f64> = (0..100_000).map(|k| f64::from(k) / 1e4).collect();
        let y: Vec<f64> = (0..100_000).map(|k| f64::from(k % 7)).collect();
        let scale = Scale::new(0.0, 10.0, false);
        let parts = Plane { rect: RECT, scales: [&scale, &scale] }.curve(&series(&x, &y));
        assert!(parts.len() == 1 && parts[0].len() <= 44);
        assert_eq!(extremes(parts[0].iter().map(|p| p[1])), [4.0, 10.0]);
        let points = Plane { rect: RECT, scales: [&scale, &scale] }.points(&series(&x, &y));
        assert!(points.len() <= 121);
    }
}
