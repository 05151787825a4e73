//! Attention: means of values, weighted by the similarity of a query and the keys.

use crate::{
    AnyOptions, Backend, ConcatOptions, Element, Real, Result,
    manipulation::part,
    runtime::rules::{self, Attention},
    segments::is_16_bit,
};
use std::ops::Range;

/// Maximum number of scores that are in memory at the same time, if a block has at least `MIN_QUERIES` queries.
const MAX_SCORES: usize = 1 << 22;

/// Minimum number of queries in a block. For a smaller block, reading the keys would take most of the time.
const MIN_QUERIES: usize = 32;

/// The means of the values. Their weights are the softmax of the products of the query and the keys.
#[allow(clippy::too_many_arguments)] // the options of the op
pub fn scaled_dot_product_attention<B: Backend, T: Real>(
    b: &B,
    query: &B::Array<T>,
    key: &B::Array<T>,
    value: &B::Array<T>,
    mask: Option<&B::Array<bool>>,
    bias: Option<&B::Array<T>>,
    causal: bool,
    scale: Option<f64>,
) -> Result<B::Array<T>> {
    const OP: &str = "scaled_dot_product_attention";
    let masks = [mask.map(|mask| b.shape(mask)), bias.map(|bias| b.shape(bias))];
    let plan = rules::attention(OP, b.shape(query), b.shape(key), b.shape(value), masks, T::dtype().size())?;
    if is_16_bit::<T>() {
        let bias = bias.map(|bias| b.astype::<f32, _>(bias)).transpose()?;
        let [query, key, value] = [query, key, value].map(|array| b.astype::<f32, _>(array));
        let (query, key, value) = (query?, key?, value?);
        let y = scaled_dot_product_attention(b, &query, &key, &value, mask, bias.as_ref(), causal, scale)?;
        return b.astype::<T, _>(y);
    }
    if plan.keys == 0 {
        return b.zeros::<T>(plan.shape);
    }
    let width = b.shape(query).last().copied().unwrap_or(1);
    let scale = T::of(scale.unwrap_or(1.0 / (width.max(1) as f64).sqrt()));
    let query = b.multiply(query, scale)?;
    let size = block(&plan, MAX_SCORES);
    Terms { query: &query, key, value, mask, bias, causal }.attend(b, &plan, size)
}

/// The number of queries in a block of at most `most` scores.
fn block(plan: &Attention, most: usize) -> usize {
    let of_query = plan.batches.iter().fold(plan.keys, |n, &len| n.saturating_mul(len));
    (most / of_query.max(1)).max(MIN_QUERIES)
}

/// The inputs of an attention. The queries are already multiplied by the scale.
struct Terms<'a, B: Backend, T: Real> {
    query: &'a B::Array<T>,
    key: &'a B::Array<T>,
    value: &'a B::Array<T>,
    mask: Option<&'a B::Array<bool>>,
    bias: Option<&'a B::Array<T>>,
    causal: bool,
}

impl<B: Backend, T: Real> Terms<'_, B, T> {
    /// Computes the result in blocks of `size` queries, so that there are never scores for all queries.
    fn attend(&self, b: &B, plan: &Attention, size: usize) -> Result<B::Array<T>> {
        if plan.queries <= size {
            return self.of_block(b, 0..plan.queries, plan.keys);
        }
        let mut parts = Vec::with_capacity(plan.queries.div_ceil(size));
        for start in (0..plan.queries).step_by(size) {
            let queries = start..plan.queries.min(start + size);
            // later keys are masked for all queries of this block
            let keys = if self.causal { plan.keys.min(queries.end) } else { plan.keys };
            parts.push(self.of_block(b, queries, keys)?);
        }
        b.concat_with(parts, ConcatOptions::new().axis(-2))
    }

    /// The result for some of the queries, from the first `keys` keys.
    fn of_block(&self, b: &B, queries: Range<usize>, keys: usize) -> Result<B::Array<T>> {
        let none = T::ZERO;
        let query = cut(b, self.query, 2, &queries)?;
        let (key, value) = (cut(b, self.key, 2, &(0..keys))?, cut(b, self.value, 2, &(0..keys))?);
        let mask = self.mask.map(|mask| cut(b, &cut(b, mask, 2, &queries)?, 1, &(0..keys))).transpose()?;
        let bias = self.bias.map(|bias| cut(b, &cut(b, bias, 2, &queries)?, 1, &(0..keys))).transpose()?;
        let scores = b.matmul(query, b.matrix_transpose(&key)?)?;
        let Some(allowed) = self.allowed(b, mask, bias.as_ref(), queries, keys)? else {
            return b.matmul(b.softmax(scores, -1)?, value);
        };
        // a row without any allowed key gets equal weights, so that neither they nor their gradients are NaN; its
        // result is replaced by 0
        let is_used = b.any_with(&allowed, -1, AnyOptions::new().keepdims(true))?;
        let low = b.r#where(&is_used, T::of(f64::NEG_INFINITY), none)?;
        let scores = match bias {
            Some(bias) => expr!(b, where(allowed, scores + bias, low))?,
            None => b.r#where(&allowed, scores, low)?,
        };
        b.r#where(is_used, b.matmul(b.softmax(scores, -1)?, value)?, none)
    }

    /// The keys that each query of a block uses; `None` if it uses all.
    fn allowed(
        &self,
        b: &B,
        mask: Option<B::Array<bool>>,
        bias: Option<&B::Array<T>>,
        queries: Range<usize>,
        keys: usize,
    ) -> Result<Option<B::Array<bool>>> {
        let mut allowed = mask;
        let mut also = |other: B::Array<bool>| -> Result<()> {
            allowed = Some(match allowed.take() {
                Some(allowed) => b.logical_and(allowed, other)?,
                None => other,
            });
            Ok(())
        };
        if let Some(bias) = bias {
            also(b.not_equal(bias, T::of(f64::NEG_INFINITY))?)?;
        }
        if self.causal {
            let rows = b.reshape(b.arange::<i64>(queries.start as i64, queries.end as i64, 1)?, [-1, 1])?;
            also(b.greater_equal(rows, b.arange::<i64>(0, keys as i64, 1)?)?)?;
        }
        Ok(allowed)
    }
}

/// Selects the indices in `range` along an axis; `from_end` is 1 for the last axis, 2 for the axis before it. An axis
/// of length 1, which broadcasts, is unchanged.
fn cut<B: Backend, E: Element>(b: &B, x: &B::Array<E>, from_end: usize, range: &Range<usize>) -> Result<B::Array<E>> {
    match b.shape(x).len().checked_sub(from_end) {
        Some(axis) if b.shape(x)[axis] != 1 && *range != (0..b.shape(x)[axis]) => {
            part(b, x, axis, range.start as i128..range.end as i128)
        }
        _ => Ok(x.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::*;

    #[test]
    fn blocks_give_the_same_result() {
        let b = Numpyish::new();
        let draw = |shape: &[usize]| b.random_normal::<f64>(shape).unwrap();
        let (query, key, value) = (draw(&[2, 11, 4]), draw(&[9, 4]), draw(&[2, 9, 3]));
        let bias = draw(&[11, 1]);
        let masks = [
            None,
            Some(b.greater(draw(&[11, 9]), 0.5).unwrap()),
            Some(b.greater(draw(&[11, 1]), 0.0).unwrap()),
            Some(b.greater(draw(&[9]), 0.0).unwrap()),
        ];
        let shapes = [b.shape(&query), b.shape(&key), b.shape(&value)].map(<[usize]>::to_vec);
        for (mask, causal, bias) in masks.iter().flat_map(|mask| {
            [(mask, false, None), (mask, true, None), (mask, false, Some(&bias)), (mask, true, Some(&bias))]
        }) {
            let masks = [mask.as_ref().map(|mask| b.shape(mask)), bias.map(|bias| b.shape(bias))];
            let plan = rules::attention("attention", &shapes[0], &shapes[1], &shapes[2], masks, 8).unwrap();
            let terms = Terms { query: &query, key: &key, value: &value, mask: mask.as_ref(), bias, causal };
            let whole = terms.attend(&b, &plan, plan.queries).unwrap();
            for size in [1, 3, 10] {
                let y = terms.attend(&b, &plan, size).unwrap();
                assert!(b.allclose(&y, &whole).unwrap(), "{size} {causal}: {y} {whole}");
            }
        }
    }

    #[test]
    fn blocks_hold_a_bounded_number_of_scores() {
        let plan = |batches: &[usize], keys: usize| Attention {
            shape: vec![],
            batches: batches.to_vec(),
            queries: 1 << 20,
            keys,
        };
        assert_eq!(block(&plan(&[8], 1 << 10), 1 << 20), 128);
        assert_eq!(block(&plan(&[], 1 << 20), 1 << 20), MIN_QUERIES);
        assert_eq!(block(&plan(&[usize::MAX, 2], 2), 1 << 20), MIN_QUERIES);
        assert_eq!(block(&plan(&[0], 5), 1 << 20), 1 << 20);
    }
}
