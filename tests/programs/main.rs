//! Tests of small programs on every library of this machine. Their results must equal the results of PyEPRI, PyTorch
//! and Phi-ML.

#[macro_use]
#[path = "../common/mod.rs"]
mod common;

mod beside;
mod epr;
mod locations;
mod mlp;
mod phiml;
