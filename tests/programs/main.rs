//! Small programs on every library of this machine, against the results of PyEPRI, PyTorch and Phi-ML.

#[macro_use]
#[path = "../common/mod.rs"]
mod common;

mod epr;
mod mlp;
mod phiml;
