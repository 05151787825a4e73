//! Programs that can be written as text.

use super::DynArray;
use crate::numpyish::Numpyish;
use std::collections::BTreeMap;

/// A program in the form in which a file stores it: calls as text, and the arrays that they start from.
pub trait Program {
    /// Returns the calls, one per line.
    fn text(&self) -> String;

    /// Returns the arrays that the calls start from, by name.
    fn constants(&self) -> BTreeMap<String, DynArray<Numpyish>>;
}
