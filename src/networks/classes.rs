//! Losses of scores for classes. Each target is the index of a class.

use super::signed;
use crate::{Backend, Error, LossReduction, Real, Result, runtime::rules, segments::is_16_bit};

/// Cross entropy of the softmax of the scores and the target classes.
pub fn cross_entropy<B: Backend, T: Real>(
    b: &B,
    x: &B::Array<T>,
    target: &B::Array<i64>,
    weight: Option<&B::Array<T>>,
    ignore_index: i64,
    label_smoothing: f64,
    reduction: LossReduction,
) -> Result<B::Array<T>> {
    const OP: &str = "cross_entropy";
    if !(0.0..=1.0).contains(&label_smoothing) {
        let why = format!("`label_smoothing` is {label_smoothing}, but must be between 0 and 1");
        return Err(Error::argument(OP, why));
    }
    let classes = Classes::new(OP, b, x, target, weight)?;
    if is_16_bit::<T>() {
        let (x, weight) = (b.astype::<f32, _>(x)?, weight.map(|weight| b.astype::<f32, _>(weight)).transpose()?);
        let loss = cross_entropy(b, &x, target, weight.as_ref(), ignore_index, label_smoothing, reduction)?;
        return b.astype::<T, _>(loss);
    }
    let log_softmax = b.log_softmax(x, classes.axis).map_err(|e| e.within(OP))?;
    classes.loss(b, &log_softmax, target, weight, ignore_index, label_smoothing, reduction)
}

/// The negative logarithms of the probabilities of the target classes. `x` has the logarithms of all probabilities.
pub fn nll_loss<B: Backend, T: Real>(
    b: &B,
    x: &B::Array<T>,
    target: &B::Array<i64>,
    weight: Option<&B::Array<T>>,
    ignore_index: i64,
    reduction: LossReduction,
) -> Result<B::Array<T>> {
    let classes = Classes::new("nll_loss", b, x, target, weight)?;
    if is_16_bit::<T>() {
        let (x, weight) = (b.astype::<f32, _>(x)?, weight.map(|weight| b.astype::<f32, _>(weight)).transpose()?);
        return b.astype::<T, _>(nll_loss(b, &x, target, weight.as_ref(), ignore_index, reduction)?);
    }
    classes.loss(b, x, target, weight, ignore_index, 0.0, reduction)
}

/// The axis of the classes, and their number.
struct Classes {
    op: &'static str,
    axis: usize,
    count: usize,
}

impl Classes {
    fn new<B: Backend, T: Real>(
        op: &'static str,
        b: &B,
        x: &B::Array<T>,
        target: &B::Array<i64>,
        weight: Option<&B::Array<T>>,
    ) -> Result<Classes> {
        let (axis, count) = rules::classes(op, b.shape(x), b.shape(target), weight.map(|weight| b.shape(weight)))?;
        Ok(Classes { op, axis, count })
    }

    /// The loss of the logarithms `log` of probabilities. Each element of `target` counts with the weight of its class.
    /// With label smoothing, the part `label_smoothing` of each target is spread evenly over all classes.
    #[allow(clippy::too_many_arguments)] // the options of the ops
    fn loss<B: Backend, T: Real>(
        &self,
        b: &B,
        log: &B::Array<T>,
        target: &B::Array<i64>,
        weight: Option<&B::Array<T>>,
        ignore_index: i64,
        label_smoothing: f64,
        reduction: LossReduction,
    ) -> Result<B::Array<T>> {
        let none = T::ZERO;
        let is_used = b.not_equal(target, ignore_index)?;
        // a negative index counts from the end in `take_along_axis`; this index is refused
        let (count, first) = (self.count as i64, 0_i64);
        let place = expr!(b, where(is_used, where(target < first, count, target), first))?;
        let along = b.expand_dims(&place, self.axis)?;
        let taken = b.take_along_axis(log, along, self.axis).map_err(|e| e.within(self.op))?;
        let taken = b.squeeze(taken, self.axis)?;
        let share = match weight {
            Some(weight) => {
                let taken = b.take(weight, &place, 0).map_err(|e| e.within(self.op))?;
                b.r#where(&is_used, taken, none)?
            }
            None => b.astype::<T, _>(&is_used)?,
        };
        let mut loss = expr!(b, where(is_used, -taken * share, none))?;
        if label_smoothing > 0.0 {
            let (rest, part) = (T::of(1.0 - label_smoothing), T::of(label_smoothing / self.count as f64));
            let all = match weight {
                Some(weight) => {
                    let mut shape = vec![1; b.shape(log).len()];
                    shape[self.axis] = self.count;
                    let weight = b.reshape(weight, signed(&shape))?;
                    expr!(b, sum(log * weight, self.axis))?
                }
                None => b.sum(log, self.axis)?,
            };
            loss = expr!(b, where(is_used, rest * loss - part * all, none))?;
        }
        match reduction {
            LossReduction::Each => Ok(loss),
            LossReduction::Mean => b.divide(b.sum(loss, ..)?, b.sum(share, ..)?),
            LossReduction::Sum => b.sum(loss, ..),
        }
    }
}
