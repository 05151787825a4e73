//! Small programs of the source systems on every library of this machine, against the numbers of PyEPRI, PyTorch and Phi-ML.

#[macro_use]
#[path = "../common/mod.rs"]
mod common;

mod epr;
mod mlp;
mod phiml;
