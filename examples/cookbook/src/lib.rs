//! Short programs for common tasks. Each file `NAME.rs` is one program, and `NAME.py` is the same program in Python.

pub mod cg_sense;
pub mod dbscan;
pub mod deconvolution;
pub mod fourier_shell_correlation;
pub mod gaussian_process;
pub mod gpt;
pub mod gray_scott;
pub mod kalman_filter;
pub mod kuramoto_sivashinsky;
pub mod lattice_boltzmann;
pub mod particle_filter;
pub mod programs;
pub mod registration;
pub mod schroedinger;
pub mod tomography;
