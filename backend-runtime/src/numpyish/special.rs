//! The `special` functions of the CPU backend.
