//! The examples of the guide `docs/files.md` are tests of this crate, which has the crates that they need.

#[cfg(doctest)]
#[doc = include_str!("../../../docs/files.md")]
struct Guide;
