//! Tests gradients with respect to split arrays, with `Diff<Sharded<B>>`. Every op acts on whole arrays, so the
//! gradient rules of the op table need no change.

use backends::{Result, grad, prelude::*};
use backends_sharded::{Sharded, world::threads};

#[derive(grad::Params)]
struct Layers<B: Backend> {
    w1: B::Array<f64>,
    w2: B::Array<f64>,
}

fn loss<B: Backend>(b: &B, layers: &Layers<B>, x: &B::Array<f64>, y: &B::Array<f64>) -> Result<B::Array<f64>> {
    let hidden = b.tanh(b.matmul(x, &layers.w1)?)?;
    let (y, out) = (y, b.matmul(&hidden, &layers.w2)?);
    expr!(b, mean(square(out - y), ..))
}

/// Trains a model by gradient descent, and returns the losses of all steps and the final weights.
fn trained<B: Backend>(b: &B) -> Result<(Vec<f64>, Vec<f64>)> {
    b.seed(5);
    let x = b.random_normal::<f64>([200, 6])?;
    let y = b.sin(b.sum_with(&x, 1, SumOptions::new().keepdims(true))?)?;
    let mut layers = Layers::<B> { w1: b.random_normal([6, 70])?, w2: b.random_normal([70, 1])? };
    let mut losses = Vec::new();
    for _ in 0..20 {
        let of = |d: &grad::Diff<B>, layers: &Layers<grad::Diff<B>>| {
            loss(d, layers, &d.constant(x.clone()), &d.constant(y.clone()))
        };
        let (value, slopes) = grad::value_and_grad(b, of, &layers)?;
        losses.push(b.item(&value)?);
        let step = |w: &B::Array<f64>, g: &B::Array<f64>| expr!(b, w - 0.05 * g);
        layers = Layers { w1: step(&layers.w1, &slopes.w1)?, w2: step(&layers.w2, &slopes.w2)? };
    }
    Ok((losses, b.to_vec(&layers.w1)?))
}

#[test]
fn a_network_learns_the_same_on_any_number_of_ranks() {
    let (losses, weights) = trained(&Numpyish::seeded(0)).unwrap();
    assert!(losses[19] < 0.5 * losses[0]);
    let near = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-11);
    for ranks in [1, 2, 3, 4] {
        let all = threads::run(ranks, |world| trained(&Sharded::new(Numpyish::seeded(0), world.clone())?));
        for result in all {
            let (l, w) = result.unwrap();
            assert!(near(&l, &losses) && near(&w, &weights), "{ranks} ranks");
        }
    }
}
