//! Colours, and maps from values to colours.

use crate::{Error, Result};
use colorgrad::{Gradient, preset};

/// Red, green and blue, from 0 to 255.
pub type Rgb = [u8; 3];

/// The colour of values that are NaN.
pub const MISSING: Rgb = [200, 200, 200];

/// The colours of curves and points, in the order in which they are added.
pub const CYCLE: [Rgb; 10] = [
    [31, 119, 180],
    [255, 127, 14],
    [44, 160, 44],
    [214, 39, 40],
    [148, 103, 189],
    [140, 86, 75],
    [227, 119, 194],
    [127, 127, 127],
    [188, 189, 34],
    [23, 190, 207],
];

pub(crate) const INK: Rgb = [30, 34, 42];
pub(crate) const WHITE: Rgb = [255, 255, 255];
pub(crate) const GRID: Rgb = [225, 227, 231];

/// The number of colours of a map.
const STEPS: usize = 256;

/// Maps the values of an image to colours. The smallest value gets the first colour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColorMap(Vec<Rgb>);

macro_rules! presets {
    ($($name:ident: $text:literal;)*) => {
        impl ColorMap {
            $(#[doc = $text]
            pub fn $name() -> ColorMap {
                ColorMap::sampled(&preset::$name())
            })*
        }
    };
}

presets! {
    viridis: "From dark violet over green to yellow; the default.";
    magma: "From black over violet to light yellow.";
    inferno: "From black over red to light yellow.";
    plasma: "From blue over red to yellow.";
    cividis: "From dark blue to yellow, for people who confuse red and green.";
    turbo: "A rainbow from blue over green to red.";
    blues: "From white to dark blue.";
    rd_bu: "From red over white to blue. `rd_bu().reversed()` has red for positive values.";
    spectral: "From red over yellow to blue.";
}

impl ColorMap {
    /// From black to white.
    pub fn gray() -> ColorMap {
        ColorMap((0..STEPS).map(|k| [k as u8; 3]).collect())
    }

    /// Colours at equal distances, with linear transitions between them.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Empty`] if there is no colour.
    pub fn from_colors(colors: &[Rgb]) -> Result<ColorMap> {
        let [.., last] = colors else { return Err(Error::Empty { call: "ColorMap::from_colors" }) };
        let color = |step: usize| {
            let at = step as f64 / (STEPS - 1) as f64 * (colors.len() - 1) as f64;
            let from = colors.get(at as usize).unwrap_or(last);
            let to = colors.get(at as usize + 1).unwrap_or(last);
            [0, 1, 2].map(|k| mixed(from[k], to[k], at.fract()))
        };
        Ok(ColorMap((0..STEPS).map(color).collect()))
    }

    /// Reverses the order of the colours, like the names with `_r` in matplotlib.
    pub fn reversed(mut self) -> ColorMap {
        self.0.reverse();
        self
    }

    /// The colour at a position from 0 to 1. Positions beyond the ends get the first or the last colour, and NaN gets
    /// the colour [`MISSING`].
    pub fn at(&self, position: f64) -> Rgb {
        if position.is_nan() {
            return MISSING;
        }
        // the conversion saturates
        let step = (position * self.0.len() as f64) as usize;
        self.0[step.min(self.0.len() - 1)]
    }

    fn sampled(gradient: &impl Gradient) -> ColorMap {
        let color = |k: usize| {
            let [r, g, b, _] = gradient.at(k as f32 / (STEPS - 1) as f32).to_rgba8();
            [r, g, b]
        };
        ColorMap((0..STEPS).map(color).collect())
    }
}

fn mixed(from: u8, to: u8, part: f64) -> u8 {
    (f64::from(from) * (1.0 - part) + f64::from(to) * part).round() as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_have_the_first_and_the_last_color() {
        let map = ColorMap::viridis();
        assert_eq!((map.at(0.0), map.at(1.0)), ([68, 1, 84], [254, 232, 37]));
        assert_eq!((map.at(-7.0), map.at(f64::INFINITY)), (map.at(0.0), map.at(1.0)));
        assert_eq!(map.at(f64::NAN), MISSING);
        assert_eq!(map.clone().reversed().at(0.0), map.at(1.0));
        assert_eq!(ColorMap::gray().at(0.5), [128; 3]);
    }

    #[test]
    fn own_colors_are_interpolated() {
        let map = ColorMap::from_colors(&[[0, 0, 0], [200, 100, 0]]).unwrap();
        assert_eq!((map.at(0.0), map.at(1.0)), ([0, 0, 0], [200, 100, 0]));
        assert_eq!(map.at(0.5), [100, 50, 0]);
        assert_eq!(ColorMap::from_colors(&[[1, 2, 3]]).unwrap().at(0.7), [1, 2, 3]);
        assert!(matches!(ColorMap::from_colors(&[]), Err(Error::Empty { .. })));
    }
}
