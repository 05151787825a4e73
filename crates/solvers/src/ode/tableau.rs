//! Coefficients of the Dormand-Prince method, and the weighted sums of slopes that it needs.

use backends::{Backend, Float, Result, expr};

/// Times at which the second to the sixth slope are evaluated, as fractions of the step.
pub(super) const C: [f64; 5] = [1.0 / 5.0, 3.0 / 10.0, 4.0 / 5.0, 8.0 / 9.0, 1.0];

/// For each of the slopes from the second to the sixth: the weights of the preceding slopes in the state at which this
/// slope is evaluated.
pub(super) const A: [&[f64]; 5] = [
    &[1.0 / 5.0],
    &[3.0 / 40.0, 9.0 / 40.0],
    &[44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0],
    &[19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0],
    &[9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0],
];

/// Weights of the slopes in the solution of order 5.
pub(super) const B5: [f64; 6] = [35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0];

/// Weights of the slopes in the error estimate, which is the solution of order 4 minus the solution of order 5.
pub(super) const E: [f64; 7] =
    [-71.0 / 57600.0, 0.0, 71.0 / 16695.0, -71.0 / 1920.0, 17253.0 / 339200.0, -22.0 / 525.0, 1.0 / 40.0];

/// Coefficients of the dense output, which gives the state at any time within a step. The weight of each slope is a
/// polynomial in the fraction of the step, without a constant term. Each row has the coefficients of one polynomial:
/// L. F. Shampine, "Some practical Runge-Kutta formulas", Math. Comp. 46, 1986.
pub(super) const DENSE: [[f64; 4]; 7] = [
    [1.0, -8048581381.0 / 2820520608.0, 8663915743.0 / 2820520608.0, -12715105075.0 / 11282082432.0],
    [0.0, 0.0, 0.0, 0.0],
    [0.0, 131558114200.0 / 32700410799.0, -68118460800.0 / 10900136933.0, 87487479700.0 / 32700410799.0],
    [0.0, -1754552775.0 / 470086768.0, 14199869525.0 / 1410260304.0, -10690763975.0 / 1880347072.0],
    [0.0, 127303824393.0 / 49829197408.0, -318862633887.0 / 49829197408.0, 701980252875.0 / 199316789632.0],
    [0.0, -282668133.0 / 205662961.0, 2019193451.0 / 616988883.0, -1453857185.0 / 822651844.0],
    [0.0, 40617522.0 / 29380423.0, -110615467.0 / 29380423.0, 69997945.0 / 29380423.0],
];

/// `h` times the weighted sum of the slopes; `None` if all weights are 0.
pub(super) fn sum<B: Backend, T: Float>(
    b: &B,
    h: f64,
    slopes: &[B::Array<T>],
    weights: &[f64],
) -> Result<Option<B::Array<T>>> {
    let parts: Vec<(f64, &B::Array<T>)> =
        weights.iter().zip(slopes).filter(|(w, _)| **w != 0.0).map(|(w, slope)| (h * w, slope)).collect();
    let mut sum = None::<B::Array<T>>;
    // adds several terms at a time, in one pass over memory
    for parts in parts.chunks(3) {
        let part = match *parts {
            [(u, x), (v, y), (w, z)] => expr!(b, u * x + v * y + w * z)?,
            [(u, x), (v, y)] => expr!(b, u * x + v * y)?,
            [(u, x)] => expr!(b, u * x)?,
            _ => continue,
        };
        sum = Some(match sum {
            Some(sum) => b.add(sum, part)?,
            None => part,
        });
    }
    Ok(sum)
}

/// The state plus `h` times the weighted sum of the slopes.
pub(super) fn combined<B: Backend, T: Float>(
    b: &B,
    y: &B::Array<T>,
    h: f64,
    slopes: &[B::Array<T>],
    weights: &[f64],
) -> Result<B::Array<T>> {
    match sum::<B, T>(b, h, slopes, weights)? {
        Some(sum) => b.add(y, sum),
        None => Ok(y.clone()),
    }
}
