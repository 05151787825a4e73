//! Comparison of results that are not unique, such as matrix factors: a row can name derived values to be compared
//! instead, such as the product of the factors.
//!
//! `compared = ["matmul(q, r)"]` lists calls of ops by name. Their arguments are integers or names of the row's results
//! and parameters. `Numpyish` computes these calls; the reference data contain their values for NumPy's results.

use super::{
    Call, Row, Values,
    case::{self, DTypes},
};
use backend_runtime::{Arrays, DynArray, Error, Result, ResultInfo, Value, dispatch, numpyish::Numpyish};

/// The values to be compared for the results of a case: the row's `compared` values, or by default the results
/// themselves.
pub(super) fn parts(
    row: &Row,
    dtypes: DTypes,
    text: &str,
    results: Vec<Values>,
    call: Call<Numpyish>,
) -> Result<Vec<Values>> {
    if row.compared.is_empty() {
        return Ok(results);
    }
    let mut known = case::named(&Numpyish::new(), row, dtypes, text)?;
    for (name, values) in names(row).into_iter().zip(results) {
        let array = dispatch!(values.dtype, T => {
            let array = values.array::<T>();
            array.map(Value::array::<T>).ok_or_else(|| Error::argument(row.name, "a result has no elements"))
        })?;
        known.push((name, array));
    }
    let part = |text: &&str| values(&part(&Numpyish::new(), row.name, text, &known, call)?);
    row.compared.iter().map(part).collect()
}

/// Names of an op's results, as used in `compared`.
pub(super) fn names(row: &Row) -> Vec<&'static str> {
    match row.result {
        ResultInfo::Fields(fields) => fields.iter().map(|(name, _)| *name).collect(),
        _ => vec!["result"],
    }
}

/// Like `parts`, but on any backend. `result` is the result of a call, and `known` are the arguments of this call with
/// their names.
pub(super) fn parts_on<B: Arrays>(
    b: &B,
    row: &Row,
    mut known: Vec<(&str, Value<B>)>,
    result: Value<B>,
    call: Call<B>,
) -> Result<Value<B>> {
    if row.compared.is_empty() {
        return Ok(result);
    }
    let results = match result {
        Value::List(results) => results,
        one => vec![one],
    };
    known.extend(names(row).into_iter().zip(results));
    let part = |text: &&str| part(b, row.name, text, &known, call).map(Value::Array);
    Ok(Value::List(row.compared.iter().map(part).collect::<Result<_>>()?))
}

/// Evaluates one expression of `compared`.
fn part<B: Arrays>(
    b: &B,
    op: &'static str,
    text: &str,
    known: &[(&str, Value<B>)],
    call: Call<B>,
) -> Result<DynArray<B>> {
    let mut reader = Reader { b, op, left: text, known, call };
    match reader.value()? {
        Value::Array(x) if reader.left.trim().is_empty() => Ok(x),
        _ => Err(reader.wrong()),
    }
}

fn values(x: &DynArray<Numpyish>) -> Result<Values> {
    dispatch!(x.dtype(), T => {
        x.get::<T>().map(Values::of).ok_or_else(|| Error::argument("compared", "an array of another dtype"))
    })
}

/// A parser of expressions, which evaluates them as it reads.
struct Reader<'a, B: Arrays> {
    b: &'a B,
    op: &'static str,
    left: &'a str,
    known: &'a [(&'a str, Value<B>)],
    call: Call<B>,
}

impl<B: Arrays> Reader<'_, B> {
    fn wrong(&self) -> Error {
        Error::argument(self.op, format!("`compared` is not read from `{}` on", self.left))
    }

    /// Returns whether the next character is `mark`, and skips it in that case.
    fn takes(&mut self, mark: char) -> bool {
        let rest = self.left.trim_start().strip_prefix(mark);
        self.left = rest.unwrap_or(self.left);
        rest.is_some()
    }

    fn value(&mut self) -> Result<Value<B>> {
        let text = self.left.trim_start();
        let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '-').unwrap_or(text.len());
        let (word, rest) = text.split_at(end);
        if let Ok(number) = word.parse::<i64>() {
            self.left = rest;
            return Ok(Value::from(number));
        }
        let known = self.known.iter().rev().find(|(name, _)| *name == word);
        if word.is_empty() {
            return Err(self.wrong());
        }
        self.left = rest;
        if !self.takes('(') {
            return known.map(|(_, value)| value.clone()).ok_or_else(|| self.wrong());
        }
        let mut arguments = vec![self.value()?];
        while self.takes(',') {
            arguments.push(self.value()?);
        }
        if !self.takes(')') {
            return Err(self.wrong());
        }
        (self.call)(self.b, word, &arguments, &[])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops;
    use ndarray::arr2;

    /// Calls an op by its name. Only the ops in the expressions of this test are known.
    fn call(
        b: &Numpyish,
        op: &str,
        args: &[Value<Numpyish>],
        options: &[(&str, Value<Numpyish>)],
    ) -> Result<Value<Numpyish>> {
        match op {
            "matmul" => ops::matmul::call(b, args, options),
            "matrix_transpose" => ops::matrix_transpose::call(b, args, options),
            "expand_dims" => ops::expand_dims::call(b, args, options),
            _ => Err(Error::argument("qr", format!("there is no op `{op}`"))),
        }
    }

    #[test]
    fn expressions_are_calls_of_ops() {
        let x = Value::array::<f64>(arr2(&[[1.0, 2.0], [3.0, 4.0]]).into_dyn().into_shared());
        let known = [("x", x)];
        let read = |text: &str| values(&part(&Numpyish::new(), "qr", text, &known, call)?);
        let squared = read("matmul(x, matrix_transpose( x ))").unwrap();
        assert_eq!(squared.elements::<f64>().unwrap(), [5.0, 11.0, 11.0, 25.0]);
        assert_eq!(read("expand_dims(x, -2)").unwrap().shape, [2, 1, 2]);
        for wrong in ["", "y", "matmul(x", "matmul(x, x) x", "x, x", "3", "nothing(x)"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
