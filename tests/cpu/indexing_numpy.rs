//! Tests index lists on every backend against NumPy's results. The results are in `tests/data/indexing.txt`, which
//! `cargo xtask golden` writes; `tools/xtask/index_cases.py` describes the format.

use crate::common::Checked;
use backends::{Result, Slice, Value, ops, prelude::*};

/// Parses a shape or a list of elements: numbers separated by commas.
fn numbers<N: std::str::FromStr>(text: &str) -> Vec<N>
where
    N::Err: std::fmt::Debug,
{
    text.split(',').filter(|part| !part.is_empty()).map(|part| part.parse().unwrap()).collect()
}

fn host<T: Element>(shape: &[usize], elements: Vec<T>) -> HostArray<T> {
    HostArray::from_shape_vec(shape, elements).unwrap()
}

/// Returns an array of shape `shape` with the integers `first`, `first + 1`, ..
fn counting<B: Backend>(b: &B, shape: &[usize], first: i64) -> Result<B::Array<i64>> {
    let n = shape.iter().product::<usize>() as i64;
    b.from_ndarray(host(shape, (first..first + n).collect()))
}

fn item<B: Backend>(b: &B, text: &str) -> Result<Value<B>> {
    let array = |text: &str| text.split_once(")=").map(|(shape, elements)| (numbers(shape), elements.to_string()));
    Ok(match (text, text.strip_prefix("i(").and_then(array), text.strip_prefix("m(").and_then(array)) {
        ("...", ..) => Value::Rest,
        ("NewAxis", ..) => Value::New,
        (_, Some((shape, elements)), _) => Value::array::<i64>(b.from_ndarray(host(&shape, numbers(&elements)))?),
        (_, _, Some((shape, flags))) => {
            Value::array::<bool>(b.from_ndarray(host(&shape, flags.bytes().map(|flag| flag == b'1').collect()))?)
        }
        _ if !text.contains(':') => Value::Integer(text.parse().unwrap()),
        _ => {
            let mut ends = text.split(':').map(|end| end.parse().ok());
            let (start, stop, step) = (ends.next().flatten(), ends.next().flatten(), ends.next().flatten());
            Slice { start, stop, step: step.unwrap_or(1) as isize, drop: false }.into()
        }
    })
}

fn as_numpy<B: Backend>(b: &B) -> Checked {
    let file = std::fs::read_to_string(format!("{}/tests/data/indexing.txt", env!("CARGO_MANIFEST_DIR")))?;
    let mut wrong = Vec::new();
    for line in file.lines() {
        let [op, shape, items, values, result, elements] = line.split('|').collect::<Vec<_>>()[..] else {
            panic!("`{line}` has no six fields")
        };
        let x = Value::array::<i64>(counting(b, &numbers(shape), 0)?);
        let items = items.split(' ').filter(|text| !text.is_empty()).map(|text| item(b, text));
        let mut arguments = vec![x.clone(), Value::List(items.collect::<Result<_>>()?)];
        if op != "get" {
            arguments.push(Value::array::<i64>(counting(b, &numbers(values), 1000)?));
        }
        let expected = host(&numbers(result), numbers::<i64>(elements));
        let got = match op {
            "get" => ops::get::call(b, &arguments, &[]),
            "set" => ops::set::call(b, &arguments, &[]),
            "add_at" => ops::add_at::call(b, &arguments, &[]),
            other => panic!("`{line}` is of {other}"),
        };
        let got = got.and_then(|got| b.to_ndarray(got.as_array().and_then(|x| x.get::<i64>()).unwrap()));
        if got.as_ref().ok() != Some(&expected) {
            wrong.push(format!("{line}\n  gives {got:?}"));
        }
        let unchanged = x.as_array().and_then(|x| x.get::<i64>()).unwrap();
        assert_eq!(b.to_ndarray(unchanged)?, b.to_ndarray(&counting(b, &numbers(shape), 0)?)?, "{line}");
    }
    assert!(file.lines().count() > 200 && wrong.is_empty(), "{} cases:\n{}", wrong.len(), wrong.join("\n"));
    Ok(())
}

#[test]
fn lists_of_indices_are_numpys() {
    on_every_backend!(as_numpy);
}
