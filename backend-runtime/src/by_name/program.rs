//! Programs that were written down.

use super::DynArray;
use crate::numpyish::Numpyish;
use std::collections::BTreeMap;

/// Calls as text, and the arrays that they begin with: what a file holds of a program.
pub trait Program {
    /// The calls, a line each.
    fn text(&self) -> String;

    /// The arrays that the calls begin with, by their names.
    fn constants(&self) -> BTreeMap<String, DynArray<Numpyish>>;
}
