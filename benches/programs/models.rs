//! Programs for statistics and learning: Monte Carlo methods, networks, regression, PageRank.

use backends::{Error, Result, prelude::*};

/// Pi, estimated by the fraction of random points in a square that lie within a quarter of a circle.
pub fn pi<B: Backend>(b: &B, &n: &usize) -> Result<B::Array<f64>> {
    let (x, y) = (b.random_uniform::<f64>([n])?, b.random_uniform::<f64>([n])?);
    let inside = b.less_equal(b.add(b.square(x)?, b.square(y)?)?, 1.0)?;
    b.multiply(b.astype::<f64, i64>(b.sum(inside, ..)?)?, 4.0 / n as f64)
}

pub fn pi_formulas<B: Backend>(b: &B, &n: &usize) -> Result<B::Array<f64>> {
    let (x, y) = (b.random_uniform::<f64>([n])?, b.random_uniform::<f64>([n])?);
    let each = 4.0 / n as f64;
    expr!(b, each * astype::<f64>(sum(square(x) + square(y) <= 1, ..)))
}

const PRICE: f64 = 100.0;
const STRIKE: f64 = 105.0;
const INTEREST: f64 = 0.05;
const VOLATILITY: f64 = 0.2;
/// Mean yearly growth of the logarithm of the price.
const DRIFT: f64 = INTEREST - 0.5 * VOLATILITY * VOLATILITY;

/// The price of a European call option, a year before it expires.
pub fn option<B: Backend>(b: &B, &n: &usize) -> Result<B::Array<f64>> {
    let z = b.random_normal::<f64>([n])?;
    let ends = b.multiply(PRICE, b.exp(b.add(b.multiply(VOLATILITY, z)?, DRIFT)?)?)?;
    let payoff = b.maximum(b.subtract(ends, STRIKE)?, 0.0)?;
    b.multiply((-INTEREST).exp(), b.mean(payoff, ..)?)
}

pub fn option_formulas<B: Backend>(b: &B, &n: &usize) -> Result<B::Array<f64>> {
    let z = b.random_normal::<f64>([n])?;
    let discount = (-INTEREST).exp();
    expr!(b, discount * mean(maximum(PRICE * exp(VOLATILITY * z + DRIFT) - STRIKE, 0), ..))
}

/// The input of a network, and the weights and biases of its layers.
pub struct Network<B: Backend> {
    pub x: B::Array<f32>,
    pub layers: Vec<(B::Array<f32>, B::Array<f32>)>,
}

/// Class probabilities computed by a network: layers with ReLU, and a softmax after the last layer.
pub fn classes<B: Backend>(b: &B, network: &Network<B>) -> Result<B::Array<f32>> {
    let Network { x, layers } = network;
    let [first, second, last] = &layers[..] else { return Err(Error::argument("classes", "there are three layers")) };
    let linear = |x: &B::Array<f32>, (weights, bias): &_| b.add(b.matmul(x, weights)?, bias);
    let x = b.relu(linear(x, first)?)?;
    let x = b.relu(linear(&x, second)?)?;
    b.softmax(linear(&x, last)?, -1)
}

pub fn classes_formulas<B: Backend>(b: &B, network: &Network<B>) -> Result<B::Array<f32>> {
    let Network { x, layers } = network;
    let [(w1, b1), (w2, b2), (w3, b3)] = &layers[..] else {
        return Err(Error::argument("classes", "there are three layers"));
    };
    let x = expr!(b, relu(x @ w1 + b1))?;
    let x = expr!(b, relu(x @ w2 + b2))?;
    expr!(b, softmax(x @ w3 + b3, -1))
}

const DESCENT_STEPS: usize = 20;
const LEARNING: f64 = 0.5;

/// An array with a row of features per sample, and an array with the class of each sample.
type Samples<B> = (<B as Arrays>::Array<f64>, <B as Arrays>::Array<f64>);

/// The weights of a logistic regression, found by gradient descent.
pub fn logistic<B: Backend>(b: &B, (x, y): &Samples<B>) -> Result<B::Array<f64>> {
    let transposed = b.matrix_transpose(x)?;
    let mut w = b.zeros::<f64>([x.shape()[1]])?;
    let rate = LEARNING / x.shape()[0] as f64;
    for _ in 0..DESCENT_STEPS {
        let wrong = b.subtract(b.sigmoid(b.matmul(x, &w)?)?, y)?;
        w = b.subtract(w, b.multiply(rate, b.matmul(&transposed, wrong)?)?)?;
    }
    Ok(w)
}

pub fn logistic_formulas<B: Backend>(b: &B, (x, y): &Samples<B>) -> Result<B::Array<f64>> {
    let transposed = b.matrix_transpose(x)?;
    let mut w = b.zeros::<f64>([x.shape()[1]])?;
    let rate = LEARNING / x.shape()[0] as f64;
    for _ in 0..DESCENT_STEPS {
        expr!(b, w -= rate * (transposed @ (sigmoid(x @ w) - y)))?;
    }
    Ok(w)
}

const POWER_STEPS: usize = 20;
const DAMPING: f64 = 0.85;

/// PageRank by power iteration; the columns of `links` sum to 1.
pub fn page_rank<B: Backend>(b: &B, links: &B::Array<f64>) -> Result<B::Array<f64>> {
    let n = links.shape()[0];
    let mut rank = b.full::<f64>([n], 1.0 / n as f64)?;
    for _ in 0..POWER_STEPS {
        rank = b.add(b.multiply(DAMPING, b.matmul(links, &rank)?)?, (1.0 - DAMPING) / n as f64)?;
    }
    Ok(rank)
}

pub fn page_rank_formulas<B: Backend>(b: &B, links: &B::Array<f64>) -> Result<B::Array<f64>> {
    let n = links.shape()[0];
    let mut rank = b.full::<f64>([n], 1.0 / n as f64)?;
    let rest = (1.0 - DAMPING) / n as f64;
    for _ in 0..POWER_STEPS {
        rank = expr!(b, DAMPING * (links @ rank) + rest)?;
    }
    Ok(rank)
}
