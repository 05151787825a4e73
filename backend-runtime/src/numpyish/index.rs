//! The `index` functions of the CPU backend.
