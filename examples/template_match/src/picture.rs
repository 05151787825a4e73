//! Sections through the volume and the scores, with rings around the peaks.

use backends_plot::{Axes, ColorMap, imshow, subplots};
use ndarray::{ArrayD, Axis};
use std::error::Error;
use template_match::{peaks::Peak, volume::Volume};

const AXES: [&str; 3] = ["z", "y", "x"];

/// The volume to show: its title, the name of its values, and its colours.
pub struct Subject<'a> {
    pub title: &'a str,
    pub values: &'a str,
    pub colors: ColorMap,
}

impl Subject<'_> {
    /// Creates the subject for the volume that was searched.
    pub fn target() -> Subject<'static> {
        Subject { title: "Volume, and where the template was found", values: "density", colors: ColorMap::viridis() }
    }

    /// Creates the subject for the best scores of all rotations, one score for each position.
    pub fn scores() -> Subject<'static> {
        Subject { title: "Best score of all rotations", values: "score", colors: ColorMap::inferno() }
    }

    /// Draws a section perpendicular to each axis, through the best peak, or, without peaks, through the centre.
    pub fn picture(self, volume: &mut Volume, peaks: &[Peak]) -> Result<Vec<u8>, Box<dyn Error>> {
        let shape = volume.shape();
        let center = peaks.first().map_or(shape.map(|n| n / 2), |p| p.place);
        let mut figure = subplots(1, 3).title(self.title).common_colors().same_scale();
        for axis in 0..3 {
            let mut ranges = shape.map(|n| 0..n);
            ranges[axis] = center[axis]..center[axis] + 1;
            let values = volume.read(&ranges)?.index_axis_move(Axis(axis), 0);
            figure = figure.at(0, axis, self.section(axis, center[axis], &values, peaks));
        }
        Ok(figure.png()?)
    }

    /// Draws the section `values`, which is perpendicular to an axis, and the peaks that lie in it.
    fn section(&self, axis: usize, at: usize, values: &ArrayD<f64>, peaks: &[Peak]) -> Axes {
        let [up, across] = [[1, 2], [0, 2], [0, 1]][axis];
        let image = imshow(values).origin_lower().cmap(self.colors.clone()).label(self.values).size(900, 420);
        let image = image.xlabel(format!("{} (voxels)", AXES[across])).ylabel(format!("{} (voxels)", AXES[up]));
        let image = image.title(format!("{} = {at}", AXES[axis]));
        let inside = || peaks.iter().filter(|p| p.place[axis] == at);
        if inside().next().is_none() {
            return image;
        }
        // element i has its centre at coordinate i
        let along = |axis: usize| inside().map(|p| p.place[axis]).collect::<Vec<_>>();
        image.scatter(&along(across), &along(up)).rings()
    }
}
