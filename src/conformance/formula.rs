//! A test of every op that the op table defines by a scalar expression: in every dtype, a formula that consists of the
//! op must give the same result as the op.

use super::{
    Call, Row, Suite,
    accuracy::Tolerance,
    case::{self, Called, DTypes},
    compare::difference,
    parse::{self, Arg},
    suite::caught,
};
use backend_runtime::{Arrays, DType, numpyish::Numpyish};

/// The cases (test calls) of an op in which all arguments are arrays.
pub(super) fn of_arrays(row: &Row) -> Vec<&'static str> {
    let arrays = |text: &&str| {
        let args = parse::args(text).unwrap_or_default();
        args.named.is_empty() && args.positional.iter().all(|arg| matches!(arg, Arg::Name(name) if name != "all"))
    };
    let texts: Vec<&str> = row.cases.iter().copied().filter(arrays).collect();
    assert!(!texts.is_empty(), "{}: no case has only arrays", row.name);
    texts
}

impl<B: Arrays> Suite<B> {
    /// Runs a formula that consists of the op alone, for each case that has only arrays as arguments. On [`Numpyish`]
    /// and [`Cuda`](crate::Cuda), the result must equal the op's result bit for bit. On other backends, formulas may
    /// call other functions than the op, so the results may differ by twice the op's allowed error.
    ///
    /// # Panics
    /// If a result differs, or if the row has no such case.
    pub fn formulas(&self, row: &Row, dtypes: &[(DType, Option<DType>, Call<B>)]) {
        self.each(|b| self.formulas_on(b, row, dtypes));
    }

    fn formulas_on(&self, b: &B, row: &Row, dtypes: &[(DType, Option<DType>, Call<B>)]) {
        let texts = of_arrays(row);
        for &(dtype, to, formula) in dtypes {
            let dtypes = DTypes { of: dtype, to };
            for text in &texts {
                let of = format!("`{text}` of {} on {}, {dtypes}", row.name, B::NAME);
                let run = |call: Call<B>| {
                    let Called { results, size, .. } = caught(|| case::call(b, row, dtypes, text, call, None))
                        .unwrap_or_else(|why| panic!("{of}: {why}"));
                    (results.unwrap_or_else(|why| panic!("{of}: {why}")), size)
                };
                let ((fused, size), (op, _)) = (run(formula), run(self.by_name()));
                let same = [Numpyish::NAME, "cuda"].contains(&B::NAME);
                let tolerance = row.accuracy.tolerance(dtype, op[0].dtype, size);
                let tolerance = if same { Tolerance::Exact } else { tolerance.twice() };
                if let Some(why) = difference(&fused[0], &op[0], tolerance, !same) {
                    panic!("{of}: as a formula {why}");
                }
            }
        }
    }
}
