//! Runs the examples of the guide `docs/files.md` as doctests, in a crate that has their dependencies.

#[cfg(doctest)]
#[doc = include_str!("../../../docs/files.md")]
struct Guide;
