//! The `shape` functions of the CPU backend.
