//! Calls of ops by name, with values whose dtypes are known at run time: for bindings of other languages, command lines,
//! tests.
//!
//! The generated function `call` of a table finds the row, makes [`Args`] of the arguments, and calls the row's
//! method in the dtype of its arrays. Nothing is instantiated for a program that does not call it.

mod args;
mod array;
mod literal;
mod program;
mod value;

pub use args::{Args, ArrayArg, OperandArg};
pub use array::DynArray;
pub use literal::ToLiteral;
pub use program::Program;
pub use value::{FromValue, Value};

use crate::{Error, OpInfo};

/// The error of a name that is no op: with the op that is meant, if a name is near.
pub fn unknown(name: &str, tables: &[&[OpInfo]]) -> Error {
    let names = || tables.iter().flat_map(|table| table.iter()).map(|op| op.name);
    let most = 1 + name.len() / 3;
    // a name of another length is no slip, and comparing a very long one would take long
    let alike = names().filter(|known| known.len().abs_diff(name.len()) <= most);
    let hint = match alike.map(|known| (distance(name, known), known)).min() {
        Some((edits, known)) if edits <= most => format!("; did you mean `{known}`?"),
        _ => String::new(),
    };
    Error::argument("call", format!("there is no op `{name}`{hint}"))
}

/// Edits that turn one name into the other: letters more, less, other, or two beside each other swapped.
fn distance(a: &str, b: &str) -> usize {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    // edits of the first letters: of all but two of `a`, of all but one, and of one more
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
