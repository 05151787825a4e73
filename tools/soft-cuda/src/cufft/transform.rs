//! Discrete Fourier transforms in double precision, without scaling. The code is independent of the backends, so that
//! tests find mistakes of the backends. A transform whose length is not prime is split into transforms of prime
//! lengths, which are computed as sums by the definition.

use num_complex::Complex;
use std::f64::consts::TAU;

type C = Complex<f64>;

/// Transforms an array in C order along one of its axes: X[k] = sum over j of x[j] exp(sign 2 pi i j k / n).
pub(super) fn along(x: &mut [C], shape: &[usize], axis: usize, sign: f64) {
    let n = shape[axis];
    let step: usize = shape[axis + 1..].iter().product();
    let roots = roots(n, sign);
    for start in (0..x.len()).filter(|at| (at / step).is_multiple_of(n)) {
        let line: Vec<C> = (0..n).map(|j| x[start + j * step]).collect();
        let transformed = transform(&line, &roots);
        transformed.into_iter().enumerate().for_each(|(k, value)| x[start + k * step] = value);
    }
}

/// Returns the roots of unity exp(sign 2 pi i j / n), for all j from 0 to n - 1.
fn roots(n: usize, sign: f64) -> Vec<C> {
    (0..n).map(|j| C::from_polar(1.0, sign * TAU * j as f64 / n as f64)).collect()
}

/// Returns the transform of `x`. The length of `x` must divide the number of `roots`.
fn transform(x: &[C], roots: &[C]) -> Vec<C> {
    let n = x.len();
    let Some(factor) = (2..=n).find(|factor| n.is_multiple_of(*factor)) else { return x.to_vec() };
    // `part(first)` has every `factor`-th element of `x`, beginning with element `first`; if the length is prime, this
    // is a single element
    let part = |first: usize| x.iter().skip(first).step_by(factor).copied().collect::<Vec<_>>();
    let parts: Vec<Vec<C>> = (0..factor).map(|first| transform(&part(first), roots)).collect();
    let (length, step) = (n / factor, roots.len() / n);
    let sum = |k: usize| {
        let terms = parts.iter().enumerate().map(|(first, part)| part[k % length] * roots[first * k % n * step]);
        terms.sum()
    };
    (0..n).map(sum).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_is_as_the_definition_says() {
        for n in (1..40).chain([64, 97, 105, 128]) {
            let x: Vec<C> = (0..n).map(|i| C::new((i as f64 * 1.7).sin(), (i as f64).cos())).collect();
            for sign in [-1.0, 1.0] {
                let mut transformed = x.clone();
                along(&mut transformed, &[n], 0, sign);
                for (k, found) in transformed.iter().enumerate() {
                    let turns = |j: usize| (j * k % n) as f64 / n as f64;
                    let expected: C = (0..n).map(|j| x[j] * C::from_polar(1.0, sign * TAU * turns(j))).sum();
                    assert!((found - expected).norm() < 1e-13 * n as f64, "{n}: {k}");
                }
            }
        }
    }

    #[test]
    fn each_line_of_an_axis_is_transformed_alone() {
        // an array with a single 1 at the start of a line transforms to ones along that line, and zeros elsewhere
        let shape = [2, 3, 4];
        for (axis, (&length, step)) in shape.iter().zip([12, 4, 1]).enumerate() {
            let mut x = vec![C::ZERO; 24];
            x[0] = C::ONE;
            along(&mut x, &shape, axis, -1.0);
            let ones: Vec<usize> = (0..24).filter(|&at| (x[at] - C::ONE).norm() < 1e-15).collect();
            assert_eq!(ones, (0..length).map(|k| k * step).collect::<Vec<_>>(), "axis {axis}");
            assert_eq!(x.iter().filter(|x| x.norm() < 1e-15).count(), 24 - length);
        }
    }
}
