//! Losses of predicted numbers.

use crate::{
    Backend, Error, HuberLossOptions, LossReduction, MseLossOptions, Real, Result, runtime::rules, segments::is_16_bit,
};

/// Squared differences from the target.
pub fn mse_loss<B: Backend, T: Real>(
    b: &B,
    x: &B::Array<T>,
    target: &B::Array<T>,
    reduction: LossReduction,
) -> Result<B::Array<T>> {
    rules::broadcast("mse_loss", b.shape(x), b.shape(target))?;
    if is_16_bit::<T>() {
        // a square may exceed the range of 16-bit floats although the mean does not
        let (x, target) = (b.astype::<f32, _>(x)?, b.astype::<f32, _>(target)?);
        return b.astype::<T, _>(b.mse_loss_with(&x, &target, MseLossOptions::new().reduction(reduction))?);
    }
    match reduction {
        LossReduction::Each => expr!(b, square(x - target)),
        LossReduction::Mean => expr!(b, mean(square(x - target), ..)),
        LossReduction::Sum => expr!(b, sum(square(x - target), ..)),
    }
}

/// Half the squared differences from the target; differences larger than `delta` count linearly.
pub fn huber_loss<B: Backend, T: Real>(
    b: &B,
    x: &B::Array<T>,
    target: &B::Array<T>,
    delta: f64,
    reduction: LossReduction,
) -> Result<B::Array<T>> {
    const OP: &str = "huber_loss";
    // NaN is refused, too
    if !matches!(delta.partial_cmp(&0.0), Some(std::cmp::Ordering::Greater)) {
        return Err(Error::argument(OP, format!("`delta` is {delta}, but must be positive")));
    }
    rules::broadcast(OP, b.shape(x), b.shape(target))?;
    if is_16_bit::<T>() {
        let (x, target) = (b.astype::<f32, _>(x)?, b.astype::<f32, _>(target)?);
        return b.astype::<T, _>(b.huber_loss_with(
            &x,
            &target,
            HuberLossOptions::new().delta(delta).reduction(reduction),
        )?);
    }
    let (delta, none) = (T::of(delta), T::ZERO);
    // the square of a difference that counts linearly is not computed: its slope may not be finite
    let loss = expr!(b,
        let distance = abs(x - target);
        0.5 * square(where(distance <= delta, distance, none))
            + where(distance <= delta, none, delta * (distance - 0.5 * delta)))?;
    reduced(b, loss, reduction)
}

/// All losses, or their mean or sum.
fn reduced<B: Backend, T: Real>(b: &B, loss: B::Array<T>, reduction: LossReduction) -> Result<B::Array<T>> {
    match reduction {
        LossReduction::Each => Ok(loss),
        LossReduction::Mean => b.mean(loss, ..),
        LossReduction::Sum => b.sum(loss, ..),
    }
}
