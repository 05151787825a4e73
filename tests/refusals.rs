//! What every backend refuses, in the same words, and what it does not refuse though it has no elements.

mod common;

use backends::prelude::*;
use common::*;

/// The words of an error.
fn said<T>(outcome: Result<T>) -> String {
    outcome.err().map_or("no error".into(), |why| why.to_string())
}

/// The words of an error that the device may tell when it is waited for.
fn told<B: Backend, T>(b: &B, outcome: Result<T>) -> String {
    said(outcome.and_then(|_| b.synchronize()))
}

fn refusals<B: Backend>(b: &B) -> Checked {
    let x = b.arange(0, 6, 1).and_then(|x| b.reshape(&x, [2, 3]))?;
    let (nothing, point) = (b.zeros::<f64>([0, 0])?, b.asarray(1.5)?);
    assert_eq!(said(b.expand_dims(&x, ..)), "expand_dims: `..` does not say where the new axes go");
    assert_eq!(said(b.squeeze(&x, 1)), "squeeze: shape [2, 3]: axis 1 does not have length 1");
    assert_eq!(said(b.sum(&x, 2)), "sum: axis 2 is out of range for 2 dimensions");
    assert_eq!(said(b.sum(&x, [0, -2])), "sum: axis 0 is given twice");
    assert_eq!(said(b.nonzero(&point)), "nonzero: shape []: has no axis");
    let empty = "shape [0, 0]: has no elements along axis 0 to choose from";
    assert_eq!(said(b.max(&nothing, 0)), format!("max: {empty}"));
    assert_eq!(said(b.min(&nothing, ..)), format!("min: {empty}"));
    assert_eq!(said(b.argmax(&nothing, 0)), format!("argmax: {empty}"));
    let half = b.asarray(0.5)?;
    assert_eq!(said(b.quantile(&nothing, &half, 0)), format!("quantile: {empty}"));
    // the first of the indices that are outside, neither the largest nor the smallest
    let indices = b.asarray([1_i64, 7, -100, 100])?;
    assert_eq!(told(b, b.take(&x, &indices, 1)), "take: index 7 is out of range for axis 1 of length 3");
    let values = b.zeros::<i32>([2, 4])?;
    assert_eq!(told(b, b.scatter(&x, &indices, &values, 1)), "scatter: index 7 is out of range for axis 1 of length 3");
    assert_eq!(said(b.roll(&x, [1, 2, 3], [0, 1])), "roll: 3 shifts do not fit 2 axes");
    let counts = |counts: &[i64]| b.asarray(counts.to_vec());
    assert_eq!(said(b.repeat_each(&x, &counts(&[1, -1, 0])?, 1)), "repeat_each: a count is negative");
    assert_eq!(
        said(b.repeat_each(&x, &counts(&[1, 2])?, 1)),
        "repeat_each: shape [2]: counts are one number, or one for each of 3"
    );
    let many = counts(&[i64::MAX, i64::MAX, i64::MAX])?;
    assert_eq!(said(b.repeat_each(&x, &many, 1)), "repeat_each: the result is larger than any memory");
    Ok(())
}

#[test]
fn bad_calls_are_refused_in_the_same_words() {
    on_every_backend!(refusals);
}

fn results<B: Backend>(b: &B) -> Checked {
    let x = b.arange(0, 6, 1).and_then(|x| b.reshape(&x, [2, 3]))?;
    assert_eq!(b.shape(&b.max(&b.zeros::<f64>([0, 3])?, 1)?), [0]);
    let median = b.median(&b.zeros::<f64>([0, 2])?, 0)?;
    assert!(b.to_ndarray(&median)?.iter().all(|x| x.is_nan()) && b.shape(&median) == [2]);
    assert_eq!(b.shape(&b.permute_dims(&x, ..)?), [3, 2]);
    let one_count = b.repeat_each(&x, &b.asarray([2_i64])?, 0)?;
    assert_eq!(b.to_ndarray(&one_count)?, b.to_ndarray(&b.repeat(&x, 2, 0)?)?);
    assert_eq!(b.shape(&b.boolean_mask(&x, &b.asarray(false)?)?), [0, 2, 3]);
    assert_eq!(b.shape(&b.boolean_mask(&x, &b.asarray(true)?)?), [1, 2, 3]);
    assert_eq!(b.shape(&b.arange(0.0, 5e-324, 10.0)?), [1]);
    Ok(())
}

fn arguments_of_one<B: Backend>(b: &B) -> Checked {
    let x = b.arange(0, 6, 1).and_then(|x| b.reshape(&x, [2, 3]))?;
    assert_eq!(b.to_ndarray(&b.roll(&x, 1, 0_u8)?)?, b.to_ndarray(&b.roll(&x, [1], [0])?)?);
    assert_eq!(b.shape(&b.tile(&x, 2)?), [2, 6]);
    assert_eq!(b.shape(&b.reshape(&x, -1)?), [6]);
    assert_eq!(b.shape(&b.zeros::<f32>(4)?), [4]);
    assert_eq!(b.shape(&b.flip(&x, 1_i64)?), [2, 3]);
    assert_eq!(b.shape(&b.pad(&x, 1)?), [4, 5]);
    assert_eq!(b.shape(&b.pad(&x, [(1, 0), (2, 3)])?), [3, 8]);
    assert_eq!(b.shape(&b.pad(&x, vec![[1, 0], [2, 3]])?), [3, 8]);
    assert_eq!(b.shape(&b.pad(&x, (1, 2))?), [5, 6]);
    assert_eq!(b.shape(&b.pad(&x, [(1, 2)])?), [5, 6]);
    assert_eq!(said(b.pad(&x, [(1, 0), (2, 3), (0, 0)])), "pad: shape [2, 3]: 6 widths are not two for each axis");
    // the value is exact in the array's dtype, or refused
    let fill = |value: Number| PadOptions::new().value(value);
    let wide = (1_i64 << 53) + 1;
    let whole = b.pad_with(&b.asarray([1_i64])?, (0, 1), fill(wide.into()))?;
    assert_eq!(b.to_vec(&whole)?, [1, wide]);
    let z = Complex::new(1.0, -2.0);
    let complex = b.pad_with(&b.asarray([Complex::new(0.0, 0.0)])?, 1, fill(z.into()))?;
    assert_eq!(b.to_vec(&complex)?, [z, Complex::new(0.0, 0.0), z]);
    let top = b.pad_with(&b.asarray([0_u64])?, (1, 0), PadOptions::new().value(u64::MAX))?;
    assert_eq!(b.to_vec(&top)?, [u64::MAX, 0]);
    let bytes = b.asarray([1_u8])?;
    assert_eq!(said(b.pad_with(&bytes, 1, PadOptions::new().value(300))), "pad: 300 does not fit uint8");
    assert_eq!(said(b.pad_with(&bytes, 1, fill(z.into()))), "pad: 1-2i does not fit uint8");
    let axis: usize = 1;
    assert_eq!(b.shape(&b.cumulative_sum(&x, axis)?), [2, 3]);
    assert_eq!(b.shape(&b.sort_with(&x, SortOptions::new().axis(axis))?), [2, 3]);
    assert_eq!(said(b.cumulative_sum(&x, 2_u64)), "cumulative_sum: axis 2 is out of range for 2 dimensions");
    Ok(())
}

#[test]
fn an_axis_is_any_integer_and_a_list_may_be_one_number() {
    on_every_backend!(arguments_of_one);
}

#[test]
fn few_elements_or_none_are_no_mistake() {
    on_every_backend!(results);
}
