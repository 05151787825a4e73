//! The `create` functions of the CPU backend.
