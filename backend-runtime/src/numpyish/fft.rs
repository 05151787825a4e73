//! The `fft` functions of the CPU backend.
