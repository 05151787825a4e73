//! Tests a small neural network, written with the ops of any backend and trained by gradient descent.

use crate::common::*;
use backends::{Result, grad, prelude::*};

/// Weights and biases of the two layers.
#[derive(grad::Params)]
struct Network<B: Backend, T: Precision> {
    w1: B::Array<T>,
    b1: B::Array<T>,
    w2: B::Array<T>,
    b2: B::Array<T>,
}

impl<B: Backend, T: Precision> Network<B, T> {
    /// Combines each of the four parameters with the corresponding parameter of `other`.
    fn map(
        &self,
        other: &Self,
        f: impl Fn(&B::Array<T>, &B::Array<T>) -> Result<B::Array<T>>,
    ) -> Result<Network<B, T>> {
        Ok(Network {
            w1: f(&self.w1, &other.w1)?,
            b1: f(&self.b1, &other.b1)?,
            w2: f(&self.w2, &other.w2)?,
            b2: f(&self.b2, &other.b2)?,
        })
    }

    fn named(&self) -> [(&'static str, &B::Array<T>); 4] {
        [("W1", &self.w1), ("b1", &self.b1), ("W2", &self.w2), ("b2", &self.b2)]
    }
}

/// Computes the mean binary cross entropy of the network's outputs for `x`, with the targets `y`. The function contains
/// no code for gradients.
fn loss<B: Backend, T: Precision>(
    b: &B,
    network: &Network<B, T>,
    x: &B::Array<T>,
    y: &B::Array<T>,
    eps: f64,
) -> Result<B::Array<T>> {
    let Network { w1, b1, w2, b2 } = network;
    let hidden = expr!(b, maximum(x @ w1 + b1, 0))?;
    let p = expr!(b, 1 / (1 + exp(-(hidden @ w2 + b2))))?;
    expr!(b, -mean(y * log(p + eps) + (1 - y) * log(1 - p + eps), ..))
}

/// Returns the loss (mean binary cross entropy), the outputs for `x`, and the gradient of the loss, computed by
/// explicit formulas.
#[allow(clippy::type_complexity)] // loss, probabilities and gradients, which the caller names
fn loss_and_gradient<B: Backend, T: Precision>(
    b: &B,
    network: &Network<B, T>,
    x: &B::Array<T>,
    y: &B::Array<T>,
    eps: f64,
) -> Result<(f64, B::Array<T>, Network<B, T>)> {
    let samples = x.shape()[0] as f64;
    let Network { w1, b1, w2, b2 } = network;
    let before = expr!(b, x @ w1 + b1)?;
    let hidden = expr!(b, maximum(before, 0))?;
    let logit = expr!(b, hidden @ w2 + b2)?;
    let p = expr!(b, 1 / (1 + exp(-logit)))?;
    let terms = expr!(b, sum(y * log(p + eps) + (1 - y) * log(1 - p + eps), ..))?;
    let loss = -b.item(terms)?.to_f64() / samples;

    let by_logit = expr!(b, ((1 - y) / (1 - p + eps) - y / (p + eps)) / samples * (p * (1 - p)))?;
    let by_hidden = b.matmul(&by_logit, b.matrix_transpose(w2)?)?;
    let by_before = expr!(b, where(before > 0, by_hidden, 0))?;
    let rows = |x: &B::Array<T>| b.sum_with(x, 0, SumOptions::new().keepdims(true));
    let gradient = Network {
        w1: b.matmul(b.matrix_transpose(x)?, &by_before)?,
        b1: rows(&by_before)?,
        w2: b.matmul(b.matrix_transpose(hidden)?, &by_logit)?,
        b2: rows(&by_logit)?,
    };
    Ok((loss, p, gradient))
}

struct Tolerance {
    first: f64,
    losses: f64,
    weights: f64,
}

fn train<B: Backend, T: Precision>(b: &B, tolerance: &Tolerance) -> Checked {
    let data = data("mlp_4_16_1");
    let (x, y) = (array::<B, T>(b, &data.get("X")?)?, array(b, &data.get("Y")?)?);
    let (rate, eps) = (data.scalar("lr")?, data.scalar("eps")?);
    let initial = |name: &str| array::<B, T>(b, &data.get(&format!("init_{name}")).unwrap());
    let mut network = Network { w1: initial("W1")?, b1: initial("b1")?, w2: initial("W2")?, b2: initial("b2")? };
    let losses = data.vector("losses")?;
    for (step, &expected) in losses.iter().enumerate() {
        let (loss, p, gradient) = loss_and_gradient(b, &network, &x, &y, eps)?;
        near_scalar(
            &format!("loss {step}"),
            loss,
            expected,
            if step == 0 { tolerance.first } else { tolerance.losses },
        );
        if step == 0 {
            for (name, found) in gradient.named() {
                let expected = data.get(&format!("grad0_{name}"))?;
                near(&format!("gradient of {name}"), &host(b, found)?, &expected, tolerance.first);
            }
        }
        if step + 1 < losses.len() {
            network = network.map(&gradient, |w, g| expr!(b, w - rate * g))?;
            continue;
        }
        for (name, found) in network.named() {
            let expected = data.get(&format!("final_{name}"))?;
            near(&format!("trained {name}"), &host(b, found)?, &expected, tolerance.weights);
        }
        near("answers", &host(b, &p)?, &data.get("prob_final")?, tolerance.weights);
        let right = b.item(expr!(b, count_nonzero((p > 0.5) == (y > 0.5), ..))?)?;
        assert_eq!(right as f64 / y.len() as f64, data.scalar("accuracy")?);
    }
    Ok(())
}

/// Makes the same training steps as [`train`] and compares the losses with the data, but computes the gradients by
/// `grad`.
fn train_by_grad<B: Backend>(b: &B) -> Checked {
    let data = data("mlp_4_16_1");
    let (x, y) = (array::<B, f64>(b, &data.get("X")?)?, array(b, &data.get("Y")?)?);
    let (rate, eps) = (data.scalar("lr")?, data.scalar("eps")?);
    let initial = |name: &str| array::<B, f64>(b, &data.get(&format!("init_{name}")).unwrap());
    let mut network = Network { w1: initial("W1")?, b1: initial("b1")?, w2: initial("W2")?, b2: initial("b2")? };
    for (step, &expected) in data.vector("losses")?.iter().enumerate() {
        let (value, gradient) =
            grad::value_and_grad(b, |d, n| loss(d, n, &d.constant(x.clone()), &d.constant(y.clone()), eps), &network)?;
        near_scalar(&format!("loss {step}"), b.item(value)?, expected, if step == 0 { 1e-12 } else { 1e-9 });
        if step == 0 {
            for (name, found) in gradient.named() {
                near(&format!("gradient of {name}"), &host(b, found)?, &data.get(&format!("grad0_{name}"))?, 1e-12);
            }
        }
        network = network.map(&gradient, |w, g| expr!(b, w - rate * g))?;
    }
    Ok(())
}

#[test]
fn it_learns_as_recorded_by_grad() {
    on_every_backend!(train_by_grad);
}

fn float64<B: Backend>(b: &B) -> Checked {
    train::<B, f64>(b, &Tolerance { first: 1e-12, losses: 1e-9, weights: 1e-8 })
}

fn float32<B: Backend>(b: &B) -> Checked {
    train::<B, f32>(b, &Tolerance { first: 1e-5, losses: 2e-3, weights: 2e-2 })
}

#[test]
fn it_learns_as_recorded() {
    on_every_backend!(float64);
}

#[test]
fn it_learns_in_single_precision() {
    on_every_backend!(float32);
}
