//! Exhaustive template matching over any backend: the scores of a template in a volume, for all orientations and
//! positions.

pub mod chunks;
pub mod matching;
pub mod peaks;
pub mod rotations;
pub mod volume;
