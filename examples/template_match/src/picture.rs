//! Sections through the volume and the scores, with rings around the peaks.

use crate::{peaks::Peak, volume::Volume};
use colorgrad::{BasisGradient, preset};
use examples_common::figure::{self, Colors, Panel};
use ndarray::{ArrayD, Axis};
use std::error::Error;

const AXES: [&str; 3] = ["z", "y", "x"];

/// The volume to show: its title, the name of its values, and its colours.
pub struct Subject<'a> {
    pub title: &'a str,
    pub values: &'a str,
    pub gradient: BasisGradient,
}

impl Subject<'_> {
    /// Creates the subject for the volume that was searched.
    pub fn target() -> Subject<'static> {
        Subject { title: "Volume, and where the template was found", values: "density", gradient: preset::viridis() }
    }

    /// Creates the subject for the best scores of all rotations, one score for each position.
    pub fn scores() -> Subject<'static> {
        Subject { title: "Best score of all rotations", values: "score", gradient: preset::inferno() }
    }

    /// Draws a section perpendicular to each axis, through the best peak, or, without peaks, through the centre.
    pub fn picture(self, volume: &mut Volume, peaks: &[Peak]) -> Result<Vec<u8>, Box<dyn Error>> {
        let shape = volume.shape();
        let center = peaks.first().map_or(shape.map(|n| n / 2), |p| p.place);
        let mut panels = Vec::new();
        for axis in 0..3 {
            let mut ranges = shape.map(|n| 0..n);
            ranges[axis] = center[axis]..center[axis] + 1;
            let values = volume.read(&ranges)?.index_axis_move(Axis(axis), 0);
            panels.push(panel(axis, center[axis], values, peaks, shape));
        }
        let colors = Colors::of(&panels, self.gradient, self.values);
        figure::to_scale(self.title, &panels, &colors, 420)?.png()
    }
}

fn panel(axis: usize, at: usize, values: ArrayD<f64>, peaks: &[Peak], shape: [usize; 3]) -> Panel {
    let shown = [[1, 2], [0, 2], [0, 1]][axis];
    let near = |p: &&Peak| p.place[axis].abs_diff(at) <= NEAR;
    Panel {
        values,
        title: format!("{} = {at}", AXES[axis]),
        labels: shown.map(|k| AXES[k].into()),
        // element i has its centre at coordinate i
        extents: shown.map(|k| [-0.5, shape[k] as f64 - 0.5]),
        marks: peaks.iter().filter(near).map(|p| shown.map(|k| p.place[k] as f64)).collect(),
    }
}

/// The largest distance in elements between a section and a peak that is marked in it.
const NEAR: usize = 2;
