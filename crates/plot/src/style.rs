//! Sizes that several parts of a picture share.

/// Sizes of fonts in pixels.
pub(crate) const HEADING: f64 = 26.0;
pub(crate) const TITLE: f64 = 21.0;
pub(crate) const NAME: f64 = 19.0;
pub(crate) const NUMBER: f64 = 17.0;

/// Sizes in pixels: the length of a tick, and the distance from a tick to its number.
pub(crate) const TICK: f64 = 6.0;
pub(crate) const NUMBER_GAP: f64 = 5.0;
