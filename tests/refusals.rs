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
    assert_eq!(said(b.expand_dims(&x, ..)), "expand_dims: `axis` is `..`, but must name the places of the new axes");
    assert_eq!(said(b.squeeze(&x, 1)), "squeeze: shape [2, 3] must have length 1 along axis 1");
    assert_eq!(said(b.sum(&x, 2)), "sum: axis 2 is out of range for 2 dimensions");
    assert_eq!(said(b.sum(&x, [0, -2])), "sum: axis 0 is given twice");
    assert_eq!(said(b.nonzero(&point)), "nonzero: shape [] must have at least one axis");
    let empty = "shape [0, 0] must have at least one element along axis 0 to choose from";
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
    assert_eq!(
        said(b.roll(&x, [1, 2, 3], [0, 1])),
        "roll: 3 shifts were given for 2 axes, but there must be one shift for each axis, or one of either"
    );
    let counts = |counts: &[i64]| b.asarray(counts.to_vec());
    assert_eq!(said(b.repeat_each(&x, &counts(&[1, -1, 0])?, 1)), "repeat_each: a count is negative, but none must be");
    assert_eq!(said(b.repeat_each(&x, &counts(&[1, 2])?, 1)), "repeat_each: shape [2] of `counts` must be [1] or [3]");
    let many = counts(&[i64::MAX, i64::MAX, i64::MAX])?;
    assert_eq!(said(b.repeat_each(&x, &many, 1)), "repeat_each: the result is larger than any memory");
    Ok(())
}

#[test]
fn bad_calls_are_refused_in_the_same_words() {
    on_every_backend!(refusals);
}

/// The value that was given comes first, then what must hold.
fn sentences<B: Backend>(b: &B) -> Checked {
    let x = b.reshape(b.arange(0.0_f64, 6.0, 1.0)?, [2, 3])?;
    let images = b.reshape(b.arange(0.0_f64, 16.0, 1.0)?, [1, 1, 4, 4])?;
    let bins = |low: f64, high: f64| HistogramOptions::new().low(low).high(high);
    let row = b.zeros::<f64>(3)?;
    let filter = GaussianFilterOptions::new().truncate(f64::NAN);
    for (refused, words) in [
        (said(b.random_binomial::<f64, _>(4, 10, 1.5)), "random_binomial: p is 1.5, but must be between 0 and 1"),
        (said(b.random_gamma::<f64, _>(4, -1.0)), "random_gamma: alpha is -1, but must be finite and not negative"),
        (
            said(b.random_normal_with::<f64>(4, RandomNormalOptions::new().std(-1.0))),
            "random_normal: mean is 0 and std is -1, but both must be finite and std must not be negative",
        ),
        (said(b.random_integers(4, 3_i32, 3)), "random_integers: low is 3, but must be less than high, which is 3"),
        (
            said(b.histogram_with(&x, bins(2.0, 1.0))),
            "histogram: the bin range goes from 2 to 1, but must be finite and increasing",
        ),
        (said(b.uniform_filter(&x, [3, 3, 3])), "uniform_filter: shape [2, 3] must have 3 axes, like the window"),
        (
            said(b.gaussian_filter_with(&x, 1.0, filter)),
            "gaussian_filter: `sigma` is 1 and `truncate` is NaN, but both must be finite and not negative",
        ),
        (
            said(b.max_pool_with(&images, [2, 2], MaxPoolOptions::new().padding([2, 2]))),
            "max_pool: `padding` is 2, but must be at most half of the window length 2",
        ),
        (said(b.trace(&row)), "trace: shape [3] must have at least two axes, those of a matrix"),
        (said(b.inv(&x)), "inv: shape [2, 3] must have last two axes of the same length: square matrices"),
        (
            said(b.cross(b.permute_dims(&x, ..)?, b.permute_dims(&x, ..)?)),
            "cross: shape [3, 2] must have length 3 along axis 1",
        ),
        (
            said(b.split_with(&x, 2, SplitOptions::new().axis(1))),
            "split: axis 1 has 3 elements, but must be divisible into 2 parts of the same length",
        ),
        (said(b.topk(&x, 4)), "topk: k is 4, but must be at most 3, the length of axis 1"),
        (
            said(b.quantile(&x, b.asarray(1.5)?, ..)),
            "quantile: an element of q is out of range, but all must be between 0 and 1",
        ),
        (said(b.arange(0.0_f64, 1.0, 0.0)), "arange: `step` is 0, but must not be 0"),
        (said(b.einsum("ij->ii", &[&x])), "einsum: the result has `i` twice, but must have each label once"),
    ] {
        assert_eq!(refused, words);
    }
    Ok(())
}

#[test]
fn refusals_say_what_was_given_and_what_must_hold() {
    on_every_backend!(sentences);
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
    assert_eq!(said(b.pad(&x, [(1, 0), (2, 3), (0, 0)])), "pad: shape [2, 3] needs 1, 2 or 4 widths, but 6 were given");
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
