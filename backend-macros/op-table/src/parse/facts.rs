//! Parses properties of an op that its row states, and that the tests check on backends: irrelevance of the sign of
//! zero, the number of bytes from the device for which the op may wait, the calls that NumPy also rejects, the seed of
//! random numbers, the function that reduces a formula, and the values to compare if results are not unique.

use super::*;
use crate::{
    model::{Facts, Waits},
    names::is_function,
};

/// The keys of a row that this file parses.
pub(super) const FACTS: [&str; 6] = ["zero", "waits", "raises", "seed", "fused", "compared"];

impl Parser<'_> {
    /// Parses the keys of [`FACTS`]. `reason` is true if the row has the key `reason`, which the key `zero` requires.
    pub(super) fn facts(&mut self, row: &Table, reason: bool) -> Facts {
        let zero = self.word(row, "zero");
        if let Some(word) = &zero {
            if word.text != "any" {
                let help = Some("leave the key out if the sign of zero is the same as in NumPy".into());
                self.bad(word.span.clone(), "`zero` must be \"any\"", help);
            } else if !reason {
                self.bad(word.span.clone(), "`zero = \"any\"` needs the key `reason`", None);
            }
        }
        Facts {
            any_zero: zero.is_some(),
            waits: self.waits(row),
            raises: self.list(row, "raises"),
            seed: self.seed(row),
            compared: self.list(row, "compared"),
            fused: self.fused(row),
        }
    }

    /// Parses the key `waits`, such as `waits = { bytes = 8, why = "how many elements the result has" }`.
    fn waits(&mut self, row: &Table) -> Option<Waits> {
        let (_, value) = row.iter().find(|(key, _)| key.text == "waits")?;
        let Value::Table(waits, span) = value else {
            let help = Some("{ bytes = 8, why = \"how many elements the result has\" }".into());
            self.bad(value.span(), "`waits` must be a table", help);
            return None;
        };
        let all_known = self.known_keys(waits, &["bytes", "why"], "`waits`");
        let why = self.text(waits, "why").filter(|why| !why.is_empty());
        let bytes = match waits.iter().find(|(key, _)| key.text == "bytes") {
            Some((_, value)) => self.whole(value, "bytes")?,
            None => 0,
        };
        if all_known && (why.is_none() || bytes == 0) {
            self.bad(
                span.clone(),
                "`waits` needs the number of `bytes` that the op waits for, and the reason `why`",
                None,
            );
        }
        Some(Waits { bytes, why: why? })
    }

    /// Parses the key `fused`, which is a path such as `"reduction::sum_of"`.
    fn fused(&mut self, row: &Table) -> Option<String> {
        let word = self.word(row, "fused")?;
        if is_function(&word.text) {
            return Some(word.text);
        }
        self.bad(word.span, format!("`{}` is not a path such as `reduction::sum_of`", word.text.escape_debug()), None);
        None
    }

    fn seed(&mut self, row: &Table) -> Option<u64> {
        let (_, value) = row.iter().find(|(key, _)| key.text == "seed")?;
        self.whole(value, "seed")
    }

    /// Parses a non-negative integer that a float can represent exactly.
    fn whole(&mut self, value: &Value, key: &str) -> Option<u64> {
        match value {
            Value::Number(x, _) if x.fract() == 0.0 && (0.0..9e15).contains(x) => Some(*x as u64),
            other => {
                self.bad(other.span(), format!("`{key}` must be an integer of 0 or more"), None);
                None
            }
        }
    }
}
