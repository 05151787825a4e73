//! Runs the examples of the guide `docs/files.md` as doctests, with the crates that they need.

#[cfg(doctest)]
#[doc = include_str!("../../../docs/files.md")]
struct Guide;
