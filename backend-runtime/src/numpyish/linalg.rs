//! The `linalg` functions of the CPU backend.
