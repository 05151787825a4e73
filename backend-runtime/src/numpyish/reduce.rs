//! The `reduce` functions of the CPU backend.
