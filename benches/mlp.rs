//! A training step of the network of `tests/programs/mlp.rs`: the loss, its gradient, and the update of the parameters.
//! Prints lines `peer TAB what TAB batch TAB nanoseconds`, where the time is the minimum of many rounds.
//! `cargo xtask peers mlp` runs this program together with PyTorch, burn and candle. The arguments are batch sizes.
//!
//! RAYON_NUM_THREADS sets the number of threads.

mod measure;

use backends::{
    Result,
    grad::{Params, value_and_grad},
    prelude::*,
};
use backends_solvers::minimize::Sgd;
use measure::measure;

const RATE: f64 = 0.5;
const EPS: f64 = 1e-7;

#[derive(Params)]
struct Network<B: Backend> {
    w1: B::Array<f32>,
    b1: B::Array<f32>,
    w2: B::Array<f32>,
    b2: B::Array<f32>,
}

/// The mean binary cross entropy of the network's outputs.
fn loss<B: Backend>(b: &B, network: &Network<B>, x: &B::Array<f32>, y: &B::Array<f32>) -> Result<B::Array<f32>> {
    let Network { w1, b1, w2, b2 } = network;
    let hidden = expr!(b, maximum(x @ w1 + b1, 0))?;
    let p = expr!(b, 1 / (1 + exp(-(hidden @ w2 + b2))))?;
    expr!(b, -mean(y * log(p + EPS) + (1 - y) * log(1 - p + EPS), ..))
}

/// Returns element `k` of a sequence of numbers between -0.5 and 0.5. All compared programs make their inputs and
/// weights from this sequence.
fn number(k: usize) -> f32 {
    ((k * 37 + 11) % 101) as f32 / 101.0 - 0.5
}

fn run<B: Backend>(b: &B, peer: &str, n: usize) -> Result<()> {
    let numbers = |from: usize, shape: [usize; 2]| {
        let numbers: Vec<f32> = (from..from + shape[0] * shape[1]).map(number).collect();
        b.reshape(b.asarray(numbers)?, shape)
    };
    let classes: Vec<f32> = (0..n).map(|k| (k % 2) as f32).collect();
    let (x, y) = (numbers(0, [n, 4])?, b.reshape(b.asarray(classes)?, [n, 1])?);
    let mut network = Network::<B> {
        w1: numbers(7, [4, 16])?,
        b1: numbers(7, [1, 16])?,
        w2: numbers(7, [16, 1])?,
        b2: numbers(7, [1, 1])?,
    };
    let mut sgd = Sgd::new(RATE);
    let mut step = || -> Result<f32> {
        let (value, g) =
            value_and_grad(b, |d, n| loss(d, n, &d.constant(x.clone()), &d.constant(y.clone())), &network)?;
        sgd.step(b, &mut network, &g)?;
        b.item(value)
    };
    measure(peer, "step of a 4-16-1 network", n, || step().expect("a step"));
    Ok(())
}

fn main() -> Result<()> {
    let torch = backends::runtime::available("torch", Torch::cpu());
    let sizes: Vec<usize> = std::env::args().skip(1).filter_map(|n| n.parse().ok()).collect();
    for n in if sizes.is_empty() { vec![32, 1024] } else { sizes } {
        run(&Numpyish::new(), "Numpyish", n)?;
        if let Some(torch) = &torch {
            run(torch, "Torch", n)?;
        }
    }
    Ok(())
}
