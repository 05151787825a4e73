//! The names of the samples, which are the arrays in conformance cases. `golden.py` makes the arrays and compares their
//! names with this list; `docs/table.md` describes the arrays.

use crate::model::Elem;

/// The names of the samples that exist in every dtype.
pub const SAMPLES: &[&str] = &[
    "sq", "tsq", "sqt", "mat5", "pd", "tpd", "tall", "rank1", "e0", "m", "n", "v", "u", "row", "col", "t", "mat",
    "tmat", "col3", "e", "mt", "mstep", "mrev", "fp", "s", "w", "wt", "wz", "dup", "wv", "sorted", "q", "img", "vol",
    "at2", "at3", "field", "field3", "spots1", "spots", "spots3", "holes", "links", "spacing", "rot2", "rot3",
    "falling", "weights", "pair", "pair2", "cx1", "cw1", "cg1", "cd1", "cx2", "cw2", "cg2", "cd2", "cx3", "cw3", "ct1",
    "ct3", "c4", "c6", "c8", "c0",
];

/// The names of the samples of dtype int64, which the cases use as indices.
pub const INDICES: [&str; 9] = ["i", "ii", "i0", "iv", "ix", "rise", "rise0", "rows4", "classes"];

/// Returns whether there is a sample of this name and element type.
pub fn is_sample(name: &str, elem: Elem) -> bool {
    SAMPLES.contains(&name) || elem == Elem::Int64 && INDICES.contains(&name)
}
