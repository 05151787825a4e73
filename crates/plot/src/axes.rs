//! A plot: its contents and its options.

use crate::{
    Error, Number, Result, Values,
    color::{CYCLE, ColorMap, Rgb},
    content::{Bars, Content, Series},
    image::Image,
};
use ndarray::{ArrayRef, Dimension};

/// A plot with two axes, which shows images, curves, points and histograms. See the [crate's documentation](crate) for
/// an example.
///
/// The methods [`imshow`](Axes::imshow), [`plot`](Axes::plot()), [`plot_y`](Axes::plot_y), [`scatter`](Axes::scatter)
/// and [`hist`](Axes::hist) add a drawing. The methods [`label`](Axes::label), [`color`](Axes::color),
/// [`size_of_marks`](Axes::size_of_marks) and the methods about images set an option of the drawing that was added
/// last. An error of any of these methods is returned by [`save`](Axes::save), [`png`](Axes::png) or
/// [`draw`](Axes::draw).
#[derive(Clone, Debug, Default)]
pub struct Axes {
    pub(crate) contents: Vec<Content>,
    pub(crate) problem: Option<Error>,
    pub(crate) title: String,
    /// The names of the horizontal and of the vertical axis.
    pub(crate) names: [String; 2],
    pub(crate) limits: [Option<[f64; 2]>; 2],
    pub(crate) is_log: [bool; 2],
    pub(crate) size: Option<[u32; 2]>,
    pub(crate) has_no_ticks: bool,
    colors_used: usize,
}

/// Shows an array as an image with a colour bar, as `plt.imshow` and `plt.colorbar` do.
///
/// An array of shape (rows, columns) is drawn in the colours of a [`ColorMap`]. Row 0 is at the top, and element
/// `[i, j]` has its centre at the coordinates x = j and y = i; [`Axes::origin_lower`] and [`Axes::extent`] change this.
/// NaN is drawn in grey. An array of shape (rows, columns, 3) has red, green and blue as integers from 0 to 255, or as
/// floats from 0 to 1; with the shape (rows, columns, 4), the last number is the opacity on white.
///
/// If the array has more elements than the plot has pixels, each pixel shows the mean of its elements.
///
/// # Errors
///
/// [`Error::Shape`], [`Error::Empty`], or [`Error::NothingToDraw`] if no value is finite and no [`Axes::range`] is set.
pub fn imshow<T: Number, D: Dimension>(array: &ArrayRef<T, D>) -> Axes {
    Axes::new().imshow(array)
}

/// Draws a curve through points, as `plt.plot` does. Points with coordinates that are not finite are gaps.
///
/// # Errors
///
/// [`Error::Shape`] unless `x` and `y` have one axis; [`Error::Lengths`], [`Error::Empty`], or
/// [`Error::NothingToDraw`] if no point is finite.
pub fn plot(x: &(impl Values + ?Sized), y: &(impl Values + ?Sized)) -> Axes {
    Axes::new().plot(x, y)
}

/// Draws a curve through values at x = 0, 1, 2, .. See [`plot`](plot()) for the errors.
pub fn plot_y(y: &(impl Values + ?Sized)) -> Axes {
    Axes::new().plot_y(y)
}

/// Draws points, as `plt.scatter` does. See [`plot`](plot()) for the errors.
pub fn scatter(x: &(impl Values + ?Sized), y: &(impl Values + ?Sized)) -> Axes {
    Axes::new().scatter(x, y)
}

/// Draws a histogram of values with a number of bins, as `plt.hist` does. The bins have the same width, and reach from
/// the smallest to the largest value. The array may have any number of axes. Values that are not finite are left out.
///
/// # Errors
///
/// [`Error::Empty`], [`Error::NothingToDraw`] if no value is finite, or [`Error::Argument`] unless `bins` is between 1
/// and 100,000.
pub fn hist(values: &(impl Values + ?Sized), bins: usize) -> Axes {
    Axes::new().hist(values, bins)
}

const LINE: f64 = 2.0;
const MARK: f64 = 7.0;
const MAX_BINS: usize = 100_000;

impl Axes {
    /// An empty plot.
    pub fn new() -> Axes {
        Axes::default()
    }

    /// Adds an image; see [`imshow`]. Curves and points that are added later are drawn over the image.
    pub fn imshow<T: Number, D: Dimension>(mut self, array: &ArrayRef<T, D>) -> Axes {
        let image = Image::new(array).map(|image| Content::Image(Box::new(image)));
        self.add(image);
        self
    }

    /// Adds a curve; see [`plot`](plot()).
    pub fn plot(mut self, x: &(impl Values + ?Sized), y: &(impl Values + ?Sized)) -> Axes {
        let series = self.series("plot", x, y, LINE).map(Content::Curve);
        self.add(series);
        self
    }

    /// Adds a curve through values at x = 0, 1, 2, ..; see [`plot_y`].
    pub fn plot_y(mut self, y: &(impl Values + ?Sized)) -> Axes {
        let x: Vec<usize> = (0..y.shape().first().copied().unwrap_or(0)).collect();
        let series = self.series("plot_y", &x, y, LINE).map(Content::Curve);
        self.add(series);
        self
    }

    /// Adds points; see [`scatter`].
    pub fn scatter(mut self, x: &(impl Values + ?Sized), y: &(impl Values + ?Sized)) -> Axes {
        let series = self.series("scatter", x, y, MARK).map(Content::Points);
        self.add(series);
        self
    }

    /// Adds a histogram; see [`hist`].
    pub fn hist(mut self, values: &(impl Values + ?Sized), bins: usize) -> Axes {
        let color = self.next_color();
        let bars = histogram(&values.to_list(), bins, color).map(Content::Bars);
        self.add(bars);
        self
    }

    /// Names the drawing that was added last: a curve, points or a histogram in the legend, or the values of an image
    /// beside its colour bar. The name should contain the unit.
    pub fn label(mut self, label: impl Into<String>) -> Axes {
        match self.contents.last_mut() {
            Some(Content::Image(image)) => image.label = label.into(),
            Some(Content::Curve(series) | Content::Points(series)) => series.label = label.into(),
            Some(Content::Bars(bars)) => bars.label = label.into(),
            None => self.misses("label", "imshow, plot, scatter or hist"),
        }
        self
    }

    /// Sets the colour of the curve, points or histogram that was added last.
    pub fn color(mut self, color: Rgb) -> Axes {
        match self.contents.last_mut() {
            Some(Content::Curve(series) | Content::Points(series)) => series.color = color,
            Some(Content::Bars(bars)) => bars.color = color,
            _ => self.misses("color", "plot, scatter or hist"),
        }
        self
    }

    /// Sets the width of the curve, or the diameter of the points, that was added last, in pixels.
    pub fn size_of_marks(mut self, pixels: f64) -> Axes {
        if !(0.1..=1000.0).contains(&pixels) {
            let reason = format!("the size must be between 0.1 and 1000 pixels, but it is {pixels}");
            self.fails(Error::Argument { call: "size_of_marks", reason });
            return self;
        }
        match self.contents.last_mut() {
            Some(Content::Curve(series) | Content::Points(series)) => series.size = pixels,
            _ => self.misses("size_of_marks", "plot or scatter"),
        }
        self
    }

    /// Draws the points that were added last as white rings with dark edges, which are visible on every image.
    pub fn rings(mut self) -> Axes {
        match self.contents.last_mut() {
            Some(Content::Points(series)) => {
                series.is_ring = true;
                series.size = series.size.max(18.0);
            }
            _ => self.misses("rings", "scatter"),
        }
        self
    }

    /// Sets the colours of the image that was added last.
    pub fn cmap(mut self, map: ColorMap) -> Axes {
        if let Some(image) = self.image("cmap") {
            image.map = map;
        }
        self
    }

    /// Sets the values that get the first and the last colour (`vmin` and `vmax` in matplotlib). Values beyond them get
    /// the same colours, and the colour bar then has a pointed end. The default is the range of the finite values. An
    /// interval of length 0 is extended on both sides.
    pub fn range(mut self, from: f64, to: f64) -> Axes {
        let are_valid = self.are_finite("range", [from, to]);
        if let (true, Some(image)) = (are_valid, self.image("range")) {
            image.range = Some([from, to]);
        }
        self
    }

    /// Makes the colours of the image logarithmic (`LogNorm` in matplotlib). Values that are not positive are grey.
    pub fn log_colors(mut self) -> Axes {
        if let Some(image) = self.image("log_colors") {
            image.is_log = true;
        }
        self
    }

    /// Sets the coordinates of the image's edges: left, right, bottom and top, in this order, as in matplotlib.
    pub fn extent(mut self, edges: [f64; 4]) -> Axes {
        let [left, right, bottom, top] = edges;
        let are_valid = self.are_distinct("extent", [left, right]) && self.are_distinct("extent", [bottom, top]);
        if let (true, Some(image)) = (are_valid, self.image("extent")) {
            image.extent = Some(edges);
        }
        self
    }

    /// Draws row 0 of the image at the bottom, as `origin="lower"` does.
    pub fn origin_lower(mut self) -> Axes {
        if let Some(image) = self.image("origin_lower") {
            image.is_lower = true;
        }
        self
    }

    /// Draws the image without a colour bar.
    pub fn no_colorbar(mut self) -> Axes {
        if let Some(image) = self.image("no_colorbar") {
            image.has_bar = false;
        }
        self
    }

    /// Stretches the image to the size of the plot, as `aspect="auto"` does. Without this call, both axes of an image
    /// have the same scale.
    pub fn aspect_auto(mut self) -> Axes {
        if let Some(image) = self.image("aspect_auto") {
            image.is_equal = false;
        }
        self
    }

    /// Sets the title above the plot.
    pub fn title(mut self, title: impl Into<String>) -> Axes {
        self.title = title.into();
        self
    }

    /// Names the horizontal axis.
    pub fn xlabel(mut self, name: impl Into<String>) -> Axes {
        self.names[0] = name.into();
        self
    }

    /// Names the vertical axis.
    pub fn ylabel(mut self, name: impl Into<String>) -> Axes {
        self.names[1] = name.into();
        self
    }

    /// Sets the ends of the horizontal axis. The first end may be the larger one.
    pub fn xlim(mut self, left: f64, right: f64) -> Axes {
        if self.are_finite("xlim", [left, right]) {
            self.limits[0] = Some([left, right]);
        }
        self
    }

    /// Sets the ends of the vertical axis. The first end may be the larger one.
    pub fn ylim(mut self, bottom: f64, top: f64) -> Axes {
        if self.are_finite("ylim", [bottom, top]) {
            self.limits[1] = Some([bottom, top]);
        }
        self
    }

    /// Makes the horizontal axis logarithmic. Points whose coordinate is not positive are left out.
    pub fn log_x(mut self) -> Axes {
        self.is_log[0] = true;
        self
    }

    /// Makes the vertical axis logarithmic. Points whose coordinate is not positive are left out.
    pub fn log_y(mut self) -> Axes {
        self.is_log[1] = true;
        self
    }

    /// Draws no numbers along the axes.
    pub fn no_ticks(mut self) -> Axes {
        self.has_no_ticks = true;
        self
    }

    /// Sets the width and the height of the area inside of the axes, in pixels. The texts around it need additional
    /// space. An image keeps its proportions and fits into this size, unless [`Axes::aspect_auto`] is set; a very long
    /// image is at least 24 pixels wide.
    pub fn size(mut self, width: u32, height: u32) -> Axes {
        match [width, height] {
            [0, _] | [_, 0] => self.fails(Error::Size { width: width.into(), height: height.into() }),
            size => self.size = Some(size),
        }
        self
    }

    fn add(&mut self, content: Result<Content>) {
        match content {
            Ok(content) => self.contents.push(content),
            Err(e) => self.fails(e),
        }
    }

    fn fails(&mut self, e: Error) {
        self.problem.get_or_insert(e);
    }

    /// Records the error of an option without a drawing to which it applies. If an earlier call has failed, keeps its
    /// error instead.
    fn misses(&mut self, call: &'static str, after: &'static str) {
        self.fails(Error::Option { call, after });
    }

    fn image(&mut self, call: &'static str) -> Option<&mut Image> {
        if !matches!(self.contents.last(), Some(Content::Image(_))) {
            self.misses(call, "imshow");
        }
        match self.contents.last_mut() {
            Some(Content::Image(image)) => Some(image),
            _ => None,
        }
    }

    /// Returns whether two ends are finite; if not, remembers the error.
    fn are_finite(&mut self, call: &'static str, [from, to]: [f64; 2]) -> bool {
        let are = from.is_finite() && to.is_finite();
        if !are {
            let reason = format!("the two ends must be finite, but they are {from} and {to}");
            self.fails(Error::Argument { call, reason });
        }
        are
    }

    /// Returns whether two ends are finite and differ; if not, remembers the error.
    fn are_distinct(&mut self, call: &'static str, [from, to]: [f64; 2]) -> bool {
        let are = from != to;
        if !are {
            let reason = format!("the two ends must differ, but both are {from}");
            self.fails(Error::Argument { call, reason });
        }
        are && self.are_finite(call, [from, to])
    }

    fn next_color(&mut self) -> Rgb {
        self.colors_used += 1;
        CYCLE[(self.colors_used - 1) % CYCLE.len()]
    }

    fn series(
        &mut self,
        call: &'static str,
        x: &(impl Values + ?Sized),
        y: &(impl Values + ?Sized),
        size: f64,
    ) -> Result<Series> {
        let color = self.next_color();
        for shape in [x.shape(), y.shape()] {
            if shape.len() != 1 {
                return Err(Error::Shape { call, shape, expected: "1 axis" });
            }
        }
        let (x, y) = (x.to_list(), y.to_list());
        if x.len() != y.len() {
            return Err(Error::Lengths { call, x: x.len(), y: y.len() });
        }
        if x.is_empty() {
            return Err(Error::Empty { call });
        }
        if !x.iter().zip(&y).any(|(x, y)| x.is_finite() && y.is_finite()) {
            return Err(Error::NothingToDraw { call, needs: "finite" });
        }
        Ok(Series { x, y, label: String::new(), color, size, is_ring: false })
    }
}

fn histogram(values: &[f64], bins: usize, color: Rgb) -> Result<Bars> {
    const CALL: &str = "hist";
    if bins == 0 || bins > MAX_BINS {
        let reason = format!("the number of bins must be between 1 and {MAX_BINS}, but it is {bins}");
        return Err(Error::Argument { call: CALL, reason });
    }
    if values.is_empty() {
        return Err(Error::Empty { call: CALL });
    }
    let finite = || values.iter().copied().filter(|v| v.is_finite());
    let (least, most) = (finite().fold(f64::INFINITY, f64::min), finite().fold(f64::NEG_INFINITY, f64::max));
    if least > most {
        return Err(Error::NothingToDraw { call: CALL, needs: "finite" });
    }
    // as in NumPy, the bins for a single value are an interval around it: of length 1, or more if rounding requires it
    let half = if least == most { f64::max(0.5, most.abs() * 1e-9) } else { 0.0 };
    // the ends are divided by 2, so that the width of the interval is finite
    let (low, high) = (least / 2.0 - half / 2.0, most / 2.0 + half / 2.0);
    let mut counts = vec![0.0; bins];
    for value in finite() {
        let at = (value / 2.0 - low) / (high - low) * bins as f64;
        counts[(at as usize).min(bins - 1)] += 1.0;
    }
    let edge = |k: usize| 2.0 * (low + (high - low) * (k as f64 / bins as f64));
    Ok(Bars { edges: (0..=bins).map(edge).collect(), counts, label: String::new(), color })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_have_the_counts_of_numpy() {
        let bars = histogram(&[0.0, 1.0, 1.5, 2.0, f64::NAN, f64::INFINITY], 2, [0; 3]).unwrap();
        assert_eq!((bars.edges, bars.counts), (vec![0.0, 1.0, 2.0], vec![1.0, 3.0]));
        let single = histogram(&[3.0], 2, [0; 3]).unwrap();
        assert_eq!((single.edges, single.counts), (vec![2.5, 3.0, 3.5], vec![0.0, 1.0]));
        let far = histogram(&[f64::MIN, 0.0, f64::MAX], 3, [0; 3]).unwrap();
        assert_eq!(far.counts, [1.0, 1.0, 1.0]);
        let large = histogram(&[1e300; 4], 3, [0; 3]).unwrap();
        assert_eq!(large.counts.iter().sum::<f64>(), 4.0);
    }
}
