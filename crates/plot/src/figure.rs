//! Several plots in one picture.

use crate::{
    Error, Picture, Result,
    axes::Axes,
    canvas::{Anchor, Canvas, Rect, text_width},
    colorbar::ColorBar,
    draw,
    layout::{self, Common, PlotLayout, images},
    style::HEADING,
};
use std::path::Path;

/// A grid of plots, which [`subplots`] makes.
#[derive(Clone, Debug)]
pub struct Figure {
    shape: [usize; 2],
    /// The plots with their rows and columns.
    plots: Vec<([usize; 2], Axes)>,
    title: String,
    has_common_colors: bool,
    has_same_scale: bool,
    problem: Option<Error>,
}

/// Makes a figure with places for plots in rows and columns, as `plt.subplots` does. [`Figure::at`] puts plots into the
/// places; the other places stay empty.
///
/// ```
/// use backends_plot::prelude::*;
///
/// let (x, y) = ([0.0, 1.0, 2.0], [1, 4, 9]);
/// let figure = subplots(1, 2).at(0, 0, plot(&x, &y).title("curve")).at(0, 1, scatter(&x, &y).title("points"));
/// let picture = figure.draw()?;
/// assert!(picture.width() > 2 * picture.height());
/// # Ok::<(), backends_plot::Error>(())
/// ```
pub fn subplots(rows: usize, columns: usize) -> Figure {
    Figure {
        shape: [rows, columns],
        plots: Vec::new(),
        title: String::new(),
        has_common_colors: false,
        has_same_scale: false,
        problem: None,
    }
}

/// Pixels: around the figure, and between plots.
const PAD: f64 = 14.0;
const GAP: [f64; 2] = [26.0, 20.0];
/// Distance in pixels from the title of the figure to the plots.
const HEADING_GAP: f64 = 14.0;

impl Figure {
    /// Puts a plot into a row and a column, both counted from 0. A plot that is already there is replaced.
    ///
    /// # Errors
    ///
    /// [`Error::Argument`] if there is no such row or column.
    pub fn at(mut self, row: usize, column: usize, axes: Axes) -> Figure {
        let [rows, columns] = self.shape;
        if row >= rows || column >= columns {
            let reason =
                format!("there is no row {row} and column {column} in a figure of {rows} rows and {columns} columns");
            self.problem.get_or_insert(Error::Argument { call: "at", reason });
            return self;
        }
        self.plots.retain(|(place, _)| *place != [row, column]);
        self.plots.push(([row, column], axes));
        self
    }

    /// Sets the title above all plots.
    pub fn title(mut self, title: impl Into<String>) -> Figure {
        self.title = title.into();
        self
    }

    /// Draws all images in the same range of values, with one colour bar at the right. The colours and the label are
    /// taken from the first image, and so is the range if it is set. Otherwise, the range contains all finite values.
    pub fn common_colors(mut self) -> Figure {
        self.has_common_colors = true;
        self
    }

    /// Draws all images with the same number of pixels for each unit of their axes.
    pub fn same_scale(mut self) -> Figure {
        self.has_same_scale = true;
        self
    }

    /// Draws the figure. See [`Axes::draw`] for the errors.
    pub fn draw(mut self) -> Result<Picture> {
        let problem = self.problem.take();
        if let Some(e) = problem.or_else(|| self.plots.iter().find_map(|(_, axes)| axes.problem.clone())) {
            return Err(e);
        }
        if self.shape.contains(&0) {
            return Err(Error::Size { width: 0, height: 0 });
        }
        let common = Common { colors: self.join_colors(), pixels_per_unit: self.smallest_scale()? };
        let plans = self.plots.iter().map(|(place, axes)| Ok((*place, PlotLayout::new(axes, common)?)));
        let plans = plans.collect::<Result<Vec<_>>>()?;
        let grid = Grid::new(&plans);
        let bar = match common.colors {
            Some(_) => self.common_bar(common, grid.height())?,
            None => None,
        };
        self.paint(&plans, &grid, bar.as_ref())
    }

    /// Draws the figure, and encodes it as a PNG file. See [`Axes::draw`] for the errors.
    pub fn png(self) -> Result<Vec<u8>> {
        self.draw()?.png()
    }

    /// Draws the figure into a PNG file. See [`Axes::save`] for the errors.
    pub fn save(self, path: impl AsRef<Path>) -> Result<()> {
        self.draw()?.save(path)
    }

    /// Gives all images the colours of the first one, and returns the common range of values.
    fn join_colors(&mut self) -> Option<[f64; 2]> {
        if !self.has_common_colors {
            return None;
        }
        let first = self.plots.iter().flat_map(|(_, axes)| images(axes)).find(|image| image.has_bar)?;
        let (map, range, is_log) = (first.map.clone(), first.range, first.is_log);
        for content in self.plots.iter_mut().flat_map(|(_, axes)| &mut axes.contents) {
            if let crate::content::Content::Image(image) = content {
                (image.map, image.range, image.is_log) = (map.clone(), None, is_log);
            }
        }
        range.or(self.bounds())
    }

    /// The smallest and the largest value of all images.
    fn bounds(&self) -> Option<[f64; 2]> {
        let all = self.plots.iter().flat_map(|(_, axes)| images(axes)).filter_map(|image| image.bounds());
        all.reduce(|a, b| [a[0].min(b[0]), a[1].max(b[1])])
    }

    fn common_bar(&self, common: Common, height: f64) -> Result<Option<ColorBar>> {
        let mut all = self.plots.iter().flat_map(|(_, axes)| images(axes));
        let Some(image) = all.find(|image| image.has_bar) else { return Ok(None) };
        Ok(Some(ColorBar::new(image, image.colors(common.colors)?, self.bounds(), height)))
    }

    fn smallest_scale(&self) -> Result<Option<f64>> {
        let mut smallest = None;
        for (_, axes) in self.plots.iter().filter(|_| self.has_same_scale) {
            let fits = layout::pixels_per_unit(axes, &layout::scales(axes)?);
            smallest = [smallest, fits].into_iter().flatten().reduce(f64::min);
        }
        Ok(smallest)
    }

    fn paint(&self, plans: &[([usize; 2], PlotLayout<'_>)], grid: &Grid, bar: Option<&ColorBar>) -> Result<Picture> {
        let heading = if self.title.is_empty() { 0.0 } else { HEADING + HEADING_GAP };
        let content = grid.full_width() + bar.map_or(0.0, ColorBar::width);
        let width = 2.0 * PAD + content.max(text_width(&self.title, HEADING));
        // the label of the common bar may be longer than the plots
        let overhang = bar.map_or(0.0, |bar| (bar.label_length() - grid.height()) / 2.0);
        let [above, below] = [grid.above(), grid.below()].map(|space| (overhang - space).max(0.0).ceil());
        let height = 2.0 * PAD + heading + grid.full_height() + above + below;
        let mut canvas = Canvas::new(width.ceil() as u64, height.ceil() as u64)?;
        let left = ((width - content) / 2.0).floor();
        let top = PAD + heading + above;
        for (place, plan) in plans {
            let rect = grid.rect(*place, plan.size);
            let [x, y] = [(rect.left + left).floor(), (rect.top + top).floor()];
            draw::draw(&mut canvas, plan, Rect::new(x, y, plan.size[0], plan.size[1]));
        }
        if let Some(bar) = bar {
            let beside = Rect::new(left, (top + grid.above()).floor(), grid.full_width(), grid.height().floor());
            bar.draw(&mut canvas, beside);
        }
        canvas.text(&self.title, [width / 2.0, PAD + HEADING / 2.0], HEADING, Anchor::Center);
        canvas.finish()
    }
}

impl Axes {
    /// Draws the plot.
    ///
    /// # Errors
    ///
    /// Returns the first error of the calls that made the plot; [`Error::NothingToDraw`] if a logarithmic axis has no
    /// positive value; [`Error::Size`] if the picture would be too large.
    pub fn draw(self) -> Result<Picture> {
        subplots(1, 1).at(0, 0, self).draw()
    }

    /// Draws the plot, and encodes it as a PNG file. See [`Axes::draw`] for the errors.
    pub fn png(self) -> Result<Vec<u8>> {
        self.draw()?.png()
    }

    /// Draws the plot into a PNG file.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Axes::draw`], and [`Error::File`] if the file cannot be written.
    pub fn save(self, path: impl AsRef<Path>) -> Result<()> {
        self.draw()?.save(path)
    }
}

/// The places of rows and columns.
struct Grid {
    columns: Vec<Track>,
    rows: Vec<Track>,
}

/// A column or a row: its start, the space before the plots, the size of the plots, and the space after them.
#[derive(Clone, Copy, Default)]
struct Track {
    index: usize,
    start: f64,
    before: f64,
    size: f64,
    behind: f64,
}

impl Track {
    fn end(&self) -> f64 {
        self.start + self.before + self.size + self.behind
    }
}

impl Grid {
    /// Rows and columns without plots take no space.
    fn new(plans: &[([usize; 2], PlotLayout<'_>)]) -> Grid {
        let tracks = |axis: usize, measure: fn(&PlotLayout<'_>) -> [f64; 3]| {
            let mut used: Vec<usize> = plans.iter().map(|(place, _)| place[axis]).collect();
            used.sort_unstable();
            used.dedup();
            let mut tracks: Vec<Track> = Vec::new();
            for index in used {
                let start = tracks.last().map_or(0.0, |last| last.end() + GAP[1 - axis]);
                let mut track = Track { index, start, ..Track::default() };
                for (_, plan) in plans.iter().filter(|(place, _)| place[axis] == index) {
                    let [before, size, behind] = measure(plan);
                    track.before = track.before.max(before);
                    track.size = track.size.max(size);
                    track.behind = track.behind.max(behind);
                }
                tracks.push(track);
            }
            tracks
        };
        Grid {
            columns: tracks(1, |plan| [plan.sides.left, plan.size[0], plan.sides.right]),
            rows: tracks(0, |plan| [plan.sides.top, plan.size[1], plan.sides.bottom]),
        }
    }

    /// The rectangle of a plot, centred in its place.
    fn rect(&self, [row, column]: [usize; 2], [width, height]: [f64; 2]) -> Rect {
        let find =
            |tracks: &[Track], index: usize| tracks.iter().find(|t| t.index == index).copied().unwrap_or_default();
        let (row, column) = (find(&self.rows, row), find(&self.columns, column));
        let x = column.start + column.before + (column.size - width) / 2.0;
        let y = row.start + row.before + (row.size - height) / 2.0;
        Rect::new(x, y, width, height)
    }

    fn full_width(&self) -> f64 {
        self.columns.last().map_or(0.0, Track::end)
    }

    fn full_height(&self) -> f64 {
        self.rows.last().map_or(0.0, Track::end)
    }

    /// The space above the first row of plots.
    fn above(&self) -> f64 {
        self.rows.first().map_or(0.0, |row| row.before)
    }

    /// The space below the last row of plots.
    fn below(&self) -> f64 {
        self.rows.last().map_or(0.0, |row| row.behind)
    }

    /// The height from the top of the first row of plots to the bottom of the last one.
    fn height(&self) -> f64 {
        (self.full_height() - self.above() - self.below()).max(1.0)
    }
}
