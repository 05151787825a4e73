//! A training step of the network of `tests/programs/mlp.rs` in burn and in candle, printed in the format of
//! `benches/mlp.rs`. The arguments are batch sizes.
//!
//! RAYON_NUM_THREADS sets the number of threads.

#[path = "../../measure.rs"]
mod measure;

use measure::measure;

const RATE: f64 = 0.5;
const EPS: f64 = 1e-7;
const STEP: &str = "step of a 4-16-1 network";

/// Returns element `k` of a sequence of numbers between -0.5 and 0.5. `benches/mlp.rs` has the same sequence.
fn number(k: usize) -> f32 {
    ((k * 37 + 11) % 101) as f32 / 101.0 - 0.5
}

fn numbers(from: usize, count: usize) -> Vec<f32> {
    (from..from + count).map(number).collect()
}

fn classes(count: usize) -> Vec<f32> {
    (0..count).map(|k| (k % 2) as f32).collect()
}

mod of_burn {
    use super::*;
    use burn::{
        backend::{Autodiff, NdArray},
        tensor::{Tensor, TensorData, activation::relu},
    };

    type B = Autodiff<NdArray<f32>>;

    pub fn run(n: usize) {
        let device = Default::default();
        let tensor = |x: Vec<f32>, shape: [usize; 2]| Tensor::<B, 2>::from_data(TensorData::new(x, shape), &device);
        let (x, y) = (tensor(numbers(0, n * 4), [n, 4]), tensor(classes(n), [n, 1]));
        let mut params = [[4, 16], [1, 16], [16, 1], [1, 1]].map(|s| tensor(numbers(7, s[0] * s[1]), s).require_grad());
        measure("burn, ndarray", STEP, n, || {
            let [w1, b1, w2, b2] = &params;
            let hidden = relu(x.clone().matmul(w1.clone()) + b1.clone());
            let p = (-(hidden.matmul(w2.clone()) + b2.clone())).exp().add_scalar(1.0).recip();
            let right = y.clone() * p.clone().add_scalar(EPS).log();
            let wrong = (-y.clone()).add_scalar(1.0) * (-p).add_scalar(1.0 + EPS).log();
            let loss = -(right + wrong).mean();
            let grads = loss.backward();
            params = params.clone().map(|p| {
                let g = p.grad(&grads).expect("a gradient");
                Tensor::from_inner(p.inner() - g * RATE).require_grad()
            });
            loss.into_scalar()
        });
    }
}

mod of_candle {
    use super::*;
    use candle_core::{Device, Result, Tensor, Var};

    pub fn run(n: usize) -> Result<()> {
        let tensor = |x: Vec<f32>, shape: (usize, usize)| Tensor::from_vec(x, shape, &Device::Cpu);
        let (x, y) = (tensor(numbers(0, n * 4), (n, 4))?, tensor(classes(n), (n, 1))?);
        let var = |s: (usize, usize)| Var::from_tensor(&tensor(numbers(7, s.0 * s.1), s)?);
        let params = [var((4, 16))?, var((1, 16))?, var((16, 1))?, var((1, 1))?];
        let step = || -> Result<f32> {
            let [w1, b1, w2, b2] = &params;
            let hidden = x.matmul(w1)?.broadcast_add(b1)?.relu()?;
            let p = candle_nn::ops::sigmoid(&hidden.matmul(w2)?.broadcast_add(b2)?)?;
            let right = (&y * (&p + EPS)?.log()?)?;
            let wrong = (y.affine(-1.0, 1.0)? * p.affine(-1.0, 1.0 + EPS)?.log()?)?;
            let loss = (right + wrong)?.mean_all()?.neg()?;
            let grads = loss.backward()?;
            for p in &params {
                let g = grads.get(p).expect("a gradient");
                p.set(&(p.as_tensor() - (g * RATE)?)?)?;
            }
            loss.to_scalar()
        };
        measure("candle", STEP, n, || step().expect("a step"));
        Ok(())
    }
}

fn main() {
    for n in std::env::args().skip(1).filter_map(|n| n.parse().ok()) {
        of_burn::run(n);
        of_candle::run(n).expect("candle runs");
    }
}
