//! An array as an image: its cells, and the pixels that show them.

use crate::{
    Error, Number, Result,
    canvas::{Canvas, Rect},
    color::{ColorMap, MISSING, Rgb},
    scale::Scale,
};
use ndarray::{ArrayRef, Axis, Dimension, Ix2, Ix3};
use std::ops::Range;

/// The largest number of cells along an axis. A larger array is averaged to this size when it is added, so its size
/// does not affect the memory of a picture.
const MAX_CELLS: usize = 4096;

/// An array that is shown as an image.
#[derive(Clone, Debug)]
pub(crate) struct Image {
    /// The number of rows and columns of the array.
    pub shape: [usize; 2],
    /// The number of rows and columns of `cells`.
    stored: [usize; 2],
    cells: Cells,
    pub extent: Option<[f64; 4]>,
    pub is_lower: bool,
    pub map: ColorMap,
    pub range: Option<[f64; 2]>,
    pub is_log: bool,
    pub has_bar: bool,
    pub is_equal: bool,
    pub label: String,
}

/// The cells, row by row.
#[derive(Clone, Debug)]
enum Cells {
    Values {
        cells: Vec<f64>,
        /// The smallest value, the smallest positive value and the largest value. Infinite values are left out.
        least: f64,
        positive: f64,
        most: f64,
    },
    Colors(Vec<Rgb>),
}

impl Image {
    /// An image of values, of shape (rows, columns), or of colours, of shape (rows, columns, 3 or 4).
    pub fn new<T: Number, D: Dimension>(array: &ArrayRef<T, D>) -> Result<Image> {
        let shape = array.shape();
        let is_color = match shape {
            [_, _] => false,
            [_, _, 3 | 4] => true,
            _ => {
                let expected = "2 axes (rows and columns), or 3 axes of which the last one has the length 3 or 4";
                return Err(Error::Shape { call: "imshow", shape: shape.to_vec(), expected });
            }
        };
        if array.is_empty() {
            return Err(Error::Empty { call: "imshow" });
        }
        let stored = [shape[0], shape[1]].map(|n| n.min(MAX_CELLS));
        let full = [shape[0], shape[1]];
        let cells = if is_color { colors(array, full, stored) } else { values(array, full, stored) };
        let (map, range, label) = (ColorMap::viridis(), None, String::new());
        Ok(Image {
            shape: full,
            stored,
            cells,
            extent: None,
            is_lower: false,
            map,
            range,
            is_log: false,
            has_bar: !is_color,
            is_equal: true,
            label,
        })
    }

    /// The coordinates of the edges: left, right, bottom, top.
    pub fn edges(&self) -> [f64; 4] {
        let [rows, columns] = self.shape.map(|n| n as f64);
        let (bottom, top) = if self.is_lower { (-0.5, rows - 0.5) } else { (rows - 0.5, -0.5) };
        self.extent.unwrap_or([-0.5, columns - 0.5, bottom, top])
    }

    /// The smallest and the largest value that can be drawn. `None` for colours, and if there is no such value.
    pub fn bounds(&self) -> Option<[f64; 2]> {
        let Cells::Values { least, positive, most, .. } = self.cells else { return None };
        let from = if self.is_log { positive } else { least };
        (from <= most).then_some([from, most])
    }

    /// The scale of the colours, with `common` as its range if the image itself has none.
    pub fn colors(&self, common: Option<[f64; 2]>) -> Result<Scale> {
        match self.range.or(common).or(self.bounds()) {
            Some([from, to]) => Ok(Scale::new(from, to, self.is_log)),
            None if matches!(self.cells, Cells::Colors(_)) => Ok(Scale::new(0.0, 1.0, false)),
            None => {
                Err(Error::NothingToDraw { call: "imshow", needs: if self.is_log { "positive" } else { "finite" } })
            }
        }
    }

    /// Paints the image into a plot whose axes have these scales (horizontal and vertical).
    pub fn paint(&self, canvas: &mut Canvas, rect: Rect, [across, up]: [&Scale; 2], colors: &Scale) {
        let [left, right, bottom, top] = self.edges();
        let [rows, columns] = self.stored;
        let (first, last) = if self.is_lower { (bottom, top) } else { (top, bottom) };
        let width = rect.width() as usize;
        let height = rect.height() as usize;
        let columns = spans(width, columns, |part| (across.value(part) - left) / (right - left));
        let rows = spans(height, rows, |part| (up.value(1.0 - part) - first) / (last - first));
        canvas.pixels(rect, |x, y| self.color(&rows[y], &columns[x], colors));
    }

    /// The colour of a pixel that shows these cells.
    fn color(&self, rows: &Range<usize>, columns: &Range<usize>, colors: &Scale) -> Rgb {
        if rows.is_empty() || columns.is_empty() {
            return crate::color::WHITE;
        }
        let places = rows.clone().flat_map(|row| columns.clone().map(move |column| row * self.stored[1] + column));
        match &self.cells {
            Cells::Values { cells, .. } => self.color_of(mean(places.map(|at| cells[at])), colors),
            Cells::Colors(cells) => {
                let mut sum = [0_u64; 3];
                let mut count = 0;
                for at in places {
                    (0..3).for_each(|k| sum[k] += u64::from(cells[at][k]));
                    count += 1;
                }
                sum.map(|s| ((s + count / 2) / count) as u8)
            }
        }
    }

    fn color_of(&self, value: f64, colors: &Scale) -> Rgb {
        match value {
            f64::INFINITY => self.map.at(1.0),
            f64::NEG_INFINITY if !self.is_log => self.map.at(0.0),
            value => colors.fraction(value).map_or(MISSING, |part| self.map.at(part)),
        }
    }
}

/// The mean of the finite values, or the first value if none is finite.
fn mean(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let (mut sum, mut count, mut first) = (0.0, 0.0, None);
    for value in values.clone() {
        first = first.or(Some(value));
        if value.is_finite() {
            sum += value;
            count += 1.0;
        }
    }
    if count == 0.0 {
        return first.unwrap_or(f64::NAN);
    }
    // if the sum overflows, each value is divided before it is added
    if f64::is_finite(sum) { sum / count } else { values.filter(|v| v.is_finite()).map(|v| v / count).sum() }
}

/// The range of cells that each of `pixels` pixels shows. `position` maps the position of a pixel's edge, from 0 to 1,
/// to a position in the image, where 0 and 1 are its edges.
fn spans(pixels: usize, cells: usize, position: impl Fn(f64) -> f64) -> Vec<Range<usize>> {
    let at = |edge: usize| position(edge as f64 / pixels as f64) * cells as f64;
    let span = |pixel: usize| {
        let (a, b) = (at(pixel), at(pixel + 1));
        let (from, to) = (a.min(b), a.max(b));
        let middle = (from + to) / 2.0;
        // false for NaN
        if !(middle >= 0.0 && middle < cells as f64) {
            return 0..0;
        }
        if to - from <= 1.0 {
            return middle as usize..middle as usize + 1;
        }
        let first = (from.round().max(0.0) as usize).min(cells - 1);
        first..(to.round() as usize).clamp(first + 1, cells)
    };
    (0..pixels).map(span).collect()
}

/// The part of an axis of length `full` that cell `k` of `stored` cells covers.
fn block(k: usize, full: usize, stored: usize) -> Range<usize> {
    let edge = |k: usize| (k as u128 * full as u128 / stored as u128) as usize;
    edge(k)..edge(k + 1)
}

/// Calls `cell` for each stored cell, with the rows and columns of the array that it covers.
fn each_cell<R>(full: [usize; 2], stored: [usize; 2], mut cell: impl FnMut(Range<usize>, Range<usize>) -> R) -> Vec<R> {
    let mut cells = Vec::with_capacity(stored[0] * stored[1]);
    let columns: Vec<_> = (0..stored[1]).map(|column| block(column, full[1], stored[1])).collect();
    for row in 0..stored[0] {
        let rows = block(row, full[0], stored[0]);
        cells.extend(columns.iter().map(|columns| cell(rows.clone(), columns.clone())));
    }
    cells
}

fn values<T: Number, D: Dimension>(array: &ArrayRef<T, D>, full: [usize; 2], stored: [usize; 2]) -> Cells {
    let view = array.view().into_dyn().into_dimensionality::<Ix2>();
    let Ok(view) = view else { return Cells::Colors(Vec::new()) };
    let (mut least, mut positive, mut most) = (f64::INFINITY, f64::INFINITY, f64::NEG_INFINITY);
    for value in view.iter().map(|v| v.to_f64()).filter(|v| v.is_finite()) {
        least = least.min(value);
        most = most.max(value);
        if value > 0.0 {
            positive = positive.min(value);
        }
    }
    if full == stored {
        return Cells::Values { cells: view.iter().map(|v| v.to_f64()).collect(), least, positive, most };
    }
    let cells = each_cell(full, stored, |rows, columns| {
        mean(rows.flat_map(|row| columns.clone().map(move |column| view[[row, column]].to_f64())))
    });
    Cells::Values { cells, least, positive, most }
}

fn colors<T: Number, D: Dimension>(array: &ArrayRef<T, D>, full: [usize; 2], stored: [usize; 2]) -> Cells {
    let view = array.view().into_dyn().into_dimensionality::<Ix3>();
    let Ok(view) = view else { return Cells::Colors(Vec::new()) };
    let has_opacity = view.len_of(Axis(2)) == 4;
    Cells::Colors(each_cell(full, stored, |rows, columns| {
        let part = |k: usize| {
            let at = rows.clone().flat_map(|row| columns.clone().map(move |column| [row, column, k]));
            mean(at.map(|at| view[at].to_f64() / T::FULL))
        };
        let color = [part(0), part(1), part(2)];
        let opacity = if has_opacity { part(3).clamp(0.0, 1.0) } else { 1.0 };
        if color.iter().any(|part| part.is_nan()) || opacity.is_nan() {
            return MISSING;
        }
        // the background is white
        color.map(|part| (255.0 * (part.clamp(0.0, 1.0) * opacity + 1.0 - opacity)).round() as u8)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array2, arr2};

    #[test]
    fn pixels_show_all_cells_once() {
        assert_eq!(spans(2, 6, |p| p), [0..3, 3..6]);
        assert_eq!(spans(2, 6, |p| 1.0 - p), [3..6, 0..3]);
        assert_eq!(spans(4, 2, |p| p), [0..1, 0..1, 1..2, 1..2]);
        assert_eq!(spans(4, 2, |p| 2.0 * p - 0.5), [0..0, 0..1, 1..2, 0..0]);
        for (pixels, cells) in [(7, 100), (100, 101), (3, 4096)] {
            let spans = spans(pixels, cells, |p| p);
            let seen: Vec<usize> = spans.into_iter().flatten().collect();
            assert_eq!(seen, (0..cells).collect::<Vec<_>>(), "{pixels} pixels, {cells} cells");
        }
        assert!(spans(3, 3, |_| f64::NAN).iter().all(|span| span.is_empty()));
    }

    #[test]
    fn large_arrays_are_averaged() {
        let wide = Array2::from_shape_fn((1, 3 * MAX_CELLS), |(_, x)| (x % 3) as f32);
        let image = Image::new(&wide).unwrap();
        assert_eq!((image.shape, image.stored), ([1, 3 * MAX_CELLS], [1, MAX_CELLS]));
        assert_eq!(image.bounds(), Some([0.0, 2.0]));
        let Cells::Values { cells, .. } = image.cells else { panic!("these are values") };
        assert!(cells.iter().all(|v| *v == 1.0));
    }

    #[test]
    fn what_is_not_finite_has_no_part_in_the_range_or_a_mean() {
        let array = arr2(&[[f64::NAN, -3.0], [f64::INFINITY, 4.0]]);
        let mut image = Image::new(&array).unwrap();
        assert_eq!(image.bounds(), Some([-3.0, 4.0]));
        image.is_log = true;
        assert_eq!(image.bounds(), Some([4.0, 4.0]));
        assert_eq!(mean([f64::NAN, 2.0, 4.0].into_iter()), 3.0);
        assert_eq!(mean([f64::MAX, f64::MAX, f64::NAN].into_iter()), f64::MAX);
        assert_eq!(mean([f64::INFINITY].into_iter()), f64::INFINITY);
    }
}
