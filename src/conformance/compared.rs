//! Results that are not unique: what a row says is compared of them, such as the product of its factors.
//!
//! `compared = ["matmul(q, r)"]`: calls of ops by name, of the row's results and parameters by their names and of integers. They are
//! computed on `Numpyish`; the reference has the same of NumPy's results.

use super::{
    Call, Row, Values,
    case::{self, DTypes},
};
use backend_runtime::{DynArray, Error, Result, ResultInfo, Value, dispatch, numpyish::Numpyish};

/// What is compared of the results of a case: they themselves, where the row says nothing else.
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
    let names: Vec<&str> = match row.result {
        ResultInfo::Fields(fields) => fields.iter().map(|(name, _)| *name).collect(),
        _ => vec!["result"],
    };
    for (name, values) in names.into_iter().zip(results) {
        let array = dispatch!(values.dtype, T => {
            let array = values.array::<T>();
            array.map(Value::array::<T>).ok_or_else(|| Error::argument(row.name, "a result has no elements"))
        })?;
        known.push((name, array));
    }
    row.compared.iter().map(|text| part(row.name, text, &known, call)).collect()
}

/// The value of one expression.
fn part(op: &'static str, text: &str, known: &[(&str, Value<Numpyish>)], call: Call<Numpyish>) -> Result<Values> {
    let mut reader = Reader { op, left: text, known, call };
    match reader.value()? {
        Value::Array(x) if reader.left.trim().is_empty() => values(&x),
        _ => Err(reader.wrong()),
    }
}

fn values(x: &DynArray<Numpyish>) -> Result<Values> {
    dispatch!(x.dtype(), T => {
        x.get::<T>().map(Values::of).ok_or_else(|| Error::argument("compared", "an array of another dtype"))
    })
}

/// Reads an expression, and computes it.
struct Reader<'a> {
    op: &'static str,
    left: &'a str,
    known: &'a [(&'a str, Value<Numpyish>)],
    call: Call<Numpyish>,
}

impl Reader<'_> {
    fn wrong(&self) -> Error {
        Error::argument(self.op, format!("`compared` is not read from `{}` on", self.left))
    }

    /// Whether this is what comes next; then it is passed over.
    fn takes(&mut self, mark: char) -> bool {
        let rest = self.left.trim_start().strip_prefix(mark);
        self.left = rest.unwrap_or(self.left);
        rest.is_some()
    }

    fn value(&mut self) -> Result<Value<Numpyish>> {
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
        (self.call)(&Numpyish::new(), word, &arguments, &[])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::arr2;

    #[test]
    fn expressions_are_calls_of_ops() {
        let x = Value::array::<f64>(arr2(&[[1.0, 2.0], [3.0, 4.0]]).into_dyn().into_shared());
        let known = [("x", x)];
        let read = |text: &str| part("qr", text, &known, crate::call);
        let squared = read("matmul(x, matrix_transpose( x ))").unwrap();
        assert_eq!(squared.elements::<f64>().unwrap(), [5.0, 11.0, 11.0, 25.0]);
        assert_eq!(read("expand_dims(x, -2)").unwrap().shape, [2, 1, 2]);
        for wrong in ["", "y", "matmul(x", "matmul(x, x) x", "x, x", "3", "nothing(x)"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
