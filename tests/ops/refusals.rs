//! Tests of arguments that every backend rejects with the same text, and of empty arrays, which every backend accepts.

use crate::common::*;
use backends::{Number, Result, lazy, prelude::*};

/// Returns the text of the error, or "no error".
fn said<T>(outcome: Result<T>) -> String {
    outcome.err().map_or("no error".into(), |why| why.to_string())
}

/// Like [`said`], but also waits for the device, which may report the error only then.
fn told<B: Backend, T>(b: &B, outcome: Result<T>) -> String {
    said(outcome.and_then(|_| b.synchronize()))
}

fn refusals<B: Backend>(b: &B) -> Checked {
    let x = b.arange(0, 6, 1).and_then(|x| b.reshape(&x, [2, 3]))?;
    let (nothing, point) = (b.zeros::<f64>([0, 0])?, b.asarray(1.5)?);
    assert_eq!(said(b.expand_dims(&x, ..)), "expand_dims: `axis` is `..`, but must give the positions of the new axes");
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
    // the error names the first out-of-range index, not the largest or the smallest
    let indices = b.asarray([1_i64, 7, -100, 100])?;
    assert_eq!(told(b, b.take(&x, &indices, 1)), "take: index 7 is out of range for axis 1 of length 3");
    let values = b.zeros::<i32>([2, 4])?;
    assert_eq!(told(b, b.scatter(&x, &indices, &values, 1)), "scatter: index 7 is out of range for axis 1 of length 3");
    assert_eq!(
        said(b.roll(&x, [1, 2, 3], [0, 1])),
        "roll: 3 shifts were given for 2 axes, but there must be one shift for each axis, or one of either"
    );
    // the shapes of `prepend` and `append` are both checked before memory is allocated
    let (giant, edge) = (b.zeros::<i32>([1 << 48, 0])?, b.zeros::<i32>(3)?);
    let edges = DiffOptions::new().prepend(b.asarray(1)?).append(&edge);
    assert_eq!(said(b.diff_with(&giant, edges)), "diff: shapes [281474976710656, 0] and [3] do not fit");
    let counts = |counts: &[i64]| b.asarray(counts.to_vec());
    assert_eq!(said(b.repeat_each(&x, &counts(&[1, -1, 0])?, 1)), "repeat_each: a count is negative, but none must be");
    assert_eq!(said(b.repeat_each(&x, &counts(&[1, 2])?, 1)), "repeat_each: shape [2] of `counts` must be [1] or [3]");
    let many = counts(&[i64::MAX, i64::MAX, i64::MAX])?;
    assert_eq!(said(b.repeat_each(&x, &many, 1)), "repeat_each: the result is larger than any memory");
    Ok(())
}

/// With a negative correction, the variance of zero elements is 0, as in NumPy: the divisor is minus the correction.
fn spread_of_nothing<B: Backend, T: Precision>(b: &B) -> Checked {
    let x = b.zeros::<T>([2, 0])?;
    for correction in [-1e300, -2.0] {
        let (var, std) = (VarOptions::new().correction(correction), StdOptions::new().correction(correction));
        assert_eq!(b.to_vec(b.var_with(&x, 1, var)?)?, [T::ZERO; 2]);
        assert_eq!(b.to_vec(b.std_with(&x, 1, std)?)?, [T::ZERO; 2]);
    }
    assert!(b.item(b.all(b.isnan(b.var(&x, 1)?)?, ..)?)?);
    Ok(())
}

#[test]
fn variances_without_elements() {
    on_every_backend!(spread_of_nothing::<_, f32>);
    on_every_backend!(spread_of_nothing::<_, f64>);
}

#[test]
fn bad_calls_are_refused_in_the_same_words() {
    on_every_backend!(refusals);
}

/// Error texts first state the value of the argument, and then the requirement.
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
        (said(b.trace(&row)), "trace: shape [3] must have at least two axes, the axes of a matrix"),
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
        (said(b.einsum("ij->ii", [&x])), "einsum: the result has `i` twice, but must have each label once"),
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
    // the padding value must be exactly representable in the array's dtype
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

/// Tests quantiles of infinite and very large elements, and histograms with bins of any width.
fn ends_of_the_range<B: Backend>(b: &B) -> Checked {
    let infinity = f64::INFINITY;
    let median = |x: &[f64]| b.median(b.asarray(x.to_vec())?, ..).and_then(|x| b.item(x));
    assert_eq!(
        (median(&[infinity, 5.0, 4.0])?, median(&[infinity; 2])?, median(&[-1.5e308, 1.5e308])?),
        (5.0, infinity, 0.0)
    );
    assert_eq!((median(&[-infinity, 1.0])?, median(&[1.7e308, 1.7e308])?), (-infinity, 1.7e308));
    assert!(median(&[-infinity, infinity])?.is_nan() && median(&[infinity, f64::NAN])?.is_nan());
    let quantiles = |x: &[f64], method| {
        let q = b.asarray([0.0, 0.25, 0.5, 0.75, 1.0])?;
        b.to_vec(&b.quantile_with(b.asarray(x.to_vec())?, q, .., QuantileOptions::new().method(method))?)
    };
    assert_eq!(quantiles(&[1.0, infinity], Interpolation::Linear)?, [1.0, infinity, infinity, infinity, infinity]);
    assert_eq!(
        quantiles(&[-infinity, 1.0], Interpolation::Midpoint)?,
        [-infinity, -infinity, -infinity, -infinity, 1.0]
    );
    let large = [-1.5e308, -0.75e308, 0.0, 0.75e308, 1.5e308];
    assert_eq!(quantiles(&[-1.5e308, 1.5e308], Interpolation::Linear)?, large);
    assert_eq!(quantiles(&[infinity, -infinity], Interpolation::Lower)?[..4], [-infinity; 4]);
    let half = b.asarray([f16::INFINITY, f16::ONE, f16::INFINITY])?;
    assert_eq!(b.item(b.median(&half, ..)?)?, f16::INFINITY);
    assert_eq!(b.item(b.median(b.asarray([f32::MAX, -f32::MAX])?, ..)?)?, 0.0);

    assert_eq!(b.to_vec(&b.linspace(-1.5e308, 1.5e308, 5)?)?, large);
    let x = b.asarray([-1.6e308, -1.0, 1.0, 2.0, 1.6e308])?;
    let wide = HistogramOptions::new().bins(2).low(-1.7e308).high(1.7e308);
    let HistogramResult { counts, edges } = b.histogram_with(&x, wide)?;
    assert_eq!((b.to_vec(&counts)?, b.to_vec(&edges)?), (vec![2, 3], vec![-1.7e308, 0.0, 1.7e308]));
    let beyond = HistogramOptions::new().bins(2).low(-1e300).high(1e300);
    let refused = said(b.histogram_with(b.asarray([1.0_f32])?, beyond));
    assert!(refused.starts_with("histogram: the bin range"), "{refused}");
    Ok(())
}

/// Non-uniform transforms reject coordinates that are NaN or infinite.
fn points<B: Backend>(b: &B) -> Checked {
    let (fine, values) = (b.asarray([0.5, 1.0])?, b.ones::<Complex<f64>>([2])?);
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let x = b.asarray([0.5, bad])?;
        let why = |op: &str| format!("{op}: a coordinate is not finite");
        assert_eq!(said(b.nufft1d_type1(&x, &values, 4)), why("nufft1d_type1"));
        assert_eq!(said(b.nufft1d_type2(&x, &values)), why("nufft1d_type2"));
        let grid = b.ones::<Complex<f64>>([2, 2])?;
        assert_eq!(said(b.nufft2d_type2(&fine, &x, &grid)), why("nufft2d_type2"));
        assert_eq!(said(b.nufft2d_type1(&x, &fine, &values, [2, 2])), why("nufft2d_type1"));
    }
    Ok(())
}

/// Conversions of integers and doubles to 16-bit floats round only once, also at and next to ties (numbers halfway
/// between two representable numbers).
fn rounded_once<B: Backend>(b: &B) -> Checked {
    let mut integers = vec![0_i64, 1, -1, i64::MAX, i64::MIN, 65519, 65520, 2049, 2051, -65520];
    for e in 8..63 {
        let half = (1_i64 << e) + (1 << (e - 8));
        integers.extend([half - 1, half, half + 1, -half - 1, -half, 3 * (half / 2) + 1]);
        integers.extend((e > 11).then(|| (1_i64 << e) + (1 << (e - 11)) + 1));
    }
    let near = |x: i128, digits: u32| {
        // rounds `x` to `digits` binary digits, with ties to even
        let lost = (128 - x.unsigned_abs().leading_zeros()).saturating_sub(digits);
        let (unit, rest) = (1_u128 << lost, x.unsigned_abs() & ((1 << lost) - 1));
        let down = x.unsigned_abs() - rest;
        let is_up = 2 * rest > unit || 2 * rest == unit && down / unit % 2 == 1;
        let size = (if is_up { down + unit } else { down }) as f64;
        if x < 0 { -size } else { size }
    };
    let numbers = |x: &[i64], digits| x.iter().map(|&x| near(x.into(), digits)).collect::<Vec<_>>();
    let x = b.asarray(integers.clone())?;
    let brain = b.astype::<f64, _>(b.astype::<bf16, _>(&x)?)?;
    assert_eq!(b.to_vec(&brain)?, numbers(&integers, 8), "{}", B::NAME);
    let half = b.astype::<f64, _>(b.astype::<f16, _>(&x)?)?;
    let limited: Vec<f64> =
        numbers(&integers, 11).iter().map(|&x| if x.abs() > 65504.0 { x * f64::INFINITY } else { x }).collect();
    assert_eq!(b.to_vec(&half)?, limited, "{}", B::NAME);
    let unsigned: Vec<u64> =
        integers.iter().map(|&x| x.unsigned_abs().wrapping_mul(2) | 1).chain([u64::MAX, 1 << 63]).collect();
    let brain = b.astype::<f64, _>(b.astype::<bf16, _>(b.asarray(unsigned.clone())?)?)?;
    assert_eq!(b.to_vec(&brain)?, unsigned.iter().map(|&x| near(x.into(), 8)).collect::<Vec<_>>(), "{}", B::NAME);
    let narrow: Vec<i32> = integers.iter().filter_map(|&x| i32::try_from(x).ok()).collect();
    let brain = b.astype::<f64, _>(b.astype::<bf16, _>(b.asarray(narrow.clone())?)?)?;
    assert_eq!(b.to_vec(&brain)?, narrow.iter().map(|&x| near(x.into(), 8)).collect::<Vec<_>>(), "{}", B::NAME);

    let above = 1.0 + 2_f64.powi(-11) + 2_f64.powi(-40);
    let [up, even] = [1.0 + 2_f64.powi(-10), 1.0].map(f16::of);
    let doubles = b.asarray([above, 1.0 + 2_f64.powi(-11), 1.0 + 2_f64.powi(-11) - 2_f64.powi(-40), -above])?;
    assert_eq!(b.to_vec(&b.astype::<f16, _>(&doubles)?)?, [up, even, even, -up], "{}", B::NAME);
    let one = b.ones::<f16>([1])?;
    assert_eq!(b.to_vec(&b.multiply(&one, above)?)?, [up], "{}", B::NAME);
    assert_eq!(b.to_vec(&expr!(b, one * above)?)?, [up], "{}", B::NAME);
    assert_eq!(b.to_vec(&(lazy(&one) * above).eval(b)?)?, [up], "{}", B::NAME);
    beside_a_tie::<B, f16>(b, 11)?;
    beside_a_tie::<B, bf16>(b, 8)
}

/// Converts float64 numbers to a dtype with `digits` binary digits, by every op that makes an array. The numbers are at
/// a tie or next to it; a tie is halfway between two representable numbers.
fn beside_a_tie<B: Backend, T: Real>(b: &B, digits: i32) -> Checked {
    let (tie, bit) = (1.0 + 2_f64.powi(-digits), 2_f64.powi(-40));
    for (x, near) in [(tie + bit, 1.0 + 2_f64.powi(1 - digits)), (tie - bit, 1.0), (tie, 1.0)] {
        for sign in [1.0, -1.0] {
            let (x, near) = (sign * x, sign * near);
            let is_near = |how: &str, y: B::Array<T>| -> Checked {
                let read = b.to_vec(&b.astype::<f64, T>(&y)?)?;
                assert!(!read.is_empty() && read.iter().all(|&y| y == near), "{how} of {x}: {read:?}, {}", B::NAME);
                Ok(())
            };
            let (ones, zeros) = (b.ones::<T>([3])?, b.zeros::<T>([3])?);
            is_near("of", b.asarray([T::of(x)])?)?;
            is_near("full", b.full([3], T::of(x))?)?;
            is_near("astype", b.astype::<T, f64>(&b.asarray([x])?)?)?;
            is_near("astype of a complex", b.astype::<T, Complex<f64>>(&b.asarray([Complex::new(x, 1.0)])?)?)?;
            is_near("multiply", b.multiply(x, &ones)?)?;
            is_near("add", b.add(&zeros, x)?)?;
            is_near("where", b.r#where(b.equal(&ones, 1.0)?, x, &zeros)?)?;
            is_near("clip", b.clip(&zeros, x, x)?)?;
            is_near("formula", expr!(b, ones * x)?)?;
            is_near("formula of two steps", expr!(b, where(ones > 0.5, zeros + x, zeros))?)?;
            is_near("lazy", (lazy(&ones) * x).eval(b)?)?;
            let mut changed = zeros.clone();
            b.set(&mut changed, ix![..], x)?;
            is_near("set", changed)?;
            let mut changed = zeros.clone();
            b.add_at(&mut changed, ix![..], x)?;
            is_near("add_at", changed)?;
            let shown = b.show(&b.full([1], T::of(x))?)?;
            let read = shown.trim_matches(['[', ']']).parse::<f64>()?;
            assert_eq!(T::of(read).to_f64(), near, "{shown}");
        }
    }
    Ok(())
}

#[test]
fn numbers_at_the_ends_of_their_range() {
    on_every_backend!(ends_of_the_range);
    on_every_backend!(points);
    on_every_backend!(rounded_once);
}
