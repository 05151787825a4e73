//! The sizes and places of the parts of a plot.

use crate::{
    Error, Result,
    axes::Axes,
    canvas::text_width,
    colorbar::ColorBar,
    content::Content,
    image::Image,
    scale::{Scale, Ticks},
    style::{NAME, NUMBER, NUMBER_GAP, TICK, TITLE},
};

/// Distances in pixels: from the numbers to the name of the axis, and from the plot to its title.
const NAME_GAP: f64 = 8.0;
const TITLE_GAP: f64 = 10.0;

/// The default width and height of a plot without an image, and of a plot with an image.
const PLOT: [u32; 2] = [560, 380];
const IMAGE: [u32; 2] = [560, 460];
/// The smallest side of an image.
const SMALLEST: f64 = 24.0;
/// The fraction of an axis that stays free on each side of the curves.
const FREE: f64 = 0.05;

/// The space around a plot.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sides {
    pub left: f64,
    pub right: f64,
    pub top: f64,
    pub bottom: f64,
}

/// A plot with all sizes.
#[derive(Debug)]
pub(crate) struct PlotLayout<'a> {
    pub axes: &'a Axes,
    /// The horizontal and the vertical axis.
    pub scales: [Scale; 2],
    pub ticks: [Ticks; 2],
    /// The width and the height of the area inside of the axes.
    pub size: [f64; 2],
    /// The scale of the colours of each image.
    pub colors: Vec<Scale>,
    pub bar: Option<ColorBar>,
    pub sides: Sides,
}

/// The properties that all plots of a figure share.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Common {
    /// The common range of the colours, if the figure has one colour bar for all its plots.
    pub colors: Option<[f64; 2]>,
    /// The number of pixels for each unit of an image's axes.
    pub pixels_per_unit: Option<f64>,
}

/// The images of a plot.
pub(crate) fn images(axes: &Axes) -> impl Iterator<Item = &Image> {
    axes.contents.iter().filter_map(|content| match content {
        Content::Image(image) => Some(&**image),
        _ => None,
    })
}

/// The horizontal and the vertical axis of a plot.
pub(crate) fn scales(axes: &Axes) -> Result<[Scale; 2]> {
    if let Some([left, right, bottom, top]) = images(axes).next().map(Image::edges) {
        return Ok([scale(axes, 0, [left, right])?, scale(axes, 1, [bottom, top])?]);
    }
    let all: Vec<_> = axes.contents.iter().map(|content| content.bounds(axes.is_log)).collect();
    let has_bars = axes.contents.iter().any(|content| matches!(content, Content::Bars(_)));
    let of = |axis: usize| {
        let low = all.iter().map(|bounds| bounds[axis][0]).fold(f64::INFINITY, f64::min);
        let high = all.iter().map(|bounds| bounds[axis][1]).fold(f64::NEG_INFINITY, f64::max);
        if all.is_empty() {
            return scale(axes, axis, if axes.is_log[axis] { [1.0, 10.0] } else { [0.0, 1.0] });
        }
        if low > high && axes.limits[axis].is_none() {
            // the points have no finite logarithm along this axis or along the other one
            let at = if axes.is_log[axis] { axis } else { 1 - axis };
            return Err(Error::NothingToDraw { call: ["log_x", "log_y"][at], needs: "positive" });
        }
        let exact = Scale::new(low, high, axes.is_log[axis]);
        // bars begin at the end of the axis
        let stands = has_bars && axis == 1 && (low == 0.0 || axes.is_log[axis]);
        let start = if stands { exact.from } else { exact.value(-FREE) };
        scale(axes, axis, [start, exact.value(1.0 + FREE)])
    };
    Ok([of(0)?, of(1)?])
}

/// Makes the scale of an axis. It ranges over the limits that the user has set for the axis, or else over `ends`.
fn scale(axes: &Axes, axis: usize, ends: [f64; 2]) -> Result<Scale> {
    let [from, to] = axes.limits[axis].unwrap_or(ends);
    let is_log = axes.is_log[axis];
    if is_log && (from <= 0.0 || to <= 0.0) {
        let reason = format!("the ends of a logarithmic axis must be positive, but they are {from} and {to}");
        return Err(Error::Argument { call: ["log_x", "log_y"][axis], reason });
    }
    Ok(Scale::new(from, to, is_log))
}

/// The number of pixels for each unit of the axes if the image fills its plot. `None` if the plot has no image, or if
/// the image need not keep its proportions.
pub(crate) fn pixels_per_unit(axes: &Axes, scales: &[Scale; 2]) -> Option<f64> {
    images(axes).next().filter(|image| image.is_equal && axes.is_log == [false; 2])?;
    let size = axes.size.unwrap_or(IMAGE).map(f64::from);
    let [width, height] = [0, 1].map(|axis| size[axis] / (scales[axis].to - scales[axis].from).abs());
    Some(width.min(height))
}

impl PlotLayout<'_> {
    /// Computes all sizes of a plot.
    pub fn new(axes: &Axes, common: Common) -> Result<PlotLayout<'_>> {
        let scales = scales(axes)?;
        let size = match pixels_per_unit(axes, &scales) {
            Some(fits) => {
                let factor = common.pixels_per_unit.unwrap_or(fits);
                scales.map(|scale| ((scale.to - scale.from).abs() * factor).round().clamp(SMALLEST, 1e6))
            }
            None => axes.size.unwrap_or(if images(axes).next().is_some() { IMAGE } else { PLOT }).map(f64::from),
        };
        let ticks =
            if axes.has_no_ticks { Default::default() } else { [across(&scales[0], size[0]), up(&scales[1], size[1])] };
        let colors = images(axes).map(|image| image.colors(common.colors)).collect::<Result<Vec<_>>>()?;
        let bar = match (images(axes).zip(&colors).last(), common.colors) {
            (Some((image, scale)), None) if image.has_bar => {
                Some(ColorBar::new(image, *scale, image.bounds(), size[1]))
            }
            _ => None,
        };
        let mut plan = PlotLayout { axes, scales, ticks, size, colors, bar, sides: Sides::default() };
        plan.sides = plan.measure();
        Ok(plan)
    }

    /// The width of the widest number at the vertical axis.
    pub fn widest_number(&self) -> f64 {
        self.ticks[1].major.iter().map(|(_, text)| text_width(text, NUMBER)).fold(0.0, f64::max)
    }

    /// The distance from the vertical axis to the centre line of its name.
    pub fn name_distance(&self) -> f64 {
        let numbers = if self.ticks[1].major.is_empty() { 0.0 } else { TICK + NUMBER_GAP + self.widest_number() };
        numbers + NAME_GAP + NAME / 2.0
    }

    /// The distance from the horizontal axis to the centre line of its name.
    pub fn name_depth(&self) -> f64 {
        let numbers = if self.ticks[0].major.is_empty() { 0.0 } else { TICK + NUMBER_GAP + NUMBER };
        numbers + NAME_GAP + NAME / 2.0
    }

    /// The distance from the top of the plot to the centre line of its title.
    pub fn title_height(&self) -> f64 {
        TITLE_GAP + TITLE / 2.0
    }

    fn measure(&self) -> Sides {
        let [width, height] = self.size;
        let [xname, yname] = &self.axes.names;
        let mut sides = Sides { left: 2.0, right: 2.0, top: NUMBER / 2.0, bottom: NUMBER / 2.0 };
        if !self.ticks[1].major.is_empty() {
            sides.left = TICK + NUMBER_GAP + self.widest_number();
        }
        if !yname.is_empty() {
            sides.left = self.name_distance() + NAME / 2.0;
        }
        if !self.ticks[0].major.is_empty() {
            sides.bottom = TICK + NUMBER_GAP + NUMBER;
        }
        if !xname.is_empty() {
            sides.bottom = self.name_depth() + NAME / 2.0;
        }
        if !self.axes.title.is_empty() {
            sides.top = self.title_height() + TITLE / 2.0;
        }
        if let Some(bar) = &self.bar {
            sides.right = bar.width();
        }
        // numbers and names may extend beyond their side of the plot
        for (part, text) in &self.ticks[0].major {
            let half = text_width(text, NUMBER) / 2.0;
            sides.left = sides.left.max(half - part * width);
            sides.right = sides.right.max(half - (1.0 - part) * width);
        }
        let wide = text_width(&self.axes.title, TITLE).max(text_width(xname, NAME));
        let high = text_width(yname, NAME).max(self.bar.as_ref().map_or(0.0, ColorBar::label_length));
        sides.left = sides.left.max((wide - width) / 2.0);
        sides.right = sides.right.max((wide - width) / 2.0);
        sides.top = sides.top.max((high - height) / 2.0);
        sides.bottom = sides.bottom.max((high - height) / 2.0);
        let Sides { left, right, top, bottom } = sides;
        Sides { left: left.ceil(), right: right.ceil(), top: top.ceil(), bottom: bottom.ceil() }
    }
}

/// The ticks of a horizontal axis: as many as fit with their numbers.
fn across(scale: &Scale, width: f64) -> Ticks {
    let counts = (2..=(width / 70.0).clamp(2.0, 10.0) as usize).rev();
    let fits = |ticks: &Ticks| {
        let widest = ticks.major.iter().map(|(_, text)| text_width(text, NUMBER)).fold(0.0, f64::max);
        let nearest = ticks.major.windows(2).map(|pair| (pair[1].0 - pair[0].0).abs() * width).fold(width, f64::min);
        widest + NUMBER <= nearest
    };
    counts.map(|count| scale.ticks(count)).find(fits).unwrap_or_else(|| scale.ticks(1))
}

/// The ticks of a vertical axis.
fn up(scale: &Scale, height: f64) -> Ticks {
    scale.ticks((height / 55.0).clamp(2.0, 10.0) as usize)
}
