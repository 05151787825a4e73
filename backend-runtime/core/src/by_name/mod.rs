//! Calls of ops by name, with values whose dtypes are known at run time. Bindings of other languages, command lines
//! and tests use them.
//!
//! For each op table, a function `call` is generated. It finds the op, and makes [`Args`] from the arguments. Then it
//! calls the op's method in the dtype of the arrays, or a function of the library that takes arrays of any dtype. A
//! program that never uses `call` does not instantiate it.

mod args;
mod array;
mod entry;
mod literal;
mod program;
mod value;

pub use args::{Args, ArrayArg, OperandArg};
pub use array::DynArray;
pub use entry::to_array;
pub use literal::ToLiteral;
pub use program::Program;
pub use value::{FromValue, Value};

use crate::{Error, OpInfo};

/// Returns the error for a name that is not the name of an op. It suggests the op with the most similar name, if one is
/// similar enough.
pub fn unknown(name: &str, tables: &[&[OpInfo]]) -> Error {
    let names = || tables.iter().flat_map(|table| table.iter()).map(|op| op.name);
    let most = 1 + name.len() / 3;
    // a name of a very different length is not a typing error, and comparing with a very long name is slow
    let alike = names().filter(|known| known.len().abs_diff(name.len()) <= most);
    let hint = match alike.map(|known| (distance(name, known), known)).min() {
        Some((edits, known)) if edits <= most => format!("; did you mean `{known}`?"),
        _ => String::new(),
    };
    Error::argument("call", format!("there is no op `{name}`{hint}"))
}

/// Returns the edit distance of two names: the number of letters to insert, remove, replace, or swap with their
/// neighbour.
fn distance(a: &str, b: &str) -> usize {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    // three rows of the distance table: for the prefixes of `a` that are two letters and one letter shorter than the
    // current prefix, and for the current prefix
    let (mut before, mut last, mut row) =
        (vec![0; b.len() + 1], vec![0; b.len() + 1], (0..=b.len()).collect::<Vec<usize>>());
    for i in 0..a.len() {
        (before, last, row) = (last, row, before);
        row[0] = i + 1;
        for j in 0..b.len() {
            let other = last[j] + usize::from(a[i] != b[j]);
            let swapped = i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j];
            let swap = if swapped { before[j - 1] + 1 } else { usize::MAX };
            row[j + 1] = other.min(last[j + 1] + 1).min(row[j] + 1).min(swap);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits() {
        for (a, b, edits) in [
            ("sum", "sum", 0),
            ("smu", "sum", 1),
            ("smu", "elu", 2),
            ("", "sum", 3),
            ("argsrot", "argsort", 1),
            ("ab", "", 2),
        ] {
            assert_eq!((distance(a, b), distance(b, a)), (edits, edits), "{a} {b}");
        }
    }
}
