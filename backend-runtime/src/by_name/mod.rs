//! Calls of ops by name, with values whose dtypes are known at run time: for bindings of other languages, command lines,
//! tests.
//!
//! The generated function `call` of a table finds the row, makes [`Args`] of the arguments, and calls the row's
//! method in the dtype of its arrays. Nothing is instantiated for a program that does not call it.

mod args;
mod array;
mod literal;
mod value;

pub use args::{Args, ArrayArg, OperandArg};
pub use array::DynArray;
pub use literal::Literal;
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

/// Edits that turn one name into the other.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.bytes().enumerate() {
            let up = row[j + 1];
            row[j + 1] = (diagonal + usize::from(x != y)).min(up + 1).min(row[j] + 1);
            diagonal = up;
        }
    }
    row[b.len()]
}
