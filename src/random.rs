//! Ops of the group `random` that are composed of other ops, for any backend: random indices, and selections of
//! elements by random indices.

use crate::{
    AllOptions, ArgsortOptions, Backend, CumulativeSumOptions, Element, Error, Float, Integer, Real, Result,
    SearchsortedOptions, Side, manipulation::part, runtime::rules,
};

/// Draws random elements along an axis.
pub fn random_choice<B: Backend, T: Element>(
    b: &B,
    x: &B::Array<T>,
    shape: &[usize],
    replace: bool,
    axis: isize,
) -> Result<B::Array<T>> {
    const OP: &str = "random_choice";
    let axis = rules::axis(OP, axis, b.shape(x).len())?;
    let n = b.shape(x)[axis];
    let size = rules::count(OP, shape, size_of::<i64>())?;
    rules::check_choice(OP, n, size, replace)?;
    if size == 0 {
        // an axis without elements has no indices to draw, so this case is handled separately
        let all = [&b.shape(x)[..axis], shape, &b.shape(x)[axis + 1..]].concat();
        return b.zeros::<T>(all).map_err(|e| e.within(OP));
    }
    let indices = if replace {
        b.random_integers(shape, 0, n as i64)
    } else {
        b.random_permutation::<i64>(n).and_then(|order| b.reshape(part(b, &order, 0, 0..size as i128)?, shape))
    };
    b.take(x, indices.map_err(|e| e.within(OP))?, axis as isize).map_err(|e| e.within(OP))
}

/// Shuffles the elements along an axis.
pub fn random_shuffle<B: Backend, T: Element>(b: &B, x: &B::Array<T>, axis: isize) -> Result<B::Array<T>> {
    const OP: &str = "random_shuffle";
    let axis = rules::axis(OP, axis, b.shape(x).len())?;
    let n = b.shape(x)[axis];
    if n == 0 {
        return Ok(x.clone());
    }
    let order = b.random_permutation::<i64>(n);
    order.and_then(|order| b.take(x, order, axis as isize)).map_err(|e| e.within(OP))
}

/// Returns `count` random permutations of the numbers from 0 to `n - 1`, as the rows of a matrix.
pub fn random_permutations<B: Backend, T: Integer>(b: &B, count: usize, n: usize) -> Result<B::Array<T>> {
    const OP: &str = "random_permutations";
    rules::check_permutation(OP, n, T::dtype())?;
    rules::count(OP, &[count, n], size_of::<i64>())?;
    orders(b, count, n).and_then(|orders| b.astype::<T, _>(orders)).map_err(|e| e.within(OP))
}

/// Returns `count` random subsets of the indices below `n`, each with `size` indices, as the rows of a matrix.
pub fn random_subsets<B: Backend, T: Integer>(
    b: &B,
    n: usize,
    size: usize,
    count: usize,
    replace: bool,
) -> Result<B::Array<T>> {
    const OP: &str = "random_subsets";
    rules::check_permutation(OP, n, T::dtype())?;
    rules::check_choice(OP, n, size, replace)?;
    rules::count(OP, &[count, if replace { size } else { n }], size_of::<i64>())?;
    let indices = if replace {
        b.random_integers([count, size], 0, n.max(1) as i64)
    } else {
        orders(b, count, n).and_then(|orders| part(b, &orders, 1, 0..size as i128))
    };
    indices.and_then(|indices| b.astype::<T, _>(indices)).map_err(|e| e.within(OP))
}

/// Draws random indices of the array of weights, with probabilities proportional to the weights.
pub fn random_choice_weighted<B: Backend, T: Real>(
    b: &B,
    weights: &B::Array<T>,
    shape: &[usize],
    replace: bool,
) -> Result<B::Array<i64>> {
    const OP: &str = "random_choice_weighted";
    let n = weighed(OP, b, weights)?;
    let size = rules::count(OP, shape, size_of::<i64>())?;
    rules::check_choice(OP, n, size, replace)?;
    if n == 0 {
        return b.zeros::<i64>(shape).map_err(|e| e.within(OP));
    }
    let indices = if replace {
        with_replacement(b, weights, n, shape)
    } else {
        races(b, weights, n, size, 1).and_then(|row| b.reshape(row, shape))
    };
    indices.map_err(|e| e.within(OP))
}

/// Returns `count` random subsets of the indices of the array of weights, each with `size` indices, as the rows of a
/// matrix. The probabilities are proportional to the weights.
pub fn random_subsets_weighted<B: Backend, T: Real>(
    b: &B,
    weights: &B::Array<T>,
    size: usize,
    count: usize,
    replace: bool,
) -> Result<B::Array<i64>> {
    const OP: &str = "random_subsets_weighted";
    let n = weighed(OP, b, weights)?;
    rules::check_choice(OP, n, size, replace)?;
    rules::count(OP, &[count, if replace { size } else { n }], size_of::<i64>())?;
    if n == 0 {
        return b.zeros::<i64>([count, size]).map_err(|e| e.within(OP));
    }
    let indices =
        if replace { with_replacement(b, weights, n, &[count, size]) } else { races(b, weights, n, size, count) };
    indices.map_err(|e| e.within(OP))
}

/// Returns the number of weights. The array of weights must be 1-D.
fn weighed<B: Backend, T: Element>(op: &'static str, b: &B, weights: &B::Array<T>) -> Result<usize> {
    match b.shape(weights) {
        [n] => Ok(*n),
        shape => Err(Error::shape(op, shape, "of the weights must have one axis")),
    }
}

/// Returns `count` random permutations of the numbers from 0 to `n - 1`, as the rows of a matrix. A permutation
/// consists of the indices that sort `n` random integers.
fn orders<B: Backend>(b: &B, count: usize, n: usize) -> Result<B::Array<i64>> {
    b.argsort_with(b.random_integers([count, n], i64::MIN, i64::MAX)?, ArgsortOptions::new().axis(1))
}

/// Draws uniform random numbers and finds their insertion indices in the cumulative sums of the weights. If the weights
/// are invalid, all results are `n`, which is not a valid index.
fn with_replacement<B: Backend, T: Real>(
    b: &B,
    weights: &B::Array<T>,
    n: usize,
    shape: &[usize],
) -> Result<B::Array<i64>> {
    let weights = b.astype::<f64, _>(weights)?;
    // an invalid weight makes the sum NaN
    let weights = b.r#where(b.greater_equal(&weights, 0.0)?, &weights, f64::NAN)?;
    let sums = b.cumulative_sum_with(weights, 0, CumulativeSumOptions::new())?;
    let total = part(b, &sums, 0, n as i128 - 1..n as i128)?;
    let usable = b.logical_and(b.greater(&total, 0.0)?, b.less(&total, f64::INFINITY)?)?;
    // if the weights are invalid, all sums become -1, which is below every uniform number, so that every index is `n`
    let sums = b.r#where(usable, b.divide(&sums, &total)?, -1.0)?;
    b.searchsorted_with(sums, b.random_uniform::<f64>(shape)?, SearchsortedOptions::new().side(Side::Right))
}

/// For each of `count` simulated races, the first `size` of `n` indices to arrive, in the order of their arrival. The
/// arrival time of an index is exponentially distributed with its weight as the rate, so the subsets are distributed as
/// if the indices were drawn one after another. An index that never arrives is replaced by `n`, which is not a valid
/// index. If the weights are invalid, all indices are `n`.
fn races<B: Backend, T: Real>(
    b: &B,
    weights: &B::Array<T>,
    n: usize,
    size: usize,
    count: usize,
) -> Result<B::Array<i64>> {
    let weights = b.astype::<f64, _>(weights)?;
    let is_weight = b.logical_and(b.greater_equal(&weights, 0.0)?, b.less(&weights, f64::INFINITY)?)?;
    let arrives =
        b.logical_and(b.greater(&weights, 0.0)?, b.all_with(is_weight, 0, AllOptions::new().keepdims(true))?)?;
    // compares the logarithms of the times, which do not overflow for any weight
    let log = b.log(b.random_exponential::<f64>([count, n])?)?;
    let times = b.r#where(arrives, b.subtract(log, b.log(&weights)?)?, f64::INFINITY)?;
    let order = b.argsort_with(&times, ArgsortOptions::new().axis(1))?;
    let first = part(b, &order, 1, 0..size as i128)?;
    let arrived = b.less(b.take_along_axis(times, &first, 1)?, f64::INFINITY)?;
    b.r#where(arrived, first, n as i64)
}

/// Sets each element to 0 with the probability `p`, and divides the other elements by `1 - p`.
pub fn dropout<B: Backend, T: Float>(b: &B, x: &B::Array<T>, p: f64) -> Result<B::Array<T>> {
    const OP: &str = "dropout";
    rules::check_probability(OP, p)?;
    // the numbers have the same dtype for all elements, so that the same elements are kept in every dtype
    let kept = b.random_uniform::<f32>(b.shape(x)).and_then(|units| b.greater_equal(units, p as f32));
    let kept = kept.map_err(|e| e.within(OP))?;
    let (scale, none) = (if p < 1.0 { 1.0 / (1.0 - p) } else { 0.0 }, T::ZERO);
    expr!(b, where(kept, x * scale, none))
}
