//! The `elementwise` functions of the CPU backend.
