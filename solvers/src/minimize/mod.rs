//! Minima of functions.
