//! The sets of rotations that the search can try.

use std::f64::consts::{PI, SQRT_2, TAU};

/// A rotation matrix as an array of rows, for coordinates in the order of the array axes. It maps positions in the
/// rotated template to positions in the template.
pub type Matrix = [[f64; 3]; 3];

/// Rotations evenly spread over all rotations, with neighbours about `step` degrees apart. They lie on a
/// super-Fibonacci spiral (Alexa, "Super-Fibonacci spirals: fast, low-discrepancy sampling of SO(3)", 2022). If there
/// is only one rotation, it is the identity.
pub fn uniform(step: f64) -> Vec<Matrix> {
    // the set of all rotations has the volume 8 pi^2, if the distance of two rotations is the angle between them
    let n = (8.0 * PI * PI / step.to_radians().powi(3)).round().max(1.0) as usize;
    if n == 1 {
        return vec![from_quaternion([1.0, 0.0, 0.0, 0.0])];
    }
    /// The positive solution of x^4 = x + 4.
    const PSI: f64 = 1.533_751_168_755_204_3;
    let rotation = |i: usize| {
        let s = i as f64 + 0.5;
        let (near, far) = ((s / n as f64).sqrt(), (1.0 - s / n as f64).sqrt());
        let (alpha, beta) = (TAU * s / SQRT_2, TAU * s / PSI);
        from_quaternion([near * alpha.sin(), near * alpha.cos(), far * beta.sin(), far * beta.cos()])
    };
    (0..n).map(rotation).collect()
}

/// Rotations that tilt axis 0 by at most `cone` degrees. Tilts are about `step` degrees apart. Each tilt is combined
/// with rotations about axis 0 in steps of `step` degrees, which are applied before the tilt. The first rotation is the
/// identity.
pub fn cone(cone: f64, step: f64) -> Vec<Matrix> {
    let turns = (360.0 / step).round().max(1.0) as usize;
    let cap = 1.0 - cone.to_radians().cos();
    // the area of the cap divided by the area of a square of side `step` is the number of directions
    let directions = (TAU * cap / step.to_radians().powi(2)).round().max(1.0) as usize;
    let golden = PI * (3.0 - 5.0_f64.sqrt());
    let tilts = (0..directions).map(|i| {
        let height = 1.0 - cap * i as f64 / directions as f64;
        (height.clamp(-1.0, 1.0).acos(), golden * i as f64)
    });
    let turned = |(tilt, direction): (f64, f64)| {
        // the tilt is about an axis in the plane of axes 1 and 2, so that it adds no rotation about axis 0
        let tilt = from_axis([0.0, -direction.sin(), direction.cos()], tilt);
        (0..turns).map(move |k| product(tilt, from_axis([1.0, 0.0, 0.0], TAU * k as f64 / turns as f64)))
    };
    tilts.flat_map(turned).collect()
}

/// The rotation by `angle` about a unit axis.
fn from_axis(axis: [f64; 3], angle: f64) -> Matrix {
    let (sin, cos) = (angle / 2.0).sin_cos();
    from_quaternion([cos, axis[0] * sin, axis[1] * sin, axis[2] * sin])
}

/// The rotation of a unit quaternion, real part first.
fn from_quaternion([w, x, y, z]: [f64; 4]) -> Matrix {
    [
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
        [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
        [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
    ]
}

fn product(a: Matrix, b: Matrix) -> Matrix {
    [0, 1, 2].map(|i| [0, 1, 2].map(|j| (0..3).map(|k| a[i][k] * b[k][j]).sum()))
}

/// Returns whether `m` is a rotation: its rows have length 1 and are at right angles, within the precision of float32,
/// and its determinant is positive.
pub fn is_rotation(m: &Matrix) -> bool {
    let [[a, b, c], [d, e, f], [g, h, i]] = *m;
    let determinant = a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g);
    let transposed = [0, 1, 2].map(|r| [0, 1, 2].map(|s| m[s][r]));
    let square = product(*m, transposed);
    let unit = (0..9).all(|k| (square[k / 3][k % 3] - f64::from(u8::from(k / 3 == k % 3))).abs() < 1e-5);
    unit && determinant > 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The angle in degrees of the rotation that leads from `a` to `b`.
    fn distance(a: &Matrix, b: &Matrix) -> f64 {
        let trace: f64 = (0..9).map(|k| a[k / 3][k % 3] * b[k / 3][k % 3]).sum();
        ((trace - 1.0) / 2.0).clamp(-1.0, 1.0).acos().to_degrees()
    }

    #[test]
    fn all_orientations_are_covered() {
        let rotations = uniform(30.0);
        assert_eq!(rotations.len(), 550);
        assert!(rotations.iter().all(is_rotation));
        // each rotation of two other sets is within one step of one of these rotations
        for other in uniform(61.0).iter().chain(&cone(180.0, 50.0)) {
            let nearest = rotations.iter().map(|r| distance(r, other)).fold(f64::INFINITY, f64::min);
            assert!(nearest < 30.0, "{nearest}");
        }
        let apart = |i: usize| (0..i).map(|j| distance(&rotations[i], &rotations[j])).fold(f64::INFINITY, f64::min);
        assert!((1..rotations.len()).all(|i| apart(i) > 10.0));
    }

    #[test]
    fn a_cone_tilts_no_further() {
        let rotations = cone(20.0, 10.0);
        assert!(rotations.iter().all(is_rotation));
        assert!(distance(&rotations[0], &from_quaternion([1.0, 0.0, 0.0, 0.0])) < 1e-9);
        let tilt = |m: &Matrix| m[0][0].clamp(-1.0, 1.0).acos().to_degrees();
        assert!(rotations.iter().all(|m| tilt(m) <= 20.0 + 1e-9));
        assert!(rotations.iter().any(|m| tilt(m) > 15.0));
        assert_eq!(rotations.len() % 36, 0, "each direction has 36 turns");
        assert_eq!(cone(0.0, 90.0).len(), 4);
        assert_eq!(uniform(360.0).len(), 1);
    }
}
