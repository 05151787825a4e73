//! Compares gradients with the gradients of PyTorch's autograd, which are stored as data of this crate.

use super::{Gradients, all_paired, on_host, point::Point};
use crate::{
    Backend, DType, Result,
    conformance::{Call, Row, Suite},
    grad::Diff,
};
use backends_golden::autograd;

/// Largest allowed difference of two inner products, relative to the sum of the magnitudes of their terms.
const TOLERANCE: f64 = 1e-10;

/// One line of the file that stores PyTorch's gradients: the gradients of one op, in one test case and dtype.
struct Line<'a> {
    row: &'a str,
    case: &'a str,
    dtype: DType,
    /// True for gradients at points with equal elements (ties), whose elements are -1, 0 and 1. `values` then holds all
    /// elements of the gradient with respect to each input. If false, `values` holds one number for each input: the
    /// inner product of the gradient with a direction.
    is_of_ties: bool,
    values: Vec<Vec<f64>>,
}

fn line(text: &str) -> Option<Line<'_>> {
    let [kind, row, case, dtype, values] = text.split('|').collect::<Vec<_>>()[..] else { return None };
    let is_of_ties = kind == "ties";
    let numbers =
        |text: &str| text.split(' ').filter(|x| !x.is_empty()).map(str::parse).collect::<std::result::Result<_, _>>();
    let inputs = values.split(if is_of_ties { ';' } else { ' ' }).map(numbers);
    let values = inputs.collect::<std::result::Result<_, _>>().ok()?;
    Some(Line { row, case, dtype: dtype.parse().ok()?, is_of_ties, values })
}

impl<B: Backend> Suite<B> {
    /// Compares the gradients of ops with PyTorch's.
    ///
    /// # Panics
    /// If the gradients differ, if a call fails, or if the data name a row that does not exist.
    pub fn autograd(&self, rows: &[(&'static Row, Gradients)], call: Call<Diff<B>>) {
        let Some(b) = self.backend() else { return };
        let mut wrong = Vec::new();
        for text in autograd().lines().filter(|text| !text.starts_with('#')) {
            let of_row = |line: &Line<'_>| rows.iter().find(|(row, _)| row.name == line.row);
            let found = line(text).and_then(|line| of_row(&line).map(|of| (line, of)));
            let Some((line, (row, given))) = found else {
                wrong.push(format!("no row is that of `{text}`: `cargo xtask golden-torch` makes the data anew"));
                continue;
            };
            match of_line(b, row, *given, &line, call) {
                Ok(None) => {}
                Ok(Some(why)) => wrong.push(format!("{text}: {why}")),
                Err(why) => wrong.push(format!("{text}: {why}")),
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}

/// Compares the gradients of an op with PyTorch's in one line of the data, and describes the difference, if any.
fn of_line<B: Backend>(
    b: &B,
    row: &Row,
    given: Gradients,
    line: &Line<'_>,
    call: Call<Diff<B>>,
) -> Result<Option<String>> {
    let Some(case) = row.cases.iter().find(|case| **case == line.case) else {
        return Ok(Some("the row has no such case: `cargo xtask golden-torch` makes the data anew".into()));
    };
    let Some(mut point) = Point::of(b, row, line.dtype, case, given.without, given.domain)? else {
        return Ok(Some("there is no element to differentiate by".into()));
    };
    if line.is_of_ties {
        point.move_to_ties(given.domain);
    }
    let grads = point.pull(b, line.dtype, call, &point.put(b, line.dtype, &point.at(0.0))?)?;
    let mut grads = on_host(b, &point, &grads)?.into_iter();
    for (k, (input, theirs)) in point.inputs.iter().zip(&line.values).enumerate() {
        if !input.is_wanted {
            continue;
        }
        let Some(ours) = grads.next() else { return Ok(Some("a gradient is missing".into())) };
        if line.is_of_ties {
            let ours: Vec<f64> = ours.iter().map(|z| z.re).collect();
            let near =
                |(a, b): (&f64, &f64)| a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= 1e-10 * (1.0 + b.abs());
            if ours.len() != theirs.len() || !ours.iter().zip(theirs).all(near) {
                return Ok(Some(format!(
                    "by input {k} at {:?} {ours:?}",
                    input.at.iter().map(|z| z.re).collect::<Vec<_>>()
                )));
            }
            continue;
        }
        let (ours, size) = all_paired([(&ours, &input.along)].into_iter());
        let theirs = theirs[0];
        let are_same = ours.is_nan() && theirs.is_nan() || (ours - theirs).abs() <= TOLERANCE * (size + 1.0);
        if !are_same {
            return Ok(Some(format!("by input {k} {ours}")));
        }
    }
    Ok(None)
}
