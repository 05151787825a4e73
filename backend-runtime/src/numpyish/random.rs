//! The `random` functions of the CPU backend.
