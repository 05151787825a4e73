//! The `sort` functions of the CPU backend.
