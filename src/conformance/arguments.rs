//! A property of every row: whatever its arguments are, it answers with a result or an error that names it. It does not
//! panic.

use super::{Case, Row, Suite, Values, fuzz, random::Chance, suite::message};
use backend_runtime::{Arrays, DType, Error, Result};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// How many calls of each row.
const CALLS: usize = 150;

impl<B: Arrays> Suite<B> {
    /// Calls a row with arguments of all sorts: shapes that fit and that do not, axes and indices in and out of range,
    /// empty arrays, sizes over any memory. The same ones in every run, but for those of `cargo xtask fuzz`.
    ///
    /// # Panics
    /// If the op does, or if an error does not name it.
    pub fn answers(&self, row: &Row, dtype: DType, call: fn(&Case<'_, B>) -> Result<Vec<Values>>) {
        let Some(b) = self.backend() else { return };
        let seed = |seed: u64, byte: u8| seed.wrapping_mul(31).wrapping_add(byte.into());
        let mut chance = Chance::new(row.name.bytes().fold(1 + fuzz::seed(), seed));
        for _ in 0..CALLS {
            let text = arguments(row.params, &mut chance);
            let case = Case::new(b, row.name, row.params, &text).expect("arguments of the row's parameters");
            let of = format!("{} on {}, {dtype}, called with `{text}`", row.name, B::NAME);
            match catch_unwind(AssertUnwindSafe(|| call(&case))) {
                Ok(Ok(_)) => {}
                Ok(Err(Error::Unsupported { .. })) if self.is_partial() => return,
                Ok(Err(why)) => {
                    assert_eq!(why.op(), Some(row.name), "{of}: the error names another op: {why}");
                    assert!(!matches!(why, Error::Unsupported { .. }), "{of}: {why}");
                }
                Err(panic) => panic!("{of}: it panicked: {}", message(&*panic)),
            }
        }
    }
}

/// A case of a row, from the types of its parameters.
fn arguments(params: &[&str], chance: &mut Chance) -> String {
    let mut parts = Vec::new();
    for param in params {
        let (name, ty) = param.split_once(':').expect("a parameter has a type");
        let (ty, default) = ty.split_once('=').map_or((ty, None), |(ty, default)| (ty, Some(default)));
        let value = value(ty.trim(), chance);
        match default {
            None => parts.push(value),
            Some(_) if chance.below(3) == 0 => {}
            Some(_) => parts.push(format!("{} = {value}", name.trim())),
        }
    }
    parts.join(", ")
}

/// An argument for a parameter of this type, as often as not one that does not fit.
pub(super) fn value(ty: &str, chance: &mut Chance) -> String {
    const ARRAYS: &[&str] =
        &["m", "n", "v", "u", "row", "col", "t", "mat", "tmat", "s", "e", "mt", "mstep", "mrev", "w", "dup", "sorted"];
    const INDICES: &[&str] = &["i", "ii", "i0", "iv", "ix"];
    const AXES: &[&str] = &["0", "1", "2", "-1", "-2", "-3", "5", "-9", "1000"];
    const LENGTHS: &[&str] = &["0", "1", "2", "3", "4", "7", "4611686018427387904", "18446744073709551615"];
    const SIGNED: &[&str] = &["-1", "0", "1", "2", "3", "4", "6", "-5", "9223372036854775807", "-9223372036854775808"];
    const NUMBERS: &[&str] = &["0", "1", "-1", "0.5", "3", "1e300", "-1e300", "NaN", "inf"];
    let list = |of: &[&str], most: usize, chance: &mut Chance| {
        let items: Vec<&str> = (0..chance.below(most + 1)).map(|_| chance.pick(of)).collect();
        format!("[{}]", items.join(", "))
    };
    match ty {
        "array<int64>" => chance.pick(INDICES).into(),
        "operand" if chance.below(4) == 0 => chance.pick(&["0", "1", "-2", "3"]).into(),
        _ if ty.starts_with("arrays") => list(ARRAYS, 3, chance),
        _ if ty.starts_with("array") || ty.starts_with("operand") => chance.pick(ARRAYS).into(),
        "host" | "bytes" => chance.pick(ARRAYS).into(),
        "axes" if chance.below(4) == 0 => "all".into(),
        "axes" if chance.below(2) == 0 => list(AXES, 3, chance),
        "axes" | "axis" => chance.pick(AXES).into(),
        "shape" | "lengths?" => list(LENGTHS, 4, chance),
        "newshape" | "shifts" => list(SIGNED, 3, chance),
        "slices" => {
            const SLICES: &[&str] = &[":", "1:3", "::-1", "0", "-1", "5", "2:0", "::2", "-100:100", "1:1", "::0"];
            let slices: Vec<&str> = (0..chance.below(4)).map(|_| chance.pick(SLICES)).collect();
            format!("'{}'", slices.join(", "))
        }
        "scalar" => chance.pick(&["0", "1", "2", "5", "-3"]).into(),
        "f64" | "f64?" => chance.pick(NUMBERS).into(),
        "usize" | "usize?" | "u64" => chance.pick(LENGTHS).into(),
        "isize" | "isize?" | "i64" => chance.pick(SIGNED).into(),
        "bool" => chance.pick(&["true", "false"]).into(),
        "norm" => chance.pick(&["backward", "ortho", "forward"]).into(),
        "indexing" => chance.pick(&["xy", "ij"]).into(),
        "side" => chance.pick(&["left", "right"]).into(),
        "interpolation" => chance.pick(&["linear", "lower", "higher", "midpoint", "nearest"]).into(),
        "pad_mode" => chance.pick(&["constant", "edge", "reflect", "symmetric", "wrap"]).into(),
        other => panic!("no arguments are known for a parameter of type `{other}`"),
    }
}
