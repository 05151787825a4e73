//! Formulas whose dtypes are known only at run time.

use super::{Arg, ArrayRef, ArrayValue, Call, Outputs};
use crate::{
    Arrays, Error, ParamInfo, ParamKind, PlainInfo, Result,
    formula::{self, Numbers, Step, Steps},
    raw::RawElement,
};

/// The value of a step.
enum Value {
    Array(usize),
    Number(RawElement),
    Made(ArrayValue),
    /// The value was passed to another step as an operand.
    Used,
}

/// Computes a formula op by op, by the entries of its ops. Each intermediate result is passed by value to the op that
/// uses it.
pub fn run_steps<B: Arrays>(b: &B, steps: &Steps, numbers: &Numbers, arrays: &[ArrayRef<'_>]) -> Result<ArrayValue> {
    let unsupported = || Error::unsupported(formula::NAME, B::NAME);
    let mut elements = numbers.elements();
    let mut made: Vec<Value> = Vec::with_capacity(steps.steps.len());
    for step in &steps.steps {
        let value = match step {
            Step::Element(array) => Value::Array(*array),
            Step::Number(_) => Value::Number(elements.next().ok_or_else(unsupported)?),
            Step::Call { row, gradient: None, of, out, operands } => {
                let row = row.row.ok_or_else(unsupported)?;
                let mut operands: Vec<Value> =
                    operands.iter().map(|&operand| std::mem::replace(&mut made[operand], Value::Used)).collect();
                let mut args = Vec::with_capacity(row.info.params.len());
                let mut values = operands.iter_mut();
                for param in row.info.params {
                    args.push(match is_number(param) {
                        true => number(param, elements.next().ok_or_else(unsupported)?),
                        false => match values.next().ok_or_else(unsupported)? {
                            Value::Array(array) => Arg::Array(arrays[*array]),
                            Value::Number(x) => Arg::Element(*x),
                            Value::Made(x) => Arg::Given(x.by_mut()),
                            Value::Used => return Err(unsupported()),
                        },
                    });
                }
                let outputs = b.run_row(row, &mut Call::new(row, *of, &mut args).with_to(*out))?;
                match outputs {
                    Outputs::One(x) => Value::Made(x),
                    _ => return Err(unsupported()),
                }
            }
            Step::Call { .. } | Step::Sum(..) => return Err(unsupported()),
        };
        made.push(value);
    }
    match made.pop() {
        Some(Value::Made(x)) => Ok(x),
        _ => Err(unsupported()),
    }
}

/// Returns whether the parameter is a number of the op's expression.
fn is_number(param: &ParamInfo) -> bool {
    matches!(param.kind, ParamKind::Plain(_) | ParamKind::Maybe(_))
}

/// The argument of a parameter that is a number of the op's expression.
fn number<'a>(param: &ParamInfo, x: RawElement) -> Arg<'a> {
    match param.kind {
        ParamKind::Plain(PlainInfo::Bool) => Arg::Bool(x.to_f64() != 0.0),
        ParamKind::Plain(PlainInfo::F64) => Arg::Real(x.to_f64()),
        _ => Arg::Integer(x.cast::<i64>() as u64),
    }
}
