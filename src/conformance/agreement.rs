//! A test of every op (row of the op table): each backend must refuse the same calls as [`Numpyish`], with the same
//! error texts.

use super::{
    Call, Row, Suite, Values,
    arguments::{FURTHER, anything, calls, chance, without_axes},
    case::{self, DTypes},
    suite::caught,
};
use backend_runtime::{Arrays, DType, Earlier, Error, Result, numpyish::Numpyish};

/// Maximum number of disagreements that are reported for an op.
const TOLD: usize = 8;

impl<B: Arrays> Suite<B> {
    /// Calls an op on this backend and on [`Numpyish`] with 0-dimensional arrays, and with random arguments, both valid
    /// and invalid. The first dtype gets more calls than each of the other dtypes. Both backends must return results of
    /// the same shapes and dtypes, or the same error.
    ///
    /// # Panics
    /// If the outcomes differ, or if the op panics.
    pub fn agrees(&self, row: &Row, dtypes: &[DType], to: Option<DType>) {
        if B::NAME == Numpyish::NAME {
            return;
        }
        let _alone = row.alone();
        self.each(|b| self.agrees_on(b, row, dtypes, to));
    }

    fn agrees_on(&self, b: &B, row: &Row, dtypes: &[DType], to: Option<DType>) {
        let mut calls = calls();
        let further = calls / FURTHER;
        for &dtype in dtypes {
            let (anything, mut chance) = (anything(dtype), chance(row, dtype));
            let dtypes = DTypes { of: dtype, to };
            let mut told = Vec::new();
            let random = (0..calls).map(|_| anything.arguments(row.params, &mut chance));
            for text in without_axes(row).into_iter().chain(random) {
                let expected = outcome(&Numpyish::new(), row, dtypes, &text, self.reference());
                let got = outcome(b, row, dtypes, &text, self.by_name());
                if matches!(got, Err(Error::Unsupported { .. })) && self.is_partial() {
                    return;
                }
                if let Some(why) = disagreement(&got, &expected, row.accuracy.ndim) {
                    told.push(format!("`{text}`: {why}"));
                }
            }
            let n = told.len();
            told.truncate(TOLD);
            assert!(n == 0, "{} on {}, {dtype}: {n} calls\n  {}", row.name, B::NAME, told.join("\n  "));
            calls = further;
        }
    }
}

fn outcome<B: Arrays>(b: &B, row: &Row, dtypes: DTypes, text: &str, call: Call<B>) -> Result<Vec<Values>> {
    let called = caught(|| case::call(b, row, dtypes, text, call, None));
    called.map_or_else(|panic| Err(Error::argument("panic", panic)), |called| called.results)
}

/// Describes the difference between two outcomes, if any. One backend may lack the memory for a call that the other
/// backend can compute; this difference is ignored, unless the requested size exceeds any memory. Errors in copying to
/// or from the backend are ignored, because they are not errors of the op. If `ndim` is true, the lengths of results
/// may differ.
fn disagreement(got: &Result<Vec<Values>>, expected: &Result<Vec<Values>>, ndim: bool) -> Option<String> {
    let of_host = |why: &Error| matches!(why, Error::Memory { op: "to_ndarray" | "from_ndarray", .. });
    let refused = |why: &Error| matches!(why, Error::Memory { bytes, .. } if *bytes != usize::MAX);
    let shapes = |values: &[Values]| values.iter().map(|v| format!("{} {:?}", v.dtype, v.shape)).collect::<Vec<_>>();
    let axes = |values: &[Values]| values.iter().map(|v| (v.dtype, v.shape.len())).collect::<Vec<_>>();
    let same = match (got, expected) {
        (Err(why), _) | (_, Err(why)) if of_host(why) => true,
        (Err(got), Err(expected)) => {
            got == expected || (refused(got) && refused(expected)) || is_of_a_part(got, expected)
        }
        (Err(why), Ok(_)) | (Ok(_), Err(why)) => refused(why),
        (Ok(got), Ok(expected)) if ndim => axes(got) == axes(expected),
        (Ok(got), Ok(expected)) => shapes(got) == shapes(expected),
    };
    let told = |outcome: &Result<Vec<Values>>| match outcome {
        Ok(values) => shapes(values).join(", "),
        Err(why) => format!("\"{why}\""),
    };
    (!same).then(|| format!("{}; elsewhere {}", told(got), told(expected)))
}

/// Returns whether `got` is the expected index error, reported late. If an index error is reported only when the host
/// waits for the device, it names an inner op of a composed op, and not the composed op itself.
fn is_of_a_part(got: &Error, expected: &Error) -> bool {
    match (got, expected.op()) {
        (Error::Index { index, axis, len, earlier: Earlier(true), .. }, Some(op)) => {
            Error::index(op, *index, *axis, *len) == *expected
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::arr1;

    #[test]
    fn errors_and_shapes_are_held_to_each_other() {
        type Outcome = Result<Vec<Values>>;
        let disagreement = |got: &Outcome, expected: &Outcome| disagreement(got, expected, false);
        let of = |x: &[f64]| Ok(vec![Values::of(&arr1(x).into_dyn().into_shared())]);
        let error = |why: &str| Err(Error::argument("add", why));
        let memory = |bytes| Err(Error::memory("add", bytes));
        assert_eq!(disagreement(&of(&[1.0]), &of(&[2.0])), None, "elements are held to NumPy's elsewhere");
        assert!(disagreement(&of(&[1.0]), &of(&[1.0, 2.0])).is_some());
        assert_eq!(super::disagreement(&of(&[1.0]), &of(&[1.0, 2.0]), true), None);
        assert!(disagreement(&of(&[1.0]), &error("a")).is_some());
        assert!(disagreement(&error("a"), &error("b")).unwrap().contains("add: a"));
        assert_eq!(disagreement(&error("a"), &error("a")), None);
        assert_eq!(disagreement(&memory(8), &of(&[1.0])), None);
        assert!(disagreement(&memory(usize::MAX), &of(&[1.0])).is_some());
        assert!(disagreement(&memory(8), &error("a")).is_some());
        let index = |op, index: i128, is_earlier| {
            let mut why = Error::index(op, index, 0, 2);
            if let Error::Index { earlier, .. } = &mut why {
                *earlier = Earlier(is_earlier);
            }
            Err(why)
        };
        assert_eq!(disagreement(&index("take", 5, true), &index("add", 5, false)), None);
        assert!(disagreement(&index("take", 5, false), &index("add", 5, false)).is_some());
        assert!(disagreement(&index("take", 5, true), &index("add", 6, false)).is_some());
        let read = Err(Error::memory("to_ndarray", 1));
        assert_eq!(disagreement(&read, &error("a")), None);
    }
}
