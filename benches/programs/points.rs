//! Programs on sets of points, which compute the distances of all pairs of points.

use backends::{Result, prelude::*};

const LLOYD_STEPS: usize = 3;

/// Lloyd's iterations: each point is assigned to the nearest center, and each center moves to the mean of its points.
pub fn k_means<B: Backend>(b: &B, (x, start): &(B::Array<f32>, B::Array<f32>)) -> Result<B::Array<f32>> {
    let (mut centers, k) = (start.clone(), start.shape()[0]);
    let points = b.expand_dims(x, 1)?;
    for _ in 0..LLOYD_STEPS {
        let distances = b.sum(b.square(b.subtract(&points, &centers)?)?, 2)?;
        centers = b.segment_mean(x, b.argmin(distances, 1)?, k)?;
    }
    Ok(centers)
}

pub fn k_means_formulas<B: Backend>(b: &B, (x, start): &(B::Array<f32>, B::Array<f32>)) -> Result<B::Array<f32>> {
    let (mut centers, k) = (start.clone(), start.shape()[0]);
    for _ in 0..LLOYD_STEPS {
        let nearest = expr!(b, argmin(sum(square(x[.., NewAxis] - centers), 2), 1))?;
        centers = b.segment_mean(x, nearest, k)?;
    }
    Ok(centers)
}

const NEIGHBOURS: usize = 5;

/// Returns the distances to the `NEIGHBOURS` nearest points, in ascending order. `squares` has the squares of the
/// distances to all points.
fn nearest<B: Backend>(b: &B, squares: B::Array<f32>) -> Result<B::Array<f32>> {
    let TopkResult { values, .. } = b.topk_with(squares, NEIGHBOURS, TopkOptions::new().largest(false))?;
    b.sqrt(b.maximum(values, 0.0)?)
}

/// The distances from each of `places` to its nearest neighbours among `points`. The squares of all distances are
/// computed by a matrix product.
pub fn neighbours<B: Backend>(b: &B, (places, points): &(B::Array<f32>, B::Array<f32>)) -> Result<B::Array<f32>> {
    let of_places = b.sum_with(b.square(places)?, 1, SumOptions::new().keepdims(true))?;
    let both = b.add(of_places, b.sum(b.square(points)?, 1)?)?;
    let products = b.matmul(places, b.matrix_transpose(points)?)?;
    nearest(b, b.subtract(both, b.multiply(2.0, products)?)?)
}

pub fn neighbours_formulas<B: Backend>(
    b: &B,
    (places, points): &(B::Array<f32>, B::Array<f32>),
) -> Result<B::Array<f32>> {
    let squares = expr! { b, sum(square(places), 1, keepdims = true) + sum(square(points), 1)
    - 2 * (places @ matrix_transpose(points)) }?;
    nearest(b, squares)
}

const BODY_STEPS: usize = 2;
const SOFTENING: f64 = 1e-3;
const DT: f64 = 1e-4;

/// Positions and masses of bodies.
type Bodies<B> = (<B as Arrays>::Array<f64>, <B as Arrays>::Array<f64>);

/// The positions of bodies that attract each other, after some steps from rest.
pub fn bodies<B: Backend>(b: &B, (places, masses): &Bodies<B>) -> Result<B::Array<f64>> {
    let (mut at, mut velocity) = (places.clone(), b.zeros_like(places)?);
    for _ in 0..BODY_STEPS {
        let d = b.subtract(b.expand_dims(&at, 0)?, b.expand_dims(&at, 1)?)?;
        let squares = b.add(b.sum(b.square(&d)?, 2)?, SOFTENING)?;
        let pull = b.divide(masses, b.pow(squares, 1.5)?)?;
        let force = b.sum(b.multiply(d, b.expand_dims(pull, 2)?)?, 1)?;
        velocity = b.add(velocity, b.multiply(DT, force)?)?;
        at = b.add(at, b.multiply(DT, &velocity)?)?;
    }
    Ok(at)
}

pub fn bodies_formulas<B: Backend>(b: &B, (places, masses): &Bodies<B>) -> Result<B::Array<f64>> {
    let (mut at, mut velocity) = (places.clone(), b.zeros_like(places)?);
    for _ in 0..BODY_STEPS {
        let (here, there) = (b.get(&at, ix![.., NewAxis])?, b.get(&at, ix![NewAxis])?);
        let pull = expr! { b, masses / (sum(square(there - here), 2) + SOFTENING)**1.5 }?;
        expr!(b, velocity += DT * sum((there - here) * pull[.., .., NewAxis], 1))?;
        expr!(b, at += DT * velocity)?;
    }
    Ok(at)
}
